//! Fused kernels for the CPU in `f32`.
//!
//! An operation here is one entry on the tape where its definition makes ten, and one pass over
//! memory where the definition makes as many. Loops are compiled for several widths of vector
//! registers and the processor's is chosen at run time, so no compiler flags are asked of anybody.

mod attention;
mod cross_entropy;
mod embed;
mod layer_norm;
mod linear;
mod math;
mod matmul;
mod positions;
mod residual;
mod rms_norm;

use super::Backend;
use crate::{
    dims::{ConstDim, Dim, Product},
    mask::AttentionMask,
    ops::{self, AttentionScale, Average, MaskedLogit, OpError},
    tokens::TokenIds,
};
use dfdx::{
    shapes::{HasShape, Rank0, Shape},
    tensor::{Cpu, Tape, Tensor},
};
use pulp::{Arch, Simd, WithSimd};

impl Backend<f32> for Cpu {
    fn try_linear<B: Dim, S: Dim, InDim: ConstDim, OutDim: ConstDim, T: Tape<f32, Cpu>>(
        input: Tensor<(B, S, InDim), f32, Cpu, T>,
        weight: &Tensor<(OutDim, InDim), f32, Cpu>,
        bias: Option<&Tensor<(OutDim,), f32, Cpu>>,
    ) -> Result<Tensor<(B, S, OutDim), f32, Cpu, T>, OpError> {
        linear::linear(input, weight, bias).map_err(ops::failed("linear"))
    }

    fn try_embed<B: Dim, S: Dim, V: ConstDim, M: ConstDim, T: Tape<f32, Cpu>>(
        table: &Tensor<(V, M), f32, Cpu>,
        ids: &TokenIds<B, S, V>,
        tape: T,
    ) -> Result<Tensor<(B, S, M), f32, Cpu, T>, OpError> {
        embed::embed(table, ids, tape).map_err(ops::failed("embed"))
    }

    fn try_add_positions<B: Dim, S: Dim, M: ConstDim, T: Tape<f32, Cpu>>(
        input: Tensor<(B, S, M), f32, Cpu, T>,
        positions: Tensor<(S, M), f32, Cpu, T>,
    ) -> Result<Tensor<(B, S, M), f32, Cpu, T>, OpError> {
        ops::check_positions(&input, &positions)?;
        positions::add_positions(input, positions).map_err(ops::failed("add positions"))
    }

    fn try_write<B: Dim, Len: Dim, S: Dim, M: ConstDim>(
        into: &mut Tensor<(B, Len, M), f32, Cpu>,
        part: &Tensor<(B, S, M), f32, Cpu>,
        start: usize,
    ) -> Result<(), OpError> {
        let (_, len, width) = *part.shape();
        // By index, since what dfdx copies from is a whole tensor.
        for (i, element) in part.as_vec().into_iter().enumerate() {
            let (row, column) = (i / width.size(), i % width.size());
            let (row, position) = (row / len.size(), row % len.size());
            into[[row, start + position, column]] = element;
        }
        Ok(())
    }

    fn try_residual<B: Dim, S: Dim, M: ConstDim, T: Tape<f32, Cpu>>(
        input: Tensor<(B, S, M), f32, Cpu, T>,
        output: Tensor<(B, S, M), f32, Cpu, T>,
    ) -> Result<Tensor<(B, S, M), f32, Cpu, T>, OpError> {
        ops::check_residual(&input, &output)?;
        residual::residual(input, output).map_err(ops::failed("residual"))
    }

    fn try_multi_head_attention<
        B: Dim,
        Q: Dim,
        K: Dim,
        H: ConstDim,
        QKDim: ConstDim,
        VODim: ConstDim,
        T: Tape<f32, Cpu>,
    >(
        query: Tensor<(B, Q, Product<H, QKDim>), f32, Cpu, T>,
        key: Tensor<(B, K, Product<H, QKDim>), f32, Cpu, T>,
        value: Tensor<(B, K, Product<H, VODim>), f32, Cpu, T>,
        mask: &AttentionMask<B, Q, K>,
        scale: AttentionScale,
        masked: MaskedLogit,
        dropout: f64,
    ) -> Result<Tensor<(B, Q, Product<H, VODim>), f32, Cpu, T>, OpError> {
        if T::OWNS_TAPE && dropout != 0.0 {
            return ops::try_multi_head_attention(query, key, value, mask, scale, masked, dropout);
        }
        ops::check_attention(&query, &key, &value, mask)?;
        attention::attention(query, key, value, mask, scale, masked)
            .map_err(ops::failed("attention"))
    }

    fn try_layer_norm<B: Dim, S: Dim, M: ConstDim, T: Tape<f32, Cpu>>(
        input: Tensor<(B, S, M), f32, Cpu, T>,
        weight: &Tensor<(M,), f32, Cpu>,
        bias: Option<&Tensor<(M,), f32, Cpu>>,
        epsilon: f64,
    ) -> Result<Tensor<(B, S, M), f32, Cpu, T>, OpError> {
        layer_norm::layer_norm(input, weight, bias, epsilon).map_err(ops::failed("layer norm"))
    }

    fn try_rms_norm<B: Dim, S: Dim, M: ConstDim, T: Tape<f32, Cpu>>(
        input: Tensor<(B, S, M), f32, Cpu, T>,
        weight: &Tensor<(M,), f32, Cpu>,
        epsilon: f64,
    ) -> Result<Tensor<(B, S, M), f32, Cpu, T>, OpError> {
        rms_norm::rms_norm(input, weight, epsilon).map_err(ops::failed("RMS norm"))
    }

    fn try_smoothed_cross_entropy<B: Dim, S: Dim, V: ConstDim, T: Tape<f32, Cpu>>(
        logits: Tensor<(B, S, V), f32, Cpu, T>,
        labels: &TokenIds<B, S, V>,
        average: Average,
        smoothing: f64,
    ) -> Result<Tensor<Rank0, f32, Cpu, T>, OpError> {
        ops::check_labels(&logits, labels, smoothing)?;
        cross_entropy::cross_entropy(logits, labels, average, smoothing)
            .map_err(ops::failed("cross-entropy"))
    }
}

/// A copy of a contiguous tensor's elements.
fn read<Dims: Shape, T>(tensor: &Tensor<Dims, f32, Cpu, T>) -> Vec<f32> {
    let mut elements = vec![0.0; dfdx::shapes::HasShape::shape(tensor).num_elements()];
    tensor.copy_into(&mut elements);
    elements
}

/// The buffer in which a tensor's gradient adds up. dfdx lends one at a time.
macro_rules! gradient {
    ($gradients:ident, $ghost:expr) => {
        &mut **$gradients.get_or_alloc_mut(&$ghost)?
    };
}
use gradient;

/// `to += from`, element by element.
fn add_assign(to: &mut [f32], from: &[f32]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += from;
    }
}

/// Runs a loop that was compiled for the widest vector registers of this processor; `run` must be
/// `#[inline(always)]`.
fn vectorized<Value>(run: impl FnMut() -> Value) -> Value {
    // Not pulp's own `impl WithSimd for FnOnce`: a closure that could run twice is called through a
    // shim then, which is compiled for no particular processor.
    struct Run<F>(F);
    impl<Value, F: FnMut() -> Value> WithSimd for Run<F> {
        type Output = Value;
        #[inline(always)]
        fn with_simd<S: Simd>(mut self, _: S) -> Value {
            (self.0)()
        }
    }
    Arch::new().dispatch(Run(run))
}
