//! The end of a training run: its results are saved before anything else can fail or be interrupted, and every failure
//! is said.

use crate::outputs::{error, run};
use crate::program::{TIMEOUT, built, end, start};
use crate::support::{file_names, signal, temp_dir};
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

/// The estimate of the loss after the last step takes long, so the signal comes before it or in it.
#[cfg(unix)]
#[test]
fn a_signal_after_the_last_step_comes_after_the_weights() {
    let folder = temp_dir();
    let args = "--steps 2 --batch 2 --interval 0 --save weights --sample 5";
    let mut child = start(&built("train_shakespeare"), &folder, args.split_whitespace());
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    while !said.contains("step 2/2") {
        assert_ne!(lines.read_line(&mut said).unwrap(), 0, "{said}");
    }
    assert!(signal("TERM", child.id()));
    lines.read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{said}");
    assert!(said.contains("saved weights\n"), "{said}");
    assert_eq!(file_names(&folder), ["weights"]);
}

/// The metrics fail, then the folder of the checkpoint goes, then a signal comes.
#[cfg(target_os = "linux")]
#[test]
fn every_failure_is_said_and_no_checkpoint_that_does_not_exist() {
    let (folder, temporary) = (temp_dir(), temp_dir());
    fs::create_dir(folder.path().join("disk")).unwrap();
    let mut command = Command::new(built("train_sequences"));
    command.args("--steps 1000 --batch 2 --checkpoint disk/ck --metrics /dev/full".split(' '));
    command.current_dir(folder.path()).env("TMPDIR", temporary.path()).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    lines.read_line(&mut said).unwrap();
    assert!(said.starts_with("warning: cannot write /dev/full: "), "{said}");
    fs::rename(folder.path().join("disk"), folder.path().join("gone")).unwrap();
    assert!(signal("TERM", child.id()));
    lines.read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{said}");
    let last = said.lines().last().unwrap();
    assert!(last.contains("; the training is saved at ") && last.contains("cannot write /dev/full"), "{last}");
    assert!(!last.contains("--resume disk/ck"), "{last}");
}

/// The training of a closed terminal goes on under `nohup`.
#[cfg(target_os = "linux")]
#[test]
fn a_hangup_that_nohup_ignores_does_not_stop_the_training() {
    let folder = temp_dir();
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$0\" --steps 60 --batch 2 --metrics metrics"]);
    command.arg(built("train_sequences")).current_dir(folder.path()).stdin(Stdio::null()).stdout(Stdio::null());
    let child = command.stderr(Stdio::piped()).spawn().unwrap();
    let lines = || fs::read_to_string(folder.path().join("metrics")).unwrap_or_default().lines().count();
    let until = Instant::now() + TIMEOUT;
    while lines() < 2 {
        assert!(Instant::now() < until, "no steps within the time limit");
        thread::sleep(Duration::from_millis(2));
    }
    assert!(signal("HUP", child.id()));
    assert!(!end(child).stderr.contains("stopped after step"));
    assert_eq!(lines(), 60);
}

/// The signal of a file that is too long would end the program.
#[cfg(unix)]
#[test]
fn a_limit_on_the_length_of_files_is_an_error() {
    let (folder, temporary) = (temp_dir(), temp_dir());
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -f 1; exec \"$0\" --steps 20 --batch 2 --metrics metrics --save weights"]);
    command.arg(built("train_sequences")).current_dir(folder.path()).env("TMPDIR", temporary.path());
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let run = end(child);
    let error = error(&run);
    assert!(error.contains("cannot write metrics: File too large"), "{error}");
    assert!(error.contains("cannot write weights: File too large"), "{error}");
    assert!(run.stderr.contains("step 20/20") && !run.stdout.is_empty(), "{}", run.stderr);
}

/// A link stays a link, and another file of a similar name stays as it is.
#[cfg(unix)]
#[test]
fn overwriting_weights_replaces_the_file_alone() {
    let folder = temp_dir();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("notes"), "of great value").unwrap();
    fs::write(at("link.new"), "of great value").unwrap();
    std::os::unix::fs::symlink("notes", at("link")).unwrap();
    run(&folder, "train_rot13", "--steps 3 --batch 2 --save link --overwrite");
    assert!(at("link").is_symlink());
    assert!(fs::read(at("notes")).unwrap().len() > 1_000);
    assert_eq!(fs::read(at("link.new")).unwrap(), b"of great value");
    assert_eq!(file_names(&folder), ["link", "link.new", "notes"]);
}

/// A failure before the results does not hide those of the files.
#[cfg(unix)]
#[test]
fn weights_saved_at_a_second_place_are_named_beside_other_errors() {
    let (folder, temporary) = (temp_dir(), temp_dir());
    fs::create_dir(folder.path().join("disk")).unwrap();
    let mut command = Command::new(built("train_rot13"));
    let args = "--steps 400 --batch 2 --learning-rate 1e-9 --save disk/weights --metrics metrics";
    command.args(args.split(' ')).current_dir(folder.path()).env("TMPDIR", temporary.path());
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let until = Instant::now() + TIMEOUT;
    while fs::read_to_string(folder.path().join("metrics")).unwrap_or_default().lines().count() < 3 {
        assert!(Instant::now() < until, "no steps within the time limit");
        thread::sleep(Duration::from_millis(1));
    }
    fs::rename(folder.path().join("disk"), folder.path().join("gone")).unwrap();
    let run = end(child);
    let error = error(&run);
    let (_, place) = error.split_once("; the weights are saved at ").unwrap();
    let place = std::path::PathBuf::from(place.split("; ").next().unwrap());
    assert!(place.ends_with("weights") && fs::metadata(&place).unwrap().len() > 1_000, "{error}");
    // Only its user can read the folder.
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(fs::metadata(place.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);
}

/// A program whose output goes to `head` must not panic, and neither must one whose errors go there, too.
#[test]
fn a_closed_output_is_no_panic() {
    for (example, code) in
        [("attention_cell", 1), ("llama_block", 1), ("mixture_of_experts", 1), ("own_model", 1), ("position_curves", 0)]
    {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        for stderr in [Stdio::piped(), writer.try_clone().unwrap().into()] {
            let folder = temp_dir();
            let mut command = Command::new(built(example));
            command.current_dir(folder.path()).stdin(Stdio::null()).stdout(writer.try_clone().unwrap()).stderr(stderr);
            end(command.spawn().unwrap()).assert_ended_with(code);
        }
    }
}
