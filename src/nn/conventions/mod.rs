//! The decisions of a model for all its layers: the inner dimensions by its [`Arch`], and its [`Conventions`].

mod positions;

pub use positions::{Learned, NoPositions, PositionKind, PositionsFor, PositionsInHeads, RotaryPositions, Sinusoidal};

use crate::dims::{AnyDim, ConstDim, Dim, Factor, name};
use crate::mask::PaddingRule;
use crate::nn::NormKind;
use crate::ops::{Activation, AttentionOptions, AttentionScale, MaskFill, Real, Rotary};
use crate::weights::{ATTENTION_SCALE, ROTARY_POSITIONS};
use dfdx::tensor::Storage;

/// The inner configuration of a model (the post's `InstanceSingleton`): the dimensions of its blocks that callers
/// need not know, and its conventions.
///
/// Implement it for an empty struct of your own, with one line per dimension.
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
    message = "expected an architecture",
    label = "`{Self}` does not implement `Arch`",
    note = "implement `Arch` for an empty struct of your own, with one line per dimension"
)]
pub trait Arch: 'static {
    /// The number of heads of every attention. Ranks may divide it, so the bound is [`Factor`], not [`ConstDim`].
    type NumHeads: Factor;
    /// The size of a head's queries and keys (the post's `QKSize`). [`Quotient`](crate::dims::Quotient)`<EmbedDim,
    /// NumHeads>` ties it to the width. The number of heads then has to divide the width.
    type QKDim: ConstDim;
    /// The size of a head's values and outputs (the post's `VOSize`).
    type VODim: ConstDim;
    /// The width between the two linear maps of a feed-forward layer.
    type HiddenDim: Factor;
    /// The conventions of the blocks.
    type Conventions: Conventions<Positions: PositionsInHeads<Self::QKDim>>;
    /// The probability with which training drops an attention weight.
    const ATTENTION_DROPOUT: f64 = 0.0;
    /// The probability with which training drops an element of an embedding or of an attention's output.
    const DROPOUT: f64 = 0.0;
    /// The probability with which training drops an element of a feed-forward layer's output.
    const FEED_FORWARD_DROPOUT: f64 = 0.0;
    /// The number of extra hidden layers of a feed-forward layer.
    const FEED_FORWARD_EXTRA_LAYERS: usize = 0;

    /// The options of attention: scale and mask fill from the conventions, and dropout of weights at the rate
    /// [`ATTENTION_DROPOUT`](Self::ATTENTION_DROPOUT).
    ///
    /// ```
    /// use typed_transformer::{doctest::*, ops::AttentionOptions, prelude::*};
    /// let options: AttentionOptions<NumHeads, SeqLen, SeqLen> = Model::attention_options();
    /// assert_eq!((options.scale, options.dropout), (AttentionScale::HeadDim, 0.0));
    /// ```
    #[must_use]
    fn attention_options<H: AnyDim, Q: Dim, K: Dim, E: Real, D: Storage<E>, T>() -> AttentionOptions<H, Q, K, E, D, T> {
        let (scale, mask_fill) = (Self::Conventions::ATTENTION_SCALE, Self::Conventions::MASK_FILL);
        AttentionOptions { scale, mask_fill, dropout: Self::ATTENTION_DROPOUT, bias: None }
    }
}

/// An [`Arch`] whose kind of positions fits the width `EmbedDim`; sinusoidal ones fit even widths. Every such `Arch`
/// implements this trait.
///
/// ```
/// use typed_transformer::{doctest::*, nn::HasPositionsFor};
/// fn fits<A: HasPositionsFor<EmbedDim>>() {}
/// fits::<Model>();
/// ```
pub trait HasPositionsFor<EmbedDim: ConstDim>:
    Arch<Conventions: Conventions<Positions: PositionsFor<EmbedDim>>>
{
}
impl<A, EmbedDim: ConstDim> HasPositionsFor<EmbedDim> for A where
    A: Arch<Conventions: Conventions<Positions: PositionsFor<EmbedDim>>>
{
}

/// The conventions in which published transformers differ: types and constants, known at compile time. Two models
/// with different conventions have different types.
///
/// The defaults are those of *The Typed Transformer*. [`models`](crate::models) has the conventions of every post.
///
/// ```
/// use typed_transformer::{nn::{Conventions, Learned, NormPlacement}, ops::Relu, prelude::*};
/// pub struct PreNorm;
/// impl Conventions for PreNorm {
///     type Activation = Relu;
///     type Positions = Learned;
///     type PaddingRule = PadSourceKeys;
///     const NORM_PLACEMENT: NormPlacement = NormPlacement::Pre;
/// }
/// assert!(PreNorm::conventions().contains(&("norm placement", "Pre".to_string())));
/// ```
#[diagnostic::on_unimplemented(
    message = "expected the conventions of a model",
    label = "`{Self}` does not implement `Conventions`",
    note = "the conventions of the posts are in `typed_transformer::models`; implement `Conventions` for a type of your own"
)]
pub trait Conventions: 'static {
    /// The activation of the feed-forward layer.
    type Activation: Activation;
    /// The kind of position embedding.
    type Positions: PositionKind;
    /// The positions that padding hides.
    type PaddingRule: PaddingRule;
    /// The kind of norm.
    const NORM: NormKind = NormKind::LayerNorm;
    /// The place of the norm in a block.
    const NORM_PLACEMENT: NormPlacement = NormPlacement::Post;
    /// Whether the logits use the embedding table as their weight ([Press and Wolf,
    /// 2016](https://arxiv.org/abs/1608.05859)).
    const TIED_LOGITS: bool = false;
    /// Whether the four projections of an attention have biases.
    const ATTENTION_BIAS: bool = false;
    /// Whether the linear maps of a feed-forward layer have biases.
    const FEED_FORWARD_BIAS: bool = true;
    /// Whether layer norms have biases; [`NormKind::RmsNorm`] has none.
    const NORM_BIAS: bool = true;
    /// Whether the logits have a bias for each token.
    const LOGIT_BIAS: bool = true;
    /// The factor of the product of a query and a key.
    const ATTENTION_SCALE: AttentionScale = AttentionScale::HeadDim;
    /// The rotation of queries and keys by their positions in self-attention, for [`RotaryPositions`]; `None` means
    /// [`Rotary::ROFORMER`]. With other positions it must be `None`.
    const ROTARY: Option<Rotary> = None;
    /// The logit of a hidden key.
    const MASK_FILL: MaskFill = MaskFill::MinValue;
    /// The factor of a token's embedding before its position is added.
    const EMBEDDING_SCALE: WidthScale = WidthScale::One;
    /// The standard deviation of new embeddings, which are normal with mean 0.
    const EMBEDDING_INIT_STD: WidthScale = WidthScale::One;
    /// The standard deviation of new weight matrices inside the blocks, normal with mean 0. `None` means
    /// [`init::linear`](crate::nn::init::linear).
    const WEIGHT_INIT_STD: Option<f64> = None;
    /// Whether a norm follows the sum of token and position.
    const EMBEDDING_NORM: bool = true;
    /// The number that a norm adds to the variance or to the mean square.
    const NORM_EPSILON: f64 = 1e-5;

    /// The conventions that cannot be inferred from parameter names and shapes, as names and values.
    ///
    /// [`weights::save`](crate::weights::save) stores them in the file, and [`weights::load`](crate::weights::load)
    /// refuses a model with other conventions.
    fn conventions() -> Vec<(&'static str, String)> {
        let rotary = Self::ROTARY.map(|rotary| (ROTARY_POSITIONS, format!("{rotary:?}")));
        let conventions = vec![
            ("activation", name::<Self::Activation>()),
            ("positions", name::<Self::Positions>()),
            ("padding", name::<Self::PaddingRule>()),
            ("norm", format!("{:?}", Self::NORM)),
            ("norm placement", format!("{:?}", Self::NORM_PLACEMENT)),
            ("norm epsilon", Self::NORM_EPSILON.to_string()),
            (ATTENTION_SCALE, format!("{:?}", Self::ATTENTION_SCALE)),
            ("masked logit", format!("{:?}", Self::MASK_FILL)),
            ("embedding scale", format!("{:?}", Self::EMBEDDING_SCALE)),
        ];
        conventions.into_iter().chain(rotary).collect()
    }
}

/// The place of the norm in a block. `f` is a sublayer: an attention or a feed-forward layer.
///
/// ```
/// use typed_transformer::nn::NormPlacement;
/// assert!(NormPlacement::Pre.has_final_norm() && !NormPlacement::Post.has_final_norm());
/// assert!(NormPlacement::PostShared.per_block());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormPlacement {
    /// After each sublayer: `norm(x + f(x))` (*Attention Is All You Need*, 3.1).
    Post,
    /// Before each sublayer, `x + f(norm(x))`, and after the last block
    /// ([Radford et al., 2019](https://openai.com/index/better-language-models/), 2.3).
    Pre,
    /// Like [`Post`](Self::Post), with one norm for all sublayers of a block (*Learning the Transformer*).
    PostShared,
}

impl NormPlacement {
    /// Whether each sublayer has a norm of its own.
    pub const fn per_sublayer(self) -> bool {
        !self.per_block()
    }

    /// Whether each block has a norm that its sublayers share.
    pub const fn per_block(self) -> bool {
        matches!(self, Self::PostShared)
    }

    /// Whether there is a norm after the last block.
    pub const fn has_final_norm(self) -> bool {
        matches!(self, Self::Pre)
    }
}

/// A factor that may depend on the width of the embedding.
///
/// ```
/// use typed_transformer::nn::WidthScale;
/// let scales = [WidthScale::One, WidthScale::Constant(0.02), WidthScale::Sqrt, WidthScale::InvSqrt];
/// assert_eq!(scales.map(|scale| scale.of(16)), [1.0, 0.02, 4.0, 0.25]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WidthScale {
    /// 1.
    One,
    /// The same for every width.
    Constant(f64),
    /// The square root of the width ([*Attention Is All You Need*](https://arxiv.org/abs/1706.03762), 3.4).
    Sqrt,
    /// 1 over the square root of the width.
    InvSqrt,
}

impl WidthScale {
    /// The factor for `width` columns.
    #[must_use]
    pub fn of(self, width: usize) -> f64 {
        let width = width as f64;
        match self {
            Self::One => 1.0,
            Self::Constant(factor) => factor,
            Self::Sqrt => width.sqrt(),
            Self::InvSqrt => width.sqrt().recip(),
        }
    }
}

/// The rotation of queries and keys in self-attention, if the conventions have rotary positions.
pub(crate) const fn rotary<C: Conventions>() -> Option<Rotary> {
    match (C::Positions::IS_ROTARY, C::ROTARY) {
        (true, None) => Some(Rotary::ROFORMER),
        (true, rotary) => rotary,
        (false, None) => None,
        (false, Some(_)) => panic!("`ROTARY` of the conventions has no effect: `Positions` are not `RotaryPositions`"),
    }
}
