use super::AttentionConfig;
use super::interleave::{deinterleave, interleave};
use super::interleaved_backward::InterleavedBackward;
use super::interleaved_forward::InterleavedForward;
use crate::autograd::{Buffer, KernelOutput, Operand, Partition, with_backward};
use crate::mask_rule::MaskRule;
use crate::simd::level;
use dfdx::tensor::CpuError;
use itertools::izip;

/// Attention on one sequence a lane.
pub fn interleaved_attention(
    [query, key, value]: [Operand; 3],
    mask: MaskRule,
    config: AttentionConfig,
    lanes: usize,
) -> Result<KernelOutput, CpuError> {
    let (dims, batch) = (config.dims, mask.batch());
    let mask = mask.to_matrix();
    let partition = Partition::of_groups(batch, lanes, dims.macs(), lanes);
    let mut out = query.alloc_output(batch * dims.out_len())?;
    let saved = partition.map_mut(&mut out, dims.out_len(), |sequences, out| {
        let read = |operand: &Operand, len: usize| interleave(sequences.slice(operand.elements(), len), len, lanes);
        let (q, k, v) = (read(&query, dims.q_len()), read(&key, dims.k_len()), read(&value, dims.v_len()));
        let mut weights = Buffer::recycled(lanes * dims.heads * dims.mask_len());
        let mut lanes_out = Buffer::recycled(lanes * dims.out_len());
        let mask = sequences.slice(&mask, dims.mask_len());
        let forward =
            InterleavedForward { out: &mut lanes_out, weights: &mut weights, q: &q, k: &k, v: &v, mask, config };
        level().dispatch(forward);
        deinterleave(out, dims.out_len(), lanes, &lanes_out);
        // Interleaved, for the backward pass.
        (q, k, v, weights)
    });
    let output = query.new_tensor(out)?;

    Ok(with_backward(output, move |d_out, gradients| {
        let [mut dq, mut dk, mut dv] = [&query, &key, &value].map(|operand| Buffer::recycled(operand.len()));
        let chunks = izip!(
            partition.chunks(),
            partition.split_mut(&mut dq, dims.q_len()),
            partition.split_mut(&mut dk, dims.k_len()),
            partition.split_mut(&mut dv, dims.v_len()),
            &saved,
        );
        partition.map_chunks(chunks, |(sequences, dq, dk, dv, (q, k, v, weights))| {
            let d_out = interleave(sequences.slice(&d_out, dims.out_len()), dims.out_len(), lanes);
            let [mut lanes_dq, mut lanes_dk, mut lanes_dv] = [q, k, v].map(|lanes| Buffer::recycled(lanes.len()));
            let mask = sequences.slice(&mask, dims.mask_len());
            level().dispatch(InterleavedBackward {
                dq: &mut lanes_dq,
                dk: &mut lanes_dk,
                dv: &mut lanes_dv,
                d_out: &d_out,
                q,
                k,
                v,
                weights,
                mask,
                config,
            });
            deinterleave(dq, dims.q_len(), lanes, &lanes_dq);
            deinterleave(dk, dims.k_len(), lanes, &lanes_dk);
            deinterleave(dv, dims.v_len(), lanes, &lanes_dv);
        });
        query.gradient.add(gradients, dq);
        key.gradient.add(gradients, dk);
        value.gradient.add(gradients, dv);
    }))
}
