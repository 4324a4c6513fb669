//! Text in blocks that end where a record ends, so that threads can read them apart.
//!
//! A record ends at a line feed outside quotes. A quote opens a quoted cell only as the cell's first byte; inside, two
//! quotes are one; after the closing quote the cell goes on to the next delimiter. These are the rules of the `csv` crate,
//! except that a carriage return alone ends nothing.

use std::io::{ErrorKind, Read};

use memchr::{memchr, memchr2, memrchr};
use privet::data::schema::Layout;

/// How much text one thread reads at a time.
pub(super) const SIZE: usize = 1 << 20;

/// No record is longer: else one stray quote would ask for memory as large as the file.
pub(super) const LONGEST: usize = 64 << 20;

/// What is wrong with a file's shape.
#[derive(Debug)]
pub(super) struct ShapeFault {
    /// At which line, counted from nought where the block begins.
    pub(super) line: Option<u64>,
    pub(super) what: String,
}

impl ShapeFault {
    pub(super) fn at(line: u64, what: impl Into<String>) -> Self {
        Self {
            line: Some(line),
            what: what.into(),
        }
    }
}

/// What a block holds besides its bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextBlock {
    /// Whether there is any quote in it.
    pub(super) quoted: bool,
}

/// Cuts text into blocks.
pub(super) struct TextBlocks<R> {
    input: R,
    pub(super) layout: Layout,
    size: usize,
    /// What was read behind the last cut.
    carry: Vec<u8>,
    ended: bool,
    begun: bool,
    /// Reported after everything before it has been handed out.
    fault: Option<ShapeFault>,
}

impl<R: Read> TextBlocks<R> {
    pub(super) fn new(input: R, layout: Layout, size: usize) -> Self {
        Self {
            input,
            layout,
            size: size.clamp(1, LONGEST),
            carry: Vec::new(),
            ended: false,
            begun: false,
            fault: None,
        }
    }

    /// Fills `block` with the next whole records; nothing if there are no more.
    pub(super) fn next(&mut self, block: &mut Vec<u8>) -> Result<Option<TextBlock>, ShapeFault> {
        block.clear();
        // The old buffer becomes the next carry: no allocation once blocks have their size.
        std::mem::swap(block, &mut self.carry);
        let mut wanted = self.size;
        loop {
            self.fill(block, wanted);
            let quoted = memchr(self.layout.quote, block).is_some();
            let (end, open) = if quoted {
                last_record(block, &self.layout)
            } else {
                (memrchr(b'\n', block).map_or(0, |place| place + 1), None)
            };
            if let (true, None, None) = (self.ended, open, &self.fault) {
                return Ok((!block.is_empty()).then_some(TextBlock { quoted }));
            }
            if end > 0 {
                self.carry.clear();
                self.carry.extend_from_slice(&block[end..]);
                block.truncate(end);
                return Ok(Some(TextBlock { quoted }));
            }
            if self.ended {
                return Err(self.fault.take().unwrap_or_else(|| unclosed(block, open)));
            }
            if block.len() >= LONGEST {
                return Err(match open {
                    Some(_) => unclosed(block, open),
                    None => ShapeFault::at(
                        0,
                        format!("is longer than {} MiB; are these lines of text?", LONGEST >> 20),
                    ),
                });
            }
            wanted = (block.len() * 2).min(LONGEST);
        }
    }

    /// Reads until there are `wanted` bytes or no more.
    fn fill(&mut self, block: &mut Vec<u8>, wanted: usize) {
        // A byte order mark takes three bytes, whatever the size of blocks.
        let wanted = if self.begun { wanted } else { wanted.max(3) };
        while !self.ended && block.len() < wanted {
            let missing = wanted - block.len();
            match (&mut self.input).take(missing as u64).read_to_end(block) {
                Ok(read) => self.ended = read < missing,
                Err(e) => {
                    self.ended = true;
                    let what = match e.kind() {
                        ErrorKind::UnexpectedEof => "the file ends too early; was it copied whole?".into(),
                        ErrorKind::InvalidInput | ErrorKind::InvalidData => {
                            format!("cannot be unpacked: {e}")
                        }
                        _ => format!("cannot be read: {e}"),
                    };
                    self.fault = Some(ShapeFault { line: None, what });
                }
            }
            if !self.begun {
                self.begun = true;
                if block.starts_with(b"\xef\xbb\xbf") {
                    block.drain(..3);
                }
            }
        }
    }
}

fn unclosed(block: &[u8], open: Option<usize>) -> ShapeFault {
    let place = open.unwrap_or(0).min(block.len());
    let line = memchr::memchr_iter(b'\n', &block[..place]).count() as u64;
    ShapeFault::at(
        line,
        "a quote opens a cell here and is never closed; close it, or write two quotes for one inside a cell",
    )
}

/// Where the last whole record ends, and where a quote is still open, if one is. The block begins with a record.
fn last_record(block: &[u8], layout: &Layout) -> (usize, Option<usize>) {
    let (mut at, mut end) = (0, 0);
    loop {
        if at == end && layout.comment.is_some() && block.get(at).copied() == layout.comment {
            match memchr(b'\n', &block[at..]) {
                Some(step) => end = at + step + 1,
                None => return (end, None),
            }
            at = end;
            continue;
        }
        let Some(step) = memchr2(layout.quote, b'\n', &block[at..]) else {
            return (end, None);
        };
        let place = at + step;
        at = place + 1;
        if block[place] == b'\n' {
            end = at;
            continue;
        }
        if place != end && block[place - 1] != layout.delimiter {
            continue;
        }
        match closing(block, at, layout.quote) {
            Some(close) => at = close + 1,
            None => return (end, Some(place)),
        }
    }
}

/// Where the quoted cell whose text begins at `from` is closed.
pub(super) fn closing(block: &[u8], mut from: usize, quote: u8) -> Option<usize> {
    loop {
        let place = from + memchr(quote, &block[from..])?;
        if block.get(place + 1) != Some(&quote) {
            return Some(place);
        }
        from = place + 2;
    }
}
