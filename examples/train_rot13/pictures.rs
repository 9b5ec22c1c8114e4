//! What the model is and has learned, drawn.

use crate::{
    cli::Cli,
    model::{EmbedDim, Model},
    report::Report,
    words::{self, MaxSeqLen, START, SrcLen, TgtLen, Word},
};
use std::{error::Error, path::PathBuf};
use typed_transformer::{
    backend::Backend,
    nn::Module,
    ops::try_sinusoidal_positions,
    plot::{HeatMapGrid, ScatterPlot},
};

/// Writes the report; `text` is what the run has printed, `plain` and `cipher` are what was decoded.
pub fn write<D: Backend<f32>>(
    mut report: Report,
    cli: &Cli,
    model: &Model<D>,
    text: &str,
    (plain, cipher): (&[Word], &[Word]),
) -> Result<PathBuf, Box<dyn Error>> {
    report.page.heading("Decoded");
    report.page.preformatted(text);
    if let Some(metrics) = cli.metrics() {
        report.training_curves(&metrics)?;
    }
    // The longest word shows most.
    let longest = plain.iter().zip(cipher).max_by_key(|(word, _)| word.len());
    if let Some((plain, cipher)) = longest {
        attention(&mut report, model, plain, cipher)?;
    }
    let letters: Vec<String> = ('a'..='z').map(String::from).collect();
    let table = &model.encoder.embedder.token_embedder.weight;
    let points = ScatterPlot::pca_of_rows("Embedding of the letters", table, &letters);
    report.page.heading("Letters");
    let caption =
        "The encoder's vector of each letter, seen along the two directions in which they vary most.";
    report.picture("letters", caption, |path| points.draw(path))?;
    report.positions(&try_sinusoidal_positions(table.device(), MaxSeqLen, EmbedDim)?)?;

    report.page.heading("Settings");
    let mut settings = vec![["seed", &cli.seed.to_string()].map(String::from)];
    match &cli.load {
        Some(path) => settings.push(["weights".into(), path.display().to_string()]),
        None => settings.extend([
            ["steps".into(), cli.steps.to_string()],
            ["words in each step".into(), cli.batch.to_string()],
            ["highest learning rate".into(), cli.learning_rate.to_string()],
        ]),
    }
    report.page.table(&["setting", "value"], settings);
    report.page.heading("Model");
    report.page.summary(&model.summary());
    report.write()
}

/// Which letters the model looks at while it writes a word.
fn attention<D: Backend<f32>>(
    report: &mut Report,
    model: &Model<D>,
    plain: &Word,
    cipher: &Word,
) -> Result<(), Box<dyn Error>> {
    let source = words::batch(std::slice::from_ref(plain), SrcLen)?;
    let target = words::batch(std::slice::from_ref(cipher), TgtLen)?;
    let weights = model.try_attention_weights(&source, &target.shifted_right(START))?;
    let letters = |word: &Word| -> Vec<String> { words::write(word).chars().map(String::from).collect() };
    let (read, written) = (letters(plain), letters(cipher));
    let so_far = ["<start>".to_string()].into_iter().chain(written.clone());
    let so_far: Vec<String> = so_far.take(written.len()).collect();

    report.page.heading("Attention");
    let title = format!("{} is written while {} is read", written.concat(), read.concat());
    let cross = HeatMapGrid::of_attention(title, &weights.target_to_source, &written, &read);
    let caption = "A row for each letter that is written: how much each head looks at the letters of the word that is read.";
    report.picture("cross_attention", caption, |path| cross.draw(path))?;
    let encoder = HeatMapGrid::of_attention("The encoder reads", &weights.source, &read, &read);
    let caption = "How much each letter of the word that is read looks at the others.";
    report.picture("encoder_attention", caption, |path| encoder.draw(path))?;
    let decoder = HeatMapGrid::of_attention("The decoder writes", &weights.target, &so_far, &so_far);
    let caption = "How much each position of the decoder looks at what is written so far.";
    report.picture("decoder_attention", caption, |path| decoder.draw(path))
}
