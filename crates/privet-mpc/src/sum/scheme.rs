//! Packed Shamir sharing (Franklin and Yung 1992): one polynomial holds several numbers.
//!
//! Holder j, counted from 0, is given the value at j + 1; the packed numbers are the values at −1, −2, …. The random values are the shares
//! of the first holders: together with the numbers they fix the polynomial, and only the other shares are computed.

use std::marker::PhantomData;

use super::field::{self, Prime};
use super::misfits::misfits;
use super::shape::Shape;

/// Evaluation of the polynomials of one shape.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Scheme<F> {
    shape: Shape,
    /// For each holder whose share is not random, the factors of the numbers and of the random values.
    matrix: Vec<u64>,
    field: PhantomData<F>,
}

/// What answers open to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Interpolated {
    /// The numbers; all further answers lie on the polynomials, too.
    Whole(Vec<u64>),
    /// They do not lie on polynomials of this degree: which do not fit, or nothing if that is not determined.
    Inconsistent(Vec<u16>),
}

fn point_of_holder(holder: usize) -> u64 {
    holder as u64 + 1
}

fn points_of_numbers<F: Prime>(count: usize) -> impl Iterator<Item = u64> {
    (1..=count as u64).map(|place| F::MODULUS - place)
}

impl<F: Prime> Scheme<F> {
    pub(super) fn new(shape: Shape) -> Self {
        debug_assert!(((shape.holders + shape.packed) as u64) < F::MODULUS);
        let random = (0..shape.random).map(point_of_holder);
        let nodes: Vec<u64> = points_of_numbers::<F>(shape.packed).chain(random).collect();
        let targets: Vec<u64> = (shape.random..shape.holders).map(point_of_holder).collect();
        Self {
            shape,
            matrix: field::interpolation::<F>(&nodes, &targets),
            field: PhantomData,
        }
    }

    pub(super) fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The shares of a vector, of every holder one after the other, one for each piece.
    ///
    /// `nodes` is for one piece at a time; `random` gives its random values.
    pub(super) fn share(
        &self,
        numbers: &[u64],
        mut random: impl FnMut(&mut [u64]),
        nodes: &mut [u64],
        shares: &mut [u64],
    ) {
        let Shape { pieces, packed, .. } = self.shape;
        for piece in 0..pieces {
            let from = (piece * packed).min(numbers.len());
            let to = (from + packed).min(numbers.len());
            let (own, values) = nodes.split_at_mut(packed);
            own.fill(0);
            own[..to - from].copy_from_slice(&numbers[from..to]);
            random(values);
            for (holder, value) in values.iter().enumerate() {
                shares[holder * pieces + piece] = *value;
            }
            let rows = self.matrix.chunks_exact(self.shape.required());
            for (holder, row) in (self.shape.random..).zip(rows) {
                shares[holder * pieces + piece] = field::dot::<F>(row, nodes);
            }
        }
    }

    /// The numbers of the polynomials on which the shares of some holders lie: at least as many as are required, of different holders, all
    /// pieces of one after the other.
    pub(super) fn interpolate(&self, holders: &[u16], shares: &[u64]) -> Interpolated {
        let Shape {
            pieces,
            packed,
            length,
            ..
        } = self.shape;
        let points: Vec<u64> = holders
            .iter()
            .map(|holder| point_of_holder((*holder).into()))
            .collect();
        let (nodes, spare) = points.split_at(self.shape.required());
        let targets: Vec<u64> = points_of_numbers::<F>(packed)
            .chain(spare.iter().copied())
            .collect();
        let matrix = field::interpolation::<F>(nodes, &targets);
        let mut numbers = Vec::with_capacity(pieces * packed);
        let mut wrong: Option<Vec<usize>> = Some(Vec::new());
        let mut consistent = true;
        for piece in 0..pieces {
            let values: Vec<u64> = shares.iter().skip(piece).step_by(pieces).copied().collect();
            let (given, further) = values.split_at(nodes.len());
            let mut rows = matrix.chunks_exact(nodes.len());
            let opened = rows.by_ref().take(packed);
            numbers.extend(opened.map(|row| field::dot::<F>(row, given)));
            if rows
                .zip(further)
                .any(|(row, value)| field::dot::<F>(row, given) != *value)
            {
                consistent = false;
                let found = misfits::<F>(&points, &values, nodes.len());
                wrong = wrong.zip(found).map(|(wrong, found)| [wrong, found].concat());
            }
        }
        if consistent {
            numbers.truncate(length);
            return Interpolated::Whole(numbers);
        }
        let mut wrong: Vec<u16> = wrong.into_iter().flatten().map(|at| holders[at]).collect();
        wrong.sort_unstable();
        wrong.dedup();
        Interpolated::Inconsistent(wrong)
    }
}
