//! What a circuit is written against.

use zeroize::{Zeroize, Zeroizing};

/// What goes through a wire: nothing, a bit or a label. Wiped when it goes.
pub trait Wire: Copy + Zeroize {}

/// Some wires.
pub type Wires<W> = Zeroizing<Vec<W>>;

/// Who walks through a circuit: exclusive or, negation and constants are free, each `and` is a gate.
pub trait Backend {
    /// What goes through its wires.
    type Wire: Wire;

    /// A bit that everybody knows.
    fn constant(&self, bit: bool) -> Self::Wire;

    /// Whether the two differ.
    fn xor(&self, a: Self::Wire, b: Self::Wire) -> Self::Wire;

    /// The opposite.
    fn not(&self, a: Self::Wire) -> Self::Wire;

    /// Whether both are one: `N` gates that do not depend on each other. Two to four at a time are fastest.
    fn and<const N: usize>(&mut self, a: [Self::Wire; N], b: [Self::Wire; N]) -> [Self::Wire; N];
}

/// How many bits go into a circuit and come out, and in how many steps it is walked through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Bits of the garbler.
    pub garbler: usize,
    /// Bits of the evaluator.
    pub evaluator: usize,
    /// Bits that come out.
    pub output: usize,
    /// Steps: the tables of one step are in memory together, so that some thousand gates are a good step.
    pub steps: usize,
}

/// A function of two inputs. Everything that depends on the inputs is on wires: gates and their order follow from the circuit alone.
pub trait Circuit {
    /// What both sides have to agree on: name and sizes.
    fn name(&self) -> String;

    /// Its sizes.
    fn shape(&self) -> Shape;

    /// Walks through one step. Steps are walked through in ascending order; the last one fills the output.
    fn step<B: Backend>(&self, step: usize, work: &mut Workspace<B::Wire>, on: &mut B);
}

/// The wires that a circuit has between two steps.
pub struct Workspace<W: Wire> {
    /// The garbler's input.
    pub garbler: Wires<W>,
    /// The evaluator's input.
    pub evaluator: Wires<W>,
    /// What earlier steps leave for later ones.
    pub numbers: Vec<super::Number<W>>,
    /// What comes out.
    pub output: Wires<W>,
}

impl<W: Wire> Workspace<W> {
    /// Before the first step.
    pub fn new(garbler: Wires<W>, evaluator: Wires<W>) -> Self {
        Self {
            garbler,
            evaluator,
            numbers: Vec::new(),
            output: Wires::default(),
        }
    }
}
