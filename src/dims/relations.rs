//! Relations between dimensions, as traits that typenum decides.
//!
//! Each relation has an error message that names the dimensions of the user's own model.

use super::{CheckedSize, Const, ConstDim, Dim, DimError, StaticSize, Sum, size::StaticKind};
use std::ops::{Add, Rem};
use typenum::{B1, IsLess, IsLessOrEqual, Mod, U2, UTerm};

/// The dimension has a maximum that is known at compile time.
///
/// The maximum of a compile-time dimension is the dimension itself. The maximum of a run-time dimension is the one that
/// [`dims!`](crate::dims!) declares it with. The maximum of a [`Sum`] is the sum of its parts' maxima.
///
/// ```
/// use typed_transformer::{dims, dims::{Bounded, Sum}};
/// dims! { pub MaxPast = 12; pub MaxPresent = 4; pub Past <= MaxPast; pub Present <= MaxPresent; }
/// fn max<Len: Bounded>() -> usize {
///     use dfdx::shapes::ConstDim;
///     Len::Max::SIZE
/// }
/// assert_eq!(max::<Sum<Past, Present>>(), 16);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no known maximum",
    label = "`{Self}` may have any size",
    note = "a run-time dimension is declared with its maximum: `dims! {{ pub Len <= MaxLen; }}`"
)]
pub trait Bounded: Dim {
    /// The maximum.
    type Max: ConstDim + Bounded<Max = Self::Max>;

    /// Checks a size against the maximum. `dim` is the name of the dimension.
    #[doc(hidden)]
    fn check(dim: &'static str, size: usize) -> Result<CheckedSize<Self::Max>, DimError> {
        CheckedSize::new(dim, size)
    }
}

#[diagnostic::do_not_recommend]
impl<Any: StaticKind> Bounded for Any {
    type Max = Any;
}
#[diagnostic::do_not_recommend]
impl<Left: Bounded, Right: Bounded> Bounded for Sum<Left, Right> {
    type Max = Sum<Left::Max, Right::Max>;
}

/// The dimension is never longer than `Max` (the post's `LTE`).
///
/// [The maximum](Bounded) of the dimension is compared with the size of `Max`. A run-time dimension without
/// a maximum never satisfies the relation.
///
/// ```
/// use typed_transformer::{dims, dims::AtMost};
/// dims! { pub MaxSeqLen = 15; pub Block = 10; pub SrcLen <= MaxSeqLen; }
/// fn fits<Len: AtMost<MaxSeqLen>>() {}
/// fits::<Block>();
/// fits::<SrcLen>();
/// ```
///
/// `Len::Max: AtMost<Long>` gives `Len: AtMost<Long>` in generic code:
///
/// ```
/// use typed_transformer::{dims, dims::{AtMost, Bounded, StaticSize, Sum}};
/// fn fits<Len: AtMost<Long>, Long: StaticSize>() {}
/// fn generic<Len: Bounded<Max: AtMost<Long>>, Long: StaticSize>() {
///     fits::<Len, Long>();
/// }
/// dims! { pub MaxSeqLen = 15; pub Context = 30; pub SrcLen <= MaxSeqLen; pub TgtLen <= MaxSeqLen; }
/// generic::<SrcLen, Context>();
/// fits::<Sum<SrcLen, TgtLen>, Context>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` may be longer than `{Max}`",
    label = "`{Self}` is not known to be at most `{Max}`",
    note = "a compile-time dimension must be no larger than `{Max}`; a run-time one is declared with its bound: `dims! {{ pub Len <= {Max}; }}`; that of a published model is imported, as `gpt2::MaxSeqLen`"
)]
pub trait AtMost<Max: Dim>: Bounded<Max: NoLongerThan<Max>> {}

#[diagnostic::do_not_recommend]
impl<Len: Bounded<Max: NoLongerThan<Max>>, Max: Dim> AtMost<Max> for Len {}

/// The dimension may index a table of positions over `MaxLen`.
///
/// A run-time dimension satisfies it only if it is declared `<= MaxLen`. One declared `<= OtherMax` is refused even at
/// equal size, because `OtherMax` bounds a different sequence. A compile-time dimension and a [`Sum`] are compared by
/// size. [`learned_positions`](crate::ops::learned_positions) asks for it; models ask for [`AtMost`].
///
/// ```
/// use typed_transformer::{dims, dims::LengthOf};
/// dims! { pub MaxSeqLen = 15; pub Block = 10; pub SrcLen <= MaxSeqLen; }
/// fn has_positions<Len: LengthOf<MaxSeqLen>>() {}
/// has_positions::<Block>();
/// has_positions::<SrcLen>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` may be longer than `{MaxLen}`",
    label = "`{Self}` is not a length of `{MaxLen}`",
    note = "a compile-time dimension must be no larger than `{MaxLen}`; a run-time one is declared with it, `dims! {{ pub Len <= {MaxLen}; }}`, and made by `Len::new(8)?`"
)]
pub trait LengthOf<MaxLen: Dim>: Bounded {}

#[diagnostic::do_not_recommend]
impl<Len: StaticKind + AtMost<MaxLen>, MaxLen: Dim> LengthOf<MaxLen> for Len {}
#[diagnostic::do_not_recommend]
impl<Left: Bounded, Right: Bounded, MaxLen: Dim> LengthOf<MaxLen> for Sum<Left, Right> where Self: AtMost<MaxLen> {}

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
    note = "valid indices of `{Bound}` run from 0 to its size minus 1; above 1024 an index is a named dimension, not a `Const`"
)]
pub trait LessThan<Bound: Dim>: ConstDim {}

#[diagnostic::do_not_recommend]
impl<Id: StaticSize, Bound: StaticSize> LessThan<Bound> for Id where (Id::Nat, Bound::Nat): Less {}

/// The dimension is greater than a literal, so the literal is a valid index.
///
/// ```
/// use typed_transformer::{dims, dims::HasIndex};
/// dims! { pub VocabSize = 28; }
/// fn has_last_letter<Vocab: HasIndex<25>>() {}
/// has_last_letter::<VocabSize>();
/// ```
#[diagnostic::on_unimplemented(
    message = "{INDEX} is not known to be less than `{Self}`",
    label = "{INDEX} is not known to be an index of `{Self}`",
    note = "the indices of `{Self}` run from 0 to its size minus 1, if that is known at compile time; an index above 1024 needs a named dimension: `Fin::from_dim`"
)]
pub trait HasIndex<const INDEX: usize>: ConstDim {}

#[diagnostic::do_not_recommend]
impl<const INDEX: usize, Bound: ConstDim> HasIndex<INDEX> for Bound where Const<INDEX>: LessThan<Bound> {}

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

/// The dimension is even: sinusoidal and rotary positions use columns in pairs.
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
    note = "positions use the columns in pairs, one for a sine and one for a cosine; choose an even `{Self}`"
)]
pub trait Even: ConstDim {}

#[diagnostic::do_not_recommend]
impl<Width: StaticSize> Even for Width where (U2, Width::Nat): DividesExactly {}

/// The dimension is as long as `Left` and `Right` together.
///
/// [`Sum<Left, Right>`](Sum) satisfies the relation, and so does a named dimension that
/// [`dims!`](crate::dims!) declares to be this sum. Another named dimension does not, even if its size is
/// right. A [`Const<N>`](Const) has no name and is compared by size.
///
/// ```
/// use typed_transformer::{dims, dims::{Dim, Sum, SumOf}};
/// dims! { pub Past = 3; pub Present = 1; pub Total: Sum<Past, Present>; pub Seen; }
/// fn adds_up<Left: Dim, Right: Dim, Total: SumOf<Left, Right>>() {}
/// adds_up::<Past, Present, Total>();
/// adds_up::<Seen, Present, Sum<Seen, Present>>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the sum of `{Left}` and `{Right}`",
    label = "`{Left}` and `{Right}` together are not `{Self}`",
    note = "the sum is `Sum<{Left}, {Right}>`; a name for it is declared by `dims! {{ pub Total: Sum<{Left}, {Right}>; }}`"
)]
pub trait SumOf<Left: Dim, Right: Dim>: Dim {}

#[diagnostic::do_not_recommend]
impl<Left: Dim, Right: Dim> SumOf<Left, Right> for Sum<Left, Right> {}

#[diagnostic::do_not_recommend]
impl<Left: StaticSize, Right: StaticSize, const N: usize> SumOf<Left, Right> for Const<N>
where
    Const<N>: StaticSize,
    (Left::Nat, Right::Nat, <Const<N> as StaticSize>::Nat): AddsUp,
{
}

/// [`AtMost`] between two compile-time dimensions.
pub trait NoLongerThan<Max: Dim>: StaticSize {}

#[diagnostic::do_not_recommend]
impl<Len: StaticSize, Max: StaticSize> NoLongerThan<Max> for Len where (Len::Nat, Max::Nat): LessOrEqual {}

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
