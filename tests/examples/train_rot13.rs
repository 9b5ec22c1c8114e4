//! The example `train_rot13`, run as a user runs it.

use crate::program::{TIMEOUT, built};
use crate::support::{file_names, signal, temp_dir};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};
use std::{fs, thread};
use tempfile::TempDir;

// ---- The program ----

static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| built("train_rot13"));

/// Longer than the program waits for a first byte.
const PAUSE: Duration = Duration::from_millis(1_500);

/// The standard input of the program.
enum Input<'a> {
    /// Empty.
    Nothing,
    /// A text.
    Text(&'a str),
    /// A text, and after a [`PAUSE`] another one.
    Slowly(&'a str, &'a str),
    /// An open pipe to which nothing is written.
    Silence,
    /// A file that cannot be read.
    File(fs::File),
}

/// The outcome of a run.
struct Run {
    status: ExitStatus,
    stdout: String,
    stderr: String,
}

/// The program with these arguments, in `folder`, to which its relative paths refer.
fn program<'a>(folder: &TempDir, args: impl IntoIterator<Item = &'a str>) -> Command {
    let mut program = Command::new(&*PROGRAM);
    program.args(args).current_dir(folder.path()).env_remove("CLICOLOR_FORCE");
    program.stdout(Stdio::piped()).stderr(Stdio::piped());
    program
}

/// Runs the program until it ends.
fn run(mut program: Command, input: Input) -> Run {
    let (stdin, mut writer) = io::pipe().unwrap();
    program.stdin(match &input {
        Input::Nothing => Stdio::null(),
        Input::File(file) => file.try_clone().unwrap().into(),
        _ => stdin.into(),
    });
    // Text without a pause is there before the program starts, because the program waits only a second for it.
    if let Input::Text(text) | Input::Slowly(text, _) = &input {
        writer.write_all(text.as_bytes()).unwrap();
    }
    let mut child = program.spawn().unwrap();
    // Otherwise this process would hold the reading end too.
    drop(program);
    thread::scope(|scope| {
        let stdout = child.stdout.take().map(|out| scope.spawn(|| read_all(out)));
        let stderr = child.stderr.take().map(|err| scope.spawn(|| read_all(err)));
        if let Input::Slowly(_, text) = &input {
            thread::sleep(PAUSE);
            // The program may have ended without reading.
            let _ = writer.write_all(text.as_bytes());
        }
        let silent = matches!(input, Input::Silence).then_some(writer);
        let status = wait(&mut child, Instant::now() + TIMEOUT);
        drop(silent);
        Run {
            status,
            stdout: stdout.map_or_else(String::new, |out| out.join().unwrap()),
            stderr: stderr.map_or_else(String::new, |err| err.join().unwrap()),
        }
    })
}

fn read_all(mut stream: impl Read) -> String {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn wait(child: &mut Child, until: Instant) -> ExitStatus {
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if Instant::now() > until {
            child.kill().unwrap();
            panic!("timed out");
        }
        thread::sleep(Duration::from_millis(5));
    }
}

// ---- Assertions about a run ----

impl Run {
    /// Asserts success, and that standard error reports no error.
    #[track_caller]
    fn assert_success(&self) -> &Self {
        assert!(self.status.success(), "{}\n{}", self.status, self.stderr);
        assert!(!self.stderr.contains("error"), "{}", self.stderr);
        self.assert_no_panic()
    }

    /// Asserts failure with this one line on standard error, besides progress.
    #[track_caller]
    fn assert_error(&self, line: &str) -> &Self {
        self.assert_failure();
        let said: Vec<_> = self.stderr.lines().filter(|line| !is_progress(line)).collect();
        assert_eq!(said, [format!("error: {line}")]);
        self
    }

    /// Asserts failure with exactly one error line, which it returns.
    #[track_caller]
    fn assert_failure(&self) -> &str {
        assert_eq!(self.status.code(), self.status.code().filter(|code| [1, 2].contains(code)));
        self.assert_no_panic();
        let mut errors = self.stderr.lines().filter(|line| line.starts_with("error:"));
        let error = errors.next().unwrap_or_else(|| panic!("no error: {}", self.stderr));
        assert_eq!(errors.next(), None, "{}", self.stderr);
        error
    }

    /// Asserts that the program failed before it trained or decoded anything.
    #[track_caller]
    fn assert_failed_before_training(&self) -> &Self {
        assert_eq!(self.progress(), [""; 0]);
        assert_eq!(self.stdout, "");
        self
    }

    #[track_caller]
    fn assert_no_panic(&self) -> &Self {
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self
    }

    /// Asserts that exactly these words were given, each with its correct cipher.
    #[track_caller]
    fn assert_decoded(&self, words: &[(&str, &str)]) -> &Self {
        let mut lines = self.stdout.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        assert_eq!(lines.next().unwrap(), ["given", "plain", "cipher"]);
        for (plain, cipher) in words {
            assert_eq!(lines.next().unwrap(), [*plain, *cipher]);
        }
        assert_eq!(lines.next().unwrap(), [""; 0]);
        assert_eq!(lines.next().unwrap(), ["random", "plain", "cipher"]);
        self
    }

    /// The accuracy on random words, from the last line.
    fn accuracy(&self) -> &str {
        let line = self.stdout.lines().last().unwrap();
        line.strip_suffix(" of 1000 fresh random words decoded exactly").unwrap()
    }

    fn progress(&self) -> Vec<&str> {
        self.stderr.lines().filter(|line| is_progress(line)).collect()
    }
}

fn is_progress(line: &str) -> bool {
    line.starts_with("step ")
}

const DEFAULT: [(&str, &str); 4] = [("hey", "url"), ("there", "gurer"), ("ma", "zn"), ("dood", "qbbq")];
const ATTACK: [(&str, &str); 3] = [("attack", "nggnpx"), ("at", "ng"), ("dawn", "qnja")];
/// A training run too short to learn anything.
const THREE_STEPS: [&str; 2] = ["--steps", "3"];

// ---- Training, and weights for later tests ----

/// The one long training of this file, and the weights it saved.
static TRAINED: LazyLock<(Run, Vec<u8>)> = LazyLock::new(|| {
    let folder = temp_dir();
    let args = ["--steps", "1500", "--seed", "3", "--save", "rot13.safetensors"];
    let run = run(program(&folder, args), Input::Nothing);
    assert_eq!(file_names(&folder), ["rot13.safetensors"], "{}", run.stderr);
    let weights = fs::read(folder.path().join("rot13.safetensors")).unwrap();
    (run, weights)
});

/// A folder with the trained weights in the file `weights`.
fn trained() -> TempDir {
    let folder = temp_dir();
    fs::write(folder.path().join("weights"), &TRAINED.1).unwrap();
    folder
}

/// Decodes with the trained weights and returns the standard error.
#[track_caller]
fn load_and_decode(words: &[&str], input: Input, expected: &[(&str, &str)]) -> String {
    let folder = trained();
    let args = ["--load", "weights"].iter().chain(words).copied();
    let run = run(program(&folder, args), input);
    run.assert_success().assert_decoded(expected);
    assert_eq!(run.accuracy(), "100.0 %");
    assert_eq!(run.progress(), [""; 0]);
    assert_eq!(file_names(&folder), ["weights"], "files were written");
    run.stderr
}

#[test]
fn the_model_learns_rot13() {
    let run = &TRAINED.0;
    run.assert_success().assert_decoded(&DEFAULT);
    assert_eq!(run.accuracy(), "100.0 %");
    // The ciphers of the five random words are correct too.
    assert!(!run.stdout.contains("but it is"), "{}", run.stdout);
    assert_eq!(run.stdout.lines().count(), 1 + 4 + 1 + 1 + 5 + 1 + 1);
}

#[test]
fn progress_without_a_terminal_is_plain_text() {
    let run = &TRAINED.0;
    let steps: Vec<_> = run
        .progress()
        .into_iter()
        .map(|line| {
            let words: Vec<_> = line.split_whitespace().collect();
            let ["step", step, "loss", loss, "rate", rate, speed, "tokens/s", time, "left"] = words[..] else {
                panic!("{line}");
            };
            assert!(loss.parse::<f32>().unwrap() < 4.0, "{line}");
            assert!((0.0..=0.03).contains(&rate.parse().unwrap()), "{line}");
            assert!(speed.parse::<u64>().unwrap() > 0, "{line}");
            let (minutes, seconds) = time.split_once(':').unwrap();
            assert!(minutes.parse::<u64>().unwrap() < 60, "{line}");
            assert!(seconds.parse::<u64>().unwrap() < 60, "{line}");
            step
        })
        .collect();
    let expected: Vec<_> = (1..=10).map(|tenth| format!("{}/1500", 150 * tenth)).collect();
    assert_eq!(steps, expected);
    assert_eq!(run.stderr.lines().last().unwrap(), "saved rot13.safetensors");
    assert_eq!(run.stderr.lines().count(), 11);
    for stream in [&run.stdout, &run.stderr] {
        assert!(stream.chars().all(|c| c == '\n' || !c.is_control()), "{stream:?}");
    }
}

#[test]
fn saved_weights_decode_words_from_the_command_line() {
    load_and_decode(&["attack", "at", "dawn"], Input::Nothing, &ATTACK);
    // Words are decoded in the given order, repetitions included.
    load_and_decode(&["ma", "a", "ma"], Input::Text("hey"), &[("ma", "zn"), ("a", "n"), ("ma", "zn")]);
    load_and_decode(&["abcdefghijklmno"], Input::Silence, &[("abcdefghijklmno", "nopqrstuvwxyzab")]);
}

#[test]
fn saved_weights_decode_words_from_standard_input() {
    load_and_decode(&[], Input::Text("attack at\n\n  dawn\n"), &ATTACK);
    load_and_decode(&[], Input::Text("attack\tat\r\ndawn"), &ATTACK);
    load_and_decode(&["-"], Input::Text("attack at dawn\n"), &ATTACK);
    load_and_decode(&["attack", "-"], Input::Text("at dawn\n"), &ATTACK);
    load_and_decode(&["-", "dawn"], Input::Text("attack at\n"), &ATTACK);
}

#[test]
fn without_words_the_default_ones_are_decoded() {
    load_and_decode(&[], Input::Nothing, &DEFAULT);
    load_and_decode(&[], Input::Text(" \n"), &DEFAULT);
    load_and_decode(&["-"], Input::Nothing, &DEFAULT);
}

#[test]
fn a_silent_standard_input_is_not_waited_for() {
    let said = load_and_decode(&[], Input::Silence, &DEFAULT);
    let notice = "nothing comes from standard input, so its words are not waited for\n";
    assert_eq!(said, notice);
    // With words on the command line, standard input is not read.
    assert_eq!(load_and_decode(&["ma"], Input::Silence, &[("ma", "zn")]), "");
}

#[test]
fn a_slow_writer_is_waited_for_after_its_first_byte() {
    load_and_decode(&[], Input::Slowly("attack a", "t dawn\n"), &ATTACK);
    // With `-`, standard input is always waited for.
    load_and_decode(&["-"], Input::Slowly("", "attack at dawn\n"), &ATTACK);
}

#[test]
fn equal_seeds_and_thread_counts_give_equal_results() {
    let train = |seed, threads| {
        let folder = temp_dir();
        let args = ["--steps", "30", "--seed", seed, "--save", "weights", "hey"];
        let mut program = program(&folder, args);
        program.env("RAYON_NUM_THREADS", threads);
        let run = run(program, Input::Nothing);
        run.assert_success();
        (run.stdout, fs::read(folder.path().join("weights")).unwrap())
    };
    let first = train("7", "2");
    assert!(first == train("7", "2"), "the second run differs");
    assert!(train("7", "1") == train("7", "1"), "the second run on one thread differs");
    let other = train("8", "2");
    assert!(first.0 != other.0 && first.1 != other.1, "the seed does nothing");
}

// ---- Resumed training runs ----

/// Starts a training run, sends Ctrl-C after its first progress, and returns its status and last line.
#[cfg(unix)]
fn interrupt(mut program: Command) -> (ExitStatus, String) {
    use std::io::{BufRead, BufReader};
    let mut child = program.stdin(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    assert!(is_progress(&first), "{first}");
    assert!(signal("INT", child.id()));
    let last = lines.last().unwrap().unwrap();
    (wait(&mut child, Instant::now() + TIMEOUT), last)
}

#[cfg(unix)]
#[test]
fn a_training_resumed_after_ctrl_c_is_bit_exact() {
    let args = ["--steps", "300", "--seed", "7", "--save", "weights", "hey"];
    let trained = |folder: &TempDir, more: &[&str]| {
        let args = args.iter().chain(more).copied();
        let run = run(program(folder, args), Input::Nothing);
        (run.stdout, fs::read(folder.path().join("weights")).unwrap())
    };
    let straight = trained(&temp_dir(), &[]);

    let folder = temp_dir();
    let stops = [("rot13.checkpoint", &[][..]), ("mine", &["--checkpoint", "mine"])];
    for (checkpoint, more) in stops {
        let args = args.iter().chain(more).copied();
        let (status, last) = interrupt(program(&folder, args));
        assert_eq!(status.code(), Some(130), "{last}");
        let step = last.strip_prefix("stopped after step ").unwrap();
        let (step, how) = step.split_once(" of 300; ").unwrap();
        assert!((30..300).contains(&step.parse().unwrap()), "{last}");
        let expected = format!("the same command with --resume {checkpoint} goes on from there");
        assert_eq!(how, expected);
    }
    assert_eq!(file_names(&folder), ["mine", "mine.best", "rot13.checkpoint", "rot13.checkpoint.best"]);
    assert!(trained(&folder, &["--resume", "rot13.checkpoint"]) == straight);
    // Nothing is in the way of the next training.
    assert_eq!(file_names(&folder), ["mine", "mine.best", "weights"]);
    assert!(trained(&folder, &["--resume", "mine"]) == straight);
    // This training is complete, so the program only decodes.
    assert!(trained(&folder, &["--resume", "mine"]) == straight);
}

#[test]
fn a_checkpoint_with_other_options_names_the_option() {
    let folder = temp_dir();
    let resumed = |args: &[&str]| {
        let mut args = args.to_vec();
        args.extend(["--resume", "checkpoint"]);
        run(program(&folder, args), Input::Nothing)
    };
    let missing = resumed(&[]);
    let error = missing.assert_failed_before_training().assert_failure();
    assert!(error.starts_with("error: cannot read checkpoint: "), "{error}");

    let args = THREE_STEPS.into_iter().chain(["--checkpoint", "checkpoint"]);
    run(program(&folder, args), Input::Nothing).assert_success();
    let before = fs::read(folder.path().join("checkpoint")).unwrap();
    const SEEDS: &str = "the random generator should be ChaCha8 with seed 1 but is ChaCha8 with seed 0";
    for (args, error) in [
        (&["--steps", "3", "--batch", "49"][..], "the batch should be 49 but is 50"),
        (&["--steps", "3", "--seed", "1"], SEEDS),
    ] {
        resumed(args).assert_error(&format!("checkpoint: {error}")).assert_failed_before_training();
    }
    let other = resumed(&["--steps", "4"]);
    let error = other.assert_failed_before_training().assert_failure();
    assert!(error.starts_with("error: checkpoint: the schedule should be "), "{error}");
    assert!(fs::read(folder.path().join("checkpoint")).unwrap() == before);
}

#[test]
fn metrics_have_one_json_line_per_step() {
    let folder = temp_dir();
    let args = THREE_STEPS.into_iter().chain(["--metrics", "metrics.jsonl"]);
    run(program(&folder, args), Input::Nothing).assert_success();
    let text = fs::read_to_string(folder.path().join("metrics.jsonl")).unwrap();
    assert_eq!(text.lines().count(), 3);
    for (line, step) in text.lines().zip(1..) {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["step"], step);
        let rate = line["learning_rate"].as_f64().unwrap();
        assert!((rate - 0.03 / 400.0 * f64::from(step)).abs() < 1e-12, "{line}");
        for name in ["loss", "gradient_norm"] {
            assert!(line[name].as_f64().unwrap() > 0.0, "{line}");
        }
    }
    let run = run(program(&folder, ["--metrics", "no/folder"]), Input::Nothing);
    let error = run.assert_failed_before_training().assert_failure();
    assert!(error.starts_with("error: cannot write no/folder: "), "{error}");
}

// ---- Failed training runs ----

#[test]
fn a_missed_goal_is_an_error_after_the_table() {
    let folder = temp_dir();
    let run = run(program(&folder, ["--steps", "5", "--save", "weights", "--goal", "99.9"]), Input::Nothing);
    assert_eq!(run.progress().len(), 5);
    for (plain, cipher) in DEFAULT {
        let line = run.stdout.lines().find(|line| line.starts_with(&format!("{plain} "))).unwrap();
        assert!(line.ends_with(&format!("   but it is {cipher}")), "{line}");
    }
    assert_eq!(run.accuracy(), "0.0 %");
    assert_eq!(run.status.code(), Some(1));
    // The weights are saved nevertheless.
    assert_eq!(file_names(&folder), ["weights"]);
    let (saved, error) = run.stderr.split_once("error: ").unwrap();
    assert!(saved.ends_with("saved weights\n"), "{saved}");
    assert_eq!(error, "only 0.0 % of the words came out right, not 99.9 %; try more --steps\n");
}

#[test]
fn a_non_finite_loss_ends_the_training() {
    let folder = temp_dir();
    let args = ["--steps", "1500", "--learning-rate", "1e30", "--save", "weights"];
    let run = run(program(&folder, args), Input::Nothing);
    let error = run.assert_failure();
    let reason = "error: the loss or its gradient is no longer a number at step ";
    let step = error.strip_prefix(reason).and_then(|rest| rest.split_once(';')).unwrap();
    assert!(step.0.parse::<usize>().unwrap() < 100, "{error}");
    assert_eq!(step.1, " try a lower --learning-rate");
    assert_eq!(run.stdout, "");
    assert_eq!(file_names(&folder), [""; 0], "non-finite weights were saved");
}

/// Steps count from 1 in progress, too.
#[test]
fn the_step_that_fails_is_the_one_after_the_last_shown() {
    let folder = temp_dir();
    let run = run(program(&folder, ["--steps", "3", "--learning-rate", "1e38"]), Input::Nothing);
    let made = run.progress().len();
    assert!(run.assert_failure().contains(&format!(" at step {}; ", made + 1)), "{}", run.stderr);
    assert!((1..3).contains(&made), "{}", run.stderr);
}

// ---- Invalid words ----

#[test]
fn an_invalid_word_is_named_in_the_error() {
    let folder = temp_dir();
    for (word, error) in [
        ("he7", "`7` in `he7` is not a letter from a to z"),
        ("Hey", "`H` in `Hey` is not a letter from a to z"),
        ("größe", "`ö` in `größe` is not a letter from a to z"),
        ("ma-ma", "`-` in `ma-ma` is not a letter from a to z"),
        ("ma dood", "` ` in `ma dood` is not a letter from a to z"),
        ("abcdefghijklmnop", "`abcdefghijklmnop` has 16 letters, but the model takes at most 15"),
        ("", "a word must have at least one letter"),
    ] {
        // The other words make no difference.
        for words in [&[word][..], &["hey", word], &[word, "hey"]] {
            let run = run(program(&folder, words.iter().copied()), Input::Nothing);
            run.assert_error(error).assert_failed_before_training();
        }
    }
    for (text, error) in [
        ("hey Hey", "`H` in `Hey` is not a letter from a to z"),
        ("hey,there", "`,` in `hey,there` is not a letter from a to z"),
        ("abcdefghijklmnop", "`abcdefghijklmnop` has 16 letters, but the model takes at most 15"),
    ] {
        let run = run(program(&folder, []), Input::Text(text));
        run.assert_error(error).assert_failed_before_training();
    }
}

// ---- Invalid options ----

#[test]
fn invalid_options_are_an_error() {
    let folder = temp_dir();
    for (args, error) in [
        (&["--batch", "0"][..], "error: invalid value '0' for '--batch <BATCH>': it must be at least 1"),
        (
            &["--batch", "many"],
            "error: invalid value 'many' for '--batch <BATCH>': it must be a whole number from 1 to 10000",
        ),
        (&["--batch", "18446744073709551615"], "error: invalid value '18446744073709551615' for '--batch <BATCH>'"),
        (
            &["--steps", "-1"],
            "error: invalid value '-1' for '--steps <STEPS>': it must be a whole number from 0 to 1000000000",
        ),
        (
            &["--steps", "1e3"],
            "error: invalid value '1e3' for '--steps <STEPS>': it must be a whole number from 0 to 1000000000",
        ),
        (
            &["--learning-rate", "fast"],
            "error: invalid value 'fast' for '--learning-rate <LEARNING_RATE>': it must be a number",
        ),
        (&["--goal", "all"], "error: invalid value 'all' for '--goal <PERCENT>': it must be a number"),
        (&["--steps", "1000000001"], "error: invalid value '1000000001' for '--steps <STEPS>'"),
        (&["--learning-rate", "0"], "error: invalid value '0' for '--learning-rate <LEARNING_RATE>'"),
        (&["--learning-rate=-0.01"], "error: invalid value '-0.01' for '--learning-rate <LEARNING_RATE>'"),
        (&["--learning-rate", "NaN"], "error: invalid value 'NaN' for '--learning-rate <LEARNING_RATE>'"),
        (&["--learning-rate", "inf"], "error: invalid value 'inf' for '--learning-rate <LEARNING_RATE>'"),
        (&["--seed", "1.5"], "error: invalid value '1.5' for '--seed <SEED>'"),
        (
            &["--load", "weights", "--steps", "5"],
            "error: the argument '--load <PATH>' cannot be used with '--steps <STEPS>'",
        ),
        (
            &["--load", "weights", "--save", "other"],
            "error: the argument '--load <PATH>' cannot be used with '--save <PATH>'",
        ),
        (&["--save"], "error: a value is required for '--save <PATH>'"),
        (&["--stpes", "5"], "error: unexpected argument '--stpes' found"),
    ] {
        let run = run(program(&folder, args.iter().copied()), Input::Nothing);
        let said = run.assert_failure();
        assert!(said.starts_with(error), "{said}");
        run.assert_failed_before_training();
    }
    assert_eq!(file_names(&folder), [""; 0]);
}

// ---- Files ----

/// Runs the program with `--load` and a file of these bytes.
fn load(bytes: &[u8]) -> Run {
    let folder = temp_dir();
    fs::write(folder.path().join("weights"), bytes).unwrap();
    run(program(&folder, ["--load", "weights", "hey"]), Input::Nothing)
}

#[test]
fn unreadable_weights_are_named_in_the_error() {
    let folder = temp_dir();
    for path in ["missing", "."] {
        let run = run(program(&folder, ["--load", path]), Input::Nothing);
        let error = run.assert_failed_before_training().assert_failure();
        assert!(error.starts_with(&format!("error: cannot read {path}: ")), "{error}");
    }
    for damaged in [&b""[..], b"no weights at all", &TRAINED.1[..TRAINED.1.len() - 1]] {
        let run = load(damaged);
        let error = run.assert_failed_before_training().assert_failure();
        let expected = "error: weights is damaged or not a safetensors file: ";
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn a_checkpoint_in_place_of_weights_is_an_error_with_the_options_that_help() {
    let folder = temp_dir();
    let args = THREE_STEPS.into_iter().chain(["--checkpoint", "c"]);
    run(program(&folder, args), Input::Nothing).assert_success();
    let error = "c is a checkpoint, not a file of weights; --resume goes on with it, and --save then saves the weights";
    run(program(&folder, ["--load", "c", "hey"]), Input::Nothing).assert_error(error).assert_failed_before_training();
}

/// A safetensors file with one tensor of zeros.
fn one_tensor(path: &str, dtype: &str, sizes: &[usize], bytes: usize) -> Vec<u8> {
    let header = format!(r#"{{"{path}":{{"dtype":"{dtype}","shape":{sizes:?},"data_offsets":[0,{bytes}]}}}}"#);
    let length = header.len() as u64;
    [&length.to_le_bytes()[..], header.as_bytes(), &vec![0; bytes]].concat()
}

#[test]
fn weights_of_another_model_name_the_tensor() {
    const FIRST: &str = "encoder.embedder.token_embedder.weight";
    for (file, error) in [
        (one_tensor(FIRST, "F32", &[30, 8], 30 * 8 * 4), "should be (VocabSize=28, EmbedDim=8) but is [30, 8]"),
        (one_tensor(FIRST, "F32", &[8, 28], 28 * 8 * 4), "should be (VocabSize=28, EmbedDim=8) but is [8, 28]"),
        (one_tensor(FIRST, "I16", &[28, 8], 28 * 8 * 2), "should hold F32 but holds I16"),
        (one_tensor("other", "F32", &[28, 8], 28 * 8 * 4), "(VocabSize=28, EmbedDim=8) is missing"),
    ] {
        let run = load(&file);
        run.assert_error(&format!("weights: `{FIRST}` {error}")).assert_failed_before_training();
    }
}

#[test]
fn an_unwritable_path_is_an_error_before_training() {
    let folder = temp_dir();
    fs::write(folder.path().join("file"), "what was there").unwrap();
    for path in ["no/folder/weights", ".", "file/weights"] {
        let run = run(program(&folder, ["--save", path]), Input::Nothing);
        let error = run.assert_failed_before_training().assert_failure();
        assert!(error.starts_with(&format!("error: cannot write {path}: ")), "{error}");
    }
    assert_eq!(file_names(&folder), ["file"]);
    assert_eq!(fs::read(folder.path().join("file")).unwrap(), b"what was there");
}

/// As on a disk that fills up during the training.
#[cfg(unix)]
#[test]
fn a_failed_save_keeps_the_table_and_the_older_file() {
    let folder = trained();
    let mut limited = Command::new("sh");
    limited
        // With the signal ignored, exceeding the limit is an error of the write.
        .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\""])
        .arg(&*PROGRAM)
        .args(THREE_STEPS)
        .args(["--save", "weights"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let run = run(limited, Input::Nothing);
    let error = run.assert_failure();
    assert!(error.starts_with("error: cannot write weights: "), "{error}");
    assert_eq!(run.accuracy(), "0.0 %");
    assert_eq!(file_names(&folder), ["weights"], "files are left over");
    assert!(fs::read(folder.path().join("weights")).unwrap() == TRAINED.1);
}

// ---- Failing streams ----

#[test]
fn a_closed_standard_output_is_not_an_error() {
    let folder = trained();
    let mut program = program(&folder, ["--load", "weights", "hey"]);
    let (reader, writer) = std::io::pipe().unwrap();
    program.stdout(writer);
    drop(reader);
    run(program, Input::Nothing).assert_success();
}

#[test]
fn a_closed_standard_error_does_not_stop_the_training() {
    let folder = temp_dir();
    let mut program = program(&folder, THREE_STEPS.into_iter().chain(["--save", "weights"]));
    let (reader, writer) = std::io::pipe().unwrap();
    program.stderr(writer);
    drop(reader);
    let run = run(program, Input::Nothing);
    assert!(run.status.success());
    assert_eq!(run.accuracy(), "0.0 %");
    assert_eq!(file_names(&folder), ["weights"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_failing_stream_is_named_in_the_error() {
    let folder = trained();
    let mut full = program(&folder, ["--load", "weights", "hey"]);
    full.stdout(fs::File::create("/dev/full").unwrap());
    let run_full = run(full, Input::Nothing);
    let error = run_full.assert_failure();
    assert!(error.starts_with("error: cannot write to standard output: "), "{error}");
}

#[test]
fn a_standard_input_that_cannot_be_read_is_named_in_the_error() {
    let folder = trained();
    let unreadable = fs::File::open(folder.path()).unwrap();
    let run = run(program(&folder, ["--load", "weights"]), Input::File(unreadable));
    let error = run.assert_failed_before_training().assert_failure();
    assert!(error.starts_with("error: cannot read standard input: "), "{error}");
}
