use super::{NormPlacement, WidthScale};
use crate::{
    dims::{ConstDim, Even, name},
    mask::PaddingRule,
    ops::{Activation, AttentionScale, MaskFill, NormKind, Rotary},
};

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
    /// The number of heads of every attention.
    type NumHeads: ConstDim;
    /// The size of a head's queries and keys (the post's `QKSize`).
    type QKDim: ConstDim;
    /// The size of a head's values and outputs (the post's `VOSize`).
    type VODim: ConstDim;
    /// The width between the two linear maps of a feed-forward layer.
    type HiddenDim: ConstDim;
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
    /// [`Rotary::ROFORMER`]. With other positions it is `None`.
    const ROTARY: Option<Rotary> = None;
    /// The logit of a hidden key.
    const MASK_FILL: MaskFill = MaskFill::MinValue;
    /// The factor of a token's embedding before its position is added.
    const EMBEDDING_SCALE: WidthScale = WidthScale::One;
    /// The standard deviation of new embeddings, which are normal with mean 0.
    const EMBEDDING_INIT_STD: WidthScale = WidthScale::One;
    /// The standard deviation of new weight matrices inside the blocks, normal with mean 0. `None` means
    /// [`init::uniform`](super::init::uniform).
    const WEIGHT_INIT_STD: Option<f64> = None;
    /// Whether a norm follows the sum of token and position.
    const EMBEDDING_NORM: bool = true;
    /// The number that a norm adds to the variance or to the mean square.
    const NORM_EPSILON: f64 = 1e-5;

    /// The conventions that cannot be inferred from parameter names and shapes, as names and values.
    ///
    /// [`weights::save`](crate::weights::save) stores them in the file, and [`weights::load`](crate::weights::load)
    /// refuses a model with other conventions.
    ///
    /// ```
    /// use typed_transformer::{nn::Conventions, prelude::*};
    /// assert_eq!(TypedTransformer::conventions()[0], ("activation", "GeluTanh".to_string()));
    /// ```
    fn conventions() -> Vec<(&'static str, String)> {
        let rotary = Self::ROTARY.map(|rotary| ("rotary positions", format!("{rotary:?}")));
        let conventions = vec![
            ("activation", name::<Self::Activation>()),
            ("positions", name::<Self::Positions>()),
            ("padding", name::<Self::PaddingRule>()),
            ("norm", format!("{:?}", Self::NORM)),
            ("norm placement", format!("{:?}", Self::NORM_PLACEMENT)),
            ("norm epsilon", Self::NORM_EPSILON.to_string()),
            ("attention scale", format!("{:?}", Self::ATTENTION_SCALE)),
            ("masked logit", format!("{:?}", Self::MASK_FILL)),
            ("embedding scale", format!("{:?}", Self::EMBEDDING_SCALE)),
        ];
        conventions.into_iter().chain(rotary).collect()
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

/// A kind of positions: [`Learned`], [`Sinusoidal`], [`RotaryPositions`] or [`NoPositions`].
///
/// ```
/// use typed_transformer::nn::{Learned, NoPositions, PositionKind, RotaryPositions, Sinusoidal};
/// let added = [Learned::IS_ADDED, Sinusoidal::IS_ADDED, RotaryPositions::IS_ADDED, NoPositions::IS_ADDED];
/// assert_eq!(added, [true, true, false, false]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kind of positions",
    label = "`{Self}` is none of `Learned`, `Sinusoidal`, `RotaryPositions` and `NoPositions`",
    note = "the kinds are `Learned`, `Sinusoidal`, `RotaryPositions` and `NoPositions`"
)]
pub trait PositionKind: 'static {
    /// Whether the parameters have a table of positions.
    const IS_LEARNED: bool = false;
    /// Whether a vector for each position is added to the embeddings.
    const IS_ADDED: bool = false;
    /// Whether self-attention rotates queries and keys by their positions.
    const IS_ROTARY: bool = false;
}

/// A table of parameters with a row for each position (*The Typed Transformer*).
///
/// ```
/// # use typed_transformer::{doctest::*, nn::*, prelude::*};
/// let positions: Learned = <TypedTransformer as Conventions>::Positions::default();
/// let embedder = Embedder::<VocabSize, MaxSeqLen, EmbedDim, Model, f32, Cpu>::build(&Cpu::default());
/// assert!(embedder.position_embedder.is_some());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Learned;

/// Sines and cosines of falling frequency (*Attention Is All You Need*).
///
/// ```
/// use typed_transformer::{models::transformer_from_scratch::FromScratch, nn::{Conventions, Sinusoidal}};
/// let positions: Sinusoidal = <FromScratch as Conventions>::Positions::default();
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Sinusoidal;

/// Nothing is added to the embeddings. Self-attention [rotates queries and keys](crate::ops::rotary_positions()) by
/// their positions ([Su et al., 2021](https://arxiv.org/abs/2104.09864)), so the size of a head is even.
///
/// ```
/// use typed_transformer::{nn::{Conventions, RotaryPositions}, ops::{GeluTanh, Rotary}, prelude::*};
/// pub struct Relative;
/// impl Conventions for Relative {
///     type Activation = GeluTanh;
///     type Positions = RotaryPositions;
///     type PaddingRule = PadSourceKeys;
///     const ROTARY: Option<Rotary> = Some(Rotary::ROFORMER);
/// }
/// assert!(Relative::conventions().contains(&("positions", "RotaryPositions".to_string())));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct RotaryPositions;

/// No positions: nothing is added to the embeddings, and attention sees no order but that of its mask ([Kazemnejad et
/// al., 2023](https://arxiv.org/abs/2305.19466)).
///
/// ```
/// use typed_transformer::{nn::{Conventions, NoPositions}, ops::GeluTanh, prelude::*};
/// pub struct WithoutPositions;
/// impl Conventions for WithoutPositions {
///     type Activation = GeluTanh;
///     type Positions = NoPositions;
///     type PaddingRule = PadSourceKeys;
/// }
/// assert!(WithoutPositions::conventions().contains(&("positions", "NoPositions".to_string())));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct NoPositions;

#[diagnostic::do_not_recommend]
impl PositionKind for Learned {
    const IS_LEARNED: bool = true;
    const IS_ADDED: bool = true;
}
#[diagnostic::do_not_recommend]
impl PositionKind for Sinusoidal {
    const IS_ADDED: bool = true;
}
#[diagnostic::do_not_recommend]
impl PositionKind for RotaryPositions {
    const IS_ROTARY: bool = true;
}
#[diagnostic::do_not_recommend]
impl PositionKind for NoPositions {}

/// A kind of positions that exists for embeddings of width `M`: [`Sinusoidal`] for even widths, the others for every
/// width.
///
/// ```
/// use typed_transformer::{nn::{PositionsFor, Sinusoidal}, prelude::*};
/// dims! { pub EmbedDim = 8; }
/// fn exist<Positions: PositionsFor<EmbedDim>>() {}
/// exist::<Sinusoidal>();
/// ```
pub trait PositionsFor<M: ConstDim>: PositionKind {}
impl<M: ConstDim> PositionsFor<M> for Learned {}
impl<M: Even> PositionsFor<M> for Sinusoidal {}
impl<M: ConstDim> PositionsFor<M> for RotaryPositions {}
impl<M: ConstDim> PositionsFor<M> for NoPositions {}

/// A kind of positions that exists for heads with queries of size `QKDim`: [`RotaryPositions`] for even sizes, the
/// others for every size.
///
/// ```
/// use typed_transformer::{nn::{PositionsInHeads, RotaryPositions}, prelude::*};
/// dims! { pub HeadDim = 4; }
/// fn exist<Positions: PositionsInHeads<HeadDim>>() {}
/// exist::<RotaryPositions>();
/// ```
pub trait PositionsInHeads<QKDim>: PositionKind {}
// Without a bound, so that a size that is no dimension is one error, not two.
impl<QKDim> PositionsInHeads<QKDim> for Learned {}
impl<QKDim> PositionsInHeads<QKDim> for Sinusoidal {}
impl<QKDim: Even> PositionsInHeads<QKDim> for RotaryPositions {}
impl<QKDim> PositionsInHeads<QKDim> for NoPositions {}

/// An [`Arch`] whose kind of positions exists for width `EmbedDim`. It is implemented for every such `Arch`.
///
/// ```
/// use typed_transformer::{doctest::*, nn::HasPositionsFor};
/// fn exist<A: HasPositionsFor<EmbedDim>>() {}
/// exist::<Model>();
/// ```
pub trait HasPositionsFor<EmbedDim: ConstDim>: Arch {}
impl<A, EmbedDim: ConstDim> HasPositionsFor<EmbedDim> for A where
    A: Arch<Conventions: Conventions<Positions: PositionsFor<EmbedDim>>>
{
}
