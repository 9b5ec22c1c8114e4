use dfdx::shapes::{Const, ConstDim, Dim};
use typenum::{B0, B1, ToUInt, UInt, UTerm};

/// A dimension whose size the type checker can calculate with.
///
/// Implemented by every compile-time dimension of [`dims!`](crate::dims!), by
/// [`Product`](super::Product) and [`Quotient`](super::Quotient) of such, and by [`Const<N>`] for
/// `N` up to 1024 (and the larger sizes that typenum lists).
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
}

impl<const N: usize> StaticSize for Const<N>
where
    typenum::Const<N>: ToUInt,
{
    type Nat = typenum::U<N>;
}

/// Every compile-time dimension but a [`Sum`](super::Sum), whose parts may be known at run time only.
#[doc(hidden)]
pub trait FullyStatic: StaticSize {}
impl<const N: usize> FullyStatic for Const<N> where Const<N>: StaticSize {}

/// A dimension with which the type checker can count elements: compile-time ones by their sizes, those
/// of [`dims!`](crate::dims!) that are known at run time by their names.
#[doc(hidden)]
pub trait CountFactor: Dim {
    /// What it multiplies the compile-time part of a count by, as a typenum number.
    type Static;
    /// The run-time part of a count: its names before those of `Rest`.
    type Dynamic<Rest>;
}
impl<Any: StaticSize> CountFactor for Any {
    type Static = Any::Nat;
    type Dynamic<Rest> = Rest;
}

/// Appends a bit to a typenum number, without leading zeros.
///
/// `dims!` builds the number of each dimension from the bits of its size, so that a dimension of
/// any size can take part in a relation; typenum's own conversion knows only a list of sizes.
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
