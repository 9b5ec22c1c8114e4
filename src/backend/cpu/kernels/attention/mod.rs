//! Scaled dot-product attention, head by head. The operands are not permuted; each head is a strided view.
//!
//! Blocked attention works on blocks of scores, and saves two numbers for each query and head beside its operands and
//! its output. Groups of the queries' heads may share a head of the keys. Interleaved attention puts sequence `i` into
//! lane `i` of a vector. It is for heads with at most 512 elements of keys and values, in a batch that fills at least
//! half the lanes, without bias, dropout or groups of heads. It makes the mask a matrix, and keeps the weights for the
//! backward pass. The training step of rot13 (`cargo bench --bench peers -- rot13`) takes 3.1 times as long without it.

mod blocked;
mod blocked_backward;
mod blocked_forward;
mod interleaved;
mod interleaved_passes;
mod score_block;

use crate::autograd::{Chunk, KernelOutput, MACS_PER_READ, Operand};
use crate::kernel_options::MaskFill;
use crate::mask_rule::MaskRule;
use crate::matmul::Matrix;
use crate::simd::{padded_len, simd_width};
use blocked::blocked_attention;
use dfdx::tensor::CpuError;
use interleaved::interleaved_attention;
use std::ops::Range;

/// The dimensions of the attention of one sequence.
#[derive(Clone, Copy)]
pub struct AttentionDims {
    pub queries: usize,
    pub keys: usize,
    /// The heads of the queries.
    pub heads: usize,
    /// The key and value heads. Each serves a group of query heads; all groups have one size.
    pub key_value_heads: usize,
    pub qk_dim: usize,
    pub vo_dim: usize,
}

impl AttentionDims {
    pub fn q_len(self) -> usize {
        self.queries * self.heads * self.qk_dim
    }

    pub fn k_len(self) -> usize {
        self.keys * self.key_value_heads * self.qk_dim
    }

    pub fn v_len(self) -> usize {
        self.keys * self.key_value_heads * self.vo_dim
    }

    pub fn out_len(self) -> usize {
        self.queries * self.heads * self.vo_dim
    }

    /// The number of query heads that share one head of the keys.
    pub fn group_size(self) -> usize {
        self.heads / self.key_value_heads.max(1)
    }

    /// The query heads that share these key and value heads.
    pub fn heads_of(self, key_value_heads: Chunk) -> Range<usize> {
        key_value_heads.start() * self.group_size()
            ..(key_value_heads.start() + key_value_heads.len()) * self.group_size()
    }

    /// Whether a head of the queries is the first that reads its head of the keys.
    pub fn is_first_of_group(self, head: usize) -> bool {
        head.is_multiple_of(self.group_size())
    }

    /// `(Q, H·Dim) -> (Q, Dim)`: the columns of one head of the queries.
    pub fn query_head(self, all: &[f32], head: usize, head_dim: usize) -> Matrix<'_> {
        let elements = all.get(head * head_dim..).unwrap_or_default();
        Matrix::strided(elements, self.queries, head_dim, self.heads * head_dim)
    }

    /// `(K, NumKeyValueHeads·Dim) -> (K, Dim)`: the columns of one head of the keys.
    pub fn key_value_head(self, all: &[f32], head: usize, head_dim: usize) -> Matrix<'_> {
        let elements = all.get(head * head_dim..).unwrap_or_default();
        Matrix::strided(elements, self.keys, head_dim, self.key_value_heads * head_dim)
    }

    /// The place of a weight, or of an element of the bias, in `(H, Q, K)`.
    #[inline(always)]
    pub fn weight_index(self, head: usize, query: usize, key: usize) -> usize {
        (head * self.queries + query) * self.keys + key
    }

    pub fn mask_len(self) -> usize {
        self.queries * self.keys
    }

    /// The number of elements that blocked attention saves of the softmax of a sequence: two for each query and head.
    pub fn softmax_stats_len(self) -> usize {
        2 * self.heads * self.queries
    }

    /// The cost of one sequence, in multiply-adds.
    pub fn macs(self) -> usize {
        self.heads * self.macs_per_head()
    }

    /// The cost of one head. With few queries, keys and values take longer to read than to multiply.
    pub fn macs_per_head(self) -> usize {
        self.queries.max(MACS_PER_READ) * padded_len(self.keys) * (self.qk_dim + self.vo_dim)
    }
}

/// The dimensions of an attention, and its conventions.
#[derive(Clone, Copy)]
pub struct AttentionConfig {
    pub dims: AttentionDims,
    pub scale: f32,
    pub mask_fill: MaskFill,
}

/// Dropout of the weights.
pub struct AttentionDropout {
    /// `(B, H, Q, K)`: the weights that are kept.
    pub is_kept: Vec<bool>,
    /// The factor of a kept weight.
    pub factor: f32,
}

/// The maximum number of key and value elements in a head for interleaved attention. More elements would not
/// stay in the first-level cache.
const MAX_KEY_VALUE_ELEMENTS: usize = 512;

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
    let is_small = dims.keys * (dims.qk_dim + dims.vo_dim) <= MAX_KEY_VALUE_ELEMENTS;
    // A lane without a sequence costs as much as one with a sequence.
    let fills_lanes = lanes > 1 && mask.batch() >= lanes / 2;
    match is_small && fills_lanes && bias.is_none() && dropout.is_none() && dims.group_size() == 1 {
        true => interleaved_attention(operands, mask, config, lanes),
        false => blocked_attention(operands, bias, mask, dropout, config),
    }
}
