//! Schemas made up by a seed: odd names, odd numbers, every kind.

use privet::data::Schema;
use privet::data::schema::{
    Column, Declared, Extras, Kind, Label, Layout, Number, Spacing, Transform, Units,
};
use privet::privacy::texts::is_hidden;

struct Dice(u64);

impl Dice {
    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn often(&mut self) -> bool {
        self.below(3) > 0
    }

    fn one_of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }

    /// A text without control characters or spaces at its ends.
    fn text(&mut self) -> String {
        const PARTS: [&str; 24] = [
            "a",
            "B",
            "7",
            "-",
            "_",
            ".",
            "=",
            "#",
            "\"",
            "\\",
            "'",
            "{",
            "]",
            ",",
            "é",
            "日本",
            "👩‍⚕️",
            "\u{202e}",
            "x y",
            "\\u0041",
            "true",
            "1.5",
            "$(x)",
            "\u{feff}",
        ];
        (0..self.below(6)).map(|_| self.one_of(&PARTS)).collect()
    }

    fn real(&mut self) -> f64 {
        loop {
            let x = match self.below(5) {
                0 => self.below(1000) as f64 - 500.0,
                1 => (self.next() as f64) / (self.next() as f64 + 1.0),
                2 => f64::from(f32::from_bits(self.next() as u32)),
                3 => self.below(100_000) as f64 / 1000.0,
                _ => f64::from_bits(self.next()),
            };
            if x.is_finite() {
                return x;
            }
        }
    }

    fn declared(&mut self, count: usize) -> Declared {
        let values: Vec<String> = (0..count).map(|i| format!("{}{i}", self.text().trim())).collect();
        let fill = self.one_of(&values);
        let fill = (!self.often()).then_some(fill);
        Declared::new(values, fill.as_deref()).unwrap()
    }

    fn number(&mut self) -> Number {
        loop {
            let (mut min, mut max) = (self.real(), self.real());
            if min > max {
                (min, max) = (max, min);
            }
            let integer = !self.often();
            if integer {
                (min, max) = (min.floor(), max.floor());
            }
            let mut cuts: Vec<f64> = (0..self.below(4)).map(|_| self.real().clamp(min, max)).collect();
            cuts.sort_by(f64::total_cmp);
            let with_cuts = !cuts.is_empty();
            let mut transform = self.one_of(&Transform::NAMES).1;
            if let (true, Ok(units)) = (self.often(), Units::new(self.real())) {
                transform = transform.in_units(units).unwrap_or(transform);
            }
            let extras = Extras {
                integer,
                date: self.below(8) == 0,
                transform,
                bins: (!with_cuts && self.often()).then(|| 1 + self.below(300) as u16),
                spacing: self.one_of(&Spacing::NAMES).1,
                cuts: with_cuts.then_some(cuts),
                fill: (!self.often()).then(|| self.real().clamp(min, max)),
            };
            // Most of them make no sense, and are refused.
            if let Ok(number) = Number::new(min, max, extras) {
                return number;
            }
        }
    }

    fn kind(&mut self) -> Kind {
        let count = 2 + self.below(5);
        match self.below(6) {
            0 | 1 => Kind::Number(self.number()),
            2 => Kind::Ordinal(self.declared(count)),
            3 => Kind::Category(self.declared(count)),
            4 => Kind::Flag(self.declared(2)),
            _ => self.one_of(&[Kind::Id, Kind::Skip]),
        }
    }
}

/// The schema of a seed.
pub(crate) fn schema(seed: u64) -> Schema {
    let mut dice = Dice(seed);
    let mut columns: Vec<Column> = Vec::new();
    let mut unit = None;
    for i in 0..1 + dice.below(6) {
        let kind = match i {
            0 => Kind::Number(dice.number()),
            _ => dice.kind(),
        };
        let mut name = dice.text();
        if columns.iter().any(|column| column.name == name) {
            name = format!(" {name}{i} ");
        }
        if kind == Kind::Id && dice.often() {
            unit = Some((name.clone(), 1 + dice.next() as u32 / 2));
        }
        columns.push(Column {
            name,
            private: kind != Kind::Id && dice.often(),
            kind,
            measure: (!dice.often()).then(|| dice.text()),
        });
    }
    let label = match dice.below(3) {
        0 => None,
        1 => Some(Label::Classes(dice.declared(3))),
        _ => Some(Label::Number {
            min: -dice.real().abs().min(1e30) - 1.0,
            max: 0.5,
        }),
    };
    columns.extend(label.map(|label| Column {
        name: "the label".into(),
        kind: Kind::Label(label),
        private: dice.often(),
        measure: None,
    }));
    if dice.below(4) == 0 {
        columns.push(Column {
            name: "the weight".into(),
            kind: Kind::Weight(dice.real().abs().clamp(1e-9, 1e9)),
            private: dice.often(),
            measure: None,
        });
    }
    let layout = Layout {
        header: dice.often(),
        delimiter: dice.one_of(b",;\t|\x01 \""),
        quote: dice.one_of(b"'\x7f`"),
        comment: dice.one_of(&[None, Some(b'#'), Some(b'\\'), Some(0)]),
        decimal: dice.one_of(b".,"),
    };
    let missing: Vec<String> = (0..dice.below(4))
        .map(|_| dice.text().trim().to_owned())
        .collect();
    // Names of data sets have no such character; columns and values of known columns may.
    let dataset = format!("d{}", dice.text().replace(is_hidden, ""));
    let schema = Schema::builder(dataset.trim()).layout(layout);
    let schema = schema.missing(missing).columns(columns);
    let schema = match unit {
        Some((column, rows)) => schema.unit(column).rows_per_unit(rows),
        None => schema,
    };
    schema.build().unwrap()
}
