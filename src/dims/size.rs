use super::{Const, ConstDim, Dim};
use typenum::{B0, B1, ToUInt, UInt, UTerm};

/// A dimension whose size is a type-level number, so that the compiler can decide relations.
///
/// Implemented by every compile-time dimension of [`dims!`](crate::dims!), by the
/// [`Sum`](super::Sum), [`Product`](super::Product) and [`Quotient`](super::Quotient) of such
/// dimensions, and by [`Const<N>`] for `N` up to 1024 and the larger sizes that typenum lists.
///
/// ```
/// use typed_transformer::{dims, dims::{ConstDim, StaticSize}};
/// use typenum::Unsigned;
/// dims! { pub VocabSize = 50_257; }
/// assert_eq!(<VocabSize as StaticSize>::Nat::USIZE, VocabSize::SIZE);
/// ```
pub trait StaticSize: ConstDim {
    /// The size as a typenum number.
    type Nat;
    /// The list `Rest`, preceded by this dimension, or by the factors of a [`Product`](super::Product).
    type Factors<Rest>;
}

impl<const N: usize> StaticSize for Const<N>
where
    typenum::Const<N>: ToUInt,
{
    type Nat = typenum::U<N>;
    type Factors<Rest> = (Self, Rest);
}

/// A compile-time dimension other than a [`Sum`](super::Sum), which may have run-time parts.
///
/// It keeps the two implementations of [`SumOf`](super::SumOf) from overlapping.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a compile-time dimension",
    label = "the size of `{Self}` is not known at compile time",
    note = "`dims! {{ pub Name = 8; }}` declares a compile-time dimension"
)]
pub trait FullyStatic: StaticSize {}
#[diagnostic::do_not_recommend]
impl<const N: usize> FullyStatic for Const<N> where Const<N>: StaticSize {}

/// A factor in the number of elements of a shape: compile-time dimensions count by size, run-time
/// dimensions of [`dims!`](crate::dims!) by name.
#[doc(hidden)]
pub trait CountFactor: Dim {
    /// The factor of the compile-time product, as a typenum number: 1 if its size is dynamic.
    type Static;
    /// The list `Rest` of run-time dimensions, preceded by this dimension if its size is dynamic.
    type Dynamic<Rest>;
    /// The list `Rest`, preceded by this dimension, or by the factors of a [`Product`](super::Product).
    type Factors<Rest>;
}

/// Implements [`CountFactor`] for a compile-time dimension.
#[doc(hidden)]
#[macro_export]
macro_rules! __count_by_size {
    ([$($generics:tt)*] $name:ty $(where $($bounds:tt)*)?) => {
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> $crate::dims::CountFactor for $name $(where $($bounds)*)? {
            type Static = <Self as $crate::dims::StaticSize>::Nat;
            type Dynamic<Rest> = Rest;
            type Factors<Rest> = <Self as $crate::dims::StaticSize>::Factors<Rest>;
        }
    };
}
__count_by_size!([const N: usize] Const<N> where Self: StaticSize);

/// Appends a bit to a typenum number, without leading zeros.
///
/// `dims!` builds the number of a dimension from the bits of its size, because typenum converts only
/// a fixed list of sizes.
#[doc(hidden)]
pub trait PushBit<const BIT: bool> {
    type Output;
}
impl PushBit<false> for UTerm {
    type Output = UTerm;
}
impl PushBit<true> for UTerm {
    type Output = UInt<UTerm, B1>;
}
impl<Rest, Low> PushBit<false> for UInt<Rest, Low> {
    type Output = UInt<UInt<Rest, Low>, B0>;
}
impl<Rest, Low> PushBit<true> for UInt<Rest, Low> {
    type Output = UInt<UInt<Rest, Low>, B1>;
}

/// The typenum number of a constant size below 2³².
#[doc(hidden)]
#[macro_export]
macro_rules! __nat {
    ($size:expr) => {
        $crate::__nat!(@bits $size;
            31 30 29 28 27 26 25 24 23 22 21 20 19 18 17 16
            15 14 13 12 11 10 9 8 7 6 5 4 3 2 1 0
            => $crate::__private::UTerm)
    };
    (@bits $size:expr; $bit:literal $($rest:literal)* => $number:ty) => {
        $crate::__nat!(@bits $size; $($rest)* =>
            <$number as $crate::dims::PushBit<{ ($size >> $bit) & 1 == 1 }>>::Output)
    };
    (@bits $size:expr; => $number:ty) => { $number };
}
