//! Tables as text.

use std::io::Read;
use std::sync::{Mutex, PoisonError};

use privet::Error;
use privet::data::{Intake, Piece, Table, TableForm, places};

use super::blocks::{SIZE, ShapeFault, TextBlock, TextBlocks};
use super::peek::odd;
use super::rows::{RowLayout, Scratch, record};

/// Bytes done, and bytes in all.
pub type ReadProgress<'p> = dyn Fn(u64, u64) + Sync + 'p;

/// How text is read; what a caller need not choose.
pub struct Csv<'c> {
    /// The file's name, for errors.
    pub name: &'c str,
    /// How many bytes a thread takes at a time.
    pub block: usize,
}

/// Reads a table from text.
///
/// # Errors
/// [`Error::Data`], with the line, for the first place where the text is not the schema's table. Cells are never an error.
pub fn read_csv(name: &str, input: impl Read + Send, intake: &Intake) -> Result<Table, Error> {
    Csv::new(name).read(input, intake, &|| {})
}

/// Blocks not yet read, shared by the threads.
struct Queue<R> {
    blocks: TextBlocks<R>,
    /// The one behind the header.
    first: Option<(Vec<u8>, TextBlock)>,
    next: usize,
    /// Set by the first fault: earlier blocks are finished, no other is begun.
    stopped: bool,
    fault: Option<ShapeFault>,
}

/// One block, read.
struct Parsed {
    number: usize,
    outcome: Result<(Piece, u64), ShapeFault>,
}

impl<'c> Csv<'c> {
    /// The text called `name`.
    pub fn new(name: &'c str) -> Self {
        Self { name, block: SIZE }
    }

    /// Reads a table from text; `progress` is called after every block.
    ///
    /// # Errors
    /// As [`read_csv`].
    pub fn read<R: Read + Send>(
        &self,
        input: R,
        intake: &Intake,
        progress: &(dyn Fn() + Sync),
    ) -> Result<Table, Error> {
        Ok(Table::new(intake, self.rows(input, intake, progress)?))
    }

    /// The same rows in the clear.
    pub(super) fn rows<R: Read + Send>(
        &self,
        input: R,
        intake: &Intake,
        progress: &(dyn Fn() + Sync),
    ) -> Result<Vec<Piece>, Error> {
        let layout = intake.schema().layout();
        let mut blocks = TextBlocks::new(input, layout, self.block);
        let (head, lines, rest) = self.head(&mut blocks)?;
        let Some(head) = head else {
            return self.without_rows(intake, layout.header);
        };
        let places = match layout.header {
            true => places((self.name, TableForm::Text), &self.names(&head, lines)?, intake)?,
            false => places_in_order(self.name, lines + 1, head.len(), intake)?,
        };
        let shape = RowLayout {
            layout,
            places: &places,
        };
        let queue = Mutex::new(Queue {
            blocks,
            first: rest,
            next: 0,
            stopped: false,
            fault: None,
        });
        let done = Mutex::new(Vec::new());
        rayon::broadcast(|_| self.work(&queue, &shape, intake, (&done, progress)));
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_by_key(|read: &Parsed| read.number);
        let mut line = lines;
        let mut pieces = Vec::with_capacity(done.len());
        for read in done {
            match read.outcome {
                Ok((piece, lines)) => {
                    pieces.push(piece);
                    line += lines;
                }
                Err(fault) => return Err(self.error(line, fault)),
            }
        }
        if let Some(fault) = queue.into_inner().unwrap_or_else(PoisonError::into_inner).fault {
            return Err(self.error(line, fault));
        }
        Ok(pieces)
    }

    fn error(&self, before: u64, fault: ShapeFault) -> Error {
        let line = fault.line.map(|line| before + line + 1);
        Error::data_at(self.name, line, fault.what)
    }

    /// The columns' names, as the first record has them; `lines` stand up to its end.
    fn names(&self, head: &[Vec<u8>], lines: u64) -> Result<Vec<String>, Error> {
        if let Some(what) = head.iter().find_map(|cell| odd(cell)) {
            return Err(self.error(lines - 1, ShapeFault::at(0, what)));
        }
        let text = |cell: &Vec<u8>| String::from_utf8_lossy(cell.trim_ascii()).into_owned();
        Ok(head.iter().map(text).collect())
    }

    fn without_rows(&self, intake: &Intake, header: bool) -> Result<Vec<Piece>, Error> {
        if header {
            let why = "the file is empty; its first line must have the columns' names";
            return Err(Error::data_in(self.name, why));
        }
        Ok(vec![intake.piece(intake.columns())?])
    }

    /// The cells of the first record, how many lines stand before what follows, and what follows in its block.
    #[allow(clippy::type_complexity, reason = "used once, just above")]
    fn head<R: Read>(
        &self,
        blocks: &mut TextBlocks<R>,
    ) -> Result<(Option<Vec<Vec<u8>>>, u64, Option<(Vec<u8>, TextBlock)>), Error> {
        let layout = blocks.layout;
        let (mut text, mut lines, mut buffer) = (Vec::new(), 0, Vec::new());
        while let Some(block) = blocks.next(&mut text).map_err(|fault| self.error(lines, fault))? {
            let mut at = 0;
            while at < text.len() {
                let mut cells = Vec::new();
                let record = record(&text, at, &layout, &mut buffer, |cell| cells.push(cell.to_vec()));
                if !cells.is_empty() {
                    if layout.header {
                        lines += record.lines;
                        at = record.end;
                    }
                    text.drain(..at);
                    return Ok((Some(cells), lines, Some((text, block))));
                }
                lines += record.lines;
                at = record.end;
            }
        }
        Ok((None, lines, None))
    }

    /// One thread's part: takes the next block, reads it, and so on.
    fn work<R: Read>(
        &self,
        queue: &Mutex<Queue<R>>,
        shape: &RowLayout<'_>,
        intake: &Intake,
        (done, progress): (&Mutex<Vec<Parsed>>, &(dyn Fn() + Sync)),
    ) {
        let (mut text, mut scratch) = (Vec::new(), Scratch::default());
        loop {
            let (number, block) = {
                let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
                if queue.stopped {
                    return;
                }
                let taken = match queue.first.take() {
                    Some((first, block)) => {
                        text = first;
                        Ok(Some(block))
                    }
                    None => queue.blocks.next(&mut text),
                };
                match taken {
                    Ok(Some(block)) => {
                        progress();
                        queue.next += 1;
                        (queue.next - 1, block)
                    }
                    Ok(None) => {
                        queue.stopped = true;
                        return;
                    }
                    Err(fault) => {
                        queue.stopped = true;
                        queue.fault = Some(fault);
                        return;
                    }
                }
            };
            let mut columns = intake.columns();
            let outcome = shape
                .take(&text, block, &mut columns, &mut scratch)
                .and_then(|lines| match intake.piece(columns) {
                    Ok(piece) => Ok((piece, lines)),
                    Err(e) => Err(ShapeFault {
                        line: None,
                        what: e.to_string(),
                    }),
                });
            if outcome.is_err() {
                queue.lock().unwrap_or_else(PoisonError::into_inner).stopped = true;
            }
            done.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(Parsed { number, outcome });
        }
    }
}

/// For each column of a file, in its order, the place of the schema's column that it feeds, if any, by how many there are: all that
/// are declared; to predict, the label may be absent, or whatever is not read.
fn places_in_order(
    file: &str,
    line: u64,
    cells: usize,
    intake: &Intake,
) -> Result<Vec<Option<usize>>, Error> {
    let count = intake.schema().columns().len();
    let label = intake.schema().label().map(|(column, _)| &column.name);
    let is_label = |place: usize| Some(&intake.schema().columns()[place].name) == label;
    let mut ways = vec![(0..count).collect::<Vec<_>>()];
    if !intake.reads_labels() || (0..count).all(|place| !intake.needs(place)) {
        ways.push((0..count).filter(|&place| !is_label(place)).collect());
        ways.push((0..count).filter(|&place| intake.reads(place)).collect());
    }
    match ways.iter().find(|way| way.len() == cells) {
        Some(way) => Ok(way
            .iter()
            .map(|&place| Some(place).filter(|&place| intake.reads(place)))
            .collect()),
        None => {
            let s = if cells == 1 { "" } else { "s" };
            let why = format!(
                "{cells} cell{s} where the schema declares {count} columns; a file without names has them all, in the schema's order"
            );
            Err(Error::data_at(file, Some(line), why))
        }
    }
}
