//! A product keeps the order of its factors: two heads of four are not four heads of two.
//! Right with `Heads` for `Swapped` in line 12.
use typed_transformer::{nn::Linear, prelude::*};

dims! { NumHeads = 4; HeadDim = 2; EmbedDim = 8; SeqLen; Batch; }

type Heads = Product<NumHeads, HeadDim>;
type Swapped = Product<HeadDim, NumHeads>;

fn project(
    output_proj: &Linear<Heads, EmbedDim, f32, Cpu>,
    attended: Tensor<(Batch, SeqLen, Swapped), f32, Cpu>,
) -> Result<Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>, OpError> {
    output_proj.forward(attended)
}

fn main() {}
