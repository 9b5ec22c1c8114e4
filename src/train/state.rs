use crate::{dims::name, ops::Real};
use std::{fmt, marker::PhantomData};

/// A parameter and its gradient, as an [`Optimizer`](super::Optimizer) sees them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Parameter<E> {
    /// Its field path in the model, which is also its name in a file.
    pub path: String,
    /// The size of each dimension.
    pub sizes: Vec<usize>,
    /// Its elements in row-major order.
    pub values: Vec<E>,
    /// The derivative of the loss with respect to each element.
    pub gradient: Vec<E>,
}

impl<E> Parameter<E> {
    /// Whether it has at least two dimensions: weight matrices and embedding tables do, biases and
    /// norm parameters do not.
    pub fn is_matrix(&self) -> bool {
        self.sizes.len() >= 2
    }
}

/// The state of an [`Optimizer`](super::Optimizer) of a `Model`: the number of steps, and slots. Each slot
/// has one element per scalar parameter of the model, initially 0.
///
/// `Slots` is an array. As a slice, in `OptimizerState<Model, E>`, it erases the number of slots.
///
/// ```
/// use typed_transformer::{
///     doctest::*,
///     nn::Linear,
///     prelude::*,
///     train::{Optimizer, OptimizerState, Parameter, Slot},
/// };
///
/// /// Signum: `m ← m + g`, then `θ ← θ - rate · sign(m)`.
/// struct Signum<Model, E>(OptimizerState<Model, E, [Slot<E>; 1]>);
///
/// impl<Model, E: Real> Optimizer<Model, E> for Signum<Model, E> {
///     fn step(&mut self, learning_rate: f64, parameters: &mut [Parameter<E>]) {
///         let rate = E::from_f64(learning_rate).unwrap();
///         let (_, [momentum]) = self.0.begin_step(parameters);
///         for (parameter, momentum) in parameters.iter_mut().zip(momentum) {
///             for ((value, gradient), momentum) in
///                 parameter.values.iter_mut().zip(&parameter.gradient).zip(momentum)
///             {
///                 *momentum += *gradient;
///                 *value -= rate * momentum.signum();
///             }
///         }
///     }
///     fn hyperparameters(&self) -> String {
///         "Signum".into()
///     }
///     fn state(&self) -> &OptimizerState<Model, E> {
///         &self.0
///     }
///     fn state_mut(&mut self) -> &mut OptimizerState<Model, E> {
///         &mut self.0
///     }
/// }
/// let signum: Signum<Linear<EmbedDim, VocabSize, f32, Cpu>, f32> = Signum(OptimizerState::new(["momentum"]));
/// assert_eq!(signum.state().steps(), 0);
/// ```
pub struct OptimizerState<Model, E, Slots: ?Sized = [Slot<E>]> {
    pub(super) steps: u64,
    model: PhantomData<fn() -> (Model, E)>,
    /// The parameters of the last step. The next step reuses their memory.
    pub(super) parameters: Vec<Parameter<E>>,
    pub(super) slots: Slots,
}

/// One element of optimizer state per scalar parameter of a model (TensorFlow's slot variables): the
/// momentum, for example.
#[derive(Clone, Debug, PartialEq)]
pub struct Slot<E> {
    pub(super) name: &'static str,
    /// One vector per parameter; empty until the first step.
    pub(super) values: Vec<Vec<E>>,
}

impl<Model, E, const SLOTS: usize> OptimizerState<Model, E, [Slot<E>; SLOTS]> {
    /// A state after no step. `names` are the names of the slots in a checkpoint. A slot whose name ends in
    /// `_sq` holds squares: a checkpoint in which one is negative is damaged.
    pub fn new(names: [&'static str; SLOTS]) -> Self {
        Self {
            steps: 0,
            model: PhantomData,
            parameters: Vec::new(),
            slots: names.map(|name| Slot { name, values: Vec::new() }),
        }
    }

    /// Counts a step. Returns the number of steps, this one included, and for each slot one vector per
    /// parameter.
    pub fn begin_step(&mut self, parameters: &[Parameter<E>]) -> (u64, [&mut [Vec<E>]; SLOTS])
    where
        E: Real,
    {
        self.steps = self.steps.saturating_add(1);
        let slots = self.slots.each_mut().map(|slot| {
            if slot.values.is_empty() {
                let zeros = |p: &Parameter<E>| vec![E::zero(); p.values.len()];
                slot.values = parameters.iter().map(zeros).collect();
            }
            slot.values.as_mut_slice()
        });
        (self.steps, slots)
    }
}

impl<Model, E> OptimizerState<Model, E> {
    /// The number of elements of all slots that this process has: none before the first step.
    pub fn num_elements(&self) -> usize {
        self.slots.iter().flat_map(|slot| &slot.values).map(Vec::len).sum()
    }
}

impl<Model, E, Slots: ?Sized> OptimizerState<Model, E, Slots> {
    /// The number of steps so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }
}

// Derived impls would require `Model: Clone` and `Model: Debug`, although no model is stored.
impl<Model, E, Slots: Clone> Clone for OptimizerState<Model, E, Slots> {
    fn clone(&self) -> Self {
        Self { steps: self.steps, model: PhantomData, parameters: Vec::new(), slots: self.slots.clone() }
    }
}
impl<Model, E, Slots: ?Sized> fmt::Debug for OptimizerState<Model, E, Slots> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} after {} steps", name::<Model>(), self.steps)
    }
}
