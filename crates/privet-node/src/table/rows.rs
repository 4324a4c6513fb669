//! The cells of a block, row by row or column by column.

use memchr::{memchr, memchr2};
use privet::data::ColumnBuilder;
use privet::data::schema::Layout;

use super::blocks::{ShapeFault, TextBlock, closing};

/// How many bytes of rows are taken column by column: few enough to stay in the fastest cache.
const BATCH: usize = 24 << 10;

/// Which builder takes each cell of a row, if any does.
pub(super) struct RowLayout<'s> {
    pub(super) layout: Layout,
    pub(super) places: &'s [Option<usize>],
}

/// What a thread keeps from block to block.
#[derive(Default)]
pub(super) struct Scratch {
    /// Where each cell of the block ends.
    ends: Vec<u32>,
    /// Each row: where it begins, and which of `ends` is its first.
    rows: Vec<(u32, u32)>,
    cell: Vec<u8>,
}

impl RowLayout<'_> {
    /// Hands every cell to its builder; returns how many lines there were.
    pub(super) fn take(
        &self,
        bytes: &[u8],
        block: TextBlock,
        columns: &mut [ColumnBuilder<'_>],
        scratch: &mut Scratch,
    ) -> Result<u64, ShapeFault> {
        if block.quoted {
            self.take_quoted(bytes, columns, &mut scratch.cell)
        } else {
            self.take_plain(bytes, columns, scratch)
        }
    }

    fn wrong_number(&self, line: u64, cells: usize) -> ShapeFault {
        let wanted = self.places.len();
        let s = if cells == 1 { "" } else { "s" };
        let why = if cells < wanted {
            "is a cell missing, or a line broken?"
        } else {
            "quote cells that contain the delimiter"
        };
        ShapeFault::at(
            line,
            format!("{cells} cell{s} where the first line has {wanted}; {why}"),
        )
    }

    fn take_plain(
        &self,
        bytes: &[u8],
        columns: &mut [ColumnBuilder<'_>],
        scratch: &mut Scratch,
    ) -> Result<u64, ShapeFault> {
        let Scratch { ends, rows, .. } = scratch;
        let (lines, fault) = self.find_rows(bytes, ends, rows);
        if let Some(fault) = fault {
            return Err(fault);
        }
        let mut rest: &[(u32, u32)] = rows;
        while let Some(&(from, _)) = rest.first() {
            let count = rest.partition_point(|&(start, _)| ((start - from) as usize) < BATCH);
            let (batch, later) = rest.split_at(count);
            rest = later;
            for (cell, place) in self.places.iter().enumerate() {
                let Some(place) = *place else { continue };
                let ends = &*ends;
                columns[place].texts(batch.iter().map(|&(start, first)| {
                    let first = first as usize + cell;
                    let start = if cell == 0 { start } else { ends[first - 1] + 1 };
                    &bytes[start as usize..ends[first] as usize]
                }));
            }
        }
        Ok(lines)
    }

    /// Finds where cells end and rows begin; the first row with a wrong number of cells is a fault.
    fn find_rows(
        &self,
        bytes: &[u8],
        ends: &mut Vec<u32>,
        rows: &mut Vec<(u32, u32)>,
    ) -> (u64, Option<ShapeFault>) {
        ends.clear();
        rows.clear();
        let wanted = self.places.len();
        let (mut lines, mut start, mut first) = (0u64, 0usize, 0usize);
        let mut line = |end: usize, ends: &mut Vec<u32>| {
            let text = &bytes[start..end];
            // In a table of one column an empty line is a missing cell.
            let skipped = wanted > 1 && matches!(text, [] | [b'\r'])
                || text.first().copied() == self.layout.comment && self.layout.comment.is_some();
            if skipped {
                ends.truncate(first);
            } else if ends.len() - first == wanted {
                rows.push((start as u32, first as u32));
            } else {
                return Some(self.wrong_number(lines, ends.len() - first));
            }
            lines += 1;
            start = end + 1;
            first = ends.len();
            None
        };
        let (chunks, rest) = bytes.as_chunks::<8>();
        let (delimiter, feed) = (
            ONES.wrapping_mul(self.layout.delimiter.into()),
            ONES.wrapping_mul(b'\n'.into()),
        );
        let rest_at = bytes.len() - rest.len();
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        let last = (rest_at, &last);
        let chunks = chunks.iter().enumerate().map(|(i, chunk)| (i * 8, chunk));
        for (at, chunk) in chunks.chain(std::iter::once(last)) {
            let word = u64::from_le_bytes(*chunk);
            let feeds = zero_bytes(word ^ feed);
            let mut found = feeds | zero_bytes(word ^ delimiter);
            while found != 0 {
                let bit = found & found.wrapping_neg();
                let place = at + bit.trailing_zeros() as usize / 8;
                if place >= bytes.len() {
                    break;
                }
                ends.push(place as u32);
                if feeds & bit != 0
                    && let Some(fault) = line(place, ends)
                {
                    return (0, Some(fault));
                }
                found ^= bit;
            }
        }
        if bytes.last().is_some_and(|&last| last != b'\n') {
            ends.push(bytes.len() as u32);
            if let Some(fault) = line(bytes.len(), ends) {
                return (0, Some(fault));
            }
        }
        (lines, None)
    }

    fn take_quoted(
        &self,
        bytes: &[u8],
        columns: &mut [ColumnBuilder<'_>],
        buffer: &mut Vec<u8>,
    ) -> Result<u64, ShapeFault> {
        let (mut at, mut lines) = (0, 0);
        while at < bytes.len() {
            let mut count = 0;
            let record = record(bytes, at, &self.layout, buffer, |cell| {
                if let Some(Some(place)) = self.places.get(count) {
                    columns[*place].text(cell);
                }
                count += 1;
            });
            let is_comment = self.layout.comment.is_some() && bytes.get(at).copied() == self.layout.comment;
            if count == 0
                && !is_comment
                && let [only] = self.places
            {
                only.iter().for_each(|&place| columns[place].missing());
            }
            if count != 0 && count != self.places.len() {
                return Err(self.wrong_number(lines, count));
            }
            at = record.end;
            lines += record.lines;
        }
        Ok(lines)
    }
}

const ONES: u64 = 0x0101_0101_0101_0101;

/// The highest bit of every byte that is nought, and no other bit.
#[inline]
fn zero_bytes(word: u64) -> u64 {
    const LOW: u64 = 0x7f * ONES;
    !(((word & LOW).wrapping_add(LOW)) | word | LOW)
}

/// A record that was read.
pub(super) struct TextRecord {
    /// Where the next begins.
    pub(super) end: usize,
    /// How many lines it takes.
    pub(super) lines: u64,
}

/// Reads the record that begins at `at`: none of an empty line or a comment. An open quote goes on to the end.
pub(super) fn record(
    bytes: &[u8],
    mut at: usize,
    layout: &Layout,
    buffer: &mut Vec<u8>,
    mut cell: impl FnMut(&[u8]),
) -> TextRecord {
    let begin = at;
    let next = |from: usize| memchr(b'\n', &bytes[from..]).map_or(bytes.len(), |step| from + step + 1);
    let empty = matches!(&bytes[at..], [b'\n', ..] | [b'\r', b'\n', ..] | [b'\r'] | []);
    if empty || layout.comment.is_some() && bytes.get(at).copied() == layout.comment {
        return TextRecord {
            end: next(at),
            lines: 1,
        };
    }
    let mut quoted_lines = 0;
    let end = loop {
        let ends_at = |from: usize| {
            memchr2(layout.delimiter, b'\n', &bytes[from..]).map_or(bytes.len(), |step| from + step)
        };
        let end;
        if bytes.get(at) == Some(&layout.quote) {
            let close = closing(bytes, at + 1, layout.quote).unwrap_or(bytes.len());
            let inside = &bytes[at + 1..close];
            quoted_lines += memchr::memchr_iter(b'\n', inside).count() as u64;
            let after = (close + 1).min(bytes.len());
            end = ends_at(after);
            if memchr(layout.quote, inside).is_none() && after == end {
                cell(inside);
            } else {
                buffer.clear();
                let mut rest = inside;
                while let Some(place) = memchr(layout.quote, rest) {
                    buffer.extend_from_slice(&rest[..=place]);
                    rest = &rest[(place + 2).min(rest.len())..];
                }
                buffer.extend_from_slice(rest);
                buffer.extend_from_slice(&bytes[after..end]);
                cell(buffer);
            }
        } else {
            end = ends_at(at);
            cell(&bytes[at..end]);
        }
        match bytes.get(end) {
            Some(b'\n') => break end + 1,
            Some(_) => at = end + 1,
            None => break end,
        }
    };
    debug_assert!(end > begin);
    TextRecord {
        end,
        lines: quoted_lines + 1,
    }
}
