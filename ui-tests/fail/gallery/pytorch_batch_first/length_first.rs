//! Attention reads batches of sequences, not sequences of batches.
//! Right with `batch_first` for `length_first` in line 17.
//!
//! PyTorch's `nn.MultiheadAttention` and `nn.Transformer` read `(length, batch, width)` unless `batch_first=True` is
//! given. With the axes exchanged they run, and each text attends to the other texts of the batch.
use typed_transformer::prelude::*;

dims! { EmbedDim = 8; SeqLen; Batch; }

fn attend<A: Arch>(
    attention: &SelfAttention<EmbedDim, CausalMask, A, f32, Cpu>,
    batch_first: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>,
    length_first: Tensor<(SeqLen, Batch, EmbedDim), f32, Cpu>,
    padding: &PaddingMask<Batch, SeqLen>,
) -> Result<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, OpError> {
    let _ = (&batch_first, &length_first);
    attention.forward(length_first, padding)
}

fn main() {}
