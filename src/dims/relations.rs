//! Relations between dimensions: traits named as sentences, decided by typenum, each with a
//! message in the words of the user's own model.

use super::{ConstDim, Dim, StaticSize};
use std::ops::Rem;
use typenum::{B1, IsLess, IsLessOrEqual, Mod, U2, UTerm};

/// The dimension is never longer than `Max` (the post's `LTE`).
///
/// Holds between compile-time dimensions by their sizes, and for a run-time dimension that
/// [`dims!`](crate::dims!) declared with a bound. Nothing is known of a free run-time dimension or
/// of `usize`, so it does not hold for them.
///
/// ```
/// use typed_transformer::{dims, dims::AtMost};
/// dims! { pub MaxSeqLen = 15; pub Block = 10; pub SrcLen <= MaxSeqLen; }
/// fn fits<Len: AtMost<MaxSeqLen>>() {}
/// fits::<Block>();
/// fits::<SrcLen>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` may be longer than `{Max}`",
    label = "`{Self}` is not known to be at most `{Max}`",
    note = "a compile-time dimension must be no larger than `{Max}`; a run-time one is declared with its bound: `dims! {{ pub Len <= {Max}; }}`"
)]
pub trait AtMost<Max: Dim>: Dim {}

#[diagnostic::do_not_recommend]
impl<Len: StaticSize, Max: StaticSize> AtMost<Max> for Len where (Len::Nat, Max::Nat): NoMoreThan {}

/// The dimension is strictly smaller than `Bound`: as an index, it is in range.
///
/// ```
/// use typed_transformer::{dims, dims::{Const, LessThan}};
/// dims! { pub VocabSize = 28; }
/// fn is_token<Id: LessThan<VocabSize>>() {}
/// is_token::<Const<27>>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not less than `{Bound}`",
    label = "`{Bound}` counts from 0 and ends before `{Self}`",
    note = "valid indices of `{Bound}` run from 0 to its size minus 1; one above 1024 needs a name: `Fin::named`"
)]
pub trait LessThan<Bound: Dim>: ConstDim {}

#[diagnostic::do_not_recommend]
impl<Id: StaticSize, Bound: StaticSize> LessThan<Bound> for Id where (Id::Nat, Bound::Nat): Less {}

/// The dimension divides `Whole` without remainder, as the number of heads must an embedding that
/// is shared out among them.
///
/// ```
/// use typed_transformer::{dims, dims::Divides};
/// dims! { pub EmbedDim = 128; pub NumHeads = 2; }
/// fn can_be_shared<Heads: Divides<EmbedDim>>() {}
/// can_be_shared::<NumHeads>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not divide `{Whole}`",
    label = "`{Whole}` cannot be shared out evenly among `{Self}`",
    note = "choose `{Self}` so that `{Whole}` is a multiple of it, or give the size of a part a dimension of its own"
)]
pub trait Divides<Whole: ConstDim>: ConstDim {}

#[diagnostic::do_not_recommend]
impl<Parts: StaticSize, Whole: StaticSize> Divides<Whole> for Parts where
    (Parts::Nat, Whole::Nat): LeavesNothing
{
}

/// The dimension is even, as an embedding must be whose columns are pairs of sine and cosine.
///
/// ```
/// use typed_transformer::{dims, dims::Even};
/// dims! { pub EmbedDim = 8; }
/// fn has_pairs<Width: Even>() {}
/// has_pairs::<EmbedDim>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not even",
    label = "`{Self}` has a column without a partner",
    note = "sinusoidal positions fill columns in pairs, a sine and a cosine; choose an even `{Self}`"
)]
pub trait Even: ConstDim {}

#[diagnostic::do_not_recommend]
impl<Width: StaticSize> Even for Width where (U2, Width::Nat): LeavesNothing {}

// Relations between typenum numbers. They are markers of our own because a bound on an associated
// type (`IsLess<…, Output = B1>`) would replace the messages above by one about typenum.

/// The first number is at most the second.
pub trait NoMoreThan {}
impl<One: IsLessOrEqual<Other, Output = B1>, Other> NoMoreThan for (One, Other) {}

/// The first number is less than the second.
pub trait Less {}
impl<One: IsLess<Other, Output = B1>, Other> Less for (One, Other) {}

/// The second number is a multiple of the first.
pub trait LeavesNothing {}
impl<Parts, Whole: Rem<Parts>> LeavesNothing for (Parts, Whole) where Mod<Whole, Parts>: Zero {}

/// Zero.
pub trait Zero {}
impl Zero for UTerm {}
