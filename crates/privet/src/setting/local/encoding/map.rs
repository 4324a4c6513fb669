//! From the coordinates of a row's columns to φ, by published numbers.

use crate::Error;
use crate::privacy::getters;

/// A public map of base coordinates to φ: signs at cuts instead of some coordinates; then, if there are axes, each of them as an offset and a
/// weighted sum instead; then the products of each two; then a constant.
#[derive(Debug, Clone, PartialEq)]
pub struct Map {
    /// For each base coordinate: where its signs change, or nothing if it stays as it is.
    cuts: Vec<Vec<f64>>,
    axes: Vec<Axis>,
    products: bool,
    constant: Option<f64>,
}

/// A published direction: an offset, and a weight for each coordinate.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What is added.
    pub offset: f64,
    /// One weight for each coordinate.
    pub weights: Vec<f64>,
}

impl Map {
    /// Coordinates as they are.
    pub fn identity(base: usize) -> Self {
        Self {
            cuts: vec![Vec::new(); base],
            axes: Vec::new(),
            products: false,
            constant: None,
        }
    }

    /// The same with a sign for each of these cuts, + above it and − at it or below, instead of a coordinate.
    ///
    /// # Errors
    /// [`Error::Parameter`] if there is no such coordinate, a cut is not a number, or there are axes already.
    pub fn with_cuts(mut self, coordinate: usize, cuts: Vec<f64>) -> Result<Self, Error> {
        let bad = |why: &str| Err(Error::parameter("cuts", why));
        if !self.axes.is_empty() {
            return bad("cuts come before axes");
        }
        if cuts.is_empty() || cuts.iter().any(|cut| !cut.is_finite()) {
            return bad("at least one cut is needed, and each must be a number");
        }
        match self.cuts.get_mut(coordinate) {
            Some(own) => *own = cuts,
            None => return bad("there is no such coordinate"),
        }
        Ok(self)
    }

    /// The same along axes; without one, nothing changes.
    ///
    /// # Errors
    /// [`Error::Parameter`] if an axis has not a weight for each coordinate.
    pub fn with_axes(mut self, axes: Vec<Axis>) -> Result<Self, Error> {
        let width = self.signed();
        if let Some(axis) = axes.iter().find(|axis| axis.weights.len() != width) {
            let why = format!(
                "an axis has {} weights, and the columns have {width} coordinates: write one for each",
                axis.weights.len()
            );
            return Err(Error::parameter("axes", why));
        }
        self.axes = axes;
        Ok(self)
    }

    /// The same with the products of each two coordinates, or not.
    #[must_use]
    pub fn with_products(mut self, products: bool) -> Self {
        self.products = products;
        self
    }

    /// The same with a last coordinate that has always this value.
    #[must_use]
    pub fn with_constant(mut self, constant: Option<f64>) -> Self {
        self.constant = constant;
        self
    }

    getters! {
        /// Base coordinates.
        pub base(cuts.len()) -> usize;
        /// For each base coordinate its cuts, or nothing if it stays as it is.
        pub cuts(&cuts) -> &[Vec<f64>];
        /// The directions; none if coordinates stay as they are.
        pub axes(&axes) -> &[Axis];
        /// Whether products follow.
        pub products(products) -> bool;
        /// The value of the last coordinate, if there is one that is always the same.
        pub constant(constant) -> Option<f64>;
    }

    /// Coordinates after cuts.
    fn signed(&self) -> usize {
        self.cuts.iter().map(|cuts| cuts.len().max(1)).sum()
    }

    /// How many coordinates φ has.
    pub fn dimension(&self) -> usize {
        let directions = match self.axes.len() {
            0 => self.signed(),
            axes => axes,
        };
        let products = match self.products {
            true => directions * (directions + 1) / 2,
            false => 0,
        };
        directions + products + usize::from(self.constant.is_some())
    }

    /// Appends φ of a row.
    pub fn row(&self, base: &[f64], into: &mut Vec<f64>) {
        let start = into.len();
        for (x, cuts) in base.iter().zip(&self.cuts) {
            match cuts.as_slice() {
                [] => into.push(*x),
                cuts => into.extend(cuts.iter().map(|cut| if x > cut { 1.0 } else { -1.0 })),
            }
        }
        if !self.axes.is_empty() {
            let signed = into.split_off(start);
            into.extend(
                self.axes
                    .iter()
                    .map(|axis| axis.offset + dot(&axis.weights, &signed)),
            );
        }
        if self.products {
            let end = into.len();
            for i in start..end {
                for j in i..end {
                    into.push(into[i] * into[j]);
                }
            }
        }
        into.extend(self.constant);
    }
}

/// The product of two vectors.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
