use crate::{backend::Backend, ops::Real};
use dfdx::{
    shapes::{HasShape, Shape},
    tensor::{Gradients, Tensor},
    tensor_ops::ReshapeTo,
};
use std::ops::Range;

/// The tensor of a parameter, whatever its dimensions.
pub(super) trait ParameterTensor<E: Real, D: Backend<E>> {
    fn values(&self) -> Result<Tensor<(usize,), E, D>, D::Err>;
    fn set_values(&mut self, values: Tensor<(usize,), E, D>) -> Result<(), D::Err>;
    fn zeros(&self, len: usize) -> Result<Tensor<(usize,), E, D>, D::Err>;
    fn gradient(&self, gradients: &mut Gradients<E, D>) -> Result<Tensor<(usize,), E, D>, D::Err>;
    /// The elements of the values and of the gradient, if they lie in the memory of this process in one order.
    fn elements_mut<'a>(
        &'a mut self,
        gradients: &'a mut Gradients<E, D>,
    ) -> Result<Option<(&'a mut [E], &'a [E])>, D::Err>;
}

impl<Dims: Shape, E: Real, D: Backend<E>> ParameterTensor<E, D> for Tensor<Dims, E, D> {
    fn values(&self) -> Result<Tensor<(usize,), E, D>, D::Err> {
        self.clone().try_reshape_like(&(self.shape().num_elements(),))
    }

    fn set_values(&mut self, values: Tensor<(usize,), E, D>) -> Result<(), D::Err> {
        *self = values.try_reshape_like(self.shape())?;
        Ok(())
    }

    fn zeros(&self, len: usize) -> Result<Tensor<(usize,), E, D>, D::Err> {
        self.device().try_zeros_like(&(len,))
    }

    fn gradient(&self, gradients: &mut Gradients<E, D>) -> Result<Tensor<(usize,), E, D>, D::Err> {
        gradients.try_alloc_for(self)?;
        gradients.get(self).try_reshape_like(&(self.shape().num_elements(),))
    }

    fn elements_mut<'a>(
        &'a mut self,
        gradients: &'a mut Gradients<E, D>,
    ) -> Result<Option<(&'a mut [E], &'a [E])>, D::Err> {
        let gradient = gradients.get_or_alloc_mut(self)?;
        let elements = D::elements_mut(self).zip(D::gradient_mut(gradient));
        Ok(elements
            .filter(|(values, gradient)| values.len() == gradient.len())
            .map(|(values, gradient)| (values, &*gradient)))
    }
}

/// The intersection of `part` with `elements`, counted from the start of `elements`.
pub(super) fn range_in(part: &Range<usize>, elements: Range<usize>) -> Range<usize> {
    let in_tensor = |element: usize| element.clamp(elements.start, elements.end) - elements.start;
    in_tensor(part.start)..in_tensor(part.end)
}

/// The elements of a flat tensor in a range.
pub(super) fn elements_in<E: Real, D: Backend<E>>(
    range: &Range<usize>,
    tensor: Tensor<(usize,), E, D>,
) -> Result<Tensor<(usize,), E, D>, D::Err> {
    if *range == (0..tensor.shape().0) { Ok(tensor) } else { tensor.try_slice((range.clone(),)) }
}
