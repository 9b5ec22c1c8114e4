//! Earlier checkpoints and the best one; outputs that are not overwritten; metrics that are kept.

use crate::support::{file_names, temp_dir};
use crate::tiny_training::{InDim, OutDim, Tiny, Training, saved, step, step_with_loss, steps_in, trainer};
use dfdx::tensor::{AsArray, Cpu};
use std::path::{Path, PathBuf};
use std::{fs, io::ErrorKind};
use typed_transformer::nn::Linear;
use typed_transformer::ops::full;
use typed_transformer::prelude::*;
use typed_transformer::train::{
    Adam, GroupRates, Metrics, MovingAverage, ResumeError, ResumeNote, TrainError, Trainer,
};
use typed_transformer::weights::disk::{self, Fault};
use typed_transformer::weights::{self, LoadError, SaveError};

/// The words of `checkpoint_every` for a checkpoint that it finds before a `resume`.
const NOT_RESUMED: &str = "the checkpoint of another training run, or of this one, which was not resumed from it";

// ---- Generations ----

#[test]
fn the_last_checkpoints_and_the_best_are_kept() {
    let folder = temp_dir();
    let path = folder.path().join("ck");
    let (mut trainer, mut model) = (trainer(), Tiny::build(&Cpu::seed_from_u64(1)));
    trainer.max_to_keep = 3;
    trainer.checkpoint_every(&path, 1).unwrap();
    for loss in [3.0, 1.0, 5.0, 6.0, 7.0, 8.0] {
        step_with_loss(&mut trainer, &mut model, Some(loss));
    }
    let best = trainer.best_checkpoint().unwrap();
    drop(trainer);
    assert_eq!(file_names(&folder), ["ck", "ck.best", "ck.previous-1", "ck.previous-2"]);
    let steps = ["ck", "ck.previous-1", "ck.previous-2"].map(|name| steps_in(&folder.path().join(name)));
    assert_eq!(steps, [6, 5, 4]);
    assert_eq!(steps_in(&best), 2);

    // With fewer max_to_keep, the older ones are removed.
    let mut trainer = crate::tiny_training::trainer();
    let mut model: Tiny = trainer.resume(&path, &Cpu::default()).unwrap();
    trainer.max_to_keep = 1;
    trainer.checkpoint_every(&path, 1).unwrap();
    step_with_loss(&mut trainer, &mut model, Some(4.0));
    drop(trainer);
    assert_eq!(file_names(&folder), ["ck", "ck.best"]);
    assert_eq!((steps_in(&path), steps_in(&best)), (7, 2));
}

/// More than 100 are not kept, and need no room.
#[test]
fn more_checkpoints_than_can_be_kept_are_no_error() {
    let folder = temp_dir();
    let len_bytes = fs::metadata(saved(&folder, 1, 1)).unwrap().len();
    for (max_to_keep, free_bytes) in [(1_000, Some(150 * len_bytes)), (usize::MAX, None)] {
        let folder = temp_dir();
        let (mut trainer, mut model) = (trainer(), Tiny::build(&Cpu::seed_from_u64(1)));
        trainer.max_to_keep = max_to_keep;
        trainer.checkpoint_every(folder.path().join("ck"), 1).unwrap();
        disk::inject_free_bytes(free_bytes);
        step(&mut trainer, &mut model);
        disk::inject_free_bytes(None);
        trainer.finish().unwrap();
    }
}

#[test]
fn the_best_is_that_of_the_lowest_recorded_loss() {
    let folder = temp_dir();
    let (mut trainer, mut model) = (trainer(), Tiny::build(&Cpu::seed_from_u64(1)));
    trainer.checkpoint_every(folder.path().join("ck"), 1).unwrap();
    for validation_loss in [2.0, 1.5, 1.0, 1.0, 1.2] {
        trainer.record_best(validation_loss);
        step(&mut trainer, &mut model);
    }
    assert_eq!(steps_in(&folder.path().join("ck.best")), 3);
}

#[module(output = OutDim)]
struct Averaged<E, D> {
    online: Linear<InDim, OutDim, E, D>,
    average: Linear<InDim, OutDim, E, D>,
}

/// The loss that is recorded is that of a moving average, which is a field of the model.
#[test]
fn the_best_has_the_average_that_was_evaluated() {
    let (folder, device) = (temp_dir(), Cpu::seed_from_u64(1));
    let optimizer = GroupRates::new(Adam::default(), |p| if p.path.starts_with("average") { 0.0 } else { 1.0 });
    let mut trainer = Trainer::new(optimizer, 0.1, 6, 0);
    let mut model = Averaged::<f32, Cpu>::build(&device);
    model.average = model.online.clone();
    let mut average = MovingAverage::new(&model.online, 0.5);
    trainer.checkpoint_every(folder.path().join("ck"), 1).unwrap();
    let input: Tensor<(Const<1>, Const<1>, InDim), f32, Cpu> = full(&device, (Const, Const, InDim), 1.0).unwrap();
    let labels = LabelIds::from_ids(&[2], None, (Const::<1>, Const::<1>)).unwrap();
    let loss_of = |layer: &Tiny| {
        let loss = cross_entropy(layer.forward(input.clone()).unwrap(), &labels, Reduction::MeanAll);
        f64::from(loss.unwrap().array())
    };
    while let Some(step) = trainer.next_step() {
        if step.number > 0 {
            average.add(&model.online).unwrap();
            model.average = average.model().clone();
        }
        trainer.record_best(loss_of(&model.average));
        let logits = model.online.forward(input.clone().put_tape(model.recording())).unwrap();
        trainer.learn(&mut model, cross_entropy(logits, &labels, Reduction::MeanAll).unwrap(), 1).unwrap();
    }
    let best_of = |[kept, left_out]: [&str; 2]| -> Tiny {
        let map = format!("* = model.{kept}.*\nignore model.{left_out}.*\nignore optimizer.*").parse().unwrap();
        weights::load_mapped(trainer.best_checkpoint().unwrap(), &map, &device).unwrap()
    };
    assert_eq!(loss_of(&best_of(["average", "online"])), trainer.best_loss());
    assert_ne!(loss_of(&best_of(["online", "average"])), trainer.best_loss());
}

#[test]
fn the_newest_whole_checkpoint_is_resumed() {
    let folder = temp_dir();
    let path = saved(&folder, 3, 2);
    let whole = fs::read(&path).unwrap();
    // Otherwise the best one is another name of the newest.
    fs::remove_file(folder.path().join("ck.best")).unwrap();
    fs::copy(folder.path().join("ck.previous-1"), folder.path().join("ck.best")).unwrap();
    let mut damaged = whole.clone();
    *damaged.last_mut().unwrap() ^= 1;
    for (bytes, why) in [
        (&damaged[..], "`optimizer.exp_avg_sq.weight` is damaged: its checksum differs"),
        (&whole[..whole.len() / 2], "is damaged or not a safetensors file: "),
        (b"", "is damaged or not a safetensors file: it ends after 0 bytes"),
    ] {
        fs::write(&path, bytes).unwrap();
        let mut trainer = trainer();
        let _: Tiny = trainer.resume(&path, &Cpu::default()).unwrap();
        assert_eq!(trainer.steps_made(), 2);
        let [note @ ResumeNote::OlderCheckpoint { why: found, path: used, steps_made: 2 }] = trainer.resume_notes()
        else {
            panic!("{:?}", trainer.resume_notes());
        };
        assert!(found.contains(why), "{found}");
        assert_eq!(*used, path.with_file_name("ck.previous-1").canonicalize().unwrap());
        assert_eq!(note.to_string(), format!("{found}; the training goes on from {}, after step 2", used.display()));
    }
    // The training goes on there, and the damaged file is set aside.
    fs::write(&path, &damaged).unwrap();
    let mut trainer = trainer();
    let mut model: Tiny = trainer.resume(&path, &Cpu::default()).unwrap();
    trainer.checkpoint_every(&path, 1).unwrap();
    step(&mut trainer, &mut model);
    drop(trainer);
    assert_eq!(file_names(&folder), ["ck", "ck.best", "ck.damaged", "ck.previous-1"]);
    assert!(fs::read(&path).unwrap() == whole);
    assert!(fs::read(folder.path().join("ck.damaged")).unwrap() == damaged);
    assert_eq!(steps_in(&folder.path().join("ck.previous-1")), 2);

    // If none is whole, the error is that of the newest.
    for name in file_names(&folder) {
        fs::write(folder.path().join(name), "none").unwrap();
    }
    let error = crate::tiny_training::trainer().resume::<Tiny, _, _>(&path, &Cpu::default()).unwrap_err();
    assert!(matches!(error, ResumeError::Load { source: LoadError::Format { .. }, .. }), "{error}");
}

#[test]
fn a_training_goes_on_beside_a_checkpoint_that_is_missing() {
    let folder = temp_dir();
    let path = saved(&folder, 3, 2);
    fs::remove_file(&path).unwrap();
    let mut resumed = trainer();
    let mut model: Tiny = resumed.resume_or(&path, &Cpu::default(), || panic!("it begins again")).unwrap();
    let [ResumeNote::OlderCheckpoint { path: used, steps_made: 3, .. }] = resumed.resume_notes() else {
        panic!("{:?}", resumed.resume_notes());
    };
    assert!(used.ends_with("ck.best"), "{}", used.display());
    resumed.checkpoint_every(&path, 1).unwrap();
    step(&mut resumed, &mut model);
    resumed.finish().unwrap();
    drop(resumed);
    assert_eq!(steps_in(&path), 4);

    // Those of another training run are neither resumed nor passed over.
    fs::remove_file(&path).unwrap();
    let mut other = trainer();
    other.require_same("the batch", 3);
    let error = other.resume_or::<Tiny, _, _>(&path, &Cpu::default(), || panic!("it begins")).unwrap_err().to_string();
    assert!(error.ends_with("ck.best: the batch should be 3 but is absent"), "{error}");
    other.overwrite = true;
    let _: Tiny = other.resume_or(&path, &Cpu::default(), || Tiny::build(&Cpu::default())).unwrap();
    assert_eq!(other.steps_made(), 0);
}

#[test]
fn another_number_of_threads_is_said() {
    let folder = temp_dir();
    let path = saved(&folder, 1, 2);
    let before = rayon::current_num_threads();
    let other = rayon::ThreadPoolBuilder::new().num_threads(before + 1).build().unwrap();
    let notes = other.install(|| {
        let mut trainer = trainer();
        let _: Tiny = trainer.resume(&path, &Cpu::default()).unwrap();
        trainer.resume_notes().to_vec()
    });
    assert_eq!(notes, [ResumeNote::Threads { before, now: before + 1 }]);
}

// ---- Refused checkpoints ----

/// A step whose checkpoint its disk refuses. Returns where the checkpoint is saved.
fn refused_step(trainer: &mut Training, model: &mut Tiny, loss: f64) -> PathBuf {
    disk::inject(Some((0, Fault::Error(ErrorKind::StorageFull))));
    step_with_loss(trainer, model, Some(loss));
    disk::inject(None);
    match trainer.failures() {
        [TrainError::Save { saved_at: Some(saved_at), .. }] => saved_at.clone(),
        failures => panic!("{failures:?}"),
    }
}

/// The user has made room, perhaps by removing the checkpoint there: the best one may be the same.
#[test]
fn a_training_goes_on_where_its_checkpoint_was_refused() {
    check_refused([3.0, 1.0, 2.0], false, [5, 3, 2]);
    check_refused([3.0, 2.0, 1.0], true, [5, 2, 3]);
}

/// `steps` are those of the checkpoints in the end.
fn check_refused(losses: [f64; 3], is_removed: bool, steps: [usize; 3]) {
    let folder = temp_dir();
    let at = |name: &str| folder.path().join(name);
    let train = |name, losses: [f64; 3]| {
        let (mut trainer, mut model) = (trainer(), Tiny::build(&Cpu::seed_from_u64(1)));
        trainer.checkpoint_every(at(name), 1).unwrap();
        losses.into_iter().for_each(|loss| step_with_loss(&mut trainer, &mut model, Some(loss)));
        (trainer, model)
    };
    drop(train("other", [losses[0], losses[1], losses[2] + 0.1]));
    let (mut refused, mut model) = train("ck", losses);
    let saved_at = refused_step(&mut refused, &mut model, 2.5);
    drop(refused);
    if is_removed {
        ["ck", "other"].into_iter().for_each(|name| fs::remove_file(at(name)).unwrap());
    }

    let mut trainer = trainer();
    let mut model: Tiny = trainer.resume(&saved_at, &Cpu::default()).unwrap();
    // Another run is not taken for its beginning, even with the same settings and the same first loss.
    let error = trainer.checkpoint_every(at("other"), 1).unwrap_err();
    assert!(matches!(error, SaveError::Exists { found: NOT_RESUMED, .. }), "{error}");
    trainer.checkpoint_every(at("ck"), 1).unwrap();
    step_with_loss(&mut trainer, &mut model, Some(2.5));
    trainer.finish().unwrap();
    drop(trainer);
    assert_eq!(["ck", "ck.previous-1", "ck.best"].map(|name| steps_in(&at(name))), steps);

    // Another run has saved there meanwhile.
    let mut late = crate::tiny_training::trainer();
    let _: Tiny = late.resume(&saved_at, &Cpu::default()).unwrap();
    assert!(matches!(late.checkpoint_every(at("ck"), 1), Err(SaveError::Exists { .. })));
    fs::remove_dir_all(saved_at.parent().unwrap()).unwrap();
}

/// Its user needs the room, or the system cleans its folder of temporary files.
#[test]
fn a_copy_that_somebody_removes_is_saved_again() {
    let folder = temp_dir();
    let (mut trainer, mut model) = (trainer(), Tiny::build(&Cpu::seed_from_u64(1)));
    trainer.checkpoint_every(folder.path().join("ck"), 1).unwrap();
    let removed = refused_step(&mut trainer, &mut model, 2.0);
    fs::remove_dir_all(removed.parent().unwrap()).unwrap();
    let saved_at = refused_step(&mut trainer, &mut model, 2.0);
    assert_eq!(steps_in(&saved_at), 2);
    // One that is there keeps its place.
    assert_eq!(refused_step(&mut trainer, &mut model, 2.0), saved_at);
    assert_eq!(steps_in(&saved_at), 3);
    fs::remove_dir_all(saved_at.parent().unwrap()).unwrap();
}

// ---- Divergence ----

#[test]
fn a_diverged_training_keeps_its_best_checkpoint() {
    let folder = temp_dir();
    let path = folder.path().join("ck");
    let (mut trainer, mut model) = (trainer(), Tiny::build(&Cpu::seed_from_u64(1)));
    trainer.checkpoint_every(&path, 10).unwrap();
    for number in 0..60 {
        let loss = if number < 30 { 2.0 - f64::from(number) / 30.0 } else { 40.0 };
        step_with_loss(&mut trainer, &mut model, Some(loss));
    }
    let best = trainer.best_checkpoint().unwrap();
    let error = trainer.finish().unwrap_err();
    assert!(matches!(error, TrainError::Diverged { steps_made: 60, first_loss: 2.0, .. }), "{error:?}");
    drop(trainer);
    // None is saved while it is diverged.
    assert_eq!((steps_in(&path), steps_in(&best)), (30, 30));

    // It goes on from there, with another schedule if that is allowed.
    let mut slower = crate::tiny_training::trainer();
    slower.schedule = 0.001;
    let refused: Result<Tiny, _> = slower.resume(&best, &Cpu::default());
    assert!(matches!(refused.unwrap_err(), ResumeError::Setting { setting, .. } if setting == "the schedule"));
    slower.allow_other_schedule = true;
    let mut model: Tiny = slower.resume(&best, &Cpu::default()).unwrap();
    slower.checkpoint_every(&path, 1).unwrap();
    step_with_loss(&mut slower, &mut model, Some(0.5));
    slower.finish().unwrap();
    assert_eq!(slower.steps_made(), 31);

    // A checkpoint that is worse than the beginning is not the best of anything.
    let (mut bad, mut model) = (crate::tiny_training::trainer(), Tiny::build(&Cpu::seed_from_u64(1)));
    bad.checkpoint_every(folder.path().join("bad"), 2).unwrap();
    [1.0, 9.0, 8.0, 7.0].into_iter().for_each(|loss| step_with_loss(&mut bad, &mut model, Some(loss)));
    assert_eq!(bad.best_checkpoint(), None);
}

#[test]
fn a_short_training_diverges_too_and_replaces_nothing() {
    for losses in [vec![2.0, 1.9, 300.0], vec![2.0, 1.9, 2.0, 1.8, 8.0, 9.0, 11.0, 10.0, 12.0]] {
        let folder = temp_dir();
        let path = folder.path().join("ck");
        let (mut trainer, mut model) = (trainer(), Tiny::build(&Cpu::seed_from_u64(1)));
        trainer.checkpoint_every(&path, 1).unwrap();
        losses.iter().for_each(|&loss| step_with_loss(&mut trainer, &mut model, Some(loss)));
        let error = trainer.finish().unwrap_err();
        assert!(matches!(error, TrainError::Diverged { first_loss: 2.0, .. }), "{error}");
        drop(trainer);
        assert!(steps_in(&path) < losses.len());
        assert!(steps_in(&folder.path().join("ck.best")) < 5);
    }
    // Losses that vary are none.
    let (mut trainer, mut model) = (trainer(), Tiny::build(&Cpu::seed_from_u64(1)));
    for loss in [2.0, 3.5, 2.5, 4.0, 1.0] {
        step_with_loss(&mut trainer, &mut model, Some(loss));
        trainer.finish().unwrap();
    }
}

/// The first batch was an easy one.
#[test]
fn a_checkpoint_that_is_not_saved_is_said_during_the_training() {
    let folder = temp_dir();
    let path = folder.path().join("ck");
    let (mut trainer, mut model) = (trainer(), Tiny::build(&Cpu::seed_from_u64(1)));
    trainer.checkpoint_every(&path, 10).unwrap();
    let mut make = |trainer: &mut Training, loss| step_with_loss(trainer, &mut model, Some(loss));
    make(&mut trainer, 1.0);
    (0..29).for_each(|_| make(&mut trainer, 1.6));
    let [failure @ TrainError::Diverged { steps_made: 30, .. }] = trainer.failures() else {
        panic!("{:?}", trainer.failures());
    };
    assert!(failure.to_string().ends_with(", but it began at 1.0000, so no checkpoint is saved any more"), "{failure}");
    assert_eq!(steps_in(&path), 10);

    // It recovers.
    (0..10).for_each(|_| make(&mut trainer, 0.5));
    assert_eq!((trainer.failures().len(), steps_in(&path)), (0, 40));
    trainer.finish().unwrap();
}

/// Half of nearly nothing is nearly nothing: such a training could never be saved again.
#[test]
fn a_training_that_begins_near_0_is_not_judged_by_its_first_loss() {
    for losses in [[0.0, 1e-9, 3.0], [9e-4, 0.4, 0.2], [-1e-8, 0.3, 0.1]] {
        let folder = temp_dir();
        let path = folder.path().join("ck");
        let (mut trainer, mut model) = (trainer(), Tiny::build(&Cpu::seed_from_u64(1)));
        trainer.checkpoint_every(&path, 1).unwrap();
        losses.iter().for_each(|&loss| step_with_loss(&mut trainer, &mut model, Some(loss)));
        trainer.finish().unwrap();
        drop(trainer);
        assert_eq!(steps_in(&path), 3, "{losses:?}");
    }
    for losses in [[0.01, 0.4, 0.2], [-10.0, 300.0, 300.0]] {
        let (mut trainer, mut model) = (trainer(), Tiny::build(&Cpu::seed_from_u64(1)));
        losses.iter().for_each(|&loss| step_with_loss(&mut trainer, &mut model, Some(loss)));
        assert!(matches!(trainer.finish(), Err(TrainError::Diverged { .. })), "{losses:?}");
    }
}

/// A training may fail twice: its error is that of the checkpoint, which says where a copy is.
#[test]
fn a_failed_save_hides_no_divergence() {
    let folder = temp_dir();
    let (mut trainer, mut model) = (trainer(), Tiny::build(&Cpu::seed_from_u64(1)));
    trainer.checkpoint_every(folder.path().join("ck"), 1).unwrap();
    step_with_loss(&mut trainer, &mut model, Some(2.0));
    disk::inject(Some((0, Fault::DiskFull)));
    step_with_loss(&mut trainer, &mut model, Some(2.0));
    disk::inject(None);
    assert!(!trainer.is_diverged());
    step_with_loss(&mut trainer, &mut model, Some(40.0));
    assert!(matches!(trainer.finish(), Err(TrainError::Save { .. })));
    assert!(trainer.is_diverged());
}

/// The loss of a generator rises while the validation improves.
#[test]
fn a_loss_that_may_rise_is_saved() {
    let folder = temp_dir();
    let path = folder.path().join("ck");
    let (mut trainer, mut model) = (trainer(), Tiny::build(&Cpu::seed_from_u64(1)));
    trainer.loss_may_rise = true;
    trainer.checkpoint_every(&path, 1).unwrap();
    for loss in [0.7, 1.5, 3.0, 3.2] {
        trainer.record_best(-loss);
        step_with_loss(&mut trainer, &mut model, Some(loss));
    }
    let best = trainer.best_checkpoint().unwrap();
    trainer.finish().unwrap();
    drop(trainer);
    assert_eq!((steps_in(&path), steps_in(&best)), (4, 4));
}

// ---- Outputs that are not overwritten ----

#[test]
fn only_an_own_kind_of_file_is_replaced() {
    let folder = temp_dir();
    let at = |name: &str| folder.path().join(name);
    let model = Tiny::build(&Cpu::seed_from_u64(1));
    fs::write(at("notes"), "of great value").unwrap();
    weights::save(&model, at("weights")).unwrap();
    saved(&folder, 2, 2);
    let contents = || file_names(&folder).into_iter().map(|name| fs::read(at(&name)).unwrap()).collect::<Vec<_>>();
    let before = contents();

    let exists = |error: SaveError, name: &str, found: &str| {
        assert!(matches!(error, SaveError::Exists { .. }), "{error:?}");
        assert_eq!(error.to_string(), format!("{} is {found}; it is not overwritten", at(name).display()));
    };
    for (name, found) in [("notes", "not a file of weights"), ("ck", "the checkpoint of a training run")] {
        exists(weights::ensure_writable(at(name)).unwrap_err(), name, found);
        exists(weights::save(&model, at(name)).unwrap_err(), name, found);
    }
    for (name, found) in
        [("notes", "not a checkpoint"), ("weights", "a file of weights, not a checkpoint"), ("ck", NOT_RESUMED)]
    {
        exists(trainer().checkpoint_every(at(name), 1).unwrap_err(), name, found);
        if name != "ck" {
            exists(trainer().save(&model, at(name)).unwrap_err(), name, found);
        }
    }
    for name in ["notes", "weights", "ck"] {
        let error = Metrics::open(at(name), 0).unwrap_err();
        assert_eq!(error.to_string(), "it is not a file of metrics", "{name}");
    }
    assert!(contents() == before, "a file was changed");

    // The earlier checkpoints of another training run are not replaced either.
    fs::remove_file(at("ck")).unwrap();
    let error = trainer().checkpoint_every(at("ck"), 1).unwrap_err();
    assert!(matches!(error, SaveError::Exists { found: NOT_RESUMED, .. }));

    // Unless the caller says so.
    for name in ["notes", "ck"] {
        let (mut trainer, mut model) = (trainer(), Tiny::build(&Cpu::seed_from_u64(1)));
        trainer.overwrite = true;
        trainer.checkpoint_every(at(name), 1).unwrap();
        step(&mut trainer, &mut model);
        trainer.finish().unwrap();
        assert_eq!((steps_in(&at(name)), at(&format!("{name}.previous-1")).exists()), (1, false));
        assert_eq!(steps_in(&at(&format!("{name}.best"))), 1);
    }
    Metrics::overwrite(at("weights"), 0).unwrap().write(1, &[]).unwrap();
    assert_eq!(fs::read(at("weights")).unwrap(), b"{\"step\":1}\n");
}

#[test]
fn a_training_does_not_replace_what_another_one_saved_meanwhile() {
    let folder = temp_dir();
    let path = saved(&folder, 2, 2);
    let mut slow = trainer();
    let _: Tiny = slow.resume(&path, &Cpu::default()).unwrap();
    let mut fast = trainer();
    let mut model: Tiny = fast.resume(&path, &Cpu::default()).unwrap();
    fast.checkpoint_every(&path, 1).unwrap();
    step(&mut fast, &mut model);
    drop(fast);
    let error = slow.checkpoint_every(&path, 1).unwrap_err();
    let found = "no longer the checkpoint that this training run was resumed from";
    assert!(matches!(error, SaveError::Exists { found: why, .. } if why == found), "{error}");
    assert_eq!(steps_in(&path), 3);
}

#[test]
fn a_disk_without_room_is_an_error_before_the_first_step() {
    let error = weights::ensure_space(Path::new("weights"), u64::MAX).unwrap_err().to_string();
    assert!(
        error.starts_with("cannot write weights: 18446744073709551615 bytes are needed, but the disk has "),
        "{error}"
    );
}

/// The names of files beside it are longer: `NAME.previous-100.0.partial`.
#[test]
fn a_name_too_long_for_those_beside_it_is_an_error_before_the_first_step() {
    let folder = temp_dir();
    let checkpoint_every = |len| trainer().checkpoint_every(folder.path().join("c".repeat(len)), 1);
    let error = checkpoint_every(240).unwrap_err();
    assert!(matches!(error, SaveError::Write { .. }), "{error}");
    assert!(file_names(&folder).is_empty());
    checkpoint_every(230).unwrap();
}

// ---- Metrics ----

#[test]
fn metrics_that_cannot_be_continued_are_kept_under_another_name() {
    let folder = temp_dir();
    let path = folder.path().join("metrics");
    let line = |step: usize| format!("{{\"step\":{step},\"loss\":1}}\n");
    let lines = |steps: &[usize]| steps.iter().map(|&step| line(step)).collect::<String>();
    // The lines before, and those that remain if the training goes on after step 3.
    for (before, remains) in [
        (String::new(), Some(String::new())),
        (lines(&[1, 2, 3]), Some(lines(&[1, 2, 3]))),
        (lines(&[1, 2, 3, 4, 5]), Some(lines(&[1, 2, 3]))),
        (lines(&[1, 2, 3]) + "{\"step\":4,", Some(lines(&[1, 2, 3]))),
        (lines(&[2, 3, 4]), Some(lines(&[2, 3]))),
        // The metrics began at a later step.
        (lines(&[4, 5]), Some(String::new())),
        // A line is missing, twice there, cut off or damaged.
        (lines(&[1, 3]), None),
        (lines(&[1, 2]), None),
        (lines(&[1, 2, 2, 3]), None),
        (lines(&[1, 2]) + "{\"step\":3,", None),
        (lines(&[1, 2]) + "{\"step\":\n" + &line(3), None),
        (lines(&[5, 6]), None),
        // What would be removed is not metrics, or not only.
        (lines(&[1, 2, 3]) + "of great value\n", None),
        (lines(&[1, 2, 3, 4]) + "{\"step\":5,\"event\":\"deploy\"}\n" + &line(6), None),
        (lines(&[4]) + "of great value\n", None),
    ] {
        fs::write(&path, &before).unwrap();
        let mut metrics = Metrics::open(&path, 3).unwrap();
        let kept = folder.path().join("metrics.kept-1");
        match &remains {
            // Nothing is removed before the first line is written.
            Some(_) => {
                assert_eq!(metrics.kept(), None, "{before}");
                assert_eq!(fs::read_to_string(&path).unwrap(), before);
            }
            None => {
                assert_eq!(metrics.kept(), Some(&*kept), "{before}");
                assert_eq!(fs::read_to_string(&kept).unwrap(), before);
                fs::remove_file(kept).unwrap();
            }
        }
        metrics.write(4, &[("loss", 1.0)]).unwrap();
        let expected = remains.unwrap_or_default() + "{\"step\":4,\"loss\":1.0}\n";
        assert_eq!(fs::read_to_string(&path).unwrap(), expected);
        // Another training run cannot write it at the same time.
        assert_eq!(Metrics::open(&path, 0).unwrap_err().to_string(), "another training run writes it");
    }
}

#[test]
fn a_training_without_a_step_removes_no_line() {
    let folder = temp_dir();
    let path = folder.path().join("metrics");
    let lines = "{\"step\":1,\"loss\":1}\n{\"step\":2,\"loss\":1}\n";
    fs::write(&path, lines).unwrap();
    let mut trainer = trainer();
    trainer.metrics = Some(Metrics::open(&path, 0).unwrap());
    trainer.finish().unwrap();
    drop(trainer);
    assert_eq!(fs::read_to_string(&path).unwrap(), lines);
}

#[test]
fn a_first_line_that_is_cut_off_is_removed() {
    let folder = temp_dir();
    let path = folder.path().join("metrics");
    let line = "{\"step\":1,\"loss\":1.5}";
    for len in 1..=line.len() {
        fs::write(&path, &line[..len]).unwrap();
        let mut metrics = Metrics::open(&path, 0).unwrap();
        metrics.write(1, &[]).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"step\":1}\n", "{}", &line[..len]);
    }
    // What is whole, or begins in another way, is not of metrics.
    for text in ["{\"step\":1,\"event\":\"deploy\"}", "{\"steps\":1,", "[", "{}", "{\"step\":\n"] {
        fs::write(&path, text).unwrap();
        assert_eq!(Metrics::open(&path, 0).unwrap_err().to_string(), "it is not a file of metrics", "{text}");
    }
}

#[test]
fn a_line_that_could_not_be_read_again_is_not_written() {
    let folder = temp_dir();
    let path = folder.path().join("metrics");
    let mut metrics = Metrics::open(&path, 0).unwrap();
    metrics.log("step", 3.0);
    let error = metrics.write(1, &[("loss", 1.0)]).unwrap_err();
    assert_eq!(error.to_string(), "a value is named `step`, as the number of the step is");
    metrics.log(&"x".repeat(1 << 20), 3.0);
    let error = metrics.write(1, &[("loss", 1.0)]).unwrap_err();
    assert_eq!(error.to_string(), "its line would have 1048605 bytes, but 1048576 are the maximum");
    // Readers of JSON keep one of two values.
    metrics.log("loss", 3.0);
    let error = metrics.write(1, &[("loss", 1.0)]).unwrap_err();
    assert_eq!(error.to_string(), "two values of step 1 are named `loss`");
    metrics.write(1, &[("loss", 1.0)]).unwrap();
    drop(metrics);
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"step\":1,\"loss\":1.0}\n");
    Metrics::open(&path, 1).unwrap();
}
