//! An embedded token has the width of the table.
//! Covers `M` of `ops::embed`.
//! Right with `EmbedDim` for `HiddenDim` in line 9.
use typed_transformer::prelude::*;

dims! { Letters = 28; SrcLen = 5; EmbedDim = 8; HiddenDim = 32; Batch; }

fn embeds(
    table: &Tensor<(Letters, HiddenDim), f32, Cpu>,
    ids: &TokenIds<Batch, SrcLen, Letters>,
) -> Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> {
    embed(table, ids, NoneTape)
}

fn main() {}
