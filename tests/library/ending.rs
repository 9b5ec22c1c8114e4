//! How a training run ends before its last step.

use crate::tiny_training::{Tiny, Training, step, steps_in, trainer};
use std::sync::atomic::Ordering;
use tempfile::tempdir;
use typed_transformer::prelude::*;
use typed_transformer::train::{Adam, Evaluation, Metrics, ResumeError};

dims! { Classes = 4; Rows; }

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

/// Its results are complete.
#[test]
fn a_training_that_is_stopped_in_its_last_step_is_not_stopped() {
    let folder = tempdir().unwrap();
    for interval in [0, 1] {
        let path = folder.path().join(format!("every-{interval}"));
        let (mut trainer, mut model) = (Training::new(Adam::default(), 0.01, 1, 0), model());
        trainer.checkpoint_every(&path, interval).unwrap();
        trainer.stop.store(true, Ordering::Relaxed);
        step(&mut trainer, &mut model);
        assert!(trainer.next_step().is_none() && !trainer.stopped());
        assert!(path.exists());
    }
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

#[test]
fn a_training_begins_where_there_is_no_checkpoint_and_goes_on_where_there_is_one() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    let begin = || -> (_, Result<Tiny, ResumeError>) {
        let mut trainer = trainer();
        let model = trainer.resume_or(&path, &Cpu::default(), model);
        (trainer.steps_made(), model)
    };
    assert_eq!(begin().0, 0);
    let (mut trainer, mut model) = (trainer(), begin().1.unwrap());
    step(&mut trainer, &mut model);
    trainer.save(&model, &path).unwrap();
    assert_eq!(begin().0, 1);
    // A file that is there is never passed over.
    std::fs::write(&path, "no checkpoint").unwrap();
    assert!(begin().1.is_err());
}

#[test]
fn an_evaluation_is_recorded_and_logged() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("metrics");
    let (mut trainer, mut model) = (trainer(), model());
    trainer.metrics = Some(Metrics::open(&path, 0).unwrap());
    let mut evaluation = Evaluation::default();
    let labels = LabelIds::from_ids(&[1], None, (Const::<1>, Const::<1>)).unwrap();
    let logits: Tensor<(Const<1>, Const<1>, Classes), f32, Cpu> = Cpu::default().tensor(vec![0.0; 4]);
    evaluation.add(&logits, &labels).unwrap();
    // Two evaluations before one step, as around a step that was refused.
    assert!(trainer.record_evaluation(&evaluation));
    assert!(!trainer.record_evaluation(&evaluation));
    assert_eq!(trainer.best_loss(), evaluation.loss());
    step(&mut trainer, &mut model);
    trainer.finish().unwrap();
    assert!(std::fs::read_to_string(&path).unwrap().contains("\"validation_loss\":1.38"));
}

#[test]
fn windows_end_before_the_text_does() {
    let text: Vec<Fin<Classes>> = (0..4).map(|id| Fin::new(id).unwrap()).collect();
    let windows = |starts: &[usize]| TokenIds::windows(&text, starts.to_vec(), (Rows::new(starts.len()), Const::<2>));
    let (inputs, labels) = windows(&[1, 0]).unwrap();
    assert_eq!([inputs.indices(), labels.indices()].map(Indices::as_slice), [[1, 2, 0, 1], [2, 3, 1, 2]]);
    for (starts, found, what, row) in [
        (vec![2], 1, "labels", 0),
        (vec![0, 3], 1, "tokens", 1),
        (vec![9], 0, "tokens", 0),
        (vec![usize::MAX], 0, "tokens", 0),
    ] {
        let error = windows(&starts).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{found} {what} given, but row {row} of")), "{error}");
    }
    assert!(windows(&[]).is_err());
}
