use super::{AttentionScale, MaskFill};
use crate::dims::{AnyDim, Dim};
use crate::error::Real;
use dfdx::tensor::{Cpu, NoneTape, Storage, Tensor};

/// The scale, the mask's fill, dropout and bias of attention: `softmax(scale · q kᵀ + bias) v`.
///
/// ```
/// use typed_transformer::{ops::{AttentionOptions, alibi}, prelude::*};
/// dims! { pub NumHeads = 2; pub HeadDim = 1; pub SeqLen = 3; pub Batch = 1; }
/// let device = Cpu::default();
/// let x: Tensor<(Batch, SeqLen, Product<NumHeads, HeadDim>), f32, Cpu> = device.zeros();
/// let mask = AttentionMask::from_fn((Batch, SeqLen, SeqLen), |_, q, k| k <= q);
/// let bias = alibi(&device, NumHeads, 0, SeqLen, SeqLen)?;
/// let options = AttentionOptions { bias: Some(bias), dropout: 0.1, ..AttentionOptions::default() };
/// let attended = multi_head_attention(x.clone(), x.clone(), x, &mask, options)?;
/// assert_eq!(attended.as_vec(), [0.0; 6]);
/// # Ok::<(), OpError>(())
/// ```
#[derive(Clone)]
pub struct AttentionOptions<H: AnyDim, Q: Dim, K: Dim, E: Real = f32, D: Storage<E> = Cpu, T = NoneTape> {
    /// The factor of `q kᵀ`: `1 / √QKDim` by default.
    pub scale: AttentionScale,
    /// What a hidden key's logit becomes: the lowest number by default.
    pub mask_fill: MaskFill,
    /// The probability with which training drops a weight: 0 by default.
    pub dropout: f64,
    /// A number that is added to the logit of each head, query and key, such as [`alibi`](crate::ops::alibi) or the
    /// learned bias of relative positions ([Raffel et al., 2019](https://arxiv.org/abs/1910.10683), 2.1); none by
    /// default. It has the tape of the query: a constant bias gets it by `alibi(..)?.retaped()`.
    pub bias: Option<Tensor<(H, Q, K), E, D, T>>,
}

impl<H: AnyDim, Q: Dim, K: Dim, E: Real, D: Storage<E>, T> Default for AttentionOptions<H, Q, K, E, D, T> {
    fn default() -> Self {
        Self { scale: AttentionScale::HeadDim, mask_fill: MaskFill::MinValue, dropout: 0.0, bias: None }
    }
}
