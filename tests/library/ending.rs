//! How a training run ends before its last step.

use crate::tiny_training::{Tiny, step, steps_in, trainer};
use std::sync::atomic::Ordering;
use tempfile::tempdir;
use typed_transformer::prelude::*;

fn model() -> Tiny {
    Tiny::build(&Cpu::seed_from_u64(1))
}

#[test]
fn a_training_that_is_stopped_between_steps_makes_no_further_one() {
    let (mut trainer, mut model) = (trainer(), model());
    step(&mut trainer, &mut model);
    trainer.stop.store(true, Ordering::Relaxed);
    assert!(trainer.next_step().is_none() && trainer.stopped());
    assert_eq!(trainer.steps_made(), 1);
}

#[test]
fn a_training_with_a_checkpoint_to_save_makes_one_more() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    let (mut trainer, mut model) = (trainer(), model());
    trainer.checkpoint_every(&path, 0).unwrap();
    step(&mut trainer, &mut model);
    trainer.stop.store(true, Ordering::Relaxed);
    step(&mut trainer, &mut model);
    assert!(trainer.next_step().is_none() && trainer.stopped());
    drop(trainer);
    assert_eq!(steps_in(&path), 2);
}

#[test]
fn a_resumed_training_goes_on_counting_from_its_best_step() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    let mut straight = trainer();
    straight.checkpoint_every(&path, 1).unwrap();
    let mut trained = model();
    for (loss, since) in [(2.0, 0), (1.0, 0), (1.5, 1), (f64::NAN, 2)] {
        straight.record_best(loss);
        assert_eq!(straight.steps_since_best(), since);
        step(&mut straight, &mut trained);
    }
    drop(straight);
    let mut resumed = trainer();
    let _: Tiny = resumed.resume(&path, &Cpu::default()).unwrap();
    assert_eq!((resumed.steps_since_best(), resumed.best_loss()), (3, 1.0));
}
