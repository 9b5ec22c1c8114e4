//! The copy of new positions into a cache.

use super::{Backend, elements_of};
use crate::dims::{AnyDim, DataDim, Dim, unnamed};
use crate::error::{OpError, device_error};
use crate::real::Real;
use dfdx::shapes::{Axis, HasShape, Shape};
use dfdx::tensor::Tensor;
use dfdx::tensor_ops::{ReshapeTo, TryConcatAlong};

/// Copies `part` into `out`, from position `start` on: `(B, Len, M), (B, S, M) -> (B, Len, M)`. The caller
/// checks that `part` fits.
pub fn assign_positions<B: DataDim, Len: Dim, S: Dim, M: AnyDim, E: Real, D: Backend<E>>(
    out: &mut Tensor<(B, Len, M), E, D>,
    part: &Tensor<(B, S, M), E, D>,
    start: usize,
) -> Result<(), OpError> {
    let ((_, len, width), (_, part_len, _)) = (*out.shape(), *part.shape());
    if part.shape().num_elements() == 0 {
        return Ok(());
    }
    let Some(elements) = D::elements_mut(out) else {
        return join(out, part, start).map_err(device_error::<D::Err>("cache"));
    };
    let (len, part_len) = (len.size() * width.size(), part_len.size() * width.size());
    for (sequence, part) in elements.chunks_mut(len).zip(elements_of(part).chunks(part_len)) {
        sequence[start * width.size()..][..part_len].copy_from_slice(part);
    }
    Ok(())
}

/// Joins the positions before the part, the part, and the positions after it, on the device.
fn join<B: DataDim, Len: Dim, S: Dim, M: AnyDim, E: Real, D: Backend<E>>(
    out: &mut Tensor<(B, Len, M), E, D>,
    part: &Tensor<(B, S, M), E, D>,
    start: usize,
) -> Result<(), D::Err> {
    let ((batch, len, width), (_, part_len, _)) = (*out.shape(), *part.shape());
    let (batch, len, width, part_len) = (batch.size(), len.size(), width.size(), part_len.size());
    let old = unnamed(out.clone()).try_reshape_like(&(batch, len, width))?;
    let mut joined = unnamed(part.clone()).try_reshape_like(&(batch, part_len, width))?;
    if start > 0 {
        joined = (old.clone().try_slice((.., ..start, ..))?, joined).try_concat_along(Axis::<1>)?;
    }
    if start + part_len < len {
        joined = (joined, old.try_slice((.., start + part_len.., ..))?).try_concat_along(Axis::<1>)?;
    }
    // A shard cannot be made again from its size alone, so the shape is that of `out`.
    *out = joined.try_reshape_like(out.shape())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::*;
    use dfdx::tensor::SampleTensor;

    #[test]
    fn positions_are_assigned_in_memory_and_on_a_device() {
        dims! { Batch = 3; Len = 5; Part; Width = 2; }
        let device = Cpu::default();
        let old: Tensor<(Batch, Len, Width), f64, Cpu> = device.sample_normal();
        for (start, len) in [(0, 1), (0, 5), (1, 3), (2, 3), (4, 1)] {
            let part: Tensor<_, f64, Cpu> = device.sample_normal_like(&(Batch, Part::new(len), Width));
            let (mut assigned, mut joined) = (old.clone(), old.clone());
            assign_positions(&mut assigned, &part, start).unwrap();
            join(&mut joined, &part, start).unwrap();
            for (b, i, j) in (0..30).map(|i| (i / 10, i / 2 % 5, i % 2)) {
                let expected = if (start..start + len).contains(&i) { part[[b, i - start, j]] } else { old[[b, i, j]] };
                assert_eq!((assigned[[b, i, j]], joined[[b, i, j]]), (expected, expected));
            }
        }
    }
}
