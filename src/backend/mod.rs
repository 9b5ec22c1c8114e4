//! Where a device may replace the definition of an operation by a faster one.
//!
//! [`Backend`] has a method for each operation that modules spend their time in. What a method does
//! by default is the definition in [`ops`]; on the CPU in `f32` a fused kernel takes its place. The
//! tests hold the two together, and no signature tells them apart.

mod cpu;
mod sublayer;

pub(crate) use cpu::{dispatch_simd, parallel_map};
pub use sublayer::{Affine, Around, HeadMaps, Normalize};

use crate::{
    dims::{ConstDim, Dim, Product},
    mask::AttentionMask,
    ops::{self, Activation, AttentionScale, MaskFill, OpError, Real, Reduction},
    tokens::TokenIds,
};
#[cfg(feature = "f16")]
use dfdx::dtypes::{AMP, f16};
#[cfg(feature = "cuda")]
use dfdx::tensor::Cuda;
use dfdx::{
    shapes::{HasShape, Rank0, Shape},
    tensor::{Cache, Cpu, Gradients, Tape, Tensor},
    tensor_ops::Device,
};

/// A device that modules run on.
///
/// Each method computes what the operation of its name in [`ops`] computes, with the same dimensions
/// and errors.
#[allow(clippy::missing_errors_doc)]
pub trait Backend<E: Real>: Device<E> + Cache {
    /// [`ops::try_linear`].
    fn try_linear<B: Dim, S: Dim, InDim: ConstDim, OutDim: ConstDim, T: Tape<E, Self>>(
        input: Tensor<(B, S, InDim), E, Self, T>,
        weight: &Tensor<(OutDim, InDim), E, Self>,
        bias: Option<&Tensor<(OutDim,), E, Self>>,
    ) -> Result<Tensor<(B, S, OutDim), E, Self, T>, OpError> {
        ops::try_linear(input, weight, bias)
    }

    /// [`ops::try_embed`].
    fn try_embed<B: Dim, S: Dim, V: ConstDim, M: ConstDim, T: Tape<E, Self>>(
        table: &Tensor<(V, M), E, Self>,
        ids: &TokenIds<B, S, V>,
        tape: T,
    ) -> Result<Tensor<(B, S, M), E, Self, T>, OpError> {
        ops::try_embed(table, ids, tape)
    }

    /// [`ops::try_add_positions`].
    fn try_add_positions<B: Dim, S: Dim, M: ConstDim, T: Tape<E, Self>>(
        input: Tensor<(B, S, M), E, Self, T>,
        positions: Tensor<(S, M), E, Self, T>,
    ) -> Result<Tensor<(B, S, M), E, Self, T>, OpError> {
        ops::try_add_positions(input, positions)
    }

    /// Replaces the positions from `start` on by those of `part`:
    /// `(B, Len, M), (B, S, M) -> (B, Len, M)`, in place; the positions must be there.
    fn try_write<B: Dim, Len: Dim, S: Dim, M: ConstDim>(
        into: &mut Tensor<(B, Len, M), E, Self>,
        part: &Tensor<(B, S, M), E, Self>,
        start: usize,
    ) -> Result<(), OpError> {
        let (_, len, _) = *into.shape();
        let mut all = into.as_vec();
        let rows = part.as_vec();
        let rows = rows.chunks(part.shape().1.size() * M::SIZE);
        for (row, part) in all.chunks_mut(len.size() * M::SIZE).zip(rows) {
            row[start * M::SIZE..][..part.len()].copy_from_slice(part);
        }
        into.copy_from(&all);
        Ok(())
    }

    /// Moves the gradient of a parameter, zeros if it took no part in the loss, into a vector of as many
    /// elements; what was in the vector takes its place.
    fn try_take_gradient<S: Shape>(
        gradients: &mut Gradients<E, Self>,
        parameter: &Tensor<S, E, Self>,
        into: &mut Vec<E>,
    ) -> Result<(), Self::Err> {
        gradients.get_or_alloc_mut(parameter)?;
        gradients.get(parameter).copy_into(into);
        Ok(())
    }

    /// [`ops::try_residual`].
    fn try_residual<B: Dim, S: Dim, M: ConstDim, T: Tape<E, Self>>(
        input: Tensor<(B, S, M), E, Self, T>,
        output: Tensor<(B, S, M), E, Self, T>,
    ) -> Result<Tensor<(B, S, M), E, Self, T>, OpError> {
        ops::try_residual(input, output)
    }

    /// [`ops::try_multi_head_attention`].
    fn try_multi_head_attention<
        B: Dim,
        Q: Dim,
        K: Dim,
        H: ConstDim,
        QKDim: ConstDim,
        VODim: ConstDim,
        T: Tape<E, Self>,
    >(
        query: Tensor<(B, Q, Product<H, QKDim>), E, Self, T>,
        key: Tensor<(B, K, Product<H, QKDim>), E, Self, T>,
        value: Tensor<(B, K, Product<H, VODim>), E, Self, T>,
        mask: &AttentionMask<B, Q, K>,
        scale: AttentionScale,
        masked: MaskFill,
        dropout: f64,
    ) -> Result<Tensor<(B, Q, Product<H, VODim>), E, Self, T>, OpError> {
        ops::try_multi_head_attention(query, key, value, mask, scale, masked, dropout)
    }

    /// [`ops::try_layer_norm`].
    fn try_layer_norm<B: Dim, S: Dim, M: ConstDim, T: Tape<E, Self>>(
        input: Tensor<(B, S, M), E, Self, T>,
        weight: &Tensor<(M,), E, Self>,
        bias: Option<&Tensor<(M,), E, Self>>,
        epsilon: f64,
    ) -> Result<Tensor<(B, S, M), E, Self, T>, OpError> {
        ops::try_layer_norm(input, weight, bias, epsilon)
    }

    /// [`ops::try_rms_norm`].
    fn try_rms_norm<B: Dim, S: Dim, M: ConstDim, T: Tape<E, Self>>(
        input: Tensor<(B, S, M), E, Self, T>,
        weight: &Tensor<(M,), E, Self>,
        epsilon: f64,
    ) -> Result<Tensor<(B, S, M), E, Self, T>, OpError> {
        ops::try_rms_norm(input, weight, epsilon)
    }

    /// A feed-forward block: `output(f(hidden(x)))`, and what stands around it; in training each
    /// element is dropped with probability `dropout` before the residual.
    fn try_feed_forward<B: Dim, S: Dim, M: ConstDim, Hidden: ConstDim, F: Activation, T: Tape<E, Self>>(
        input: Tensor<(B, S, M), E, Self, T>,
        hidden: &Affine<'_, M, Hidden, E, Self>,
        output: &Affine<'_, Hidden, M, E, Self>,
        around: &Around<'_, M, E, Self>,
        dropout: f64,
    ) -> Result<Tensor<(B, S, M), E, Self, T>, OpError> {
        sublayer::try_feed_forward::<_, _, _, _, F, _, _, _>(input, hidden, output, around, dropout)
    }

    /// The attention of a sequence to itself, and what stands around it.
    fn try_self_attention<
        B: Dim,
        S: Dim,
        M: ConstDim,
        H: ConstDim,
        QKDim: ConstDim,
        VODim: ConstDim,
        T: Tape<E, Self>,
    >(
        input: Tensor<(B, S, M), E, Self, T>,
        maps: &HeadMaps<'_, M, M, H, QKDim, VODim, E, Self>,
        mask: &AttentionMask<B, S, S>,
        around: &Around<'_, M, E, Self>,
    ) -> Result<Tensor<(B, S, M), E, Self, T>, OpError> {
        sublayer::try_self_attention(input, maps, mask, around)
    }

    /// The attention of a sequence to another, and what stands around it.
    fn try_cross_attention<
        B: Dim,
        Q: Dim,
        K: Dim,
        QDim: ConstDim,
        KVDim: ConstDim,
        H: ConstDim,
        QKDim: ConstDim,
        VODim: ConstDim,
        T: Tape<E, Self>,
    >(
        query: Tensor<(B, Q, QDim), E, Self, T>,
        source: Tensor<(B, K, KVDim), E, Self, T>,
        maps: &HeadMaps<'_, QDim, KVDim, H, QKDim, VODim, E, Self>,
        mask: &AttentionMask<B, Q, K>,
        around: &Around<'_, QDim, E, Self>,
    ) -> Result<Tensor<(B, Q, QDim), E, Self, T>, OpError> {
        sublayer::try_cross_attention(query, source, maps, mask, around)
    }

    /// [`ops::try_cross_entropy_with_label_smoothing`].
    fn try_cross_entropy_with_label_smoothing<B: Dim, S: Dim, V: ConstDim, T: Tape<E, Self>>(
        logits: Tensor<(B, S, V), E, Self, T>,
        labels: &TokenIds<B, S, V>,
        average: Reduction,
        smoothing: f64,
    ) -> Result<Tensor<Rank0, E, Self, T>, OpError> {
        ops::try_cross_entropy_with_label_smoothing(logits, labels, average, smoothing)
    }
}

impl Backend<f64> for Cpu {}
#[cfg(feature = "f16")]
impl Backend<AMP<f16>> for Cpu {}

#[cfg(feature = "cuda")]
impl Backend<f32> for Cuda {}
#[cfg(feature = "cuda")]
impl Backend<f64> for Cuda {}
#[cfg(all(feature = "cuda", feature = "f16"))]
impl Backend<AMP<f16>> for Cuda {}
