//! Plots: the legs of a section as bars, with a line from the least to the greatest measurement.

use std::fmt::Write as _;

use crate::leg::{Section, figure};

const WIDTH: f64 = 960.;
const NAMES: f64 = 350.;
const FIGURES: f64 = 90.;
const BAR: f64 = 26.;
const HEAD: f64 = 50.;

/// An SVG document. The scale is logarithmic where the legs differ by more than thirty times.
pub fn bars(section: &Section) -> String {
    let legs: Vec<_> = section.legs.iter().filter(|leg| leg.median() > 0.).collect();
    let most = legs.iter().map(|leg| leg.max()).fold(0., f64::max);
    let least = legs.iter().map(|leg| leg.min()).filter(|min| *min > 0.).fold(most, f64::min);
    let is_wide = most > 30. * least;
    let room = WIDTH - NAMES - FIGURES;
    let column = |value: f64| match (is_wide, value > 0.) {
        (_, false) => 0.,
        (false, true) => value / most * room,
        // The least has a bar too.
        (true, true) => room * (0.05 + 0.95 * (value / least).ln() / (most / least).ln()),
    };
    let height = HEAD + BAR * legs.len() as f64 + 10.;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"10\" y=\"20\" font-weight=\"bold\">{}</text>\n<text x=\"10\" y=\"38\" fill=\"#555\">{}{}</text>\n",
        escaped(&section.title),
        escaped(section.unit),
        if is_wide { ", logarithmic" } else { "" },
    );
    for (number, leg) in legs.iter().enumerate() {
        let top = HEAD + BAR * number as f64;
        let middle = top + BAR / 2.;
        let (length, from, to) = (column(leg.median()), NAMES + column(leg.min()), NAMES + column(leg.max()));
        let colour = if leg.name.to_lowercase().contains("trawl") { "#2563eb" } else { "#94a3b8" };
        let _ = write!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n\
             <rect x=\"{NAMES}\" y=\"{}\" width=\"{length:.1}\" height=\"{}\" fill=\"{colour}\"/>\n\
             <line x1=\"{from:.1}\" x2=\"{to:.1}\" y1=\"{middle}\" y2=\"{middle}\" stroke=\"black\"/>\n\
             <text x=\"{:.1}\" y=\"{}\">{}</text>\n",
            NAMES - 8.,
            middle + 4.,
            escaped(&leg.name),
            top + 4.,
            BAR - 8.,
            to.max(NAMES + length) + 6.,
            middle + 4.,
            figure(leg.median()),
        );
    }
    svg.push_str("</svg>\n");
    svg
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
