//! An axis of the result has a name of its own.
//! Right with `EmbedDim` for `SeqLen` in line 10.
use typed_transformer::prelude::*;

dims! { SeqLen = 3; EmbedDim = 8; Batch; }

fn turned(x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>) {
    let _turned = rearrange!(
        x: (Batch, SeqLen, EmbedDim) -> (SeqLen, Batch,
            SeqLen)
    ).unwrap();
}

fn main() {}
