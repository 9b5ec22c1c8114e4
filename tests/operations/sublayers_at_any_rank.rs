//! Residuals and feed-forward layers at every rank: results against plain loops, gradients against finite differences,
//! and the kernels against the definitions.

use crate::finite_differences::{check, check_parameter, random, weighted_sum};
use crate::numbers::{assert_close, device, double, random_like, single};
use crate::recorded::Recorded;
use dfdx::shapes::Shape;
use dfdx::tensor::{AsArray, AutoDevice};
use dfdx::tensor_ops::{ReshapeTo, SumTo};
use typed_transformer::dims::{DataShape, EndsIn, NamedShape};
use typed_transformer::nn::{Conventions, GatedFeedForward, NormPlacement};
use typed_transformer::ops::{Relu, residual};
use typed_transformer::prelude::*;

// Every compile-time dimension has its own size, so that confusing two of them fails.
dims! { Rows = 2; Columns = 3; Height = 4; EmbedDim = 6; HiddenDim = 5; HeadDim = 1; Batch; }

struct PreNorm;

impl Conventions for PreNorm {
    type Activation = Relu;
    type Positions = typed_transformer::nn::NoPositions;
    type PaddingRule = PadSourceKeys;
    const NORM_PLACEMENT: NormPlacement = NormPlacement::Pre;
    const NORM_EPSILON: f64 = 1e-3;
}

/// `EXTRA` layers of the hidden width.
struct Model<const EXTRA: usize>;

impl<const EXTRA: usize> Arch for Model<EXTRA> {
    type NumHeads = HeadDim;
    type QKDim = HeadDim;
    type VODim = HeadDim;
    type HiddenDim = HiddenDim;
    type Conventions = PreNorm;
    const FEED_FORWARD_EXTRA_LAYERS: usize = EXTRA;
}

fn residuals<Dims: Shape + Default + NamedShape>() {
    let (x, y) = (random::<Dims>(1), random::<Dims>(2));
    let expected: Vec<f64> = x.as_vec().into_iter().zip(y.as_vec()).map(|(x, y)| x + y).collect();
    assert_eq!(residual(x.clone(), y.clone()).unwrap().as_vec(), expected);
    assert_close(&double(&residual(single(&x), single(&y)).unwrap()), &expected, 1e-6);
    check(x.clone(), |x| weighted_sum(residual(x, y.retaped()).unwrap()));
    check(y, |y| weighted_sum(residual(x.retaped(), y).unwrap()));
    // A tensor is added to itself.
    let count = x.shape().num_elements();
    // On a GPU, dfdx cannot sum a tensor without axes.
    let sum = residual(x.recorded(), x.retaped()).unwrap().reshape_like(&(count,)).sum();
    let gradient = sum.backward().unwrap().of(&x).unwrap().as_vec();
    assert!(gradient.iter().all(|gradient| *gradient == 2.0));
}

#[test]
fn residuals_add_tensors_of_every_rank() {
    residuals::<()>();
    residuals::<(EmbedDim,)>();
    residuals::<(Rows, EmbedDim)>();
    residuals::<(Rows, Columns, EmbedDim)>();
    residuals::<(Rows, Columns, Height, EmbedDim)>();
    residuals::<(Rows, Const<1>, Columns, Const<2>, EmbedDim)>();
    residuals::<(Rows, Const<1>, Columns, Const<2>, Const<1>, EmbedDim)>();
}

#[test]
fn run_time_sizes_of_every_axis_are_compared() {
    let x = |rows, batch| random_like(1, (Rows, Batch::new(rows), EmbedDim, Batch::new(batch)));
    assert!(residual(x(2, 3), x(2, 3)).is_ok());
    assert_eq!(
        residual(x(2, 3), x(2, 4)).unwrap_err().to_string(),
        "residual: `Batch` is 3 in the sublayer's input and 4 in its output",
    );
}

/// `W x + b`.
fn linear(weight: &[f64], bias: &[f64], x: &[f64]) -> Vec<f64> {
    let dot = |row: &[f64]| row.iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
    weight.chunks(x.len()).zip(bias).map(|(row, bias)| dot(row) + bias).collect()
}

fn relu(x: &[f64]) -> Vec<f64> {
    x.iter().map(|x| x.max(0.0)).collect()
}

fn norm(weight: &[f64], bias: &[f64], x: &[f64]) -> Vec<f64> {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    let variance = x.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / x.len() as f64;
    (0..x.len()).map(|m| (x[m] - mean) / (variance + 1e-3).sqrt() * weight[m] + bias[m]).collect()
}

/// `x + f(norm(x))` of each row.
fn sublayer(
    x: &[f64],
    norm_params: &Norm<EmbedDim, impl Arch, f64, AutoDevice>,
    f: impl Fn(&[f64]) -> Vec<f64>,
) -> Vec<f64> {
    let (weight, bias) = (norm_params.weight.as_vec(), norm_params.bias.as_ref().unwrap().as_vec());
    let of_row = |row: &[f64]| -> Vec<f64> {
        let output = f(&norm(&weight, &bias, row));
        row.iter().zip(output).map(|(x, y)| x + y).collect()
    };
    x.chunks(6).flat_map(of_row).collect()
}

/// A norm whose parameters are not those that it starts with.
fn set_norm<A: Arch>(norm: &mut Option<Norm<EmbedDim, A, f64, AutoDevice>>) {
    let norm = norm.as_mut().unwrap();
    (norm.weight, norm.bias) = (random(11), Some(random(12)));
}

fn feed_forward<Dims: Shape + Default + EndsIn<EmbedDim, Before: DataShape>, const EXTRA: usize>() {
    let mut layer = FeedForward::<EmbedDim, Model<EXTRA>, f64, AutoDevice>::build(&AutoDevice::seed_from_u64(3));
    set_norm(&mut layer.norm);
    let x = random::<Dims>(4);
    let layers: Vec<_> = layer.inner.iter().map(|l| (l.weight.as_vec(), l.bias.as_ref().unwrap().as_vec())).collect();
    let (hidden, output) = (&layer.hidden, &layer.output);
    let (hidden_bias, output_bias) = (hidden.bias.as_ref().unwrap().as_vec(), output.bias.as_ref().unwrap().as_vec());
    let expected = sublayer(&x.as_vec(), layer.norm.as_ref().unwrap(), |x| {
        let first = relu(&linear(&hidden.weight.as_vec(), &hidden_bias, x));
        let last = layers.iter().fold(first, |x, (weight, bias)| relu(&linear(weight, bias, &x)));
        linear(&output.weight.as_vec(), &output_bias, &last)
    });
    assert_close(&layer.forward(x.clone()).unwrap().as_vec(), &expected, 1e-12);
    check(x.clone(), |x| weighted_sum(layer.forward(x).unwrap()));
    let mut gradients = weighted_sum(layer.forward(x.recorded()).unwrap()).backward().unwrap();
    check_parameter(&layer.hidden.weight, &mut gradients, |weight| {
        let mut changed = layer.clone();
        changed.hidden.weight = weight.clone();
        weighted_sum(changed.forward(x.recorded()).unwrap()).array()
    });

    // The kernel of the whole sublayer.
    let mut fused = FeedForward::<EmbedDim, Model<EXTRA>, f32, AutoDevice>::build(&device());
    (fused.hidden.weight, fused.hidden.bias) = (single(&hidden.weight), hidden.bias.as_ref().map(single));
    (fused.output.weight, fused.output.bias) = (single(&output.weight), output.bias.as_ref().map(single));
    for (to, from) in fused.inner.iter_mut().zip(&layer.inner) {
        (to.weight, to.bias) = (single(&from.weight), from.bias.as_ref().map(single));
    }
    let (to, from) = (fused.norm.as_mut().unwrap(), layer.norm.as_ref().unwrap());
    (to.weight, to.bias) = (single(&from.weight), from.bias.as_ref().map(single));
    let x32 = single(&x);
    assert_close(&double(&fused.forward(x32.clone()).unwrap()), &expected, 1e-5);
    let gradient = fused.forward(x32.recorded()).unwrap().square().sum().backward().unwrap().of(&x32).unwrap().as_vec();
    let definition = layer.forward(x.recorded()).unwrap().square().sum().backward().unwrap().of(&x).unwrap().as_vec();
    assert_close(&gradient.into_iter().map(f64::from).collect::<Vec<_>>(), &definition, 1e-4);
}

fn gated_feed_forward<Dims: Shape + Default + EndsIn<EmbedDim, Before: DataShape>>() {
    let mut layer = GatedFeedForward::<EmbedDim, Model<0>, f64, AutoDevice>::build(&AutoDevice::seed_from_u64(5));
    set_norm(&mut layer.norm);
    let x = random::<Dims>(6);
    let of = |l: &[f64], b: Option<Vec<f64>>, x: &[f64]| linear(l, &b.unwrap(), x);
    let (gate, hidden, output) = (&layer.gate, &layer.hidden, &layer.output);
    let expected = sublayer(&x.as_vec(), layer.norm.as_ref().unwrap(), |x| {
        let gate = relu(&of(&gate.weight.as_vec(), gate.bias.as_ref().map(|b| b.as_vec()), x));
        let hidden = of(&hidden.weight.as_vec(), hidden.bias.as_ref().map(|b| b.as_vec()), x);
        let gated: Vec<f64> = gate.iter().zip(hidden).map(|(gate, hidden)| gate * hidden).collect();
        of(&output.weight.as_vec(), output.bias.as_ref().map(|b| b.as_vec()), &gated)
    });
    assert_close(&layer.forward(x.clone()).unwrap().as_vec(), &expected, 1e-12);
    check(x, |x| weighted_sum(layer.forward(x).unwrap()));
}

#[test]
fn feed_forward_layers_transform_the_last_axis() {
    feed_forward::<(EmbedDim,), 0>();
    feed_forward::<(Rows, EmbedDim), 1>();
    feed_forward::<(Rows, Columns, EmbedDim), 0>();
    feed_forward::<(Rows, Const<2>, Columns, EmbedDim), 0>();
    feed_forward::<(Rows, Const<1>, Columns, Const<2>, EmbedDim), 2>();
    feed_forward::<(Rows, Const<1>, Columns, Const<2>, Const<1>, EmbedDim), 0>();
}

#[test]
fn gated_feed_forward_layers_transform_the_last_axis() {
    gated_feed_forward::<(EmbedDim,)>();
    gated_feed_forward::<(Rows, EmbedDim)>();
    gated_feed_forward::<(Rows, Const<2>, Columns, EmbedDim)>();
    gated_feed_forward::<(Rows, Const<1>, Columns, Const<2>, Const<1>, EmbedDim)>();
}
