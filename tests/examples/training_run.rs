//! The example `training_run`: the program of the chapter about a real training run.

use crate::program::{built, end, interrupt, metrics_of, send, start};
use crate::support::{Tensors, file_names, sealed_file, temp_dir, tensors_of};
use serde_json::Value;
use std::fs;
use typed_transformer::weights;

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
    let said = format!("stopped after step {made} of 400; started again, it goes on\n");
    assert!(interrupted.stderr.contains(&said), "{}", interrupted.stderr);
    assert!(!whole.stderr.contains("stopped") && !whole.stderr.contains("no better"), "{}", whole.stderr);
    let evaluations = whole.stderr.split("loss ").filter(|rest| rest.contains("perplexity"));
    let losses = evaluations.filter_map(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
    let losses: Vec<f64> = losses.collect();
    // Logs are read as lines.
    assert!(!whole.stderr.contains(['\r', '\x1b']), "{:?}", whole.stderr);
    assert_eq!(whole.stderr.lines().filter(|line| line.starts_with("step ")).count(), 40);
    assert!(losses[0] > 4.0 && losses[losses.len() - 1] < 2.7, "{losses:?}");

    let file =
        |folder: &tempfile::TempDir, name: &str| fs::read(folder.path().join("training_run").join(name)).unwrap();
    assert!(file(&straight, "model.safetensors") == file(&stopped, "model.safetensors"));
    assert!(file(&straight, "metrics.jsonl") == file(&stopped, "metrics.jsonl"));
    let alphabet = &weights::metadata(straight.path().join("training_run/model.safetensors")).unwrap()["alphabet"];
    assert!(alphabet.starts_with("\n !") && alphabet.ends_with("xyz{}"), "{alphabet:?}");
    let last = metrics_of(&metrics).pop().unwrap();
    assert!(last.starts_with("{\"step\":400,"), "{last}");

    // The best checkpoint is that of the line with the lowest loss.
    let best = straight.path().join("training_run/checkpoint.best");
    let best: Value = serde_json::from_str(&weights::metadata(best).unwrap()["training"]).unwrap();
    let lines = metrics_of(&metrics).into_iter().map(|line| -> Value { serde_json::from_str(&line).unwrap() });
    let evaluated = lines.filter_map(|line| Some((line["validation_loss"].as_f64()?, line["step"].as_u64()?)));
    let lowest = evaluated.min_by(|(one, _), (other, _)| one.total_cmp(other)).unwrap();
    assert_eq!(best["step"].as_u64(), Some(lowest.1));

    let names = file_names(&straight);
    assert_eq!(names, ["training_run"]);

    // A complete training is evaluated again, and trained no further.
    end(train_in(&straight)).assert_ended_with(0);
    assert_eq!(metrics_of(&straight.path().join("training_run/metrics.jsonl")).len(), 400);
}

/// The checkpoint is changed: its best loss is one that no other is better than, more than `PATIENCE` steps ago.
#[cfg(unix)]
#[test]
fn a_training_that_no_longer_improves_saves_its_best_weights() {
    let (program, folder) = (built("training_run"), temp_dir());
    let at = |name: &str| folder.path().join("training_run").join(name);
    let child = start(&program, &folder, [""; 0]);
    interrupt(&child, &at("metrics.jsonl"), 205);
    end(child).assert_ended_with(0);
    let read = |name: &str| tensors_of(&fs::read(at(name)).unwrap());
    let (tensors, mut metadata) = read("checkpoint");
    let mut training: Value = serde_json::from_str(&metadata["training"]).unwrap();
    training["best_loss"] = "0".into();
    training["best_after"] = 0.into();
    metadata.insert("training".into(), training.to_string());
    fs::write(at("checkpoint"), sealed_file(&tensors, &metadata)).unwrap();

    let ended = end(start(&program, &folder, [""; 0]));
    ended.assert_ended_with(0);
    let said = "no better evaluation in 200 steps, so the training ends\n";
    assert!(ended.stderr.contains(said), "{}", ended.stderr);
    let model_in = |name: &str| -> Tensors {
        let tensors = read(name).0.into_iter();
        tensors.filter_map(|(path, tensor)| Some((path.strip_prefix("model.")?.to_string(), tensor))).collect()
    };
    let (saved, best) = (read("model.safetensors").0, model_in("checkpoint.best"));
    assert!(saved == best && best != model_in("checkpoint"));
}

/// `kill` and batch systems send it.
#[cfg(unix)]
#[test]
fn a_request_to_terminate_saves_a_checkpoint() {
    let folder = temp_dir();
    let child = start(&built("training_run"), &folder, [""; 0]);
    send("TERM", &child, &folder.path().join("training_run/metrics.jsonl"), 3);
    end(child).assert_ended_with(0);
    assert!(folder.path().join("training_run/checkpoint").exists());
}

#[cfg(unix)]
#[test]
fn a_closed_standard_error_does_not_stop_the_training() {
    let folder = temp_dir();
    let mut child = start(&built("training_run"), &folder, [""; 0]);
    drop(child.stderr.take());
    interrupt(&child, &folder.path().join("training_run/metrics.jsonl"), 60);
    end(child).assert_ended_with(0);
    assert!(folder.path().join("training_run/checkpoint").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_refused_line_of_metrics_costs_no_other_file() {
    let folder = temp_dir();
    let at = |name: &str| folder.path().join("training_run").join(name);
    fs::create_dir(folder.path().join("training_run")).unwrap();
    std::os::unix::fs::symlink("/dev/full", at("metrics.jsonl")).unwrap();
    let run = end(start(&built("training_run"), &folder, [""; 0]));
    run.assert_ended_with(1);
    assert!(run.stderr.contains("cannot write training_run/metrics.jsonl: No space left"), "{}", run.stderr);
    assert!(at("model.safetensors").exists() && at("index.html").exists());
}
