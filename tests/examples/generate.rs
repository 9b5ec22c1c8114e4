//! The examples that run published models, with folders that are not those of a published model. The weights of
//! one have hundreds of megabytes; `tests/models/similar_sentences.rs` says how to run with real ones.

use crate::program::{Run, built, end, start};
use crate::support::temp_dir;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

static GENERATE: LazyLock<PathBuf> = LazyLock::new(|| built("generate"));
static SIMILAR: LazyLock<PathBuf> = LazyLock::new(|| built("similar_sentences"));
static TRANSCRIBE: LazyLock<PathBuf> = LazyLock::new(|| built("transcribe"));
static CLASSIFY: LazyLock<PathBuf> = LazyLock::new(|| built("classify_image"));
static FILL: LazyLock<PathBuf> = LazyLock::new(|| built("fill_mask"));

fn run(program: &Path, args: &[&str]) -> Run {
    end(start(program, &temp_dir(), args))
}

fn fixture(name: &str) -> String {
    format!("{}/fixtures/hugging_face/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_folder_of_another_size_is_refused_in_one_line_that_names_what_differs() {
    let folder = fixture("gpt2");
    let error = format!(
        "{folder}/config.json is of another model than Gpt2<Config>: `vocab_size` is 97, not VocabSize=50257; \
         `n_positions` is 26, not MaxSeqLen=1024; `n_embd` is 24, not EmbedDim=768; `n_head` is 3, not NumHeads=12; \
         `n_layer` is 2, not NumLayers=12"
    );
    run(&GENERATE, &[&folder]).assert_refused(&error);
    let other = run(&GENERATE, &[&folder, "--model", "smollm-135m"]);
    assert!(other.stderr.contains("`model_type` is \"gpt2\", not \"llama\""), "{}", other.stderr);
    assert_eq!(other.stderr.lines().count(), 1);

    let folder = fixture("bert");
    let error = run(&SIMILAR, &[&folder, "One.", "Two."]);
    assert!(error.stderr.contains("`hidden_size` is 40, not EmbedDim=384"), "{}", error.stderr);
    error.assert_ended_with(1);

    let folder = fixture("modern_bert");
    for (model, width) in [("modernbert-base", 768), ("modernbert-large", 1024)] {
        let error = run(&FILL, &[&folder, "A [MASK].", "--model", model]);
        let differs = format!("`hidden_size` is 24, not EmbedDim={width}");
        assert!(error.stderr.contains(&differs), "{}", error.stderr);
        error.assert_ended_with(1);
    }
}

#[test]
fn a_folder_without_a_model_and_wrong_options_are_one_line_errors() {
    let folder = temp_dir();
    let path = folder.path().display().to_string();
    for program in [&*GENERATE, &*SIMILAR, &*FILL] {
        let missing = run(program, &[&path]);
        let begin = format!("error: cannot read {path}/config.json: ");
        assert!(missing.stderr.starts_with(&begin) && missing.stderr.lines().count() == 1, "{}", missing.stderr);
        missing.assert_ended_with(1);
    }
    fs::write(folder.path().join("config.json"), "not json").unwrap();
    let damaged = run(&GENERATE, &[&path]);
    assert!(damaged.stderr.starts_with(&format!("error: {path}/config.json is not a configuration: ")));

    run(&GENERATE, &[&path, "--temperature", "0"])
        .assert_refused("a temperature must be above 0 and finite, but it is 0");
    for (args, error) in [
        (&["--top-k", "3"][..], "required arguments were not provided"),
        (&["--model", "gpt5"], "invalid value 'gpt5' for '--model <MODEL>'"),
        (&["--tokens", "1000000001"], "it must be at most 1000000000"),
        (&["--num-beams", "2", "--length-penalty", "nan"], "it must be finite"),
    ] {
        run(&GENERATE, args).assert_usage(error);
    }
}

#[test]
fn sounds_and_pictures_that_no_model_reads_are_one_line_errors() {
    let folder = temp_dir();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (whisper, clip) = (fixture("whisper"), fixture("clip"));
    // 44 bytes of header and two samples, 44,100 a second.
    let mut sound =
        b"RIFF\x28\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x44\xac\0\0\x88\x58\x01\0\x02\0\x10\0data\x04\0\0\0".to_vec();
    sound.extend([0, 1, 2, 3]);
    fs::write(path("fast.wav"), &sound).unwrap();
    sound[24..32].copy_from_slice(&[0x80, 0x3e, 0, 0, 0, 0x7d, 0, 0]);
    fs::write(path("right.wav"), &sound).unwrap();
    let error = run(&TRANSCRIBE, &[&whisper, &path("fast.wav")]);
    error.assert_refused(&format!(
        "{}: 44100 samples a second, but the model reads 16000; `ffmpeg -i SOUND -ar 16000 -ac 1 NEW.wav` converts it",
        path("fast.wav")
    ));
    // A WAV file that was written to a pipe, and one whose writer was killed.
    sound[40..44].fill(0xff);
    fs::write(path("piped.wav"), &sound).unwrap();
    let advice = "`ffmpeg -i SOUND -ar 16000 -ac 1 NEW.wav` converts it";
    let error = "Ill-formed WAVE file: data chunk length is not a multiple of sample size";
    run(&TRANSCRIBE, &[&whisper, &path("piped.wav")])
        .assert_refused(&format!("{}: {error}; {advice}", path("piped.wav")));
    sound[40..44].fill(0);
    fs::write(path("killed.wav"), &sound).unwrap();
    let warned = run(&TRANSCRIBE, &[&whisper, &path("killed.wav")]);
    let warning = format!("warning: {} has no samples, or its header says so; {advice}\n", path("killed.wav"));
    assert!(warned.stderr.starts_with(&warning), "{}", warned.stderr);
    let error = run(&TRANSCRIBE, &[&whisper, &path("right.wav")]);
    assert!(error.stderr.contains("`num_mel_bins` is 10, not NumMelBins=80"), "{}", error.stderr);
    error.assert_ended_with(1);
    for (program, folder, file) in [(&*TRANSCRIBE, &whisper, "none.wav"), (&*CLASSIFY, &clip, "none.png")] {
        let error = run(program, &[folder, &path(file)]);
        assert!(error.stderr.starts_with(&format!("error: {}: ", path(file))), "{}", error.stderr);
        assert_eq!(error.stderr.lines().count(), 1);
        error.assert_ended_with(1);
    }
    fs::write(path("picture.bmp"), "BM").unwrap();
    run(&CLASSIFY, &[&clip, &path("picture.bmp")])
        .assert_refused(&format!("{}: the name of a picture ends in .png, .jpg or .jpeg", path("picture.bmp")));
}

/// The folder has the sizes of whisper-tiny, and no weights.
#[test]
fn a_sound_without_a_language_is_refused_before_the_weights_are_read() {
    let folder = temp_dir();
    let at = |name: &str| folder.path().join(name);
    let json = |path: String| -> Value { serde_json::from_slice(&fs::read(path).unwrap()).unwrap() };
    let mut config = json(fixture("whisper/config.json"));
    for (setting, value) in [
        ("num_mel_bins", 80),
        ("max_source_positions", 1500),
        ("vocab_size", 51_865),
        ("max_target_positions", 448),
        ("d_model", 384),
    ] {
        config[setting] = value.into();
    }
    for side in ["encoder", "decoder"] {
        for (setting, value) in [("attention_heads", 6), ("ffn_dim", 1536), ("layers", 4)] {
            config[format!("{side}_{setting}")] = value.into();
        }
    }
    fs::write(at("config.json"), config.to_string()).unwrap();
    let mut tokenizer = json(fixture("../tokenizers/bpe.json"));
    for (id, name) in (300..).zip(["startoftranscript", "transcribe", "notimestamps"]) {
        tokenizer["model"]["vocab"][format!("<|{name}|>")] = id.into();
    }
    fs::write(at("tokenizer.json"), tokenizer.to_string()).unwrap();
    fs::write(at("generation_config.json"), r#"{"eos_token_id": 0}"#).unwrap();
    // 44 bytes of header and one sample.
    let sound = b"RIFF\x26\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x80\x3e\0\0\0\x7d\0\0\x02\0\x10\0data\x02\0\0\0\0\0";
    fs::write(at("sound.wav"), sound).unwrap();
    let args = [".", "sound.wav"];
    let error = "./generation_config.json names no languages; give one, such as --language en";
    end(start(&TRANSCRIBE, &folder, args)).assert_refused(error);
    let spoken = end(start(&TRANSCRIBE, &folder, args.into_iter().chain(["--language", "transcribe"])));
    let error = "error: . has neither model.safetensors nor model.safetensors.index.json\n";
    assert_eq!(spoken.stderr, error);
}
