//! Says which text belongs to an image, by CLIP from its folder: zero-shot classification. `cargo run --features
//! tokenizers --example classify_image -- --help` lists the options; `examples/README.md` says where the folder comes
//! from.

mod picture;
mod pixels;
#[path = "../support/mod.rs"]
mod support;

use clap::Parser;
use picture::Picture;
use pixels::{Image, pixels};
use std::{path::PathBuf, process::ExitCode};
use support::{BoxError, DeviceName, cuda, parse, print};
use typed_transformer::{
    models::published::clip_vit_base_patch32::{MaxSeqLen, Model, VocabSize},
    ops::softmax_over,
    prelude::*,
    tokens::Tokenizer,
    weights::{ensure_config, load_pretrained},
};

dims! {
    Texts;
    Len <= MaxSeqLen;
}

/// Say which text belongs to an image, by CLIP.
#[derive(Parser)]
#[command(version)]
struct Cli {
    /// Folder with config.json, tokenizer.json and model.safetensors
    #[arg(value_name = "FOLDER", default_value = ".")]
    folder: PathBuf,
    /// Picture, a PNG or JPEG file
    #[arg(value_name = "IMAGE", default_value = "image.png")]
    image: PathBuf,
    /// Texts to choose from
    #[arg(value_name = "TEXT", default_values = ["a photo of a cat", "a photo of a dog", "a drawing"])]
    texts: Vec<String>,
    /// Device to run on; cuda needs a build with --features cuda
    #[arg(long, value_enum, default_value_t)]
    device: DeviceName,
}

/// Prints the probability of each text, the most likely one first.
fn run<D: Backend<f32>>(cli: &Cli, device: &D) -> Result<(), BoxError> {
    let picture = Picture::read(&cli.image).map_err(|error| format!("{}: {error}", cli.image.display()))?;
    ensure_config::<Model<f32, D>>(&cli.folder)?;
    let tokenizer = Tokenizer::<VocabSize>::from_file(cli.folder.join("tokenizer.json"))?;
    let encode = |text: &String| -> Result<Vec<Fin<VocabSize>>, BoxError> {
        let tokens = tokenizer.encode(text)?;
        Len::new(tokens.len())?;
        Ok(tokens)
    };
    let rows = cli.texts.iter().map(|text| encode(text).map_err(|error| format!("{text:?}: {error}")));
    let rows: Vec<_> = rows.collect::<Result<_, _>>()?;
    let end = tokenizer.token("<|endoftext|>").ok_or("the tokenizer has no token <|endoftext|>")?;
    let shape = (Texts::new(rows.len()), Len::new(rows.iter().map(Vec::len).max().unwrap_or(0))?);
    let ids = TokenIds::padded(&rows, end, shape)?;

    let model: Model<f32, D> = load_pretrained(&cli.folder, device)?;
    let logits = model.logits(model.texts(&ids, NoneTape)?, model.images(pixels(device, &picture)?)?)?;
    let probabilities: Tensor<(Texts, Image), f32, D> = softmax_over(logits, axis::<Texts>())?;
    let mut ranking: Vec<_> = probabilities.as_vec().into_iter().zip(&cli.texts).collect();
    ranking.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let lines = ranking.iter().map(|(probability, text)| format!("{:5.1} %  {text}\n", 100.0 * probability));
    print(&lines.collect::<String>())
}

fn main() -> ExitCode {
    let cli: Cli = parse();
    support::exit_code(match cli.device {
        DeviceName::Cpu => run(&cli, &Cpu::default()),
        DeviceName::Cuda => cuda(0).and_then(|gpu| run(&cli, &gpu)),
    })
}
