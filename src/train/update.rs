//! One update of a model, and the average of its parameters over the updates.

use super::optimizer::{ensure, ensure_non_negative};
use super::parameter_mut::update_elements;
use super::parameters::SumOfSquares;
use super::{GradientsOf, Optimizer, Parameters};
use crate::backend::{Backend, tensor_id};
use crate::dims::{name, without_paths};
use crate::model_tensors::{map_tensors, visit_tensors_mut};
use crate::ops::{OpError, Real, cast, device_error};
use crate::ranks::{failure, is_sharded};
use dfdx::nn::TensorCollection;
use dfdx::tensor_ops::{TryAdd, TryMul, TrySub};
use std::collections::HashMap;

/// One update of a model: clips the gradients to a global norm of at most `clip_norm`, then lets the
/// optimizer step. Returns the norm before clipping.
///
/// The global norm is `√(Σ g²)` over all parameters of the model. Parameters, gradients and the optimizer's state stay on
/// the device; on the CPU they are changed in place. From the first update on, the device keeps the memory of dropped
/// tensors, and the next steps reuse it. It is freed after each 13 steps or parts of batches, and when it is that of four
/// steps. After the training `device.disable_cache()`, of dfdx's `Cache`, frees it; dropping the device does not. Two
/// threads that take the last kept memory of one size at once make dfdx panic, so until then each needs a device of its
/// own.
///
/// # Errors
/// After these errors the model is unchanged:
///
/// - [`OpError::Hyperparameter`] if `clip_norm` is not above 0, if `learning_rate` is negative, NaN or infinite, or if a
///   hyperparameter of the optimizer is out of its range;
/// - [`OpError::Gradient`] if the norm is NaN or infinite;
/// - [`OpError::Clones`] if two trained parameters, neither of them frozen, are clones of one tensor, as in cloned
///   layers;
/// - [`OpError::Unused`] if the loss does not depend on a parameter that may not be
///   [unused](GradientsOf::allow_unused) (one that is passed by reference to arithmetic, `where_`,
///   [`einsum!`](crate::einsum!) or an operation without a kernel counts as used as soon as it is read);
/// - [`OpError::OtherModel`] if the gradients are those of another model of the same type;
/// - [`OpError::Sharded`] if a trained parameter is divided among ranks;
///   [`update_sharded`](crate::tensor_parallel::update_sharded) updates it on all of them.
///
/// After these errors a part of the parameters may be updated:
///
/// - [`OpError::Shape`] if a parameter has another number of elements than in the step before;
/// - [`OpError::Device`] if the device fails.
///
/// ```
/// use typed_transformer::{doctest::*, nn::Linear, prelude::*, train::{Adam, update}};
/// let device = Cpu::default();
/// let mut model = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&device);
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = device.tensor(vec![1.0; 4 * 8]);
/// let labels = LabelIds::from_ids(&[2; 4], None, (Batch, SeqLen))?;
/// let loss = |model: &Linear<EmbedDim, VocabSize, f32, Cpu>| {
///     cross_entropy(model.forward(x.clone().put_tape(model.recording())).unwrap(), &labels, Reduction::MeanAll).unwrap()
/// };
/// let before = loss(&model).array();
/// let mut adam = Adam::default();
/// for _ in 0..10 {
///     let gradients = loss(&model).backward()?;
///     update(&mut model, gradients, &mut adam, 0.05, 1.0)?;
/// }
/// assert!(loss(&model).array() < before);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn update<Model: TensorCollection<E, D>, E: Real, D: Backend<E>>(
    model: &mut Model,
    gradients: GradientsOf<Model, E, D>,
    optimizer: &mut (impl Optimizer<Model, E, D> + ?Sized),
    learning_rate: f64,
    clip_norm: f64,
) -> Result<f64, OpError> {
    update_by_norm(model, gradients, optimizer, learning_rate, clip_norm, |squares| {
        match squares.iter().find(|squares| is_sharded(squares.dims_type_name)) {
            Some(SumOfSquares { path, dims_type_name, .. }) => {
                Err(OpError::Sharded { parameter: path.clone(), dims: without_paths(dims_type_name) })
            }
            None => Ok(squares.iter().map(|squares| squares.sum).sum()),
        }
    })
}

/// [`update`] with a squared gradient norm that `squared_norm` computes from `Σ g²` of each trained parameter that is
/// not frozen, in the order of the fields.
pub(crate) fn update_by_norm<Model: TensorCollection<E, D>, E: Real, D: Backend<E>>(
    model: &mut Model,
    gradients: GradientsOf<Model, E, D>,
    optimizer: &mut (impl Optimizer<Model, E, D> + ?Sized),
    learning_rate: f64,
    clip_norm: f64,
    squared_norm: impl FnOnce(&[SumOfSquares]) -> Result<f64, OpError>,
) -> Result<f64, OpError> {
    failure::take_error().map_err(|source| OpError::Ranks { op: "update", source })?;
    ensure("clip_norm", clip_norm, clip_norm > 0.0, "above 0")?;
    ensure_non_negative::<E>("the learning rate", learning_rate)?;
    let is_other_model = gradients.model.is_other_than::<E, D>(model);
    let mut parameters = Parameters::new(model, gradients.gradients);
    let squares = parameters.sums_of_squares(|parameter| optimizer.rate_factor(parameter))?;
    // A parameter with a gradient that is not zero counts as used, even if no pass recorded it.
    let unused = squares.iter().filter(|s| s.sum == 0.0 && !s.is_empty && !gradients.used.contains(&s.id));
    let (allowed, unused): (Vec<_>, Vec<_>) = unused.partition(|squares| gradients.may_be_unused.contains(&squares.id));
    // Two models may share parameters. Their gradients are of use to both.
    if is_other_model && allowed.len() + unused.len() == squares.len() {
        return Err(OpError::OtherModel { model: name::<Model>() });
    }
    let norm = squared_norm(&squares)?.sqrt();
    if !norm.is_finite() {
        return Err(OpError::Gradient { norm });
    }
    if !unused.is_empty() {
        return Err(OpError::Unused { parameters: unused.iter().map(|squares| squares.path.clone()).collect() });
    }
    ensure_no_clones(&squares)?;
    if norm > clip_norm {
        parameters.gradient_factor = Some(cast(clip_norm / norm));
    }
    allowed.iter().for_each(|squares| parameters.freeze(squares));
    optimizer.step(learning_rate, parameters)?;
    Ok(norm)
}

/// No two trained parameters have one id, by which gradients are kept. Frozen parameters are not among `squares`.
fn ensure_no_clones(squares: &[SumOfSquares]) -> Result<(), OpError> {
    let mut paths = HashMap::new();
    for SumOfSquares { path: second, id, .. } in squares {
        if let Some(first) = paths.insert(id, second) {
            return Err(OpError::Clones { first: first.clone(), second: second.clone() });
        }
    }
    Ok(())
}

const AVERAGE: &str = "moving average";

/// The exponential moving average of a model's parameters, which often predicts better than the last ones:
/// `average ← decay · average + (1 - decay) · parameter` at each step.
///
/// The average begins with the parameters that it is made from. It is a model: evaluate it, save it as one, and begin
/// with it again after a resume.
///
/// If the training itself reads the average, as BYOL's target does, make it a field of the model, whose parameters have
/// the rate 0 ([`GroupRates`](super::GroupRates)), so that checkpoints have it. Renew it before the forward pass of
/// each step but the first: [`Trainer::learn`](super::Trainer::learn) writes the checkpoint of a step.
///
/// ```
/// use typed_transformer::{nn::Linear, prelude::*, train::MovingAverage};
/// dims! { InDim = 2; OutDim = 1; }
/// let device = Cpu::seed_from_u64(0);
/// let mut model = Linear::<InDim, OutDim, f32, Cpu>::build(&device);
/// model.bias = tensor(&device, [0.0], (OutDim,))?;
/// let mut average = MovingAverage::new(&model, 0.9);
/// model.bias = tensor(&device, [1.0], (OutDim,))?;
/// average.add(&model)?;
/// assert!((average.model().bias.as_vec()[0] - 0.1).abs() < 1e-6);
/// # Ok::<(), OpError>(())
/// ```
#[derive(Clone, Debug)]
pub struct MovingAverage<Model> {
    model: Model,
    decay: f64,
}

impl<Model: Clone> MovingAverage<Model> {
    /// The average that begins with these parameters. `decay` is from 0 to 1: 0.999 averages about the last 1,000
    /// steps.
    pub fn new(model: &Model, decay: f64) -> Self {
        Self { model: model.clone(), decay }
    }

    /// Adds the parameters after a step.
    ///
    /// # Errors
    /// [`OpError::Hyperparameter`] if `decay` is not from 0 to 1.
    pub fn add<E: Real, D: Backend<E>>(&mut self, model: &Model) -> Result<(), OpError>
    where
        Model: TensorCollection<E, D>,
    {
        ensure("decay", self.decay, (0.0..=1.0).contains(&self.decay), "from 0 to 1")?;
        let parameters = map_tensors::<_, E, D, _, D::Err>(model, |visited| visited.tensor.flat().map(Some));
        let mut parameters = parameters.map_err(device_error(AVERAGE))?.into_iter();
        let rest = cast::<E>(1.0 - self.decay);
        visit_tensors_mut::<_, E, D, OpError>(&mut self.model, |visited| {
            let Some(parameter) = parameters.next() else { return Ok(()) };
            // Gradients are kept by ids. The first average has those of the parameters, the next one its own.
            let has_own_id = visited.tensor.id() != tensor_id(&parameter);
            // In one pass in CPU memory.
            if has_own_id
                && self.decay > 0.0
                && let Some((averages, parameters)) = visited.tensor.elements_mut().zip(D::elements(&parameter))
                && averages.len() == parameters.len()
            {
                update_elements(averages, parameters, [], |averages, parameters, []| {
                    for (average, parameter) in averages.iter_mut().zip(parameters) {
                        *average = *average + (*parameter - *average) * rest;
                    }
                });
                return Ok(());
            }
            let average = visited.tensor.flat().map_err(device_error(AVERAGE))?;
            let next = match self.decay == 0.0 {
                true => Ok(parameter),
                // The average of equal numbers is that number, however `rest` is rounded.
                false => TrySub::try_sub(parameter, average.clone())
                    .and_then(|change| average.try_add(change.try_mul(rest)?)),
            };
            visited.tensor.set_from_flat(next.map_err(device_error(AVERAGE))?).map_err(device_error(AVERAGE))
        })
    }

    /// The model of the averages.
    pub fn model(&self) -> &Model {
        &self.model
    }
}
