use crate::ops::{OpError, Real, failed, real};
use dfdx::{
    nn::{
        RecursiveWalker, TensorCollection, TensorOptions, TensorVisitor, ViewTensorMut,
        ViewTensorRef,
    },
    shapes::{HasShape, Shape},
    tensor::{Gradients, Tensor},
    tensor_ops::Device,
};

/// A rule that turns gradients into new parameters.
pub trait Optimizer<E: Real> {
    /// Changes `parameters` in place; both slices hold every parameter of the model, in the order of
    /// its fields.
    fn step(&mut self, learning_rate: f64, parameters: &mut [E], gradients: &[E]);
}

/// Adam ([Kingma and Ba, 2014](https://arxiv.org/abs/1412.6980), algorithm 1).
///
/// ```
/// use typed_transformer::train::{Adam, Optimizer};
/// let mut adam = Adam::default();
/// let mut parameters = [1.0, 1.0];
/// adam.step(0.1, &mut parameters, &[3.0, -0.001]);
/// // The first step goes by the learning rate, whatever the size of the gradient.
/// assert!((parameters[0] - 0.9f64).abs() < 1e-6 && (parameters[1] - 1.1f64).abs() < 1e-5);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Adam<E> {
    /// Decay of the mean of the gradients.
    pub beta1: f64,
    /// Decay of the mean of their squares.
    pub beta2: f64,
    /// Added to the root of that mean.
    pub epsilon: f64,
    steps: i32,
    mean: Vec<E>,
    square: Vec<E>,
}

impl<E> Default for Adam<E> {
    fn default() -> Self {
        Self {
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
            steps: 0,
            mean: Vec::new(),
            square: Vec::new(),
        }
    }
}

impl<E: Real> Optimizer<E> for Adam<E> {
    fn step(&mut self, learning_rate: f64, parameters: &mut [E], gradients: &[E]) {
        self.steps += 1;
        self.mean.resize(parameters.len(), E::zero());
        self.square.resize(parameters.len(), E::zero());
        let (beta1, beta2) = (real::<E>(self.beta1), real::<E>(self.beta2));
        let bias1 = real::<E>(1.0 - self.beta1.powi(self.steps));
        let bias2 = real::<E>(1.0 - self.beta2.powi(self.steps));
        let (rate, epsilon) = (real::<E>(learning_rate), real::<E>(self.epsilon));
        let moments = self.mean.iter_mut().zip(&mut self.square);
        for ((parameter, &gradient), (mean, square)) in
            parameters.iter_mut().zip(gradients).zip(moments)
        {
            *mean = beta1 * *mean + (E::one() - beta1) * gradient;
            *square = beta2 * *square + (E::one() - beta2) * gradient * gradient;
            *parameter -= rate * (*mean / bias1) / ((*square / bias2).sqrt() + epsilon);
        }
    }
}

/// One update of a model: clips the gradients to a global norm of at most `max_norm`, then lets the
/// optimizer step. Returns the norm before clipping.
///
/// The global norm is `√(Σ g²)` over every parameter of the model.
///
/// # Errors
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
///     cross_entropy(model.forward(x.leaky_trace()), &labels, Average::EveryPosition)
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
pub fn update<Model: TensorCollection<E, D>, E: Real, D: Device<E>>(
    model: &mut Model,
    gradients: Gradients<E, D>,
    optimizer: &mut impl Optimizer<E>,
    learning_rate: f64,
    max_norm: f64,
) -> Result<f64, OpError> {
    let mut read = Read {
        gradients,
        parameters: Vec::new(),
        flat: Vec::new(),
    };
    Model::iter_tensors(&mut RecursiveWalker {
        m: &*model,
        f: &mut read,
    })
    .map_err(failed("update"))?;
    let Read {
        mut parameters,
        mut flat,
        ..
    } = read;

    let square = |g: &E| num_traits::ToPrimitive::to_f64(g).map_or(f64::NAN, |g| g * g);
    let norm = flat.iter().map(square).sum::<f64>().sqrt();
    if norm > max_norm {
        let factor = real::<E>(max_norm / norm);
        flat.iter_mut().for_each(|g| *g *= factor);
    }
    optimizer.step(learning_rate, &mut parameters, &flat);

    Model::iter_tensors(&mut RecursiveWalker {
        m: model,
        f: &mut Write { rest: &parameters },
    })
    .map_err(failed("update"))?;
    Ok(norm)
}

/// Copies parameters and their gradients into flat vectors.
struct Read<E: Real, D: Device<E>> {
    gradients: Gradients<E, D>,
    parameters: Vec<E>,
    flat: Vec<E>,
}

impl<E: Real, D: Device<E>> TensorVisitor<E, D> for Read<E, D> {
    type Viewer = ViewTensorRef;
    type Err = D::Err;
    type E2 = E;
    type D2 = D;

    fn visit<S: Shape>(
        &mut self,
        _: TensorOptions<S, E, D>,
        parameter: &Tensor<S, E, D>,
    ) -> Result<Option<Tensor<S, E, D>>, D::Err> {
        // A parameter that took no part in the loss has no gradient yet.
        self.gradients.get_or_alloc_mut(parameter)?;
        append(&mut self.parameters, parameter);
        append(&mut self.flat, &self.gradients.get(parameter));
        Ok(None)
    }
}

/// Appends a tensor's elements in the order of memory, which for parameters is that of their rows.
fn append<S: Shape, E: Real, D: Device<E>>(flat: &mut Vec<E>, tensor: &Tensor<S, E, D>) {
    let first = flat.len();
    flat.resize(first + tensor.shape().num_elements(), E::zero());
    tensor.copy_into(&mut flat[first..]);
}

/// Copies parameters back from a flat vector.
struct Write<'a, E> {
    rest: &'a [E],
}

impl<E: Real, D: Device<E>> TensorVisitor<E, D> for Write<'_, E> {
    type Viewer = ViewTensorMut;
    type Err = D::Err;
    type E2 = E;
    type D2 = D;

    fn visit<S: Shape>(
        &mut self,
        _: TensorOptions<S, E, D>,
        parameter: &mut Tensor<S, E, D>,
    ) -> Result<Option<Tensor<S, E, D>>, D::Err> {
        let (mine, rest) = self.rest.split_at(parameter.shape().num_elements());
        parameter.copy_from(mine);
        self.rest = rest;
        Ok(None)
    }
}
