//! One update of a model.

use super::optimizer::{ensure, ensure_non_negative};
use super::parameters::SumOfSquares;
use super::{GradientsOf, Optimizer, Parameters};
use crate::backend::Backend;
use crate::dims::{name, without_paths};
use crate::nn::{HasParameters, ModelOrRef};
use crate::ops::{OpError, Real, cast};
use crate::ranks::{failure, is_sharded};
use dfdx::nn::TensorCollection;
use dfdx::tensor::UniqueId;
use std::collections::{HashMap, HashSet};

/// One update of a model: clips the gradients to a global norm of at most `clip_norm`, then lets the
/// optimizer step. Returns the norm before clipping.
///
/// The rate comes before the norm: `update(&mut model, gradients, &mut adam, 1e-3, 1.0)` learns at a rate of 0.001 and
/// clips to a norm of 1. A `model: &mut Model` is passed as it is: `update(model, ..)`.
///
/// The global norm is `√(Σ g²)` over all parameters that are not frozen. Parameters, gradients and the optimizer's
/// state stay on the device; on the CPU they are changed in place. From the first update on, the device keeps the
/// memory of dropped tensors, and the next steps reuse it. It is freed after every 13 steps or parts of a batch, and
/// earlier if it exceeds four times the memory of the largest step. After the training `device.disable_cache()`, of
/// dfdx's `Cache`, frees it; dropping the device does not. Each thread needs a device of its own as long as a device
/// keeps memory: dfdx panics if two threads at once take the last kept memory of one size.
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
///   [unused](GradientsOf::allow_unused). A parameter that is passed by reference to arithmetic, `where_`,
///   [`einsum!`](crate::einsum!) or an operation without a kernel counts as used as soon as it is read;
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
pub fn update<Model: HasParameters<E, D>, E: Real, D: Backend<E>>(
    model: &mut impl ModelOrRef<Model>,
    gradients: GradientsOf<Model, E, D>,
    optimizer: &mut (impl Optimizer<Model, E, D> + ?Sized),
    learning_rate: f64,
    clip_norm: f64,
) -> Result<f64, OpError> {
    update_by_norm(model.borrow_mut(), gradients, optimizer, learning_rate, clip_norm, |squares| {
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
    // A factor of 0 freezes a parameter: it is then not among `squares`.
    let squares = parameters.sums_of_squares(|parameter| optimizer.rate_factor(parameter))?;
    let (allowed, unused) = find_unused(&squares, &gradients.used, &gradients.may_be_unused);
    // A model that shares a parameter with this one may have recorded the pass.
    if is_other_model && allowed.len() + unused.len() == squares.len() {
        return Err(OpError::OtherModel { model: name::<Model>() });
    }
    let norm = squared_norm(&squares)?.sqrt();
    if !norm.is_finite() {
        return Err(OpError::Gradient { norm });
    }
    if !unused.is_empty() {
        return Err(OpError::Unused { parameters: unused });
    }
    ensure_no_clones(&squares)?;
    if norm > clip_norm {
        parameters.gradient_factor = Some(cast(clip_norm / norm));
    }
    // An unused parameter stays as it is: the optimizer does not decay it either.
    for squares in allowed {
        parameters.freeze(squares);
    }
    optimizer.step(learning_rate, parameters)?;
    Ok(norm)
}

/// The unused parameters that may be unused, and the paths of the other unused ones. A parameter with a gradient that is
/// not zero counts as used, even if no pass recorded it.
fn find_unused<'a>(
    squares: &'a [SumOfSquares],
    used: &HashSet<UniqueId>,
    may_be_unused: &HashSet<UniqueId>,
) -> (Vec<&'a SumOfSquares>, Vec<String>) {
    let unused = squares.iter().filter(|s| s.sum == 0.0 && !s.is_empty && !used.contains(&s.id));
    let (allowed, others): (Vec<_>, Vec<_>) = unused.partition(|squares| may_be_unused.contains(&squares.id));
    (allowed, others.into_iter().map(|squares| squares.path.clone()).collect())
}

/// An error if two trained parameters have the same id, because gradients are kept by id. Frozen parameters are not
/// among `squares`.
fn ensure_no_clones(squares: &[SumOfSquares]) -> Result<(), OpError> {
    let mut paths = HashMap::new();
    for SumOfSquares { path: second, id, .. } in squares {
        if let Some(first) = paths.insert(id, second) {
            return Err(OpError::Clones { first: first.clone(), second: second.clone() });
        }
    }
    Ok(())
}
