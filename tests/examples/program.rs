//! Runs the examples as a user does: with arguments, streams and an exit status.

use crate::{profile, support::signal};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant, SystemTime};
use std::{env, fs, thread};
use tempfile::TempDir;

/// Longer than any run takes on a busy machine.
pub const TIMEOUT: Duration = Duration::from_secs(300);

/// The path of an example in the profile of this test. `cargo test` has built it. `cargo test --test NAME`
/// builds no examples, so it is built here if it is missing or older than its sources.
pub fn built(example: &str) -> PathBuf {
    let (profile, profile_name) = profile::folder_and_name();
    let name = format!("{example}{}", env::consts::EXE_SUFFIX);
    let program = profile.join("examples").join(name);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let sources = ["src", "examples", "Cargo.toml"].map(|source| newest(&root.join(source)));
    let built = program.metadata().and_then(|program| program.modified());
    if built.is_ok_and(|built| sources.iter().all(|source| *source <= built)) {
        return program;
    }
    let cargo = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--example", example])
        .args(["--profile", &profile_name, "--target-dir"])
        .arg(profile.parent().unwrap())
        .args(if cfg!(feature = "tokenizers") { &["--features", "tokenizers"][..] } else { &[] })
        .current_dir(root)
        .env_remove("CARGO_BUILD_TARGET")
        .status();
    assert!(cargo.unwrap().success(), "the example does not build");
    program
}

/// The latest modification time of a file or of any file in a folder.
fn newest(path: &Path) -> SystemTime {
    if !path.is_dir() {
        return path.metadata().and_then(|file| file.modified()).unwrap();
    }
    let entries = fs::read_dir(path).unwrap();
    let times = entries.map(|entry| newest(&entry.unwrap().path()));
    times.max().unwrap_or(SystemTime::UNIX_EPOCH)
}

/// The outcome of a run.
pub struct Run {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

/// Starts a program in `folder`, to which its relative paths refer. It has one thread, because several tests run at once.
pub fn start<Arg: AsRef<OsStr>>(program: &Path, folder: &TempDir, args: impl IntoIterator<Item = Arg>) -> Child {
    Command::new(program)
        .args(args)
        .current_dir(folder.path())
        .env("RAYON_NUM_THREADS", "1")
        .env_remove("CLICOLOR_FORCE")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits until the program ends. Its output until then must fit into a pipe.
pub fn end(mut child: Child) -> Run {
    let until = Instant::now() + TIMEOUT;
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > until {
            child.kill().unwrap();
            panic!("timed out");
        }
        thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().unwrap();
    Run {
        status: output.status,
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Sends Ctrl-C once the metrics file has this many lines.
#[cfg(unix)]
pub fn interrupt(child: &Child, metrics: &Path, lines: usize) {
    send("INT", child, metrics, lines);
}

/// Sends a signal once the metrics file has this many lines.
#[cfg(unix)]
pub fn send(name: &str, child: &Child, metrics: &Path, lines: usize) {
    let until = Instant::now() + TIMEOUT;
    while metrics_of(metrics).len() < lines {
        assert!(Instant::now() < until, "no steps within the time limit");
        thread::sleep(Duration::from_millis(2));
    }
    assert!(signal(name, child.id()));
}

/// Checks that metrics and last checkpoint of a training of `steps` steps, which Ctrl-C ends after a few and `--resume`
/// continues, equal those of an uninterrupted one, which are in the files `straight` and `straight.jsonl`.
#[cfg(unix)]
pub fn check_resumed_after_ctrl_c(program: &Path, folder: &TempDir, args: &str, steps: usize) {
    let run = |args: &str| end(start(program, folder, args.split_whitespace()));
    let args = format!("{args} --steps {steps} --checkpoint-every {steps}");
    let straight = run(&format!("{args} --checkpoint straight --metrics straight.jsonl"));
    straight.assert_ended_with(0);

    let args = format!("{args} --metrics stopped.jsonl");
    let child = start(program, folder, args.split_whitespace());
    interrupt(&child, &folder.path().join("stopped.jsonl"), 2);
    let stopped = end(child);
    stopped.assert_ended_with(130);
    assert_eq!(stopped.stdout, "");
    let checkpoint = format!("{}.checkpoint", program.file_stem().unwrap().to_str().unwrap());
    let advice = format!("of {steps}; the same command with --resume {checkpoint} goes on from there");
    assert!(stopped.stderr.contains(&advice), "{}", stopped.stderr);
    let made = metrics_of(&folder.path().join("stopped.jsonl")).len();
    assert!((2..steps).contains(&made), "{made}");

    let resumed = run(&format!("{args} --resume {checkpoint}"));
    resumed.assert_ended_with(0);
    assert_eq!(resumed.stdout, straight.stdout);
    let metrics = |name| metrics_of(&folder.path().join(name));
    assert_eq!(metrics("stopped.jsonl"), metrics("straight.jsonl"));
    let bytes = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert!(bytes(&checkpoint) == bytes("straight"));
}

/// The complete lines of a metrics file.
pub fn metrics_of(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().map(String::from).collect()
}

impl Run {
    /// Asserts an error message of one line, without progress or results.
    #[track_caller]
    pub fn assert_refused(&self, error: &str) {
        assert_eq!(self.stderr, format!("error: {error}\n"));
        assert_eq!(self.status.code(), Some(1));
        assert_eq!(self.stdout, "");
    }

    /// Asserts an error of the command-line parser.
    #[track_caller]
    pub fn assert_usage(&self, error: &str) {
        let said = self.stderr.lines().next().unwrap();
        assert!(said.starts_with("error: ") && said.contains(error), "{said}");
        assert_eq!(self.status.code(), Some(2));
        assert_eq!(self.stdout, "");
    }

    /// Asserts the exit status, and that nothing panicked.
    #[track_caller]
    pub fn assert_ended_with(&self, code: i32) {
        assert_eq!(self.status.code(), Some(code), "{}", self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
    }
}
