//! The checkpoints of a training run: at every moment one is whole, whatever fails; one run at a time; nothing else
//! is overwritten.

use crate::support::{file_names, temp_dir};
use crate::tiny_training::{Tiny, Training, saved, step, steps_in, trainer};
use std::io::{BufRead, BufReader, ErrorKind};
use std::path::Path;
use std::process::{self, Command, Stdio};
use std::{env, fs};
use tempfile::TempDir;
use typed_transformer::prelude::*;
use typed_transformer::train::TrainError;
use typed_transformer::weights::SaveError;
use typed_transformer::weights::disk::{self, Fault};

/// Resumes, and makes a step that saves a checkpoint. `fault` happens at one of its calls.
fn step_with_fault(path: &Path, fault: Option<(usize, Fault)>) -> Training {
    let mut trainer = trainer();
    let mut model: Tiny = trainer.resume(path, &Cpu::default()).unwrap();
    trainer.checkpoint_every(path, 1).unwrap();
    disk::inject(fault);
    step(&mut trainer, &mut model);
    trainer
}

// ---- Faults at every call of a save ----

/// Asserts that every checkpoint in the folder is whole, and that the newest has as many steps as it should.
#[track_caller]
fn assert_whole(folder: &Path, newest: usize, what: &str) {
    let whole: Vec<usize> = ["ck", "ck.previous-1", "ck.best"]
        .iter()
        .map(|name| folder.join(name))
        .filter(|path| path.exists())
        .map(|path| steps_in(&path))
        .collect();
    assert!(folder.join("ck").exists(), "{what}");
    assert!(whole.len() >= 2, "{what}: {whole:?}");
    assert!(whole[0] >= newest, "{what}: {whole:?}");
}

fn copy_of(folder: &TempDir) -> TempDir {
    let copy = temp_dir();
    for name in file_names(folder) {
        fs::copy(folder.path().join(&name), copy.path().join(&name)).unwrap();
    }
    copy
}

#[test]
fn a_fault_at_any_call_of_a_save_loses_nothing() {
    let before = temp_dir();
    saved(&before, 3, 2);
    let whole = copy_of(&before);
    let trainer = step_with_fault(&whole.path().join("ck"), None);
    assert_eq!(trainer.failures().len(), 0);
    let calls = disk::calls();
    assert!(calls >= 10, "{calls}");
    for call in 0..calls {
        for fault in [
            Fault::Error(ErrorKind::Other),
            Fault::Error(ErrorKind::PermissionDenied),
            Fault::Error(ErrorKind::Interrupted),
            Fault::ShortWrite,
            Fault::DiskFull,
        ] {
            let folder = copy_of(&before);
            let mut trainer = step_with_fault(&folder.path().join("ck"), Some((call, fault)));
            disk::inject(None);
            let what = format!("{fault:?} at call {call} of {calls}");
            // The training goes on, and is saved at one of two places.
            assert_eq!(trainer.steps_made(), 4, "{what}");
            let newest = match trainer.finish() {
                Ok(()) => 4,
                Err(TrainError::Save { source, saved_at }) => {
                    assert!(matches!(source, SaveError::Write { .. }), "{what}: {source}");
                    assert_eq!(saved_at.is_some(), fault != Fault::DiskFull, "{what}");
                    if let Some(path) = saved_at {
                        assert_eq!(steps_in(&path), 4, "{what}");
                        fs::remove_dir_all(path.parent().unwrap()).unwrap();
                    }
                    3
                }
                Err(error) => panic!("{what}: {error}"),
            };
            drop(trainer);
            assert_whole(folder.path(), newest, &what);
            let left = file_names(&folder).iter().filter(|name| name.ends_with(".partial")).count();
            assert!(left <= 1, "{what}: {:?}", file_names(&folder));
        }
    }
}

/// A training run that begins at other files: whatever call fails, the next save succeeds, and what was there is kept
/// or replaced as a whole.
fn later_saves_succeed(prepare: impl Fn(&Path) -> (Training, Tiny)) {
    let make = |fault| {
        let folder = temp_dir();
        let (mut trainer, mut model) = prepare(folder.path());
        trainer.checkpoint_every(folder.path().join("ck"), 1).unwrap();
        disk::inject(fault);
        step(&mut trainer, &mut model);
        let calls = disk::calls();
        disk::inject(None);
        (folder, trainer, model, calls)
    };
    let (_folder, trainer, _, calls) = make(None);
    assert_eq!(trainer.failures().len(), 0);
    drop(trainer);
    for call in 0..calls {
        for fault in [Fault::Error(ErrorKind::Other), Fault::ShortWrite] {
            let what = format!("{fault:?} at call {call} of {calls}");
            let (folder, mut trainer, mut model, _) = make(Some((call, fault)));
            if let [TrainError::Save { saved_at: Some(path), .. }] = trainer.failures() {
                assert_eq!(steps_in(path), trainer.steps_made(), "{what}");
                fs::remove_dir_all(path.parent().unwrap()).unwrap();
            }
            let damaged = folder.path().join("ck.damaged");
            let set_aside = fs::read(&damaged).ok();
            for _ in 0..2 {
                step(&mut trainer, &mut model);
                assert_eq!(trainer.failures().len(), 0, "{what}: {:?}", trainer.failures());
            }
            let steps = trainer.steps_made();
            drop(trainer);
            assert_eq!(steps_in(&folder.path().join("ck")), steps, "{what}");
            assert_eq!(steps_in(&folder.path().join("ck.previous-1")), steps - 1, "{what}");
            if set_aside.is_some() {
                assert_eq!(fs::read(&damaged).ok(), set_aside, "{what}");
            }
        }
    }
}

#[test]
fn a_fault_after_a_resume_in_place_of_a_damaged_checkpoint_is_over_at_the_next_save() {
    let before = temp_dir();
    let path = saved(&before, 3, 2);
    fs::write(&path, "damaged").unwrap();
    later_saves_succeed(|folder| {
        for name in file_names(&before) {
            fs::copy(before.path().join(&name), folder.join(&name)).unwrap();
        }
        let mut trainer = trainer();
        let model = trainer.resume(folder.join("ck"), &Cpu::default()).unwrap();
        (trainer, model)
    });
}

#[test]
fn a_fault_while_another_training_is_overwritten_is_over_at_the_next_save() {
    let before = temp_dir();
    saved(&before, 3, 2);
    later_saves_succeed(|folder| {
        for name in file_names(&before) {
            fs::copy(before.path().join(&name), folder.join(&name)).unwrap();
        }
        let mut trainer = trainer();
        trainer.overwrite = true;
        (trainer, Tiny::build(&Cpu::seed_from_u64(1)))
    });
}

/// The same with a process that dies at the call.
#[test]
fn a_kill_at_any_call_of_a_save_loses_nothing() {
    const TEST: &str = "checkpoints::a_kill_at_any_call_of_a_save_loses_nothing";
    const CALL: &str = "TYPED_TRANSFORMER_TEST_CALL";
    if let Some(call) = env::var_os(CALL) {
        let call = call.to_str().unwrap().parse().unwrap();
        step_with_fault(Path::new("ck"), Some((call, Fault::Kill)));
        process::exit(9);
    }
    let before = temp_dir();
    let newest = saved(&before, 3, 2);
    let whole = fs::read(&newest).unwrap();
    // A newest checkpoint that is damaged is set aside by the save.
    for content in [&whole[..], &whole[..1_000], b"of great value"] {
        fs::remove_file(&newest).unwrap(); // Another name of the best.
        fs::write(&newest, content).unwrap();
        let is_damaged = content.len() < whole.len();
        let mut call = 0;
        loop {
            let folder = copy_of(&before);
            let mut command = Command::new(env::current_exe().unwrap());
            command.args(["--exact", TEST]).env(CALL, call.to_string()).current_dir(folder.path());
            let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
            let what = format!("killed at call {call}, {} of {} bytes were there", content.len(), whole.len());
            assert_ne!(status.code(), Some(101), "{what}");
            if !is_damaged {
                assert_whole(folder.path(), 3, &what);
            }
            let others = ["ck.previous-1", "ck.best"].map(|name| steps_in(&folder.path().join(name)));
            assert!(others.iter().all(|steps| *steps >= 2), "{what}: {others:?}");
            // The lock died with its process, and what it left is removed.
            let trainer = step_with_fault(&folder.path().join("ck"), None);
            assert_eq!(trainer.failures().len(), 0, "{what}");
            drop(trainer);
            let mut names = file_names(&folder);
            if is_damaged {
                assert_eq!(fs::read(folder.path().join("ck.damaged")).unwrap(), content, "{what}");
                names.retain(|name| name != "ck.damaged");
            }
            assert_eq!(names, ["ck", "ck.best", "ck.previous-1"], "{what}");
            if status.code() == Some(9) {
                break;
            }
            call += 1;
        }
        assert!(call >= 10, "{call}");
    }
}

// ---- One run at a time ----

#[test]
fn a_second_run_is_told_which_process_holds_the_checkpoint() {
    const TEST: &str = "checkpoints::a_second_run_is_told_which_process_holds_the_checkpoint";
    const TARGET: &str = "TYPED_TRANSFORMER_TEST_LOCK";
    if let Some(target) = env::var_os(TARGET) {
        let mut trainer = trainer();
        trainer.checkpoint_every(target, 1).unwrap();
        eprintln!("locked");
        std::thread::sleep(std::time::Duration::from_secs(100));
    }
    let folder = temp_dir();
    let path = folder.path().join("ck");
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["--exact", TEST, "--nocapture"]).env(TARGET, &path).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = child.spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "locked"));

    let mut second = trainer();
    let error = second.checkpoint_every(&path, 1).unwrap_err().to_string();
    assert_eq!(error, format!("{} is in use by process {}", path.display(), child.id()));
    let model = Tiny::build(&Cpu::default());
    assert!(matches!(second.save(&model, &path), Err(SaveError::Locked { .. })));
    // The first run's files are untouched, and its death ends the lock.
    assert_eq!(file_names(&folder), ["ck.lock"]);
    child.kill().unwrap();
    child.wait().unwrap();
    second.checkpoint_every(&path, 1).unwrap();
    let error = trainer().checkpoint_every(&path, 1).unwrap_err().to_string();
    assert_eq!(error, format!("{} is in use by another training run of this process", path.display()));
    drop(second);
    assert_eq!(file_names(&folder), [""; 0]);
}
