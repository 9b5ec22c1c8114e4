//! The example `training_run`: the program of the chapter about a real training run.

use crate::program::{built, end, interrupt, metrics_of, start};
use crate::support::{file_names, temp_dir};
use std::fs;

#[cfg(unix)]
#[test]
fn a_training_goes_on_after_ctrl_c_to_the_same_bits() {
    let program = built("training_run");
    let (straight, stopped) = (temp_dir(), temp_dir());
    let train_in = |folder: &tempfile::TempDir| start(&program, folder, [""; 0]);
    let (whole, child) = (train_in(&straight), train_in(&stopped));
    let metrics = stopped.path().join("training_run/metrics.jsonl");
    interrupt(&child, &metrics, 60);
    let interrupted = end(child);
    let made = metrics_of(&metrics).len();
    let is_saved = stopped.path().join("training_run/model.safetensors").exists();
    let [whole, resumed] = [whole, train_in(&stopped)].map(end);

    for run in [&whole, &interrupted, &resumed] {
        run.assert_ended_with(0);
    }
    assert!((60..400).contains(&made) && !is_saved, "{made} {is_saved}");
    let evaluations = whole.stderr.split("loss ").filter(|rest| rest.contains("perplexity"));
    let losses = evaluations.filter_map(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
    let losses: Vec<f64> = losses.collect();
    assert!(losses[0] > 4.0 && losses[losses.len() - 1] < 2.7, "{losses:?}");

    let file =
        |folder: &tempfile::TempDir, name: &str| fs::read(folder.path().join("training_run").join(name)).unwrap();
    assert!(file(&straight, "model.safetensors") == file(&stopped, "model.safetensors"));
    assert!(file(&straight, "metrics.jsonl") == file(&stopped, "metrics.jsonl"));
    let last = metrics_of(&metrics).pop().unwrap();
    assert!(last.starts_with("{\"step\":400,"), "{last}");
    let names = file_names(&straight);
    assert_eq!(names, ["training_run"]);

    // A complete training is evaluated again, and trained no further.
    end(train_in(&straight)).assert_ended_with(0);
    assert_eq!(metrics_of(&straight.path().join("training_run/metrics.jsonl")).len(), 400);
}
