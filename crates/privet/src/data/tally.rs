//! How many cells of a column fit what its schema declares: exact counts, for the owner alone.

use super::column::CellRule;
use super::schema::{Column, Declared, Kind, Label, Schema};

/// How many different texts are shown.
const SHOWN: usize = 3;

/// How the cells of one column are counted.
#[derive(Clone)]
pub(super) struct TallyRule {
    pub(super) rule: CellRule,
    /// The texts that mean "missing".
    missing: Vec<Vec<u8>>,
}

impl TallyRule {
    pub(super) fn of(schema: &Schema, column: &Column) -> Self {
        // Without a fill: a missing cell that counts as a value is missing all the same.
        let bare = |declared: &Declared| {
            Declared::new(declared.values().to_vec(), None).unwrap_or_else(|_| declared.clone())
        };
        let kind = match &column.kind {
            Kind::Ordinal(declared) | Kind::Category(declared) | Kind::Flag(declared) => {
                Kind::Category(bare(declared))
            }
            Kind::Label(Label::Classes(declared)) => Kind::Label(Label::Classes(bare(declared))),
            kind => kind.clone(),
        };
        let column = Column {
            kind,
            ..column.clone()
        };
        let missing = schema.missing().iter();
        Self {
            rule: CellRule::of(schema, &column, false),
            missing: missing.map(|text| text.clone().into_bytes()).collect(),
        }
    }

    fn calls_missing(&self, cell: &[u8]) -> bool {
        self.missing.iter().any(|text| text == cell)
    }

    fn missing_numbers(&self) -> &[f64] {
        match &self.rule {
            CellRule::Number { missing, .. } | CellRule::Target { missing, .. } => missing,
            _ => &[],
        }
    }
}

/// The cells of one column, counted by what becomes of them. No `Debug`: they are private.
#[derive(Clone, Default)]
pub struct Tally {
    /// All of them.
    pub cells: u64,
    /// Those that are missing.
    pub missing: u64,
    /// Those that are no declared value, or no number where numbers are declared.
    pub undeclared: u64,
    /// Numbers below the smallest.
    pub below: u64,
    /// Numbers above the largest.
    pub above: u64,
    /// Some of the undeclared ones, as they are written.
    pub examples: Vec<String>,
}

impl Tally {
    /// One cell more, as trimmed text.
    pub(super) fn text(&mut self, rule: &TallyRule, cell: &[u8]) {
        match &rule.rule {
            CellRule::Number { numeral, .. } | CellRule::Target { numeral, .. } => {
                match numeral.parse(cell) {
                    Some(x) => self.number(rule, Some(x)),
                    None if rule.calls_missing(cell) => self.number(rule, None),
                    None => self.undeclared(cell),
                }
            }
            CellRule::Slots { lookup, .. } | CellRule::Class(lookup) => match lookup.text(cell) {
                slot if slot == lookup.missing => self.number(rule, None),
                slot if slot == lookup.other => self.undeclared(cell),
                _ => self.cells += 1,
            },
            _ if rule.calls_missing(cell) => self.number(rule, None),
            _ => self.cells += 1,
        }
    }

    /// One number more, or a missing cell.
    pub(super) fn number(&mut self, rule: &TallyRule, cell: Option<f64>) {
        self.cells += 1;
        let Some(x) = cell.filter(|x| !x.is_nan() && !rule.missing_numbers().contains(x)) else {
            self.missing += 1;
            return;
        };
        let (min, max) = match &rule.rule {
            CellRule::Number { number, .. } => (number.min(), number.max()),
            CellRule::Target { min, max, .. } => (*min, *max),
            _ => return,
        };
        self.below += u64::from(x < min);
        self.above += u64::from(x > max);
    }

    fn undeclared(&mut self, cell: &[u8]) {
        self.cells += 1;
        self.undeclared += 1;
        if self.examples.len() < SHOWN {
            let text: String = String::from_utf8_lossy(cell).chars().take(24).collect();
            self.show(&text);
        }
    }

    fn show(&mut self, text: &str) {
        if self.examples.len() < SHOWN && !self.examples.iter().any(|known| known == text) {
            self.examples.push(text.to_owned());
        }
    }

    /// The cells of another piece of the column, too.
    pub(super) fn append(&mut self, other: &Self) {
        self.cells += other.cells;
        self.missing += other.missing;
        self.undeclared += other.undeclared;
        self.below += other.below;
        self.above += other.above;
        other.examples.iter().for_each(|text| self.show(text));
    }
}
