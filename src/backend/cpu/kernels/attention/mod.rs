//! Scaled dot-product attention, head by head. The operands stay where they are: nothing is permuted.

mod backward;
mod dims;
mod forward;
mod head;
mod mask;
#[cfg(test)]
mod tests;

pub use backward::attention_backward;
pub use dims::{AttentionDims, AttentionKernel};
pub use forward::attention_forward;

use crate::backend::cpu::{
    autograd::{Buffer, KernelOutput, Operand, Partition, record},
    matmul::{Layout, interleaved_if_full},
};
use dfdx::tensor::CpuError;
use itertools::izip;
use std::sync::Arc;

/// The number of positions whose operands stay in the cache.
const POSITIONS_PER_CHUNK: usize = 256;
/// Interleaved attention pays off only if the keys and values of a head stay in the first-level cache: the
/// largest number of their elements.
const MAX_KV_LEN: usize = 512;
/// Interleaved projections pay off only for small weights, because each lane has a weight gradient of its
/// own: the largest number of elements.
const MAX_WEIGHT_LEN: usize = 4096;

/// Interleaved, if heads and projections are small and sequences many enough. `query_dim` and `source_dim`
/// are the widths of the projections' inputs.
pub fn choose_layout(dims: AttentionDims, query_dim: usize, source_dim: usize, batch: usize) -> Layout {
    let is_empty = dims.macs() * query_dim * source_dim * dims.qk_dim * dims.vo_dim == 0;
    let weight_len = query_dim.max(source_dim) * dims.heads * dims.qk_dim.max(dims.vo_dim);
    let is_small = |lanes: usize| {
        // An unused lane costs as much as a used one.
        let max_weight_len = MAX_WEIGHT_LEN * batch.min(lanes) / lanes;
        dims.keys * (dims.qk_dim + dims.vo_dim) <= MAX_KV_LEN && weight_len <= max_weight_len
    };
    match interleaved_if_full(batch) {
        Layout::Interleaved(lanes) if !is_empty && is_small(lanes) => Layout::Interleaved(lanes),
        _ => Layout::RowMajor,
    }
}

/// The number of sequences to work on at a time.
pub fn sequences_per_chunk(dims: AttentionDims, layout: Layout) -> usize {
    match layout {
        Layout::RowMajor => (POSITIONS_PER_CHUNK / dims.queries.max(dims.keys).max(1)).max(1),
        Layout::Interleaved(lanes) => lanes,
    }
}

/// `(B, Q, H·QK), (B, K, H·QK), (B, K, H·VO), (B, Q, K) -> (B, Q, H·VO)`: of the scores, only their softmax is
/// written to memory.
pub fn record_attention(
    query: Operand,
    key: Operand,
    value: Operand,
    mask: Arc<[bool]>,
    kernel: AttentionKernel,
) -> Result<KernelOutput, CpuError> {
    let dims = kernel.dims;
    let layout = Layout::RowMajor;
    let batch = mask.len() / dims.mask_len().max(1);
    let partition = Partition::new(batch, dims.macs(), sequences_per_chunk(dims, layout));
    let mut out = query.alloc_output(batch * dims.out_len())?;
    let chunks = partition.ranges().zip(partition.split_mut(&mut out, dims.out_len()));
    let saved_weights = partition.map_chunks(chunks, |(sequences, out)| {
        let mut weights = Buffer::recycled(sequences.len() * dims.weights_len(layout));
        let q = sequences.of(&query.elements, dims.q_len());
        let k = sequences.of(&key.elements, dims.k_len());
        let v = sequences.of(&value.elements, dims.v_len());
        let mask = sequences.of(&mask, dims.mask_len());
        attention_forward(out, &mut weights, [q, k, v], mask, kernel, layout);
        weights
    });
    let output = query.new_tensor(out)?;

    Ok(record(output, move |d_out, gradients| {
        let [mut dq, mut dk, mut dv] =
            [&query, &key, &value].map(|operand| Buffer::zeros(operand.elements.len()));
        let chunks = izip!(
            partition.ranges(),
            partition.split_mut(&mut dq, dims.q_len()),
            partition.split_mut(&mut dk, dims.k_len()),
            partition.split_mut(&mut dv, dims.v_len()),
            &saved_weights,
        );
        partition.map_chunks(chunks, |(sequences, dq, dk, dv, weights)| {
            let q = sequences.of(&query.elements, dims.q_len());
            let k = sequences.of(&key.elements, dims.k_len());
            let v = sequences.of(&value.elements, dims.v_len());
            let mask = sequences.of(&mask, dims.mask_len());
            let d_out = sequences.of(d_out, dims.out_len());
            attention_backward([dq, dk, dv], d_out, [q, k, v], weights, mask, kernel, layout);
        });
        query.accumulate_gradient(gradients, &dq)?;
        key.accumulate_gradient(gradients, &dk)?;
        value.accumulate_gradient(gradients, &dv)
    }))
}
