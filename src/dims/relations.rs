//! Relations between dimensions: traits named as sentences, decided by typenum, each with a
//! message in the words of the user's own model.

use super::{
    ConstDim, Dim, StaticSize, Sum,
    size::{CountFactor, FullyStatic},
};
use std::ops::{Add, Mul, Rem};
use typenum::{B1, IsLess, IsLessOrEqual, Mod, Prod, U1, U2, UTerm};

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
impl<Len: StaticSize, Max: StaticSize> AtMost<Max> for Len where (Len::Nat, Max::Nat): LessOrEqual {}

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
    note = "valid indices of `{Bound}` run from 0 to its size minus 1; one above 1024 needs a name: `Fin::from_dim`"
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
    (Parts::Nat, Whole::Nat): DividesExactly
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
impl<Width: StaticSize> Even for Width where (U2, Width::Nat): DividesExactly {}

/// The dimension is as long as `One` and `Other` together.
///
/// Holds between compile-time dimensions by their sizes, and always for [`Sum<One, Other>`](Sum), which
/// is the way to name the sum of run-time dimensions.
///
/// ```
/// use typed_transformer::{dims, dims::{Sum, SumOf}};
/// dims! { pub Past = 3; pub Present = 1; pub Total = 4; pub Seen; }
/// fn adds_up<One: dfdx::shapes::Dim, Other: dfdx::shapes::Dim, Whole: SumOf<One, Other>>() {}
/// adds_up::<Past, Present, Total>();
/// adds_up::<Seen, Present, Sum<Seen, Present>>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the sum of `{One}` and `{Other}`",
    label = "`{One}` followed by `{Other}` does not make `{Self}`",
    note = "a sum of run-time dimensions is called `Sum<{One}, {Other}>`"
)]
pub trait SumOf<One: Dim, Other: Dim>: Dim {}

#[diagnostic::do_not_recommend]
impl<One: Dim, Other: Dim> SumOf<One, Other> for Sum<One, Other> {}

#[diagnostic::do_not_recommend]
impl<One: StaticSize, Other: StaticSize, Total: FullyStatic> SumOf<One, Other> for Total where
    (One::Nat, Other::Nat, Total::Nat): AddsUp
{
}

/// The shape has as many elements as `Other`: the products of their dimensions are equal.
///
/// Decided by the sizes of compile-time dimensions; run-time ones must stand in both shapes, in the
/// same order.
///
/// ```
/// use typed_transformer::{dims, dims::EqualProducts};
/// dims! { pub Batch; pub EmbedDim = 8; pub NumHeads = 2; pub HeadDim = 4; }
/// fn can_become<To, Dims: EqualProducts<To>>() {}
/// can_become::<(Batch, NumHeads, HeadDim), (Batch, EmbedDim)>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` and `{Other}` differ in their number of elements",
    label = "the products of `{Self}` and of `{Other}` are not known to be equal",
    note = "compile-time sizes must multiply to the same number; run-time dimensions must stand in both shapes, in the same order"
)]
pub trait EqualProducts<Other> {}

#[diagnostic::do_not_recommend]
impl<One: ElementCount, Other: ElementCount> EqualProducts<Other> for One
where
    (One::Static, Other::Static): SameType,
    (One::Dynamic, Other::Dynamic): SameType,
{
}

// Relations between typenum numbers. They are markers of our own because a bound on an associated
// type (`IsLess<…, Output = B1>`) would replace the messages above by one about typenum.

/// The first number is at most the second.
pub trait LessOrEqual {}
impl<One: IsLessOrEqual<Other, Output = B1>, Other> LessOrEqual for (One, Other) {}

/// The first number is less than the second.
pub trait Less {}
impl<One: IsLess<Other, Output = B1>, Other> Less for (One, Other) {}

/// The second number is a multiple of the first.
pub trait DividesExactly {}
impl<Parts, Whole: Rem<Parts>> DividesExactly for (Parts, Whole) where Mod<Whole, Parts>: Zero {}

/// Zero.
pub trait Zero {}
impl Zero for UTerm {}

/// The third number is the sum of the others.
pub trait AddsUp {}
impl<One: Add<Other, Output = Total>, Other, Total> AddsUp for (One, Other, Total) {}

/// The two are the same.
pub trait SameType {}
impl<Any> SameType for (Any, Any) {}

/// The number of elements of a shape: its compile-time part, and the run-time dimensions in their order.
pub trait ElementCount {
    type Static;
    type Dynamic;
}
impl ElementCount for () {
    type Static = U1;
    type Dynamic = ();
}
macro_rules! elements {
    ($first:ident $($rest:ident)*) => {
        impl<$first, $($rest,)*> ElementCount for ($first, $($rest,)*)
        where
            $first: CountFactor,
            ($($rest,)*): ElementCount,
            $first::Static: Mul<<($($rest,)*) as ElementCount>::Static>,
        {
            type Static = Prod<$first::Static, <($($rest,)*) as ElementCount>::Static>;
            type Dynamic = $first::Dynamic<<($($rest,)*) as ElementCount>::Dynamic>;
        }
    };
}
elements!(A);
elements!(A B);
elements!(A B C);
elements!(A B C F);
elements!(A B C F G);
elements!(A B C F G H);
