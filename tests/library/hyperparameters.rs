//! Hyperparameters out of their range are errors of the library, before the first step changes the model.

use crate::tiny_training::Tiny;
use dfdx::tensor_ops::SumTo;
use typed_transformer::prelude::*;
use typed_transformer::train::{
    Adam, AdamW, GradientsOf, GroupRates, Optimizer, Schedule, Sgd, TrainError, Trainer, update,
};

const NAN: f64 = f64::NAN;
const INFINITY: f64 = f64::INFINITY;

fn gradients(model: &Tiny) -> GradientsOf<Tiny, f32, Cpu> {
    let loss = SumTo::sum::<(), _>(model.bias.clone().put_tape(model.recording()));
    loss.backward().unwrap().allow_unused(&model.weight)
}

/// The error of an update, which leaves the model as it was.
#[track_caller]
fn error_of(mut optimizer: impl Optimizer<Tiny, f32>, learning_rate: f64, clip_norm: f64) -> String {
    let mut model = Tiny::build(&Cpu::seed_from_u64(1));
    let before = (model.weight.as_vec(), model.bias.as_vec());
    let gradients = gradients(&model);
    let error = update(&mut model, gradients, &mut optimizer, learning_rate, clip_norm).unwrap_err();
    assert_eq!((model.weight.as_vec(), model.bias.as_vec()), before);
    assert_eq!(optimizer.state().steps(), 0);
    assert!(matches!(error, OpError::Hyperparameter { .. }), "{error}");
    error.to_string()
}

#[test]
fn each_hyperparameter_has_a_range() {
    let adam = |set: fn(&mut Adam<Tiny>, f64), value: f64| {
        let mut adam = Adam::default();
        set(&mut adam, value);
        error_of(adam, 0.1, 1.0)
    };
    for value in [-1.0, 1.0, 2.0, NAN, INFINITY] {
        let expected = |name: &str| format!("update: {name} must be at least 0 and below 1, but it is {value}");
        assert_eq!(adam(|adam, value| adam.beta1 = value, value), expected("beta1"));
        assert_eq!(adam(|adam, value| adam.beta2 = value, value), expected("beta2"));
    }
    // It is 1 in `f32`.
    let expected = "update: beta2 must be below 1 in the type of the parameters, but it is 0.99999999";
    assert_eq!(adam(|adam, value| adam.beta2 = value, 0.999_999_99), expected);
    // The last ones are 0 and infinite in `f32`.
    for value in [-1.0, 0.0, NAN, INFINITY, 1e-60, 1e39] {
        let expected = "update: epsilon must be above 0 in the type of the parameters, and finite, but it is";
        assert_eq!(error_of(Adam { epsilon: value, ..Adam::default() }, 0.1, 1.0), format!("{expected} {value}"));
    }
    for value in [-1.0, NAN, INFINITY] {
        let adamw = AdamW { weight_decay: value, ..AdamW::default() };
        let expected = format!("update: weight_decay must be finite and at least 0, but it is {value}");
        assert_eq!(error_of(adamw, 0.1, 1.0), expected);
        let rate = format!("update: the learning rate must be finite and at least 0, but it is {value}");
        assert_eq!(error_of(Sgd::default(), value, 1.0), rate);
    }
    // It is infinite in `f32`.
    let value = 1e39;
    let expected =
        |name: &str| format!("update: {name} must be finite in the type of the parameters, but it is {value}");
    assert_eq!(error_of(AdamW { weight_decay: value, ..AdamW::default() }, 0.1, 1.0), expected("weight_decay"));
    assert_eq!(error_of(Sgd::default(), value, 1.0), expected("the learning rate"));
    let groups = GroupRates::new(Sgd::default(), |_| 1e39);
    assert_eq!(error_of(groups, 0.1, 1.0), expected("the factor of a learning rate"));
    for value in [-1.0, 2.0, NAN] {
        let sgd = Sgd { momentum: value, ..Sgd::default() };
        assert_eq!(error_of(sgd, 0.1, 1.0), format!("update: momentum must be from 0 to 1, but it is {value}"));
    }
    for value in [-1.0, 0.0, NAN] {
        assert_eq!(
            error_of(Sgd::default(), 0.1, value),
            format!("update: clip_norm must be above 0, but it is {value}")
        );
    }
}

#[test]
fn a_trainer_names_the_hyperparameter_and_makes_no_step() {
    fn error_of(schedule: impl Schedule, clip_norm: f64) -> String {
        let mut trainer = Trainer::new(Adam::default(), schedule, 10, 0);
        trainer.clip_norm = clip_norm;
        let mut model = Tiny::build(&Cpu::seed_from_u64(1));
        let _step = trainer.next_step().unwrap();
        let gradients = gradients(&model);
        let error = trainer.update(&mut model, gradients, 1.0, 1).unwrap_err();
        assert!(matches!(error, TrainError::Op(OpError::Hyperparameter { .. })), "{error}");
        assert_eq!(trainer.steps_made(), 0);
        error.to_string()
    }
    let rate = "update: the learning rate must be finite and at least 0, but it is";
    assert_eq!(error_of(NAN, 1.0), format!("{rate} NaN"));
    assert_eq!(error_of(-1.0, 1.0), format!("{rate} -1"));
    assert_eq!(error_of(0.1, NAN), "update: clip_norm must be above 0, but it is NaN");
}
