//! Dimensions as types, their sums and products, and the relations between them.
//!
//! A dimension is a type that implements [`Dim`], or a rank's part of one, a [`Shard`](crate::ranks::Shard).
//! [`dims!`](crate::dims!) declares named dimensions. Dimensions of different names are different types, even if their
//! sizes are equal: a tensor over `SrcLen` is not accepted where one over `TgtLen` is expected.
//!
//! | kind | declared by | size known | made by |
//! | --- | --- | --- | --- |
//! | compile-time | `pub VocabSize = 28;` | at compile time | its name: `VocabSize` |
//! | bounded run-time | `pub SrcLen <= MaxSeqLen;` | at run time, checked | `SrcLen::new(7)?` |
//! | free run-time | `pub Batch;` | at run time | `Batch::new(50)` |
//! | local | `local_dims! { let src: SrcLen = 7; }` | at run time | the declaration itself |
//! | anonymous | dfdx's [`Const<N>`](dfdx::shapes::Const) | at compile time | `Const` |
//! | unchecked | [`Unchecked`] | at run time | `Unchecked(7)` |
//!
//! ```
//! use typed_transformer::prelude::*;
//!
//! dims! {
//!     /// Size of the vocabulary.
//!     pub VocabSize = 28;
//!     /// The longest sequence that the model accepts.
//!     pub MaxSeqLen = 15;
//!     /// Length of the sources in a batch.
//!     pub SrcLen <= MaxSeqLen;
//!     /// Number of sequences in a batch.
//!     pub Batch;
//! }
//!
//! assert_eq!(VocabSize::SIZE, 28);
//! assert_eq!(format!("{:?}", (Batch::new(50), VocabSize)), "(Batch=50, VocabSize=28)");
//! assert_eq!(SrcLen::new(16).unwrap_err().to_string(), "`SrcLen` of 16 is longer than `MaxSeqLen` of 15");
//! ```

mod axis;
mod declare;
pub(crate) mod dim;
pub(crate) mod local;
mod product;
mod relations;
mod shape;
mod size;
mod sum;
mod windows;

pub use axis::{AxisOf, BroadcastFrom, ConcatAxis, Continues, HasAxis, PermutationOf, along, axis};
pub(crate) use axis::{for_each_axis, for_each_shape};
pub use declare::CheckedSize;
pub use dfdx::shapes::Const;
/// dfdx's own trait of a dimension. A [`Tensor`](crate::prelude::Tensor) needs it, so rustc may propose it as a bound.
/// Functions of yours have the bound [`DataDim`] or [`Dim`] instead, which include it.
pub use dfdx::shapes::Dim as DfdxDim;
pub use dim::{AnyDim, ConstDim, DataDim, Dim, Factor, RankAxis, Unchecked};
pub(crate) use dim::{name, without_paths};
pub use product::{Product, ProductDim, Quotient, QuotientDim, SameFactors};
pub use relations::{AtMost, Bounded, Divides, Even, HasIndex, LengthOf, LessThan, SumOf};
pub use shape::{AxesAmong, DataShape, EndsIn, NamedShape, RenameOf, WholeShape};
pub use size::{CountFactor, PushDigit, StaticKind, StaticSize};
pub use sum::{Sum, SumDim};
pub(crate) use typed_transformer_cpu::{Unnamed, UnnamedTensor, unnamed};
pub use windows::{ConvLen, KernelOf, Strided, WindowOf, Windows, WindowsDim};

use dfdx::shapes::Shape;

/// Implements `Copy` and `Eq` by one field. Derived impls would require the same traits of the type parameters.
macro_rules! copied_and_compared {
    ($name:ident<$($parameter:ident),*> by $field:tt) => {
        impl<$($parameter),*> Clone for $name<$($parameter),*> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<$($parameter),*> Copy for $name<$($parameter),*> {}
        impl<$($parameter),*> PartialEq for $name<$($parameter),*> {
            fn eq(&self, other: &Self) -> bool {
                self.$field == other.$field
            }
        }
        impl<$($parameter),*> Eq for $name<$($parameter),*> {}
    };
}
pub(crate) use copied_and_compared;

/// Implements `Clone` field by field. A derived impl would require it of the type parameters.
macro_rules! cloned {
    ($(#[$doc:meta])* [$($generics:tt)*] $Type:ty { $($field:ident),* }) => {
        $(#[$doc])*
        impl<$($generics)*> Clone for $Type {
            fn clone(&self) -> Self {
                Self { $($field: Clone::clone(&self.$field)),* }
            }
        }
    };
}
pub(crate) use cloned;

/// The error of an invalid run-time size.
///
/// ```
/// use typed_transformer::{dims, dims::DimError};
/// dims! { pub MaxSeqLen = 15; pub SrcLen <= MaxSeqLen; }
/// let Err(DimError::TooLong { dim, size, max, max_size }) = SrcLen::new(17) else { panic!() };
/// assert_eq!((dim, size, max.as_str(), max_size), ("SrcLen", 17, "MaxSeqLen", 15));
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the fields of a variant are the words of its sentence")]
pub enum DimError {
    /// A bounded dimension is longer than its bound.
    #[error("`{dim}` of {size} is longer than `{max}` of {max_size}")]
    TooLong { dim: &'static str, size: usize, max: String, max_size: usize },
    /// A run-time dimension has different sizes in two operands.
    #[error("`{dim}` is {expected} in {left} and {found} in {right}")]
    Mismatch { dim: String, left: &'static str, expected: usize, right: &'static str, found: usize },
}
crate::error::debug_by_sentence!(DimError);

/// Checks that a dimension has the same size in two operands, which `left` and `right` describe.
///
/// For compile-time dimensions, the check costs nothing.
///
/// # Errors
/// [`DimError::Mismatch`] if the sizes differ.
pub(crate) fn check_same_size<Any: AnyDim>(
    left: &'static str,
    expected: Any,
    right: &'static str,
    found: Any,
) -> Result<(), DimError> {
    if expected == found {
        return Ok(());
    }
    let dim = name::<Any>();
    Err(DimError::Mismatch { dim, left, expected: expected.size(), right, found: found.size() })
}

/// The number of elements of a tensor over these sizes; `usize::MAX` if a tensor cannot have as many.
pub(crate) fn num_elements<Dims: Shape>(shape: &Dims) -> usize {
    // A size of 0 counts as 1 in the check: strides are products of the other sizes, and must not overflow either.
    let sizes = || shape.concrete().into_iter();
    let is_countable = sizes().try_fold(1usize, |product, size| product.checked_mul(size.max(1))).is_some();
    if is_countable { sizes().product() } else { usize::MAX }
}
