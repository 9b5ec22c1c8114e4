//! Tensors of random `f64`, and their comparison with what plain loops compute.

#![allow(dead_code, reason = "each binary uses a part of it")]

use crate::recorded::OwnTape;
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::*;
use rand::{Rng, SeedableRng, rngs::StdRng};
use std::ops::{Div, Range};

pub type F64<Dims, T = NoneTape> = Tensor<Dims, f64, AutoDevice, T>;
pub type Taped<Dims> = F64<Dims, OwnTape<f64>>;

/// The device of a test.
#[cfg(not(feature = "cuda"))]
pub fn device() -> Cpu {
    Cpu::default()
}

/// The device of a test. Each new device loads its kernels onto the GPU again, so each test thread makes one. The last
/// one that is dropped ends the GPU's context, so one more is never dropped.
#[cfg(feature = "cuda")]
pub fn device() -> Cuda {
    static FIRST: std::sync::Once = std::sync::Once::new();
    FIRST.call_once(|| std::mem::forget(Cuda::default()));
    thread_local!(static DEVICE: Cuda = Cuda::default());
    DEVICE.with(Clone::clone)
}

/// Numbers from -1 to 1.
pub fn random_like<Dims: Shape>(seed: u64, shape: Dims) -> F64<Dims> {
    random_in(-1.0..1.0, &mut StdRng::seed_from_u64(seed), shape)
}

/// Numbers that one may divide by.
pub fn positive_like<Dims: Shape>(seed: u64, shape: Dims) -> F64<Dims> {
    random_in(0.25..1.25, &mut StdRng::seed_from_u64(seed), shape)
}

pub fn random_in<Dims: Shape>(range: Range<f64>, rng: &mut StdRng, shape: Dims) -> F64<Dims> {
    device().tensor_from_vec(draw(range, rng, shape.num_elements()), shape)
}

// Code that does not depend on the dimensions is a function of its own, here and below, so it is compiled once.
fn draw(range: Range<f64>, rng: &mut StdRng, count: usize) -> Vec<f64> {
    (0..count).map(|_| rng.gen_range(range.clone())).collect()
}

/// Factors from -1.6 to 1.6 for a weighted sum. Any 17 in a row differ.
pub fn weights<E: From<i8> + Div<Output = E>>(count: usize) -> Vec<E> {
    (0..count).map(|i| E::from((i * 37 % 17) as i8 - 8) / E::from(5)).collect()
}

/// The same numbers in `f32`, whose operations have kernels.
pub fn single<Dims: Shape>(x: &F64<Dims>) -> Tensor<Dims, f32, AutoDevice> {
    device().tensor_from_vec(to_single(x.as_vec()), *x.shape())
}

pub fn double<Dims: Shape>(x: &Tensor<Dims, f32, AutoDevice>) -> Vec<f64> {
    to_double(x.as_vec())
}

pub fn to_single(x: Vec<f64>) -> Vec<f32> {
    x.into_iter().map(|x| x as f32).collect()
}

fn to_double(x: Vec<f32>) -> Vec<f64> {
    x.into_iter().map(f64::from).collect()
}

#[track_caller]
pub fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() < tolerance, "at {i}: {found}, expected {expected}");
    }
}

/// `exp(x) / Σ exp(x)` of a list.
pub fn softmax(scores: &[f64]) -> Vec<f64> {
    let sum: f64 = scores.iter().map(|score| score.exp()).sum();
    scores.iter().map(|score| score.exp() / sum).collect()
}
