//! A narrowed part is at most as long as the whole.
//! Covers `Part` of `ops::narrow`.
//! Right with `Short` for `TgtLen` in line 9.
use typed_transformer::prelude::*;

dims! { Short = 4; SrcLen = 5; TgtLen = 7; EmbedDim = 8; Batch; }

fn cut(input: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu>) {
    let _part = narrow(input, axis::<SrcLen>(), 0, TgtLen);
}

fn main() {}
