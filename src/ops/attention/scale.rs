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
