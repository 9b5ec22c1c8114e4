//! Typed arguments of the fused kernels: parameters and conventions.

use super::{ActivationKind, Backend, MaskFill, NormKind};
use crate::{
    dims::{ConstDim, Dim, Product},
    error::Real,
};
use dfdx::tensor::Tensor;
use std::fmt;

/// The factor by which attention multiplies the product of a query and a key. It keeps the logits from
/// growing with the number of columns.
///
/// ```
/// use typed_transformer::{nn::Conventions, prelude::*};
/// assert_eq!(TypedTransformer::ATTENTION_SCALE, AttentionScale::HeadDim);
/// assert_eq!(AttentionScale::One.factor(4, 9), 1.0);
/// ```
#[derive(Clone, Copy, PartialEq)]
pub struct AttentionScale(Scale);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Scale {
    HeadDim,
    EmbedDim,
    One,
    Constant(f64),
}

// These are not public variants, because rustc spells a user's dimension out by its module if a public type or variant
// has its name.
#[allow(non_upper_case_globals)]
impl AttentionScale {
    /// `1 / √QKDim`, for the size of one head (*Attention Is All You Need*, 3.2.1).
    pub const HeadDim: Self = Self(Scale::HeadDim);
    /// `1 / √(H · QKDim)`, for the size of all heads together. This size is the width of the embedding if the
    /// heads divide it among themselves (*Transformer from Scratch*).
    pub const EmbedDim: Self = Self(Scale::EmbedDim);
    /// 1: the product itself, as in T5 ([Raffel et al., 2019](https://arxiv.org/abs/1910.10683)).
    pub const One: Self = Self(Scale::One);

    /// This number.
    #[allow(non_snake_case)]
    #[must_use]
    pub const fn Constant(factor: f64) -> Self {
        Self(Scale::Constant(factor))
    }

    /// The factor for `heads` heads of `qk_dim` columns.
    ///
    /// ```
    /// use typed_transformer::ops::AttentionScale;
    /// assert_eq!(AttentionScale::HeadDim.factor(4, 9), 1.0 / 3.0);
    /// assert_eq!(AttentionScale::EmbedDim.factor(4, 9), 1.0 / 6.0);
    /// assert_eq!(AttentionScale::Constant(0.25).factor(4, 9), 0.25);
    /// ```
    pub fn factor(self, heads: usize, qk_dim: usize) -> f64 {
        match self.0 {
            Scale::HeadDim => 1.0 / (qk_dim as f64).sqrt(),
            Scale::EmbedDim => 1.0 / ((heads * qk_dim) as f64).sqrt(),
            Scale::One => 1.0,
            Scale::Constant(factor) => factor,
        }
    }
}

impl fmt::Debug for AttentionScale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A linear map `x Wᵀ + b`.
///
/// ```
/// use typed_transformer::{backend::{Backend, LinearParams}, ops::linear, prelude::*};
/// dims! { Batch = 2; InDim = 3; OutDim = 4; }
/// let cpu = Cpu::seed_from_u64(0);
/// let x: Tensor<(Batch, InDim), f32, Cpu> = cpu.sample_normal();
/// let weight: Tensor<(OutDim, InDim), f32, Cpu> = cpu.sample_normal();
/// let params = LinearParams { weight: &weight, bias: None };
/// let by_kernel = Cpu::linear_kernel(x.clone(), params, (Batch, OutDim))?;
/// assert_eq!(by_kernel.as_vec(), linear(x, &weight, None).as_vec());
/// # Ok::<(), typed_transformer::ops::OpError>(())
/// ```
pub struct LinearParams<'a, InDim: Dim, OutDim: Dim, E: Real, D: Backend<E>> {
    /// The weight.
    pub weight: &'a Tensor<(OutDim, InDim), E, D>,
    /// The bias.
    pub bias: Option<&'a Tensor<(OutDim,), E, D>>,
}

/// A norm.
///
/// ```
/// use typed_transformer::{backend::{Backend, NormParams}, nn::NormKind, ops::rms_norm, prelude::*};
/// dims! { Batch = 2; EmbedDim = 4; }
/// let cpu = Cpu::seed_from_u64(0);
/// let x: Tensor<(Batch, EmbedDim), f32, Cpu> = cpu.sample_normal();
/// let weight: Tensor<(EmbedDim,), f32, Cpu> = cpu.sample_normal();
/// let params = NormParams { kind: NormKind::RmsNorm, weight: &weight, bias: None, epsilon: 1e-5 };
/// assert_eq!(Cpu::norm_kernel(x.clone(), params)?.as_vec(), rms_norm(x, &weight, 1e-5).as_vec());
/// # Ok::<(), typed_transformer::ops::OpError>(())
/// ```
pub struct NormParams<'a, M: ConstDim, E: Real, D: Backend<E>> {
    /// What is normalized.
    pub kind: NormKind,
    /// The factor of each column.
    pub weight: &'a Tensor<(M,), E, D>,
    /// What is added to each column.
    pub bias: Option<&'a Tensor<(M,), E, D>>,
    /// What is added to the variance, or to the mean square.
    pub epsilon: f64,
}

/// The residual connection and the norm of a sublayer `f`. [`FeedForwardParams`] has an example.
pub enum ResidualNormParams<'a, M: ConstDim, E: Real, D: Backend<E>> {
    /// `x + f(norm(x))`.
    PreNorm(NormParams<'a, M, E, D>),
    /// `norm(x + f(x))`.
    PostNorm(NormParams<'a, M, E, D>),
    /// `x + f(x)`.
    Plain,
}

/// The two linear maps of a feed-forward layer, and its conventions.
///
/// ```
/// use typed_transformer::{
///     backend::{ActivationKind, Backend, FeedForwardParams, LinearParams, ResidualNormParams},
///     ops::{Activation, Relu, linear, residual},
///     prelude::*,
/// };
/// dims! { Batch = 2; EmbedDim = 3; HiddenDim = 4; }
/// let cpu = Cpu::seed_from_u64(0);
/// let x: Tensor<(Batch, EmbedDim), f32, Cpu> = cpu.sample_normal();
/// let hidden: Tensor<(HiddenDim, EmbedDim), f32, Cpu> = cpu.sample_normal();
/// let output: Tensor<(EmbedDim, HiddenDim), f32, Cpu> = cpu.sample_normal();
/// let params = FeedForwardParams {
///     hidden: LinearParams { weight: &hidden, bias: None },
///     output: LinearParams { weight: &output, bias: None },
///     activation: Some(ActivationKind::Relu),
/// };
/// let by_kernel = Cpu::feed_forward_kernel(x.clone(), &params, &ResidualNormParams::Plain)?;
/// let activated = Relu::try_apply(linear(x.clone(), &hidden, None))?;
/// assert_eq!(by_kernel.as_vec(), residual(x, linear(activated, &output, None)).as_vec());
/// # Ok::<(), typed_transformer::ops::OpError>(())
/// ```
pub struct FeedForwardParams<'a, M: ConstDim, Hidden: ConstDim, E: Real, D: Backend<E>> {
    /// The map before the activation.
    pub hidden: LinearParams<'a, M, Hidden, E, D>,
    /// The map after the activation.
    pub output: LinearParams<'a, Hidden, M, E, D>,
    /// The activation; `None` for a user-defined one, for which a device has no kernel.
    pub activation: Option<ActivationKind>,
}

/// The four projections of an attention, and its conventions.
/// [`self_attention_kernel`](Backend::self_attention_kernel) and
/// [`cross_attention_kernel`](Backend::cross_attention_kernel) take them.
///
/// ```
/// use typed_transformer::{
///     backend::{AttentionParams, Backend, LinearParams, ResidualNormParams},
///     ops::{AttentionScale, MaskFill},
///     prelude::*,
/// };
/// dims! { Batch = 1; SeqLen = 3; EmbedDim = 4; NumHeads = 2; HeadDim = 2; }
/// let cpu = Cpu::seed_from_u64(0);
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = cpu.sample_normal();
/// let [query, key, value]: [Tensor<(Product<NumHeads, HeadDim>, EmbedDim), f32, Cpu>; 3] =
///     std::array::from_fn(|_| cpu.sample_normal());
/// let output: Tensor<(EmbedDim, Product<NumHeads, HeadDim>), f32, Cpu> = cpu.zeros();
/// let params = AttentionParams {
///     query_proj: LinearParams { weight: &query, bias: None },
///     key_proj: LinearParams { weight: &key, bias: None },
///     value_proj: LinearParams { weight: &value, bias: None },
///     output_proj: LinearParams { weight: &output, bias: None },
///     scale: AttentionScale::HeadDim,
///     mask_fill: MaskFill::MinValue,
/// };
/// let mask = mk_mask::<CausalMask, PadSourceKeys, _, _>(&PaddingMask::without_padding((Batch, SeqLen)));
/// let by_kernel = Cpu::self_attention_kernel(x.clone(), &params, &mask, &ResidualNormParams::Plain)?;
/// assert_eq!(by_kernel.as_vec(), x.as_vec(), "the output projection is zero, so the residual remains");
/// # Ok::<(), typed_transformer::ops::OpError>(())
/// ```
pub struct AttentionParams<
    'a,
    QDim: ConstDim,
    KVDim: ConstDim,
    H: ConstDim,
    QKDim: ConstDim,
    VODim: ConstDim,
    E: Real,
    D: Backend<E>,
> {
    /// From the query's embeddings to the queries of all heads.
    pub query_proj: LinearParams<'a, QDim, Product<H, QKDim>, E, D>,
    /// From the key's embeddings to the keys of all heads.
    pub key_proj: LinearParams<'a, KVDim, Product<H, QKDim>, E, D>,
    /// From the key's embeddings to the values of all heads.
    pub value_proj: LinearParams<'a, KVDim, Product<H, VODim>, E, D>,
    /// From the outputs of all heads to the query's embeddings.
    pub output_proj: LinearParams<'a, Product<H, VODim>, QDim, E, D>,
    /// The factor of the scores.
    pub scale: AttentionScale,
    /// How a key is hidden.
    pub mask_fill: MaskFill,
}
