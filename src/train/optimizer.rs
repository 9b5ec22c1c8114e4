use crate::{
    backend::{Backend, dispatch_simd, parallel_map},
    dims::name,
    ops::{OpError, Real, cast, device_error},
};
use dfdx::{
    nn::{
        RecursiveWalker, TensorCollection, TensorOptions, TensorVisitor, ViewTensorMut, ViewTensorName,
        ViewTensorRef,
    },
    shapes::{HasShape, Shape},
    tensor::{Gradients, Tensor},
    tensor_ops::Device,
};
use rayon::current_num_threads;
use std::{fmt, marker::PhantomData, mem, slice::Iter};

/// A rule that turns the gradients of a `Model` into new parameters: [`Sgd`](super::Sgd),
/// [`Adam`](super::Adam), [`AdamW`](super::AdamW).
///
/// What it remembers from step to step is a [`OptimizerState`] of that `Model`, so it cannot step another.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no optimizer of `{Model}`",
    label = "it remembers another model",
    note = "make an optimizer for each model: it keeps numbers for each of its parameters"
)]
pub trait Optimizer<Model, E> {
    /// Changes the parameters by their gradients; they are those of the model, in the order of its
    /// fields.
    fn step(&mut self, learning_rate: f64, parameters: &mut [Parameter<E>]);

    /// What it is and all that it was set to, in one line: two that say the same do the same.
    fn settings(&self) -> String;

    /// What it remembers, for a checkpoint.
    fn state(&self) -> &OptimizerState<Model, E>;

    /// The same, for a checkpoint to fill.
    fn state_mut(&mut self) -> &mut OptimizerState<Model, E>;
}

/// A parameter and its gradient, as an [`Optimizer`] meets them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Parameter<E> {
    /// Its path, as in a file.
    pub path: String,
    /// Its sizes.
    pub sizes: Vec<usize>,
    /// Its elements, row by row.
    pub values: Vec<E>,
    /// The slope of the loss in each of them.
    pub gradient: Vec<E>,
}

impl<E> Parameter<E> {
    /// Whether it has two dimensions or more, as have weights and embeddings, and biases and norms
    /// have not.
    pub fn is_matrix(&self) -> bool {
        self.sizes.len() >= 2
    }
}

/// What an [`Optimizer`] remembers of a `Model`: how many steps it has made, and in each of its
/// slots a number for each scalar of the model, 0 at first.
///
/// It holds an array of slots; where their number does not matter, it is seen as a slice of them.
///
/// ```
/// use typed_transformer::{nn::Linear, prelude::*, train::{OptimizerState, Optimizer, Parameter, Slot}};
///
/// /// Steps of one size, by the sign of the momentum alone.
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
///     fn settings(&self) -> String {
///         "signum".into()
///     }
///     fn state(&self) -> &OptimizerState<Model, E> {
///         &self.0
///     }
///     fn state_mut(&mut self) -> &mut OptimizerState<Model, E> {
///         &mut self.0
///     }
/// }
/// let signum: Signum<Linear<Const<2>, Const<3>, f32, Cpu>, f32> = Signum(OptimizerState::new(["momentum"]));
/// assert_eq!(signum.state().steps(), 0);
/// ```
pub struct OptimizerState<Model, E, Slots: ?Sized = [Slot<E>]> {
    pub(super) steps: u64,
    model: PhantomData<fn() -> (Model, E)>,
    /// Those of the last step, whose memory the next one uses again.
    parameters: Vec<Parameter<E>>,
    pub(super) slots: Slots,
}

/// A number for each scalar of a model, parameter by parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Slot<E> {
    pub(super) name: &'static str,
    /// Empty until the first step.
    pub(super) numbers: Vec<Vec<E>>,
}

impl<Model, E, const SLOTS: usize> OptimizerState<Model, E, [Slot<E>; SLOTS]> {
    /// A memory without steps; the names are those of the slots in a checkpoint.
    pub fn new(names: [&'static str; SLOTS]) -> Self {
        Self {
            steps: 0,
            model: PhantomData,
            parameters: Vec::new(),
            slots: names.map(|name| Slot { name, numbers: Vec::new() }),
        }
    }

    /// Counts a step, and returns how many there are now and each slot's numbers for each parameter.
    pub fn begin_step(&mut self, parameters: &[Parameter<E>]) -> (u64, [&mut [Vec<E>]; SLOTS])
    where
        E: Real,
    {
        self.steps = self.steps.saturating_add(1);
        let slots = self.slots.each_mut().map(|slot| {
            if slot.numbers.is_empty() {
                let zeros = |p: &Parameter<E>| vec![E::zero(); p.values.len()];
                slot.numbers = parameters.iter().map(zeros).collect();
            }
            slot.numbers.as_mut_slice()
        });
        (self.steps, slots)
    }
}

impl<Model, E, Slots: ?Sized> OptimizerState<Model, E, Slots> {
    /// How many steps it has made.
    pub fn steps(&self) -> u64 {
        self.steps
    }
}

// Derives would ask the same of `Model`, which is only a name here.
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

/// One update of a model: clips the gradients to a global norm of at most `clip_norm`, then lets the
/// optimizer step. Returns the norm before clipping.
///
/// The global norm is `√(Σ g²)` over every parameter of the model. From the first update on, the device
/// keeps the memory of tensors that are gone for those to come, as training makes the same ones over
/// and over; dfdx's `Cache` empties it.
///
/// # Errors
/// [`OpError::Gradient`] if the norm is a NaN or infinite, which leaves the model as it was;
/// [`OpError::Device`] if the device fails.
///
/// ```
/// use typed_transformer::{nn::Linear, prelude::*, train::{Adam, update}};
/// dims! { pub EmbedDim = 2; pub VocabSize = 3; pub SeqLen = 1; pub Batch = 1; }
/// let device = Cpu::default();
/// let mut model = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&device);
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = device.tensor(vec![1.0, 1.0]);
/// let labels = TokenIds::from_ids(&[2], None, (Batch, SeqLen))?;
/// let loss = |model: &Linear<EmbedDim, VocabSize, f32, Cpu>| {
///     cross_entropy(model.forward(x.leaky_trace()), &labels, Reduction::MeanAll)
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
    gradients: Gradients<E, D>,
    optimizer: &mut impl Optimizer<Model, E>,
    learning_rate: f64,
    clip_norm: f64,
) -> Result<f64, OpError> {
    let mut read = Read { gradients, parameters: mem::take(&mut optimizer.state_mut().parameters), count: 0 };
    Model::iter_tensors(&mut RecursiveWalker { m: (&*model, String::new()), f: &mut read })
        .map_err(device_error("update"))?;
    let mut parameters = read.parameters;
    parameters.truncate(read.count);
    // What the device still holds of the gradients can serve the next pass.
    drop(read.gradients);

    let squares = for_each(&mut parameters, |p| sum_of_squares(&p.gradient));
    let norm = squares.iter().sum::<f64>().sqrt();
    if !norm.is_finite() {
        return Err(OpError::Gradient { norm });
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

    Model::iter_tensors(&mut RecursiveWalker { m: model, f: &mut Write(parameters.iter()) })
        .map_err(device_error("update"))?;
    optimizer.state_mut().parameters = parameters;
    Ok(norm)
}

/// Runs `run` on each parameter, on all threads if that pays; what it
/// returns is in the order of the parameters.
pub(super) fn for_each<'a, E: Real, Value: Send>(
    parameters: &'a mut [Parameter<E>],
    run: impl Fn(&'a mut Parameter<E>) -> Value + Send + Sync,
) -> Vec<Value> {
    let parts = in_parts(parameters.iter_mut().collect(), |p| p.values.len());
    let run = |part: Vec<_>| part.into_iter().map(&run).collect::<Vec<_>>();
    parallel_map(parts, run).into_iter().flatten().collect()
}

/// At most as many parts as there are threads, if it pays to have more than one, with about as many
/// elements each.
fn in_parts<Work>(work: Vec<Work>, elements: impl Fn(&Work) -> usize) -> Vec<Vec<Work>> {
    let all = work.iter().map(&elements).sum::<usize>();
    let threads = if all < WORTH_THREADS { 1 } else { current_num_threads() };
    let mut parts: Vec<_> = (0..threads).map(|_| Vec::new()).collect();
    let mut before = 0;
    for work in work {
        let middle = before + elements(&work) / 2;
        before += elements(&work);
        parts[(middle * threads / all.max(1)).min(threads - 1)].push(work);
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Changes the elements of every parameter by its gradient and its numbers in the slots, vector by
/// vector, on all threads if that pays.
pub(super) fn step<E: Real, const SLOTS: usize>(
    parameters: &mut [Parameter<E>],
    slots: [&mut [Vec<E>]; SLOTS],
    change: impl Fn(&mut Parameter<E>, [&mut [E]; SLOTS]) + Send + Sync,
) {
    let mut slots = slots.map(|slot| slot.iter_mut());
    let work = parameters.iter_mut().map(|parameter| {
        let numbers = slots.each_mut().map(|slot| {
            let numbers = slot.next().map(Vec::as_mut_slice);
            numbers.unwrap_or_default()
        });
        (parameter, numbers)
    });
    let parts = in_parts(work.collect(), |(p, _)| p.values.len());
    parallel_map(parts, |part| {
        for (parameter, numbers) in part {
            change(parameter, numbers);
        }
    });
}

/// `Σ x²`, in as many parts as make the sum quick.
fn sum_of_squares<E: Real>(elements: &[E]) -> f64 {
    const LANES: usize = 16;
    dispatch_simd(
        #[inline(always)]
        || {
            let exact = |x: E| x.to_f64().unwrap_or(f64::NAN);
            let (chunks, rest) = elements.as_chunks::<LANES>();
            let mut sums = [0.0; LANES];
            for chunk in chunks {
                for (sum, x) in sums.iter_mut().zip(chunk) {
                    *sum += exact(*x) * exact(*x);
                }
            }
            let rest = rest.iter().map(|x| exact(*x) * exact(*x));
            sums.into_iter().sum::<f64>() + rest.sum::<f64>()
        },
    )
}

/// The elements from which on other threads bring more than they cost.
const WORTH_THREADS: usize = 1 << 16;

/// Copies parameters from the device, and takes their gradients.
struct Read<E: Real, D: Backend<E>> {
    gradients: Gradients<E, D>,
    /// Those of the step before, whose memory is used again.
    parameters: Vec<Parameter<E>>,
    count: usize,
}

impl<E: Real, D: Backend<E>> TensorVisitor<E, D> for Read<E, D> {
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

/// Copies parameters back to the device.
struct Write<'a, E>(Iter<'a, Parameter<E>>);

impl<E: Real, D: Device<E>> TensorVisitor<E, D> for Write<'_, E> {
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
