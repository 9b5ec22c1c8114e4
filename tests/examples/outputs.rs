//! The files of all training examples: nothing of another kind is overwritten, a failed one costs no other, and one
//! run at a time saves checkpoints.

#[cfg(unix)]
use crate::program::interrupt;
use crate::program::{Run, TIMEOUT, built, end, start};
use crate::support::{PLAYS, file_names, signal, temp_dir};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};
use tempfile::TempDir;

/// The training examples with options that make them short.
const EXAMPLES: [(&str, &str); 3] = [
    ("train_rot13", "--steps 3 --batch 2"),
    ("train_sequences", "--steps 3 --batch 2"),
    ("train_shakespeare", "--steps 3 --batch 2 --interval 0 --sample 5"),
];

/// Runs an example. `train_shakespeare` trains on [`PLAYS`] if the arguments name no text.
pub fn run(folder: &TempDir, example: &str, args: &str) -> Run {
    end(start(&built(example), folder, with_short_text(example, args)))
}

pub fn with_short_text<'a>(example: &str, args: &'a str) -> Vec<&'a str> {
    let has_text = example != "train_shakespeare" || args.contains("--data");
    let data: &[&str] = if has_text { &[] } else { &["--data", PLAYS] };
    args.split_whitespace().chain(data.iter().copied()).collect()
}

/// The last line on standard error, an error.
#[track_caller]
pub fn error(run: &Run) -> &str {
    assert_eq!(run.status.code(), Some(1), "{}", run.stderr);
    let last = run.stderr.lines().last().unwrap();
    last.strip_prefix("error: ").unwrap_or_else(|| panic!("{}", run.stderr))
}

#[test]
fn nothing_of_another_kind_is_overwritten() {
    for (example, short) in EXAMPLES {
        let folder = temp_dir();
        fs::write(folder.path().join("notes"), "of great value").unwrap();
        fs::create_dir(folder.path().join("folder")).unwrap();
        fs::write(folder.path().join("folder/index.html"), "of great value").unwrap();
        for (option, refused) in [
            ("--metrics notes", "cannot write notes: it is not a file of metrics; --overwrite replaces it"),
            ("--save notes", "notes is not a file of weights; it is not overwritten; --overwrite replaces it"),
            ("--checkpoint notes", "notes is not a checkpoint; it is not overwritten; --overwrite replaces it"),
            ("--report folder", "folder has files that are not of a report; --overwrite replaces them"),
            ("--save new --metrics ./new", "new and ./new are the same file"),
            ("--save new --checkpoint new", "new is given for two files"),
        ] {
            let run = run(&folder, example, &format!("{short} {option}"));
            let found = error(&run);
            let options = "; --checkpoint, --metrics, --report and --save name different ones";
            let same = found.ends_with(options) && (found.contains(" are the same file") || found.contains(refused));
            assert!(found == refused || same, "{example} {option}: {found}");
            assert_eq!(run.stdout, "", "{example} {option}");
            assert_eq!(fs::read(folder.path().join("notes")).unwrap(), b"of great value");
            assert_eq!(fs::read(folder.path().join("folder/index.html")).unwrap(), b"of great value");
        }
        let args = format!("{short} --save notes --metrics folder/index.html --overwrite");
        let written = run(&folder, example, &args);
        assert!(written.stderr.contains("saved notes\n"), "{}", written.stderr);
        assert!(fs::read_to_string(folder.path().join("folder/index.html")).unwrap().starts_with("{\"step\":1,"));
        // Weights replace weights, and metrics replace metrics.
        let written = run(&folder, example, &format!("{short} --save notes --metrics folder/index.html"));
        assert!(written.stderr.contains("saved notes\n"), "{}", written.stderr);
        assert_eq!(file_names(&folder), ["folder", "notes"]);
    }
}

#[test]
fn a_new_training_does_not_replace_the_checkpoint_of_another() {
    let (example, short) = EXAMPLES[0];
    let folder = temp_dir();
    let args = format!("{short} --checkpoint ck");
    run(&folder, example, &args);
    let before = fs::read(folder.path().join("ck")).unwrap();
    let refused = run(&folder, example, &args);
    let why = "the checkpoint of another training run, or of this one, which was not resumed from it; \
               it is not overwritten";
    assert_eq!(error(&refused), format!("ck is {why}; --resume goes on with it, --overwrite replaces it"));
    assert!(fs::read(folder.path().join("ck")).unwrap() == before);
    run(&folder, example, &format!("{args} --seed 1 --overwrite"));
    assert!(fs::read(folder.path().join("ck")).unwrap() != before);
    // Another schedule is refused, with the option that accepts it.
    let slower = format!("{short} --resume ck --seed 1 --learning-rate 1e-5");
    let refused = run(&folder, example, &slower);
    assert!(error(&refused).starts_with("ck: the schedule should be "), "{}", refused.stderr);
    assert!(error(&refused).ends_with("; --new-schedule accepts that"), "{}", refused.stderr);
    let shorter = run(&folder, example, "--steps 2 --batch 2 --resume ck --seed 1 --new-schedule");
    assert_eq!(error(&shorter), "ck: 3 steps are made, but the training has only 2; give more --steps");
    let accepted = run(&folder, example, &format!("{slower} --new-schedule"));
    assert!(!accepted.stdout.is_empty(), "{}", accepted.stderr);
}

/// The results are printed and the weights are saved although no line of metrics can be written.
#[cfg(target_os = "linux")]
#[test]
fn a_failed_output_costs_no_other() {
    for (example, short) in EXAMPLES {
        let folder = temp_dir();
        let run = run(&folder, example, &format!("{short} --metrics /dev/full --save weights"));
        assert!(run.stderr.contains("warning: cannot write /dev/full: "), "{}", run.stderr);
        assert!(run.stderr.contains("step 3/3"), "{}", run.stderr);
        assert!(run.stderr.contains("saved weights\n"), "{}", run.stderr);
        assert!(error(&run).starts_with("cannot write /dev/full: No space left"), "{}", run.stderr);
        assert!(!run.stdout.is_empty());
        assert_eq!(file_names(&folder), ["weights"]);
    }
}

/// On a disk without room, weights and checkpoint are saved in the folder of temporary files.
#[cfg(unix)]
#[test]
fn weights_and_checkpoints_have_a_second_place() {
    for (example, short) in EXAMPLES {
        let (folder, temporary) = (temp_dir(), temp_dir());
        let program = built(example);
        let every = if example == "train_rot13" { "" } else { "--checkpoint-every 4" };
        // A folder that is gone refuses everybody; one without write permission does not refuse root.
        fs::create_dir(folder.path().join("disk")).unwrap();
        let args = format!("{short} {every} --save disk/weights --checkpoint disk/ck --metrics metrics");
        // Enough to take away the folder before the last one.
        let steps = if example == "train_rot13" { "--steps 300" } else { "--steps 12" };
        let steps = args.replace("--steps 3", steps);
        let mut command = Command::new(&program);
        command.args(with_short_text(example, &steps)).current_dir(folder.path()).env("TMPDIR", temporary.path());
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let until = Instant::now() + TIMEOUT;
        while fs::read_to_string(folder.path().join("metrics")).unwrap_or_default().lines().count() < 3 {
            assert!(Instant::now() < until, "no steps within the time limit");
            thread::sleep(Duration::from_millis(1));
        }
        fs::rename(folder.path().join("disk"), folder.path().join("gone")).unwrap();
        let run = end(child);
        assert_eq!(run.status.code(), Some(1), "{}", run.stderr);
        assert!(!run.stdout.is_empty(), "{}", run.stderr);
        let error = error(&run);
        assert!(error.contains("; the training is saved at "), "{error}");
        assert_weights_in(&temporary, error);
        assert_eq!(file_names(&temporary).len(), 2);
        // The disk is there again, perhaps with an earlier checkpoint.
        fs::rename(folder.path().join("gone"), folder.path().join("disk")).unwrap();
        let (_, training) = error.split_once("; the training is saved at ").unwrap();
        let training = training.split("; ").next().unwrap();
        self::run(&folder, example, &format!("{steps} --resume {training}")).assert_ended_with(0);
        assert!(folder.path().join("disk/weights").exists());
    }
}

#[cfg(unix)]
#[test]
fn signals_save_a_checkpoint_and_a_second_run_waits_for_none() {
    // Under `nohup` this test ignores SIGHUP, and so do the programs that it starts.
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or("0");
    let ignores_hangup = u64::from_str_radix(ignored.trim(), 16).unwrap() & 1 == 1;
    for name in ["TERM", "HUP", "INT"] {
        if name == "HUP" && ignores_hangup {
            continue;
        }
        let folder = temp_dir();
        let program = built("train_sequences");
        let args = "--steps 1000 --batch 2 --checkpoint ck --metrics metrics";
        let first = start(&program, &folder, args.split_whitespace());
        let until = Instant::now() + TIMEOUT;
        while fs::read_to_string(folder.path().join("metrics")).unwrap_or_default().lines().count() < 2 {
            assert!(Instant::now() < until, "no steps within the time limit");
            thread::sleep(Duration::from_millis(2));
        }
        let second = end(start(&program, &folder, "--steps 3 --batch 2 --checkpoint ck".split_whitespace()));
        second.assert_refused(&format!("ck is in use by process {}", first.id()));
        assert!(signal(name, first.id()));
        let first = end(first);
        first.assert_ended_with(130);
        assert!(first.stderr.contains("with --resume ck goes on from there"), "{}", first.stderr);
        assert_eq!(file_names(&folder), ["ck", "ck.best", "metrics"]);
    }
}

#[test]
fn a_wrong_number_of_threads_is_refused() {
    for (example, short) in EXAMPLES {
        let folder = temp_dir();
        for threads in ["99999", "-1", "many"] {
            let mut command = Command::new(built(example));
            command.args(short.split_whitespace()).env("RAYON_NUM_THREADS", threads).current_dir(folder.path());
            command.env_remove("CLICOLOR_FORCE");
            let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let run = end(child);
            run.assert_usage(&format!("RAYON_NUM_THREADS must be a number from 0 to 1024, but it is `{threads}`"));
            assert!(run.stderr.contains(&format!("Usage: {example}")), "{}", run.stderr);
        }
        let version = run(&folder, example, "--version");
        assert!(version.stdout.starts_with(&format!("{example} ")), "{}", version.stdout);
    }
}

/// Such a terminal shows no bar. `script` runs a program on one.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_without_cursor_shows_progress_as_lines() {
    let folder = temp_dir();
    for term in ["TERM=dumb", "-uTERM"] {
        let mut command = Command::new("env");
        let program = format!("'{}' --steps 10 --batch 2 abc >/dev/null", built("train_rot13").display());
        command.args([term, "script", "-qec", &program, "/dev/null"]).current_dir(folder.path());
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let run = end(child);
        run.assert_ended_with(0);
        let shown = run.stdout;
        assert!(shown.contains("step 10/10") && !shown.contains('\x1b'), "{term}: {shown:?}");
        assert_eq!(shown.lines().count(), 10, "{term}: {shown:?}");
    }
}

/// Large finite losses are a divergence too.
#[test]
fn a_diverged_training_names_its_best_checkpoint() {
    let folder = temp_dir();
    let args = "--batch 2 --interval 0 --checkpoint-every 10 --checkpoint ck --sample 5";
    run(&folder, "train_shakespeare", &format!("{args} --steps 20")).assert_ended_with(0);
    let args = args.replace("--checkpoint ck", "--new-schedule --steps 60");
    let diverged = run(&folder, "train_shakespeare", &format!("{args} --resume ck --learning-rate 3"));
    let error = error(&diverged).to_string();
    assert!(error.starts_with("the training diverged: the mean loss is "), "{error}");
    assert!(error.contains("; --resume ck.best --new-schedule goes on from the best checkpoint"), "{error}");
    assert!(diverged.stdout.starts_with("validation loss "));
    let slower = run(&folder, "train_shakespeare", &format!("{args} --resume ck.best --learning-rate 1e-4"));
    slower.assert_ended_with(0);
    // The new checkpoints take the place of the diverged ones.
    assert_eq!(file_names(&folder), ["ck", "ck.best", "ck.previous-1"]);
}

/// What Ctrl-C has saved in the default file.
#[test]
fn a_default_checkpoint_remains_until_its_training_is_complete() {
    let folder = temp_dir();
    let train = |args: &str| run(&folder, "train_rot13", args);
    let are_there = || ["", ".best"].map(|end| folder.path().join(format!("rot13.checkpoint{end}")).exists());
    train("--batch 2 --steps 3 --checkpoint rot13.checkpoint").assert_ended_with(0);
    let resume = "--batch 2 --resume rot13.checkpoint --new-schedule";
    let diverged = train(&format!("{resume} --steps 60 --learning-rate 30"));
    assert!(error(&diverged).contains("; --resume rot13.checkpoint.best --new-schedule"), "{}", diverged.stderr);
    assert_eq!(are_there(), [true; 2]);
    if cfg!(target_os = "linux") {
        let run = train(&format!("{resume} --steps 4 --metrics /dev/full"));
        assert!(error(&run).starts_with("cannot write /dev/full"), "{}", run.stderr);
        assert_eq!(are_there(), [true; 2]);
    }
    // Another training saves none there.
    train("--batch 3 --steps 3 --save weights --overwrite").assert_ended_with(0);
    assert_eq!(are_there(), [true; 2]);
    train(&format!("{resume} --steps 4")).assert_ended_with(0);
    assert_eq!(are_there(), [false; 2]);
}

/// Starts `train_shakespeare` with another folder of temporary files.
fn start_beside(folder: &TempDir, temporary: &TempDir, args: &str) -> Child {
    let mut command = Command::new(built("train_shakespeare"));
    command.args(with_short_text("train_shakespeare", args)).current_dir(folder.path());
    command.env("TMPDIR", temporary.path()).env("RAYON_NUM_THREADS", "1");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// The error says where the weights are.
#[cfg(unix)]
#[track_caller]
fn assert_weights_in(temporary: &TempDir, error: &str) {
    let (_, weights) = error.split_once("; the weights are saved at ").unwrap();
    let weights = weights.split("; ").next().unwrap();
    assert!(weights.starts_with(temporary.path().to_str().unwrap()), "{weights}");
    assert!(fs::metadata(weights).unwrap().len() > 1_000);
}

/// Twenty steps are not needed to see it, and what was there before remains.
#[test]
fn a_short_training_that_diverges_fails_and_replaces_nothing() {
    let (folder, temporary) = (temp_dir(), temp_dir());
    let args = "--batch 1 --interval 0 --sample 5 --save s";
    run(&folder, "train_shakespeare", &format!("{args} --steps 2")).assert_ended_with(0);
    let before = fs::read(folder.path().join("s")).unwrap();
    let args = format!("{args} --steps 19 --checkpoint c --checkpoint-every 5 --learning-rate 10");
    let diverged = end(start_beside(&folder, &temporary, &args));
    let said = error(&diverged);
    assert!(said.starts_with("the training diverged: the mean loss is "), "{said}");
    let hint = ", so no checkpoint is saved any more; try a lower --learning-rate, or --loss-may-rise if";
    assert!(said.contains(hint), "{said}");
    assert!(fs::read(folder.path().join("s")).unwrap() == before);
    assert_eq!(file_names(&folder), ["s"]);
    // The checkpoint of step 5 is not saved, and the weights are not lost.
    assert!(diverged.stderr.contains("warning: the training diverged: the mean loss is "), "{}", diverged.stderr);
    #[cfg(unix)]
    assert_weights_in(&temporary, said);
    let risen = run(&folder, "train_shakespeare", &format!("{args} --loss-may-rise"));
    assert!(!risen.stderr.contains("diverged"), "{}", risen.stderr);
    assert!(fs::read(folder.path().join("s")).unwrap() != before);
    assert_eq!(file_names(&folder), ["c", "c.best", "c.previous-1", "s"]);
}

/// Ctrl-C saves no checkpoint of it, but its weights.
#[cfg(unix)]
#[test]
fn a_training_that_diverges_and_is_stopped_saves_its_weights() {
    let (folder, temporary) = (temp_dir(), temp_dir());
    let args = "--batch 1 --interval 0 --learning-rate 10 --checkpoint c --save s --metrics m --steps 100000";
    let child = start_beside(&folder, &temporary, args);
    interrupt(&child, &folder.path().join("m"), 19);
    let stopped = end(child);
    let said = error(&stopped);
    assert!(said.starts_with("the training diverged: the mean loss is "), "{said}");
    assert!(!said.contains("goes on from there"), "{said}");
    assert_weights_in(&temporary, said);
    assert_eq!(file_names(&folder), ["m"]);
}

#[test]
fn endless_input_is_refused() {
    let folder = temp_dir();
    let text = "word ".repeat(300_000);
    fs::write(folder.path().join("words"), text).unwrap();
    let mut command = Command::new(built("train_rot13"));
    command.arg("-").stdin(fs::File::open(folder.path().join("words")).unwrap());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    end(child).assert_refused("standard input has more than 1000000 bytes");

    let file = fs::File::create(folder.path().join("text")).unwrap();
    file.set_len(70_000_000).unwrap();
    let long = run(&folder, "train_shakespeare", "--data text");
    long.assert_refused("text has more than 64000000 bytes");
    #[cfg(unix)]
    {
        let made = Command::new("mkfifo").arg(folder.path().join("pipe")).status();
        assert!(made.unwrap().success());
        run(&folder, "train_shakespeare", "--data pipe").assert_refused("cannot read pipe: not a regular file");
    }
}
