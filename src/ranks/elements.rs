//! All elements of a model, in the order of its fields.

use crate::error::Real;
use crate::model_tensors::{visit_tensors, visit_tensors_mut};
use dfdx::{nn::TensorCollection, tensor_ops::Device};

/// The elements of all tensors of a model.
pub fn read_elements<Model: TensorCollection<E, D>, E: Real, D: Device<E>>(model: &Model) -> Result<Vec<E>, D::Err> {
    let mut elements = Vec::new();
    visit_tensors::<_, E, D, _>(model, "", |visited| {
        elements.extend(visited.tensor.to_vec());
        Ok(())
    })?;
    Ok(elements)
}

/// Overwrites the elements of all tensors of a model.
pub fn write_elements<Model, E, D>(model: &mut Model, mut elements: &[E]) -> Result<(), D::Err>
where
    Model: TensorCollection<E, D>,
    E: Real,
    D: Device<E>,
{
    visit_tensors_mut::<_, E, D, _>(model, |visited| {
        let (own, rest) = elements.split_at(visited.tensor.num_elements());
        elements = rest;
        if own.is_empty() { Ok(()) } else { visited.tensor.set_from_vec(own.to_vec()) }
    })
}
