use super::{Conventions, PositionsFor, PositionsInHeads};
use crate::dims::{AnyDim, ConstDim, Dim, Factor};
use crate::ops::{AttentionOptions, Real};
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
    /// The number of heads of every attention.
    type NumHeads: Factor;
    /// The size of a head's queries and keys (the post's `QKSize`). [`Quotient`](crate::dims::Quotient)`<EmbedDim,
    /// NumHeads>` ties it to the width, and then the number of heads has to divide that.
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

    /// The options of its attention: the scale and the mask's fill of its conventions, and its dropout of weights.
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

/// An [`Arch`] whose kind of positions can be made for `EmbedDim` columns; sinusoidal ones need an even number. It is
/// implemented for every such `Arch`.
///
/// ```
/// use typed_transformer::{doctest::*, nn::HasPositionsFor};
/// fn exist<A: HasPositionsFor<EmbedDim>>() {}
/// exist::<Model>();
/// ```
pub trait HasPositionsFor<EmbedDim: ConstDim>:
    Arch<Conventions: Conventions<Positions: PositionsFor<EmbedDim>>>
{
}
impl<A, EmbedDim: ConstDim> HasPositionsFor<EmbedDim> for A where
    A: Arch<Conventions: Conventions<Positions: PositionsFor<EmbedDim>>>
{
}
