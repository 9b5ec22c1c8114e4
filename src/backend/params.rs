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
pub struct LinearParams<'a, InDim: Dim, OutDim: Dim, E: Real, D: Backend<E>> {
    pub(crate) weight: &'a Tensor<(OutDim, InDim), E, D>,
    pub(crate) bias: Option<&'a Tensor<(OutDim,), E, D>>,
}

/// A norm.
pub struct NormParams<'a, M: ConstDim, E: Real, D: Backend<E>> {
    pub(crate) kind: NormKind,
    pub(crate) weight: &'a Tensor<(M,), E, D>,
    pub(crate) bias: Option<&'a Tensor<(M,), E, D>>,
    pub(crate) epsilon: f64,
}

/// The residual connection and the norm of a sublayer `f`.
pub enum ResidualNormParams<'a, M: ConstDim, E: Real, D: Backend<E>> {
    /// `x + f(norm(x))`.
    PreNorm(NormParams<'a, M, E, D>),
    /// `norm(x + f(x))`.
    PostNorm(NormParams<'a, M, E, D>),
    /// `x + f(x)`.
    Plain,
}

/// The two linear maps of a feed-forward layer, and its conventions.
pub struct FeedForwardParams<'a, M: ConstDim, Hidden: ConstDim, E: Real, D: Backend<E>> {
    pub(crate) hidden: LinearParams<'a, M, Hidden, E, D>,
    pub(crate) output: LinearParams<'a, Hidden, M, E, D>,
    /// `None` for a user-defined activation.
    pub(crate) activation: Option<ActivationKind>,
}

/// The four projections of an attention, and its conventions.
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
    pub(crate) query_proj: LinearParams<'a, QDim, Product<H, QKDim>, E, D>,
    pub(crate) key_proj: LinearParams<'a, KVDim, Product<H, QKDim>, E, D>,
    pub(crate) value_proj: LinearParams<'a, KVDim, Product<H, VODim>, E, D>,
    pub(crate) output_proj: LinearParams<'a, Product<H, VODim>, QDim, E, D>,
    pub(crate) scale: AttentionScale,
    pub(crate) mask_fill: MaskFill,
}
