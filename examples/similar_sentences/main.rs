//! Compares sentences by all-MiniLM-L6-v2, from its folder: cosine similarities as a table, and as a picture.
//! `cargo run --features tokenizers --example similar_sentences -- --help` lists the options; `examples/README.md` says
//! where the folder comes from.

mod embed;
#[path = "../support/mod.rs"]
mod support;

use clap::Parser;
use embed::{cosines, embed, tokens};
use std::{path::PathBuf, process::ExitCode};
use support::{BoxError, DeviceName, cuda, parse, print};
#[cfg(feature = "plot")]
use typed_transformer::plot::{HeatMap, HeatMapGrid};
use typed_transformer::{
    models::published::all_mini_lm_l6_v2::{Model, VocabSize},
    prelude::*,
    tokens::Tokenizer,
    weights::{ensure_config, load_pretrained},
};

const SENTENCES: [&str; 6] = [
    "A man is eating food.",
    "Someone has a meal.",
    "The girl is carrying a baby.",
    "A child is held by a young woman.",
    "A cheetah is running behind its prey.",
    "The big cat hunts.",
];

/// Compare sentences by all-MiniLM-L6-v2.
#[derive(Parser)]
#[command(version)]
struct Cli {
    /// Folder with config.json, tokenizer.json and model.safetensors
    #[arg(value_name = "FOLDER", default_value = ".")]
    folder: PathBuf,
    /// Sentences to compare [default: six of three kinds]
    sentences: Vec<String>,
    /// File for a picture, .svg or .png
    #[cfg(feature = "plot")]
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Replace the file of --plot if it exists
    #[cfg(feature = "plot")]
    #[arg(long, requires = "plot")]
    overwrite: bool,
    /// Device to run on; cuda needs a build with --features cuda
    #[arg(long, value_enum, default_value_t)]
    device: DeviceName,
}

fn run<D: Backend<f32>>(cli: &Cli, device: &D) -> Result<(), BoxError> {
    #[cfg(feature = "plot")]
    if let Some(path) = cli.plot.as_ref().filter(|path| path.exists() && !cli.overwrite) {
        return Err(format!("{} exists; --overwrite replaces it", path.display()).into());
    }
    ensure_config::<Model<f32, D>>(&cli.folder)?;
    let tokenizer = Tokenizer::<VocabSize>::from_file(cli.folder.join("tokenizer.json"))?.allowing_unknown();
    let sentences = match cli.sentences.is_empty() {
        true => SENTENCES.map(String::from).to_vec(),
        false => cli.sentences.clone(),
    };
    let ids = tokens(&tokenizer, &sentences)?;
    let model: Model<f32, D> = load_pretrained(&cli.folder, device)?;
    let cosines = cosines(&embed(&model, &ids)?)?.as_vec();
    print(&table(&sentences, &cosines))?;
    #[cfg(feature = "plot")]
    if let Some(path) = &cli.plot {
        let cosines = cosines.iter().copied().map(f64::from).collect();
        let columns = (1..=sentences.len()).map(|number| number.to_string()).collect();
        let rows = (1..).zip(&sentences).map(|(number, sentence)| format!("{sentence}  {number}")).collect();
        let panel = HeatMap { name: String::new(), rows, columns, values: cosines };
        let title = "Cosine similarity".into();
        HeatMapGrid { title, scale: -1.0..1.0, columns_per_row: 1, panels: vec![panel] }.draw(path)?;
        support::log(&format!("wrote {}", path.display()));
    }
    Ok(())
}

/// A row and a column for each sentence, and its text after its row.
fn table(sentences: &[String], cosines: &[f32]) -> String {
    let numbers = 1..=sentences.len();
    let header: String = numbers.clone().map(|number| format!("{number:>6}")).collect();
    let rows = numbers.zip(cosines.chunks(sentences.len())).zip(sentences).map(|((number, row), sentence)| {
        let cells: String = row.iter().map(|cosine| format!("{cosine:6.2}")).collect();
        format!("{number:>3}{cells}  {sentence}\n")
    });
    format!("   {header}\n{}", rows.collect::<String>())
}

fn main() -> ExitCode {
    let cli: Cli = parse();
    support::exit_code(match cli.device {
        DeviceName::Cpu => run(&cli, &Cpu::default()),
        DeviceName::Cuda => cuda(0).and_then(|gpu| run(&cli, &gpu)),
    })
}
