use crate::{
    dims::{ConstDim, Even, name},
    mask::PaddingRule,
    ops::{Activation, AttentionScale, MaskFill, NormKind},
};

/// What the blocks of a model keep to themselves (the post's `InstanceSingleton`s): dimensions that
/// no caller has to know, so that they do not crowd the types that callers see.
///
/// It is implemented by a type of the user's that has no value, one line for each dimension.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub NumHeads = 7; pub HeadDim = 5; pub HiddenDim = 13; }
///
/// pub struct Small;
/// impl Arch for Small {
///     type NumHeads = NumHeads;
///     type QKDim = HeadDim;
///     type VODim = HeadDim;
///     type HiddenDim = HiddenDim;
///     type Conventions = TypedTransformer;
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an architecture",
    label = "`{Self}` does not say how many heads there are, nor how wide they are",
    note = "an architecture is a type of your own that implements `Arch`, one line for each dimension"
)]
pub trait Arch: 'static {
    /// Number of heads of every attention.
    type NumHeads: ConstDim;
    /// Size of a head's queries and keys (the post's `QKSize`).
    type QKDim: ConstDim;
    /// Size of a head's values and outputs (the post's `VOSize`).
    type VODim: ConstDim;
    /// Width between the two linear maps of a feed-forward block.
    type HiddenDim: ConstDim;
    /// The conventions that the blocks follow.
    type Conventions: Conventions;
    /// Probability with which an attention weight is dropped in training.
    const ATTENTION_DROPOUT: f64 = 0.0;
    /// Probability with which an element of an embedding or of an attention's output is dropped in
    /// training.
    const DROPOUT: f64 = 0.0;
    /// Probability with which an element of a feed-forward block's output is dropped in training.
    const FEED_FORWARD_DROPOUT: f64 = 0.0;
    /// Hidden layers of a feed-forward block after its first.
    const FEED_FORWARD_EXTRA_LAYERS: usize = 0;
}

/// The conventions in which published transformers differ, as types and constants: they are known
/// when a model is compiled, and a model of one style is of another type than one of another.
///
/// The defaults are those of *The Typed Transformer*; the styles of the posts are in
/// [`models`](crate::models).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a style",
    label = "`{Self}` does not say which conventions the blocks follow",
    note = "the styles of the posts are in `typed_transformer::models`; a type of your own is one when it implements `Conventions`"
)]
pub trait Conventions: 'static {
    /// The non-linearity of the feed-forward block.
    type Activation: Activation;
    /// How positions become vectors.
    type Positions: PositionKind;
    /// What padding hides.
    type Padding: PaddingRule;
    /// How vectors are normalized.
    const NORM: NormKind = NormKind::LayerNorm;
    /// Where a block normalizes them.
    const NORM_PLACEMENT: NormPlacement = NormPlacement::Post;
    /// Whether a token's logit is measured against the vector that embeds it, so that there is one
    /// table for both ([Press and Wolf, 2016](https://arxiv.org/abs/1608.05859)).
    const TIED_LOGITS: bool = false;
    /// Whether the four projections of an attention have biases.
    const ATTENTION_BIAS: bool = false;
    /// Whether the linear maps of a feed-forward block have biases.
    const FEED_FORWARD_BIAS: bool = true;
    /// Whether layer norms have biases; [`NormKind::RmsNorm`] never has.
    const NORM_BIAS: bool = true;
    /// Whether logits have a bias for each token.
    const LOGIT_BIAS: bool = true;
    /// What the product of a query and a key is divided by.
    const ATTENTION_SCALE: AttentionScale = AttentionScale::HeadDim;
    /// What becomes of the logits of hidden keys.
    const MASK_FILL: MaskFill = MaskFill::MinValue;
    /// By what a token's embedding is multiplied before positions are added to it.
    const EMBEDDING_SCALE: WidthScale = WidthScale::One;
    /// The deviation of the normal distribution that new embeddings are drawn from.
    const EMBEDDING_INIT_STD: WidthScale = WidthScale::One;
    /// The deviation of the normal distribution that new weights of linear maps inside the blocks are
    /// drawn from, if it is not to be [`init::uniform`](super::init::uniform).
    const WEIGHT_INIT_STD: Option<f64> = None;
    /// Whether the sum of token and position is normalized.
    const EMBEDDING_NORM: bool = true;
    /// What a norm adds to the variance or to the mean square.
    const NORM_EPSILON: f64 = 1e-5;

    /// What the style decides without a trace in the parameters' paths and sizes, each by its name.
    ///
    /// A [saved](crate::weights::save) model keeps them, and its weights do not become those of a model that would
    /// compute something else from them.
    ///
    /// ```
    /// use typed_transformer::{nn::Conventions, prelude::*};
    /// assert_eq!(TypedTransformer::conventions()[0], ("activation", "Gelu".to_string()));
    /// ```
    fn conventions() -> Vec<(&'static str, String)> {
        vec![
            ("activation", name::<Self::Activation>()),
            ("positions", name::<Self::Positions>()),
            ("padding", name::<Self::Padding>()),
            ("norm", format!("{:?}", Self::NORM)),
            ("norm placement", format!("{:?}", Self::NORM_PLACEMENT)),
            ("norm epsilon", Self::NORM_EPSILON.to_string()),
            ("attention scale", format!("{:?}", Self::ATTENTION_SCALE)),
            ("masked logit", format!("{:?}", Self::MASK_FILL)),
            ("embedding scale", format!("{:?}", Self::EMBEDDING_SCALE)),
        ]
    }
}

/// Where a block normalizes, `f` being one of its sublayers: an attention or a feed-forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormPlacement {
    /// What comes out of each sublayer: `norm(x + f(x))` (*Attention Is All You Need*, 3.1).
    Post,
    /// What goes into each sublayer: `x + f(norm(x))`, and what comes out of the last block
    /// ([Radford et al., 2019](https://openai.com/index/better-language-models/), 2.3).
    Pre,
    /// As [`Post`](Self::Post), by one norm for all sublayers of a block (*Learning the
    /// Transformer*).
    PostShared,
}

impl NormPlacement {
    /// Whether each sublayer has a norm of its own.
    pub const fn per_sublayer(self) -> bool {
        !self.per_block()
    }

    /// Whether each block has a norm beside its sublayers.
    pub const fn per_block(self) -> bool {
        matches!(self, Self::PostShared)
    }

    /// Whether there is a norm after the last block.
    pub const fn has_final_norm(self) -> bool {
        matches!(self, Self::Pre)
    }
}

/// A factor that may depend on the width of an embedding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WidthScale {
    /// 1.
    One,
    /// The same for every width.
    Const(f64),
    /// The square root of the width ([*Attention Is All You Need*](https://arxiv.org/abs/1706.03762), 3.4).
    Sqrt,
    /// 1 over the square root of the width.
    InvSqrt,
}

impl WidthScale {
    /// The factor for `width` columns.
    ///
    /// ```
    /// use typed_transformer::nn::WidthScale;
    /// assert_eq!(WidthScale::Sqrt.of(16), 4.0);
    /// assert_eq!(WidthScale::InvSqrt.of(16), 0.25);
    /// ```
    #[must_use]
    pub fn of(self, width: usize) -> f64 {
        let width = width as f64;
        match self {
            Self::One => 1.0,
            Self::Const(factor) => factor,
            Self::Sqrt => width.sqrt(),
            Self::InvSqrt => width.sqrt().recip(),
        }
    }
}

/// How positions become vectors: [`Learned`] or [`Sinusoidal`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kind of positions",
    label = "`{Self}` does not say how positions become vectors",
    note = "the kinds are `Learned` and `Sinusoidal`"
)]
pub trait PositionKind: 'static {
    /// Whether there is a table of them among the parameters.
    const LEARNED: bool;
}

/// A table of parameters, a row for each position (*The Typed Transformer*).
#[derive(Clone, Copy, Debug, Default)]
pub struct Learned;

/// Sines and cosines of falling frequency (*Attention Is All You Need*).
#[derive(Clone, Copy, Debug, Default)]
pub struct Sinusoidal;

#[diagnostic::do_not_recommend]
impl PositionKind for Learned {
    const LEARNED: bool = true;
}
#[diagnostic::do_not_recommend]
impl PositionKind for Sinusoidal {
    const LEARNED: bool = false;
}

/// A kind of positions that can fill vectors of width `M`: [`Learned`] ones any, [`Sinusoidal`] ones
/// those of even width.
pub trait PositionsFor<M: ConstDim>: PositionKind {}
impl<M: ConstDim> PositionsFor<M> for Learned {}
impl<M: Even> PositionsFor<M> for Sinusoidal {}

/// An [`Arch`] whose positions can fill embeddings of width `EmbedDim`.
///
/// Every architecture is one for the widths that its kind of positions takes; nobody implements it
/// by hand.
pub trait HasPositionsFor<EmbedDim: ConstDim>: Arch {}
impl<A, EmbedDim: ConstDim> HasPositionsFor<EmbedDim> for A where
    A: Arch<Conventions: Conventions<Positions: PositionsFor<EmbedDim>>>
{
}
