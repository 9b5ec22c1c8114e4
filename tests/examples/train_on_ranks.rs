//! The example `train_on_ranks` as one process. `tests/ranks` runs it on several.

use crate::program::{built, end, interrupt, start};
use crate::support::{file_names, temp_dir};
use std::fs;

#[test]
fn the_model_learns_to_repeat() {
    let folder = temp_dir();
    let run = end(start(&built("train_on_ranks"), &folder, ["--save", "weights"]));
    run.assert_ended_with(0);
    assert_eq!(run.stdout, "100.0 % of the repeated digits predicted\n");
    assert!(run.stderr.ends_with("saved weights\n"), "{}", run.stderr);
    assert_eq!(file_names(&folder), ["weights"]);
}

#[test]
fn a_missed_goal_is_an_error_and_a_short_training_is_none() {
    end(start(&built("train_on_ranks"), &temp_dir(), ["--steps", "0"])).assert_ended_with(0);
    let run = end(start(&built("train_on_ranks"), &temp_dir(), ["--steps", "3", "--goal", "99"]));
    run.assert_ended_with(1);
    assert!(run.stderr.contains("error: only ") && run.stderr.ends_with("try more --steps\n"), "{}", run.stderr);
    assert!(run.stdout.ends_with(" % of the repeated digits predicted\n"), "{}", run.stdout);
}

#[cfg(unix)]
#[test]
fn a_training_resumed_after_ctrl_c_is_bit_exact() {
    let (straight, stopped) = (temp_dir(), temp_dir());
    let program = built("train_on_ranks");
    let args = ["--steps", "2000", "--batch", "5", "--metrics", "metrics", "--save", "weights"];
    end(start(&program, &straight, args));
    let child = start(&program, &stopped, args);
    interrupt(&child, &stopped.path().join("metrics"), 5);
    let run = end(child);
    run.assert_ended_with(130);
    assert!(run.stderr.contains("--resume train_on_ranks.checkpoint goes on from there"), "{}", run.stderr);
    end(start(&program, &stopped, args.into_iter().chain(["--resume", "train_on_ranks.checkpoint"])));
    for file in ["metrics", "weights"] {
        let [expected, found] = [&straight, &stopped].map(|folder| fs::read(folder.path().join(file)).unwrap());
        assert!(found == expected, "{file}");
    }
}
