use super::Precision;
use crate::backend::elements_of;
use crate::model_tensors::{ModelTensor, visit_tensors};
use crate::ops::Real;
use crate::weights::{ExpectedTensor, LoadError, Loadable, load_from};
use dfdx::{nn::TensorCollection, tensor_ops::Device};
use std::collections::HashMap;

/// A module whose weights can be stored in another precision. [`#[module]`](macro@crate::module) implements it for a
/// module with a parameter `P: Precision`.
///
/// ```
/// use typed_transformer::{doctest::*, nn::{Linear, Q8, WithPrecision}, prelude::*};
/// let device = Cpu::default();
/// let map = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&device);
/// let small: Linear<EmbedDim, VocabSize, f32, Cpu, Q8> = map.with_precision()?;
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = device.zeros();
/// assert_eq!(small.forward(x)?.as_vec()[..28], map.bias.as_vec());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait WithPrecision<E: Real, D: Device<E>>: TensorCollection<E, D> {
    /// The module with another precision.
    type With<P: Precision>: Loadable<E, D>;

    /// A copy of the module whose weights are stored in `P`.
    ///
    /// # Errors
    /// [`LoadError::Precision`] if a weight is too large for `P`, and [`LoadError::Device`] if the device fails.
    fn with_precision<P: Precision>(&self) -> Result<Self::With<P>, LoadError> {
        let (mut device, mut weights) = (None, HashMap::new());
        visit_tensors(self, "", |ModelTensor { path, tensor, .. }| {
            device.get_or_insert_with(|| tensor.device().clone());
            let elements = tensor.flat();
            let elements =
                elements.map_err(|error| LoadError::Device { tensor: path.clone(), message: error.to_string() })?;
            weights.insert(path, elements);
            Ok(())
        })?;
        let mut read = |expected: &ExpectedTensor| {
            let elements = weights.get(expected.path).ok_or_else(|| expected.missing())?;
            Ok(elements_of(elements))
        };
        // A module without parameters reads none.
        load_from("", &device.unwrap_or_default(), &mut read)
    }
}
