use super::unnamed::{reshape_to, swap_middle};
use super::{OpError, Real};
use crate::backend::{Backend, Tape};
use crate::dims::{ConstDim, Dim, Factor, MaybeSharded, Product};
use dfdx::{shapes::HasShape, tensor::Tensor};

/// Splits a projection into heads (the post's `_project`, second half).
///
/// `(B, S, Product<H, HeadDim>) -> (B, H, S, HeadDim)`
///
/// Nothing is checked at run time: only a dimension of type `Product<H, HeadDim>` is accepted.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub NumHeads = 2; pub HeadDim = 1; pub SeqLen = 2; pub Batch = 1; }
/// let x: Tensor<(Batch, SeqLen, Product<NumHeads, HeadDim>), f32, Cpu> =
///     Cpu::default().tensor(vec![1.0, 10.0, 2.0, 20.0]);
/// let heads: Tensor<(Batch, NumHeads, SeqLen, HeadDim), f32, Cpu> = split_heads(x)?;
/// assert_eq!(heads.as_vec(), [1.0, 2.0, 10.0, 20.0]);
/// # Ok::<(), OpError>(())
/// ```
pub fn split_heads<B: MaybeSharded, S: Dim, H: Factor, HeadDim: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<(B, S, Product<H, HeadDim>), E, D, T>,
) -> Result<Tensor<(B, H, S, HeadDim), E, D, T>, OpError> {
    const OP: &str = "split heads";
    let (batch, len, _) = *input.shape();
    let heads = reshape_to(OP, input, (batch, len, H::default(), HeadDim::default()))?;
    swap_middle(OP, heads)
}

/// Merges the heads into one dimension: the inverse of [`split_heads`].
///
/// `(B, H, S, HeadDim) -> (B, S, Product<H, HeadDim>)`
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub NumHeads = 2; pub HeadDim = 1; pub SeqLen = 2; pub Batch = 1; }
/// let heads: Tensor<(Batch, NumHeads, SeqLen, HeadDim), f32, Cpu> =
///     Cpu::default().tensor(vec![1.0, 2.0, 10.0, 20.0]);
/// let x: Tensor<(Batch, SeqLen, Product<NumHeads, HeadDim>), f32, Cpu> = merge_heads(heads)?;
/// assert_eq!(x.as_vec(), [1.0, 10.0, 2.0, 20.0]);
/// # Ok::<(), OpError>(())
/// ```
pub fn merge_heads<B: MaybeSharded, S: Dim, H: Factor, HeadDim: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    heads: Tensor<(B, H, S, HeadDim), E, D, T>,
) -> Result<Tensor<(B, S, Product<H, HeadDim>), E, D, T>, OpError> {
    const OP: &str = "merge heads";
    let (batch, _, len, _) = *heads.shape();
    reshape_to(OP, swap_middle(OP, heads)?, (batch, len, Product::default()))
}
