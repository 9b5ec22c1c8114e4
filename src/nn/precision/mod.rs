//! The storage and the products of a model's weights: in the dtype in which the model computes, or in fewer bits.

mod packed;

pub use packed::{Bf16, F16, Packed, PackedPrecision, Q8, Q8Rows};

use crate::backend::{Backend, Tape, elements_of};
use crate::dims::{ConstDim, DataDim, DataShape, Dim, EndsIn};
use crate::model_tensors::{ModelTensor, visit_tensors};
use crate::nn::module::ParamShape;
use crate::ops::{self, OpError, Real};
use crate::tokens::TokenIds;
use crate::weights::{ExpectedTensor, LoadError, Loadable, load_from};
use dfdx::{dtypes::Dtype, nn::TensorCollection, tensor::Tensor, tensor_ops::Device};
use std::collections::HashMap;

/// A weight of a module whose precision is `P`. If `P` is [`Trainable`] it is a tensor, otherwise it is [`Packed`].
///
/// ```
/// use typed_transformer::{doctest::*, nn::{FullPrecision, Packed, Q8, Weight}, prelude::*};
/// let weight: Weight<(VocabSize, EmbedDim), f32, Cpu, FullPrecision> = Cpu::default().zeros();
/// let tensor: Tensor<(VocabSize, EmbedDim), f32, Cpu> = weight;
/// # fn same(weight: Weight<(VocabSize, EmbedDim), f32, Cpu, Q8>) -> Packed<(VocabSize, EmbedDim), Cpu, Q8> { weight }
/// ```
pub type Weight<Dims, E, D, P> = <P as Precision>::Weight<Dims, E, D>;

/// The storage and the products of a module's weights: [`FullPrecision`], [`MixedBf16`], [`Bf16`], [`F16`], [`Q8`] or
/// [`Q8Rows`].
///
/// The precision is a parameter of a module, `Gpt2<Config, f32, Cpu, Q8>`. It is that of the weights of linear maps and
/// of the tables of tokens. Norms, biases and positions stay in the dtype `E`, in which everything is computed. Two
/// exceptions: with weights in 8 bits, an input of a single row is rounded to 16 bits, and the two are multiplied as
/// integers; [`MixedBf16`] rounds what a linear map reads and writes. Modules of two precisions are two types, so they
/// do not mix.
///
/// A kernel widens [`Packed`] weights in registers or, for several rows, in small buffers. The backward pass widens one
/// whole packed weight at a time, and gives it no gradient.
///
/// ```
/// use typed_transformer::{module, nn::{Precision, Q8, Weight, WithPrecision, init}, prelude::*};
///
/// /// A linear map.
/// #[module(output = OutDim)]
/// pub struct Map<InDim: ConstDim, OutDim: ConstDim, E, D, P: Precision> {
///     /// `W`.
///     #[param(init::linear)]
///     pub weight: Weight<(OutDim, InDim), E, D, P>,
/// }
///
/// impl<InDim: ConstDim, OutDim: ConstDim, E: Real, D: Backend<E>, P: Precision> Map<InDim, OutDim, E, D, P> {
///     fn forward<B: Dim, T: Tape<E, D>>(
///         &self,
///         input: Tensor<(B, InDim), E, D, T>,
///     ) -> Result<Tensor<(B, OutDim), E, D, T>, OpError> {
///         P::linear(input, &self.weight, None)
///     }
/// }
///
/// dims! { pub EmbedDim = 3; pub HiddenDim = 2; pub Batch = 1; }
/// let device = Cpu::default();
/// let mut map = Map::<EmbedDim, HiddenDim, f32, Cpu>::build(&device);
/// map.weight = device.tensor(vec![1.0, 0.5, 0.0, 0.0, 0.0, 127.0]);
/// let small: Map<EmbedDim, HiddenDim, f32, Cpu, Q8> = map.with_precision()?;
/// let x: Tensor<(Batch, EmbedDim), f32, Cpu> = device.tensor(vec![127.0, 0.0, 1.0]);
/// assert_eq!(map.forward(x.clone())?.as_vec(), [127.0, 127.0]);
/// assert!((small.forward(x)?.as_vec()[0] - 127.0).abs() < 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a precision of weights",
    label = "weights are not stored as `{Self}`",
    note = "the precisions are `FullPrecision`, `MixedBf16`, `Bf16`, `F16`, `Q8` and `Q8Rows`"
)]
pub trait Precision: Sized + 'static {
    /// A weight of these dimensions.
    type Weight<Dims: ParamShape, E: Dtype, D: Device<E>>: Clone + Loadable<E, D>;

    /// `x Wᵀ + b`: [`linear`](ops::linear) with a weight of this precision.
    ///
    /// `(.., InDim), (OutDim, InDim), (OutDim) -> (.., OutDim)`
    ///
    /// # Errors
    /// [`OpError::Device`] if the device fails.
    fn linear<Dims, InDim: ConstDim, OutDim: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
        input: Tensor<Dims, E, D, T>,
        weight: &Self::Weight<(OutDim, InDim), E, D>,
        bias: Option<&Tensor<(OutDim,), E, D>>,
    ) -> Result<Tensor<Dims::WithLast<OutDim>, E, D, T>, OpError>
    where
        Dims: EndsIn<InDim, Before: DataShape>;

    /// The row of a table for each token id: [`embed`](ops::embed) with a table of this precision.
    ///
    /// `(V, M), (B, S) ids of V -> (B, S, M)`
    ///
    /// # Errors
    /// [`OpError::Device`] if the device fails.
    fn embed<B: DataDim, S: Dim, V: ConstDim, M: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
        table: &Self::Weight<(V, M), E, D>,
        ids: &TokenIds<B, S, V>,
        tape: T,
    ) -> Result<Tensor<(B, S, M), E, D, T>, OpError>;
}

/// The weights are tensors of the dtype in which the model computes. This precision is the default.
///
/// ```
/// use typed_transformer::{doctest::*, nn::{FullPrecision, Linear}, prelude::*};
/// let map: Linear<EmbedDim, VocabSize, f32, Cpu, FullPrecision> = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&Cpu::default());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct FullPrecision;

/// Mixed precision ([Micikevicius et al., 2018](https://arxiv.org/abs/1710.03740)), as `torch.autocast` in bfloat16,
/// but for attention. The weights are tensors of `E`, which training updates. A linear map rounds its input, its
/// parameters and its output to bfloat16, and in the backward pass the gradients of these
/// ([`linear_in_bf16`](ops::linear_in_bf16)). The range of bfloat16 is that of `f32`, so the loss is not scaled.
///
/// Residuals, the sums inside a product, attention, norms, the loss and the optimizer stay in `E`. On AMD's
/// processors with AVX512-BF16 (Zen 4 and later) the products run in these instructions. A step takes less time than in
/// [`FullPrecision`], unless the model is small. On other processors the products are in `f32`, where a product of two
/// numbers of bfloat16 is exact, and a step takes a little longer. It still shows how a model will train in bfloat16 on
/// a GPU. Devices without kernels round in the memory of the host, which takes much longer.
///
/// ```
/// use typed_transformer::{doctest::*, nn::{Linear, MixedBf16, WithPrecision}, prelude::*};
/// let device = Cpu::default();
/// let full = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&device);
/// let mixed: Linear<EmbedDim, VocabSize, f32, Cpu, MixedBf16> = full.with_precision()?;
/// let x: Tensor<(Batch, EmbedDim), f32, Cpu> = device.sample_normal();
/// let (y, rounded) = (full.forward(x.clone())?.as_vec(), mixed.forward(x)?.as_vec());
/// assert!(y.iter().zip(&rounded).all(|(y, rounded)| (y - rounded).abs() < 0.1));
/// assert_ne!(y, rounded);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct MixedBf16;

/// A precision whose weights are tensors: they have gradients, optimizers change them, and they are saved.
///
/// ```
/// use typed_transformer::nn::{FullPrecision, MixedBf16, Trainable};
/// fn is_trainable<P: Trainable>() {}
/// is_trainable::<FullPrecision>();
/// is_trainable::<MixedBf16>();
/// ```
#[diagnostic::on_unimplemented(
    message = "weights in `{Self}` are not trained",
    label = "a model with weights in `{Self}` is for inference",
    note = "train and save the model in `FullPrecision` or `MixedBf16`; `model.with_precision::<{Self}>()` is a copy for inference; a part without such weights is trained alone: `model.part.recording()`"
)]
#[allow(missing_docs)]
pub trait Trainable: Precision {
    #[doc(hidden)]
    fn tensor<Dims: ParamShape, E: Dtype, D: Device<E>>(weight: &Self::Weight<Dims, E, D>) -> &Tensor<Dims, E, D>;
    #[doc(hidden)]
    fn tensor_mut<Dims: ParamShape, E: Dtype, D: Device<E>>(
        weight: &mut Self::Weight<Dims, E, D>,
    ) -> &mut Tensor<Dims, E, D>;
    #[doc(hidden)]
    fn from_tensor<Dims: ParamShape, E: Dtype, D: Device<E>>(tensor: Tensor<Dims, E, D>) -> Self::Weight<Dims, E, D>;
}

/// Implements a precision whose weights are tensors by its linear map.
macro_rules! precision_of_tensors {
    ($precision:ident, $linear:ident) => {
        #[diagnostic::do_not_recommend]
        impl Precision for $precision {
            type Weight<Dims: ParamShape, E: Dtype, D: Device<E>> = Tensor<Dims, E, D>;

            fn linear<Dims, InDim: ConstDim, OutDim: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
                input: Tensor<Dims, E, D, T>,
                weight: &Tensor<(OutDim, InDim), E, D>,
                bias: Option<&Tensor<(OutDim,), E, D>>,
            ) -> Result<Tensor<Dims::WithLast<OutDim>, E, D, T>, OpError>
            where
                Dims: EndsIn<InDim, Before: DataShape>,
            {
                ops::$linear(input, weight, bias)
            }

            fn embed<B: DataDim, S: Dim, V: ConstDim, M: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
                table: &Tensor<(V, M), E, D>,
                ids: &TokenIds<B, S, V>,
                tape: T,
            ) -> Result<Tensor<(B, S, M), E, D, T>, OpError> {
                ops::embed(table, ids, tape)
            }
        }

        #[diagnostic::do_not_recommend]
        impl Trainable for $precision {
            fn tensor<Dims: ParamShape, E: Dtype, D: Device<E>>(weight: &Tensor<Dims, E, D>) -> &Tensor<Dims, E, D> {
                weight
            }

            fn tensor_mut<Dims: ParamShape, E: Dtype, D: Device<E>>(
                weight: &mut Tensor<Dims, E, D>,
            ) -> &mut Tensor<Dims, E, D> {
                weight
            }

            fn from_tensor<Dims: ParamShape, E: Dtype, D: Device<E>>(tensor: Tensor<Dims, E, D>) -> Tensor<Dims, E, D> {
                tensor
            }
        }
    };
}

precision_of_tensors!(FullPrecision, linear);
precision_of_tensors!(MixedBf16, linear_in_bf16);

/// A module whose weights can be stored in another precision. [`#[module]`](macro@crate::module) implements it for a
/// module with a parameter `P: Precision`.
///
/// ```
/// use typed_transformer::{doctest::*, nn::{Linear, Q8, WithPrecision}, prelude::*};
/// let device = Cpu::default();
/// let map = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&device);
/// let small: Linear<EmbedDim, VocabSize, f32, Cpu, Q8> = map.with_precision()?;
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = device.zeros();
/// assert_eq!(small.forward(x)?.as_vec()[..28], map.bias.as_vec());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "the model is not `WithPrecision`: it has no precision, or is packed already",
    label = "`{Self}` is stored in one way",
    note = "the last parameter of a module with a precision is `P: Precision`"
)]
pub trait WithPrecision<E: Real, D: Device<E>>: TensorCollection<E, D> {
    /// The module with another precision.
    type With<P: Precision>: Loadable<E, D>;

    /// A copy of the module whose weights are stored in `P`.
    ///
    /// # Errors
    /// [`LoadError::Precision`] if a weight is too large for `P`, and [`LoadError::Device`] if the device fails.
    fn with_precision<P: Precision>(&self) -> Result<Self::With<P>, LoadError> {
        let (mut device, mut weights) = (None, HashMap::new());
        visit_tensors(self, "", |ModelTensor { path, tensor, .. }| {
            device.get_or_insert_with(|| tensor.device().clone());
            let elements = tensor.flat();
            let elements =
                elements.map_err(|error| LoadError::Device { tensor: path.clone(), message: error.to_string() })?;
            weights.insert(path, elements);
            Ok(())
        })?;
        let mut read = |expected: &ExpectedTensor| {
            let elements = weights.get(expected.path).ok_or_else(|| expected.missing())?;
            Ok(elements_of(elements))
        };
        // A module without parameters has no device, and reads nothing.
        load_from("", &device.unwrap_or_default(), &mut read)
    }
}
