// The chart library with its style, as separate files.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

export { uPlot };
