//! What is summed for each row: a gradient and a hessian.
//!
//! As integers they share one word: one addition updates both sums, exactly and in any order. As floats they are a pair
//! of single-precision numbers. Either way a node's histogram holds pairs of doubles, and integers of at most 2⁵³ are
//! exact in a double: so are their sums and differences.

/// One row's gradient and hessian.
pub trait Lane: Copy + Default + Send + Sync {
    /// What a cell of a partial histogram holds.
    type Cell: Copy + Default + Send + Sync;
    /// The row's part, ready to be added many times.
    type Addend: Copy;

    /// Prepares for additions.
    fn part(self) -> Self::Addend;

    /// Adds a row to a cell. At most 2¹⁵ rows are added to one.
    fn add(cell: &mut Self::Cell, part: Self::Addend);

    /// The sums of a cell.
    fn sums(cell: Self::Cell) -> [f64; 2];

    /// The row's own gradient and hessian, in units of the grid.
    fn pair(self) -> [f64; 2];
}

/// How many rows a partial histogram takes.
pub(super) const CHUNK: usize = 1 << 15;

/// A gradient of 16 bits with a sign above a hessian of 16 bits without.
///
/// A cell has 32 bits for each sum. With g from -32767 to 32767 and h from 0 to 65535, the sums of 2¹⁵ rows are at most
/// 2¹⁵ · (2¹⁵ - 1) < 2³⁰ and 2¹⁵ · (2¹⁶ - 1) < 2³¹: both sums fit into their halves, so no carry is ever lost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Packed(u32);

impl Packed {
    /// The largest gradient on the grid.
    pub const GRADIENT: i32 = 32_767;
    /// The largest hessian on the grid.
    pub const HESSIAN: i32 = 65_535;

    /// Values rounded to the grid, clamped to its range.
    pub fn new(gradient: i32, hessian: i32) -> Self {
        let g = gradient.clamp(-Self::GRADIENT, Self::GRADIENT);
        Self::rounded(g, hessian.clamp(0, Self::HESSIAN))
    }

    /// Values rounded to the grid, which must lie within it: the high bits of others are lost.
    #[inline]
    pub(crate) fn rounded(gradient: i32, hessian: i32) -> Self {
        Self(((gradient as u32) << 16) | (hessian as u32 & 0xffff))
    }
}

impl Lane for Packed {
    type Cell = u64;
    type Addend = u64;

    #[inline]
    fn part(self) -> u64 {
        let g = i64::from(self.0 as i32 >> 16) << 32;
        let h = i64::from(self.0 & 0xffff);
        // The low half of g is empty and h is not negative: no carry.
        (g | h) as u64
    }

    #[inline]
    fn add(cell: &mut u64, part: u64) {
        *cell = cell.wrapping_add(part);
    }

    #[inline]
    fn sums(cell: u64) -> [f64; 2] {
        [f64::from((cell >> 32) as u32 as i32), f64::from(cell as u32)]
    }

    #[inline]
    fn pair(self) -> [f64; 2] {
        [f64::from(self.0 as i32 >> 16), f64::from(self.0 & 0xffff)]
    }
}

/// A gradient and a hessian in single precision.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Pair(pub [f32; 2]);

impl Lane for Pair {
    type Cell = [f32; 2];
    type Addend = [f32; 2];

    #[inline]
    fn part(self) -> [f32; 2] {
        self.0
    }

    #[inline]
    fn add(cell: &mut [f32; 2], part: [f32; 2]) {
        *cell = [cell[0] + part[0], cell[1] + part[1]];
    }

    #[inline]
    fn sums(cell: [f32; 2]) -> [f64; 2] {
        cell.map(f64::from)
    }

    #[inline]
    fn pair(self) -> [f64; 2] {
        self.0.map(f64::from)
    }
}

/// How large one unit of a sum is: one for floats, a step of the grid for integers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    /// One unit of gradient.
    pub gradient: f64,
    /// One unit of hessian.
    pub hessian: f64,
}

impl Grid {
    /// Sums without scaling.
    pub const UNIT: Self = Self {
        gradient: 1.0,
        hessian: 1.0,
    };

    /// The grid of [`Packed`] for gradients and hessians up to these bounds.
    pub fn packed(gradient: f64, hessian: f64) -> Self {
        let step = |bound: f64, most: i32| if bound > 0.0 { bound / f64::from(most) } else { 1.0 };
        Self {
            gradient: step(gradient, Packed::GRADIENT),
            hessian: step(hessian, Packed::HESSIAN),
        }
    }

    /// Sums in real units.
    #[inline]
    pub fn real(&self, sums: [f64; 2]) -> [f64; 2] {
        [sums[0] * self.gradient, sums[1] * self.hessian]
    }
}
