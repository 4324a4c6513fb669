//! Tables as rows, and partitions of them: each row lies in exactly one part.

use super::Private;

/// One entry per row, each computed from that row alone; always private.
///
/// Parallel composition requires that an entry depends on one row only. So a `PerRow` exists only inside a [`Private`], and is made
/// row by row: a closure that sees the whole table cannot return one, except through `row_by_row`, whose callers a test lists.
#[derive(Clone)]
pub struct PerRow<R>(Vec<R>);

impl<R> PerRow<R> {
    /// The rows.
    pub fn as_slice(&self) -> &[R] {
        &self.0
    }
}

impl<R: Send + Sync + 'static> Private<PerRow<R>> {
    /// The rows of a table as they were read.
    pub fn rows(rows: Vec<R>) -> Self {
        Self::new(PerRow(rows))
    }
}

impl<R> Private<PerRow<R>> {
    /// A value for each row, computed from that row alone.
    pub fn map_rows<S>(&self, f: impl Fn(&R) -> S + Sync) -> Private<PerRow<S>> {
        Private::wrap(PerRow(self.as_ref().expose().0.iter().map(f).collect()))
    }
}

impl<T> Private<T> {
    /// The rows of a table that is stored in another form, such as by columns. `row` is given the table and the index of a row, and
    /// must look at that row alone. A test lists its callers: trees, in one place.
    pub(crate) fn row_by_row<R>(
        &self,
        rows: impl Fn(&T) -> usize,
        row: impl Fn(&T, usize) -> R,
    ) -> Private<PerRow<R>> {
        let table = self.as_ref().expose();
        Private::wrap(PerRow(
            (0..rows(table)).map(|number| row(table, number)).collect(),
        ))
    }
}

/// Parts of a table such that each row lies in exactly one, decided by that row (and public values) alone.
///
/// How many parts there are is public; how many rows each holds is not.
pub struct Partition<P> {
    parts: Vec<Private<P>>,
}

impl<R> Partition<PerRow<R>> {
    /// Puts each row into the part `part_of` gives. An index beyond `parts` means the last part: an error would show the row.
    pub fn by(table: Private<PerRow<R>>, parts: usize, part_of: impl Fn(&R) -> usize + Sync) -> Self {
        let mut cut: Vec<Vec<R>> = (0..parts).map(|_| Vec::new()).collect();
        if let Some(last) = parts.checked_sub(1) {
            for row in table.expose().0 {
                cut[part_of(&row).min(last)].push(row);
            }
        }
        Self {
            parts: cut.into_iter().map(|rows| Private::wrap(PerRow(rows))).collect(),
        }
    }
}

impl<P> Partition<P> {
    /// How many parts there are; public.
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    pub(in crate::privacy) fn into_parts(self) -> Vec<Private<P>> {
        self.parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_lies_in_one_part_whatever_its_rule_says() {
        let table = Private::rows(vec![0usize, 1, 2, 7, usize::MAX]);
        let parts = Partition::by(table.map_rows(|row| *row), 3, |row| *row).into_parts();
        let rows: Vec<Vec<usize>> = parts.into_iter().map(|part| part.expose().0).collect();
        assert_eq!(rows, [vec![0], vec![1], vec![2, 7, usize::MAX]]);
        let none = Partition::by(Private::rows(vec![1usize]), 0, |row| *row);
        assert_eq!(none.parts(), 0);
    }
}
