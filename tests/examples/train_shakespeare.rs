//! The example `train_shakespeare`, run as a user runs it, with few steps because learning takes minutes.

use crate::program::{Run, built, check_resumed_after_ctrl_c, end, metrics_of, start};
use crate::support::{file_names, temp_dir};
use std::{fs, path::PathBuf, sync::LazyLock};
use tempfile::TempDir;

static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| built("train_shakespeare"));

fn run(folder: &TempDir, args: &str) -> Run {
    end(start(&PROGRAM, folder, args.split_whitespace()))
}

/// A folder with a learnable text of this many characters.
fn with_text(characters: usize) -> TempDir {
    let folder = temp_dir();
    let text: String = "to be or not to be.\n".chars().cycle().take(characters).collect();
    fs::write(folder.path().join("text"), text).unwrap();
    folder
}

/// The training and validation loss in a line that begins with `after step N: `.
fn losses(line: &str) -> (f64, f64) {
    let (_, losses) = line.split_once(": training loss ").unwrap();
    let (training, validation) = losses.split_once(", validation loss ").unwrap();
    (training.parse().unwrap(), validation.parse().unwrap())
}

#[test]
fn the_loss_falls_and_samples_use_the_characters_of_the_text() {
    let folder = with_text(2_000);
    let args = "--data text --steps 120 --batch 4 --interval 50 --sample 90 --metrics metrics";
    let run = run(&folder, args);
    run.assert_ended_with(0);
    let evaluations: Vec<&str> = run.stderr.lines().filter(|line| line.starts_with("after step ")).collect();
    let steps = evaluations.iter().map(|line| line.split([' ', ':']).nth(2).unwrap());
    assert_eq!(steps.collect::<Vec<_>>(), ["0", "50", "100", "120"]);
    // Before training, all tokens of the vocabulary are equally likely.
    let (training, validation) = losses(evaluations[0]);
    assert!((training - 256f64.ln()).abs() < 0.1 && (validation - 256f64.ln()).abs() < 0.1);
    let (training, validation) = losses(evaluations[3]);
    assert!(training < 1.5 && validation < 1.5, "{evaluations:?}");
    assert_eq!(run.stderr.lines().filter(|line| line.starts_with("step ")).count(), 10);

    let (loss, sample) = run.stdout.split_once("\n\n").unwrap();
    let loss = loss.strip_prefix("validation loss ").unwrap();
    let loss: f64 = loss.strip_suffix(" over all 200 characters").unwrap().parse().unwrap();
    assert!((loss - validation).abs() < 0.2, "{loss} {validation}");
    // The prompt, the generated characters, and a line break.
    assert_eq!(sample.chars().count(), 1 + 90 + 1);
    assert!(sample.starts_with('\n'), "{sample:?}");
    assert!(sample.chars().all(|c| "to be or not to be.\n".contains(c)), "{sample:?}");

    let metrics = metrics_of(&folder.path().join("metrics"));
    assert_eq!(metrics.len(), 120);
    let noted = metrics.iter().enumerate().filter(|(_, line)| line.contains("\"validation_loss\":"));
    assert_eq!(noted.map(|(i, _)| i).collect::<Vec<_>>(), [0, 50, 100]);
}

#[test]
fn the_default_text_is_shakespeare() {
    let folder = temp_dir();
    let report = if cfg!(feature = "plot") { "--report report" } else { "" };
    let args = "--steps 1 --batch 50 --interval 0 --sample 5 --prompt ROMEO: --top-k 3 --top-p 0.9";
    let run = run(&folder, &format!("{args} {report}"));
    run.assert_ended_with(0);
    let (loss, sample) = run.stdout.split_once("\n\n").unwrap();
    assert!(loss.ends_with(" over all 124764 characters"), "{loss}");
    assert!(sample.starts_with("ROMEO:") && sample.chars().count() == 6 + 5 + 1, "{sample:?}");
    if cfg!(feature = "plot") {
        let page = fs::read_to_string(folder.path().join("report/index.html")).unwrap();
        assert!(page.contains("<td>text</td><td>plays by Shakespeare</td>"));
    }
}

#[test]
fn saved_weights_keep_the_characters_of_their_text() {
    let folder = with_text(1_000);
    let sampled = "--sample 40 --prompt not --temperature 0.5 --seed 3";
    let trained = run(&folder, &format!("--data text --steps 5 --batch 2 --save weights {sampled}"));
    trained.assert_ended_with(0);
    // Weights are saved before the last estimate of the loss.
    let (_, after) = trained.stderr.split_once("saved weights\n").unwrap();
    assert!(after.starts_with("after step 5: "), "{}", trained.stderr);
    fs::remove_file(folder.path().join("text")).unwrap();

    let loaded = run(&folder, &format!("--load weights {sampled}"));
    loaded.assert_ended_with(0);
    assert_eq!(loaded.stderr, "");
    let (_, sample) = trained.stdout.split_once("\n\n").unwrap();
    assert_eq!(loaded.stdout, sample);
    let other = run(&folder, "--load weights --sample 40 --prompt not --temperature 0.5 --seed 4");
    assert_ne!(other.stdout, sample);

    let unknown = "--prompt: 'x' at position 0 is not one of the 9 characters of the vocabulary";
    run(&folder, "--load weights --prompt x").assert_refused(unknown);
    assert_eq!(file_names(&folder), ["weights"]);
}

#[cfg(unix)]
#[test]
fn a_training_resumed_after_ctrl_c_is_bit_exact() {
    let folder = with_text(1_000);
    check_resumed_after_ctrl_c(&PROGRAM, &folder, "--data text --batch 2 --interval 15 --sample 20", 40);

    // A text of the same length and characters is refused as well.
    let text = fs::read_to_string(folder.path().join("text")).unwrap();
    fs::write(folder.path().join("text"), text.replacen("to", "ot", 1)).unwrap();
    let other = run(&folder, "--data text --steps 40 --batch 2 --resume straight");
    other.assert_ended_with(1);
    assert!(other.stderr.starts_with("error: straight: the text should be 1000 characters"), "{}", other.stderr);

    // A checkpoint is not a file of weights.
    let error = "straight: there are no characters with the weights; --save writes both, also after --resume of a \
                 checkpoint; weights trained with --from are loaded with it";
    run(&folder, "--load straight").assert_refused(error);
}

#[test]
fn a_text_too_short_or_with_too_many_characters_is_an_error() {
    let folder = temp_dir();
    let needed = "but 641 are needed: the last tenth is for validation, and a window and the character after it are 65 characters";
    let distinct = |count: u32| (0..700).map(|i| char::from_u32(0x4e00 + i % count).unwrap()).collect::<String>();
    for (text, error) in [
        (String::new(), format!("the text has 0 characters, {needed}")),
        ("a".repeat(640), format!("the text has 640 characters, {needed}")),
        (distinct(257), "the text has 257 different characters, but `VocabSize` has room for 256".into()),
    ] {
        fs::write(folder.path().join("text"), text).unwrap();
        run(&folder, "--data text").assert_refused(&format!("text: {error}"));
    }
    fs::write(folder.path().join("text"), b"caf\xe9").unwrap();
    run(&folder, "--data text").assert_refused("text: not UTF-8 at byte 3");
    let missing = run(&folder, "--data missing");
    assert!(missing.stderr.starts_with("error: cannot read missing: "), "{}", missing.stderr);
    missing.assert_ended_with(1);

    // The shortest text, and the largest number of different characters.
    for text in ["a".repeat(641), distinct(256)] {
        fs::write(folder.path().join("text"), text).unwrap();
        run(&folder, "--data text --steps 0 --sample 3").assert_ended_with(0);
    }
}

#[test]
fn invalid_options_are_one_line_errors_before_training() {
    let folder = with_text(700);
    fs::write(folder.path().join("garbage"), "garbage").unwrap();
    for (args, error) in [
        ("--temperature 0", "a temperature must be above 0 and finite, but it is 0"),
        ("--top-k 0", "top-k must keep at least 1 token, but it is 0"),
        ("--top-p 1.5", "top-p must be above 0 and at most 1, but it is 1.5"),
        ("--prompt é", "--prompt: 'é' at position 0 is not one of the 9 characters of the vocabulary"),
        ("--save no/such/folder", "cannot write no/such/folder: "),
        ("--checkpoint no/such/folder", "cannot write no/such/folder: "),
        ("--metrics no/such/folder", "cannot write no/such/folder: "),
        ("--resume garbage", "garbage is damaged or not a safetensors file: "),
    ] {
        let run = run(&folder, &format!("--data text {args}"));
        let line = run.stderr.strip_prefix("error: ").unwrap().trim_end();
        assert!(line.starts_with(error), "{line}");
        run.assert_refused(line);
    }
    let run_load = run(&folder, "--load garbage");
    assert!(run_load.stderr.starts_with("error: garbage is damaged or not a safetensors file: "));
    run_load.assert_ended_with(1);
    for (args, error) in [
        ("--batch 0", "it must be at least 1"),
        ("--sample 1000000001", "it must be at most 1000000000"),
        ("--interval 1000000001", "it must be at most 1000000000"),
        ("--learning-rate -1", "it must be above 0 and finite"),
        ("--load garbage --steps 3", "cannot be used with"),
        ("--load garbage --resume garbage", "cannot be used with"),
        ("--load garbage --data text", "cannot be used with"),
    ] {
        run(&folder, args).assert_usage(error);
    }
    assert_eq!(file_names(&folder), ["garbage", "text"]);
}
