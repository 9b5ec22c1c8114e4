use super::{AnyDim, Const, ConstDim};
use typenum::{B0, B1, ToUInt, U0, U1, U2, U3, U4, U5, U6, U7, U8, U9, U10, U11, U12, U13, U14, U15, UInt, UTerm};

/// A [`ConstDim`] whose size is a type-level number too, so that the compiler can decide relations.
///
/// Implemented by every compile-time dimension of [`dims!`](crate::dims!), by [`Sum`](super::Sum),
/// [`Product`](super::Product), [`Quotient`](super::Quotient), [`Windows`](super::Windows) and
/// [`Strided`](super::Strided) of such dimensions, and by [`Const<N>`] for `N` up to 1024 and the larger sizes that
/// typenum lists.
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

/// The compile-time dimensions of [`dims!`](crate::dims!), [`Const`], [`Product`](super::Product),
/// [`Quotient`](super::Quotient), [`Windows`](super::Windows) and [`Strided`](super::Strided).
///
/// The blanket impls of [`Bounded`](super::Bounded) and [`LengthOf`](super::LengthOf) are for this trait, so they do
/// not overlap with those for [`Sum`](super::Sum).
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a compile-time dimension",
    label = "the size of `{Self}` is not known at compile time",
    note = "`dims! {{ pub Name = 8; }}` declares a compile-time dimension"
)]
pub trait StaticKind: StaticSize {}
#[diagnostic::do_not_recommend]
impl<const N: usize> StaticKind for Const<N> where Const<N>: StaticSize {}

/// A factor in the number of elements of a shape: compile-time dimensions count by size, run-time
/// dimensions of [`dims!`](crate::dims!) by name.
#[doc(hidden)]
pub trait CountFactor: AnyDim {
    /// The factor of the compile-time product, as a typenum number: 1 if the dimension has its size at run time.
    type Static;
    /// The list `Rest` of run-time dimensions, preceded by this dimension if it has its size at run time.
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

/// How a dimension that is made of others counts. The list of their run-time dimensions implements it: an empty one
/// counts the dimension by its size, any other by its name.
pub trait CountMade<Made> {
    type Static;
    type Dynamic<Rest>;
}
impl<Made: StaticSize> CountMade<Made> for () {
    type Static = Made::Nat;
    type Dynamic<Rest> = Rest;
}
impl<Made, Name, Names> CountMade<Made> for (Name, Names) {
    type Static = U1;
    type Dynamic<Rest> = (Made, Rest);
}

/// Implements [`CountFactor`] for a dimension that is made of others, whose run-time dimensions are `$list`.
macro_rules! count_made {
    ([$($others:tt)*] $name:ty: $list:ty) => {
        #[diagnostic::do_not_recommend]
        impl<$($others)*> $crate::dims::CountFactor for $name
        where
            $list: $crate::dims::size::CountMade<Self>,
        {
            type Static = <$list as $crate::dims::size::CountMade<Self>>::Static;
            type Dynamic<Rest> = <$list as $crate::dims::size::CountMade<Self>>::Dynamic<Rest>;
            type Factors<Rest> = (Self, Rest);
        }
    };
}
pub(crate) use count_made;

/// Appends a hexadecimal digit to a typenum number, without leading zeros.
///
/// `dims!` builds the number of a dimension from the digits of its size, because typenum converts only a fixed list of
/// sizes. The compiler evaluates each digit as one constant; bits would take four times as many constants.
#[doc(hidden)]
pub trait PushDigit<const DIGIT: usize> {
    type Output;
}

macro_rules! push_digit {
    ($($digit:literal: $first:ty, $a:ident $b:ident $c:ident $d:ident;)*) => {
        $(
            impl PushDigit<$digit> for UTerm {
                type Output = $first;
            }
            impl<Rest, Low> PushDigit<$digit> for UInt<Rest, Low> {
                type Output = UInt<UInt<UInt<UInt<Self, $a>, $b>, $c>, $d>;
            }
        )*
    };
}
push_digit! {
    0: U0, B0 B0 B0 B0;
    1: U1, B0 B0 B0 B1;
    2: U2, B0 B0 B1 B0;
    3: U3, B0 B0 B1 B1;
    4: U4, B0 B1 B0 B0;
    5: U5, B0 B1 B0 B1;
    6: U6, B0 B1 B1 B0;
    7: U7, B0 B1 B1 B1;
    8: U8, B1 B0 B0 B0;
    9: U9, B1 B0 B0 B1;
    10: U10, B1 B0 B1 B0;
    11: U11, B1 B0 B1 B1;
    12: U12, B1 B1 B0 B0;
    13: U13, B1 B1 B0 B1;
    14: U14, B1 B1 B1 B0;
    15: U15, B1 B1 B1 B1;
}

/// The typenum number of a constant size below 2³².
#[doc(hidden)]
#[macro_export]
macro_rules! __nat {
    ($size:expr) => {
        $crate::__nat!(@digits $size; 28 24 20 16 12 8 4 0 => $crate::__private::UTerm)
    };
    (@digits $size:expr; $shift:literal $($rest:literal)* => $number:ty) => {
        $crate::__nat!(@digits $size; $($rest)* =>
            <$number as $crate::dims::PushDigit<{ ($size >> $shift) & 15 }>>::Output)
    };
    (@digits $size:expr; => $number:ty) => { $number };
}
