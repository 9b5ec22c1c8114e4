//! Which gradients outlive a pass: those of parameters and inputs. Others are refused.

use super::{EmbedDim, leaf};
use crate::numbers::device;
use dfdx::tensor::{AutoDevice, NoneTape, PutTape, Tensor};
use dfdx::tensor_ops::SumTo;
use typed_transformer::nn::Linear;
use typed_transformer::ops::{self, Real};
use typed_transformer::prelude::{Backend, OpError, Record};
use typed_transformer::train::{Backpropagate, GradientsOf};

type Layer<E> = Linear<EmbedDim, EmbedDim, E, AutoDevice>;

#[test]
fn a_tensor_of_the_pass_before_is_an_input_of_the_next() {
    fn check<E: Real>() -> Vec<f64>
    where
        AutoDevice: Backend<E>,
    {
        let model = Layer::<E>::build(&device());
        let hidden = model.forward(leaf::<E>(5).put_tape(model.recording())).unwrap();
        let before = hidden.clone().retaped::<NoneTape>();
        // An operation of dfdx, so that dfdx has the gradient of the kernel's output.
        let gradients = hidden.square().sum::<(), _>().backward().unwrap();
        let sum = before.put_tape(gradients.into_recording()) + model.forward(leaf::<E>(6)).unwrap();
        let mut gradients = sum.square().sum::<(), _>().backward().unwrap();
        super::as_f64(&gradients.of(&model.weight).unwrap())
    }
    let (expected, found) = (check::<f64>(), check::<f32>());
    assert!(expected.iter().zip(found).all(|(x, y)| (x - y).abs() < 1e-4 * x.abs().max(1.0)));
}

#[test]
fn gradients_that_are_not_kept_are_refused() {
    let model = Layer::<f32>::build(&device());
    let x = leaf::<f32>(5);
    let is_refused = |gradients: &mut GradientsOf<_, f32, _>, x: &Tensor<_, f32, AutoDevice>| {
        matches!(gradients.of(x), Err(OpError::NoGradient { .. }))
    };
    let pass = |tape| {
        let hidden = model.forward(x.clone().put_tape(tape)).unwrap();
        let output = hidden.retaped::<NoneTape>();
        (Backpropagate::backward(ops::mean(hidden).unwrap()).unwrap(), output)
    };
    let (mut gradients, hidden) = pass(model.recording());
    assert!(!is_refused(&mut gradients, &x) && is_refused(&mut gradients, &hidden));
    // Another pass adds to them, and keeps no output of the first.
    let (mut gradients, _) = pass(gradients.into_recording());
    assert!(!is_refused(&mut gradients, &x) && is_refused(&mut gradients, &hidden));
    // These are of the parameters alone.
    let (mut gradients, _) = pass(GradientsOf::zeros(&model).into_recording());
    assert!(is_refused(&mut gradients, &x) && gradients.of(&model.weight).is_ok());
}
