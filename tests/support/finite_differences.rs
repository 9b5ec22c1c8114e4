//! Gradients against finite differences, in `f64`.

#![allow(dead_code, reason = "each binary uses a part of it")]

use crate::numbers::{F64, Taped, device, random_like, weights};
use crate::recorded::{OwnTape, Recorded};
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::AutoDevice;
use dfdx::tensor::*;
use dfdx::tensor_ops::*;
use typed_transformer::backend::Backend;
use typed_transformer::ops::Real;
use typed_transformer::train::{Backpropagate, GradientsOf};
use typed_transformer_cpu::unnamed;

pub fn random<Dims: Shape + Default>(seed: u64) -> F64<Dims> {
    random_like(seed, Dims::default())
}

/// A weighted sum, in which elements near each other have different weights.
pub fn weighted_sum<Dims: Shape>(output: Taped<Dims>) -> Taped<()> {
    let weights = weights(output.shape().num_elements());
    sum_weighted_by(output, weights)
}

/// `Σ weights output`.
pub fn sum_weighted_by<Dims: Shape, E: Real, D: Backend<E>>(
    output: Tensor<Dims, E, D, OwnTape<E, D>>,
    weights: Vec<E>,
) -> Tensor<(), E, D, OwnTape<E, D>> {
    // Without the names of its axes, a product is compiled once for each number of axes.
    fn of_sizes<Sizes: Shape, E: Real, D: Backend<E>>(
        output: Tensor<Sizes, E, D, OwnTape<E, D>>,
        weights: Vec<E>,
    ) -> Tensor<(), E, D, OwnTape<E, D>> {
        let count = weights.len();
        let weights = output.device().clone().tensor_from_vec(weights, *output.shape());
        // On a GPU, dfdx cannot sum a tensor without axes.
        (output * weights).reshape_like(&(count,)).sum()
    }
    of_sizes(unnamed(output), weights)
}

/// Compares the recorded gradient of the input with finite differences.
#[track_caller]
pub fn check<Dims: Shape + Default>(input: F64<Dims>, function: impl Fn(Taped<Dims>) -> Taped<()>) {
    let gradient = function(input.recorded()).backward().unwrap().of(&input).unwrap().as_vec();
    let at = |elements| {
        let shifted: F64<Dims> = device().tensor_from_vec(elements, Dims::default());
        function(shifted.recorded()).array()
    };
    assert_slopes(&gradient, &input.as_vec(), 1, 1e-7, &at);
    assert!(gradient.iter().any(|g| g.abs() > 1e-3), "the input does not matter");
}

/// As [`check`], for a parameter.
#[track_caller]
pub fn check_parameter<Dims: Shape + Default>(
    parameter: &F64<Dims>,
    gradients: &mut GradientsOf<(), f64, AutoDevice>,
    value: impl Fn(&F64<Dims>) -> f64,
) {
    let gradient = gradients.of(parameter).unwrap().as_vec();
    let at = |elements| value(&device().tensor_from_vec(elements, Dims::default()));
    assert_slopes(&gradient, &parameter.as_vec(), 1, 1e-7, &at);
}

/// Compares every `stride`th element of a gradient with a finite difference of `value`. It is not generic, so it is
/// compiled once.
#[track_caller]
pub fn assert_slopes(
    gradient: &[f64],
    elements: &[f64],
    stride: usize,
    tolerance: f64,
    value: &dyn Fn(Vec<f64>) -> f64,
) {
    const STEP: f64 = 1e-5;
    for i in (0..gradient.len()).step_by(stride) {
        let at = |step: f64| {
            let mut elements = elements.to_vec();
            elements[i] += step;
            value(elements)
        };
        let slope = (at(STEP) - at(-STEP)) / (2.0 * STEP);
        let difference = (slope - gradient[i]).abs();
        assert!(difference <= tolerance * (1.0 + slope.abs()), "at {i}: slope {slope}, gradient {}", gradient[i]);
    }
}
