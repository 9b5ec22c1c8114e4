//! The outputs of a training run beside its checkpoints: locks, metrics, and files that are not its own.

use crate::support::{file_names, temp_dir};
use crate::tiny_training::{OutDim, Tiny, saved, step, step_with_loss, steps_in, trainer};
use std::fs;
use typed_transformer::nn::Linear;
use typed_transformer::prelude::*;
use typed_transformer::ranks;
use typed_transformer::ranks::{Partial, Ranks};
use typed_transformer::train::{
    Adam, GradientsOf, Metrics, ResumeNote, ShardedState, TrainError, Trainer, checkpoint_of, ensure_not_of_checkpoint,
};
use typed_transformer::weights::{self, SaveError, disk};

ranks! { World; }

// ---- Files that are not its own ----

#[test]
fn a_file_with_the_name_of_a_lock_is_not_touched() {
    for content in ["of great value", "[[package]]\n", "12345678901", "17 "] {
        let folder = temp_dir();
        let path = folder.path().join("Cargo.lock");
        fs::write(&path, content).unwrap();
        for overwrite in [false, true] {
            let mut trainer = trainer();
            trainer.overwrite = overwrite;
            let error = trainer.checkpoint_every(folder.path().join("Cargo"), 1).unwrap_err().to_string();
            assert!(error.ends_with("Cargo.lock: it is not the lock of a checkpoint"), "{error}");
            assert!(trainer.save(&Tiny::build(&Cpu::default()), folder.path().join("Cargo")).is_err());
            drop(trainer);
            assert_eq!(fs::read_to_string(&path).unwrap(), content);
        }
        assert_eq!(file_names(&folder), ["Cargo.lock"]);
    }
    // The lock of a process that was killed is one.
    let folder = temp_dir();
    fs::write(folder.path().join("ck.lock"), "4194303").unwrap();
    saved(&folder, 1, 1);
    assert_eq!(file_names(&folder), ["ck", "ck.best"]);
}

#[test]
fn an_output_beside_a_checkpoint_is_refused() {
    let folder = temp_dir();
    let at = |name: &str| folder.path().join(name);
    let names = ["ck.best", "ck.previous-1", "ck.previous-12", "ck.damaged", "ck.damaged-2", "ck.lock", "ck.0.partial"];
    for name in names.into_iter().chain(["ck.best.3.partial"]) {
        let error = ensure_not_of_checkpoint(at(name), at("ck")).unwrap_err();
        assert!(matches!(error, SaveError::PartOfCheckpoint { .. }), "{name}: {error}");
    }
    assert!(matches!(ensure_not_of_checkpoint(at("./ck"), at("ck")), Err(SaveError::SamePath { .. })));
    for name in ["ck.bes", "ck.best2", "ck.previous-", "ck.previous-x", "ck2", "c", "ck.partial", "ck.x.partial"] {
        ensure_not_of_checkpoint(at(name), at("ck")).unwrap();
    }
    ensure_not_of_checkpoint("other/ck.best", "ck").unwrap();

    // The metrics of a training run are one of these outputs, whichever comes first.
    for name in ["ck", "ck.best", "ck.previous-1"] {
        let mut first = trainer();
        first.metrics = Some(Metrics::open(at(name), 0).unwrap());
        let error = first.checkpoint_every(at("ck"), 1).unwrap_err().to_string();
        assert!(error.ends_with("are the same file") || error.ends_with("is given for two files"), "{error}");
        fs::remove_file(at(name)).unwrap();

        let (mut second, mut model) = (trainer(), Tiny::build(&Cpu::default()));
        second.checkpoint_every(at("ck"), 1).unwrap();
        second.metrics = Some(Metrics::open(at(name), 0).unwrap());
        let _step = second.next_step().unwrap();
        let loss = dfdx::tensor_ops::SumTo::sum::<(), _>(model.bias.clone().put_tape(model.recording()));
        let error = second.update(&mut model, loss.backward().unwrap(), 1.0, 1).unwrap_err();
        assert!(matches!(error, TrainError::Save { saved_at: None, .. }), "{error}");
        assert_eq!(fs::read(at(name)).unwrap(), b"");
        fs::remove_file(at(name)).unwrap();
    }
}

/// A file's name need not be text.
#[cfg(target_os = "linux")]
#[test]
fn a_training_goes_on_from_an_earlier_checkpoint_whatever_its_name() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};
    let folder = temp_dir();
    let at = |name: &[u8]| folder.path().join(OsStr::from_bytes(name));
    let path = at(b"run\xff");
    fs::rename(saved(&folder, 3, 2), &path).unwrap();
    fs::rename(at(b"ck.previous-1"), at(b"run\xff.previous-1")).unwrap();
    assert_eq!(checkpoint_of(at(b"run\xff.previous-1")), path);
    assert_eq!(checkpoint_of("run.previous-+1"), std::path::Path::new("run.previous-+1"));
    fs::write(&path, "damaged").unwrap();
    let mut trainer = trainer();
    let mut model: Tiny = trainer.resume(&path, &Cpu::default()).unwrap();
    trainer.checkpoint_every(&path, 1).unwrap();
    step(&mut trainer, &mut model);
    drop(trainer);
    assert_eq!(steps_in(&path), 3);
    // One with the name of a file beside another is refused.
    for name in [&b"a\xff.best"[..], b"a\xff.previous-7", b"a\xff.best.damaged-2", b"a\xff.x.0.partial"] {
        let result = crate::tiny_training::trainer().checkpoint_every(at(name), 1);
        let Err(SaveError::PartOfCheckpoint { checkpoint, .. }) = result else { panic!("{result:?}") };
        let base = if name.ends_with(b"partial") { &b"a\xff.x"[..] } else { b"a\xff" };
        assert_eq!(checkpoint.file_name(), Some(OsStr::from_bytes(base)));
    }
}

#[test]
fn a_single_save_does_not_replace_the_checkpoint_of_another_training() {
    let folder = temp_dir();
    let path = saved(&folder, 2, 1);
    let model = Tiny::build(&Cpu::seed_from_u64(1));
    let mut other = trainer();
    other.require_same("the batch", 3);
    let error = other.save(&model, &path).unwrap_err().to_string();
    assert!(error.ends_with("is the checkpoint of another training run; it is not overwritten"), "{error}");
    assert_eq!(steps_in(&path), 2);
    trainer().save(&model, &path).unwrap();
    assert_eq!(steps_in(&path), 0);
    other.overwrite = true;
    other.save(&model, &path).unwrap();
}

// ---- The optimizer's state of several ranks ----

dims! { EmbedDim = 3; VocabSize = 5; }

#[test]
fn a_part_of_the_state_is_not_saved_as_the_whole() {
    type Model = Linear<EmbedDim, VocabSize, f32, Cpu>;
    let folder = temp_dir();
    let path = folder.path().join("ck");
    Ranks::<World>::in_threads(2, |ranks| {
        let optimizer = ShardedState::new(Adam::default(), ranks);
        let mut trainer: Trainer<ShardedState<Adam<Model, f32>, World>, _> = Trainer::new(optimizer, 0.1, 4, 0);
        let mut model = Model::build(&Cpu::seed_from_u64(1));
        if ranks.is_first() {
            // Without a step there is nothing to gather.
            trainer.save(&model, &path).unwrap();
            trainer.checkpoint_every(folder.path().join("every"), 1).unwrap();
        }
        let _step = trainer.next_step().unwrap();
        let loss = dfdx::tensor_ops::SumTo::sum::<(), _>(model.bias.clone().put_tape(model.recording()));
        let gradients = loss.backward().unwrap().allow_unused(&model);
        trainer.update(&mut model, gradients, 1.0, 1).unwrap();
        if ranks.is_first() {
            let error = trainer.save(&model, &path).unwrap_err().to_string();
            assert!(error.contains("the state is sharded over the ranks"), "{error}");
            let failures = trainer.failures();
            assert!(matches!(failures, [TrainError::Save { saved_at: None, .. }]), "{failures:?}");
            assert!(!folder.path().join("every").exists());
        }
    });
    // The whole checkpoint is still there.
    assert!(weights::metadata(&path).unwrap()["training"].contains("\"step\":0"));
}

#[test]
fn a_parameter_without_elements_has_its_place_in_the_state() {
    dims! { Nothing = 0; }
    #[module]
    struct Two<E, D> {
        empty: Linear<EmbedDim, Nothing, E, D>,
        other: Linear<EmbedDim, VocabSize, E, D>,
    }
    type Model = Two<f32, Cpu>;
    let folder = temp_dir();
    let path = folder.path().join("ck");
    let ranks = Ranks::<World>::single().unwrap();
    let mut trainer: Trainer<ShardedState<Adam<Model, f32>, World>, _> =
        Trainer::new(ShardedState::new(Adam::default(), &ranks), 0.1, 4, 0);
    let device = Cpu::default();
    let mut model = Model::build(&device);
    let loss = dfdx::tensor_ops::SumTo::sum::<(), _>(model.other.bias.clone().put_tape(model.recording()));
    let gradients = loss.backward().unwrap().allow_unused(&model);
    trainer.update(&mut model, gradients, 1.0, 1).unwrap();
    trainer.save(&model, &path).unwrap();
    let resumed: Model = trainer.resume(&path, &device).unwrap();
    assert_eq!(resumed.other.bias.as_vec(), model.other.bias.as_vec());
}

#[test]
fn another_number_of_ranks_is_said() {
    let folder = temp_dir();
    let path = saved(&folder, 1, 1);
    let header = &weights::metadata(&path).unwrap()["training"];
    assert!(header.contains("\"ranks\":1"), "{header}");
    Ranks::<World>::in_threads(2, |ranks| {
        let mut trainer = trainer();
        if ranks.is_first() {
            let _: Tiny = trainer.resume(&path, &Cpu::default()).unwrap();
            assert_eq!(trainer.resume_notes(), []);
        }
        trainer.replicate(ranks, &Cpu::default()).unwrap();
        if ranks.is_first() {
            let notes = trainer.resume_notes();
            assert_eq!(notes, [ResumeNote::Ranks { before: 1, now: 2 }]);
            assert!(notes[0].to_string().starts_with("the training ran with 1 ranks and goes on with 2, so "));
            let model = Tiny::build(&Cpu::seed_from_u64(1));
            trainer.save(&model, folder.path().join("two")).unwrap();
        }
    });
    let mut alone = trainer();
    let _: Tiny = alone.resume(folder.path().join("two"), &Cpu::default()).unwrap();
    assert_eq!(alone.resume_notes(), [ResumeNote::Ranks { before: 2, now: 1 }]);
    // Each rank may resume by itself.
    let notes = Ranks::<World>::in_threads(2, |ranks| {
        let mut trainer = trainer();
        let model: Tiny = trainer.resume(&path, &Cpu::default()).unwrap();
        let mut model = ranks.replicate(model).unwrap();
        let gradients = Partial::term(GradientsOf::zeros(&*model)).all_reduce(ranks, &model).unwrap();
        let gradients = gradients.allow_unused(&*model);
        trainer.update_replicated(ranks, &mut model, gradients, Partial::term(1.0), 1).unwrap();
        trainer.resume_notes().to_vec()
    });
    assert_eq!(notes, [[ResumeNote::Ranks { before: 1, now: 2 }], [ResumeNote::Ranks { before: 1, now: 2 }]]);
}

// ---- The best checkpoint ----

/// Losses that are recorded at other steps than those of the checkpoints.
#[test]
fn a_diverged_checkpoint_is_not_the_best_of_recorded_losses() {
    let folder = temp_dir();
    let path = folder.path().join("ck");
    let (mut trainer, mut model) = (trainer(), Tiny::build(&Cpu::seed_from_u64(1)));
    trainer.checkpoint_every(&path, 10).unwrap();
    for number in 0..60 {
        let loss = if number < 25 { 2.0 - f64::from(number) / 30.0 } else { 40.0 };
        if number % 4 == 0 {
            trainer.record_best(loss);
        }
        step_with_loss(&mut trainer, &mut model, Some(loss));
    }
    let best = trainer.best_checkpoint().unwrap();
    drop(trainer);
    assert_eq!(steps_in(&best), 20);
    // None is saved while it is diverged.
    assert_eq!(steps_in(&path), 20);

    // A loss that is not a number is recorded as none.
    let (mut trainer, mut model) = (crate::tiny_training::trainer(), Tiny::build(&Cpu::seed_from_u64(1)));
    trainer.checkpoint_every(folder.path().join("nan"), 1).unwrap();
    for loss in [2.0, f64::NAN] {
        trainer.record_best(loss);
        step(&mut trainer, &mut model);
    }
    trainer.finish().unwrap();
    drop(trainer);
    let steps = ["nan", "nan.best"].map(|name| steps_in(&folder.path().join(name)));
    assert_eq!(steps, [2, 1]);
}

// ---- Weights ----

/// A model that diverged in the last step.
#[test]
fn weights_that_could_not_be_loaded_are_not_saved() {
    let folder = temp_dir();
    let path = folder.path().join("weights");
    let mut model = Tiny::build(&Cpu::seed_from_u64(1));
    weights::save(&model, &path).unwrap();
    let before = fs::read(&path).unwrap();
    for value in [f32::NAN, f32::NEG_INFINITY] {
        model.bias = Cpu::default().tensor_from_vec(vec![0.0, value, 0.0], (OutDim,));
        for error in [
            weights::save(&model, &path).unwrap_err(),
            weights::save_with_metadata(&model, &path, Default::default(), true).unwrap_err(),
            weights::save_elsewhere(&model, &path, Default::default()).map(drop).unwrap_err(),
        ] {
            assert!(error.to_string().ends_with(&format!("`bias` holds {value} at position 1")), "{error}");
        }
        assert!(fs::read(&path).unwrap() == before);
    }
    assert_eq!(file_names(&folder), ["weights"]);
}

// ---- Room on the disk ----

#[test]
fn the_first_step_is_not_made_on_a_disk_without_room() {
    let folder = temp_dir();
    let path = saved(&folder, 3, 2);
    let mut trainer = trainer();
    let mut model: Tiny = trainer.resume(&path, &Cpu::default()).unwrap();
    trainer.checkpoint_every(&path, 1).unwrap();
    let before = model.bias.as_vec();
    let mut update = |free_bytes| {
        let _step = trainer.next_step().unwrap();
        let loss = dfdx::tensor_ops::SumTo::sum::<(), _>(model.bias.clone().put_tape(model.recording()));
        disk::inject_free_bytes(Some(free_bytes));
        let gradients = loss.backward().unwrap().allow_unused(&model.weight);
        let result = trainer.update(&mut model, gradients, 1.0, 1);
        disk::inject_free_bytes(None);
        result.map(|_| ())
    };
    // Two are kept, the best and one that is being written are others, and the best is now the newest.
    let len_bytes = fs::metadata(&path).unwrap().len();
    let error = update(2 * len_bytes - 1).unwrap_err();
    let TrainError::Save { source: SaveError::Space { needed_bytes, .. }, saved_at: None } = error else {
        panic!("{error}");
    };
    assert!((2 * len_bytes..3 * len_bytes).contains(&needed_bytes), "{needed_bytes} for two of {len_bytes}");
    update(needed_bytes - 1).unwrap_err();
    update(needed_bytes).unwrap();
    assert_ne!(model.bias.as_vec(), before);
}

// ---- Metrics ----

#[test]
fn the_log_of_another_program_is_not_metrics() {
    let folder = temp_dir();
    let path = folder.path().join("log");
    let log = "{\"step\":7,\"event\":\"deploy\"}\nof great value\n";
    fs::write(&path, log).unwrap();
    for steps in [0, 3] {
        assert_eq!(Metrics::open(&path, steps).unwrap_err().to_string(), "it is not a file of metrics");
        assert_eq!(fs::read_to_string(&path).unwrap(), log);
    }
    let lines = "{\"step\":1,\"loss\":1}\n{\"step\":2,\"loss\":null}\n";
    fs::write(&path, format!("{lines}of great value\n")).unwrap();
    let mut metrics = Metrics::open(&path, 0).unwrap();
    let kept = metrics.kept().unwrap().to_path_buf();
    metrics.write(1, &[]).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"step\":1}\n");
    assert_eq!(fs::read_to_string(kept).unwrap(), format!("{lines}of great value\n"));
}

#[test]
fn metrics_go_back_with_a_training_that_is_resumed() {
    let folder = temp_dir();
    let [path, metrics] = ["ck", "metrics"].map(|name| folder.path().join(name));
    let steps = || -> Vec<u64> {
        let lines = fs::read_to_string(&metrics).unwrap();
        let step = |line| serde_json::from_str::<serde_json::Value>(line).unwrap()["step"].as_u64().unwrap();
        lines.lines().map(step).collect()
    };
    let (mut first, mut model) = (trainer(), Tiny::build(&Cpu::seed_from_u64(1)));
    first.checkpoint_every(&path, 2).unwrap();
    first.metrics = Some(Metrics::open(&metrics, 0).unwrap());
    (0..3).for_each(|_| step(&mut first, &mut model));
    model = first.resume(&path, &Cpu::default()).unwrap();
    (0..2).for_each(|_| step(&mut first, &mut model));
    first.finish().unwrap();
    drop(first);
    assert_eq!(steps(), [1, 2, 3, 4]);

    // Metrics that were opened before it keep the lines of earlier steps.
    let mut next = trainer();
    next.metrics = Some(Metrics::open(&metrics, next.steps_made()).unwrap());
    model = next.resume(&path, &Cpu::default()).unwrap();
    step(&mut next, &mut model);
    next.finish().unwrap();
    assert_eq!(steps(), [1, 2, 3, 4, 5]);
}

/// Nobody reads a pipe, or its reader is slow, or goes away.
#[cfg(target_os = "linux")]
#[test]
fn metrics_into_a_pipe_never_wait() {
    use std::{fs::OpenOptions, os::unix::fs::OpenOptionsExt};
    let folder = temp_dir();
    let path = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    assert!(Metrics::open(&path, 0).is_err());
    // O_NONBLOCK, so that opening does not wait for a writer.
    let reader = OpenOptions::new().read(true).custom_flags(0o4000).open(&path).unwrap();
    Metrics::overwrite(&path, 0).unwrap().write(1, &[("loss", 1.0)]).unwrap();
    let mut metrics = Metrics::open(&path, 0).unwrap();
    let error = (1..100_000).find_map(|step| metrics.write(step, &[("loss", 1.0)]).err()).unwrap();
    assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
    drop(reader);
    assert_eq!(metrics.write(1, &[]).unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
}

#[cfg(all(feature = "plot", target_os = "linux"))]
#[test]
fn curves_of_a_pipe_or_a_device_are_an_error() {
    let folder = temp_dir();
    let path = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    for path in [&path, std::path::Path::new("/dev/zero"), folder.path()] {
        let error = typed_transformer::plot::training_curves(path).unwrap_err().to_string();
        assert!(error.contains("not a regular file") || error.contains("is a directory"), "{error}");
    }
}
