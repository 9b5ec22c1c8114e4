//! The decisions of a model for all its layers: the inner dimensions by its [`Arch`], and its [`Conventions`].

mod arch;
mod norm_placement;
mod positions;
mod width_scale;

pub use arch::{Arch, HasPositionsFor};
pub use norm_placement::NormPlacement;
pub use positions::{Learned, NoPositions, PositionKind, PositionsFor, PositionsInHeads, RotaryPositions, Sinusoidal};
pub use width_scale::WidthScale;

use crate::dims::name;
use crate::mask::PaddingRule;
use crate::nn::NormKind;
use crate::ops::{Activation, AttentionScale, MaskFill, Rotary};

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
    /// [`init::uniform`](crate::nn::init::uniform).
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
