//! Tensors that do not depend on an input: constants, and numbers that are drawn.

use super::views::{outer_len_inner, shape_of_sizes, sizes};
use super::{OpError, Real, cast, device_error};
use crate::backend::Backend;
use crate::dims::{BroadcastFrom, Dim, num_elements};
use crate::tokens::Indices;
use dfdx::shapes::Shape;
use dfdx::tensor::Tensor;
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use std::hint::black_box;

/// An array, a slice or a vector of `E`. The trait exists for its error message.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "expected the elements of a tensor: an array, a slice or a vector",
    label = "`{Self}` is not a list of `{E}`",
    note = "`Vec::from_iter(..)` is the list of an iterator; `full` makes a tensor of one `f64`; where the dtype is a type parameter, a number is `E::from_f64(0.5).unwrap()`"
)]
pub trait Elements<E>: Into<Vec<E>> {}
#[diagnostic::do_not_recommend]
impl<E, List: Into<Vec<E>>> Elements<E> for List {}

/// A tensor of elements in row-major order: an array, a slice or a vector.
///
/// # Errors
/// [`OpError::Elements`] if `shape` has another number of elements.
///
/// ```
/// use typed_transformer::{ops::tensor, prelude::*};
/// dims! { pub Batch; pub EmbedDim = 2; }
/// let device = Cpu::default();
/// let shape = (Batch::new(2), EmbedDim);
/// let x: Tensor<(Batch, EmbedDim), f32, Cpu> = tensor(&device, [1.0, 2.0, 3.0, 4.0], shape)?;
/// assert_eq!(x.as_vec(), [1.0, 2.0, 3.0, 4.0]);
///
/// let error = tensor(&device, vec![1.0f32; 3], shape).unwrap_err();
/// assert_eq!(error.to_string(), "tensor: 3 elements given, but (Batch=2, EmbedDim=2) has 4");
/// # Ok::<(), OpError>(())
/// ```
pub fn tensor<Dims: Shape, E: Real, D: Backend<E>>(
    device: &D,
    elements: impl Elements<E>,
    shape: Dims,
) -> Result<Tensor<Dims, E, D>, OpError> {
    const OP: &str = "tensor";
    let elements = elements.into();
    let (expected, found) = (num_elements(&shape), elements.len());
    if found != expected {
        return Err(OpError::Elements { op: OP, dims: format!("{shape:?}"), expected, found });
    }
    device.try_tensor_from_vec(elements, shape).map_err(device_error(OP))
}

/// Memory for the elements of a tensor, or an error. Without this, a [`Vec`] that gets no memory ends the process.
fn memory_for<Dims: Shape, E>(op: &'static str, shape: &Dims) -> Result<Vec<E>, OpError> {
    let mut memory = Vec::new();
    memory.try_reserve_exact(num_elements(shape)).map_err(device_error(op))?;
    // The compiler may leave out an allocation that nobody uses.
    Ok(black_box(memory))
}

/// A tensor of the same number everywhere.
///
/// ```
/// use typed_transformer::{ops::{full, zeros}, prelude::*};
/// dims! { pub EmbedDim = 2; pub SeqLen; }
/// let (device, shape) = (Cpu::default(), (SeqLen::new(2), EmbedDim));
/// let x: Tensor<(SeqLen, EmbedDim), f32, Cpu> = full(&device, shape, 0.5)?;
/// assert_eq!(x.as_vec(), [0.5; 4]);
/// let x: Tensor<(SeqLen, EmbedDim), f32, Cpu> = zeros(&device, shape)?;
/// assert_eq!(x.as_vec(), [0.0; 4]);
/// # Ok::<(), OpError>(())
/// ```
pub fn full<Dims: Shape, E: Real, D: Backend<E>>(
    device: &D,
    shape: Dims,
    value: f64,
) -> Result<Tensor<Dims, E, D>, OpError> {
    const OP: &str = "full";
    let mut elements = memory_for(OP, &shape)?;
    elements.resize(shape.num_elements(), cast(value));
    device.try_tensor_from_vec(elements, shape).map_err(device_error(OP))
}

/// A tensor of zeros.
pub fn zeros<Dims: Shape, E: Real, D: Backend<E>>(device: &D, shape: Dims) -> Result<Tensor<Dims, E, D>, OpError> {
    const OP: &str = "zeros";
    memory_for::<_, E>(OP, &shape)?;
    device.try_zeros_like(&shape).map_err(device_error(OP))
}

/// Normal numbers with mean 0 and standard deviation 1, drawn from `rng`, such as
/// [`step.rng`](crate::train::Step::rng).
///
/// ```
/// use typed_transformer::{ops::normal, prelude::*, train::{Sgd, Trainer}};
/// dims! { pub Batch = 2; pub EmbedDim = 3; }
/// let mut trainer = Trainer::new(Sgd::<(), f32>::default(), 0.1, 1, 0);
/// let mut step = trainer.next_step().unwrap();
/// let noise: Tensor<(Batch, EmbedDim), f32, Cpu> = normal(&Cpu::default(), (Batch, EmbedDim), &mut step.rng)?;
/// assert!(noise.as_vec().iter().all(|x| *x != 0.0));
/// # Ok::<(), OpError>(())
/// ```
pub fn normal<Dims: Shape, E: Real, D: Backend<E>>(
    device: &D,
    shape: Dims,
    rng: &mut impl Rng,
) -> Result<Tensor<Dims, E, D>, OpError> {
    const OP: &str = "normal";
    let mut elements = memory_for(OP, &shape)?;
    elements.extend(StandardNormal.sample_iter(rng).take(shape.num_elements()).map(cast::<E>));
    device.try_tensor_from_vec(elements, shape).map_err(device_error(OP))
}

/// The numbers `0, 1, …, S - 1`: `-> (S)`.
///
/// ```
/// use typed_transformer::{ops::iota, prelude::*};
/// dims! { pub SeqLen; }
/// let positions: Tensor<(SeqLen,), f32, Cpu> = iota(&Cpu::default(), SeqLen::new(3))?;
/// assert_eq!(positions.as_vec(), [0.0, 1.0, 2.0]);
/// # Ok::<(), OpError>(())
/// ```
pub fn iota<S: Dim, E: Real, D: Backend<E>>(device: &D, len: S) -> Result<Tensor<(S,), E, D>, OpError> {
    const OP: &str = "iota";
    let mut numbers = memory_for(OP, &(len,))?;
    numbers.extend((0..len.size()).map(|index| cast::<E>(index as f64)));
    device.try_tensor_from_vec(numbers, (len,)).map_err(device_error(OP))
}

/// 1 at each index and 0 elsewhere: `out[.., n, ..] = 1` where `indices[.., ..]` is `n`.
///
/// `(.., ..) indices of Name -> (.., Name, ..)`. The type of the result says where the axis `Name` is.
///
/// ```
/// use typed_transformer::{ops::one_hot, prelude::*, tokens::Indices};
/// dims! { pub NumExperts = 3; pub SeqLen = 2; }
/// let chosen = Indices::new(&[2, 0], (SeqLen,), NumExperts)?;
/// let x: Tensor<(SeqLen, NumExperts), f32, Cpu> = one_hot(&Cpu::default(), &chosen)?;
/// assert_eq!(x.as_vec(), [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn one_hot<Smaller: Shape, Dims, Name: Dim, WhichAxis, E: Real, D: Backend<E>>(
    device: &D,
    indices: &Indices<Smaller, Name>,
) -> Result<Tensor<Dims, E, D>, OpError>
where
    Dims: BroadcastFrom<Smaller, Name, WhichAxis>,
{
    const OP: &str = "one_hot";
    let len = indices.axis().size();
    let mut sizes = sizes(&indices.shape());
    sizes.insert(Dims::INDEX, len);
    let shape: Dims = shape_of_sizes(OP, &sizes)?;
    let (_, _, inner) = outer_len_inner(&shape, Dims::INDEX);
    let mut elements = memory_for(OP, &shape)?;
    elements.resize(shape.num_elements(), E::zero());
    for (position, index) in indices.as_slice().iter().enumerate() {
        elements[(position / inner * len + index) * inner + position % inner] = E::one();
    }
    device.try_tensor_from_vec(elements, shape).map_err(device_error(OP))
}
