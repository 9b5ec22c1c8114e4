//! Writes what is spoken in a WAV file, by a Whisper from its folder. `cargo run --features tokenizers --example
//! transcribe -- --help` lists the options; `examples/README.md` says where the folder comes from.

mod features;
#[path = "../support/mod.rs"]
mod support;
mod text;

use clap::{Parser, ValueEnum};
use features::{SAMPLES_PER_SECOND, features, max_samples};
use hound::{SampleFormat, WavReader};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};
use support::{BoxError, DeviceName, cuda, log, parse, print};
use text::Rules;
use typed_transformer::{
    models::published::{whisper_base, whisper_small, whisper_tiny},
    models::whisper::{Whisper, WhisperConfig},
    prelude::*,
    tokens::Tokenizer,
    weights::{ensure_config, load_pretrained},
};

/// What makes a WAV file that the program reads.
const ADVICE: &str = "`ffmpeg -i SOUND -ar 16000 -ac 1 NEW.wav` converts it";

/// Write what is spoken in a WAV file.
#[derive(Parser)]
#[command(version)]
struct Cli {
    /// Folder with config.json, generation_config.json, tokenizer.json and model.safetensors
    #[arg(value_name = "FOLDER", default_value = ".")]
    folder: PathBuf,
    /// WAV file of 16,000 samples a second
    #[arg(value_name = "SOUND", default_value = "sound.wav")]
    sound: PathBuf,
    /// The published model whose folder it is
    #[arg(long, value_enum, default_value_t)]
    model: ModelName,
    /// The language that is spoken, such as en; without it, the folder names it, or the model finds it out
    #[arg(long, value_name = "CODE")]
    language: Option<String>,
    /// Write the text in English
    #[arg(long)]
    translate: bool,
    /// Device to run on; cuda needs a build with --features cuda
    #[arg(long, value_enum, default_value_t)]
    device: DeviceName,
}

/// A published model.
#[derive(Clone, Copy, Default, ValueEnum)]
enum ModelName {
    /// 37 million parameters
    #[default]
    #[value(name = "whisper-tiny")]
    Tiny,
    /// 72 million parameters
    #[value(name = "whisper-base")]
    Base,
    /// 241 million parameters
    #[value(name = "whisper-small")]
    Small,
}

/// Writes a line for each 30 seconds of the sound.
fn run<Config: WhisperConfig, D: Backend<f32>>(cli: &Cli, device: &D) -> Result<(), BoxError> {
    let samples = samples(&cli.sound).map_err(|error| format!("{}: {error}", cli.sound.display()))?;
    ensure_config::<Whisper<Config, f32, D>>(&cli.folder)?;
    let tokenizer = Tokenizer::<Config::VocabSize>::from_file_of_fewer_tokens(cli.folder.join("tokenizer.json"))?;
    let mut rules = Rules::from_folder(&cli.folder, &tokenizer)?;
    let token = |name: &str| {
        let text = format!("<|{name}|>");
        tokenizer.token(&text).ok_or_else(|| format!("the tokenizer has no token {text}"))
    };
    let start = token("startoftranscript")?;
    let task = token(if cli.translate || rules.translates { "translate" } else { "transcribe" })?;
    let no_timestamps = token("notimestamps")?;
    let spoken = cli.language.as_ref().map(|code| ("--language", code));
    let spoken = spoken.or(rules.spoken.as_ref().map(|code| ("generation_config.json", code)));
    let language = |(place, code): (&str, &String)| {
        let names = [code.to_lowercase(), format!("<|{}|>", code.to_lowercase())];
        let language = names.iter().find_map(|name| rules.languages.get(name).copied());
        let unlisted = || names.iter().filter(|name| name.starts_with("<|")).find_map(|name| tokenizer.token(name));
        language.or_else(|| if rules.languages.is_empty() { unlisted() } else { None }).ok_or_else(|| {
            format!("{place}: the model does not know {code:?}; give the code of the language, such as --language en")
        })
    };
    let mut language = match spoken.map(language).transpose() {
        // The folder may have a name, such as hindi, in place of a code.
        Err(error) if cli.language.is_none() && !rules.languages.is_empty() => {
            log(&format!("{error}; the model finds it out"));
            None
        }
        language => language?,
    };
    if language.is_none() && rules.languages.is_empty() {
        let path = cli.folder.join("generation_config.json");
        return Err(format!("{} names no languages; give one, such as --language en", path.display()).into());
    }
    let model: Whisper<Config, f32, D> = load_pretrained(&cli.folder, device)?;
    for samples in samples.chunks(max_samples::<Config>()) {
        let sound = model.encode(features::<Config, D>(device, samples)?)?;
        let language = match language {
            Some(language) => language,
            None => *language.insert(rules.language(&sound, start)?),
        };
        let text = rules.write(&sound, &[start, language, task, no_timestamps])?;
        print(&format!("{}\n", tokenizer.decode(&text)?.trim()))?;
    }
    Ok(())
}

/// The samples of a WAV file, from -1 to 1: the mean of its channels.
fn samples(path: &Path) -> Result<Vec<f32>, BoxError> {
    let reader = WavReader::open(path).map_err(|error| match error {
        hound::Error::IoError(error) => error.to_string(),
        // A WAV file that was written to a pipe has no length.
        error => format!("{error}; {ADVICE}"),
    })?;
    let spec = reader.spec();
    if spec.sample_rate as usize != SAMPLES_PER_SECOND {
        return Err(format!("{} samples a second, but the model reads 16000; {ADVICE}", spec.sample_rate).into());
    }
    if spec.bits_per_sample > 32 {
        return Err(format!("{} bits a sample, but the program reads up to 32", spec.bits_per_sample).into());
    }
    let samples: Vec<f32> = match spec.sample_format {
        SampleFormat::Float => reader.into_samples().collect::<Result<_, _>>()?,
        SampleFormat::Int => {
            let largest = (1i64 << (spec.bits_per_sample - 1)) as f32;
            reader
                .into_samples::<i32>()
                .map(|sample| Ok(sample? as f32 / largest))
                .collect::<Result<_, hound::Error>>()?
        }
    };
    if let Some(sample) = samples.iter().find(|sample| !sample.is_finite()) {
        return Err(format!("a sample is {sample}").into());
    }
    if samples.is_empty() {
        log(&format!("warning: {} has no samples, or its header says so; {ADVICE}", path.display()));
    }
    let channels = usize::from(spec.channels);
    Ok(samples.chunks(channels).map(|frame| frame.iter().sum::<f32>() / channels as f32).collect())
}

fn run_on<D: Backend<f32>>(cli: &Cli, device: &D) -> Result<(), BoxError> {
    match cli.model {
        ModelName::Tiny => run::<whisper_tiny::Config, D>(cli, device),
        ModelName::Base => run::<whisper_base::Config, D>(cli, device),
        ModelName::Small => run::<whisper_small::Config, D>(cli, device),
    }
}

fn main() -> ExitCode {
    let cli: Cli = parse();
    support::exit_code(match cli.device {
        DeviceName::Cpu => run_on(&cli, &Cpu::default()),
        DeviceName::Cuda => cuda(0).and_then(|gpu| run_on(&cli, &gpu)),
    })
}
