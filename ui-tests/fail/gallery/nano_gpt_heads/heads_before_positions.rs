//! Heads are merged after the axis of heads is moved back behind that of positions.
//! Right with `transposed` for `attended` in line 17.
//!
//! nanoGPT writes `y.transpose(1, 2).contiguous().view(B, T, C)`. Without the transposition `view` has the right shape as
//! well, and each row mixes the positions of a head.
use typed_transformer::prelude::*;

dims! { NumHeads = 2; HeadDim = 4; SeqLen; Batch; }

fn merge(
    attended: Tensor<(Batch, NumHeads, SeqLen, HeadDim), f32, Cpu>,
) -> Result<Tensor<(Batch, SeqLen, Product<NumHeads, HeadDim>), f32, Cpu>, OpError> {
    let transposed: Tensor<(Batch, SeqLen, NumHeads, HeadDim), f32, Cpu> =
        rearrange!(&attended: (Batch, NumHeads, SeqLen, HeadDim) -> (Batch, SeqLen, NumHeads, HeadDim))?;
    let _ = (&attended, &transposed);
    let (batch, len, ..) = *transposed.shape();
    reshape(attended, (batch, len, Product::default()))
}

fn main() {}
