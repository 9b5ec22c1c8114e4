//! The example `train_sequences`, run as a user runs it, with few steps because learning takes minutes.

use crate::program::{Run, built, check_resumed_after_ctrl_c, end, metrics_of, start};
use crate::support::{file_names, temp_dir};
use std::{fs, path::PathBuf, sync::LazyLock};
use tempfile::TempDir;

static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| built("train_sequences"));

fn run(folder: &TempDir, args: &str) -> Run {
    end(start(&PROGRAM, folder, args.split_whitespace()))
}

#[test]
fn a_missed_goal_is_an_error_after_both_directions_are_shown() {
    let folder = temp_dir();
    let run = run(&folder, "--steps 3 --batch 2 --metrics metrics --goal 99");
    run.assert_ended_with(1);
    let lines: Vec<_> = run.stderr.lines().collect();
    assert_eq!(lines.len(), 5, "{lines:?}");
    for (number, line) in (1..=3).zip(&lines) {
        let words: Vec<_> = line.split_whitespace().collect();
        let ["step", step, "loss", loss, "rate", rate, speed, "tokens/s", left, "left"] = words[..] else {
            panic!("{line}");
        };
        assert_eq!(step, format!("{number}/3"));
        assert!((0.1..20.0).contains(&loss.parse().unwrap()), "{line}");
        assert_eq!(rate, "5.00e-4");
        assert!(speed.parse::<f64>().unwrap() > 0.0, "{line}");
        assert!(left.contains(':'), "{line}");
    }
    assert!(lines[3].starts_with("mean loss ") && lines[3].ends_with(" of the last 3 steps"));
    assert!(lines[4].starts_with("error: only ") && lines[4].ends_with("try more --steps"));

    // Every evaluated sequence counts up or down.
    let counts = run.stdout.lines().filter(|line| line.contains(" continued correctly"));
    let count = |line: &str| line.split(' ').nth(3).unwrap().parse::<usize>().unwrap();
    assert_eq!(counts.map(count).sum::<usize>(), 1_000);
    let shown = run.stdout.lines().filter_map(|line| line.split_once("->"));
    let shown: Vec<(Vec<i32>, &str)> = shown
        .map(|(given, written)| (given.split_whitespace().map(|n| n.parse().unwrap()).collect(), written))
        .collect();
    assert_eq!(shown.len(), 10);
    for (i, (given, written)) in shown.iter().enumerate() {
        assert!((3..=15).contains(&given.len()), "{given:?}");
        let step = if i < 5 { 1 } else { -1 };
        assert!(given.windows(2).all(|pair| pair[1] - pair[0] == step), "{given:?}");
        let last = given.last().unwrap();
        let next = format!("{} {}", last + step, last + 2 * step);
        let correct = written.trim() == next;
        assert!(correct || written.ends_with(&format!("but it is {next}")), "{given:?} {written}");
        assert!(given.iter().chain([&(last + 2 * step)]).all(|n| (0..125).contains(n)));
    }
    assert_eq!(file_names(&folder), ["metrics"]);
    assert_eq!(metrics_of(&folder.path().join("metrics")).len(), 3);
}

#[test]
fn the_loss_falls() {
    let folder = temp_dir();
    run(&folder, "--steps 60 --batch 16 --metrics metrics").assert_ended_with(0);
    let losses = metrics_of(&folder.path().join("metrics"));
    let loss = |line: &String| -> f64 {
        let (_, rest) = line.split_once("\"loss\":").unwrap();
        rest.split(',').next().unwrap().parse().unwrap()
    };
    let mean = |lines: &[String]| lines.iter().map(loss).sum::<f64>() / lines.len() as f64;
    assert!(mean(&losses[50..]) < mean(&losses[..10]) - 0.5, "{losses:?}");
}

#[cfg(unix)]
#[test]
fn a_training_resumed_after_ctrl_c_is_bit_exact() {
    let folder = temp_dir();
    check_resumed_after_ctrl_c(&PROGRAM, &folder, "--batch 3", 12);

    // Settings that affect the training must be unchanged.
    let other = run(&folder, "--steps 12 --batch 4 --resume straight");
    other.assert_refused("straight: the batch should be 4 but is 3");
}

#[test]
fn invalid_options_are_one_line_errors_before_training() {
    let folder = temp_dir();
    fs::write(folder.path().join("garbage"), "garbage").unwrap();
    for (args, error) in [
        ("--resume garbage", "garbage is damaged or not a safetensors file: "),
        ("--resume missing", "cannot read missing: "),
        ("--checkpoint no/such/folder", "cannot write no/such/folder: "),
        ("--metrics no/such/folder", "cannot write no/such/folder: "),
    ] {
        let run = run(&folder, args);
        let line = run.stderr.strip_prefix("error: ").unwrap().trim_end();
        assert!(line.starts_with(error), "{line}");
        run.assert_refused(line);
    }
    for (args, error) in [
        ("--batch 0", "it must be at least 1"),
        ("--batch 10001", "it must be at most 10000"),
        ("--learning-rate 0", "it must be above 0 and finite"),
        ("--learning-rate nan", "it must be above 0 and finite"),
        ("--learning-rate 1e39", "it must be in the range of f32"),
        ("--learning-rate 1e-40", "it must be in the range of f32"),
        ("--steps 1000000001", "it must be at most 1000000000"),
        ("--checkpoint-every 1000000001", "it must be at most 1000000000"),
        ("--new-schedule", "required arguments were not provided"),
        ("--learning-rate fast", "it must be a number"),
        ("--steps -1", "it must be a whole number from 0 to 1000000000"),
        ("words", "unexpected argument"),
    ] {
        run(&folder, args).assert_usage(error);
    }
    assert_eq!(file_names(&folder), ["garbage"]);
}
