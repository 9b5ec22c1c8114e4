//! Optimizers around another one: rates by parameter, and a state that is divided among ranks.

use super::optimizer::{ensure, of_inner};
use super::parameters::range_in;
use super::{Optimizer, OptimizerState, Parameter, ParameterMut, Parameters, Slot, parameter_infos};
use crate::backend::{Backend, elements_of};
use crate::nn::HasParameters;
use crate::ops::{OpError, Real, device_error};
use crate::ranks::{Element, RankAxis, Ranks, RanksError};
use dfdx::shapes::HasShape;
use std::{fmt, ops::Range};

/// An optimizer with other learning rates for some parameters (PyTorch's parameter groups): that of the step times
/// `rate_factor`. A parameter of factor 0 is frozen: it is not changed, and its gradient does not count for the norm.
///
/// [`Adam`](super::Adam) corrects the bias of its moments by the number of all steps. The moments of a parameter that
/// was frozen from the beginning are 0 when its factor rises, so with the default betas its first steps are up to seven
/// times the learning rate: let the factor rise from a small one.
///
/// A checkpoint does not store the function, so resuming cannot detect another one.
///
/// ```
/// use typed_transformer::{nn::Linear, ops::mean, prelude::*, train::{GradientsOf, GroupRates, Sgd, update}};
/// dims! { InDim = 2; OutDim = 1; Batch = 1; }
/// let device = Cpu::seed_from_u64(0);
/// let mut model = Linear::<InDim, OutDim, f32, Cpu>::build(&device);
/// let before = model.clone();
/// // The weight learns ten times as slowly as the bias.
/// let mut optimizer = GroupRates::new(Sgd::default(), |parameter| if parameter.path == "weight" { 0.1 } else { 1.0 });
/// let x: Tensor<(Batch, InDim), f32, Cpu> = tensor(&device, [1.0, 1.0], (Batch, InDim))?;
/// let loss = mean(model.forward(x.put_tape(model.recording()))?)?;
/// update(&mut model, loss.backward()?, &mut optimizer, 0.5, f64::INFINITY)?;
/// assert!((before.weight.as_vec()[0] - model.weight.as_vec()[0] - 0.05).abs() < 1e-6);
/// assert!((before.bias.as_vec()[0] - model.bias.as_vec()[0] - 0.5).abs() < 1e-6);
/// # Ok::<(), OpError>(())
/// ```
///
/// Two models that are trained in turn are fields of one module, and each step freezes one of them:
///
/// ```
/// use typed_transformer::{module, nn::Linear, ops::{full, mean, normal, sub}, prelude::*};
/// use typed_transformer::train::{Adam, GroupRates, Trainer};
/// dims! { Noise = 2; Data = 3; Score = 1; Batch = 4; }
/// #[module]
/// struct Gan<E, D> {
///     generator: Linear<Noise, Data, E, D>,
///     critic: Linear<Data, Score, E, D>,
/// }
///
/// let device = Cpu::seed_from_u64(0);
/// let mut gan = Gan::<f32, Cpu>::build(&device);
/// let mut trainer = Trainer::new(GroupRates::new(Adam::default(), |_| 1.0), 1e-3, 8, 0);
/// trainer.loss_may_rise = true;
/// while let Some(mut step) = trainer.next_step() {
///     let noise: Tensor<(Batch, Noise), f32, Cpu> = normal(&device, (Batch, Noise), &mut step.rng)?;
///     let loss = if step.number % 2 == 0 {
///         trainer.optimizer.rate_factor = |parameter| if parameter.path.starts_with("critic") { 1.0 } else { 0.0 };
///         let real: Tensor<(Batch, Data), f32, Cpu> = full(&device, (Batch, Data), 0.5)?;
///         let [of_real, of_fake] = [real, gan.generator.forward(noise)?]
///             .map(|data| gan.critic.forward(data.put_tape(gan.recording())));
///         mean(sub(of_fake?, of_real?)?)?
///     } else {
///         trainer.optimizer.rate_factor = |parameter| if parameter.path.starts_with("critic") { 0.0 } else { 1.0 };
///         let fake = gan.generator.forward(noise.put_tape(gan.recording()))?;
///         scale(mean(gan.critic.forward(fake)?)?, -1.0)?
///     };
///     trainer.learn(&mut gan, loss, 4)?;
/// }
/// assert_eq!(trainer.steps_made(), 8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct GroupRates<Inner, F = fn(&Parameter) -> f64> {
    /// The optimizer.
    pub inner: Inner,
    /// The factor of the learning rate for a parameter. A closure that captures values is given by a literal:
    /// `GroupRates { inner, rate_factor: |parameter: &Parameter| .. }`.
    pub rate_factor: F,
}

impl<Inner> GroupRates<Inner> {
    /// The optimizer `inner` with these factors.
    pub fn new(inner: Inner, rate_factor: fn(&Parameter) -> f64) -> Self {
        Self { inner, rate_factor }
    }
}

crate::error::debug_as!(
    [Inner: fmt::Debug, F] GroupRates<Inner, F>,
    |this, f| write!(f, "GroupRates {{ inner: {:?}, .. }}", this.inner)
);

impl<Inner: Optimizer<Model, E, D>, F: Fn(&Parameter) -> f64, Model: HasParameters<E, D>, E: Real, D: Backend<E>>
    Optimizer<Model, E, D> for GroupRates<Inner, F>
{
    fn step(&mut self, learning_rate: f64, mut parameters: Parameters<'_, Model, E, D>) -> Result<(), OpError> {
        // An optimizer around this one may lack a `rate_factor`, and would train what this one freezes.
        parameters.for_each(&mut |parameter: ParameterMut<'_, E, D>| {
            let factor = parameter.rate_factor();
            let is_kept = factor == 0.0 || (self.rate_factor)(&parameter) != 0.0;
            ensure("`rate_factor`", factor, is_kept, "0, as that of the `GroupRates` inside of the optimizer")
        })?;
        self.inner.step(learning_rate, parameters)
    }

    of_inner!(self => self.inner; hyperparameters state ranks);

    fn rate_factor(&self, parameter: &Parameter) -> f64 {
        (self.rate_factor)(parameter) * self.inner.rate_factor(parameter)
    }
}

const OP: &str = "update";

/// An optimizer whose state is sharded over the ranks of `Axis`: stage 1 of ZeRO ([Rajbhandari et al.,
/// 2019](https://arxiv.org/abs/1910.02054), 5.1).
///
/// A rank holds the moments of its part of the model's elements only, so their memory is divided by the number of
/// ranks. The rank updates this part, and the ranks gather the updated elements. All ranks have the same model, and step
/// with the same gradients, after [their sum](crate::ranks::Partial::all_reduce). The numbers are those of `Inner`, to
/// the bit, if it updates each element by itself, as the optimizers of this crate do.
///
/// A checkpoint holds the state of the whole model, so it does not depend on the number of ranks.
///
/// ```
/// use typed_transformer::{doctest::*, nn::Linear, prelude::*, ranks, ranks::Ranks, train::{Adam, ShardedState, update}};
/// ranks! { pub World; }
/// let weights = Ranks::<World>::in_threads(2, |ranks| {
///     let mut model = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&Cpu::seed_from_u64(0));
///     let sum = sum_over(model.bias.clone().put_tape(model.recording()), axis::<VocabSize>()).unwrap();
///     let gradients = sum.backward().unwrap();
///     let gradients = gradients.allow_unused(&model.weight);
///     let mut optimizer = ShardedState::new(Adam::default(), ranks);
///     update(&mut model, gradients, &mut optimizer, 0.1, 1.0).unwrap();
///     model.bias.as_vec()
/// });
/// assert_eq!(weights[0], weights[1]);
/// ```
pub struct ShardedState<Inner, Axis> {
    /// The optimizer of this rank's part.
    pub inner: Inner,
    ranks: Ranks<Axis>,
    /// Whether the ranks have compared their parameters, which were equal.
    is_compared: bool,
}

impl<Inner, Axis: RankAxis> ShardedState<Inner, Axis> {
    /// Shards the state of an optimizer, which is the same on all ranks.
    pub fn new(inner: Inner, ranks: &Ranks<Axis>) -> Self {
        Self { inner, ranks: ranks.clone(), is_compared: false }
    }
}

impl<Inner: Optimizer<Model, E, D>, Axis: RankAxis, Model: HasParameters<E, D>, E: Element, D: Backend<E>>
    Optimizer<Model, E, D> for ShardedState<Inner, Axis>
{
    fn step(&mut self, learning_rate: f64, mut parameters: Parameters<'_, Model, E, D>) -> Result<(), OpError> {
        if self.ranks.size() == 1 {
            return self.inner.step(learning_rate, parameters);
        }
        let (mut lens, mut hash) = (Vec::new(), crc32fast::Hasher::new());
        parameters.for_each(&mut |parameter: ParameterMut<'_, E, D>| {
            lens.push(parameter.len());
            if !self.is_compared {
                hash.update(bytemuck::cast_slice(&elements_of(&parameter.values()?)));
            }
            Ok(())
        })?;
        if !self.is_compared {
            // Ranks that divide the model have other parameters, and would get those of each other.
            let compared = self.ranks.ensure_equal("the model", hash.finalize().into());
            compared.map_err(|source| OpError::Ranks { op: OP, source })?;
            self.is_compared = true;
        }
        let total = lens.iter().sum();
        let own = self.ranks.part_of(total, self.ranks.rank());
        keep_part(self.inner.state_mut(), &lens, &own).map_err(device_error(OP))?;
        self.inner.step(learning_rate, parameters.restricted_to(own.clone()))?;

        let mut updated = Vec::with_capacity(own.len());
        parameters.restricted_to(own).for_each(&mut |parameter: ParameterMut<'_, E, D>| {
            updated.extend(elements_of(&parameter.values()?));
            Ok(())
        })?;
        let updated = self.ranks.all_gather(&updated, &self.ranks.lens(total, 1));
        let updated = updated.map_err(|source| OpError::Ranks { op: OP, source })?;
        let mut rest = &updated[..];
        parameters.for_each(&mut |parameter: ParameterMut<'_, E, D>| {
            let values = rest.split_off(..parameter.len()).unwrap_or_default();
            match parameter.tensor.elements_mut() {
                Some(elements) => elements.copy_from_slice(values),
                None => parameter.tensor.set_from_vec(values.to_vec()).map_err(device_error(OP))?,
            }
            Ok(())
        })
    }

    of_inner!(self => self.inner; hyperparameters rate_factor state);

    fn is_sharded(&self) -> bool {
        self.ranks.size() > 1
    }

    fn gather_state(&mut self) -> Result<(), RanksError> {
        let trained = parameter_infos::<Model, E, D>().into_iter().filter(|parameter| parameter.is_trained);
        let lens: Vec<usize> = trained.map(|parameter| parameter.sizes.iter().product()).collect();
        let (total, ranks) = (lens.iter().sum(), &self.ranks);
        let own = ranks.part_of(total, ranks.rank());
        let state = self.inner.state_mut();
        // Before the first step no rank has a state, and after a resume rank 0 has the whole.
        let is_part = |slot: &Slot<E, D>| !slot.values.is_empty() && slot.lens() != lens;
        if !ranks.any(ranks.is_first() && state.slots.iter().any(is_part))? {
            return Ok(());
        }
        keep_part(state, &lens, &own).map_err(RanksError::device(OP))?;
        for slot in &mut state.slots {
            let mut part: Vec<E> = slot.values.iter().flat_map(elements_of).collect();
            // A rank lacks elements if its first step failed before it came to them.
            part.resize(own.len(), E::zero());
            let whole = ranks.all_gather(&part, &ranks.lens(total, 1))?;
            let device = slot.values.first().map(|values| values.device().clone());
            if let Some(device) = device.filter(|_| ranks.is_first()) {
                slot.fill(&whole, &lens, &device).map_err(RanksError::device(OP))?;
            }
        }
        Ok(())
    }
}

/// Cuts a state of the whole model, such as a checkpoint's, down to the elements `own`. The parameters have `lens`
/// elements. A state that is already cut down is unchanged.
fn keep_part<Model, E: Element, D: Backend<E>>(
    state: &mut OptimizerState<Model, E, [Slot<E, D>]>,
    lens: &[usize],
    own: &Range<usize>,
) -> Result<(), D::Err> {
    for slot in &mut state.slots {
        if slot.lens() != lens {
            continue;
        }
        let mut start = 0;
        let mut part = Vec::new();
        for values in &slot.values {
            let len = values.shape().0;
            let range = range_in(own, start..start + len);
            if !range.is_empty() {
                part.push(values.clone().try_slice((range,))?);
            }
            start += len;
        }
        slot.values = part;
    }
    Ok(())
}

crate::error::debug_as!(
    [Inner: fmt::Debug, Axis: RankAxis] ShardedState<Inner, Axis>,
    |this, f| write!(f, "{:?}, sharded over {:?}", this.inner, this.ranks)
);
