//! Scaled dot-product attention, head by head. The operands are not permuted; each head is a strided view.
//!
//! Blocked attention works on blocks of scores, and saves two numbers for each query and head beside its operands and
//! its output. Groups of the queries' heads may share a head of the keys. Interleaved attention is for small heads,
//! `K·(QK + VO) ≤ 512`, in a batch that fills at least half the lanes of a vector, without bias, dropout or groups of
//! heads: lane `i` of a vector holds sequence `i`. It makes the mask a matrix, and keeps the attention weights for the
//! backward pass. The training step of rot13 (`cargo bench --bench peers -- rot13`) takes 3.1 times as long without it.

mod blocked;
mod blocked_backward;
mod blocked_forward;
mod dims;
mod few_queries;
mod interleave;
mod interleaved;
mod interleaved_backward;
mod interleaved_forward;
mod interleaved_mask;
mod score_block;
#[cfg(test)]
mod tests;

pub use dims::{AttentionConfig, AttentionDims};

use crate::autograd::{KernelOutput, Operand};
use crate::mask_rule::MaskRule;
use crate::simd::simd_width;
use blocked::blocked_attention;
use dfdx::tensor::CpuError;
use interleaved::interleaved_attention;

/// The maximum number of key and value elements in a head for interleaved attention. More elements would not
/// stay in the first-level cache.
const MAX_KEY_VALUE_ELEMENTS: usize = 512;

/// Dropout of the weights.
pub struct AttentionDropout {
    /// `(B, H, Q, K)`: the weights that are kept.
    pub is_kept: Vec<bool>,
    /// The factor of a kept weight.
    pub factor: f32,
}

/// `(B, Q, H·QK), (B, K, NumKeyValueHeads·QK), (B, K, NumKeyValueHeads·VO), bias (H, Q, K), mask (B, Q, K)
/// -> (B, Q, H·VO)`: `dropout(softmax(mask(scale · q kᵀ + bias))) v`. `attend` has refused 0 for `Q`, `K`, `QK`, `VO`.
pub fn attention_kernel(
    operands: [Operand; 3],
    bias: Option<Operand>,
    mask: MaskRule,
    dropout: Option<AttentionDropout>,
    config: AttentionConfig,
) -> Result<KernelOutput, CpuError> {
    let (dims, lanes) = (config.dims, simd_width());
    let is_small = (1..=MAX_KEY_VALUE_ELEMENTS).contains(&(dims.keys * (dims.qk_dim + dims.vo_dim)));
    // A lane without a sequence costs as much as one with a sequence.
    let fills_lanes = lanes > 1 && mask.batch() >= lanes / 2;
    match is_small && fills_lanes && bias.is_none() && dropout.is_none() && dims.group_size() == 1 {
        true => interleaved_attention(operands, mask, config, lanes),
        false => blocked_attention(operands, bias, mask, dropout, config),
    }
}
