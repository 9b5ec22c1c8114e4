//! Rows that are divided among any ranks of a batch have the bound `DataRanks`.
//! Right with `DataRanks` for `RankAxis` in line 9.
use typed_transformer::{nn::Linear, prelude::*, ranks, ranks::Shard};

dims! { Batch; EmbedDim = 8; }

type Rows<W> = Tensor<(Shard<Batch, W>, EmbedDim), f32, Cpu>;

fn forward<W: ranks::RankAxis>(
    layer: &Linear<EmbedDim, EmbedDim, f32, Cpu>,
    x: Rows<W>,
) -> Result<Rows<W>, OpError> {
    layer.forward(x)
}

fn main() {}
