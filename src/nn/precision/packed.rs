use super::Precision;
use crate::backend::{
    Backend, Bf16Format, F16Format, Format, PackedWeight, Q8Format, Q8RowsFormat, Tape, packed_linear_kernel,
    read_weight, run_kernel,
};
use crate::dims::{ConstDim, DataDim, DataShape, Dim, EndsIn};
use crate::nn::module::ParamShape;
use crate::ops::{self, OpError, Real, device_error, ensure_not_empty};
use crate::real::cast;
use crate::tokens::TokenIds;
use crate::weights::{LoadError, Loadable, TensorSource};
use dfdx::tensor::{PutTape, Tensor};
use dfdx::{dtypes::Dtype, shapes::HasShape, tensor_ops::Device};
use std::marker::PhantomData;

/// A weight of a module, stored in `P`. It lies in memory of the process and cannot be changed. A clone shares the
/// memory.
///
/// It has no gradient. The gradient of the input is computed with the stored weight, so layers before
/// and after it can be trained, and adapters beside it, by [`Lora::change`](crate::nn::Lora::change).
///
/// ```
/// use typed_transformer::{doctest::*, nn::{Bf16, Linear, WithPrecision}, prelude::*};
/// let map = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&Cpu::default()).with_precision::<Bf16>()?;
/// assert_eq!(map.weight.len_bytes(), 28 * 32 * 2); // 28 rows of 8 elements, each padded to 32.
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Packed<Dims, D, P: PackedPrecision> {
    packed: PackedWeight<P::Format>,
    device: D,
    dims: PhantomData<fn() -> Dims>,
}

/// A [`Precision`] of fewer bits than those in which the model computes: [`Bf16`], [`F16`], [`Q8`] or [`Q8Rows`]. Its
/// weights are [`Packed`].
///
/// ```
/// use typed_transformer::nn::{Bf16, F16, PackedPrecision, Q8, Q8Rows};
/// fn is_packed<P: PackedPrecision>() {}
/// is_packed::<Bf16>();
/// is_packed::<F16>();
/// is_packed::<Q8>();
/// is_packed::<Q8Rows>();
/// ```
pub trait PackedPrecision: 'static {
    #[doc(hidden)]
    type Format: Format;
}

/// bfloat16: 8 bits of an `f32`'s precision and its range, in 2 bytes a weight. The relative error of a weight is at
/// most 2⁻⁸.
///
/// ```
/// use typed_transformer::{models::published::gpt2, nn::Bf16, prelude::*};
/// type Model = gpt2::Model<f32, Cpu, Bf16>;
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Bf16;

/// float16 of IEEE 754: 11 bits of precision, in 2 bytes a weight. The relative error of a weight is at most 2⁻¹¹, if
/// it lies between 2⁻¹⁴ and 65,504; a larger weight is an error.
///
/// ```
/// use typed_transformer::{models::published::gpt2, nn::F16, prelude::*};
/// type Model = gpt2::Model<f32, Cpu, F16>;
/// ```
#[derive(Clone, Copy, Debug)]
pub struct F16;

/// 8 bits: multiples, from -127 to 127, of a float16 scale for each 32 weights of a row, as `Q8_0` of llama.cpp, in
/// 34/32 bytes a weight. The error of a weight is at most 1/254 of the largest of the 32, plus the error of rounding
/// the scale to float16. If the input is a single row, such as a token that is decoded, the product is one of integers:
/// each 32 elements of the input become multiples, in 16 bits, of a scale.
///
/// ```
/// use typed_transformer::{models::published::gpt2, nn::Q8, prelude::*};
/// type Model = gpt2::Model<f32, Cpu, Q8>;
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Q8;

/// 8 bits: multiples, from -127 to 127, of an `f32` scale for each row, in 1 byte a weight. The error of a weight is at
/// most 1/254 of the largest of its row, so a row with one large weight has few digits for the others. If the input is
/// a single row, such as a token that is decoded, it is rounded to 16 bits with one scale, and the product is one of
/// integers, which takes fewer instructions than that of [`Q8`].
///
/// ```
/// use typed_transformer::{models::published::gpt2, nn::Q8Rows, prelude::*};
/// type Model = gpt2::Model<f32, Cpu, Q8Rows>;
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Q8Rows;

impl PackedPrecision for Bf16 {
    type Format = Bf16Format;
}
impl PackedPrecision for F16 {
    type Format = F16Format;
}
impl PackedPrecision for Q8 {
    type Format = Q8Format;
}
impl PackedPrecision for Q8Rows {
    type Format = Q8RowsFormat;
}

impl<Dims, D, P: PackedPrecision> Packed<Dims, D, P> {
    /// The bytes of the elements in memory.
    #[must_use]
    pub fn len_bytes(&self) -> usize {
        self.packed.len_bytes()
    }
}

/// Some rows, in the dtype in which the model computes.
fn unpack<E: Real, F: Format>(packed: &PackedWeight<F>, rows: &[usize]) -> Vec<E> {
    let columns = packed.columns();
    let mut row = vec![0.0; columns];
    let mut elements = Vec::with_capacity(rows.len() * columns);
    for &index in rows {
        packed.unpack(index..index + 1, &mut row);
        elements.extend(row.iter().map(|&element| cast::<E>(f64::from(element))));
    }
    elements
}

/// Packs rows of `columns` elements; `None` if one is too large.
fn pack<E: Dtype, F: Format>(elements: &[E], columns: usize) -> Option<PackedWeight<F>> {
    PackedWeight::pack(elements.iter().map(|element| element.to_f32().unwrap_or(f32::NAN)), columns)
}

crate::dims::cloned!([Dims, D: Clone, P: PackedPrecision] Packed<Dims, D, P> { packed, device, dims });
crate::error::debug_as!(
    [Dims, D, P: PackedPrecision] Packed<Dims, D, P>,
    |this, f| write!(f, "Packed({} bytes)", this.len_bytes())
);

#[diagnostic::do_not_recommend]
impl<Dims: ParamShape, E: Dtype, D: Device<E>, P: PackedPrecision> Loadable<E, D> for Packed<Dims, D, P> {
    fn load_from(source: &mut TensorSource<'_, E, D>, path: &str) -> Result<Self, LoadError> {
        let shape = Dims::shape();
        let elements = source.read(path, &shape)?;
        let columns = shape.concrete().into_iter().last().unwrap_or(1);
        let Some(packed) = pack(&elements, columns) else {
            let (tensor, precision) = (path.to_string(), crate::dims::name::<P>());
            return Err(LoadError::Precision { tensor, precision });
        };
        Ok(Self { packed, device: source.device().clone(), dims: PhantomData })
    }
}

#[diagnostic::do_not_recommend]
impl<P: PackedPrecision> Precision for P {
    type Weight<Dims: ParamShape, E: Dtype, D: Device<E>> = Packed<Dims, D, P>;

    fn linear<Dims, InDim: ConstDim, OutDim: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
        input: Tensor<Dims, E, D, T>,
        weight: &Packed<(OutDim, InDim), D, P>,
        bias: Option<&Tensor<(OutDim,), E, D>>,
    ) -> Result<Tensor<Dims::WithLast<OutDim>, E, D, T>, OpError>
    where
        Dims: EndsIn<InDim, Before: DataShape>,
    {
        const OP: &str = "linear";
        ensure_not_empty(OP, &(OutDim::default(), InDim::default()))?;
        if D::HAS_KERNELS {
            let shape = input.shape().with_last(OutDim::default());
            return run_kernel(OP, shape, |tape| {
                let input = D::read(input, tape)?;
                let bias = bias.map(|bias| read_weight(bias, tape)).transpose()?;
                packed_linear_kernel(input, weight.packed.clone(), bias, OutDim::SIZE)
            });
        }
        let rows = unpack(&weight.packed, &(0..OutDim::SIZE).collect::<Vec<_>>());
        let widened = weight.device.try_tensor_from_vec(rows, Default::default());
        let widened: Tensor<(OutDim, InDim), E, D> = widened.map_err(device_error(OP))?;
        ops::linear(input, &widened, bias)
    }

    fn embed<B: DataDim, S: Dim, V: ConstDim, M: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
        table: &Packed<(V, M), D, P>,
        ids: &TokenIds<B, S, V>,
        tape: T,
    ) -> Result<Tensor<(B, S, M), E, D, T>, OpError> {
        let (batch, len) = ids.shape();
        let rows = unpack(&table.packed, ids.as_slice());
        let x = table.device.try_tensor_from_vec(rows, (batch, len, M::default()));
        Ok(x.map_err(device_error("embed"))?.put_tape(tape))
    }
}
