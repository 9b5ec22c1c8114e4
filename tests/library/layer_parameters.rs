//! A module that is generic in a layer.

use crate::numbers::device;
use dfdx::nn::ToDtype;
use dfdx::tensor::AutoDevice;
use tempfile::tempdir;
use typed_transformer::nn::{Bf16, LayerNorm, Linear, Module, Precision, WithPrecision};
use typed_transformer::ops::{mean, mul};
use typed_transformer::prelude::*;
use typed_transformer::train::{Sgd, update};
use typed_transformer::weights;

dims! { Batch = 2; Width = 3; NumLayers = 2; }

/// What the layers have in common.
trait Layer<E: Real, D: Backend<E>> {
    fn apply<T: Tape<E, D>>(
        &self,
        x: Tensor<(Batch, Width), E, D, T>,
    ) -> Result<Tensor<(Batch, Width), E, D, T>, OpError>;
}

impl<E: Real, D: Backend<E>> Layer<E, D> for Linear<Width, Width, E, D> {
    fn apply<T: Tape<E, D>>(
        &self,
        x: Tensor<(Batch, Width), E, D, T>,
    ) -> Result<Tensor<(Batch, Width), E, D, T>, OpError> {
        self.forward(x)
    }
}

/// `x + inner(norm(x))`.
#[module(output = Width)]
struct PreNorm<Inner: Module, E, D> {
    norm: LayerNorm<Width, E, D>,
    inner: Inner,
}

impl<Inner: Layer<E, D>, E: Real, D: Backend<E>> Layer<E, D> for PreNorm<Inner, E, D> {
    fn apply<T: Tape<E, D>>(
        &self,
        x: Tensor<(Batch, Width), E, D, T>,
    ) -> Result<Tensor<(Batch, Width), E, D, T>, OpError> {
        residual(x.clone(), self.inner.apply(self.norm.forward(x, 1e-5)?)?)
    }
}

/// Layers one after the other; the bound stands in a `where` clause.
#[module]
struct Stack<Inner, E, D>
where
    Inner: Module,
{
    layers: Layers<NumLayers, Inner>,
    last: Linear<Width, Width, E, D>,
}

impl<Inner: Layer<E, D>, E: Real, D: Backend<E>> Stack<Inner, E, D> {
    fn forward<T: Tape<E, D>>(
        &self,
        x: Tensor<(Batch, Width), E, D, T>,
    ) -> Result<Tensor<(Batch, Width), E, D, T>, OpError> {
        self.last.forward(self.layers.iter().try_fold(x, |x, layer| layer.apply(x))?)
    }
}

/// A layer and a precision.
#[module]
struct Stored<Inner: Module, E, D, P: Precision> {
    inner: Inner,
    last: Linear<Width, Width, E, D, P>,
}

#[test]
fn a_module_may_have_a_layer_and_a_precision() {
    type Norm = LayerNorm<Width, f32, AutoDevice>;
    let model = Stored::<Norm, f32, AutoDevice>::build(&device());
    let small: Stored<Norm, f32, AutoDevice, Bf16> = model.with_precision().unwrap();
    assert_eq!(small.inner.weight.as_vec(), model.inner.weight.as_vec());
    assert_eq!(small.last.weight.len_bytes(), 3 * 32 * 2);
}

type Model<E> = Stack<PreNorm<Linear<Width, Width, E, AutoDevice>, E, AutoDevice>, E, AutoDevice>;

#[test]
fn it_is_built_trained_saved_loaded_and_converted() {
    assert_eq!(Model::<f32>::NUM_PARAMS, 2 * (6 + 12) + 12);
    let mut model = Model::<f32>::build(&AutoDevice::seed_from_u64(1));
    let rows = model.summary().to_string();
    assert!(rows.contains("layers.1.inner"), "{rows}");

    let x: Tensor<(Batch, Width), f32, AutoDevice> = device().tensor(vec![1.0, -2.0, 0.5, 0.0, 3.0, 1.0]);
    let loss = |model: &Model<f32>| {
        let y = model.forward(x.clone().put_tape(model.recording())).unwrap();
        mean(mul(y.clone(), y).unwrap()).unwrap()
    };
    let mut losses = vec![];
    for _ in 0..3 {
        let loss = loss(&model);
        losses.push(loss.array());
        let before = model.clone();
        update(&mut model, loss.backward().unwrap(), &mut Sgd::default(), 0.05, f64::INFINITY).unwrap();
        assert_ne!(before.layers[1].inner.weight.as_vec(), model.layers[1].inner.weight.as_vec());
    }
    assert!(losses.is_sorted_by(|a, b| a > b), "{losses:?}");

    let folder = tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    weights::save(&model, &path).unwrap();
    let loaded: Model<f32> = weights::load(&path, &device()).unwrap();
    assert_eq!(loss(&loaded).array(), loss(&model).array());
    let double: Model<f64> = model.clone().to_dtype();
    assert_eq!(f64::from(model.layers[0].inner.bias.as_vec()[2]), double.layers[0].inner.bias.as_vec()[2]);
}
