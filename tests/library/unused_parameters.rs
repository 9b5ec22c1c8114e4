//! Every parameter gets a gradient from each pass, or the update names it.

use crate::numbers::device;
use dfdx::tensor::AutoDevice;
use typed_transformer::nn::{Linear, init};
use typed_transformer::ops::{Activation, Relu, add, mean, mul, offset};
use typed_transformer::prelude::*;
use typed_transformer::train::{Adam, AdamW, GradientsOf, Sgd, update};
use typed_transformer::{einsum, module};

dims! { Batch = 2; SeqLen = 3; Width = 4; Rank = 2; Classes = 5; }

/// A classifier of encoded positions, with an adapter whose second factor begins at zero.
#[module]
struct Adapted<E, D> {
    encoder: Linear<Width, Width, E, D>,
    #[param(init::uniform::<Width, _, _, _>)]
    down: Tensor<(Rank, Width), E, D>,
    #[param(init::zeros)]
    up: Tensor<(Width, Rank), E, D>,
    /// A norm that scales by `1 + w`.
    #[param(init::zeros)]
    norm: Tensor<(Width,), E, D>,
    logits: Linear<Width, Classes, E, D>,
}

/// What becomes of the encoder's tape.
#[derive(Clone, Copy)]
enum Encoded {
    Recorded,
    Detached,
}

impl<E: Real, D: Backend<E>> Adapted<E, D> {
    fn loss<T: Tape<E, D>>(&self, x: Tensor<(Batch, SeqLen, Width), E, D, T>, encoded: Encoded) -> Loss<E, D, T> {
        let x = self.encoder.forward(x)?;
        let x = match encoded {
            Encoded::Recorded => x,
            Encoded::Detached => x.retaped(),
        };
        let low = einsum!(x.clone(): (Batch, SeqLen, Width), &self.down: (Rank, Width) -> (Batch, SeqLen, Rank))?;
        let update = einsum!(low: (Batch, SeqLen, Rank), &self.up: (Width, Rank) -> (Batch, SeqLen, Width))?;
        let weight = offset(self.norm.retaped::<T>(), 1.0)?;
        let x = rms_norm(add(x, update)?, &weight, 1e-6)?;
        let labels = LabelIds::from_ids(&[0, 1, 2, 3, 4, 0], None, (Batch, SeqLen)).unwrap();
        cross_entropy(self.logits.forward(x)?, &labels, Reduction::MeanAll)
    }
}
type Loss<E, D, T> = Result<Tensor<(), E, D, T>, OpError>;

fn input<E: Real>() -> Tensor<(Batch, SeqLen, Width), E, AutoDevice>
where
    AutoDevice: Backend<E>,
{
    device().tensor((0..24).map(|i| E::from_f64(f64::from(i % 7) - 3.0).unwrap()).collect::<Vec<_>>())
}

fn check<E: Real>()
where
    AutoDevice: Backend<E>,
{
    let mut model = Adapted::<E, AutoDevice>::build(&AutoDevice::seed_from_u64(3));
    let record = |model: &Adapted<E, AutoDevice>, encoded| {
        model.loss(input().put_tape(model.recording()), encoded).unwrap().backward().unwrap()
    };
    // The gradient of `down` is zero in the first step, because `up` is. It is a gradient nevertheless.
    let mut gradients = record(&model, Encoded::Recorded);
    assert!(gradients.of(&model.down).unwrap().as_vec().iter().all(|x| x.is_zero()));
    assert!(gradients.of(&model.norm).unwrap().as_vec().iter().all(|x| !x.is_zero()));
    update(&mut model, gradients, &mut Sgd::default(), 0.1, 1.0).unwrap();

    let gradients = record(&model, Encoded::Detached);
    let error = update(&mut model, gradients, &mut Adam::default(), 0.1, 1.0).unwrap_err();
    assert_eq!(error, OpError::Unused { parameters: vec!["encoder.weight".into(), "encoder.bias".into()] });
    // Neither momentum nor weight decay changes what is unused.
    let mut adamw = AdamW::default();
    let gradients = record(&model, Encoded::Recorded);
    update(&mut model, gradients, &mut adamw, 0.1, 1.0).unwrap();
    let gradients = record(&model, Encoded::Detached).allow_unused(&model.encoder);
    let before = model.clone();
    update(&mut model, gradients, &mut adamw, 0.1, 1.0).unwrap();
    assert_eq!(model.encoder.weight.as_vec(), before.encoder.weight.as_vec());
    assert_ne!(model.up.as_vec(), before.up.as_vec());

    // The parts of a batch know which parameters they used, and zeros used none.
    let zeros = GradientsOf::zeros(&model);
    assert!(matches!(update(&mut model, zeros, &mut Sgd::default(), 0.1, 1.0), Err(OpError::Unused { .. })));
    let mut sum = GradientsOf::zeros(&model);
    for _ in 0..2 {
        let x = input().put_tape(sum.into_recording());
        sum = model.loss(x, Encoded::Recorded).unwrap().backward().unwrap();
    }
    update(&mut model, sum, &mut Sgd::default(), 0.1, 1.0).unwrap();
}

#[test]
fn an_update_names_the_parameters_without_a_gradient() {
    check::<f32>();
    check::<f64>();
}

#[test]
fn a_pass_of_another_model_on_the_tape_of_this_one_is_refused() {
    type Layer = Linear<Width, Classes, f32, AutoDevice>;
    let (mut model, other) = (Layer::build(&AutoDevice::seed_from_u64(0)), Layer::build(&AutoDevice::seed_from_u64(1)));
    let labels = LabelIds::from_ids(&[0; 6], None, (Batch, SeqLen)).unwrap();
    let logits = other.forward(input().put_tape(model.recording())).unwrap();
    let gradients = cross_entropy(logits, &labels, Reduction::MeanAll).unwrap().backward().unwrap();
    assert_eq!(
        update(&mut model, gradients, &mut Sgd::default(), 0.1, 1.0).unwrap_err().to_string(),
        "update: no gradient reached `weight`, `bias`: the loss must depend on every parameter, by the tape of its own \
         pass; `gradients.allow_unused(&model.part)` lets the parameters of a part be unused",
    );
}

/// Otherwise nothing would be trained, step after step.
#[test]
fn a_permission_does_not_hide_the_gradients_of_another_model() {
    type Layer = Linear<Width, Classes, f32, AutoDevice>;
    let (mut model, other) = (Layer::build(&AutoDevice::seed_from_u64(0)), Layer::build(&AutoDevice::seed_from_u64(1)));
    let labels = LabelIds::from_ids(&[0; 6], None, (Batch, SeqLen)).unwrap();
    let logits = other.forward(input().put_tape(other.recording())).unwrap();
    let gradients = cross_entropy(logits, &labels, Reduction::MeanAll).unwrap().backward().unwrap();
    let gradients = gradients.allow_unused(&model);
    let result = update(&mut model, gradients, &mut Sgd::default(), 0.1, 1.0);
    assert!(matches!(result, Err(OpError::OtherModel { .. })), "{result:?}");
}

/// Two layers that a user may make as clones.
#[module]
struct Twins<E, D> {
    one: Linear<Width, Width, E, D>,
    other: Linear<Width, Width, E, D>,
}

#[test]
fn clones_in_a_model_are_named() {
    let mut model = Twins::<f32, AutoDevice>::build(&device());
    let step = |model: &mut Twins<f32, AutoDevice>| {
        let x = model.one.forward(input().put_tape(model.recording())).unwrap();
        let loss = mean(model.other.forward(x).unwrap()).unwrap();
        update(model, loss.backward().unwrap(), &mut Sgd::default(), 0.1, 1.0)
    };
    assert!(step(&mut model).is_ok());
    model.other.weight = model.one.weight.clone();
    assert_eq!(
        step(&mut model).unwrap_err(),
        OpError::Clones { first: "one.weight".into(), second: "other.weight".into() }
    );
}

/// A factor, and a shift by the output of a ReLU that is dead.
#[module]
struct Shifted<E, D> {
    #[param(init::ones)]
    factor: Tensor<(Width,), E, D>,
    #[param(init::zeros)]
    shift: Tensor<(Width,), E, D>,
}

/// dfdx's operation runs its backward pass after the kernels, and takes the gradients from them.
#[test]
fn a_gradient_of_zero_is_one_beside_an_operation_of_dfdx() {
    let mut model = Shifted::<f32, AutoDevice>::build(&device());
    let x = input::<f32>().put_tape(model.recording()).square();
    let shift = model.shift.clone().put_tape(model.recording());
    let shift = Relu::apply(offset(shift, -1.0).unwrap()).unwrap();
    let y = add(mul(x, &model.factor).unwrap(), shift).unwrap();
    let gradients = mean(y).unwrap().backward().unwrap();
    update(&mut model, gradients, &mut Sgd::default(), 0.1, f64::INFINITY).unwrap();
    assert!(model.factor.as_vec().iter().all(|x| *x < 1.0));
    assert_eq!(model.shift.as_vec(), [0.0; Width::SIZE]);
}
