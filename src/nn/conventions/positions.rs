use crate::dims::{ConstDim, Even};

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
#[derive(Clone, Copy, Debug, Default)]
pub struct Learned;

/// Sines and cosines of falling frequency (*Attention Is All You Need*).
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
/// al., 2023](https://arxiv.org/abs/2305.19466)). The layers of [`nn`](crate::nn) add no bias by position;
/// [`alibi`](crate::ops::alibi) says how a model of your own does.
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

/// A kind of positions that fits embeddings of width `M`: [`Sinusoidal`] fits even widths, the others every width.
///
/// ```
/// use typed_transformer::{nn::{PositionsFor, Sinusoidal}, prelude::*};
/// dims! { pub EmbedDim = 8; }
/// fn fits<Positions: PositionsFor<EmbedDim>>() {}
/// fits::<Sinusoidal>();
/// ```
#[diagnostic::on_unimplemented(
    message = "the kind of positions is not known to fit the width `{M}`",
    label = "the kind may need an even width",
    note = "in generic code an architecture has the bound `typed_transformer::nn::HasPositionsFor<{M}>` in place of `Arch`"
)]
pub trait PositionsFor<M: ConstDim>: PositionKind {}
impl<M: ConstDim> PositionsFor<M> for Learned {}
impl<M: Even> PositionsFor<M> for Sinusoidal {}
impl<M: ConstDim> PositionsFor<M> for RotaryPositions {}
impl<M: ConstDim> PositionsFor<M> for NoPositions {}

/// A kind of positions that fits heads with queries of size `QKDim`: [`RotaryPositions`] fits even sizes, the others
/// every size.
///
/// ```
/// use typed_transformer::{nn::{PositionsInHeads, RotaryPositions}, prelude::*};
/// dims! { pub HeadDim = 4; }
/// fn fits<Positions: PositionsInHeads<HeadDim>>() {}
/// fits::<RotaryPositions>();
/// ```
#[diagnostic::on_unimplemented(
    message = "the kind of positions is not known to fit heads of the size `{QKDim}`",
    label = "the kind may need heads of an even size",
    note = "in generic code conventions have the bound `Conventions<Positions: PositionsInHeads<{QKDim}>>`"
)]
pub trait PositionsInHeads<QKDim>: PositionKind {}
// `QKDim` has no bound here, so a size that is no dimension is one error, not two.
impl<QKDim> PositionsInHeads<QKDim> for Learned {}
impl<QKDim> PositionsInHeads<QKDim> for Sinusoidal {}
impl<QKDim: Even> PositionsInHeads<QKDim> for RotaryPositions {}
impl<QKDim> PositionsInHeads<QKDim> for NoPositions {}
