//! All elements of a model, in the order of its fields.

use crate::error::Real;
use dfdx::{
    nn::{RecursiveWalker, TensorCollection, TensorOptions, TensorVisitor, ViewTensorMut, ViewTensorRef},
    shapes::{HasShape, Shape},
    tensor::Tensor,
    tensor_ops::Device,
};

/// The elements of all tensors of a model.
pub fn read_elements<Model, E, D>(model: &Model) -> Result<Vec<E>, D::Err>
where
    Model: TensorCollection<E, D>,
    E: Real,
    D: Device<E>,
{
    let mut read = ReadElements(Vec::new());
    Model::iter_tensors(&mut RecursiveWalker { m: model, f: &mut read })?;
    Ok(read.0)
}

/// Overwrites the elements of all tensors of a model.
pub fn write_elements<Model, E, D>(model: &mut Model, elements: &[E]) -> Result<(), D::Err>
where
    Model: TensorCollection<E, D>,
    E: Real,
    D: Device<E>,
{
    Model::iter_tensors(&mut RecursiveWalker { m: model, f: &mut WriteElements(elements) })?;
    Ok(())
}

struct ReadElements<E>(Vec<E>);

impl<E: Real, D: Device<E>> TensorVisitor<E, D> for ReadElements<E> {
    type Viewer = ViewTensorRef;
    type Err = D::Err;
    type E2 = E;
    type D2 = D;

    fn visit<S: Shape>(
        &mut self,
        _: TensorOptions<S, E, D>,
        tensor: &Tensor<S, E, D>,
    ) -> Result<Option<Tensor<S, E, D>>, D::Err> {
        // dfdx's `as_vec` panics on a tensor without elements.
        if tensor.shape().num_elements() > 0 {
            self.0.extend(tensor.as_vec());
        }
        Ok(None)
    }
}

struct WriteElements<'a, E>(&'a [E]);

impl<E: Real, D: Device<E>> TensorVisitor<E, D> for WriteElements<'_, E> {
    type Viewer = ViewTensorMut;
    type Err = D::Err;
    type E2 = E;
    type D2 = D;

    fn visit<S: Shape>(
        &mut self,
        _: TensorOptions<S, E, D>,
        tensor: &mut Tensor<S, E, D>,
    ) -> Result<Option<Tensor<S, E, D>>, D::Err> {
        let (elements, rest) = self.0.split_at(tensor.shape().num_elements());
        // The elements are in row-major order; the tensor's storage may have another one.
        if !elements.is_empty() {
            *tensor = tensor.device().try_tensor_from_vec(elements.to_vec(), *tensor.shape())?;
        }
        self.0 = rest;
        Ok(None)
    }
}
