//! Drawings of shapes and pairs: plain SVG without scripts, fonts or anything from elsewhere.

use super::canvas::Svg;
use super::segments::short;
use super::{Explanation, Meaning, REACH, Term, TermColumn};
use crate::privacy::texts::shown;

/// The width of every drawing.
pub(super) const WIDTH: f64 = 340.0;
/// The height of one about numbers.
const HEIGHT: f64 = 180.0;
/// Where axes begin.
pub(super) const LEFT: f64 = 96.0;
const TOP: f64 = 30.0;
/// Below a plot: the ends of its axis.
const BELOW: f64 = 28.0;
/// Right of a plot.
const RIGHT: f64 = 14.0;
/// The height of one value.
const LINE: f64 = 20.0;
/// The width of missing cells, beside numbers.
const APART: f64 = 76.0;
/// The most values that are drawn.
const VALUES: usize = 30;
/// The most letters of a value.
const LETTERS: usize = 13;

pub(super) const INK: &str = "#1d2b24";
pub(super) const LINE_COLOUR: &str = "#216e39";
const BAND: &str = "#b9d8bf";
const MORE: &str = "#1f5fa8";
const LESS: &str = "#b5541c";

impl Explanation {
    /// The drawing of a term. All terms of a score are drawn on one scale.
    pub fn svg(&self, term: &Term) -> String {
        let limit = self.limit(term.output);
        match &term.columns[..] {
            [column] if is_number(column) => self.curve(term, column, limit),
            [column] => self.bars(term, column, limit),
            [first, second] if is_number(second) && !is_number(first) => self.map(term, limit, true),
            _ => self.map(term, limit, false),
        }
    }

    /// The largest value of the terms of a score, and a quarter more.
    fn limit(&self, output: usize) -> f64 {
        let own = self.terms().iter().filter(|term| term.output == output);
        let largest = own
            .flat_map(|term| &term.values)
            .fold(0.0, |most: f64, value| most.max(value.abs()));
        if largest > 0.0 { 1.25 * largest } else { 1.0 }
    }

    /// A step function of a number with its band; missing cells stand beside it.
    fn curve(&self, term: &Term, column: &TermColumn, limit: f64) -> String {
        let mut svg = Svg::new(HEIGHT, &self.words(term), &shown(&term.name()));
        let bottom = HEIGHT - BELOW;
        let axis = Axis::of(column, LEFT, WIDTH - RIGHT);
        let y = |value: f64| TOP + (limit - value.clamp(-limit, limit)) / (2.0 * limit) * (bottom - TOP);
        let noise = |cell: usize| term.noise.as_ref().map_or(0.0, |noise| REACH * noise[cell]);
        let is_number = |cell: &usize| matches!(column.segments[*cell].means, Meaning::Between { .. });
        let numbers: Vec<usize> = (0..column.segments.len()).filter(is_number).collect();
        let steps = |side: f64| -> Vec<(f64, f64)> {
            let step = |&cell: &usize| {
                let at = y(term.values[cell] + side * noise(cell));
                let (from, to) = axis.places[cell];
                [(from, at), (to, at)]
            };
            numbers.iter().flat_map(step).collect()
        };
        if term.noise.is_some() {
            let mut outline = steps(1.0);
            outline.extend(steps(-1.0).into_iter().rev());
            svg.shape("polygon", &outline, &format!("fill=\"{BAND}\""));
        }
        svg.zero((LEFT, WIDTH - RIGHT), (y(0.0), y(0.0)));
        svg.shape(
            "polyline",
            &steps(0.0),
            &format!("fill=\"none\" stroke=\"{LINE_COLOUR}\" stroke-width=\"1.6\""),
        );
        for cell in (0..column.segments.len()).filter(|cell| !is_number(cell)) {
            let (from, to) = axis.places[cell];
            let (middle, value) = ((from + to) / 2.0, term.values[cell]);
            if term.noise.is_some() {
                let (high, low) = (y(value + noise(cell)), y(value - noise(cell)));
                svg.bar((middle - 4.0, high), (8.0, low - high), BAND, 1.0);
            }
            svg.dot(middle, y(value));
        }
        for value in [limit, 0.0, -limit] {
            svg.text((LEFT - 8.0, y(value) + 3.5), "end", &signed(value));
        }
        axis.write(&mut svg, column, bottom);
        svg.end()
    }

    /// A line for each value.
    fn bars(&self, term: &Term, column: &TermColumn, limit: f64) -> String {
        let lines = column.segments.len().min(VALUES);
        let more = column.segments.len() - lines;
        let bottom = TOP + LINE * lines as f64;
        let height = bottom + BELOW + if more > 0 { LINE } else { 0.0 };
        let mut svg = Svg::new(height, &self.words(term), &shown(&term.name()));
        let (from, to) = (LEFT + 8.0, WIDTH - RIGHT - 20.0);
        let x = |value: f64| from + (value.clamp(-limit, limit) + limit) / (2.0 * limit) * (to - from);
        for (line, segment) in column.segments.iter().take(lines).enumerate() {
            let middle = TOP + LINE * (line as f64 + 0.5);
            let value = term.values[line];
            if let Some(noise) = &term.noise {
                let (low, high) = (x(value - REACH * noise[line]), x(value + REACH * noise[line]));
                svg.bar((low, middle - 5.0), (high - low, 10.0), BAND, 1.0);
            }
            svg.dot(x(value), middle);
            svg.text(
                (LEFT, middle + 3.5),
                "end",
                &clipped(&segment.means.name(), LETTERS),
            );
        }
        svg.zero((x(0.0), x(0.0)), (TOP, bottom));
        for value in [-limit, 0.0, limit] {
            svg.text((x(value), bottom + 16.0), "middle", &signed(value));
        }
        if more > 0 {
            svg.text((LEFT, bottom + 36.0), "start", &format!("and {more} more values"));
        }
        svg.end()
    }

    /// Colours by two columns: of values that stand out from their noise only.
    fn map(&self, term: &Term, limit: f64, turned: bool) -> String {
        let [first, second] = &term.columns[..] else {
            return String::new();
        };
        let (across, down) = if turned { (second, first) } else { (first, second) };
        let lines = if is_number(down) {
            9.0
        } else {
            down.segments.len().min(VALUES) as f64
        };
        let bottom = TOP + LINE * lines.max(4.0);
        let mut svg = Svg::new(bottom + BELOW, &self.words(term), &shown(&term.name()));
        let wide = Axis::of(across, LEFT, WIDTH - RIGHT);
        let high = Axis::of(down, TOP, bottom);
        for (cell, &value) in term.values.iter().enumerate() {
            let (i, j) = (cell / second.segments.len(), cell % second.segments.len());
            let (a, b) = if turned { (j, i) } else { (i, j) };
            if !term.is_told(cell) {
                continue;
            }
            let ((left, right), (top, low)) = (wide.places[a], high.places[b]);
            let colour = if value > 0.0 { MORE } else { LESS };
            let deep = 0.15 + 0.85 * (value.abs() / limit).min(1.0);
            svg.bar((left, top), (right - left, low - top), colour, deep);
        }
        svg.frame((LEFT, TOP), (WIDTH - RIGHT - LEFT, bottom - TOP));
        if let Some((low, up)) = &high.ends {
            svg.text((LEFT - 6.0, TOP + 9.0), "end", low);
            svg.text((LEFT - 6.0, high.numbers_end - 2.0), "end", up);
        }
        for (middle, name) in high.named.iter().take(VALUES) {
            svg.text((LEFT - 6.0, middle + 3.5), "end", &clipped(name, LETTERS));
        }
        wide.write(&mut svg, across, bottom);
        svg.end()
    }

    /// A drawing in words, for those who do not see it.
    fn words(&self, term: &Term) -> String {
        let mut order: Vec<usize> = (0..term.values.len()).collect();
        order.sort_by(|a, b| term.values[*a].total_cmp(&term.values[*b]));
        let at = |cell: usize| {
            let cells = match &term.columns[..] {
                [first, second] => {
                    let wide = second.segments.len();
                    format!(
                        "{} and {}",
                        first.segments[cell / wide].means.name(),
                        second.segments[cell % wide].means.name()
                    )
                }
                columns => columns
                    .first()
                    .map_or_else(String::new, |own| own.segments[cell].means.name()),
            };
            let noise = term
                .noise
                .as_ref()
                .map(|noise| format!(", give or take {} by noise", short(REACH * noise[cell])));
            format!(
                "{} at {}{}",
                signed(term.values[cell]),
                shown(&cells),
                noise.unwrap_or_default()
            )
        };
        let (Some(&least), Some(&most)) = (order.first(), order.last()) else {
            return String::new();
        };
        format!(
            "What {} adds to the {}: between {} and {}.",
            shown(&term.name()),
            shown(&self.outputs()[term.output]),
            at(least),
            at(most)
        )
    }
}

/// How far something can move, line by line: a dot where it begins and a bar to where it can go, between 0 and 1; and what to say at its end.
pub fn spans(title: &str, words: &str, lines: &[(String, [f64; 2], String)]) -> String {
    let bottom = TOP + LINE * lines.len() as f64;
    let mut svg = Svg::new(bottom + 8.0, words, title);
    let (from, to) = (LEFT + 8.0, WIDTH - 92.0);
    let x = |share: f64| from + share.clamp(0.0, 1.0) * (to - from);
    for (line, (name, [begin, end], says)) in lines.iter().enumerate() {
        let middle = TOP + LINE * (line as f64 + 0.5);
        svg.bar((from, middle - 5.0), (to - from, 10.0), "#eee", 1.0);
        let (low, high) = (begin.min(*end), begin.max(*end));
        svg.bar((x(low), middle - 5.0), (x(high) - x(low), 10.0), BAND, 1.0);
        svg.dot(x(*begin), middle);
        svg.text((LEFT, middle + 3.5), "end", &clipped(name, LETTERS));
        svg.text((to + 8.0, middle + 3.5), "start", &clipped(says, LETTERS));
    }
    svg.end()
}

fn is_number(column: &TermColumn) -> bool {
    let first = column.segments.first();
    first.is_some_and(|segment| matches!(segment.means, Meaning::Between { .. }))
}

fn signed(x: f64) -> String {
    match short(x) {
        text if x > 0.0 => format!("+{text}"),
        text => text.replace('-', "−"),
    }
}

/// At most so many letters.
pub(super) fn clipped(text: &str, letters: usize) -> String {
    let text = shown(text);
    if text.chars().count() <= letters {
        return text.into_owned();
    }
    let kept: String = text.chars().take(letters - 1).collect();
    format!("{}…", kept.trim_end())
}

/// Where the segments of a column are drawn.
struct Axis {
    /// From and to, by segment.
    places: Vec<(f64, f64)>,
    /// The ends of the numbers.
    ends: Option<(String, String)>,
    numbers_end: f64,
    /// Where other segments have their middle, and what they are.
    named: Vec<(f64, String)>,
}

impl Axis {
    fn of(column: &TermColumn, from: f64, to: f64) -> Self {
        let bounds = column.segments.iter().filter_map(|segment| match segment.means {
            Meaning::Between { low, high } => Some((low, high)),
            _ => None,
        });
        let (low, high) = bounds.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), own| {
            (low.min(own.0), high.max(own.1))
        });
        let numbers = low < high;
        let others = column
            .segments
            .iter()
            .filter(|segment| !matches!(segment.means, Meaning::Between { .. }));
        let others = others.count() as f64;
        let apart = match numbers {
            true => (APART.min((to - from) / 4.0)) * others.min(1.0),
            false => to - from,
        };
        let (numbers_end, each) = (to - apart, apart / others.max(1.0));
        let x = |value: f64| from + (value - low) / (high - low) * (numbers_end - from);
        let (mut places, mut named, mut next) = (Vec::new(), Vec::new(), numbers_end);
        for segment in &column.segments {
            match segment.means {
                Meaning::Between { low, high } => places.push((x(low), x(high))),
                _ => {
                    places.push((next, next + each));
                    named.push((next + each / 2.0, segment.means.name()));
                    next += each;
                }
            }
        }
        Self {
            places,
            ends: numbers.then(|| (short(low), short(high))),
            numbers_end,
            named,
        }
    }

    /// Below a plot.
    fn write(&self, svg: &mut Svg, column: &TermColumn, bottom: f64) {
        let line = bottom + 16.0;
        if let Some((low, high)) = &self.ends {
            svg.text((LEFT, line), "start", low);
            let high = match &column.measure {
                Some(measure) => format!("{high} {}", clipped(measure, LETTERS)),
                None => high.clone(),
            };
            svg.text((self.numbers_end, line), "end", &high);
        }
        let mut free = if self.ends.is_some() {
            self.numbers_end + 2.0
        } else {
            0.0
        };
        for ((middle, name), (from, to)) in self.named.iter().zip(self.of_named()) {
            // A letter is about 6.5 wide; where a name has no room it is in the words.
            let letters = ((to - from) / 6.5).floor() as usize;
            let half = 3.3 * name.chars().count().min(letters) as f64;
            if letters >= 2 && middle - half >= free {
                svg.text((*middle, line), "middle", &clipped(name, letters));
                free = middle + half + 2.0;
            }
        }
    }

    /// The places of the named segments.
    fn of_named(&self) -> impl Iterator<Item = (f64, f64)> {
        let from = self.places.len() - self.named.len();
        self.places[from..].iter().copied()
    }
}
