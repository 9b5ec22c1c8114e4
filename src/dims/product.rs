//! Products of dimensions, quotients, and shapes that have the same axes once products are split into their factors.

use super::size::StaticKind;
use super::{AnyDim, ConstDim, CountFactor, DataDim, Dim, Divides, Factor, StaticSize, for_each_shape};
use dfdx::shapes;
use std::ops::{Div, Mul};
use std::{fmt, marker::PhantomData};

/// The dimension of `Left::SIZE * Right::SIZE` elements: `Left` groups of `Right` elements each.
///
/// It is symbolic: `Product<NumHeads, HeadDim>` and `Product<HeadDim, NumHeads>` are different
/// dimensions of the same size (*The Typed Transformer*, "Multi-head attention").
///
/// The compiler's messages call it [`ProductDim`].
///
/// ```
/// use typed_transformer::{dims, dims::{ConstDim, Product}};
/// dims! { pub NumHeads = 7; pub HeadDim = 5; }
/// assert_eq!(Product::<NumHeads, HeadDim>::SIZE, 35);
/// ```
pub type Product<Left, Right> = ProductDim<Left, Right>;

/// [`Product`], by the name in the compiler's messages.
pub struct ProductDim<Left, Right>(PhantomData<fn() -> (Left, Right)>);

/// The dimension of `Whole::SIZE / Parts::SIZE` elements, for `Parts` that divide `Whole`.
///
/// It gives the head size of a model that chooses the width of its embeddings and the number of heads.
///
/// The compiler's messages call it [`QuotientDim`].
///
/// ```
/// use typed_transformer::{dims, dims::{ConstDim, Quotient}};
/// dims! { pub EmbedDim = 128; pub NumHeads = 2; }
/// assert_eq!(Quotient::<EmbedDim, NumHeads>::SIZE, 64);
/// ```
pub type Quotient<Whole, Parts> = QuotientDim<Whole, Parts>;

/// [`Quotient`], by the name in the compiler's messages.
pub struct QuotientDim<Whole, Parts>(PhantomData<fn() -> (Whole, Parts)>);

impl<Left: Factor, Right: Factor> Product<Left, Right> {
    /// The size.
    pub const SIZE: usize = Left::SIZE * Right::SIZE;

    /// The size.
    #[must_use]
    pub fn size(self) -> usize {
        Self::SIZE
    }
}
impl<Whole: ConstDim, Parts: Divides<Whole>> Quotient<Whole, Parts> {
    /// The size.
    pub const SIZE: usize = Whole::SIZE / Parts::SIZE;

    /// The size.
    #[must_use]
    pub fn size(self) -> usize {
        Self::SIZE
    }
}

#[diagnostic::do_not_recommend]
impl<Left: Factor, Right: ConstDim> AnyDim for Product<Left, Right> {
    fn whole_size(self) -> usize {
        Self::WHOLE_SIZE
    }
    fn static_size() -> Option<usize> {
        Some(Self::SIZE)
    }
}
#[diagnostic::do_not_recommend]
impl<Left: ConstDim, Right: ConstDim> DataDim for Product<Left, Right> {}
#[diagnostic::do_not_recommend]
impl<Left: ConstDim, Right: ConstDim> Dim for Product<Left, Right> {}
#[diagnostic::do_not_recommend]
impl<Left: Factor, Right: ConstDim> Factor for Product<Left, Right> {
    type Whole = Product<Left::Whole, Right>;
    type Axis = Left::Axis;
    const NUM_FACTORS: usize = Left::NUM_FACTORS + Right::NUM_FACTORS;
}
#[diagnostic::do_not_recommend]
impl<Left: ConstDim, Right: ConstDim> ConstDim for Product<Left, Right> {}
crate::__whole_dim!([Whole: ConstDim, Parts: Divides<Whole>] Quotient<Whole, Parts>, Some(Self::SIZE));
#[diagnostic::do_not_recommend]
impl<Whole: ConstDim, Parts: Divides<Whole>> Factor for Quotient<Whole, Parts> {
    type Whole = Self;
    type Axis = ();
}
// It has no `do_not_recommend`: the compiler then goes on to `Divides`, and shows that trait's message.
impl<Whole: ConstDim, Parts: Divides<Whole>> ConstDim for Quotient<Whole, Parts> {}

impl<Left, Right> StaticSize for Product<Left, Right>
where
    Left: StaticSize<Nat: Mul<Right::Nat>>,
    Right: StaticSize,
{
    type Nat = typenum::Prod<Left::Nat, Right::Nat>;
    type Factors<Rest> = Left::Factors<Right::Factors<Rest>>;
}
impl<Whole, Parts> StaticSize for Quotient<Whole, Parts>
where
    Whole: StaticSize<Nat: Div<Parts::Nat>>,
    Parts: StaticSize + Divides<Whole>,
{
    type Nat = typenum::Quot<Whole::Nat, Parts::Nat>;
    type Factors<Rest> = (Self, Rest);
}

crate::__count_by_size!([Left, Right] Product<Left, Right> where Self: StaticSize);
crate::__count_by_size!([Whole, Parts] Quotient<Whole, Parts> where Self: StaticSize);

#[diagnostic::do_not_recommend]
impl<Left, Right> StaticKind for Product<Left, Right> where Self: StaticSize {}
#[diagnostic::do_not_recommend]
impl<Whole, Parts> StaticKind for Quotient<Whole, Parts> where Self: StaticSize {}

/// Implements what dfdx requires of every dimension. Derived impls would require it of the operands too.
macro_rules! symbolic_dim {
    ($name:ident, $left:ident: $left_bound:path, $right:ident: $right_bound:path) => {
        impl<$left: $left_bound, $right: $right_bound> shapes::ConstDim for $name<$left, $right> {
            const SIZE: usize = Self::SIZE;
        }
        crate::__dfdx_dim!([$left: $left_bound, $right: $right_bound] $name<$left, $right>, |_| Self::SIZE, |size| {
            (size == Self::SIZE).then_some(Self(PhantomData))
        });
        impl<$left, $right> Default for $name<$left, $right> {
            fn default() -> Self {
                Self(PhantomData)
            }
        }
        crate::dims::copied_and_compared!($name<$left, $right> by 0);
    };
}
// The second factor is a `ConstDim`, whose impl for a quotient leads to `Divides`: an error of a shape shows that one.
symbolic_dim!(Product, Left: Factor, Right: ConstDim);
symbolic_dim!(Quotient, Whole: ConstDim, Parts: Divides<Whole>);

impl<Left: Factor, Right: Factor> fmt::Debug for Product<Left, Right> {
    /// The name and size of the product; with the flag `+` those of its factors, in which products are split, too.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.sign_plus() {
            return write!(f, "{} * {}", factor::<Left>(), factor::<Right>());
        }
        write!(f, "{}={}", super::name::<Self>(), Self::SIZE)
    }
}

/// A factor with its size, which the `Debug` of `Const` leaves out.
fn factor<Any: Factor>() -> String {
    let factor = format!("{:+?}", Any::default());
    if factor.contains('=') { factor } else { format!("{}={}", super::name::<Any>(), Any::SIZE) }
}

crate::error::debug_as!(
    [Whole: ConstDim, Parts: Divides<Whole>] Quotient<Whole, Parts>,
    |_, f| write!(f, "{}={}", super::name::<Self>(), Self::SIZE)
);

/// The shape has the axes of `Other`, in the same order, where a [`Product`](super::Product) counts as its factors.
///
/// ```
/// use typed_transformer::{dims, dims::{Product, SameFactors}};
/// dims! { pub Batch; pub NumHeads = 2; pub HeadDim = 4; }
/// fn can_be_reshaped<To, Dims: SameFactors<To>>() {}
/// can_be_reshaped::<(Batch, NumHeads, HeadDim), (Batch, Product<NumHeads, HeadDim>)>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` and `{Other}` are not known to have the same axes in the same order",
    label = "`{Self}` is not `{Other}` with products split or merged",
    note = "`rearrange!` changes the order of axes, and splits and merges those of a generic function; `rename` changes the name of one",
    note = "`flatten` and `unflatten` merge and split axes of run-time sizes"
)]
pub trait SameFactors<Other> {
    /// Whether run-time axes have the same sizes in `other`.
    #[doc(hidden)]
    fn has_sizes_of(self, other: Other) -> bool;
}

// Without `do_not_recommend`: rustc shows the factors in place of the products.
impl<Dims: FactorList<Tuple = One>, Other: FactorList<Tuple = Two>, One, Two> SameFactors<Other> for Dims
where
    (): SameOrder<One, Two>,
{
    fn has_sizes_of(self, other: Other) -> bool {
        self.run_time_sizes().eq(other.run_time_sizes())
    }
}

/// The two lists of factors are the same. (`()` implements it. If a shape did, rustc would show that shape, with its
/// products.)
#[diagnostic::on_unimplemented(
    message = "`{One}` and `{Other}` are not the same axes in the same order",
    label = "with products split, the axes are `{One}` and `{Other}`",
    note = "`rearrange!` changes the order of axes, `rename` the name of one",
    note = "`flatten` and `unflatten` merge and split axes of run-time sizes"
)]
pub trait SameOrder<One, Other> {}
#[diagnostic::do_not_recommend]
impl<Any> SameOrder<Any, Any> for () {}
/// A type that is no list of axes. `SameOrder<List, NoList>` is a second implementation for each list. Because of it,
/// rustc does not infer one list from the other: it compares them when it knows both.
pub struct NoList;

/// The axes of a shape. A `Product` counts as its factors.
#[diagnostic::on_unimplemented(
    message = "the factors of the axes `{Self}` are not known",
    label = "an axis of `{Self}` may be a product",
    note = "in a function that is generic in its axes, `rearrange!` splits and merges them"
)]
pub trait FactorList: Sized {
    /// The axes as nested pairs.
    type List;
    type Tuple;

    /// The sizes of the run-time axes. Every other axis has its size in its type.
    fn run_time_sizes(self) -> impl Iterator<Item = usize>;
}
macro_rules! factor_list {
    () => {
        #[diagnostic::do_not_recommend]
        impl FactorList for () {
            type List = ();
            type Tuple = ();

            fn run_time_sizes(self) -> impl Iterator<Item = usize> {
                std::iter::empty()
            }
        }
    };
    ($first:ident $($rest:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl<$first: CountFactor, $($rest,)*> FactorList for ($first, $($rest,)*)
        where
            ($($rest,)*): FactorList,
            $first::Factors<<($($rest,)*) as FactorList>::List>: Flat,
        {
            type List = $first::Factors<<($($rest,)*) as FactorList>::List>;
            type Tuple = <Self::List as Flat>::Tuple;

            #[allow(non_snake_case)]
            fn run_time_sizes(self) -> impl Iterator<Item = usize> {
                let ($first, $($rest,)*) = self;
                // The list of its run-time dimensions takes no memory if there is none. `$first` itself may take some
                // without one: a `Sum` of compile-time dimensions holds its size, too.
                let size = (size_of::<$first::Dynamic<()>>() > 0).then(|| $first.size());
                size.into_iter().chain(($($rest,)*).run_time_sizes())
            }
        }
    };
}
for_each_shape!(factor_list: A B C F G H);

/// Nested pairs of up to 12 axes, which are 6 products of two.
pub trait Flat {
    type Tuple;
}
macro_rules! flat {
    (@pairs) => { () };
    (@pairs $first:ident $($rest:ident)*) => { ($first, flat!(@pairs $($rest)*)) };
    ($($axis:ident)*) => {
        impl<$($axis),*> Flat for flat!(@pairs $($axis)*) {
            type Tuple = ($($axis,)*);
        }
        #[diagnostic::do_not_recommend]
        impl<$($axis),*> SameOrder<($($axis,)*), NoList> for () {}
    };
}
for_each_shape!(flat: A B C F G H I J K L M N);
