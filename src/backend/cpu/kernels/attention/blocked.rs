use super::blocked_backward::BlockedBackward;
use super::blocked_forward::BlockedForward;
use super::score_block::{Sequence, SequenceDropout, SequenceMask};
use super::{AttentionConfig, AttentionDropout};
use crate::autograd::{Buffer, KernelOutput, Operand, Partition, SplitBy, with_backward};
use crate::mask_rule::MaskRule;
use crate::simd::{level, row_chunks, row_chunks_mut};
use dfdx::tensor::CpuError;
use itertools::izip;

/// The maximum number of positions in a chunk, so that their operands stay in the cache.
const POSITIONS_PER_CHUNK: usize = 256;

struct Attention {
    /// Query, key and value.
    operands: [Operand; 3],
    /// `(H, Q, K)`: a term of the logits.
    bias: Option<Operand>,
    mask: MaskRule,
    dropout: Option<AttentionDropout>,
    config: AttentionConfig,
    split: SplitBy,
}

impl Attention {
    fn sequence(&self, sequence: usize) -> Sequence<'_> {
        let (config, dims) = (self.config, self.config.dims);
        let [q, k, v] = self.operands.each_ref().map(Operand::elements);
        let dropout = self.dropout.as_ref().map(|dropout| SequenceDropout {
            is_kept: part(&dropout.is_kept, sequence, dims.heads * dims.mask_len()),
            factor: dropout.factor,
        });
        Sequence {
            q: part(q, sequence, dims.q_len()),
            k: part(k, sequence, dims.k_len()),
            v: part(v, sequence, dims.v_len()),
            bias: self.bias.as_ref().map(Operand::elements),
            mask: SequenceMask::new(&self.mask, sequence, config),
            dropout,
            config,
        }
    }

    /// `(Q, H·QK), (K, NumKeyValueHeads·QK), (K, NumKeyValueHeads·VO), (Q, K) -> (Q, H·VO)` for one sequence. Backward
    /// needs [`BlockedForward::softmax_stats`].
    fn forward(&self, out: &mut [f32], softmax_stats: &mut [f32], sequence: usize) {
        let (dims, sequence) = (self.config.dims, &self.sequence(sequence));
        let partition = self.partition_heads();
        let heads = izip!(
            partition.chunks(),
            partition.split_columns_mut(out, dims.group_size() * dims.vo_dim),
            partition.split_mut(softmax_stats, dims.group_size() * 2 * dims.queries),
        );
        partition.map_chunks(heads, |(key_value_heads, out, softmax_stats)| {
            level().dispatch(BlockedForward { key_value_heads, out, softmax_stats, sequence });
        });
    }

    /// `(Q, H·VO) -> (Q, H·QK), (K, NumKeyValueHeads·QK), (K, NumKeyValueHeads·VO)` for one sequence: overwrites the
    /// gradients of query, key and value, given the output, its gradient and what forward saved. Adds to `d_bias`, the
    /// gradient of the bias, which is empty without a bias.
    fn backward(
        &self,
        [dq, dk, dv]: [&mut [f32]; 3],
        d_bias: &mut [f32],
        [d_out, out, softmax_stats]: [&[f32]; 3],
        sequence: usize,
    ) {
        let (dims, sequence) = (self.config.dims, &self.sequence(sequence));
        let partition = self.partition_heads();
        let bias_len_per_head = if self.bias.is_some() { dims.group_size() * dims.mask_len() } else { 0 };
        let heads = izip!(
            partition.chunks(),
            partition.split_columns_mut(dq, dims.group_size() * dims.qk_dim),
            partition.split_columns_mut(dk, dims.qk_dim),
            partition.split_columns_mut(dv, dims.vo_dim),
            partition.split_mut(d_bias, bias_len_per_head),
        );
        partition.map_chunks(heads, |(key_value_heads, dq, dk, dv, d_bias)| {
            let softmax_stats = key_value_heads.slice(softmax_stats, dims.group_size() * 2 * dims.queries);
            let backward = BlockedBackward { key_value_heads, dq, dk, dv, d_out, out, softmax_stats, d_bias, sequence };
            level().dispatch(backward);
        });
    }

    /// The threads divide the key and value heads of a sequence among themselves, unless each has sequences of its own.
    fn partition_heads(&self) -> Partition {
        let dims = self.config.dims;
        match self.split {
            SplitBy::WholeUnits => Partition::whole(dims.key_value_heads),
            SplitBy::PartsOfUnits => {
                Partition::new(dims.key_value_heads, dims.group_size() * dims.macs_per_head(), usize::MAX)
            }
        }
    }
}

/// The `len` elements of one sequence.
fn part<T>(all: &[T], sequence: usize, len: usize) -> &[T] {
    &all[sequence * len..][..len]
}

pub fn blocked_attention(
    operands: [Operand; 3],
    bias: Option<Operand>,
    mask: MaskRule,
    dropout: Option<AttentionDropout>,
    config: AttentionConfig,
) -> Result<KernelOutput, CpuError> {
    let (dims, batch) = (config.dims, mask.batch());
    let split = SplitBy::choose(batch, usize::MAX, bias.as_ref().map_or(0, Operand::len));
    let sequences_per_chunk = (POSITIONS_PER_CHUNK / dims.queries.max(dims.keys).max(1)).max(1);
    let partition = match split {
        SplitBy::WholeUnits => Partition::new(batch, dims.macs(), sequences_per_chunk),
        SplitBy::PartsOfUnits => Partition::whole(batch),
    };
    let attention = Attention { operands, bias, mask, dropout, config, split };
    let mut out = attention.operands[0].alloc_output(batch * dims.out_len())?;
    let saved = partition.map_mut(&mut out, dims.out_len(), |sequences, out| {
        let mut softmax_stats = Buffer::recycled(sequences.len() * dims.softmax_stats_len());
        let stats = row_chunks_mut(&mut softmax_stats, dims.softmax_stats_len());
        for (sequence, out, stats) in izip!(sequences.range(), row_chunks_mut(out, dims.out_len()), stats) {
            attention.forward(out, stats, sequence);
        }
        softmax_stats
    });
    let output = attention.operands[0].new_tensor(out)?;
    let out = Operand::without_gradient(&output);

    Ok(with_backward(output, move |d_out, gradients| {
        let [mut dq, mut dk, mut dv] = attention.operands.each_ref().map(|operand| Buffer::recycled(operand.len()));
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
                let all = izip!(
                    sequences.range(),
                    row_chunks_mut(dq, dims.q_len()),
                    row_chunks_mut(dk, dims.k_len()),
                    row_chunks_mut(dv, dims.v_len()),
                    row_chunks(softmax_stats, dims.softmax_stats_len()),
                );
                for (sequence, dq, dk, dv, stats) in all {
                    let [d_out, out] = [&d_out, out.elements()].map(|all| part(all, sequence, dims.out_len()));
                    attention.backward([dq, dk, dv], &mut d_bias, [d_out, out, stats], sequence);
                }
            }
            d_bias
        });
        for (operand, d) in attention.operands.iter().zip([dq, dk, dv]) {
            operand.gradient.add(gradients, d);
        }
        if let Some(bias) = &attention.bias {
            bias.gradient.add_parts(gradients, bias_parts);
        }
    }))
}
