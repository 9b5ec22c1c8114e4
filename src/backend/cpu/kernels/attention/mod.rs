//! Scaled dot-product attention, head by head. The operands are not permuted; each head is a strided view.

mod backward;
mod dims;
mod forward;
mod head;
mod mask;
#[cfg(test)]
mod tests;

pub use backward::attention_backward;
pub use dims::{AttentionConfig, AttentionDims};
pub use forward::attention_forward;

use crate::backend::cpu::{
    autograd::{Buffer, KernelOutput, Operand, Partition, with_backward},
    matmul::{Layout, interleaved_if_half_full},
};
use dfdx::tensor::CpuError;
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

/// `(B, Q, H·QK), (B, K, H·QK), (B, K, H·VO), (B, Q, K) -> (B, Q, H·VO)`. The raw scores are not kept; only
/// the attention weights are.
pub fn attention_kernel(
    query: Operand,
    key: Operand,
    value: Operand,
    mask: Arc<[bool]>,
    config: AttentionConfig,
) -> Result<KernelOutput, CpuError> {
    let dims = config.dims;
    let layout = Layout::RowMajor;
    let batch = mask.len() / dims.mask_len().max(1);
    let partition = Partition::new(batch, dims.macs(), sequences_per_chunk(dims, layout));
    let mut out = query.alloc_output(batch * dims.out_len())?;
    let chunks = partition.ranges().zip(partition.split_mut(&mut out, dims.out_len()));
    let saved_weights = partition.map_chunks(chunks, |(sequences, out)| {
        let mut weights = Buffer::recycled(sequences.len() * dims.weights_len(layout));
        let q = sequences.of(query.elements(), dims.q_len());
        let k = sequences.of(key.elements(), dims.k_len());
        let v = sequences.of(value.elements(), dims.v_len());
        let mask = sequences.of(&mask, dims.mask_len());
        attention_forward(out, &mut weights, [q, k, v], mask, config, layout);
        weights
    });
    let output = query.new_tensor(out)?;

    Ok(with_backward(output, move |d_out, gradients| {
        let [mut dq, mut dk, mut dv] = [&query, &key, &value].map(|operand| Buffer::zeros(operand.len()));
        let chunks = izip!(
            partition.ranges(),
            partition.split_mut(&mut dq, dims.q_len()),
            partition.split_mut(&mut dk, dims.k_len()),
            partition.split_mut(&mut dv, dims.v_len()),
            &saved_weights,
        );
        partition.map_chunks(chunks, |(sequences, dq, dk, dv, weights)| {
            let q = sequences.of(query.elements(), dims.q_len());
            let k = sequences.of(key.elements(), dims.k_len());
            let v = sequences.of(value.elements(), dims.v_len());
            let mask = sequences.of(&mask, dims.mask_len());
            let d_out = sequences.of(d_out, dims.out_len());
            attention_backward([dq, dk, dv], d_out, [q, k, v], weights, mask, config, layout);
        });
        query.accumulate_gradient(gradients, &dq)?;
        key.accumulate_gradient(gradients, &dk)?;
        value.accumulate_gradient(gradients, &dv)
    }))
}
