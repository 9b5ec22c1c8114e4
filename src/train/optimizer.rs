//! The trait of optimizers, their state, and checks of hyperparameters.

use super::{Parameter, ParameterMut, Parameters};
use crate::backend::Backend;
use crate::dims::name;
use crate::nn::HasParameters;
use crate::ops::{OpError, Real, cast};
use crate::ranks::RanksError;
use dfdx::shapes::{HasShape, Unit};
use dfdx::tensor::{Cpu, Storage, Tensor};
use std::marker::PhantomData;

/// A rule that turns the gradients of a `Model` into new parameters: [`Sgd`](super::Sgd),
/// [`Adam`](super::Adam), [`AdamW`](super::AdamW).
///
/// Its [`OptimizerState`] names the `Model`, so an optimizer cannot step a model of another type. Two models of one
/// type need an optimizer each: one would mix their averages. [`OptimizerState`] shows an optimizer of one's own.
///
/// ```
/// use typed_transformer::{doctest::*, nn::Linear, prelude::*, train::{Adam, Optimizer, Sgd}};
/// type Layer = Linear<EmbedDim, VocabSize, f32, Cpu>;
/// fn num_steps(optimizer: &dyn Optimizer<Layer, f32>) -> u64 {
///     optimizer.state().steps()
/// }
/// let optimizers: [&dyn Optimizer<Layer, f32>; 2] = [&Sgd::default(), &Adam::default()];
/// assert_eq!(optimizers.map(num_steps), [0, 0]);
/// assert_eq!(optimizers[0].hyperparameters(), "Sgd { momentum: 0.0 }");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an optimizer of `{Model}` in `{E}`",
    label = "this optimizer's state belongs to another model or another element type",
    note = "make one optimizer per model: its state has an element for each parameter"
)]
pub trait Optimizer<Model, E: Real, D: Backend<E> = Cpu> {
    /// Changes the parameters by their gradients.
    ///
    /// # Errors
    /// [`OpError::Hyperparameter`] before the first change if a hyperparameter is out of its range; [`OpError::Shape`]
    /// if the state is that of a model with other run-time sizes.
    fn step(&mut self, learning_rate: f64, parameters: Parameters<'_, Model, E, D>) -> Result<(), OpError>;

    /// The algorithm and its hyperparameters in one line. Two optimizers with the same line must compute the same. A
    /// checkpoint stores this line, and is resumed only by an optimizer with the same one.
    fn hyperparameters(&self) -> String;

    /// The factor of the learning rate for a parameter; [`GroupRates`](super::GroupRates) sets it. A parameter of
    /// factor 0 is frozen: it is not changed, and its gradient does not count for the norm. An optimizer around an
    /// inner one returns the factor of the inner one.
    fn rate_factor(&self, _parameter: &Parameter) -> f64 {
        1.0
    }

    /// The state that a checkpoint stores.
    fn state(&self) -> &OptimizerState<Model, E, [Slot<E, D>]>;

    /// The state, to be filled from a checkpoint.
    fn state_mut(&mut self) -> &mut OptimizerState<Model, E, [Slot<E, D>]>;

    /// Whether the state is sharded over ranks, as that of a [`ShardedState`](super::ShardedState) is.
    fn is_sharded(&self) -> bool {
        false
    }

    /// Gives rank 0 the state of the whole model until the next step. All ranks call it.
    ///
    /// # Errors
    /// [`RanksError`] if a rank fails.
    fn gather_state(&mut self) -> Result<(), RanksError> {
        Ok(())
    }
}

/// Methods of an [`Optimizer`] that call those of the optimizer `$inner`.
macro_rules! of_inner {
    ($this:ident => $inner:expr; $($method:ident)*) => { $(of_inner!(@$method $this $inner);)* };
    (@step $this:ident $inner:expr) => {
        fn step(&mut $this, learning_rate: f64, parameters: Parameters<'_, Model, E, D>) -> Result<(), OpError> {
            $inner.step(learning_rate, parameters)
        }
    };
    (@hyperparameters $this:ident $inner:expr) => {
        fn hyperparameters(&$this) -> String {
            $inner.hyperparameters()
        }
    };
    (@rate_factor $this:ident $inner:expr) => {
        fn rate_factor(&$this, parameter: &Parameter) -> f64 {
            $inner.rate_factor(parameter)
        }
    };
    (@state $this:ident $inner:expr) => {
        fn state(&$this) -> &OptimizerState<Model, E, [Slot<E, D>]> {
            $inner.state()
        }
        fn state_mut(&mut $this) -> &mut OptimizerState<Model, E, [Slot<E, D>]> {
            $inner.state_mut()
        }
    };
    (@ranks $this:ident $inner:expr) => {
        fn is_sharded(&$this) -> bool {
            $inner.is_sharded()
        }
        fn gather_state(&mut $this) -> Result<(), RanksError> {
            $inner.gather_state()
        }
    };
}
pub(super) use of_inner;

/// An optimizer that is chosen at run time.
#[diagnostic::do_not_recommend]
impl<O: Optimizer<Model, E, D> + ?Sized, Model, E: Real, D: Backend<E>> Optimizer<Model, E, D> for Box<O> {
    of_inner!(self => **self; step hyperparameters rate_factor state ranks);
}

/// The state of an [`Optimizer`] of a `Model`: the number of steps, and slots. Each slot
/// has one element per scalar parameter of the model, initially 0.
///
/// `Slots` is an array. As a slice, `[Slot<E, D>]`, it erases the number of slots.
///
/// The example computes with tensors. [`ParameterMut::update_in_place`] is faster.
///
/// ```
/// use typed_transformer::train::{Optimizer, OptimizerState, Parameters, Slot};
/// use typed_transformer::{backend::Backend, doctest::*, nn::Linear, prelude::*};
///
/// /// RMSprop: `v ← v + (g² - v) / 10`, then `θ ← θ - rate · g / √(v + 1e-8)`.
/// struct RmsProp<Model, E: Real, D: Backend<E>>(OptimizerState<Model, E, [Slot<E, D>; 1]>);
///
/// impl<Model: BuildModule<D, E>, E: Real, D: Backend<E>> Optimizer<Model, E, D> for RmsProp<Model, E, D> {
///     fn step(&mut self, learning_rate: f64, parameters: Parameters<'_, Model, E, D>) -> Result<(), OpError> {
///         let [rate, tenth, epsilon] = [learning_rate, 0.1, 1e-8].map(|x| E::from_f64(x).unwrap());
///         self.0.update(parameters, |_, mut parameter, [mean_square]| {
///             let (values, gradient) = (parameter.values()?, parameter.gradient()?);
///             let change = gradient.clone().square() - mean_square.clone();
///             *mean_square = mean_square.clone() + change * tenth;
///             let rate = rate * E::from_f64(parameter.rate_factor()).unwrap();
///             parameter.set_values(values - gradient * rate / (mean_square.clone() + epsilon).sqrt())
///         })
///     }
///     fn hyperparameters(&self) -> String {
///         "RmsProp".into()
///     }
///     fn state(&self) -> &OptimizerState<Model, E, [Slot<E, D>]> {
///         &self.0
///     }
///     fn state_mut(&mut self) -> &mut OptimizerState<Model, E, [Slot<E, D>]> {
///         &mut self.0
///     }
/// }
/// let rms_prop: RmsProp<Linear<EmbedDim, VocabSize, f32, Cpu>, f32, Cpu> =
///     RmsProp(OptimizerState::new(["mean_sq"])); // `_sq`: squares, which a checkpoint must not have below 0
/// assert_eq!(rms_prop.state().steps(), 0);
/// ```
pub struct OptimizerState<Model, E, Slots: ?Sized> {
    pub(super) steps: u64,
    model: PhantomData<fn() -> (Model, E)>,
    pub(super) slots: Slots,
}

/// One element of optimizer state per scalar parameter of a model (TensorFlow's slot variables): the
/// momentum, for example. It lies on the device of the model.
///
/// ```
/// use typed_transformer::{doctest::*, nn::Linear, prelude::*, train::{Adam, Optimizer, OptimizerState, Slot}};
/// type Layer = Linear<EmbedDim, VocabSize, f32, Cpu>;
/// let adam: Adam<Layer, f32> = Adam::default();
/// let state: &OptimizerState<Layer, f32, [Slot<f32>]> = adam.state();
/// // Two slots, which have no elements before the first step.
/// assert_eq!(state.num_elements(), 0);
/// ```
#[derive(Clone)]
pub struct Slot<E: Unit, D: Storage<E> = Cpu> {
    pub(super) name: &'static str,
    /// One flat tensor per parameter; empty until the first step.
    pub(super) values: Vec<Tensor<(usize,), E, D>>,
}

impl<E: Real, D: Backend<E>> Slot<E, D> {
    /// The number of elements of each parameter.
    pub(super) fn lens(&self) -> Vec<usize> {
        self.values.iter().map(|values| values.shape().0).collect()
    }

    /// Sets all elements, of which each parameter has as many as `lens` says.
    pub(super) fn fill(&mut self, mut elements: &[E], lens: &[usize], device: &D) -> Result<(), D::Err> {
        let values = lens.iter().map(|&len| {
            let own = elements.split_off(..len).unwrap_or_default();
            device.try_tensor_from_vec(own.to_vec(), (len,))
        });
        self.values = values.collect::<Result<_, _>>()?;
        Ok(())
    }
}

impl<Model, E: Real, D: Backend<E>, const SLOTS: usize> OptimizerState<Model, E, [Slot<E, D>; SLOTS]> {
    /// A state after no step. `names` are the names of the slots in a checkpoint. A slot whose name ends in
    /// `_sq` holds squares: a checkpoint in which one is negative is damaged.
    pub fn new(names: [&'static str; SLOTS]) -> Self {
        Self { steps: 0, model: PhantomData, slots: names.map(|name| Slot { name, values: Vec::new() }) }
    }

    /// Counts a step, and calls `update` for each parameter: with the number of steps, this one included, the
    /// parameter, and its tensor in each slot. A frozen parameter, whose [`rate_factor`](ParameterMut::rate_factor) is
    /// 0, is left out.
    ///
    /// # Errors
    /// The first error of `update`; [`OpError::Shape`] if a parameter has another number of elements than in the step
    /// before.
    pub fn update(
        &mut self,
        mut parameters: Parameters<'_, Model, E, D>,
        mut update: impl FnMut(u64, ParameterMut<'_, E, D>, [&mut Tensor<(usize,), E, D>; SLOTS]) -> Result<(), OpError>,
    ) -> Result<(), OpError>
    where
        Model: HasParameters<E, D>,
    {
        let steps = self.steps.saturating_add(1);
        let mut index = 0;
        parameters.for_each(&mut |parameter: ParameterMut<'_, E, D>| {
            for slot in &mut self.slots {
                if slot.values.len() <= index {
                    slot.values.push(parameter.zeros()?);
                }
                let (found, expected) = (slot.values[index].shape().0, parameter.len());
                if found != expected {
                    let (from, to) = (format!("({found})"), format!("({expected})"));
                    return Err(OpError::Shape { op: "update", from, to });
                }
            }
            let slots = self.slots.each_mut().map(|slot| &mut slot.values[index]);
            index += 1;
            if parameter.rate_factor() == 0.0 {
                return Ok(());
            }
            update(steps, parameter, slots)
        })?;
        self.steps = steps;
        Ok(())
    }
}

impl<Model, E: Unit, D: Storage<E>> OptimizerState<Model, E, [Slot<E, D>]> {
    /// The number of elements of all slots that this process has: none before the first step.
    pub fn num_elements(&self) -> usize {
        self.slots.iter().flat_map(|slot| &slot.values).map(|values| values.shape().0).sum()
    }
}

impl<Model, E, Slots: ?Sized> OptimizerState<Model, E, Slots> {
    /// The number of steps so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }
}

// Derived impls would require `Model: Clone` and `Model: Debug`, although no model is stored.
crate::dims::cloned!([Model, E, Slots: Clone] OptimizerState<Model, E, Slots> { steps, model, slots });
crate::error::debug_as!(
    [Model, E, Slots: ?Sized] OptimizerState<Model, E, Slots>,
    |this, f| write!(f, "{} after {} steps", name::<Model>(), this.steps)
);
crate::error::debug_as!([E: Unit, D: Storage<E>] Slot<E, D>, |this, f| f.write_str(this.name));

/// An error unless a hyperparameter `is_valid`.
pub(super) fn ensure(name: &'static str, found: f64, is_valid: bool, expected: &'static str) -> Result<(), OpError> {
    if is_valid { Ok(()) } else { Err(OpError::Hyperparameter { name, expected, found }) }
}

/// An error unless `rate` is the decay rate of an average, from 0 to below 1.
pub(super) fn ensure_decay_rate<E: Real>(name: &'static str, rate: f64) -> Result<(), OpError> {
    ensure(name, rate, (0.0..1.0).contains(&rate), "at least 0 and below 1")?;
    ensure(name, rate, cast::<E>(rate) < E::one(), "below 1 in the type of the parameters")
}

/// An error unless `value` is finite, also in `E`, and not negative.
pub(super) fn ensure_non_negative<E: Real>(name: &'static str, value: f64) -> Result<(), OpError> {
    ensure(name, value, value.is_finite() && value >= 0.0, "finite and at least 0")?;
    ensure(name, value, cast::<E>(value).is_finite(), "finite in the type of the parameters")
}
