//! N ranks train as one.

use crate::launch::{losses, start_with_grace};
use crate::support::{PLAYS, temp_dir, tensors_of};
use std::fs;

/// The difference of losses that rounding may make.
const TOLERANCE: f64 = 1e-5;

/// The steps over which docs/ranks.md says how far losses differ.
const LONG: usize = 200;

/// Trains on 1 to 4 ranks, and compares losses with those of one, and the files of two runs of the numbers of ranks in
/// `repeated` bit by bit.
#[track_caller]
fn assert_trains_as_one(example: &str, args: &[&str], steps: usize, repeated: &[usize]) {
    let folder = temp_dir();
    let train = |ranks: usize, name: &str| {
        let (metrics, weights) = (format!("{name}.jsonl"), format!("{name}.safetensors"));
        let steps = steps.to_string();
        let mut all = vec!["--metrics", &metrics, "--save", &weights, "--steps", &steps];
        all.extend(args);
        let run = start_with_grace(0, example, ranks, &folder, &all).end();
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let (tensors, _) = tensors_of(&fs::read(folder.path().join(&weights)).unwrap());
        (losses(&folder, &metrics), tensors, run)
    };
    let (alone, _, _) = train(1, "alone");
    assert_eq!(alone.len(), steps);
    for ranks in 2..=4 {
        let (together, weights, run) = train(ranks, &format!("{ranks}"));
        assert_eq!(together.len(), steps);
        for (step, (loss, expected)) in together.iter().zip(&alone).enumerate() {
            assert!((loss - expected).abs() < TOLERANCE, "step {step} of {ranks} ranks: {loss}, alone {expected}");
        }
        if repeated.contains(&ranks) {
            let (again, same_weights, _) = train(ranks, &format!("{ranks}-again"));
            assert!(again == together && same_weights == weights, "two runs of {ranks} ranks differ");
        }
        // Only the first rank shows progress and results.
        let last = format!("step {steps}/{steps}");
        assert_eq!(run.stderr.matches(&last).count(), 1, "{}", run.stderr);
    }
}

#[test]
fn digits_with_unequal_parts() {
    assert_trains_as_one("train_on_ranks", &["--batch", "50"], LONG, &[2, 3, 4]);
}

#[test]
fn digits_with_a_rank_that_has_no_row() {
    assert_trains_as_one("train_on_ranks", &["--batch", "3"], 30, &[4]);
}

#[test]
fn sequences() {
    assert_trains_as_one("train_sequences", &["--batch", "10"], 8, &[3]);
}

#[test]
fn sequences_with_a_rank_that_has_no_row() {
    assert_trains_as_one("train_sequences", &["--batch", "3"], 4, &[4]);
}

#[test]
fn characters() {
    let args = &["--batch", "5", "--interval", "8", "--sample", "10", "--data", PLAYS];
    assert_trains_as_one("train_shakespeare", args, 8, &[3]);
}

#[test]
#[ignore = "takes many minutes"]
fn two_hundred_steps_of_sequences() {
    assert_trains_as_one("train_sequences", &["--batch", "10"], LONG, &[2, 4]);
}

#[test]
#[ignore = "takes many minutes"]
fn two_hundred_steps_of_characters() {
    assert_trains_as_one("train_shakespeare", &["--batch", "5", "--interval", "0", "--sample", "10"], LONG, &[]);
}
