//! x
pub mod dims;
pub mod mask;
pub mod ops;
pub mod tokens;
#[doc(hidden)]
pub mod __private {
    pub use typenum::UTerm;
}
pub mod prelude {
    pub use crate::dims::*;
    pub use crate::{dims, mask::*, ops::*, tokens::*};
    pub use dfdx::{shapes::*, tensor::*};
}
