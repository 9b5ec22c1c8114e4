//! Linear maps of the vector at each position, and convolutions, which also read the vectors around it.

use super::gather::gather_runs;
use super::operand::copied_if_same;
use super::unnamed::{Rows, matmul_2d_transposed, reshape_to, rows, zip};
use super::{OpError, Real, concat, device_error, ensure_not_empty, range_error};
use crate::backend::{Backend, Linear, Tape, WeightTape, linear_kernel, read_weight, run_kernel, weight_on_tape};
use crate::dims;
use crate::dims::{ConstDim, ConvLen, DataDim, DataShape, Dim, EndsIn, Factor, KernelOf, Product, Sum, along};
use dfdx::shapes::{Axis, Dim as _, HasShape, Shape};
use dfdx::tensor::Tensor;
use dfdx::tensor_ops::{BroadcastTo, TryAdd};

const OP: &str = "linear";

/// `x Wᵀ + b`: a linear map of the vector at each position.
///
/// `(.., InDim), (OutDim, InDim), (OutDim) -> (.., OutDim)`, for tensors of 1 to 6 axes.
///
/// ```
/// use typed_transformer::{ops::linear, prelude::*};
/// dims! { pub EmbedDim = 2; pub HiddenDim = 3; pub SeqLen = 1; pub Batch = 1; }
/// let device = Cpu::default();
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = device.tensor(vec![1.0, 2.0]);
/// let weight: Tensor<(HiddenDim, EmbedDim), f32, Cpu> = device.tensor(vec![1.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
/// let y: Tensor<(Batch, SeqLen, HiddenDim), f32, Cpu> = linear(x, &weight, None)?;
/// assert_eq!(y.as_vec(), [1.0, 2.0, 3.0]);
/// # Ok::<(), OpError>(())
/// ```
pub fn linear<Dims, InDim: ConstDim, OutDim: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>, W: WeightTape<T, E, D>>(
    input: Tensor<Dims, E, D, T>,
    weight: &Tensor<(OutDim, InDim), E, D, W>,
    bias: Option<&Tensor<(OutDim,), E, D, W>>,
) -> Result<Tensor<Dims::WithLast<OutDim>, E, D, T>, OpError>
where
    Dims: EndsIn<InDim, Before: DataShape>,
{
    linear_of_parts(input, weight, bias)
}

/// A convolution along one axis: a linear map of the `Kernel` vectors around each place, every `Stride`-th place, with
/// `Padding` vectors of zeros before the first and after the last one.
///
/// `(B, Len, In), (Out, In, Kernel), (Out) -> (B, ConvLen<Len, Kernel, Stride, Padding>, Out)`:
/// `y[n, o] = b[o] + Σ w[o, i, k] · x[Stride · n + k - Padding, i]`. The axes of the weight are PyTorch's; the channels
/// of input and output are the last axis, as everywhere in this crate.
///
/// # Errors
/// [`OpError::Range`] if the kernel is longer than a run-time axis with its padding.
///
/// ```
/// use typed_transformer::{dims::ConvLen, ops::conv1d, prelude::*};
/// dims! {
///     pub Batch = 1; pub SeqLen = 4; pub EmbedDim = 1; pub HiddenDim = 1; pub Kernel = 3; pub Stride = 2; pub Padding = 1;
/// }
/// let device = Cpu::default();
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = device.tensor(vec![1.0, 2.0, 3.0, 4.0]);
/// let weight: Tensor<(HiddenDim, EmbedDim, Kernel), f32, Cpu> = device.tensor(vec![1.0, 10.0, 100.0]);
/// let y: Tensor<(Batch, ConvLen<SeqLen, Kernel, Stride, Padding>, HiddenDim), f32, Cpu> =
///     conv1d(x, &weight, None, Stride, Padding)?;
/// assert_eq!(y.as_vec(), [210.0, 432.0]);
/// # Ok::<(), OpError>(())
/// ```
///
/// `cargo build` refuses a stride of 0:
///
/// ```compile_fail,E0080
/// # use typed_transformer::{ops::conv1d, prelude::*};
/// let zero: Tensor<(Const<1>, Const<1>, Const<1>), f32, Cpu> = Cpu::default().zeros();
/// let y = conv1d(zero.clone(), &zero, None, Const::<0>, Const::<0>);
/// ```
pub fn conv1d<
    B: DataDim,
    Len: Dim,
    In: ConstDim,
    Out: ConstDim,
    Kernel: KernelOf<Len, Padding>,
    Stride: ConstDim,
    Padding: ConstDim,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
    W: WeightTape<T, E, D>,
>(
    input: Tensor<(B, Len, In), E, D, T>,
    weight: &Tensor<(Out, In, Kernel), E, D, W>,
    bias: Option<&Tensor<(Out,), E, D, W>>,
    _: Stride,
    _: Padding,
) -> Result<Tensor<(B, ConvLen<Len, Kernel, Stride, Padding>, Out), E, D, T>, OpError> {
    const OP: &str = "conv1d";
    let (batch, len, _) = *input.shape();
    let (places, along_len) = Along::new::<Len, Kernel, Stride, Padding>(OP, len)?;
    let weight = channels_last::<Out, In, Kernel, _, _, _, _>(OP, weight_on_tape(weight, T::default()))?;
    let runs = Along::SINGLE.runs(along_len, batch.size());
    convolve(OP, input, runs, &weight, bias, (batch, places, Out::default()))
}

/// A convolution along two axes, as [`conv1d`] along one, with one stride and one padding for both.
///
/// `(B, Height, Width, In), (Out, In, KernelHeight, KernelWidth), (Out) -> (B, ConvLen<Height, ..>, ConvLen<Width, ..>, Out)`
///
/// # Errors
/// [`OpError::Range`] if the kernel is longer than a run-time axis with its padding.
///
/// ```
/// use typed_transformer::{dims::ConvLen, ops::conv2d, prelude::*};
/// dims! {
///     pub Batch = 1; pub Height = 2; pub Width = 3; pub Channels = 1; pub HiddenDim = 1; pub Kernel = 2; pub Stride = 1;
///     pub Padding = 0;
/// }
/// let device = Cpu::default();
/// let image: Tensor<(Batch, Height, Width, Channels), f32, Cpu> = device.tensor(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
/// let weight: Tensor<(HiddenDim, Channels, Kernel, Kernel), f32, Cpu> = device.tensor(vec![1.0, 10.0, 100.0, 1000.0]);
/// let y: Tensor<
///     (Batch, ConvLen<Height, Kernel, Stride, Padding>, ConvLen<Width, Kernel, Stride, Padding>, HiddenDim),
///     f32,
///     Cpu,
/// > = conv2d(image, &weight, None, Stride, Padding)?;
/// assert_eq!(y.as_vec(), [5421.0, 6532.0]);
/// # Ok::<(), OpError>(())
/// ```
#[allow(clippy::type_complexity, reason = "the signature spells every dimension")]
pub fn conv2d<
    B: DataDim,
    Height: Dim,
    Width: Dim,
    In: ConstDim,
    Out: ConstDim,
    KernelHeight: KernelOf<Height, Padding>,
    KernelWidth: KernelOf<Width, Padding>,
    Stride: ConstDim,
    Padding: ConstDim,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
    W: WeightTape<T, E, D>,
>(
    input: Tensor<(B, Height, Width, In), E, D, T>,
    weight: &Tensor<(Out, In, KernelHeight, KernelWidth), E, D, W>,
    bias: Option<&Tensor<(Out,), E, D, W>>,
    _: Stride,
    _: Padding,
) -> Result<
    Tensor<
        (B, ConvLen<Height, KernelHeight, Stride, Padding>, ConvLen<Width, KernelWidth, Stride, Padding>, Out),
        E,
        D,
        T,
    >,
    OpError,
> {
    const OP: &str = "conv2d";
    let (batch, height, width, _) = *input.shape();
    let (rows, along_height) = Along::new::<Height, KernelHeight, Stride, Padding>(OP, height)?;
    let (columns, along_width) = Along::new::<Width, KernelWidth, Stride, Padding>(OP, width)?;
    let weight = weight_on_tape(weight, T::default());
    let weight = channels_last::<Out, In, Product<KernelHeight, KernelWidth>, _, _, _, _>(OP, weight)?;
    let runs = along_height.runs(along_width, batch.size());
    convolve(OP, input, runs, &weight, bias, (batch, rows, columns, Out::default()))
}

/// [`linear`] with the rows, or with the columns, of the weight that this rank has.
pub(crate) fn linear_of_parts<Dims, InDim: Factor, OutDim: Factor, E: Real, D: Backend<E>, T: Tape<E, D>, W>(
    input: Tensor<Dims, E, D, T>,
    weight: &Tensor<(OutDim, InDim), E, D, W>,
    bias: Option<&Tensor<(OutDim,), E, D, W>>,
) -> Result<Tensor<Dims::WithLast<OutDim>, E, D, T>, OpError>
where
    Dims: EndsIn<InDim, Before: DataShape>,
    W: WeightTape<T, E, D>,
{
    ensure_not_empty(OP, weight.shape())?;
    let output_shape = input.shape().with_last(OutDim::default());
    if D::HAS_KERNELS {
        return run_kernel(OP, output_shape, |tape| {
            let input = D::read(input, tape)?;
            let weight = read_weight(weight, tape)?;
            let bias = bias.map(|bias| read_weight(bias, tape)).transpose()?;
            linear_kernel(input, Linear::new(weight, bias, InDim::SIZE, OutDim::SIZE))
        });
    }
    let rows = rows::<Dims, InDim, _, _, _>(OP, input)?;
    let weight = copied_if_same(&rows, weight_on_tape(weight, T::default()))?;
    let output: Tensor<(Rows, OutDim), E, D, T> = matmul_2d_transposed(OP, rows, weight)?;
    reshape_to(OP, bias.into_iter().try_fold(output, add_bias)?, output_shape)
}

/// `x + b` at each position: `(.., OutDim), (OutDim) -> (.., OutDim)`.
pub(crate) fn add_bias<Dims, OutDim: Factor, E: Real, D: Backend<E>, T: Tape<E, D>, W: WeightTape<T, E, D>>(
    input: Tensor<Dims, E, D, T>,
    bias: &Tensor<(OutDim,), E, D, W>,
) -> Result<Tensor<Dims, E, D, T>, OpError>
where
    Dims: EndsIn<OutDim>,
{
    let (shape, rows) = (*input.shape(), rows::<Dims, OutDim, _, _, _>(OP, input)?);
    let bias = weight_on_tape(bias, T::default()).try_broadcast_like::<_, Axis<0>>(rows.shape());
    reshape_to(OP, zip(OP, rows, bias.map_err(device_error(OP))?, |x, y| x.try_add(y))?, shape)
}

/// The places of a kernel along an axis.
#[derive(Clone, Copy)]
struct Along {
    len: usize,
    kernel: usize,
    stride: usize,
    padding: usize,
    places: usize,
}

impl Along {
    /// An axis of one element, and a kernel of one.
    const SINGLE: Self = Self { len: 1, kernel: 1, stride: 1, padding: 0, places: 1 };

    fn new<Len: Dim, Kernel: ConstDim, Stride: ConstDim, Padding: ConstDim>(
        op: &'static str,
        len: Len,
    ) -> Result<(ConvLen<Len, Kernel, Stride, Padding>, Self), OpError> {
        const { assert!(Stride::SIZE > 0, "a stride is at least 1") };
        let (kernel, stride, padding) = (Kernel::SIZE, Stride::SIZE, Padding::SIZE);
        let whole = Sum::of(Padding::default(), Sum::of(len, Padding::default()));
        let error = || range_error(op, &Kernel::default(), 0, &whole);
        let windows = (whole.size() + 1).checked_sub(kernel).filter(|windows| *windows > 0).ok_or_else(error)?;
        let places = ConvLen::from_size(windows.div_ceil(stride)).ok_or_else(error)?;
        Ok((places, Self { len: len.size(), kernel, stride, padding, places: places.size() }))
    }

    /// The element that index `at` of the kernel reads at `place`; `None` in the padding.
    fn element(self, place: usize, at: usize) -> Option<usize> {
        (place * self.stride + at).checked_sub(self.padding).filter(|element| *element < self.len)
    }

    /// The vectors that a kernel over this axis and the next one reads at each place, in a batch: `(B, Places,
    /// OtherPlaces, Kernel, OtherKernel)`.
    fn runs(self, other: Self, batch: usize) -> Vec<Option<usize>> {
        let mut runs = Vec::with_capacity(batch * self.places * other.places * self.kernel * other.kernel);
        for item in 0..batch {
            for (place, other_place) in itertools::iproduct!(0..self.places, 0..other.places) {
                for (at, other_at) in itertools::iproduct!(0..self.kernel, 0..other.kernel) {
                    let element = self.element(place, at).zip(other.element(other_place, other_at));
                    runs.push(element.map(|(row, column)| (item * self.len + row) * other.len + column));
                }
            }
        }
        runs
    }
}

dims! {
    /// All numbers of a tensor.
    Numbers;
    /// A vector of zeros.
    Zeros;
}

/// `(Out, In, ..) -> (Out, Product<Kernel, In>)`, where all further axes are those of the kernel.
fn channels_last<Out: ConstDim, In: ConstDim, Kernel: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>, From: Shape>(
    op: &'static str,
    weight: Tensor<From, E, D, T>,
) -> Result<Tensor<(Out, Product<Kernel, In>), E, D, T>, OpError> {
    let offset = |output: usize| {
        let (row, column) = (output / (Kernel::SIZE * In::SIZE), output % (Kernel::SIZE * In::SIZE));
        (row * In::SIZE + column % In::SIZE) * Kernel::SIZE + column / In::SIZE
    };
    gather_runs(op, weight, (0..Out::SIZE * In::SIZE * Kernel::SIZE).map(offset).collect(), 1, Default::default())
}

/// A linear map of the vectors that the kernel reads at each place. `runs` are their indices, place after place.
fn convolve<From: Shape, To: Shape, In: ConstDim, Kernel: ConstDim, Out: ConstDim, E, D, T, W>(
    op: &'static str,
    input: Tensor<From, E, D, T>,
    runs: Vec<Option<usize>>,
    weight: &Tensor<(Out, Product<Kernel, In>), E, D, T>,
    bias: Option<&Tensor<(Out,), E, D, W>>,
    to: To,
) -> Result<Tensor<To, E, D, T>, OpError>
where
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
    W: WeightTape<T, E, D>,
{
    let rows = (Rows::new(runs.len() / Kernel::SIZE.max(1)), Product::<Kernel, In>::default());
    let numbers = input.shape().num_elements();
    let starts = runs.iter().map(|run| run.map_or(numbers, |run| run * In::SIZE)).collect();
    let vectors = match runs.contains(&None) {
        true => {
            let zeros: Tensor<(Zeros,), E, D> =
                input.device().try_zeros_like(&(Zeros::new(In::SIZE),)).map_err(device_error(op))?;
            let flat = reshape_to(op, input, (Numbers::new(numbers),))?;
            let padded: Tensor<(Sum<Numbers, Zeros>,), E, D, T> =
                concat(flat, zeros.retaped::<T>(), along::<Numbers, Zeros>())?;
            gather_runs(op, padded, starts, In::SIZE, rows)?
        }
        false => gather_runs(op, input, starts, In::SIZE, rows)?,
    };
    let bias = bias.map(|bias| weight_on_tape(bias, T::default()));
    reshape_to(op, linear(vectors, weight, bias.as_ref())?, to)
}
