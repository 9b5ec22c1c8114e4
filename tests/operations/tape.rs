//! The tape: clones record to one pass, passes that meet become one, and a pass runs backward once. Kernels and dfdx's
//! methods take turns in `f32`, and the gradients are those of the same function in `f64`, which has no kernels.

use crate::numbers::{device, random_like};
use crate::recorded::{OwnTape, Recorded};
use dfdx::shapes::{Axes2, Axis, Shape};
use dfdx::tensor::*;
use dfdx::tensor_ops::*;
use typed_transformer::nn::Linear;
use typed_transformer::ops::{self, Activation, GeluTanh, Real, linear, residual};
use typed_transformer::prelude::{Backend, OpError, Record, Reduction, cross_entropy};
use typed_transformer::tokens::Indices;
use typed_transformer::train::{Backpropagate, GradientsOf, Sgd, update};
use typed_transformer::{dims, einsum};

dims! { EmbedDim = 7; Rows = 7; Columns = 7; }

mod kept;
mod turns;

/// A square, so that permuted and broadcast tensors have its shape.
type Square = (EmbedDim, EmbedDim);
type Leaf<E> = Tensor<Square, E, AutoDevice>;
type Taped<E, Dims = Square> = Tensor<Dims, E, AutoDevice, OwnTape<E>>;
type Loss<E> = Taped<E, ()>;

fn leaf<E: Real>(seed: u64) -> Leaf<E>
where
    AutoDevice: Backend<E>,
{
    // Numbers that both types represent exactly.
    let elements = random_like(seed, Square::default()).as_vec();
    let elements = elements.into_iter().map(|x| E::from_f64(f64::from(x as f32)).unwrap());
    device().tensor_from_vec(elements.collect(), Square::default())
}

fn as_f64<Dims: Shape, E: Real>(tensor: &Tensor<Dims, E, AutoDevice>) -> Vec<f64>
where
    AutoDevice: Backend<E>,
{
    tensor.as_vec().into_iter().map(|x| x.to_f64().unwrap()).collect()
}

/// A loss of dfdx's methods.
fn sum_of_squares<E: Real>(x: Taped<E>) -> Loss<E>
where
    AutoDevice: Backend<E>,
{
    x.square().sum()
}

/// A loss that is a kernel.
fn cross_entropy_of_rows<E: Real>(logits: Taped<E>) -> Loss<E>
where
    AutoDevice: Backend<E>,
{
    let labels = Indices::new(&[3, 1, 4, 1, 5, 2, 6], (EmbedDim,), EmbedDim).unwrap();
    cross_entropy(logits, &labels, Reduction::MeanAll).unwrap()
}

/// The gradients of `x` and of `weight`.
fn gradients<E: Real>(x: &Leaf<E>, weight: &Leaf<E>, loss: Loss<E>) -> [Vec<f64>; 2]
where
    AutoDevice: Backend<E>,
{
    let mut gradients = loss.backward().unwrap();
    [as_f64(&gradients.of(x).unwrap()), as_f64(&gradients.of(weight).unwrap())]
}

#[track_caller]
fn assert_close(what: &str, found: &[Vec<f64>], expected: &[Vec<f64>]) {
    for (found, expected) in found.iter().zip(expected) {
        let largest = expected.iter().fold(0f64, |largest, x| largest.max(x.abs()));
        assert!(largest > 1e-6 && found.len() == expected.len(), "{what}: {expected:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() <= 2e-5 * largest, "{what}: {found}, expected {expected} of {largest}");
        }
    }
}

/// Runs a function of a leaf, a parameter and a loss in `f32` and in `f64`, and compares the gradients of both.
macro_rules! assert_agrees {
    ($what:expr, |$x:ident, $weight:ident, $loss:ident| $result:expr) => {{
        fn of<E: Real>($loss: fn(Taped<E>) -> Loss<E>) -> [Vec<f64>; 2]
        where
            AutoDevice: Backend<E>,
        {
            let ($x, $weight): (Leaf<E>, Leaf<E>) = (leaf(1), leaf(2));
            let result: Loss<E> = $result;
            gradients(&$x, &$weight, result)
        }
        assert_close($what, &of::<f32>(sum_of_squares), &of::<f64>(sum_of_squares));
        assert_close($what, &of::<f32>(cross_entropy_of_rows), &of::<f64>(cross_entropy_of_rows));
    }};
}

#[test]
fn a_clone_records_to_the_same_pass() {
    assert_agrees!("two uses", |x, weight, loss| {
        let hidden = linear(x.recorded(), &weight, None).unwrap();
        let activated = GeluTanh::apply(hidden.clone()).unwrap();
        loss(residual(hidden, activated).unwrap())
    });
    assert_agrees!("three uses, by kernels and by dfdx", |x, weight, loss| {
        let hidden = linear(x.recorded(), &weight, None).unwrap();
        let sines = hidden.clone().sin();
        let both = residual(ops::scale(hidden.clone(), 0.5).unwrap(), sines).unwrap();
        loss(residual(both, linear(hidden, &weight, None).unwrap()).unwrap())
    });
    // The clone of the leaf, before anything is recorded, begins a pass of its own, which meets the other.
    assert_agrees!("a leaf", |x, weight, loss| {
        let x = x.recorded();
        loss(residual(x.clone(), linear(x, &weight, None).unwrap()).unwrap())
    });
}

#[test]
fn recordings_that_meet_become_one_pass() {
    assert_agrees!("two", |x, weight, loss| {
        let (one, other) =
            (linear(x.recorded(), &weight, None).unwrap(), linear(weight.recorded(), &x, None).unwrap().sin());
        loss(residual(one, other).unwrap())
    });
    // Three passes meet in both orders, and a handle of the first one is used after it was joined.
    assert_agrees!("three", |x, weight, loss| {
        let one = linear(x.recorded(), &weight, None).unwrap();
        let other = GeluTanh::apply(weight.recorded()).unwrap();
        let third = x.recorded().tanh();
        let early = one.clone();
        let joined = residual(third, residual(other, one).unwrap()).unwrap();
        loss(residual(joined, linear(early, &weight, None).unwrap()).unwrap())
    });
    // The operations of the passes alternate in time.
    assert_agrees!("alternating", |x, weight, loss| {
        let one = linear(x.recorded(), &weight, None).unwrap();
        let other = linear(weight.recorded(), &x, None).unwrap();
        let one = one.sin();
        let other = GeluTanh::apply(other).unwrap();
        let one = linear(one, &weight, None).unwrap();
        loss(residual(other.cos(), one).unwrap())
    });
}

#[test]
fn a_tensor_without_its_tape_is_still_of_the_pass() {
    // The tape of a tensor goes on with another one. As a parameter of a kernel, the tensor is a weight that is computed.
    assert_agrees!("a computed weight", |x, weight, loss| {
        let (computed, tape) = linear(weight.recorded(), &x, None).unwrap().split_tape();
        let input = x.clone().put_tape(tape);
        loss(linear(input, &computed, None).unwrap())
    });
    assert_agrees!("a computed weight, used twice", |x, weight, loss| {
        let (computed, tape) = GeluTanh::apply(weight.recorded()).unwrap().split_tape();
        let hidden = linear(x.clone().put_tape(tape), &computed, None).unwrap();
        loss(residual(hidden, computed.retaped()).unwrap())
    });
    assert_agrees!("a weight that dfdx computes", |x, weight, loss| {
        let (computed, tape) = weight.recorded().sin().split_tape();
        loss(linear(x.clone().put_tape(tape), &computed, None).unwrap())
    });
}

#[test]
fn a_parameter_is_read_by_kernels_and_by_dfdx() {
    assert_agrees!("before the kernel", |x, weight, loss| {
        let penalty: Loss<_> = loss(weight.recorded());
        loss(linear(x.recorded(), &weight, None).unwrap()) + penalty
    });
    assert_agrees!("after the kernel", |x, weight, loss| {
        let (value, tape) = loss(linear(x.recorded(), &weight, None).unwrap()).split_tape();
        weight.clone().put_tape(tape).sin().sum::<(), _>() + value
    });
    assert_agrees!("in between", |x, weight, loss| {
        let hidden = linear(x.recorded(), &weight, None).unwrap();
        let (hidden, tape) = hidden.split_tape();
        let product = weight.clone().put_tape(tape).cos() * hidden;
        loss(linear(product, &weight, None).unwrap())
    });
    assert_agrees!("as an operand and as a parameter", |x, weight, loss| {
        let hidden = linear(x.recorded(), &weight, None).unwrap();
        loss(residual(residual(hidden, weight.retaped()).unwrap(), weight.recorded().sin()).unwrap())
    });
}

#[test]
fn a_loss_is_used_twice() {
    assert_agrees!("by dfdx", |x, weight, loss| {
        let loss = loss(linear(x.recorded(), &weight, None).unwrap());
        loss.clone().sin() + ops::scale(loss, 0.5).unwrap()
    });
    assert_agrees!("by a kernel", |x, weight, loss| {
        let loss = loss(linear(x.recorded(), &weight, None).unwrap());
        residual(loss.clone(), ops::scale(loss, 3.0).unwrap()).unwrap()
    });
    // What else is recorded adds nothing to the gradients of the loss.
    assert_agrees!("by a metric", |x, weight, loss| {
        let loss = loss(linear(x.recorded(), &weight, None).unwrap());
        let _metric = residual(loss.clone(), loss.clone().sin()).unwrap();
        loss
    });
}

/// A tensor of a pass has no gradient that misses what ran before.
#[test]
fn a_tensor_used_after_the_backward_pass_is_an_error() {
    fn check<E: Real>()
    where
        AutoDevice: Backend<E>,
    {
        let (x, weight): (Leaf<E>, Leaf<E>) = (leaf(1), leaf(2));
        let hidden = linear(x.recorded(), &weight, None).unwrap();
        let loss = sum_of_squares(hidden.clone());
        let again = loss.clone();
        let meets = residual(hidden.clone(), weight.recorded()).unwrap();
        assert!(loss.backward().is_ok());
        let refused = |loss: Loss<E>| assert_eq!(loss.backward().err(), Some(OpError::Backward));
        refused(again);
        refused(sum_of_squares(hidden.clone()));
        refused(sum_of_squares(linear(hidden.clone(), &weight, None).unwrap()));
        refused(sum_of_squares(meets));
        // A new pass that meets the old one is no better, whichever comes first.
        refused(sum_of_squares(residual(linear(x.recorded(), &weight, None).unwrap(), hidden.clone()).unwrap()));
        refused(sum_of_squares(residual(hidden, linear(x.recorded(), &weight, None).unwrap()).unwrap()));
        // A new pass of the same leaves is.
        assert!(sum_of_squares(linear(x.recorded(), &weight, None).unwrap()).backward().is_ok());
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn a_pass_that_meets_an_accumulating_one_adds_to_its_gradients() {
    type Layer<E> = Linear<EmbedDim, EmbedDim, E, AutoDevice>;
    fn check<E: Real>()
    where
        AutoDevice: Backend<E>,
    {
        let model = Layer::<E>::build(&AutoDevice::seed_from_u64(0));
        let (x, y): (Leaf<E>, Leaf<E>) = (leaf(5), leaf(6));
        let first = || {
            model.forward(x.clone().put_tape(model.recording())).unwrap().square().sum::<(), _>().backward().unwrap()
        };
        let weight_gradient =
            |mut gradients: GradientsOf<Layer<E>, E, AutoDevice>| as_f64(&gradients.of(&model.weight).unwrap());
        let alone = |x: &Leaf<E>| {
            let output = model.forward(x.clone().put_tape(model.recording())).unwrap();
            weight_gradient(output.square().sum::<(), _>().backward().unwrap())
        };
        let expected: Vec<f64> =
            alone(&x).into_iter().zip(alone(&y)).zip(alone(&x)).map(|((a, b), c)| a + b + c).collect();
        for accumulating_is_first in [true, false] {
            let accumulating = model.forward(x.clone().put_tape(first().into_recording())).unwrap();
            let plain = model.forward(y.clone().put_tape(model.recording())).unwrap();
            let [accumulating, plain] = [accumulating, plain].map(|output| output.square().sum::<(), _>());
            let loss = if accumulating_is_first { accumulating + plain } else { plain + accumulating };
            assert_close("accumulated", &[weight_gradient(loss.backward().unwrap())], std::slice::from_ref(&expected));
        }
        // Neither sum can be the other's start.
        let [one, other] = [&x, &y].map(|x| model.forward(x.clone().put_tape(first().into_recording())).unwrap());
        let loss: Tensor<(), E, AutoDevice, _> = residual(one, other).unwrap().square().sum();
        assert_eq!(loss.backward().err(), Some(OpError::TwoAccumulators));
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn a_pass_adds_to_gradients_that_were_read() {
    let model = Linear::<EmbedDim, EmbedDim, f32, AutoDevice>::build(&AutoDevice::seed_from_u64(0));
    let y = |tape| model.forward(leaf::<f32>(5).put_tape(tape)).unwrap();
    let backward = |tape| Backpropagate::backward(ops::mean(y(tape)).unwrap()).unwrap();
    let mut gradients = backward(model.recording());
    gradients.of(&model.weight).unwrap(); // This moves it. An optimizer reads gradients where they are.
    let norm = |gradients| update(&mut model.clone(), gradients, &mut Sgd::default(), 0.0, f64::INFINITY).unwrap();
    let [once, twice] = [model.recording(), gradients.into_recording()].map(|tape| norm(backward(tape)));
    assert!((twice - 2.0 * once).abs() < 1e-6 * once && once > 0.0);
}

/// The same methods of dfdx on its own tape and on the crate's.
#[test]
fn gradients_equal_to_the_bit_those_of_dfdx() {
    fn loss<T: dfdx::tensor::Tape<f32, AutoDevice>>(
        x: Tensor<Square, f32, AutoDevice, T>,
        weight: &Leaf<f32>,
    ) -> Tensor<(), f32, AutoDevice, T> {
        let hidden = x.matmul(weight.clone().permute::<Square, Axes2<1, 0>>()).fast_gelu();
        let product = hidden.matmul(weight.clone()).softmax::<Axis<1>>();
        (product.retaped::<T>().sin() + product).square().mean()
    }
    let (x, weight): (Leaf<f32>, Leaf<f32>) = (leaf(7), leaf(8));
    let by_dfdx = dfdx::tensor_ops::Backward::backward(loss(x.leaky_trace(), &weight));
    let mut recorded = loss(x.recorded(), &weight).backward().unwrap();
    assert_eq!(recorded.of(&x).unwrap().as_vec(), by_dfdx.get(&x).as_vec());
    assert_eq!(recorded.of(&weight).unwrap().as_vec(), by_dfdx.get(&weight).as_vec());
    // A kernel that adds as dfdx does.
    let mut by_kernel = residual(x.recorded(), weight.retaped()).unwrap().sum().backward().unwrap();
    let by_dfdx = dfdx::tensor_ops::Backward::backward((x.leaky_trace() + weight.clone()).sum());
    let mut gradient = |tensor| by_kernel.of(tensor).unwrap().as_vec();
    assert_eq!([gradient(&x), gradient(&weight)], [&x, &weight].map(|tensor| by_dfdx.get(tensor).as_vec()));
}
