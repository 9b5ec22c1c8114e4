//! Tensors on a tape that is no model's.

#![allow(dead_code, reason = "each binary uses a part of it")]

use dfdx::nn::TensorCollection;
use dfdx::shapes::Shape;
use dfdx::tensor::{AutoDevice, PutTape, SplitTape, Storage, Tensor};
use typed_transformer::backend::Tape;
use typed_transformer::train::{Record, Recording};
use typed_transformer::{ops::Real, prelude::Device};

/// A tape of no model. The operations of a pass are compiled for each type of tape, so here all models share this one.
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

/// Gives `output` the type of the tape of `model`, so that an update of the model takes the gradients. The recorded pass
/// is the same.
pub fn of_model<Model, Dims: Shape, E: Real, D: Device<E>>(
    output: Tensor<Dims, E, D, OwnTape<E, D>>,
    model: &Model,
) -> Tensor<Dims, E, D, Recording<Model, E, D>>
where
    Model: TensorCollection<E, D>,
{
    let (output, mut own) = output.split_tape();
    let mut tape = model.recording();
    *tape.shared().unwrap() = own.shared().unwrap().clone();
    output.put_tape(tape)
}
