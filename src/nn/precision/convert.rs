use super::Precision;
use crate::model_tensors::visit_tensors;
use crate::ops::Real;
use crate::weights::{LoadError, Loadable, TensorSource};
use dfdx::{nn::TensorCollection, tensor_ops::Device};

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
        let mut device = None;
        let found: Result<(), ()> = visit_tensors(self, "", |tensor| {
            device = Some(tensor.tensor.device().clone());
            Err(())
        });
        debug_assert_eq!(found.is_err(), device.is_some());
        // A module without parameters reads none.
        let device = device.unwrap_or_default();
        let mut read = |expected: &crate::weights::ExpectedTensor| {
            let mut elements = None;
            let _: Result<(), ()> = visit_tensors(self, "", |tensor| match tensor.path == expected.path {
                true => {
                    elements = Some(tensor.tensor.to_vec());
                    Err(())
                }
                false => Ok(()),
            });
            elements.ok_or_else(|| expected.missing())
        };
        Self::With::<P>::load_from(&mut TensorSource::new(&device, &mut read), "")
    }
}
