//! The traits of dimensions, a dimension that is not checked, an axis of ranks, and the name of a dimension.

use dfdx::shapes::{self, Const};
use std::any::type_name;

/// A dimension of a tensor: a type whose values have a size.
///
/// [`dims!`](crate::dims!) and [`local_dims!`](crate::local_dims!) declare named dimensions.
/// [`Product`](super::Product), [`Quotient`](super::Quotient) and [`Sum`](super::Sum) are made of others,
/// [`Const<N>`](Const) has a size in place of a name, and [`Unchecked`] has neither.
///
/// Signatures ask for one of five traits. A [`Shard`](crate::ranks::Shard) implements some, by what its
/// [ranks](crate::ranks!) divide: those of `pub World;` divide data, those of `pub Tp = 2;` a model.
///
/// | trait | size at compile time | shard of data | shard of a model | in a signature |
/// | --- | --- | --- | --- | --- |
/// | `AnyDim` | maybe | yes | yes | an axis of independent indices, in an operation without weights |
/// | [`DataDim`] | maybe | yes | no | an axis of independent indices in any operation, such as the batch |
/// | [`Dim`] | maybe | no | no | an axis that an operation sums, normalizes, indexes or orders |
/// | [`Factor`] | yes | no | yes | a factor of a [`Product`](super::Product), such as the heads |
/// | [`ConstDim`] | yes | no | no | a size of a model that no ranks divide, such as `EmbedDim` |
///
/// Every dimension implements dfdx's trait of the same name, which has `size()`. Its `from_size` makes a dimension of a
/// given size, if the type allows that size; one of [`local_dims!`](crate::local_dims!) allows only the declared sizes.
///
/// ```
/// use typed_transformer::{dims, dims::Dim};
/// dims! { pub Batch; }
/// fn double<Any: Dim>(dim: Any) -> usize {
///     2 * dim.size()
/// }
/// assert_eq!(double(Batch::new(3)), 6);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a whole dimension",
    label = "`{Self}` is not a whole dimension",
    note = "`dims! {{ pub Name; }}` declares a dimension, `Const::<8>` is one, and `Unchecked` fits any other one; `Len::new(8)?` makes one with a bound; the factors of a `Product` have their sizes at compile time, and `flatten` merges other axes; `*x.shape()` has dimensions, `x.shape()` references"
)]
pub trait Dim: DataDim {}

/// A dimension that may be sharded over data: a [`Dim`], or, where ranks divide data, a rank's part of one
/// ([`Shard`](crate::ranks::Shard)).
///
/// A module whose batch is a `B: DataDim` trains in one process and on many ranks
/// ([`guide::ranks`](crate::guide::ranks)).
///
/// A shard of a model does not implement this trait ([table](Dim)). If a weight that all ranks have is applied along
/// such a shard, each rank computes only its own term of that weight's gradient, and nothing would sum the terms.
///
/// ```
/// use typed_transformer::{prelude::*, ranks, ranks::Ranks};
/// ranks! { pub World; }
/// dims! { pub Batch; }
/// fn num_rows<B: DataDim>(batch: B) -> usize {
///     batch.size()
/// }
/// let parts = Ranks::<World>::in_threads(2, |ranks| num_rows(ranks.shard(Batch::new(5))));
/// assert_eq!((num_rows(Batch::new(5)), parts), (5, vec![3, 2]));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a dimension",
    label = "`{Self}` is not a dimension",
    note = "`dims! {{ pub Name; }}` declares a dimension, `Const::<8>` is one, and `Unchecked` fits any other one; `Len::new(8)?` makes one with a bound; the factors of a `Product` have their sizes at compile time, and `flatten` merges other axes; `*x.shape()` has dimensions, `x.shape()` references"
)]
pub trait DataDim: AnyDim {}

/// A dimension, or a rank's part of one, whether its ranks divide data or a model.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a dimension",
    label = "`{Self}` is not a dimension",
    note = "`dims! {{ pub Name; }}` declares a dimension, `Const::<8>` is one, and `Unchecked` fits any other one; `Len::new(8)?` makes one with a bound; the factors of a `Product` have their sizes at compile time, and `flatten` merges other axes; `*x.shape()` has dimensions, `x.shape()` references"
)]
pub trait AnyDim: shapes::Dim {
    /// The size of all ranks' parts together.
    fn whole_size(self) -> usize {
        self.size()
    }

    /// The size, if the type alone says it.
    fn static_size() -> Option<usize> {
        None
    }
}

/// A dimension whose size is known at compile time, as the constant `SIZE`.
///
/// ```
/// use typed_transformer::{dims, dims::ConstDim};
/// dims! { pub EmbedDim = 8; }
/// fn columns<Width: ConstDim>() -> usize {
///     Width::SIZE
/// }
/// assert_eq!(columns::<EmbedDim>(), EmbedDim::SIZE);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a whole compile-time dimension",
    label = "`{Self}` has no size at compile time, or it is a rank's part of a dimension",
    note = "`dims! {{ pub Name = 8; }}` declares one, and `Const::<8>` is one; a `Product` is made of two; the parts of a `Quotient` divide its whole; gather a `Shard` first, or write the bound `dims::Factor`, and `tensor_parallel::linear_column` for `linear`"
)]
pub trait ConstDim: Dim + Factor {}

/// A dimension whose size is known at compile time, or one rank's part of one: a factor of a
/// [`Product`](super::Product), such as the heads of an attention.
///
/// ```
/// use typed_transformer::{dims::Factor, prelude::*, ranks, ranks::Shard};
/// ranks! { pub Tp = 2; }
/// dims! { pub NumHeads = 8; pub HeadDim = 4; }
/// fn num_columns<H: Factor>() -> [usize; 2] {
///     [Product::<H, HeadDim>::SIZE, Product::<H, HeadDim>::WHOLE_SIZE]
/// }
/// assert_eq!([num_columns::<NumHeads>(), num_columns::<Shard<NumHeads, Tp>>()], [[32, 32], [16, 32]]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a compile-time dimension",
    label = "`{Self}` has no size at compile time",
    note = "`dims! {{ pub Name = 8; }}` declares one; the parts of a `Quotient` and the ranks of a `Shard` divide their whole without remainder; ranks divide the first factor of a `Product`",
    note = "`flatten` merges axes of run-time sizes"
)]
pub trait Factor: AnyDim + shapes::ConstDim {
    /// The dimension that all ranks' parts are together; of a dimension that no ranks divide, itself.
    type Whole: ConstDim;
    /// The axis of ranks that divide `Whole`; `()` if none do.
    type Axis: RankAxis;
    /// How many dimensions a [`Product`](super::Product) is made of; 1 for any other dimension.
    #[doc(hidden)]
    const NUM_FACTORS: usize = 1;
    /// The size of `Whole`.
    const WHOLE_SIZE: usize = <Self::Whole as shapes::ConstDim>::SIZE;
    /// The name and the size, such as `EmbedDim=8`.
    #[doc(hidden)]
    fn text() -> String {
        format!("{:?}", Self::default())
    }
}

/// Implements dfdx's trait of dimensions: the size of a value, and the value of a size. An impl without generics is
/// kept out of errors.
#[doc(hidden)]
#[macro_export]
macro_rules! __dfdx_dim {
    ([] $($dim:tt)*) => { $crate::__dfdx_dim!(#[diagnostic::do_not_recommend] [] $($dim)*); };
    ($(#[$meta:meta])* [$($generics:tt)*] $name:ty, |$this:pat_param| $own_size:expr, |$size:ident| $of_size:expr) => {
        $(#[$meta])*
        impl<$($generics)*> $crate::dims::DfdxDim for $name {
            #[inline(always)]
            fn size(&self) -> usize {
                let $this = self;
                $own_size
            }
            #[inline(always)]
            fn from_size($size: usize) -> ::core::option::Option<Self> {
                $of_size
            }
        }
    };
}

/// Implements the traits of a dimension that is never a rank's part of one.
#[doc(hidden)]
#[macro_export]
macro_rules! __whole_dim {
    ([$($generics:tt)*] $name:ty $(, $static_size:expr)?) => {
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> $crate::dims::AnyDim for $name {
            $(fn static_size() -> ::core::option::Option<usize> {
                $static_size
            })?
        }
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> $crate::dims::DataDim for $name {}
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> $crate::dims::Dim for $name {}
    };
}

__whole_dim!([const N: usize] Const<N>, Some(N));
#[diagnostic::do_not_recommend]
impl<const N: usize> Factor for Const<N> {
    type Whole = Self;
    type Axis = ();
}
#[diagnostic::do_not_recommend]
impl<const N: usize> ConstDim for Const<N> {}

/// A run-time dimension without a name: any two are the same type, and only their sizes are compared, at run time.
///
/// It is for sizes that mean nothing to a model, such as the number of rows of a file.
///
/// ```
/// use typed_transformer::{dims::Unchecked, prelude::*};
/// dims! { pub EmbedDim = 2; }
/// let rows: Tensor<(Unchecked, EmbedDim), f32, Cpu> = Cpu::default().zeros_like(&(Unchecked(3), EmbedDim));
/// assert_eq!(sum_over(rows, axis::<EmbedDim>())?.as_vec(), [0.0; 3]);
/// # Ok::<(), OpError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Unchecked(pub usize);

impl Unchecked {
    /// The size.
    #[must_use]
    pub fn size(self) -> usize {
        self.0
    }
}

__dfdx_dim!([] Unchecked, |this| this.0, |size| Some(Self(size)));
__whole_dim!([] Unchecked);
crate::dims!(@run_time [] Unchecked);
crate::error::debug_as!([] Unchecked, |this, f| write!(f, "{}", this.0));

/// An axis of ranks: processes that hold parts or copies of the same values. [`ranks!`](crate::ranks!) declares one.
///
/// ```
/// use typed_transformer::{dims::RankAxis, ranks};
/// ranks! { pub World; }
/// fn describe<Axis: RankAxis>() -> String {
///     format!("{} ranks", Axis::NAME)
/// }
/// assert_eq!(describe::<World>(), "World ranks");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an axis of ranks",
    label = "`{Self}` is not an axis of ranks",
    note = "`ranks! {{ pub World; }}` declares an axis of ranks"
)]
pub trait RankAxis: Copy + Send + Sync + 'static {
    /// The name, for errors.
    const NAME: &'static str;
    /// The number of ranks, if the type says it.
    const EXPECTED_SIZE: Option<usize>;
}

/// One process: the axis of a dimension that no ranks divide.
#[diagnostic::do_not_recommend]
impl RankAxis for () {
    const NAME: &'static str = "()";
    const EXPECTED_SIZE: Option<usize> = Some(1);
}

/// The name of a type without module paths, as a program writes it: `(Batch, Product<NumHeads, HeadDim>)`.
#[must_use]
pub fn name<Any: ?Sized>() -> String {
    without_paths(type_name::<Any>())
}

/// The name of a type, as a program writes it, from its name with paths.
pub fn without_paths(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    // The path of a type that is declared in a closure or in an asynchronous block.
    let path = path.replace("{{closure}}::", "");
    for piece in path.split_inclusive(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')) {
        out.push_str(match piece.rsplit("::").next().unwrap_or(piece) {
            "ProductDim<" => "Product<",
            "QuotientDim<" => "Quotient<",
            "SumDim<" => "Sum<",
            "WindowsDim<" => "Windows<",
            name => name,
        });
    }
    out
}
