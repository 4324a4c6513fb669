//! Figures as a small table for people.

use std::fmt;

use super::{Figure, Figures, Report};

/// Printed instead of a value.
const UNDEFINED: &str = "not defined";

/// Four places for what lies about one, four digits for all else.
pub(crate) fn shown(x: f64) -> String {
    match x.abs() {
        size if size == 0.0 || (0.001..100.0).contains(&size) => format!("{x:.4}"),
        size if (100.0..1e7).contains(&size) => format!("{x:.1}"),
        _ => format!("{x:.3e}"),
    }
}

fn cells(figure: &Figure) -> [String; 4] {
    let (value, interval) = match figure.estimate {
        None => (UNDEFINED.into(), String::new()),
        Some(estimate) => (
            shown(estimate.value),
            format!("{} to {}", shown(estimate.low), shown(estimate.high)),
        ),
    };
    let constant = figure.constant.map_or(UNDEFINED.into(), shown);
    [figure.metric.name().into(), value, interval, constant]
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = ["metric", "value", "95 % interval", "constant"].map(String::from);
        let rows: Vec<[String; 4]> = std::iter::once(head).chain(self.iter().map(cells)).collect();
        let width = |column: usize| {
            rows.iter()
                .map(|row| row[column].chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths = [0, 1, 2, 3].map(width);
        for row in &rows {
            let line: Vec<String> = row
                .iter()
                .zip(widths)
                .map(|(cell, width)| format!("{cell:<width$}"))
                .collect();
            writeln!(f, "{}", line.join("  ").trim_end())?;
        }
        f.write_str(
            "constant: the best single answer for all of these rows, chosen on the rows themselves. Intervals take rows \
             as independent.",
        )
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} rows, no noise: as private as the rows are", self.rows)?;
        write!(f, "{}", self.figures)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_lines_up_and_says_what_is_not_defined() {
        let one_class = Report::of_classes(&[1, 1, 1, 1], &[0.2, 0.8, 0.4, 0.6, 0.6, 0.4, 0.0, 1.0], 2);
        let shown = one_class.to_string();
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[0], "4 rows, no noise: as private as the rows are");
        assert_eq!(lines[1], "metric    value        95 % interval     constant");
        assert_eq!(lines[2], "accuracy  0.7500       0.3006 to 0.9544  1.0000");
        assert_eq!(lines[3], "AUC       not defined                    not defined");
        let empty = Report::of_numbers(&[], &[]);
        assert_eq!(empty.to_string().matches(UNDEFINED).count(), 6);
    }

    #[test]
    fn json_has_no_hole() {
        let report = Report::of_classes(&[], &[], 2);
        let text = serde_json::to_string(&report).expect("serialises");
        assert!(
            text.starts_with(r#"{"rows":0,"figures":[{"metric":"accuracy","estimate":null,"constant":null}"#),
            "{text}"
        );
    }
}
