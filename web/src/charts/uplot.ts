// The library that draws charts, with its style, in files of their own.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

export { uPlot };
