use super::ParameterMut;
use super::optimizer::ensure_non_negative;
use super::parameter_mut::sum_of_squares;
use crate::backend::{Backend, Gradients, SumOnDevice, elements_of};
use crate::model_tensors::{AnyTensor, visit_tensors, visit_tensors_mut};
use crate::ops::{OpError, Real, device_error};
use dfdx::tensor::{Cpu, UniqueId};
use dfdx::{nn::TensorCollection, tensor_ops::TryStack};
use std::{mem, ops::Range};

const OP: &str = "update";

/// The name and the dimensions of a parameter.
///
/// ```
/// use typed_transformer::train::{AdamW, Parameter};
/// # use typed_transformer::{doctest::*, nn::Linear, prelude::*};
/// /// Embedding tables do not decay.
/// fn decays(parameter: &Parameter) -> bool {
///     parameter.is_matrix() && !parameter.path.contains("embedder")
/// }
/// let mut adam = AdamW::default();
/// adam.weight_decay_filter = decays;
/// # let _: AdamW<Linear<EmbedDim, VocabSize, f32, Cpu>, f32> = adam;
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Parameter {
    /// Its field path in the model, which is also its name in a file.
    pub path: String,
    /// The size of each dimension.
    pub sizes: Vec<usize>,
}

impl Parameter {
    /// Whether it has at least two dimensions: weight matrices and embedding tables do, biases and
    /// norm parameters do not.
    pub fn is_matrix(&self) -> bool {
        self.sizes.len() >= 2
    }
}

/// `Σ g²` of a parameter.
pub(crate) struct SumOfSquares {
    /// The parameter's field path.
    pub path: String,
    pub id: UniqueId,
    /// Its place among the trained parameters, in the order of the fields.
    pub place: usize,
    /// Whether it has no elements on this rank.
    pub is_empty: bool,
    /// The name of the type of its dimensions, with paths.
    pub dims_type_name: &'static str,
    pub sum: f64,
}

/// The trained parameters of a model and their gradients, as an [`Optimizer`](super::Optimizer) gets them.
/// [`OptimizerState::update`](super::OptimizerState::update) visits them, as the example of that type shows.
pub struct Parameters<'a, Model, E: Real = f32, D: Backend<E> = Cpu> {
    model: &'a mut Model,
    gradients: Gradients<E, D>,
    /// The factor of all gradients. Each is multiplied when it is read.
    pub(super) gradient_factor: Option<E>,
    /// The factor of the learning rate for each trained parameter, in the order of the fields; empty if all are 1.
    rate_factors: Vec<f64>,
    /// The elements that the optimizer updates: a range of the elements of all trained parameters, one parameter after
    /// the other. `None` for all elements.
    part: Option<Range<usize>>,
}

impl<'a, Model: TensorCollection<E, D>, E: Real, D: Backend<E>> Parameters<'a, Model, E, D> {
    pub(super) fn new(model: &'a mut Model, gradients: Gradients<E, D>) -> Self {
        Self { model, gradients, gradient_factor: None, rate_factors: Vec::new(), part: None }
    }

    /// Sets the factor of the learning rate for each trained parameter. Returns `Σ g²` of each parameter that is not
    /// frozen, in the order of the fields. The device of the first of these counts a step ([`Backend::reuse_memory`]).
    pub(super) fn sums_of_squares(
        &mut self,
        rate_factor: impl Fn(&Parameter) -> f64,
    ) -> Result<Vec<SumOfSquares>, OpError> {
        let (gradients, rate_factors, mut sums) = (&mut self.gradients, &mut self.rate_factors, Vec::new());
        // Sums that are still on the device, and their places in `sums`.
        let (mut places, mut unread) = (Vec::new(), Vec::new());
        visit_tensors::<_, E, D, OpError>(&*self.model, "", |visited| {
            let tensor = visited.tensor;
            if !visited.is_trained {
                return Ok(());
            }
            let parameter = Parameter { path: visited.path, sizes: tensor.sizes() };
            let factor = rate_factor(&parameter);
            ensure_non_negative::<E>("the factor of a learning rate", factor)?;
            rate_factors.push(factor);
            if factor == 0.0 {
                return Ok(());
            }
            // Once for each update. A model knows its device by its tensors alone.
            if sums.is_empty() {
                D::reuse_memory(tensor.device()).map_err(device_error(OP))?;
            }
            let sum = match squared_norm(tensor, gradients).map_err(device_error(OP))? {
                SumOnDevice::Read(sum) => sum,
                SumOnDevice::Unread(sum) => {
                    places.push(sums.len());
                    unread.push(sum);
                    f64::NAN
                }
            };
            sums.push(SumOfSquares {
                path: parameter.path,
                id: tensor.id(),
                place: rate_factors.len() - 1,
                is_empty: parameter.sizes.contains(&0),
                dims_type_name: tensor.dims_type_name(),
                sum,
            });
            Ok(())
        })?;
        if !unread.is_empty() {
            let read = elements_of(&unread.try_stack().map_err(device_error(OP))?);
            for (place, sum) in places.into_iter().zip(read) {
                sums[place].sum = sum.to_f64().unwrap_or(f64::NAN);
            }
        }
        Ok(sums)
    }

    pub(super) fn freeze(&mut self, parameter: &SumOfSquares) {
        self.rate_factors[parameter.place] = 0.0;
    }

    /// These elements alone, counted over all trained parameters in field order. The gradients move into the result.
    pub(super) fn restricted_to(&mut self, elements: Range<usize>) -> Parameters<'_, Model, E, D> {
        Parameters {
            model: self.model,
            gradients: mem::take(&mut self.gradients),
            gradient_factor: self.gradient_factor,
            rate_factors: self.rate_factors.clone(),
            part: Some(elements),
        }
    }

    /// Calls `update` with each trained parameter, or, if there is a `part`, with each that has elements in it. The
    /// order is that of the fields.
    pub(super) fn for_each(&mut self, update: &mut Update<'_, E, D>) -> Result<(), OpError> {
        let Self { model, gradients, gradient_factor, rate_factors, part } = self;
        let mut rate_factors = rate_factors.iter().copied();
        // The number of elements of the trained parameters before this one.
        let mut start = 0;
        visit_tensors_mut(&mut **model, |visited| {
            if !visited.is_trained {
                return Ok(());
            }
            let rate_factor = rate_factors.next().unwrap_or(1.0);
            let sizes = visited.tensor.sizes();
            let len: usize = sizes.iter().product();
            let range = part.as_ref().map_or(0..len, |part| range_in(part, start..start + len));
            start += len;
            // A rank may have no element of it.
            if part.is_some() && range.is_empty() {
                return Ok(());
            }
            let parameter = Parameter { path: visited.path, sizes };
            let (tensor, gradient_factor) = (visited.tensor, *gradient_factor);
            update(ParameterMut { parameter, tensor, gradients, gradient_factor, rate_factor, range })
        })
    }
}

crate::error::debug_as!([Model, E: Real, D: Backend<E>] Parameters<'_, Model, E, D>, |_, f| f.write_str("Parameters"));

/// `Σ g²` of a parameter.
fn squared_norm<E: Real, D: Backend<E>>(
    parameter: &dyn AnyTensor<E, D>,
    gradients: &mut Gradients<E, D>,
) -> Result<SumOnDevice<E, D>, D::Err> {
    match parameter.gradient_mut(gradients)? {
        Some(gradient) => Ok(SumOnDevice::Read(sum_of_squares::<E, D>(gradient))),
        None => D::sum_of_squares(parameter.flat_gradient(gradients)?),
    }
}

/// The intersection of `part` with `elements`, counted from the start of `elements`.
pub(super) fn range_in(part: &Range<usize>, elements: Range<usize>) -> Range<usize> {
    let in_tensor = |element: usize| element.clamp(elements.start, elements.end) - elements.start;
    in_tensor(part.start)..in_tensor(part.end)
}

pub(super) type Update<'f, E, D> = dyn FnMut(ParameterMut<'_, E, D>) -> Result<(), OpError> + 'f;
