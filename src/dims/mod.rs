//! Dimensions as types, their products, and the relations between them.
//!
//! A dimension is anything that implements dfdx's [`Dim`]; [`dims!`](crate::dims!) declares named
//! ones. Two dimensions of the same size and different names are different types, so a tensor over
//! one does not go where a tensor over the other belongs.
//!
//! | kind | declared by | size known | made by |
//! | --- | --- | --- | --- |
//! | compile-time | `pub VocabSize = 28;` | at compile time | its name: `VocabSize` |
//! | bounded run-time | `pub SrcLen <= MaxSeqLen;` | at run time, checked | `SrcLen::new(7)?` |
//! | free run-time | `pub Batch;` | at run time | `Batch::new(50)` |
//! | of one value | `local_dims! { let src: SrcLen = 7; }` | at run time | the declaration itself |
//! | anonymous | dfdx's [`Const<N>`](dfdx::shapes::Const) | at compile time | `Const` |
//! | unchecked | `usize` | at run time | its value |
//!
//! ```
//! use typed_transformer::prelude::*;
//!
//! dims! {
//!     /// Size of the vocabulary.
//!     pub VocabSize = 28;
//!     /// The longest sequence that the model takes.
//!     pub MaxSeqLen = 15;
//!     /// Length of the source of this batch.
//!     pub SrcLen <= MaxSeqLen;
//!     /// Sequences in this batch.
//!     pub Batch;
//! }
//!
//! assert_eq!(VocabSize::SIZE, 28);
//! assert_eq!(format!("{:?}", (Batch::new(50), VocabSize)), "(Batch=50, VocabSize=28)");
//! assert_eq!(
//!     SrcLen::new(16).unwrap_err().to_string(),
//!     "`SrcLen` of 16 is longer than `MaxSeqLen` of 15",
//! );
//! ```

mod axis;
mod declare;
mod local;
mod product;
mod relations;
mod size;
mod sum;

pub use axis::{AxisOf, BroadcastFrom, ConcatAxis, HasAxis, PermutationOf, SameAxes, along, axis};
pub use declare::BoundedSize;
pub use dfdx::shapes::{Const, ConstDim, Dim};
pub use local::LocalSize;
pub use product::{Product, Quotient};
pub use relations::{AtMost, Divides, EqualProducts, Even, LessThan, SumOf};
pub use size::{CountFactor, FullyStatic, PushBit, StaticSize};
pub use sum::Sum;

use std::any::type_name;

/// What can be wrong with the size of a dimension at run time.
///
/// ```
/// use typed_transformer::{dims, dims::DimError};
/// dims! { pub MaxSeqLen = 15; pub SrcLen <= MaxSeqLen; }
/// let Err(DimError::TooLong { dim, size, max, max_size }) = SrcLen::new(17) else { panic!() };
/// assert_eq!((dim, size, max.as_str(), max_size), ("SrcLen", 17, "MaxSeqLen", 15));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DimError {
    /// A bounded dimension was made longer than its bound.
    #[error("`{dim}` of {size} is longer than `{max}` of {max_size}")]
    TooLong {
        /// Name of the dimension.
        dim: &'static str,
        /// The size that was asked for.
        size: usize,
        /// Name of its bound.
        max: String,
        /// Size of the bound.
        max_size: usize,
    },
    /// Two run-time dimensions of one name met with different sizes.
    #[error("`{dim}` is {expected} in {one} and {found} in {other}")]
    Mismatch {
        /// Name of the dimension.
        dim: String,
        /// Where the first size stands.
        one: &'static str,
        /// The first size.
        expected: usize,
        /// Where the second size stands.
        other: &'static str,
        /// The second size.
        found: usize,
    },
}

/// Checks that a dimension has the same size in two places; free for compile-time dimensions.
///
/// # Errors
/// [`DimError::Mismatch`], with the name of the dimension, both places and both sizes.
///
/// ```
/// use typed_transformer::{dims, dims::same};
/// dims! { pub Batch; }
/// let error = same("the query", Batch::new(3), "the key", Batch::new(4)).unwrap_err();
/// assert_eq!(error.to_string(), "`Batch` is 3 in the query and 4 in the key");
/// ```
pub fn same<Any: Dim>(
    one: &'static str,
    expected: Any,
    other: &'static str,
    found: Any,
) -> Result<(), DimError> {
    if expected == found {
        return Ok(());
    }
    Err(DimError::Mismatch { dim: name::<Any>(), one, expected: expected.size(), other, found: found.size() })
}

/// The name of a dimension, of a shape or of any other type as the user wrote it, without paths.
///
/// ```
/// use typed_transformer::{dims, dims::{name, Product}};
/// dims! { pub NumHeads = 7; pub HeadDim = 5; }
/// assert_eq!(name::<(Product<NumHeads, HeadDim>, usize)>(), "(Product<NumHeads, HeadDim>, usize)");
/// ```
#[must_use]
pub fn name<Any: ?Sized>() -> String {
    let path = type_name::<Any>();
    let mut out = String::with_capacity(path.len());
    for piece in path.split_inclusive(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')) {
        out.push_str(piece.rsplit("::").next().unwrap_or(piece));
    }
    out
}
