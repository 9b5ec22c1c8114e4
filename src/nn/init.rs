//! How parameters begin: functions that fill a new tensor from the device's random numbers.
//!
//! A device that is made with a seed (`Cpu::seed_from_u64`) makes the same model every time, and in every
//! dtype the same but for rounding: uniform numbers are drawn in `f32`, normal ones in `f64`.

use super::{Arch, Conventions};
use crate::ops::{Real, cast};
use dfdx::{
    shapes::{ConstDim, Shape},
    tensor::Tensor,
    tensor_ops::Device,
};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal, Uniform};

/// All zeros.
///
/// # Errors
/// Those of the device.
pub fn zeros<Dims: Shape, E: Real, D: Device<E>>(parameter: &mut Tensor<Dims, E, D>) -> Result<(), D::Err> {
    parameter.try_fill_with_zeros()
}

/// All ones.
///
/// # Errors
/// Those of the device.
pub fn ones<Dims: Shape, E: Real, D: Device<E>>(parameter: &mut Tensor<Dims, E, D>) -> Result<(), D::Err> {
    parameter.try_fill_with_ones()
}

/// Uniform in `±1/√FanIn`, as PyTorch and Equinox fill the weight and the bias of a linear map from
/// `FanIn` columns.
///
/// # Errors
/// Those of the device.
///
/// ```
/// use typed_transformer::{nn::init, prelude::*};
/// let mut weight: Tensor<(Const<7>, Const<4>), f32, Cpu> = Cpu::default().zeros();
/// init::uniform::<Const<4>, _, _, _>(&mut weight)?;
/// assert!(weight.as_vec().iter().all(|w| w.abs() <= 0.5 && *w != 0.0));
/// # Ok::<(), CpuError>(())
/// ```
pub fn uniform<FanIn: ConstDim, Dims: Shape, E: Real, D: Device<E>>(
    parameter: &mut Tensor<Dims, E, D>,
) -> Result<(), D::Err> {
    let bound = (1.0 / (FanIn::SIZE.max(1) as f64).sqrt()) as f32;
    let numbers = Uniform::new_inclusive(-bound, bound).map(f64::from);
    parameter.try_fill_with_distr(Rounded(numbers))
}

/// As the style of `A` fills the weight of a linear map: normal of mean 0 where it gives a deviation,
/// otherwise [`uniform`].
///
/// # Errors
/// Those of the device.
pub fn weight<A: Arch, InDim: ConstDim, OutDim: ConstDim, E: Real, D: Device<E>>(
    parameter: &mut Tensor<(OutDim, InDim), E, D>,
) -> Result<(), D::Err> {
    match A::Conventions::WEIGHT_INIT_STD {
        Some(deviation) => parameter.try_fill_with_distr(Rounded(normal(deviation))),
        None => uniform::<InDim, _, _, _>(parameter),
    }
}

/// Normal of mean 0, its deviation that of the style of `A`.
///
/// # Errors
/// Those of the device.
pub fn embedding<A: Arch, N: ConstDim, EmbedDim: ConstDim, E: Real, D: Device<E>>(
    parameter: &mut Tensor<(N, EmbedDim), E, D>,
) -> Result<(), D::Err> {
    let deviation = A::Conventions::EMBEDDING_INIT_STD.of(EmbedDim::SIZE);
    parameter.try_fill_with_distr(Rounded(normal(deviation)))
}

/// The normal distribution of mean 0.
fn normal(deviation: f64) -> impl Distribution<f64> {
    StandardNormal.map(move |number: f64| number * deviation)
}

/// Numbers of a distribution as elements of any dtype.
struct Rounded<Numbers>(Numbers);

impl<E: Real, Numbers: Distribution<f64>> Distribution<E> for Rounded<Numbers> {
    fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> E {
        cast(self.0.sample(rng))
    }
}
