//! A training run of the smallest model.

use dfdx::tensor::{AsArray, Cpu, OnesTensor, Tensor};
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use typed_transformer::nn::Linear;
use typed_transformer::prelude::*;
use typed_transformer::train::{Adam, Optimizer, Schedule, Trainer};

dims! { pub InDim = 2; pub OutDim = 3; }

/// The smallest model.
pub type Tiny = Linear<InDim, OutDim, f32, Cpu>;
pub type Training = Trainer<Adam<Tiny, f32>, f64>;

pub fn trainer() -> Training {
    Trainer::new(Adam::default(), 0.01, usize::MAX, 0)
}

/// One step, with `loss` in place of the loss.
pub fn step_with_loss(
    trainer: &mut Trainer<impl Optimizer<Tiny, f32>, impl Schedule>,
    model: &mut Tiny,
    loss: Option<f64>,
) {
    let _step = trainer.next_step().unwrap();
    let labels = LabelIds::from_ids(&[2], None, (Const::<1>, Const::<1>)).unwrap();
    let input: Tensor<(Const<1>, Const<1>, InDim), f32, Cpu> = Cpu::default().ones();
    let tensor =
        cross_entropy(model.forward(input.put_tape(model.recording())).unwrap(), &labels, Reduction::MeanAll).unwrap();
    let loss = loss.unwrap_or(tensor.array().into());
    trainer.update(model, tensor.backward().unwrap(), loss, 1).unwrap();
}

pub fn step(trainer: &mut Trainer<impl Optimizer<Tiny, f32>, impl Schedule>, model: &mut Tiny) {
    step_with_loss(trainer, model, None);
}

#[test]
fn optimizer_and_schedule_may_be_chosen_at_run_time() {
    let optimizer: Box<dyn Optimizer<Tiny, f32>> = Box::new(Adam::default());
    let schedule: Box<dyn Schedule> = Box::new(0.01);
    let (mut boxed, mut own) = (Trainer::new(optimizer, schedule, usize::MAX, 0), trainer());
    let mut models = [(); 2].map(|()| Tiny::build(&Cpu::seed_from_u64(1)));
    for _ in 0..3 {
        step(&mut boxed, &mut models[0]);
        step(&mut own, &mut models[1]);
    }
    assert_eq!(models[0].weight.as_vec(), models[1].weight.as_vec());
    assert_eq!(boxed.optimizer.hyperparameters(), own.optimizer.hyperparameters());
}

#[test]
fn a_schedule_may_be_borrowed() {
    let schedule: &dyn Schedule = &0.01;
    let mut trainer = Trainer::new(Adam::default(), schedule, usize::MAX, 0);
    let mut model = Tiny::build(&Cpu::seed_from_u64(1));
    step(&mut trainer, &mut model);
    assert_eq!(model.bias.as_vec(), biases(1)[1]);
    assert_eq!(format!("{:?}", trainer.schedule), "0.01");
}

/// The bias after each number of steps, without files.
fn biases(steps: usize) -> Vec<Vec<f32>> {
    let (mut trainer, mut model) = (trainer(), Tiny::build(&Cpu::seed_from_u64(1)));
    let mut biases = vec![model.bias.as_vec()];
    for _ in 0..steps {
        step(&mut trainer, &mut model);
        biases.push(model.bias.as_vec());
    }
    biases
}

/// Saves a checkpoint after each of `steps` steps, and returns the path of the newest.
pub fn saved(folder: &TempDir, steps: usize, max_to_keep: usize) -> PathBuf {
    let path = folder.path().join("ck");
    let (mut trainer, mut model) = (trainer(), Tiny::build(&Cpu::seed_from_u64(1)));
    trainer.max_to_keep = max_to_keep;
    trainer.checkpoint_every(&path, 1).unwrap();
    (0..steps).for_each(|_| step(&mut trainer, &mut model));
    trainer.finish().unwrap();
    path
}

/// The number of steps in a checkpoint, which is whole and has the right model.
#[track_caller]
pub fn steps_in(path: &Path) -> usize {
    let mut trainer = trainer();
    let model: Tiny = trainer.resume(path, &Cpu::default()).unwrap();
    assert_eq!(trainer.resume_notes(), []);
    assert_eq!(model.bias.as_vec(), biases(trainer.steps_made())[trainer.steps_made()]);
    trainer.steps_made()
}
