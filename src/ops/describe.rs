use super::Real;
use dfdx::{
    shapes::{HasShape, Shape},
    tensor::{Storage, Tensor},
};
use std::any::type_name;

/// A description of a tensor in one line; dfdx's own `Debug` prints all elements.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub Batch; pub SrcLen; pub EmbedDim = 8; }
/// let shape = (Batch::new(50), SrcLen::new(15), EmbedDim);
/// let x: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> = Cpu::default().zeros_like(&shape);
/// assert_eq!(x.describe(), "Tensor (Batch=50, SrcLen=15, EmbedDim=8) f32");
/// ```
pub trait Describe {
    /// The kind, the dimensions with their sizes, and the dtype.
    #[must_use]
    fn describe(&self) -> String;
}

impl<Dims: Shape, E: Real, D: Storage<E>, T> Describe for Tensor<Dims, E, D, T> {
    fn describe(&self) -> String {
        format!("Tensor {:?} {}", self.shape(), type_name::<E>())
    }
}
