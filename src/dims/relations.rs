//! Relations between dimensions, as traits that typenum decides.
//!
//! Each relation has an error message that names the dimensions of the user's own model.

use super::{ConstDim, Dim, StaticSize, Sum, size::FullyStatic};
use std::ops::{Add, Rem};
use typenum::{B1, IsLess, IsLessOrEqual, Mod, U2, UTerm};

/// The dimension is never longer than `Max` (the post's `LTE`).
///
/// Compile-time dimensions are compared by size. A run-time dimension satisfies the relation if
/// [`dims!`](crate::dims!) declares it with a bound of at most `Max`. A run-time dimension without a
/// bound and `usize` never do.
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
impl<Len: StaticSize, Max: StaticSize> AtMost<Max> for Len where (Len::Nat, Max::Nat): LessOrEqual {}

/// The dimension is smaller than `Bound`, so its size is a valid index of `Bound`.
///
/// ```
/// use typed_transformer::{dims, dims::{Const, LessThan}};
/// dims! { pub VocabSize = 28; }
/// fn is_token<Id: LessThan<VocabSize>>() {}
/// is_token::<Const<27>>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not less than `{Bound}`",
    label = "`{Self}` is not a valid index of `{Bound}`",
    note = "valid indices of `{Bound}` run from 0 to its size minus 1; an index above 1024 needs a named dimension: `Fin::from_dim`"
)]
pub trait LessThan<Bound: Dim>: ConstDim {}

#[diagnostic::do_not_recommend]
impl<Id: StaticSize, Bound: StaticSize> LessThan<Bound> for Id where (Id::Nat, Bound::Nat): Less {}

/// The dimension divides `Whole` without remainder: the number of heads divides the width of an
/// embedding that is split into heads.
///
/// ```
/// use typed_transformer::{dims, dims::Divides};
/// dims! { pub EmbedDim = 128; pub NumHeads = 2; }
/// fn can_be_split<Heads: Divides<EmbedDim>>() {}
/// can_be_split::<NumHeads>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not divide `{Whole}`",
    label = "`{Whole}` is not a multiple of `{Self}`",
    note = "choose `{Self}` so that it divides `{Whole}`, or declare the size of one part as a dimension of its own"
)]
pub trait Divides<Whole: ConstDim>: ConstDim {}

#[diagnostic::do_not_recommend]
impl<Parts: StaticSize, Whole: StaticSize> Divides<Whole> for Parts where (Parts::Nat, Whole::Nat): DividesExactly {}

/// The dimension is even: sinusoidal positions fill the columns of an embedding in pairs.
///
/// ```
/// use typed_transformer::{dims, dims::Even};
/// dims! { pub EmbedDim = 8; }
/// fn has_column_pairs<Width: Even>() {}
/// has_column_pairs::<EmbedDim>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not even",
    label = "`{Self}` has an odd number of columns",
    note = "sinusoidal positions fill the columns in pairs, a sine and a cosine; choose an even `{Self}`"
)]
pub trait Even: ConstDim {}

#[diagnostic::do_not_recommend]
impl<Width: StaticSize> Even for Width where (U2, Width::Nat): DividesExactly {}

/// The dimension is as long as `Left` and `Right` together.
///
/// Compile-time dimensions are compared by size. [`Sum<Left, Right>`](Sum) always satisfies the
/// relation; it is the sum to use if a part has its size at run time.
///
/// ```
/// use typed_transformer::{dims, dims::{Dim, Sum, SumOf}};
/// dims! { pub Past = 3; pub Present = 1; pub Total = 4; pub Seen; }
/// fn adds_up<Left: Dim, Right: Dim, Total: SumOf<Left, Right>>() {}
/// adds_up::<Past, Present, Total>();
/// adds_up::<Seen, Present, Sum<Seen, Present>>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the sum of `{Left}` and `{Right}`",
    label = "`{Left}` and `{Right}` together are not `{Self}`",
    note = "the sum of run-time dimensions is `Sum<{Left}, {Right}>`"
)]
pub trait SumOf<Left: Dim, Right: Dim>: Dim {}

#[diagnostic::do_not_recommend]
impl<Left: Dim, Right: Dim> SumOf<Left, Right> for Sum<Left, Right> {}

#[diagnostic::do_not_recommend]
impl<Left: StaticSize, Right: StaticSize, Total: FullyStatic> SumOf<Left, Right> for Total where
    (Left::Nat, Right::Nat, Total::Nat): AddsUp
{
}

// Relations between typenum numbers. They are traits of this crate because rustc would report an unmet
// bound on an associated type (`IsLess<…, Output = B1>`) in place of the messages above.

/// The first number is at most the second.
pub trait LessOrEqual {}
impl<Left: IsLessOrEqual<Right, Output = B1>, Right> LessOrEqual for (Left, Right) {}

/// The first number is less than the second.
pub trait Less {}
impl<Left: IsLess<Right, Output = B1>, Right> Less for (Left, Right) {}

/// The second number is a multiple of the first.
pub trait DividesExactly {}
impl<Parts, Whole: Rem<Parts>> DividesExactly for (Parts, Whole) where Mod<Whole, Parts>: Zero {}

/// The number is 0.
pub trait Zero {}
impl Zero for UTerm {}

/// The third number is the sum of the first two.
pub trait AddsUp {}
impl<Left: Add<Right, Output = Total>, Right, Total> AddsUp for (Left, Right, Total) {}
