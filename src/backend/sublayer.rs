//! What a sublayer of a block is made of, as its modules hand it to a [`Backend`].

use super::Backend;
use crate::{
    dims::{ConstDim, Dim, Product},
    mask::AttentionMask,
    ops::{Activation, AttentionScale, MaskFill, NormKind, OpError, Real, try_dropout},
};
use dfdx::tensor::{Tape, Tensor, WithEmptyTape};

/// A linear map: `x Wᵀ + b`.
pub struct Affine<'a, InDim: ConstDim, OutDim: ConstDim, E: Real, D: Backend<E>> {
    pub(crate) weight: &'a Tensor<(OutDim, InDim), E, D>,
    pub(crate) bias: Option<&'a Tensor<(OutDim,), E, D>>,
}

impl<InDim: ConstDim, OutDim: ConstDim, E: Real, D: Backend<E>> Affine<'_, InDim, OutDim, E, D> {
    pub(super) fn try_apply<B: Dim, S: Dim, T: Tape<E, D>>(
        &self,
        input: Tensor<(B, S, InDim), E, D, T>,
    ) -> Result<Tensor<(B, S, OutDim), E, D, T>, OpError> {
        D::try_linear(input, self.weight, self.bias)
    }
}

/// A norm.
pub struct Normalize<'a, M: ConstDim, E: Real, D: Backend<E>> {
    pub(crate) kind: NormKind,
    pub(crate) weight: &'a Tensor<(M,), E, D>,
    pub(crate) bias: Option<&'a Tensor<(M,), E, D>>,
    pub(crate) epsilon: f64,
}

impl<M: ConstDim, E: Real, D: Backend<E>> Normalize<'_, M, E, D> {
    pub(crate) fn try_apply<B: Dim, S: Dim, T: Tape<E, D>>(
        &self,
        input: Tensor<(B, S, M), E, D, T>,
    ) -> Result<Tensor<(B, S, M), E, D, T>, OpError> {
        match self.kind {
            NormKind::LayerNorm => D::try_layer_norm(input, self.weight, self.bias, self.epsilon),
            NormKind::RmsNorm => D::try_rms_norm(input, self.weight, self.epsilon),
        }
    }
}

/// What stands around a sublayer `f`: `x + f(x)`, and a norm.
pub enum Around<'a, M: ConstDim, E: Real, D: Backend<E>> {
    /// `x + f(norm(x))`.
    Before(Normalize<'a, M, E, D>),
    /// `norm(x + f(x))`.
    After(Normalize<'a, M, E, D>),
    /// `x + f(x)`.
    Nothing,
}

impl<M: ConstDim, E: Real, D: Backend<E>> Around<'_, M, E, D> {
    pub(crate) fn try_apply<B: Dim, S: Dim, T: Tape<E, D>>(
        &self,
        input: Tensor<(B, S, M), E, D, T>,
        sublayer: impl FnOnce(Tensor<(B, S, M), E, D, T>) -> Result<Tensor<(B, S, M), E, D, T>, OpError>,
    ) -> Result<Tensor<(B, S, M), E, D, T>, OpError> {
        let copy = input.with_empty_tape();
        match self {
            Self::Before(norm) => D::try_residual(input, sublayer(norm.try_apply(copy)?)?),
            Self::After(norm) => norm.try_apply(D::try_residual(input, sublayer(copy)?)?),
            Self::Nothing => D::try_residual(input, sublayer(copy)?),
        }
    }
}

/// The maps around the heads of an attention, and its conventions.
pub struct HeadMaps<
    'a,
    QDim: ConstDim,
    KVDim: ConstDim,
    H: ConstDim,
    QKDim: ConstDim,
    VODim: ConstDim,
    E: Real,
    D: Backend<E>,
> {
    pub(crate) query: Affine<'a, QDim, Product<H, QKDim>, E, D>,
    pub(crate) key: Affine<'a, KVDim, Product<H, QKDim>, E, D>,
    pub(crate) value: Affine<'a, KVDim, Product<H, VODim>, E, D>,
    pub(crate) output: Affine<'a, Product<H, VODim>, QDim, E, D>,
    pub(crate) scale: AttentionScale,
    pub(crate) masked: MaskFill,
    /// Probability with which a weight is dropped in training.
    pub(crate) weight_dropout: f64,
    /// Probability with which an element of the output is dropped in training.
    pub(crate) dropout: f64,
}

impl<QDim: ConstDim, KVDim: ConstDim, H: ConstDim, QKDim: ConstDim, VODim: ConstDim, E: Real, D: Backend<E>>
    HeadMaps<'_, QDim, KVDim, H, QKDim, VODim, E, D>
{
    /// Whether anything is dropped in training.
    pub(super) fn drops(&self) -> bool {
        self.weight_dropout != 0.0 || self.dropout != 0.0
    }

    fn try_attend<B: Dim, Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        query: Tensor<(B, Q, QDim), E, D, T>,
        source: Tensor<(B, K, KVDim), E, D, T>,
        mask: &AttentionMask<B, Q, K>,
    ) -> Result<Tensor<(B, Q, QDim), E, D, T>, OpError> {
        let attended = D::try_multi_head_attention(
            self.query.try_apply(query)?,
            self.key.try_apply(source.with_empty_tape())?,
            self.value.try_apply(source)?,
            mask,
            self.scale,
            self.masked,
            self.weight_dropout,
        )?;
        try_dropout(self.output.try_apply(attended)?, self.dropout)
    }
}

/// The definition of [`Backend::try_feed_forward`].
pub(super) fn try_feed_forward<
    B: Dim,
    S: Dim,
    M: ConstDim,
    Hidden: ConstDim,
    F: Activation,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
    input: Tensor<(B, S, M), E, D, T>,
    hidden: &Affine<'_, M, Hidden, E, D>,
    output: &Affine<'_, Hidden, M, E, D>,
    around: &Around<'_, M, E, D>,
    dropout: f64,
) -> Result<Tensor<(B, S, M), E, D, T>, OpError> {
    around.try_apply(input, |x| {
        let active = F::try_apply(hidden.try_apply(x)?)?;
        try_dropout(output.try_apply(active)?, dropout)
    })
}

/// The definition of [`Backend::try_self_attention`].
pub(super) fn try_self_attention<
    B: Dim,
    S: Dim,
    M: ConstDim,
    H: ConstDim,
    QKDim: ConstDim,
    VODim: ConstDim,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
    input: Tensor<(B, S, M), E, D, T>,
    maps: &HeadMaps<'_, M, M, H, QKDim, VODim, E, D>,
    mask: &AttentionMask<B, S, S>,
    around: &Around<'_, M, E, D>,
) -> Result<Tensor<(B, S, M), E, D, T>, OpError> {
    around.try_apply(input, |x| maps.try_attend(x.with_empty_tape(), x, mask))
}

/// The definition of [`Backend::try_cross_attention`].
pub(super) fn try_cross_attention<
    B: Dim,
    Q: Dim,
    K: Dim,
    QDim: ConstDim,
    KVDim: ConstDim,
    H: ConstDim,
    QKDim: ConstDim,
    VODim: ConstDim,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
    query: Tensor<(B, Q, QDim), E, D, T>,
    source: Tensor<(B, K, KVDim), E, D, T>,
    maps: &HeadMaps<'_, QDim, KVDim, H, QKDim, VODim, E, D>,
    mask: &AttentionMask<B, Q, K>,
    around: &Around<'_, QDim, E, D>,
) -> Result<Tensor<(B, Q, QDim), E, D, T>, OpError> {
    around.try_apply(query, |x| maps.try_attend(x, source, mask))
}
