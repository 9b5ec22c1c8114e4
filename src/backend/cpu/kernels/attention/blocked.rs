use super::blocked_backward::BlockedBackward;
use super::blocked_forward::BlockedForward;
use super::score_block::{SequenceDropout, SequenceMask};
use super::{AttentionConfig, AttentionDropout};
use crate::autograd::{Buffer, KernelOutput, Operand, Partition, Split, with_backward};
use crate::mask_rule::MaskRule;
use crate::simd::{level, row_chunks, row_chunks_mut};
use dfdx::tensor::CpuError;
use itertools::izip;

/// The maximum number of positions in a chunk, so that their operands stay in the cache.
const POSITIONS_PER_CHUNK: usize = 256;

/// Attention with fixed dimensions, bias and mask.
struct Attention {
    config: AttentionConfig,
    /// `(H, Q, K)`: a term of the logits.
    bias: Option<Operand>,
    mask: MaskRule,
    dropout: Option<AttentionDropout>,
    split: Split,
}

impl Attention {
    /// The number of elements of the bias for one head of the keys; 0 without a bias.
    fn bias_len_per_key_value_head(&self) -> usize {
        let dims = self.config.dims;
        if self.bias.is_some() { dims.group_size() * dims.mask_len() } else { 0 }
    }

    fn dropout_of(&self, sequence: usize) -> Option<SequenceDropout<'_>> {
        let len = self.config.dims.heads * self.config.dims.mask_len();
        let dropout = self.dropout.as_ref()?;
        Some(SequenceDropout { is_kept: &dropout.is_kept[sequence * len..][..len], factor: dropout.factor })
    }

    /// `(N, Q, H·QK), (N, K, NumKeyValueHeads·QK), (N, K, NumKeyValueHeads·VO), (N, Q, K) -> (N, Q, H·VO)` for the
    /// sequences from `first` on. Backward needs [`BlockedForward::softmax_stats`].
    fn forward(&self, out: &mut [f32], softmax_stats: &mut [f32], [q, k, v]: [&[f32]; 3], first: usize) {
        let (config, dims) = (self.config, self.config.dims);
        let all = izip!(
            first..,
            row_chunks_mut(out, dims.out_len()),
            row_chunks_mut(softmax_stats, dims.softmax_stats_len()),
            row_chunks(q, dims.q_len()),
            row_chunks(k, dims.k_len()),
            row_chunks(v, dims.v_len()),
        );
        for (sequence, out, softmax_stats, q, k, v) in all {
            let mask = &SequenceMask::new(&self.mask, sequence, config);
            let partition = self.partition_heads();
            let heads = izip!(
                partition.chunks(),
                partition.split_columns_mut(out, dims.group_size() * dims.vo_dim),
                partition.split_mut(softmax_stats, dims.group_size() * 2 * dims.queries),
            );
            let (bias, dropout) = (self.bias.as_ref().map(Operand::elements), self.dropout_of(sequence));
            partition.map_chunks(heads, |(key_value_heads, out, softmax_stats)| {
                level().dispatch(BlockedForward {
                    key_value_heads,
                    out,
                    softmax_stats,
                    q,
                    k,
                    v,
                    bias,
                    mask,
                    dropout,
                    config,
                });
            });
        }
    }

    /// `(N, Q, H·VO) -> (N, Q, H·QK), (N, K, NumKeyValueHeads·QK), (N, K, NumKeyValueHeads·VO)` for the sequences from
    /// `first` on: overwrites the gradients of query, key and value, given the output, its gradient and what forward
    /// saved. Adds to `d_bias`, the gradient of the bias, which is empty without a bias.
    fn backward(
        &self,
        [dq, dk, dv]: [&mut [f32]; 3],
        d_bias: &mut [f32],
        [d_out, out, softmax_stats]: [&[f32]; 3],
        [q, k, v]: [&[f32]; 3],
        first: usize,
    ) {
        let (config, dims) = (self.config, self.config.dims);
        let all = izip!(
            first..,
            row_chunks_mut(dq, dims.q_len()),
            row_chunks_mut(dk, dims.k_len()),
            row_chunks_mut(dv, dims.v_len()),
            row_chunks(d_out, dims.out_len()),
            row_chunks(out, dims.out_len()),
            row_chunks(softmax_stats, dims.softmax_stats_len()),
            row_chunks(q, dims.q_len()),
            row_chunks(k, dims.k_len()),
            row_chunks(v, dims.v_len()),
        );
        for (sequence, dq, dk, dv, d_out, out, softmax_stats, q, k, v) in all {
            let mask = &SequenceMask::new(&self.mask, sequence, config);
            let partition = self.partition_heads();
            let heads = izip!(
                partition.chunks(),
                partition.split_columns_mut(dq, dims.group_size() * dims.qk_dim),
                partition.split_columns_mut(dk, dims.qk_dim),
                partition.split_columns_mut(dv, dims.vo_dim),
                partition.split_mut(d_bias, self.bias_len_per_key_value_head()),
            );
            let (bias, dropout) = (self.bias.as_ref().map(Operand::elements), self.dropout_of(sequence));
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
                    dropout,
                    config,
                });
            });
        }
    }

    /// The threads share the key and value heads of a sequence, unless each thread has sequences of its own.
    fn partition_heads(&self) -> Partition {
        let dims = self.config.dims;
        match self.split {
            Split::AcrossUnits => Partition::whole(dims.key_value_heads),
            Split::WithinUnits => {
                Partition::new(dims.key_value_heads, dims.group_size() * dims.macs_per_head(), usize::MAX)
            }
        }
    }
}

/// Attention by blocks of scores.
pub fn blocked_attention(
    [query, key, value]: [Operand; 3],
    bias: Option<Operand>,
    mask: MaskRule,
    dropout: Option<AttentionDropout>,
    config: AttentionConfig,
) -> Result<KernelOutput, CpuError> {
    let (dims, batch) = (config.dims, mask.batch());
    let split = Split::choose(batch, usize::MAX);
    let sequences_per_chunk = (POSITIONS_PER_CHUNK / dims.queries.max(dims.keys).max(1)).max(1);
    let partition = match split {
        Split::AcrossUnits => Partition::new(batch, dims.macs(), sequences_per_chunk),
        Split::WithinUnits => Partition::whole(batch),
    };
    let attention = Attention { config, bias, mask, dropout, split };
    let mut out = query.alloc_output(batch * dims.out_len())?;
    let saved = partition.map_mut(&mut out, dims.out_len(), |sequences, out| {
        let mut softmax_stats = Buffer::recycled(sequences.len() * dims.softmax_stats_len());
        let q = sequences.slice(query.elements(), dims.q_len());
        let k = sequences.slice(key.elements(), dims.k_len());
        let v = sequences.slice(value.elements(), dims.v_len());
        attention.forward(out, &mut softmax_stats, [q, k, v], sequences.start());
        softmax_stats
    });
    let output = query.new_tensor(out)?;
    let out = Operand::without_gradient(&output);

    Ok(with_backward(output, move |d_out, gradients| {
        let [mut dq, mut dk, mut dv] = [&query, &key, &value].map(|operand| Buffer::recycled(operand.len()));
        let chunks = izip!(
            partition.chunks(),
            partition.split_mut(&mut dq, dims.q_len()),
            partition.split_mut(&mut dk, dims.k_len()),
            partition.split_mut(&mut dv, dims.v_len()),
            &saved,
        );
        // Every sequence adds a term to the gradient of the bias. Each thread sums the terms of its own sequences.
        let bias_parts = partition.map_threads(chunks, |chunks| {
            let mut d_bias = Buffer::zeros(attention.bias.as_ref().map_or(0, Operand::len));
            for (sequences, dq, dk, dv, softmax_stats) in chunks {
                let q = sequences.slice(query.elements(), dims.q_len());
                let k = sequences.slice(key.elements(), dims.k_len());
                let v = sequences.slice(value.elements(), dims.v_len());
                let [d_out, out] = [&d_out, out.elements()].map(|all| sequences.slice(all, dims.out_len()));
                let first = sequences.start();
                attention.backward([dq, dk, dv], &mut d_bias, [d_out, out, softmax_stats], [q, k, v], first);
            }
            d_bias
        });
        query.add_gradient(gradients, dq)?;
        key.add_gradient(gradients, dk)?;
        value.add_gradient(gradients, dv)?;
        match &attention.bias {
            Some(bias) => bias_parts.into_iter().try_for_each(|part| bias.add_gradient(gradients, part)),
            None => Ok(()),
        }
    }))
}
