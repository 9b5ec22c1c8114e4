//! Tensors on a tape that is no model's.

#![allow(dead_code, reason = "each binary uses a part of it")]

use dfdx::shapes::Shape;
use dfdx::tensor::{AutoDevice, PutTape, Storage, Tensor};
use typed_transformer::{ops::Real, prelude::Device, train::Recording};

/// A tape of its own.
pub type OwnTape<E, D = AutoDevice> = Recording<(), E, D>;

/// A leaf, whose gradient the backward pass keeps.
pub trait Recorded {
    /// The same tensor on a tape.
    type Recorded;

    /// A copy on a new tape.
    fn recorded(&self) -> Self::Recorded;
}

impl<Dims: Shape, E: Real, D: Device<E> + Storage<E>> Recorded for Tensor<Dims, E, D> {
    type Recorded = Tensor<Dims, E, D, OwnTape<E, D>>;

    fn recorded(&self) -> Self::Recorded {
        self.clone().put_tape(OwnTape::default())
    }
}
