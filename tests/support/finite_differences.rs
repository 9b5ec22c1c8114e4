//! Gradients against finite differences, in `f64`.

#![allow(dead_code, reason = "each binary uses a part of it")]

use crate::numbers::{F64, Taped, device, random_like, weights};
use crate::recorded::Recorded;
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::AutoDevice;
use dfdx::tensor::*;
use dfdx::tensor_ops::*;
use typed_transformer::train::{Backpropagate, GradientsOf};

pub fn random<Dims: Shape + Default>(seed: u64) -> F64<Dims> {
    random_like(seed, Dims::default())
}

/// A scalar in which every element has another weight.
pub fn weighted_sum<Dims: Shape>(output: Taped<Dims>) -> Taped<()> {
    let count = output.shape().num_elements();
    let weights: F64<Dims> = output.device().clone().tensor_from_vec(weights(count), *output.shape());
    // On a GPU, dfdx cannot sum a tensor without axes.
    (output * weights).reshape_like(&(count,)).sum()
}

/// Compares the recorded gradient of the input with finite differences.
#[track_caller]
pub fn check<Dims: Shape + Default>(input: F64<Dims>, function: impl Fn(Taped<Dims>) -> Taped<()>) {
    const STEP: f64 = 1e-5;
    let gradient = function(input.recorded()).backward().unwrap().of(&input).unwrap().as_vec();
    let at = |elements: Vec<f64>| {
        let shifted: F64<Dims> = device().tensor_from_vec(elements, Dims::default());
        function(shifted.recorded()).array()
    };
    for i in 0..gradient.len() {
        let [mut above, mut below] = [input.as_vec(), input.as_vec()];
        above[i] += STEP;
        below[i] -= STEP;
        let slope = (at(above) - at(below)) / (2.0 * STEP);
        let difference = (slope - gradient[i]).abs();
        assert!(difference <= 1e-7 * (1.0 + slope.abs()), "at {i}: slope {slope}, gradient {}", gradient[i],);
    }
    assert!(gradient.iter().any(|g| g.abs() > 1e-3), "the input does not matter");
}

/// As [`check`], for a parameter.
#[track_caller]
pub fn check_parameter<Dims: Shape + Default>(
    parameter: &F64<Dims>,
    gradients: &mut GradientsOf<(), f64, AutoDevice>,
    value: impl Fn(&F64<Dims>) -> f64,
) {
    const STEP: f64 = 1e-5;
    let gradient = gradients.of(parameter).unwrap().as_vec();
    for i in 0..gradient.len() {
        let shifted = |step: f64| {
            let mut elements = parameter.as_vec();
            elements[i] += step;
            value(&device().tensor_from_vec(elements, Dims::default()))
        };
        let slope = (shifted(STEP) - shifted(-STEP)) / (2.0 * STEP);
        let difference = (slope - gradient[i]).abs();
        assert!(difference <= 1e-7 * (1.0 + slope.abs()), "at {i}: slope {slope}, gradient {}", gradient[i],);
    }
}
