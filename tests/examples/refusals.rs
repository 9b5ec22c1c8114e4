//! What the examples refuse before they begin: outputs beside a checkpoint, inputs as outputs, folders and pictures that are
//! not theirs, and words that a terminal would obey.

use crate::outputs::{error, run};
use crate::program::{built, end, start};
use crate::support::{file_names, temp_dir};
use std::fs;
use std::process::{Command, Stdio};

#[test]
fn inputs_and_files_beside_a_checkpoint_are_no_outputs() {
    let folder = temp_dir();
    let at = |name: &str| folder.path().join(name);
    run(&folder, "train_sequences", "--steps 2 --batch 2 --checkpoint s --checkpoint-every 1");
    fs::create_dir(at("gpt2")).unwrap();
    fs::write(at("gpt2/model.safetensors"), "of great value").unwrap();
    fs::write(at("text"), "of great value").unwrap();
    let before = |names: &[&str]| names.iter().map(|name| fs::read(at(name)).unwrap()).collect::<Vec<_>>();
    let names = ["s", "s.best", "s.previous-1", "text", "gpt2/model.safetensors"];
    let contents = before(&names);
    for (example, args, refused) in [
        ("train_rot13", "--checkpoint c --metrics c.best", "c.best and a file of the checkpoint c are the same file"),
        ("train_rot13", "--checkpoint c --save c.previous-1", "c.previous-1 and a file of the checkpoint c are"),
        ("train_sequences", "--resume s --checkpoint t --metrics s --overwrite", "s is given for two files"),
        ("train_sequences", "--resume s.best --checkpoint t --save s --overwrite", "s is given for two files"),
        (
            "train_sequences",
            "--resume s --metrics s.previous-1 --overwrite",
            "s.previous-1 and a file of the checkpoint s",
        ),
    ] {
        let run = run(&folder, example, &format!("--steps 3 --batch 2 {args}"));
        assert!(error(&run).starts_with(refused), "{args}: {}", error(&run));
        assert!(before(&names) == contents, "{args}");
    }
    fs::write(at("text"), "word ".repeat(1_000)).unwrap();
    let contents = before(&names);
    for option in ["--metrics", "--save", "--checkpoint"] {
        let args = format!("--steps 3 --batch 2 --data text {option} text --overwrite");
        assert!(error(&run(&folder, "train_shakespeare", &args)).starts_with("text is given for two files"), "{args}");
    }
    assert!(before(&names) == contents);
}

#[cfg(feature = "plot")]
#[test]
fn reports_and_pictures_replace_nothing_else() {
    let folder = temp_dir();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("mine")).unwrap();
    fs::write(at("mine/metrics.jsonl"), "{\"step\":1}\n").unwrap();
    fs::write(at("mine/loss.png"), "of great value").unwrap();
    let refused = run(&folder, "train_rot13", "--steps 2 --batch 2 --report mine");
    assert_eq!(error(&refused), "mine has files that are not of a report; --overwrite replaces them");
    assert_eq!(fs::read(at("mine/loss.png")).unwrap(), b"of great value");
    // Metrics alone are those of a training run that was stopped.
    fs::remove_file(at("mine/loss.png")).unwrap();
    assert!(run(&folder, "train_rot13", "--steps 2 --batch 2 --report mine").stderr.contains("wrote mine/index.html"));

    fs::write(at("photo.png"), "of great value").unwrap();
    let refused = run(&folder, "position_curves", "photo.png");
    assert_eq!(error(&refused), "photo.png exists; --overwrite replaces it");
    assert_eq!(fs::read(at("photo.png")).unwrap(), b"of great value");
    assert!(run(&folder, "position_curves", "photo.png --overwrite").status.success());
}

#[cfg(all(feature = "plot", unix))]
#[test]
fn a_pipe_in_the_place_of_a_page_or_of_metrics_is_not_waited_for() {
    let folder = temp_dir();
    fs::create_dir(folder.path().join("report")).unwrap();
    for pipe in ["report/index.html", "pipe"] {
        assert!(Command::new("mkfifo").arg(folder.path().join(pipe)).status().unwrap().success());
    }
    let refused = run(&folder, "train_rot13", "--steps 2 --batch 2 --report report");
    assert_eq!(error(&refused), "report has files that are not of a report; --overwrite replaces them");
    let refused = run(&folder, "train_rot13", "--steps 2 --batch 2 --metrics pipe");
    assert!(error(&refused).starts_with("cannot write pipe: "), "{}", refused.stderr);
}

#[test]
fn words_reach_the_terminal_escaped_and_cut() {
    let folder = temp_dir();
    let words = format!("ab\u{1b}]0;x\u{7} {}", "a".repeat(1_000));
    fs::write(folder.path().join("words"), words).unwrap();
    let mut command = Command::new(built("train_rot13"));
    command.arg("-").stdin(fs::File::open(folder.path().join("words")).unwrap());
    let run = end(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    assert_eq!(error(&run), r"`\u{1b}` in `ab\u{1b}]0;x\u{7}` is not a letter from a to z");
    let long = end(start(&built("train_rot13"), &folder, ["a".repeat(1_000)]));
    let shown = "a".repeat(40);
    assert_eq!(error(&long), format!("`{shown}…` has 1000 letters, but the model takes at most 15"));
}

#[test]
fn the_older_variable_of_threads_and_the_options_of_checkpoints_are_alike() {
    for example in ["train_rot13", "train_sequences", "train_shakespeare", "train_on_ranks"] {
        let folder = temp_dir();
        let mut command = Command::new(built(example));
        command.args(["--steps", "2"]).env("RAYON_RS_NUM_CPUS", "99999").env_remove("CLICOLOR_FORCE");
        command.current_dir(folder.path());
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        end(child).assert_usage("RAYON_RS_NUM_CPUS must be a number from 0 to 1024, but it is `99999`");
        let short = "--steps 2 --batch 2 --checkpoint-every 1";
        let args = if example == "train_shakespeare" { "--interval 0 --sample 1" } else { "" };
        run(&folder, example, &format!("{short} {args} --checkpoint c"));
        assert_eq!(file_names(&folder), ["c", "c.best", "c.previous-1"], "{example}");
        let resumed = run(&folder, example, &format!("{short} {args} --resume c.previous-1 --checkpoint d"));
        assert!(!resumed.stdout.is_empty(), "{}", resumed.stderr);
        assert!(file_names(&folder).contains(&"d".to_string()), "{example}: {}", resumed.stderr);
    }
}
