//! Scaled dot-product attention, head by head. The operands are not permuted; each head is a strided view.
//!
//! Groups of the queries' heads may share a head of the keys, in the row-major layout. Row-major attention works on
//! blocks of scores and saves two numbers for each query and head. Interleaved attention, for short sequences, saves
//! the attention weights.

mod block;
mod blocked_backward;
mod blocked_forward;
mod dims;
mod interleaved_backward;
mod interleaved_forward;
mod interleaved_head;
mod interleaved_mask;
#[cfg(test)]
mod tests;

pub use dims::{AttentionConfig, AttentionDims};

use crate::{
    autograd::{Buffer, KernelOutput, Operand, Partition, Split, UnitRange, with_backward},
    mask_rule::MaskRule,
    matmul::{Layout, interleaved_if_half_full},
    simd::{level, row_chunks, row_chunks_mut},
};
use block::SequenceMask;
use blocked_backward::BlockedBackward;
use blocked_forward::BlockedForward;
use dfdx::tensor::CpuError;
use interleaved_backward::InterleavedBackward;
use interleaved_forward::InterleavedForward;
use itertools::izip;
use std::sync::Arc;

/// The maximum number of positions in a chunk, so that their operands stay in the cache.
const POSITIONS_PER_CHUNK: usize = 256;
/// The maximum number of key and value elements in a head for interleaved attention. More elements would not
/// stay in the first-level cache.
const MAX_KV_LEN: usize = 512;
/// The maximum number of elements in a projection's weight for interleaved projections. With larger weights
/// the per-lane gradients cost too much.
const MAX_PROJECTION_LEN: usize = 4096;

/// Interleaved if heads and projections are small and the sequences fill at least half a vector. `query_dim`
/// and `source_dim` are the widths of the projections' inputs.
pub fn choose_layout(dims: AttentionDims, query_dim: usize, source_dim: usize, batch: usize) -> Layout {
    let is_empty = dims.macs() * query_dim * source_dim * dims.qk_dim * dims.vo_dim == 0;
    let projection_len = query_dim.max(source_dim) * dims.heads * dims.qk_dim.max(dims.vo_dim);
    let is_small = |lanes: usize| {
        // An unused lane costs as much as a used one.
        let max_projection_len = MAX_PROJECTION_LEN * batch.min(lanes) / lanes;
        dims.keys * (dims.qk_dim + dims.vo_dim) <= MAX_KV_LEN && projection_len <= max_projection_len
    };
    match interleaved_if_half_full(batch) {
        Layout::Interleaved(lanes) if !is_empty && is_small(lanes) => Layout::Interleaved(lanes),
        _ => Layout::RowMajor,
    }
}

/// The maximum number of sequences in a chunk.
pub fn sequences_per_chunk(dims: AttentionDims, layout: Layout) -> usize {
    match layout {
        Layout::RowMajor => (POSITIONS_PER_CHUNK / dims.queries.max(dims.keys).max(1)).max(1),
        Layout::Interleaved(lanes) => lanes,
    }
}

/// Attention with fixed dimensions, bias, mask and layout.
pub struct Attention {
    config: AttentionConfig,
    /// `(H, Q, K)`: a term of the logits, in the row-major layout.
    bias: Option<Operand>,
    mask: MaskRule,
    /// The elements of the mask, for interleaved attention.
    mask_matrix: Option<Arc<[bool]>>,
    layout: Layout,
    split: Split,
}

impl Attention {
    pub fn new(config: AttentionConfig, mask: MaskRule, layout: Layout, split: Split) -> Self {
        let mask_matrix = (layout != Layout::RowMajor).then(|| mask.to_matrix());
        Self { config, bias: None, mask, mask_matrix, layout, split }
    }

    /// The same attention with a bias.
    pub fn with_bias(self, bias: Option<Operand>) -> Self {
        Self { bias, ..self }
    }

    /// The elements of the bias for a head of the keys; 0 without a bias.
    fn bias_len_per_key_value_head(&self) -> usize {
        let dims = self.config.dims;
        if self.bias.is_some() { dims.group_size() * dims.mask_len() } else { 0 }
    }

    /// `(N, Q, H·QK), (N, K, NumKeyValueHeads·QK), (N, K, NumKeyValueHeads·VO), (N, Q, K) -> (N, Q, H·VO)` for some
    /// sequences: `out = softmax(mask(scale · q kᵀ + bias)) v`. Backward needs `saved_softmax`: the weights if the layout is
    /// interleaved, otherwise [`BlockedForward::softmax_stats`].
    pub fn forward(&self, out: &mut [f32], saved_softmax: &mut [f32], [q, k, v]: [&[f32]; 3], sequences: UnitRange) {
        let (config, dims) = (self.config, self.config.dims);
        if let Some(mask_matrix) = &self.mask_matrix {
            let mask = sequences.slice(mask_matrix, dims.mask_len());
            let weights = saved_softmax;
            return level().dispatch(InterleavedForward { out, weights, q, k, v, mask, config });
        }
        let all = izip!(
            sequences.iter(),
            row_chunks_mut(out, dims.out_len()),
            row_chunks_mut(saved_softmax, dims.saved_softmax_len(self.layout)),
            row_chunks(q, dims.q_len()),
            row_chunks(k, dims.k_len()),
            row_chunks(v, dims.v_len()),
        );
        for (sequence, out, softmax_stats, q, k, v) in all {
            let mask = &SequenceMask::new(&self.mask, sequence, config);
            let partition = self.partition_heads();
            let heads = izip!(
                partition.ranges(),
                partition.split_columns_mut(out, dims.group_size() * dims.vo_dim),
                partition.split_mut(softmax_stats, dims.group_size() * 2 * dims.queries),
            );
            let bias = self.bias.as_ref().map(Operand::elements);
            partition.map_chunks(heads, |(key_value_heads, out, softmax_stats)| {
                level().dispatch(BlockedForward { key_value_heads, out, softmax_stats, q, k, v, bias, mask, config });
            });
        }
    }

    /// `(N, Q, H·VO) -> (N, Q, H·QK), (N, K, NumKeyValueHeads·QK), (N, K, NumKeyValueHeads·VO)` for some sequences:
    /// overwrites the gradients of query, key and value, given the output, its gradient and what forward saved. Adds to
    /// `d_bias`, the gradient of the bias, which is empty without a bias.
    pub fn backward(
        &self,
        [dq, dk, dv]: [&mut [f32]; 3],
        d_bias: &mut [f32],
        [d_out, out, saved_softmax]: [&[f32]; 3],
        [q, k, v]: [&[f32]; 3],
        sequences: UnitRange,
    ) {
        let (config, dims) = (self.config, self.config.dims);
        if let Some(mask_matrix) = &self.mask_matrix {
            let mask = sequences.slice(mask_matrix, dims.mask_len());
            let weights = saved_softmax;
            return level().dispatch(InterleavedBackward { dq, dk, dv, d_out, q, k, v, weights, mask, config });
        }
        let all = izip!(
            sequences.iter(),
            row_chunks_mut(dq, dims.q_len()),
            row_chunks_mut(dk, dims.k_len()),
            row_chunks_mut(dv, dims.v_len()),
            row_chunks(d_out, dims.out_len()),
            row_chunks(out, dims.out_len()),
            row_chunks(saved_softmax, dims.saved_softmax_len(self.layout)),
            row_chunks(q, dims.q_len()),
            row_chunks(k, dims.k_len()),
            row_chunks(v, dims.v_len()),
        );
        for (sequence, dq, dk, dv, d_out, out, softmax_stats, q, k, v) in all {
            let mask = &SequenceMask::new(&self.mask, sequence, config);
            let partition = self.partition_heads();
            let heads = izip!(
                partition.ranges(),
                partition.split_columns_mut(dq, dims.group_size() * dims.qk_dim),
                partition.split_columns_mut(dk, dims.qk_dim),
                partition.split_columns_mut(dv, dims.vo_dim),
                partition.split_mut(d_bias, self.bias_len_per_key_value_head()),
            );
            let bias = self.bias.as_ref().map(Operand::elements);
            partition.map_chunks(heads, |(key_value_heads, dq, dk, dv, d_bias)| {
                let softmax_stats = key_value_heads.slice(softmax_stats, dims.group_size() * 2 * dims.queries);
                level().dispatch(BlockedBackward {
                    key_value_heads,
                    dq,
                    dk,
                    dv,
                    d_out,
                    out,
                    softmax_stats,
                    q,
                    k,
                    v,
                    bias,
                    d_bias,
                    mask,
                    config,
                });
            });
        }
    }

    /// The key and value heads of a sequence, on one thread if the sequences are split already.
    fn partition_heads(&self) -> Partition {
        let dims = self.config.dims;
        match self.split {
            Split::Rows => Partition::whole(dims.key_value_heads),
            Split::Columns => {
                Partition::new(dims.key_value_heads, dims.group_size() * dims.macs_per_head(), usize::MAX)
            }
        }
    }
}

/// `(B, Q, H·QK), (B, K, NumKeyValueHeads·QK), (B, K, NumKeyValueHeads·VO), bias (H, Q, K), (B, Q, K)
/// -> (B, Q, H·VO)`.
pub fn attention_kernel(
    [query, key, value]: [Operand; 3],
    bias: Option<Operand>,
    mask: MaskRule,
    config: AttentionConfig,
) -> Result<KernelOutput, CpuError> {
    let (dims, layout, batch) = (config.dims, Layout::RowMajor, mask.batch());
    let split = Split::choose(batch, usize::MAX);
    let partition = layout.partition(split, batch, dims.macs(), sequences_per_chunk(dims, layout));
    let attention = Attention::new(config, mask, layout, split).with_bias(bias);
    let mut out = query.alloc_output(batch * dims.out_len())?;
    let chunks = partition.ranges().zip(partition.split_mut(&mut out, dims.out_len()));
    let saved = partition.map_chunks(chunks, |(sequences, out)| {
        let mut saved_softmax = Buffer::recycled(sequences.len() * dims.saved_softmax_len(layout));
        let q = sequences.slice(query.elements(), dims.q_len());
        let k = sequences.slice(key.elements(), dims.k_len());
        let v = sequences.slice(value.elements(), dims.v_len());
        attention.forward(out, &mut saved_softmax, [q, k, v], sequences);
        saved_softmax
    });
    let output = query.new_tensor(out)?;
    let out = Operand { tensor: output.clone() };

    Ok(with_backward(output, move |d_out, gradients| {
        let [mut dq, mut dk, mut dv] = [&query, &key, &value].map(|operand| Buffer::recycled(operand.len()));
        let chunks = izip!(
            partition.ranges(),
            partition.split_mut(&mut dq, dims.q_len()),
            partition.split_mut(&mut dk, dims.k_len()),
            partition.split_mut(&mut dv, dims.v_len()),
            &saved,
        );
        // Every sequence has a part in the gradient of the bias, so each thread sums those of its own sequences.
        let bias_parts = partition.map_threads(chunks, |chunks| {
            let mut d_bias = Buffer::zeros(attention.bias.as_ref().map_or(0, Operand::len));
            for (sequences, dq, dk, dv, saved_softmax) in chunks {
                let q = sequences.slice(query.elements(), dims.q_len());
                let k = sequences.slice(key.elements(), dims.k_len());
                let v = sequences.slice(value.elements(), dims.v_len());
                let (d_out, out) =
                    (sequences.slice(d_out, dims.out_len()), sequences.slice(out.elements(), dims.out_len()));
                attention.backward([dq, dk, dv], &mut d_bias, [d_out, out, saved_softmax], [q, k, v], sequences);
            }
            d_bias
        });
        query.accumulate_gradient(gradients, &dq)?;
        key.accumulate_gradient(gradients, &dk)?;
        value.accumulate_gradient(gradients, &dv)?;
        match &attention.bias {
            Some(bias) => bias_parts.iter().try_for_each(|part| bias.accumulate_gradient(gradients, part)),
            None => Ok(()),
        }
    }))
}
