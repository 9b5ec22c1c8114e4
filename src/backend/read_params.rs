//! Reads the typed parameters of a layer as operands of a kernel.

use super::{AttentionParams, AttentionScale, LinearParams, MaskFill, NormParams, ResidualNormParams};
use crate::dims::{ConstDim, Dim, MaybeSharded};
use dfdx::{
    shapes::HasShape,
    tensor::{Cpu, CpuError, Tape},
};
use typed_transformer_cpu::{AttentionConfig, AttentionDims, Linear, Norm, Operand, Projections, ResidualNorm};

pub fn read_linear<InDim: Dim, OutDim: Dim, T: Tape<f32, Cpu>>(
    params: &LinearParams<'_, InDim, OutDim, f32, Cpu>,
    tape: &mut T,
) -> Result<Linear, CpuError> {
    let (out_dim, in_dim) = *params.weight.shape();
    let weight = Operand::read_parameter(params.weight, tape)?;
    let bias = params.bias.map(|bias| Operand::read_parameter(bias, tape)).transpose()?;
    Ok(Linear::new(weight, bias, in_dim.size(), out_dim.size()))
}

pub fn read_norm<M: ConstDim, T: Tape<f32, Cpu>>(
    params: &NormParams<'_, M, f32, Cpu>,
    tape: &mut T,
) -> Result<Norm, CpuError> {
    let weight = Operand::read_parameter(params.weight, tape)?;
    let bias = params.bias.map(|bias| Operand::read_parameter(bias, tape)).transpose()?;
    Ok(Norm::new(params.kind, params.epsilon, weight, bias))
}

pub fn read_residual_norm<M: ConstDim, T: Tape<f32, Cpu>>(
    residual: &ResidualNormParams<'_, M, f32, Cpu>,
    tape: &mut T,
) -> Result<ResidualNorm, CpuError> {
    Ok(match residual {
        ResidualNormParams::PreNorm(norm) => ResidualNorm::PreNorm(read_norm(norm, tape)?),
        ResidualNormParams::PostNorm(norm) => ResidualNorm::PostNorm(read_norm(norm, tape)?),
        ResidualNormParams::Plain => ResidualNorm::Plain,
    })
}

pub fn read_projections<
    QDim: ConstDim,
    KVDim: ConstDim,
    H: ConstDim,
    QKDim: ConstDim,
    VODim: ConstDim,
    T: Tape<f32, Cpu>,
>(
    params: &AttentionParams<'_, QDim, KVDim, H, QKDim, VODim, f32, Cpu>,
    tape: &mut T,
) -> Result<Projections<Linear>, CpuError> {
    Ok(Projections {
        query: read_linear(&params.query_proj, tape)?,
        key: read_linear(&params.key_proj, tape)?,
        value: read_linear(&params.value_proj, tape)?,
        output: read_linear(&params.output_proj, tape)?,
    })
}

/// The sizes of an attention, and its conventions.
pub fn attention_config<H: ConstDim, NumKeyValueHeads: ConstDim, QKDim: ConstDim, VODim: ConstDim>(
    (_, queries, keys): (impl MaybeSharded, impl Dim, impl Dim),
    scale: AttentionScale,
    mask_fill: MaskFill,
) -> AttentionConfig {
    let dims = AttentionDims {
        queries: queries.size(),
        keys: keys.size(),
        heads: H::SIZE,
        key_value_heads: NumKeyValueHeads::SIZE,
        qk_dim: QKDim::SIZE,
        vo_dim: VODim::SIZE,
    };
    AttentionConfig { dims, scale: scale.factor(H::SIZE, QKDim::SIZE) as f32, mask_fill }
}
