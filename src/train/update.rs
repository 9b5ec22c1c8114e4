use super::{GradientsOf, Optimizer, Parameter, elementwise::for_each};
use crate::{
    backend::{Backend, dispatch_simd},
    dims::name,
    ops::{OpError, Real, cast, device_error},
    ranks::failure,
};
use dfdx::{
    nn::{
        RecursiveWalker, TensorCollection, TensorOptions, TensorVisitor, ViewTensorMut, ViewTensorName, ViewTensorRef,
    },
    shapes::{HasShape, Shape},
    tensor::{Gradients, Tensor},
    tensor_ops::Device,
};
use std::{mem, slice::Iter};

/// One update of a model: clips the gradients to a global norm of at most `clip_norm`, then lets the
/// optimizer step. Returns the norm before clipping.
///
/// The global norm is `√(Σ g²)` over all parameters of the model. From the first update on, the device
/// reuses the memory of dropped tensors, because each training step allocates the same ones; dfdx's
/// `Cache` frees that memory.
///
/// # Errors
/// [`OpError::Gradient`] if the norm is NaN or infinite, and [`OpError::OtherModel`] if the gradients are those
/// of another model of the same type: the model is unchanged.
/// [`OpError::Device`] if the device fails.
///
/// ```
/// use typed_transformer::{doctest::*, nn::Linear, prelude::*, train::{Adam, update}};
/// let device = Cpu::default();
/// let mut model = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&device);
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = device.tensor(vec![1.0; 4 * 8]);
/// let labels = TokenIds::from_ids(&[2; 4], None, (Batch, SeqLen))?;
/// let loss = |model: &Linear<EmbedDim, VocabSize, f32, Cpu>| {
///     cross_entropy(model.forward(x.clone().put_tape(model.recording())), &labels, Reduction::MeanAll)
/// };
/// let before = loss(&model).array();
/// let mut adam = Adam::default();
/// for _ in 0..10 {
///     let gradients = loss(&model).backward();
///     update(&mut model, gradients, &mut adam, 0.05, 1.0)?;
/// }
/// assert!(loss(&model).array() < before);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn update<Model: TensorCollection<E, D>, E: Real, D: Backend<E>>(
    model: &mut Model,
    gradients: GradientsOf<Model, E, D>,
    optimizer: &mut impl Optimizer<Model, E>,
    learning_rate: f64,
    clip_norm: f64,
) -> Result<f64, OpError> {
    update_by_norm(model, gradients, optimizer, learning_rate, clip_norm, |_, squares| Ok(squares.iter().sum()))
}

/// [`update`], where `sum` makes the squared norm of the whole model's gradients from the parameters and the sum of
/// squares of each one's gradient.
pub(crate) fn update_by_norm<Model: TensorCollection<E, D>, E: Real, D: Backend<E>>(
    model: &mut Model,
    gradients: GradientsOf<Model, E, D>,
    optimizer: &mut impl Optimizer<Model, E>,
    learning_rate: f64,
    clip_norm: f64,
    sum: impl FnOnce(&[Parameter<E>], &[f64]) -> Result<f64, OpError>,
) -> Result<f64, OpError> {
    let are_of_another = gradients.are_of_another(model);
    let gradients = gradients.gradients;
    let mut read = ReadParameters { gradients, parameters: mem::take(&mut optimizer.state_mut().parameters), count: 0 };
    Model::iter_tensors(&mut RecursiveWalker { m: (&*model, String::new()), f: &mut read })
        .map_err(device_error("update"))?;
    let mut parameters = read.parameters;
    parameters.truncate(read.count);
    // Frees the remaining gradients on the device, so that the next pass can reuse their memory.
    drop(read.gradients);

    let squares = for_each(&mut parameters, |p| sum_of_squares(&p.gradient));
    let norm = sum(&parameters, &squares)?.sqrt();
    if !norm.is_finite() {
        return Err(OpError::Gradient { norm });
    }
    // Another address alone is not enough to refuse the gradients: a model may be moved.
    if norm == 0.0 && are_of_another {
        return Err(OpError::OtherModel { model: name::<Model>() });
    }
    if norm > clip_norm {
        let factor = cast::<E>(clip_norm / norm);
        for_each(&mut parameters, |p| {
            dispatch_simd(
                #[inline(always)]
                || p.gradient.iter_mut().for_each(|g| *g *= factor),
            );
        });
    }
    optimizer.step(learning_rate, &mut parameters);
    failure::report().map_err(|source| OpError::Ranks { op: "update", source })?;

    let mut write = WriteParameters(parameters.iter());
    Model::iter_tensors(&mut RecursiveWalker { m: model, f: &mut write }).map_err(device_error("update"))?;
    optimizer.state_mut().parameters = parameters;
    Ok(norm)
}

/// `Σ x²`, in `f64`.
fn sum_of_squares<E: Real>(elements: &[E]) -> f64 {
    // Independent partial sums, which the compiler can keep in vector registers.
    const LANES: usize = 16;
    dispatch_simd(
        #[inline(always)]
        || {
            let widen = |x: E| x.to_f64().unwrap_or(f64::NAN);
            let (chunks, rest) = elements.as_chunks::<LANES>();
            let mut sums = [0.0; LANES];
            for chunk in chunks {
                for (sum, x) in sums.iter_mut().zip(chunk) {
                    *sum += widen(*x) * widen(*x);
                }
            }
            let rest = rest.iter().map(|x| widen(*x) * widen(*x));
            sums.into_iter().sum::<f64>() + rest.sum::<f64>()
        },
    )
}

/// Copies the trained parameters and their gradients from the device.
struct ReadParameters<E: Real, D: Backend<E>> {
    gradients: Gradients<E, D>,
    /// The parameters of the step before, whose memory is reused.
    parameters: Vec<Parameter<E>>,
    /// How many parameters were read so far.
    count: usize,
}

impl<E: Real, D: Backend<E>> TensorVisitor<E, D> for ReadParameters<E, D> {
    type Viewer = (ViewTensorRef, ViewTensorName);
    type Err = D::Err;
    type E2 = E;
    type D2 = D;

    fn visit<S: Shape>(
        &mut self,
        options: TensorOptions<S, E, D>,
        (tensor, path): (&Tensor<S, E, D>, String),
    ) -> Result<Option<Tensor<S, E, D>>, D::Err> {
        if !options.do_gradient_update {
            return Ok(None);
        }
        if self.count == 0 {
            tensor.device().try_enable_cache()?;
        }
        if self.count == self.parameters.len() {
            self.parameters.push(Parameter {
                path: String::new(),
                sizes: Vec::new(),
                values: Vec::new(),
                gradient: Vec::new(),
            });
        }
        let parameter = &mut self.parameters[self.count];
        self.count += 1;
        let elements = tensor.shape().num_elements();
        parameter.path = path;
        parameter.sizes = tensor.shape().concrete().into();
        parameter.values.resize(elements, E::zero());
        tensor.copy_into(&mut parameter.values);
        parameter.gradient.resize(elements, E::zero());
        D::try_take_gradient(&mut self.gradients, tensor, &mut parameter.gradient)?;
        Ok(None)
    }
}

/// Copies the trained parameters back to the device.
struct WriteParameters<'a, E>(Iter<'a, Parameter<E>>);

impl<E: Real, D: Device<E>> TensorVisitor<E, D> for WriteParameters<'_, E> {
    type Viewer = ViewTensorMut;
    type Err = D::Err;
    type E2 = E;
    type D2 = D;

    fn visit<S: Shape>(
        &mut self,
        options: TensorOptions<S, E, D>,
        tensor: &mut Tensor<S, E, D>,
    ) -> Result<Option<Tensor<S, E, D>>, D::Err> {
        if options.do_gradient_update
            && let Some(parameter) = self.0.next()
        {
            tensor.copy_from(&parameter.values);
        }
        Ok(None)
    }
}
