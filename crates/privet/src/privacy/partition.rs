//! Tables as rows, cut into parts with each row in exactly one.

use super::Private;

/// A table, one entry a row: always private, and always one row by itself.
///
/// Parallel composition counts on an entry depending on one row only. So there is no `Rows` outside of a [`Private`], and the only
/// way from one to another goes row by row: a closure that has seen the whole table can make no `Rows` that leave it, but for
/// `row_by_row`, whose callers a test names.
#[derive(Clone)]
pub struct Rows<R>(Vec<R>);

impl<R> Rows<R> {
    /// The rows.
    pub fn as_slice(&self) -> &[R] {
        &self.0
    }
}

impl<R: Send + Sync + 'static> Private<Rows<R>> {
    /// The rows of a table as they were read.
    pub fn rows(rows: Vec<R>) -> Self {
        Self::new(Rows(rows))
    }
}

impl<R> Private<Rows<R>> {
    /// What is computed from each row by itself.
    pub fn map_rows<S>(&self, f: impl Fn(&R) -> S + Sync) -> Private<Rows<S>> {
        Private::wrap(Rows(self.as_ref().expose().0.iter().map(f).collect()))
    }
}

impl<T> Private<T> {
    /// The rows of a table that is kept in another form: column by column, say. `row` is handed the table and the number of a row,
    /// and must look at that row alone. Who may use it is checked by a test: trees, in one place.
    pub(crate) fn row_by_row<R>(
        &self,
        rows: impl Fn(&T) -> usize,
        row: impl Fn(&T, usize) -> R,
    ) -> Private<Rows<R>> {
        let table = self.as_ref().expose();
        Private::wrap(Rows((0..rows(table)).map(|number| row(table, number)).collect()))
    }
}

/// Parts of a table such that each row lies in exactly one, decided by that row (and public values) alone.
///
/// How many parts there are is public; how many rows each holds is not.
pub struct Partition<P> {
    parts: Vec<Private<P>>,
}

impl<R> Partition<Rows<R>> {
    /// Puts each row into the part that `part_of` names; a name beyond `parts` means the last part, since an error would
    /// tell something about the row.
    pub fn by(table: Private<Rows<R>>, parts: usize, part_of: impl Fn(&R) -> usize + Sync) -> Self {
        let mut cut: Vec<Vec<R>> = (0..parts).map(|_| Vec::new()).collect();
        if let Some(last) = parts.checked_sub(1) {
            for row in table.expose().0 {
                cut[part_of(&row).min(last)].push(row);
            }
        }
        Self {
            parts: cut.into_iter().map(|rows| Private::wrap(Rows(rows))).collect(),
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
