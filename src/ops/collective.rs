//! Collective operations on a tape. Their types do not say what each rank has; the types of `tensor_parallel` and of
//! layers do.

use crate::backend::Tape;
use crate::ops::{OpError, Real, on_elements};
use crate::ranks::{Entered, RankAxis, Ranks, RanksError, failure, in_f32_or_f64};
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::Tensor;
use dfdx::tensor_ops::Device;

/// Runs `forward` on the elements of `input`, in row-major order, and records `backward`, which makes the gradient of
/// the input from that of the output.
///
/// A backward pass cannot return the error of a collective operation. [`failure`] keeps it, and the rest of the pass
/// skips communication.
pub fn run_and_record<From: Shape, To: Shape, E: Real, D: Device<E>, T: Tape<E, D>, Axis: RankAxis>(
    op: &'static str,
    ranks: &Ranks<Axis>,
    input: Tensor<From, E, D, T>,
    shape: To,
    forward: impl FnOnce(&Ranks<Axis>, Vec<E>) -> Result<Vec<E>, RanksError>,
    backward: impl FnOnce(&Ranks<Axis>, Vec<E>) -> Result<Vec<E>, RanksError> + 'static,
) -> Result<Tensor<To, E, D, T>, OpError> {
    let ranks_error = |source| OpError::Ranks { op, source };
    failure::take_error().map_err(ranks_error)?;
    let recorded_ranks = ranks.clone();
    let of_gradient = move |gradient| {
        if failure::has_failed() {
            return None;
        }
        backward(&recorded_ranks, gradient).map_err(failure::put_aside).ok()
    };
    on_elements(op, input, shape, |elements| forward(ranks, elements).map_err(ranks_error), of_gradient)
}

/// The identity, whose backward pass sums the gradient over the ranks. One rank has nothing to sum, and copies nothing.
pub fn entered<Dims: Shape, E: Real, D: Device<E>, T: Tape<E, D>, Axis: RankAxis>(
    input: Tensor<Dims, E, D, T>,
    ranks: &Ranks<Axis>,
) -> Result<Entered<Tensor<Dims, E, D, T>, Axis>, OpError> {
    if ranks.size() == 1 {
        failure::take_error().map_err(|source| OpError::Ranks { op: "enter", source })?;
        return Ok(Entered::new(input));
    }
    let shape = *input.shape();
    run_and_record("enter", ranks, input, shape, |_, elements| Ok(elements), sum_over_ranks).map(Entered::new)
}

/// The sum of the ranks' terms, whose backward pass is the identity. The sum over one rank is its term.
pub fn sum_of_terms<Dims: Shape, E: Real, D: Device<E>, T: Tape<E, D>, Axis: RankAxis>(
    term: Tensor<Dims, E, D, T>,
    ranks: &Ranks<Axis>,
) -> Result<Tensor<Dims, E, D, T>, OpError> {
    if ranks.size() == 1 {
        failure::take_error().map_err(|source| OpError::Ranks { op: "all-reduce", source })?;
        return Ok(term);
    }
    let shape = *term.shape();
    run_and_record("all-reduce", ranks, term, shape, sum_over_ranks, |_, gradient| Ok(gradient))
}

/// The sums over the ranks, element by element. The closure stands twice, once for each dtype that ranks send.
pub fn sum_over_ranks<E: Real, Axis: RankAxis>(ranks: &Ranks<Axis>, terms: Vec<E>) -> Result<Vec<E>, RanksError> {
    in_f32_or_f64(terms, |terms| ranks.start_all_reduce(terms).wait(), |terms| ranks.start_all_reduce(terms).wait())
}

/// Joins the parts of the axis at `index` of the whole `shape`. The backward pass sums the gradient over the ranks, and
/// each keeps its part.
pub fn gathered<From: Shape, To: Shape, E: Real, D: Device<E>, T: Tape<E, D>, Axis: RankAxis>(
    input: Tensor<From, E, D, T>,
    shape: To,
    index: usize,
    ranks: &Ranks<Axis>,
) -> Result<Entered<Tensor<To, E, D, T>, Axis>, OpError> {
    let parts = PartLayout::new::<_, Axis>(&shape, index, ranks);
    let forward = |ranks: &Ranks<Axis>, part: Vec<E>| parts.all_gather(ranks, part);
    let backward = move |ranks: &Ranks<Axis>, gradient: Vec<E>| parts.reduce_scatter(ranks, &gradient);
    run_and_record("all-gather", ranks, input, shape, forward, backward).map(Entered::new)
}

/// An axis divided among ranks, in row-major order: each of `rows` rows has `part_len` elements for rank 0, then for
/// rank 1, and so on.
#[derive(Clone, Copy)]
pub struct PartLayout {
    rows: usize,
    part_len: usize,
    ranks: usize,
}

impl PartLayout {
    /// The parts of the axis at `index` of a whole shape.
    pub fn new<Dims: Shape, Axis: RankAxis>(shape: &Dims, index: usize, ranks: &Ranks<Axis>) -> Self {
        let sizes: Vec<usize> = shape.concrete().into();
        Self::of(&sizes, index, ranks.size())
    }

    /// The parts of the axis at `index` of a whole tensor of these sizes.
    pub fn of(sizes: &[usize], index: usize, ranks: usize) -> Self {
        Self {
            rows: sizes[..index].iter().product(),
            part_len: sizes[index..].iter().product::<usize>() / ranks,
            ranks,
        }
    }

    /// One rank's part of a whole tensor.
    pub fn part<E: Copy>(self, whole: &[E], rank: usize) -> Vec<E> {
        let row_len = self.ranks * self.part_len;
        let rows = whole.chunks(row_len.max(1));
        rows.flat_map(|row| &row[rank * self.part_len..][..self.part_len]).copied().collect()
    }

    /// A whole tensor that is zero outside one rank's part.
    pub fn padded<E: Real>(self, part: &[E], rank: usize) -> Vec<E> {
        let mut whole = vec![E::zero(); self.rows * self.ranks * self.part_len];
        self.put(&mut whole, part, rank);
        whole
    }

    /// Writes one rank's part of a whole tensor.
    fn put<E: Copy>(self, whole: &mut [E], part: &[E], rank: usize) {
        let row_len = self.ranks * self.part_len;
        for (row, part) in whole.chunks_mut(row_len.max(1)).zip(part.chunks(self.part_len.max(1))) {
            row[rank * self.part_len..][..self.part_len].copy_from_slice(part);
        }
    }

    /// The whole tensor, from the parts of all ranks.
    pub fn all_gather<E: Real, Axis: RankAxis>(self, ranks: &Ranks<Axis>, part: Vec<E>) -> Result<Vec<E>, RanksError> {
        let len = self.rows * self.part_len;
        let lens = vec![len; self.ranks];
        let parts = in_f32_or_f64(part, |part| ranks.all_gather(&part, &lens), |part| ranks.all_gather(&part, &lens))?;
        let mut whole = vec![E::zero(); parts.len()];
        for (rank, part) in parts.chunks(len.max(1)).enumerate() {
            self.put(&mut whole, part, rank);
        }
        Ok(whole)
    }

    /// This rank's part of the sum of the terms of all ranks.
    pub fn reduce_scatter<E: Real, Axis: RankAxis>(
        self,
        ranks: &Ranks<Axis>,
        term: &[E],
    ) -> Result<Vec<E>, RanksError> {
        let terms: Vec<E> = (0..self.ranks).flat_map(|rank| self.part(term, rank)).collect();
        let lens = vec![self.rows * self.part_len; self.ranks];
        in_f32_or_f64(terms, |terms| ranks.reduce_scatter(&terms, &lens), |terms| ranks.reduce_scatter(&terms, &lens))
    }
}
