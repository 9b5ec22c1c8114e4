use super::optimizer::ensure;
use super::parameter_mut::update_elements;
use crate::backend::{Backend, tensor_id};
use crate::model_tensors::{map_tensors, visit_tensors_mut};
use crate::nn::HasParameters;
use crate::ops::{OpError, Real, cast, device_error};
use crate::ranks::Replicated;
use crate::tensor_parallel::Distributed;
use dfdx::nn::TensorCollection;
use dfdx::tensor_ops::{TryAdd, TryMul, TrySub};

const AVERAGE: &str = "moving average";

/// The exponential moving average of a model's parameters, which often predicts better than the last ones:
/// `average ← decay · average + (1 - decay) · parameter` at each step.
///
/// The average begins with the parameters that it is made from. It is a model: evaluate it, and save it as one.
/// [`add_sharded`](Self::add_sharded) is for a model that ranks divide.
///
/// Checkpoints have no average: the best one has the parameters of its step. Make the average a field of the model
/// if the training may be resumed, if the average's loss is [recorded](super::Trainer::record_best), or if the loss
/// depends on it, as on the target of BYOL. Give this field's parameters the rate 0
/// ([`GroupRates`](super::GroupRates)). Renew it before the forward pass of each step but the first:
/// [`Trainer::learn`](super::Trainer::learn) writes the checkpoint of a step.
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
    /// The part of the average that a step keeps, from 0 to 1. It may change between two steps: `n / (n + 1)` at step
    /// `n`, counted from 1, makes the average the mean of the parameters at the beginning and after each step.
    pub decay: f64,
}

impl<Model: Clone> MovingAverage<Model> {
    /// The average that begins with these parameters. `decay` is from 0 to 1: 0.999 averages about the last 1,000
    /// steps. The share of the beginning in the average is `decayⁿ` after `n` steps: with 0.999, 82 % after 200 steps.
    /// So in a training of fewer than some thousand steps, let [`decay`](Self::decay) rise:
    /// `average.decay = (n / (n + 10.0)).min(0.999)` at step `n`, counted from 1.
    pub fn new(model: &Model, decay: f64) -> Self {
        Self { model: model.clone(), decay }
    }

    /// Adds the parameters after a step.
    ///
    /// # Errors
    /// [`OpError::Hyperparameter`] if `decay` is not from 0 to 1.
    pub fn add<E: Real, D: Backend<E>>(&mut self, model: &Model) -> Result<(), OpError>
    where
        Model: HasParameters<E, D>,
    {
        add(&mut self.model, model, self.decay)
    }

    /// The model of the averages.
    pub fn model(&self) -> &Model {
        &self.model
    }
}

impl<Model, Axis> MovingAverage<Distributed<Model, Axis>> {
    /// [`add`](MovingAverage::add), with its errors, of a model whose parts the ranks of `Axis` have. All ranks call it
    /// after the same steps. The average is such a model, too.
    ///
    /// ```
    /// use typed_transformer::{doctest::*, prelude::*, ranks, ranks::Ranks, tensor_parallel::{Distributed, OnRanks}};
    /// use typed_transformer::train::MovingAverage;
    /// ranks! { pub Tp = 1; }
    /// let (device, ranks) = (Cpu::default(), Ranks::<Tp>::single()?);
    /// let model = Distributed::<DecoderOnly<OnRanks<Model, Tp>, f32, Cpu>, Tp>::build(&device, &ranks)?;
    /// let mut average = MovingAverage::new(&model, 0.999);
    /// average.add_sharded(&model)?; // after each step
    /// let whole: DecoderOnly<Model, f32, Cpu> = average.model().gather(&device, &ranks)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add_sharded<E: Real, D: Backend<E>>(&mut self, model: &Distributed<Model, Axis>) -> Result<(), OpError>
    where
        Model: HasParameters<E, D>,
    {
        add(self.model.as_mut(), model, self.decay)
    }
}

impl<Model, Data, Axis> MovingAverage<Distributed<Replicated<Model, Data>, Axis>> {
    /// [`add_sharded`](MovingAverage::add_sharded) of a model whose parts the ranks of `Data` replicate.
    ///
    /// ```
    /// use typed_transformer::{doctest::*, prelude::*, ranks, ranks::Ranks, tensor_parallel::{Distributed, OnRanks}};
    /// use typed_transformer::train::MovingAverage;
    /// ranks! { pub World; pub Data; pub Tp = 1; }
    /// let (data, tp) = Ranks::<World>::start()?.split::<Data, Tp>()?;
    /// let model = Distributed::<DecoderOnly<OnRanks<Model, Tp>, f32, Cpu>, Tp>::build(&Cpu::default(), &tp)?;
    /// let model = model.replicate(&data)?;
    /// let mut average = MovingAverage::new(&model, 0.999);
    /// average.add_sharded_replicated(&model)?; // after each step
    /// let whole: DecoderOnly<Model, f32, Cpu> = average.model().gather_replicated(&Cpu::default(), &tp)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add_sharded_replicated<E: Real, D: Backend<E>>(
        &mut self,
        model: &Distributed<Replicated<Model, Data>, Axis>,
    ) -> Result<(), OpError>
    where
        Model: HasParameters<E, D>,
    {
        add(self.model.as_mut().as_mut(), model, self.decay)
    }
}

/// `average ← decay · average + (1 - decay) · parameter`, for each parameter of `model`.
fn add<Model: TensorCollection<E, D>, E: Real, D: Backend<E>>(
    average: &mut Model,
    model: &Model,
    decay: f64,
) -> Result<(), OpError> {
    ensure("decay", decay, (0.0..=1.0).contains(&decay), "from 0 to 1")?;
    let parameters = map_tensors::<_, E, D, _, D::Err>(model, |visited| visited.tensor.flat().map(Some));
    let mut parameters = parameters.map_err(device_error(AVERAGE))?.into_iter();
    let rest = cast::<E>(1.0 - decay);
    visit_tensors_mut::<_, E, D, OpError>(average, |visited| {
        let Some(parameter) = parameters.next() else { return Ok(()) };
        // A clone has the id of its original, and gradients are kept by ids. So the first step makes a new tensor,
        // and only later ones change it in place.
        let has_own_id = visited.tensor.id() != tensor_id(&parameter);
        // In one pass in CPU memory.
        if has_own_id
            && decay > 0.0
            && let Some((averages, parameters)) = visited.tensor.elements_mut().zip(D::elements(&parameter))
            && averages.len() == parameters.len()
        {
            update_elements(averages, parameters, [], &|averages, parameters, []| {
                for (average, parameter) in averages.iter_mut().zip(parameters) {
                    *average = *average + (*parameter - *average) * rest;
                }
            });
            return Ok(());
        }
        let average = visited.tensor.flat().map_err(device_error(AVERAGE))?;
        let next = match decay == 0.0 {
            true => Ok(parameter),
            // The average of equal numbers is that number, however `rest` is rounded.
            false => {
                TrySub::try_sub(parameter, average.clone()).and_then(|change| average.try_add(change.try_mul(rest)?))
            }
        };
        visited.tensor.set_from_flat(next.map_err(device_error(AVERAGE))?).map_err(device_error(AVERAGE))
    })
}
