//! The axes of a shape with products split into their factors, so that a product can be split or merged.

use super::{CountFactor, for_each_shape};

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
    note = "`rearrange!` changes the order of axes, and splits and merges those of a generic function; `rename` changes the name of one"
)]
pub trait SameFactors<Other> {
    /// Whether the axes whose sizes are known at run time have those of `other`.
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

/// The two lists of factors are the same. (The rule is one of `()`, because rustc would show the shapes, with their
/// products, if it were one of a shape.)
#[diagnostic::on_unimplemented(
    message = "`{One}` and `{Other}` are not the same axes in the same order",
    label = "with products split, the axes are `{One}` and `{Other}`",
    note = "`rearrange!` changes the order of axes, `rename` the name of one"
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

    /// The sizes of the axes that hold one. The type of each other axis has it.
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
                let size = (size_of::<$first>() > 0).then(|| $first.size());
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
