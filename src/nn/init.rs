//! Initial values of parameters: functions that fill a new tensor, with a number or from the device's random numbers.
//!
//! A device with a seed (`Cpu::seed_from_u64`) makes the same model every time. Models of different dtypes differ by
//! rounding only, because uniform numbers are drawn in `f32` and normal ones in `f64`.

use super::{Arch, Conventions};
use crate::dims::{ConstDim, Factor};
use crate::ops::{Real, cast};
use dfdx::{shapes::Shape, tensor::Tensor, tensor_ops::Device};
use rand::{Rng, distributions::Standard};
use rand_distr::{Distribution, StandardNormal, Uniform};

/// Fills a parameter with zeros.
///
/// ```
/// use typed_transformer::{nn::init, prelude::*};
/// let mut bias: Tensor<(Const<2>,), f32, Cpu> = Cpu::default().tensor([1.0, 2.0]);
/// init::zeros(&mut bias)?;
/// assert_eq!(bias.as_vec(), [0.0, 0.0]);
/// init::ones(&mut bias)?;
/// assert_eq!(bias.as_vec(), [1.0, 1.0]);
/// # Ok::<(), CpuError>(())
/// ```
pub fn zeros<Dims: Shape, E: Real, D: Device<E>>(parameter: &mut Tensor<Dims, E, D>) -> Result<(), D::Err> {
    parameter.try_fill_with_zeros()
}

/// Fills a parameter with ones.
pub fn ones<Dims: Shape, E: Real, D: Device<E>>(parameter: &mut Tensor<Dims, E, D>) -> Result<(), D::Err> {
    parameter.try_fill_with_ones()
}

/// Fills a parameter with a number.
///
/// ```
/// use typed_transformer::{nn::init, prelude::*};
/// let mut scale: Tensor<(Const<2>,), f32, Cpu> = Cpu::default().zeros();
/// init::constant(&mut scale, 0.5)?;
/// assert_eq!(scale.as_vec(), [0.5, 0.5]);
/// # Ok::<(), CpuError>(())
/// ```
pub fn constant<Dims: Shape, E: Real, D: Device<E>>(
    parameter: &mut Tensor<Dims, E, D>,
    number: f64,
) -> Result<(), D::Err> {
    parameter.try_fill_with_distr(CastFrom64(Standard.map(move |()| number)))
}

/// Draws from the uniform distribution on `±1/√FanIn`, as PyTorch and Equinox do for the weight and the bias of a
/// linear map from `FanIn` columns.
///
/// ```
/// use typed_transformer::{nn::init, prelude::*};
/// let mut weight: Tensor<(Const<7>, Const<4>), f32, Cpu> = Cpu::default().zeros();
/// init::uniform::<Const<4>, _, _, _>(&mut weight)?;
/// assert!(weight.as_vec().iter().all(|w| w.abs() <= 0.5 && *w != 0.0));
/// # Ok::<(), CpuError>(())
/// ```
pub fn uniform<FanIn: Factor, Dims: Shape, E: Real, D: Device<E>>(
    parameter: &mut Tensor<Dims, E, D>,
) -> Result<(), D::Err> {
    let bound = (1.0 / (FanIn::WHOLE_SIZE.max(1) as f64).sqrt()) as f32;
    let numbers = Uniform::new_inclusive(-bound, bound).map(f64::from);
    parameter.try_fill_with_distr(CastFrom64(numbers))
}

/// Draws the matrix `(OutDim, InDim)` of a linear map: uniform on `±1/√InDim`, as [`uniform`] does for `InDim` columns.
///
/// ```
/// use typed_transformer::{nn::init, prelude::*};
/// let mut weight: Tensor<(Const<4>, Const<16>), f32, Cpu> = Cpu::default().zeros();
/// init::linear(&mut weight)?;
/// assert!(weight.as_vec().iter().all(|w| w.abs() <= 0.25 && *w != 0.0));
/// # Ok::<(), CpuError>(())
/// ```
pub fn linear<InDim: Factor, OutDim: Factor, E: Real, D: Device<E>>(
    parameter: &mut Tensor<(OutDim, InDim), E, D>,
) -> Result<(), D::Err> {
    uniform::<InDim, _, _, _>(parameter)
}

/// Draws the weight of a linear map: normal with mean 0 and the standard deviation [`Conventions::WEIGHT_INIT_STD`],
/// or [`linear`] if that is `None`.
///
/// ```
/// use typed_transformer::{doctest::*, nn::init, prelude::*};
/// let mut weight: Tensor<(HiddenDim, EmbedDim), f32, Cpu> = Cpu::default().zeros();
/// init::weight::<Model, _, _, _, _>(&mut weight)?;
/// assert!(weight.as_vec().iter().all(|w| w.abs() <= 1.0 / 8f32.sqrt()));
/// # Ok::<(), CpuError>(())
/// ```
pub fn weight<A: Arch, InDim: Factor, OutDim: Factor, E: Real, D: Device<E>>(
    parameter: &mut Tensor<(OutDim, InDim), E, D>,
) -> Result<(), D::Err> {
    match A::Conventions::WEIGHT_INIT_STD {
        Some(std) => normal(parameter, std),
        None => linear(parameter),
    }
}

/// Draws embeddings: normal with mean 0 and the standard deviation [`Conventions::EMBEDDING_INIT_STD`].
///
/// ```
/// use typed_transformer::{doctest::*, nn::init, prelude::*};
/// let mut table: Tensor<(VocabSize, EmbedDim), f32, Cpu> = Cpu::default().zeros();
/// init::embedding::<Model, _, _, _, _>(&mut table)?;
/// assert!(table.as_vec().iter().all(|w| *w != 0.0));
/// # Ok::<(), CpuError>(())
/// ```
pub fn embedding<A: Arch, N: ConstDim, EmbedDim: ConstDim, E: Real, D: Device<E>>(
    parameter: &mut Tensor<(N, EmbedDim), E, D>,
) -> Result<(), D::Err> {
    let std = A::Conventions::EMBEDDING_INIT_STD.of(EmbedDim::SIZE);
    normal(parameter, std)
}

/// Draws from the normal distribution with mean 0 and standard deviation `std`.
///
/// ```
/// use typed_transformer::{nn::init, prelude::*};
/// let mut weight: Tensor<(Const<7>, Const<4>), f32, Cpu> = Cpu::default().zeros();
/// init::normal(&mut weight, 0.02)?;
/// assert!(weight.as_vec().iter().all(|w| w.abs() < 0.2 && *w != 0.0));
/// # Ok::<(), CpuError>(())
/// ```
pub fn normal<Dims: Shape, E: Real, D: Device<E>>(parameter: &mut Tensor<Dims, E, D>, std: f64) -> Result<(), D::Err> {
    parameter.try_fill_with_distr(CastFrom64(centered(std)))
}

/// The normal distribution around 0.
fn centered(std: f64) -> impl Distribution<f64> {
    StandardNormal.map(move |number: f64| number * std)
}

/// A distribution of `f64`, cast to elements of any dtype.
struct CastFrom64<Numbers>(Numbers);

impl<E: Real, Numbers: Distribution<f64>> Distribution<E> for CastFrom64<Numbers> {
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> E {
        cast(self.0.sample(rng))
    }
}
