use super::{elementwise::sum_of_squares, parameter_tensor::ParameterTensor};
use crate::{backend::Backend, ops::Real};
use dfdx::{
    nn::{TensorOptions, TensorVisitor, ViewTensorRef},
    shapes::Shape,
    tensor::{Gradients, Tensor},
};

/// Adds up the squares of the gradients.
pub(super) struct SumSquares<'a, E: Real, D: Backend<E>> {
    pub gradients: &'a mut Gradients<E, D>,
    /// Of the parameters that were read so far.
    pub sums: Vec<f64>,
}

impl<E: Real, D: Backend<E>> TensorVisitor<E, D> for SumSquares<'_, E, D> {
    type Viewer = ViewTensorRef;
    type Err = D::Err;
    type E2 = E;
    type D2 = D;

    fn visit<S: Shape>(
        &mut self,
        options: TensorOptions<S, E, D>,
        tensor: &Tensor<S, E, D>,
    ) -> Result<Option<Tensor<S, E, D>>, D::Err> {
        if !options.do_gradient_update {
            return Ok(None);
        }
        if self.sums.is_empty() {
            tensor.device().try_enable_cache()?;
        }
        self.sums.push(match D::gradient_mut(self.gradients.get_or_alloc_mut(tensor)?) {
            Some(gradient) => sum_of_squares::<E, D>(gradient),
            None => D::try_sum_of_squares(tensor.gradient(self.gradients)?)?,
        });
        Ok(None)
    }
}
