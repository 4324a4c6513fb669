//! What drawings are made of.

use std::fmt::Write;

use super::svg::{INK, LEFT, LINE_COLOUR, WIDTH, clipped};

/// A drawing that is being written.
pub(super) struct Svg(String);

impl Svg {
    pub(super) fn new(height: f64, words: &str, title: &str) -> Self {
        let mut svg = Self(String::new());
        let _ = write!(
            svg.0,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
             height=\"{height}\" font-family=\"sans-serif\" font-size=\"11\" fill=\"{INK}\">",
            escaped(words)
        );
        let _ = write!(
            svg.0,
            "<text x=\"{LEFT}\" y=\"16\" font-weight=\"bold\">{}</text>",
            escaped(&clipped(title, 34))
        );
        svg
    }

    pub(super) fn text(&mut self, (x, y): (f64, f64), anchor: &str, text: &str) {
        let _ = write!(
            self.0,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>",
            escaped(text)
        );
    }

    pub(super) fn shape(&mut self, tag: &str, points: &[(f64, f64)], style: &str) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = write!(self.0, "<{tag} points=\"{}\" {style}/>", points.join(" "));
    }

    pub(super) fn bar(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), colour: &str, deep: f64) {
        let _ = write!(
            self.0,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{colour}\""
        );
        if deep < 1.0 {
            let _ = write!(self.0, " fill-opacity=\"{deep:.2}\"");
        }
        self.0.push_str("/>");
    }

    pub(super) fn frame(&mut self, (x, y): (f64, f64), (width, height): (f64, f64)) {
        let _ = write!(
            self.0,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"none\" stroke=\"#999\"/>"
        );
    }

    pub(super) fn dot(&mut self, x: f64, y: f64) {
        let _ = write!(
            self.0,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{LINE_COLOUR}\"/>"
        );
    }

    pub(super) fn zero(&mut self, (x1, x2): (f64, f64), (y1, y2): (f64, f64)) {
        let _ = write!(
            self.0,
            "<line x1=\"{x1:.1}\" x2=\"{x2:.1}\" y1=\"{y1:.1}\" y2=\"{y2:.1}\" stroke=\"#999\" stroke-dasharray=\"3\"/>"
        );
    }

    pub(super) fn end(mut self) -> String {
        self.0.push_str("</svg>");
        self.0
    }
}

/// A text inside HTML or an attribute.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
