//! Whatever ends one rank ends all, in order, and the training goes on from its checkpoint.

use crate::launch::{Job, losses, run, run_each, start, start_late, start_with_grace};
use crate::support::{PLAYS, signal, temp_dir};
use std::{fs, thread, time::Duration};
use tempfile::TempDir;

const STEPS: &str = "100000";

/// The arguments of a training run that saves checkpoints every 100 steps.
fn training<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["--steps", STEPS, "--batch", "7", "--metrics", "metrics", "--checkpoint-every", "100"], more].concat()
}

fn start_training(ranks: usize, folder: &TempDir, more: &[&str]) -> Job {
    start("train_on_ranks", ranks, folder, &training(more))
}

#[track_caller]
fn assert_resumes(ranks: usize, folder: &TempDir, lines: usize) {
    let mut job = start_training(ranks, folder, &["--resume", "ck"]);
    job.wait_for_lines(&folder.path().join("metrics"), lines);
    let last = *job.ranks().values().next_back().unwrap();
    signal("INT", last);
    let run = job.end();
    assert_eq!(run.code, Some(130), "{}", run.stderr);
    assert_eq!(run.stderr.matches("stopped after step").count(), 1, "{}", run.stderr);
}

#[test]
fn a_signal_to_any_rank_stops_all_with_a_checkpoint() {
    for (ranks, target, name) in [(2, 1, "INT"), (3, 0, "TERM"), (4, 2, "TERM")] {
        let folder = temp_dir();
        let mut job = start_training(ranks, &folder, &["--checkpoint", "ck"]);
        job.wait_for_lines(&folder.path().join("metrics"), 5);
        signal(name, job.ranks()[&target]);
        let run = job.end();
        assert_eq!(run.code, Some(130), "{}", run.stderr);
        assert_eq!(run.stderr.matches("stopped after step").count(), 1, "{}", run.stderr);
        assert!(folder.path().join("ck").exists());
        // On another number of ranks.
        let lines = losses(&folder, "metrics").len();
        assert_resumes(5 - ranks, &folder, lines + 5);
    }
}

#[test]
fn a_signal_to_the_launcher_stops_all_with_a_checkpoint() {
    let stop = |name| {
        let folder = temp_dir();
        let mut job = start_with_grace(3, "train_on_ranks", 3, &folder, &training(&["--checkpoint", "ck"]));
        job.wait_for_lines(&folder.path().join("metrics"), 5);
        signal(name, job.launcher());
        let run = job.end();
        assert_ne!(run.code, Some(0));
        assert_eq!(run.stderr.matches("stopped after step").count(), 1, "{}", run.stderr);
        let lines = losses(&folder, "metrics").len();
        assert_resumes(2, &folder, lines + 5);
    };
    // The launcher sleeps most of the time.
    thread::scope(|scope| {
        scope.spawn(|| stop("INT"));
        stop("TERM");
    });
}

#[test]
fn a_killed_rank_ends_all_and_the_training_resumes() {
    kill_a_rank(6);
}

#[test]
#[ignore = "takes a minute"]
fn a_rank_killed_twenty_times_ends_all_and_the_training_resumes() {
    kill_a_rank(20);
}

/// Kills a rank of one run after the other, each of which goes on from the one before.
#[track_caller]
fn kill_a_rank(times: usize) {
    let folder = temp_dir();
    for kill in 0..times {
        let (ranks, from) = (2 + kill % 3, if kill == 0 { "--checkpoint" } else { "--resume" });
        let mut job = start_with_grace(0, "train_on_ranks", ranks, &folder, &training(&[from, "ck"]));
        // Each run passes another checkpoint, and is killed at another distance from it.
        job.wait_for_lines(&folder.path().join("metrics"), 100 * (kill + 1) + 2 + 3 * kill);
        // Each number of ranks loses its first rank, its last one, and the second.
        let target = [0, ranks - 1, 1][kill / 3 % 3];
        signal("KILL", job.ranks()[&target]);
        let run = job.end();
        assert!(run.stderr.contains(&format!("process rank {target} ")), "{}", run.stderr);
        assert_ne!(run.code, Some(0));
    }
    let lines = losses(&folder, "metrics").len();
    assert_resumes(1, &folder, lines + 5);
}

#[test]
fn a_loss_that_is_no_number_ends_all_with_one_line() {
    let folder = temp_dir();
    let run = run("train_on_ranks", 3, &folder, &["--learning-rate", "1e30", "--steps", "200", "--checkpoint", "ck"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert_eq!(
        run.stderr.matches("error: the loss or its gradient is no longer a number").count(),
        1,
        "{}",
        run.stderr
    );
}

#[test]
fn an_error_on_the_first_rank_ends_all_with_one_line() {
    let folder = temp_dir();
    fs::write(folder.path().join("ck"), "not a checkpoint").unwrap();
    let run = run("train_on_ranks", 3, &folder, &["--checkpoint", "ck"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert_eq!(run.stderr.matches("error").count() - run.stderr.matches("error code").count(), 1, "{}", run.stderr);
    assert_eq!(run.stdout, "");
}

#[test]
fn a_training_that_diverges_ends_all_with_one_line() {
    let folder = temp_dir();
    let args = ["--learning-rate", "30", "--steps", "100", "--checkpoint", "ck", "--checkpoint-every", "100"];
    let diverged = run("train_on_ranks", 3, &folder, &args);
    assert_eq!(diverged.code, Some(1), "{}", diverged.stderr);
    assert_eq!(diverged.stderr.matches("error: the training diverged").count(), 1, "{}", diverged.stderr);
    // There is none from before.
    assert!(!folder.path().join("ck").exists());
}

#[test]
fn a_full_disk_keeps_the_checkpoint_and_ends_all_with_one_line() {
    let folder = temp_dir();
    let args = ["--batch", "7", "--metrics", "metrics", "--steps", "300", "--checkpoint-every", "100"];
    let mut job = start("train_on_ranks", 3, &folder, &[&args[..], &["--checkpoint", "ck"]].concat());
    job.wait_for_lines(&folder.path().join("metrics"), 110);
    // Enough for the metrics, too little for another checkpoint.
    job.fill_disk(0, 45_000);
    let run = job.end();
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let error =
        format!("error: cannot write {}: File too large", folder.path().canonicalize().unwrap().join("ck").display());
    assert_eq!(run.stderr.matches(&error).count(), 1, "{}", run.stderr);
    let lines = losses(&folder, "metrics").len();
    // The older checkpoint is whole: another number of ranks goes on from it.
    let resumed = start("train_on_ranks", 2, &folder, &[&args[..], &["--resume", "ck"]].concat()).end();
    assert!(resumed.stderr.contains("step 300/300"), "{}", resumed.stderr);
    assert!(losses(&folder, "metrics").len() >= lines);
}

#[test]
fn metrics_that_cannot_be_written_end_no_rank_early() {
    let run = run("train_on_ranks", 3, &temp_dir(), &["--steps", "20", "--metrics", "/dev/full"]);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert_eq!(run.stderr.matches("error: cannot write /dev/full").count(), 1, "{}", run.stderr);
    assert!(run.stderr.contains("step 20/20"), "{}", run.stderr);
}

/// Each of them trained on, or waited for ever.
#[test]
fn ranks_that_differ_are_refused_before_the_first_step() {
    let folder = temp_dir();
    fs::write(folder.path().join("text"), "to be or not to be ".repeat(200)).unwrap();
    let shakespeare = "--batch 2 --sample 5 --interval 0 --steps 2 --data text --checkpoint s --save weights";
    let saved = run("train_shakespeare", 1, &folder, &shakespeare.split(' ').collect::<Vec<_>>());
    assert_eq!(saved.code, Some(0), "{}", saved.stderr);
    fs::copy(folder.path().join("text"), folder.path().join("copy")).unwrap();
    let shakespeare = "--batch 2 --sample 5 --interval 0 --steps 3 --data text --checkpoint t";
    let digits = "--batch 7 --steps 30 --checkpoint ck";
    for (example, options, more, message) in [
        ("train_on_ranks", digits, "--steps 20", "--steps is 30 on rank 0, but 20 on rank 1"),
        ("train_on_ranks", digits, "--seed 1", "--seed is absent on rank 0, but 1 on rank 1"),
        ("train_on_ranks", digits, "--batch=8", "--batch is 7 on rank 0, but 8 on rank 1"),
        ("train_on_ranks", digits, "--learning-rate 0.1", "--learning-rate is absent on rank 0, but 0.1 on rank 1"),
        ("train_shakespeare", "--sample 5", "--load weights", "--load is absent on rank 0, but weights on rank 1"),
        ("train_shakespeare", shakespeare, "--resume s", "--resume is absent on rank 0, but s on rank 1"),
        ("train_shakespeare", shakespeare, "--data copy", "--data is text on rank 0, but copy on rank 1"),
    ] {
        // A later one of two options would be refused by the parser.
        let name = more.split([' ', '=']).next().unwrap();
        let given: Vec<&str> = options.split(' ').collect();
        let kept = given.chunks(2).filter(|option| option[0] != name).flatten();
        let other = kept.copied().chain([more]).collect::<Vec<_>>().join(" ");
        let run = run_each(&[(example, options), (example, &other)], &folder);
        assert_eq!(run.code, Some(1), "{more}: {}", run.stderr);
        let line = format!("error: {message} of `World`");
        assert_eq!(run.stderr.matches(&line).count(), 1, "{more}: {}", run.stderr);
        assert_eq!(run.stdout, "", "{more}");
    }
    let run = run_each(&[("train_on_ranks", digits), ("train_sequences", digits)], &folder);
    let line = "error: the checksum of the program is ";
    assert!(run.stderr.contains(line), "{}", run.stderr);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
}

#[test]
fn a_rank_that_starts_late_is_waited_for() {
    let run = start_late(5, "train_on_ranks", &temp_dir(), &["--batch", "7", "--steps", "20"]).end();
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("step 20/20"), "{}", run.stderr);
}

/// Suspended, for example by a batch system, and then continued.
#[test]
#[ignore = "takes 20 seconds"]
fn a_rank_that_stops_for_twenty_seconds_is_waited_for() {
    let folder = temp_dir();
    let metrics = folder.path().join("metrics");
    let mut job = start_training(3, &folder, &["--checkpoint", "ck"]);
    job.wait_for_lines(&metrics, 5);
    let stopped = job.ranks()[&1];
    signal("STOP", stopped);
    thread::sleep(Duration::from_secs(20));
    let lines = losses(&folder, "metrics").len();
    signal("CONT", stopped);
    job.wait_for_lines(&metrics, lines + 20);
    signal("INT", job.ranks()[&0]);
    let run = job.end();
    assert_eq!(run.code, Some(130), "{}", run.stderr);
    assert_resumes(2, &folder, lines + 25);
}

/// The first rank samples for longer than a rank that leaves alone waits for the others.
#[test]
fn ranks_without_a_task_do_not_end_the_first() {
    let folder = temp_dir();
    let args = ["--batch", "1", "--steps", "1", "--interval", "0", "--sample", "1", "--data", PLAYS, "--save", "w"];
    assert_eq!(run("train_shakespeare", 1, &folder, &args).code, Some(0));
    let sampled = run("train_shakespeare", 2, &folder, &["--load", "w", "--sample", "3000"]);
    assert_eq!(sampled.code, Some(0), "{}", sampled.stderr);
    assert!(sampled.stdout.chars().count() > 3_000);
}
