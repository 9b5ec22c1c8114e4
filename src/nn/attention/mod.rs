//! Attention as layers with projections. [`MHAttention`] and [`LatentAttention`] leave the residual and the norm to the
//! caller; the other layers have both.

mod cross_attention;
mod grouped_query_attention;
mod latent_attention;
mod multi_head_attention;
mod self_attention;

pub use cross_attention::CrossAttention;
pub(crate) use cross_attention::cross_mask;
pub use grouped_query_attention::{GroupedHeads, GroupedKeyValueCache, GroupedQuery, GroupedQueryAttention};
pub use latent_attention::{LatentArch, LatentAttention, LatentCache, LatentHeads};
pub use multi_head_attention::MHAttention;
pub use self_attention::SelfAttention;
pub(crate) use self_attention::self_mask;

use crate::backend::{Backend, Tape};
use crate::dims::{ConstDim, DataDim, Dim, Factor, Product};
use crate::mask::MaskKind;
use crate::nn::{Arch, Conventions};
use crate::ops::{OpError, Real, Rotary, rotate_heads};
use crate::weights::MASK;
use dfdx::tensor::Tensor;
use std::marker::PhantomData;

/// The conventions of self-attention in files of weights: those of `A`, and the positions that `Mask` shows.
struct SelfConventions<Mask, A>(PhantomData<fn() -> (Mask, A)>);

impl<Mask: MaskKind, A: Arch> SelfConventions<Mask, A> {
    fn conventions() -> Vec<(&'static str, String)> {
        let shown = if Mask::CAUSAL { "earlier positions" } else { "all positions" };
        let window = Mask::WINDOW.map_or(String::new(), |len| format!(" in a window of {len}"));
        A::Conventions::conventions().into_iter().chain([(MASK, format!("{shown}{window}"))]).collect()
    }
}

/// Queries or keys, rotated by their positions from `start` on if the model has rotary positions.
fn rotate<B: DataDim, S: Dim, H: Factor, HeadDim: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    heads: Tensor<(B, S, Product<H, HeadDim>), E, D, T>,
    start: usize,
    rotary: Option<Rotary>,
) -> Result<Tensor<(B, S, Product<H, HeadDim>), E, D, T>, OpError> {
    match rotary {
        Some(rotary) => rotate_heads(heads, start, rotary),
        None => Ok(heads),
    }
}
