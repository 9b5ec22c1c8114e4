//! The fused kernels that replace definitions on the CPU in `f32`.
//!
//! An operation here is one entry on the tape and one pass over memory where its definition takes about ten.
//! Loops are compiled for several widths of vector registers, and the processor's is chosen at run time, so
//! no compiler flags are needed.
//!
//! - `autograd`: operands, the tape, scratch memory and threads;
//! - `simd`: reductions, elementary functions, and one kernel body for rows and lanes;
//! - `matmul`: matrix products and the layout of rows;
//! - `kernels`: the kernels of single operations;
//! - `fused`: whole sublayers.

mod autograd;
mod fused;
mod kernels;
mod matmul;
mod simd;

pub use autograd::parallel_map;
pub use simd::dispatch_simd;

use super::{Affine, Around, Backend, HeadMaps, Normalize, sublayer};
use crate::{
    dims::{ConstDim, Dim, Product},
    mask::AttentionMask,
    ops::{self, Activation, AttentionScale, MaskFill, NormKind, OpError, Reduction},
    tokens::TokenIds,
};
use autograd::{Operand, record_kernel};
use dfdx::{
    shapes::{HasShape, Rank0, Shape},
    tensor::{Cpu, CpuError, Gradients, Tape, Tensor},
};
use fused::{Projections, ResidualNorm, record_attention_sublayer, record_feed_forward};
use kernels::{
    LinearWeights, Norm,
    attention::{AttentionKernel, record_attention},
    record_cross_entropy, record_embedding, record_linear, record_norm, record_positions, record_residual,
};

impl Backend<f32> for Cpu {
    fn try_linear<B: Dim, S: Dim, InDim: ConstDim, OutDim: ConstDim, T: Tape<f32, Cpu>>(
        input: Tensor<(B, S, InDim), f32, Cpu, T>,
        weight: &Tensor<(OutDim, InDim), f32, Cpu>,
        bias: Option<&Tensor<(OutDim,), f32, Cpu>>,
    ) -> Result<Tensor<(B, S, OutDim), f32, Cpu, T>, OpError> {
        let (batch, len, _) = *input.shape();
        record_kernel((batch, len, OutDim::default()), T::default(), |tape| {
            let input = Operand::read(input, tape)?;
            let weights = read_linear(&Affine { weight, bias }, tape)?;
            record_linear(input, weights)
        })
        .map_err(ops::failed("linear"))
    }

    fn try_embed<B: Dim, S: Dim, V: ConstDim, M: ConstDim, T: Tape<f32, Cpu>>(
        table: &Tensor<(V, M), f32, Cpu>,
        ids: &TokenIds<B, S, V>,
        tape: T,
    ) -> Result<Tensor<(B, S, M), f32, Cpu, T>, OpError> {
        let (batch, len) = ids.shape();
        record_kernel((batch, len, M::default()), tape, |tape| {
            let table = Operand::read_parameter(table, tape)?;
            record_embedding(table, ids.shared(), M::SIZE)
        })
        .map_err(ops::failed("embed"))
    }

    fn try_add_positions<B: Dim, S: Dim, M: ConstDim, T: Tape<f32, Cpu>>(
        input: Tensor<(B, S, M), f32, Cpu, T>,
        positions: Tensor<(S, M), f32, Cpu, T>,
    ) -> Result<Tensor<(B, S, M), f32, Cpu, T>, OpError> {
        ops::check_positions(&input, &positions)?;
        let shape = *input.shape();
        record_kernel(shape, T::default(), |tape| {
            let input = Operand::read(input, tape)?;
            record_positions(input, Operand::read(positions, tape)?)
        })
        .map_err(ops::failed("add positions"))
    }

    fn try_write<B: Dim, Len: Dim, S: Dim, M: ConstDim>(
        into: &mut Tensor<(B, Len, M), f32, Cpu>,
        part: &Tensor<(B, S, M), f32, Cpu>,
        start: usize,
    ) -> Result<(), OpError> {
        let (_, len, width) = *part.shape();
        // Element by element: dfdx copies whole tensors only.
        for (i, element) in part.as_vec().into_iter().enumerate() {
            let (row, column) = (i / width.size(), i % width.size());
            let (row, position) = (row / len.size(), row % len.size());
            into[[row, start + position, column]] = element;
        }
        Ok(())
    }

    fn try_take_gradient<S: Shape>(
        gradients: &mut Gradients<f32, Cpu>,
        parameter: &Tensor<S, f32, Cpu>,
        into: &mut Vec<f32>,
    ) -> Result<(), CpuError> {
        std::mem::swap(&mut **gradients.get_or_alloc_mut(parameter)?, into);
        Ok(())
    }

    fn try_residual<B: Dim, S: Dim, M: ConstDim, T: Tape<f32, Cpu>>(
        input: Tensor<(B, S, M), f32, Cpu, T>,
        output: Tensor<(B, S, M), f32, Cpu, T>,
    ) -> Result<Tensor<(B, S, M), f32, Cpu, T>, OpError> {
        ops::check_residual(&input, &output)?;
        let shape = *input.shape();
        record_kernel(shape, T::default(), |tape| {
            let input = Operand::read(input, tape)?;
            record_residual(input, Operand::read(output, tape)?)
        })
        .map_err(ops::failed("residual"))
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
        masked: MaskFill,
        dropout: f64,
    ) -> Result<Tensor<(B, Q, Product<H, VODim>), f32, Cpu, T>, OpError> {
        if T::OWNS_TAPE && dropout != 0.0 {
            return ops::try_multi_head_attention(query, key, value, mask, scale, masked, dropout);
        }
        ops::check_attention(&query, &key, &value, mask)?;
        let (batch, len, _) = *query.shape();
        let attention = AttentionKernel::new::<H, QKDim, VODim>(mask.shape(), scale, masked);
        record_kernel((batch, len, Product::default()), T::default(), |tape| {
            let query = Operand::read(query, tape)?;
            let key = Operand::read(key, tape)?;
            let value = Operand::read(value, tape)?;
            record_attention(query, key, value, mask.shared(), attention)
        })
        .map_err(ops::failed("attention"))
    }

    fn try_layer_norm<B: Dim, S: Dim, M: ConstDim, T: Tape<f32, Cpu>>(
        input: Tensor<(B, S, M), f32, Cpu, T>,
        weight: &Tensor<(M,), f32, Cpu>,
        bias: Option<&Tensor<(M,), f32, Cpu>>,
        epsilon: f64,
    ) -> Result<Tensor<(B, S, M), f32, Cpu, T>, OpError> {
        let norm = Normalize { kind: NormKind::LayerNorm, weight, bias, epsilon };
        apply_norm(input, &norm).map_err(ops::failed("layer norm"))
    }

    fn try_rms_norm<B: Dim, S: Dim, M: ConstDim, T: Tape<f32, Cpu>>(
        input: Tensor<(B, S, M), f32, Cpu, T>,
        weight: &Tensor<(M,), f32, Cpu>,
        epsilon: f64,
    ) -> Result<Tensor<(B, S, M), f32, Cpu, T>, OpError> {
        let norm = Normalize { kind: NormKind::RmsNorm, weight, bias: None, epsilon };
        apply_norm(input, &norm).map_err(ops::failed("RMS norm"))
    }

    fn try_feed_forward<B: Dim, S: Dim, M: ConstDim, Hidden: ConstDim, F: Activation, T: Tape<f32, Cpu>>(
        input: Tensor<(B, S, M), f32, Cpu, T>,
        hidden: &Affine<'_, M, Hidden, f32, Cpu>,
        output: &Affine<'_, Hidden, M, f32, Cpu>,
        around: &Around<'_, M, f32, Cpu>,
        dropout: f64,
    ) -> Result<Tensor<(B, S, M), f32, Cpu, T>, OpError> {
        match F::ELEMENTWISE {
            Some(function) if !T::OWNS_TAPE || dropout == 0.0 => {
                let shape = *input.shape();
                record_kernel(shape, T::default(), |tape| {
                    let input = Operand::read(input, tape)?;
                    let hidden = read_linear(hidden, tape)?;
                    let output = read_linear(output, tape)?;
                    let residual = read_residual_norm(around, tape)?;
                    record_feed_forward(input, hidden, output, function, residual)
                })
                .map_err(ops::failed("feed-forward"))
            }
            _ => sublayer::try_feed_forward::<_, _, _, _, F, _, _, _>(input, hidden, output, around, dropout),
        }
    }

    fn try_self_attention<
        B: Dim,
        S: Dim,
        M: ConstDim,
        H: ConstDim,
        QKDim: ConstDim,
        VODim: ConstDim,
        T: Tape<f32, Cpu>,
    >(
        input: Tensor<(B, S, M), f32, Cpu, T>,
        maps: &HeadMaps<'_, M, M, H, QKDim, VODim, f32, Cpu>,
        mask: &AttentionMask<B, S, S>,
        around: &Around<'_, M, f32, Cpu>,
    ) -> Result<Tensor<(B, S, M), f32, Cpu, T>, OpError> {
        if T::OWNS_TAPE && maps.drops() {
            return sublayer::try_self_attention(input, maps, mask, around);
        }
        ops::check_attention(&input, &input, &input, mask)?;
        let shape = *input.shape();
        let attention = AttentionKernel::new::<H, QKDim, VODim>(mask.shape(), maps.scale, maps.masked);
        record_kernel(shape, T::default(), |tape| {
            let input = Operand::read(input, tape)?;
            let projections = read_projections(maps, tape)?;
            let residual = read_residual_norm(around, tape)?;
            record_attention_sublayer(input, None, projections, mask.shared(), attention, residual)
        })
        .map_err(ops::failed("attention"))
    }

    fn try_cross_attention<
        B: Dim,
        Q: Dim,
        K: Dim,
        QDim: ConstDim,
        KVDim: ConstDim,
        H: ConstDim,
        QKDim: ConstDim,
        VODim: ConstDim,
        T: Tape<f32, Cpu>,
    >(
        query: Tensor<(B, Q, QDim), f32, Cpu, T>,
        source: Tensor<(B, K, KVDim), f32, Cpu, T>,
        maps: &HeadMaps<'_, QDim, KVDim, H, QKDim, VODim, f32, Cpu>,
        mask: &AttentionMask<B, Q, K>,
        around: &Around<'_, QDim, f32, Cpu>,
    ) -> Result<Tensor<(B, Q, QDim), f32, Cpu, T>, OpError> {
        if T::OWNS_TAPE && maps.drops() {
            return sublayer::try_cross_attention(query, source, maps, mask, around);
        }
        ops::check_attention_of(&query, &source, mask)?;
        let shape = *query.shape();
        let attention = AttentionKernel::new::<H, QKDim, VODim>(mask.shape(), maps.scale, maps.masked);
        record_kernel(shape, T::default(), |tape| {
            let query = Operand::read(query, tape)?;
            let source = Operand::read(source, tape)?;
            let projections = read_projections(maps, tape)?;
            let residual = read_residual_norm(around, tape)?;
            record_attention_sublayer(query, Some(source), projections, mask.shared(), attention, residual)
        })
        .map_err(ops::failed("attention"))
    }

    fn try_cross_entropy_with_label_smoothing<B: Dim, S: Dim, V: ConstDim, T: Tape<f32, Cpu>>(
        logits: Tensor<(B, S, V), f32, Cpu, T>,
        labels: &TokenIds<B, S, V>,
        average: Reduction,
        smoothing: f64,
    ) -> Result<Tensor<Rank0, f32, Cpu, T>, OpError> {
        ops::check_labels(&logits, labels, smoothing)?;
        let weights = ops::weights(labels, average);
        record_kernel((), T::default(), |tape| {
            let logits = Operand::read(logits, tape)?;
            record_cross_entropy(logits, V::SIZE, labels.shared(), weights, smoothing)
        })
        .map_err(ops::failed("cross-entropy"))
    }
}

/// A norm of either kind.
fn apply_norm<B: Dim, S: Dim, M: ConstDim, T: Tape<f32, Cpu>>(
    input: Tensor<(B, S, M), f32, Cpu, T>,
    norm: &Normalize<'_, M, f32, Cpu>,
) -> Result<Tensor<(B, S, M), f32, Cpu, T>, CpuError> {
    let shape = *input.shape();
    record_kernel(shape, T::default(), |tape| {
        let input = Operand::read(input, tape)?;
        record_norm(input, read_norm(norm, tape)?)
    })
}

fn read_linear<InDim: ConstDim, OutDim: ConstDim, T: Tape<f32, Cpu>>(
    params: &Affine<'_, InDim, OutDim, f32, Cpu>,
    tape: &mut T,
) -> Result<LinearWeights, CpuError> {
    let weight = Operand::read_parameter(params.weight, tape)?;
    let bias = params.bias.map(|bias| Operand::read_parameter(bias, tape)).transpose()?;
    Ok(LinearWeights::new(weight, bias, InDim::SIZE, OutDim::SIZE))
}

fn read_norm<M: ConstDim, T: Tape<f32, Cpu>>(
    params: &Normalize<'_, M, f32, Cpu>,
    tape: &mut T,
) -> Result<Norm, CpuError> {
    let weight = Operand::read_parameter(params.weight, tape)?;
    let bias = params.bias.map(|bias| Operand::read_parameter(bias, tape)).transpose()?;
    Ok(Norm::new(params.kind, params.epsilon, weight, bias))
}

fn read_residual_norm<M: ConstDim, T: Tape<f32, Cpu>>(
    residual: &Around<'_, M, f32, Cpu>,
    tape: &mut T,
) -> Result<ResidualNorm, CpuError> {
    Ok(match residual {
        Around::Before(norm) => ResidualNorm::PreNorm(read_norm(norm, tape)?),
        Around::After(norm) => ResidualNorm::PostNorm(read_norm(norm, tape)?),
        Around::Nothing => ResidualNorm::Plain,
    })
}

fn read_projections<
    QDim: ConstDim,
    KVDim: ConstDim,
    H: ConstDim,
    QKDim: ConstDim,
    VODim: ConstDim,
    T: Tape<f32, Cpu>,
>(
    params: &HeadMaps<'_, QDim, KVDim, H, QKDim, VODim, f32, Cpu>,
    tape: &mut T,
) -> Result<Projections<LinearWeights>, CpuError> {
    Ok(Projections {
        query: read_linear(&params.query, tape)?,
        key: read_linear(&params.key, tape)?,
        value: read_linear(&params.value, tape)?,
        output: read_linear(&params.output, tape)?,
    })
}
