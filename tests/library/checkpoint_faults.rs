//! A training run of five saves that meets a fault or is killed at any file-system call, from its resume to its end. The
//! next run goes on from there to the same files, byte by byte; nothing is set aside, left over or deleted.

use crate::support::{RELIABILITY, file_names, print_figure, temp_dir};
use crate::tiny_training::{Tiny, Training, step, steps_in};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};
use std::{env, fs};
use tempfile::TempDir;
use typed_transformer::prelude::*;
use typed_transformer::train::{Adam, ResumeNote, TrainError, Trainer};
use typed_transformer::weights;
use typed_transformer::weights::disk::{self, Fault};

/// The losses that each step records. The second is the lowest.
const LOSSES: [f64; 6] = [5.0, 1.0, 4.0, 3.0, 3.0, 2.0];
/// The files at the end.
const FILES: [&str; 3] = ["ck", "ck.best", "ck.previous-1"];

/// Resumes the training run at `path`, if there is one, and makes its steps up to this number. The failures of the run.
fn train(path: &Path, steps: usize) -> Result<Vec<TrainError>, Box<dyn std::error::Error>> {
    let mut trainer: Training = Trainer::new(Adam::default(), 0.01, steps, 0);
    let mut model = match path.exists() {
        true => trainer.resume(path, &Cpu::default())?,
        false => Tiny::build(&Cpu::seed_from_u64(1)),
    };
    trainer.checkpoint_every(path, 1)?;
    assert_eq!(trainer.resume_notes(), []);
    while trainer.steps_made() < steps {
        trainer.record_best(LOSSES[trainer.steps_made()]);
        step(&mut trainer, &mut model);
    }
    let mut failures: Vec<TrainError> = trainer.finish().err().into_iter().collect();
    failures.extend(std::iter::from_fn(|| trainer.finish().err()));
    Ok(failures)
}

/// A folder with the first checkpoint.
fn folder_with_checkpoint() -> (TempDir, PathBuf) {
    let folder = temp_dir();
    let path = folder.path().join("ck");
    assert!(train(&path, 1).unwrap().is_empty());
    (folder, path)
}

fn contents(folder: &TempDir) -> Vec<Vec<u8>> {
    assert_eq!(file_names(folder), FILES);
    checkpoints(folder)
}

fn checkpoints(folder: &TempDir) -> Vec<Vec<u8>> {
    FILES.iter().map(|name| fs::read(folder.path().join(name)).unwrap()).collect()
}

/// The files of a training run without a fault, and its number of calls.
fn uninterrupted() -> (Vec<Vec<u8>>, usize) {
    let (folder, path) = folder_with_checkpoint();
    disk::inject(None);
    assert!(train(&path, 6).unwrap().is_empty());
    let calls = disk::calls();
    assert_eq!(FILES.map(|name| steps_in(&folder.path().join(name))), [6, 2, 5]);
    (contents(&folder), calls)
}

/// Asserts that the newest and the best are whole before the next run, and that it makes them what they should be.
#[track_caller]
fn assert_goes_on(folder: &TempDir, whole: &[Vec<u8>], what: &str) {
    let path = folder.path().join("ck");
    let (newest, best) = (steps_in(&path), steps_in(&folder.path().join("ck.best")));
    assert!(best == 2 || newest == 1 && best == 1, "{what}: the best of {newest} steps is {best}");
    let failures = train(&path, 6).unwrap();
    assert!(failures.is_empty(), "{what}: {failures:?}");
    let found = contents(folder);
    // The one before the newest is lost if the last run had nothing to do.
    assert!(found[..2] == whole[..2], "{what}");
}

/// Lets each `stride`-th call fail.
fn inject_errors(stride: usize, kinds: &[ErrorKind]) {
    let (whole, calls) = uninterrupted();
    assert!(calls > 100, "{calls}");
    assert!(RELIABILITY.contains(&format!("{calls} file-system calls: an error")), "{calls} calls");
    for call in (0..calls).step_by(stride) {
        for &kind in kinds {
            let what = format!("{kind:?} at call {call} of {calls}");
            let (folder, path) = folder_with_checkpoint();
            disk::inject(Some((call, Fault::Error(kind))));
            let failures = train(&path, 6);
            disk::inject(None);
            // It is tried again, so it fails only before the first step.
            assert!(failures.unwrap_or_default().is_empty(), "{what}");
            assert_goes_on(&folder, &whole, &what);
        }
    }
    if stride == 1 {
        print_figure(&format!(
            "{calls} calls: errors of {} kinds at each, no checkpoint lost, no file left",
            kinds.len()
        ));
    }
}

#[test]
fn an_error_at_a_call_of_five_saves_loses_and_leaves_nothing() {
    inject_errors(5, &[ErrorKind::Other]);
}

#[test]
#[ignore = "takes a minute"]
fn an_error_at_each_call_of_five_saves_loses_and_leaves_nothing() {
    inject_errors(1, &[ErrorKind::Other, ErrorKind::PermissionDenied, ErrorKind::Interrupted]);
}

/// A save has renamed its file when the sync of the folder fails.
#[test]
fn an_error_at_any_call_of_the_last_save_keeps_the_checkpoint_before() {
    let (whole, calls) = uninterrupted();
    for call in calls - 25..calls {
        let (folder, path) = folder_with_checkpoint();
        disk::inject(Some((call, Fault::Error(ErrorKind::Other))));
        let failures = train(&path, 6);
        disk::inject(None);
        assert!(failures.unwrap().is_empty(), "call {call} of {calls}");
        // The lock may be left, whose removal is the last call.
        assert!(checkpoints(&folder) == whole, "call {call} of {calls}");
    }
}

/// Network shares under macOS sync a file in another way.
#[cfg(unix)]
#[test]
fn weights_are_saved_where_a_file_system_has_no_full_sync() {
    let folder = temp_dir();
    let save = |name: &str| weights::save(&Tiny::build(&Cpu::seed_from_u64(1)), folder.path().join(name));
    disk::inject(None);
    save("whole").unwrap();
    // After the sync of the file come its rename and the sync of its folder.
    disk::inject(Some((disk::calls() - 3, Fault::Error(ErrorKind::Unsupported))));
    save("saved").unwrap();
    disk::inject(None);
    let [whole, saved] = ["whole", "saved"].map(|name| fs::read(folder.path().join(name)).unwrap());
    assert!(saved == whole);
}

/// The status of a process that runs the test `test` with these faults. 9 is its end without a kill.
fn run_with(test: &str, folder: &TempDir, faults: &str) -> Option<i32> {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", test, "--include-ignored"]).env(CALLS, faults).current_dir(folder.path());
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().code()
}

const CALLS: &str = "TYPED_TRANSFORMER_TEST_CALLS";

/// Trains in a process of `run_with`. An error is injected at the first of two calls, and a kill at the last.
fn train_as_child() {
    let Some(calls) = env::var_os(CALLS) else { return };
    let calls: Vec<usize> = calls.to_str().unwrap().split(',').map(|call| call.parse().unwrap()).collect();
    match *calls {
        [kill] => disk::inject(Some((kill, Fault::Kill))),
        [error, kill] => disk::inject([(error, Fault::Error(ErrorKind::Other)), (kill, Fault::Kill)]),
        _ => unreachable!(),
    }
    let _ = train(Path::new("ck"), 6);
    process::exit(9);
}

/// Kills a training run at each `stride`-th call. The number of kills.
fn inject_kills(test: &str, stride: usize) -> usize {
    let (whole, calls) = uninterrupted();
    let kills = (0..calls).step_by(stride);
    for call in kills.clone() {
        let (folder, _) = folder_with_checkpoint();
        assert_ne!(run_with(test, &folder, &call.to_string()), Some(9), "call {call} of {calls}");
        assert_goes_on(&folder, &whole, &format!("killed at call {call} of {calls}"));
    }
    kills.len()
}

#[test]
fn a_kill_at_a_call_of_five_saves_loses_and_leaves_nothing() {
    train_as_child();
    inject_kills("checkpoint_faults::a_kill_at_a_call_of_five_saves_loses_and_leaves_nothing", 11);
}

#[test]
#[ignore = "takes minutes"]
fn a_kill_at_each_call_of_five_saves_and_after_each_error_loses_and_leaves_nothing() {
    const TEST: &str =
        "checkpoint_faults::a_kill_at_each_call_of_five_saves_and_after_each_error_loses_and_leaves_nothing";
    train_as_child();
    let kills = inject_kills(TEST, 1);
    let (whole, calls) = uninterrupted();
    let mut pairs = 0;
    // The first 30 calls are those of the resume and of the first save.
    for error in 0..30 {
        for kill in error + 1..calls {
            let (folder, _) = folder_with_checkpoint();
            run_with(TEST, &folder, &format!("{error},{kill}"));
            assert_goes_on(&folder, &whole, &format!("an error at call {error} and a kill at {kill} of {calls}"));
            pairs += 1;
        }
    }
    print_figure(&format!("{kills} kills and {pairs} errors with a kill: no checkpoint lost, no file left"));
}

// ---- What a training run did not write ----

#[test]
fn a_file_that_this_crate_did_not_write_is_not_removed() {
    let (folder, path) = folder_with_checkpoint();
    let at = |name: &str| folder.path().join(name);
    for name in ["ck.0.partial", "ck.best.1.partial", "w.0.partial"] {
        fs::write(at(name), "of great value").unwrap();
    }
    // Those of killed writers: empty, at its beginning, and complete.
    let checkpoint = fs::read(&path).unwrap();
    fs::write(at("ck.1.partial"), "").unwrap();
    fs::write(at("ck.2.partial"), &checkpoint[..1_000]).unwrap();
    fs::write(at("w.1.partial"), &checkpoint).unwrap();
    // One that another process is writing.
    fs::write(at("w.2.partial"), &checkpoint).unwrap();
    let writer = fs::File::open(at("w.2.partial")).unwrap();
    writer.try_lock().unwrap();
    assert!(train(&path, 3).unwrap().is_empty());
    weights::save(&Tiny::build(&Cpu::default()), at("w")).unwrap();
    let kept =
        ["ck", "ck.0.partial", "ck.best", "ck.best.1.partial", "ck.previous-1", "w", "w.0.partial", "w.2.partial"];
    assert_eq!(file_names(&folder), kept);
}

#[test]
fn what_is_set_aside_is_said() {
    let (folder, path) = folder_with_checkpoint();
    let at = |name: &str| folder.path().join(name);
    fs::remove_file(at("ck.best")).unwrap(); // It has the name of the newest, too.
    fs::write(at("ck.best"), "of great value").unwrap();
    let mut trainer: Training = Trainer::new(Adam::default(), 0.01, 6, 0);
    let _: Tiny = trainer.resume(&path, &Cpu::default()).unwrap();
    trainer.checkpoint_every(&path, 1).unwrap();
    let [note @ ResumeNote::SetAside { .. }] = trainer.resume_notes() else { panic!("{:?}", trainer.resume_notes()) };
    let [file, kept] = ["ck.best", "ck.best.damaged"].map(|name| at(name).canonicalize().unwrap());
    assert_eq!(note.to_string(), format!("{} is not a checkpoint; it is kept as {}", file.display(), kept.display()));
    assert_eq!(fs::read_to_string(&kept).unwrap(), "of great value");
    drop(trainer);

    // The newest keeps its name until the next save, so that there is always one.
    fs::remove_file(&path).unwrap(); // It has the name of the best, too.
    fs::write(&path, "of great value").unwrap();
    let mut trainer: Training = Trainer::new(Adam::default(), 0.01, 6, 0);
    let mut model: Tiny = trainer.resume(&path, &Cpu::default()).unwrap();
    trainer.checkpoint_every(&path, 1).unwrap();
    let [ResumeNote::OlderCheckpoint { .. }, note @ ResumeNote::SetAside { .. }] = trainer.resume_notes() else {
        panic!("{:?}", trainer.resume_notes())
    };
    assert!(note.to_string().ends_with("ck.damaged"), "{note}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "of great value");
    step(&mut trainer, &mut model);
    assert_eq!(fs::read_to_string(at("ck.damaged")).unwrap(), "of great value");
    assert_eq!(trainer.failures().len(), 0);
}

#[test]
fn an_error_names_the_file_that_it_is_about() {
    let (folder, path) = folder_with_checkpoint();
    let at = |name: &str| folder.path().join(name);
    let open = |path: &Path| {
        let mut trainer: Training = Trainer::new(Adam::default(), 0.01, 6, 0);
        trainer.checkpoint_every(path, 1).unwrap_err().to_string()
    };
    fs::create_dir(at("x.best")).unwrap();
    assert_eq!(
        open(&at("x")),
        format!("cannot write {}: is a directory", at("x.best").canonicalize().unwrap().display())
    );
    fs::write(at("u.best"), "notes").unwrap();
    let best = at("u.best").canonicalize().unwrap();
    assert_eq!(open(&at("u")), format!("{} is not a checkpoint; it is not overwritten", best.display()));

    // The best alone cannot be written.
    let mut trainer: Training = Trainer::new(Adam::default(), 0.01, 6, 0);
    let mut model: Tiny = trainer.resume(&path, &Cpu::default()).unwrap();
    trainer.checkpoint_every(&path, 1).unwrap();
    fs::remove_file(at("ck.best")).unwrap();
    fs::create_dir(at("ck.best")).unwrap();
    trainer.record_best(1.0);
    step(&mut trainer, &mut model);
    let error = trainer.finish().unwrap_err();
    assert!(error.to_string().starts_with(&format!("cannot write {}: ", at("ck.best").display())), "{error}");
    let TrainError::Save { saved_at: Some(elsewhere), .. } = error else { panic!("{error}") };
    fs::remove_dir_all(elsewhere.parent().unwrap()).unwrap();
    drop(trainer);
    assert_eq!(steps_in(&path), 2);
}
