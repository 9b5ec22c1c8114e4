//! `--report`: plots of the training and of the trained model.

use crate::{
    EmbedDim, MaxSeqLen, Model, START, SrcLen, TgtLen, Word, batch,
    cli::Cli,
    rot13,
    support::{Outcome, Report},
    words::format_word,
};
use std::slice::from_ref;
use typed_transformer::{backend::Backend, ops::sinusoidal_positions, plot::ScatterPlot};

/// Writes the report. `text` is the printed result.
pub fn write<D: Backend<f32>>(mut report: Report, cli: &Cli, model: &Model<D>, text: &str, words: &[Word]) -> Outcome {
    report.page.heading("Decoded");
    report.page.preformatted(text);
    if let (None, Some(metrics)) = (&cli.load, cli.files.metrics()) {
        report.training_curves(&metrics);
    }
    if let Some(plain) = words.iter().max_by_key(|word| word.len()) {
        // The right cipher: that of a model in training may be empty.
        let cipher = &rot13(plain);
        let source = batch(from_ref(plain), SrcLen)?;
        let (inputs, _) = batch(from_ref(cipher), TgtLen)?.teacher_forcing(START);
        let weights = model.attention_weights(&source, &inputs)?;
        let letters = |word: &str| -> Vec<String> { word.chars().map(String::from).collect() };
        let (plain, cipher) = (format_word(plain), format_word(cipher));
        let (src, tgt) = (letters(&plain), letters(&cipher));
        let input_letters = [&["<start>".to_string()], &tgt[..tgt.len() - 1]].concat();
        report.page.heading("Attention");
        let title = format!("Cross-attention: {plain} to {cipher}");
        let text = (&*title, "One row per output letter: how much each head attends to each input letter.");
        report.attention("cross_attention", text, &weights.target_to_source, (&tgt, &src));
        let text = ("Encoder self-attention", "How much each input letter attends to the others.");
        report.attention("encoder_attention", text, &weights.source, (&src, &src));
        let text = ("Decoder self-attention", "How much each decoder position attends to the letters so far.");
        report.attention("decoder_attention", text, &weights.target, (&input_letters, &input_letters));
    }
    report.page.heading("Letters");
    let letters: Vec<String> = ('a'..='z').map(String::from).collect();
    let table = &model.encoder.embedder.token_embedder.weight;
    let points = ScatterPlot::pca_of_rows("Embedding of the letters", table, &letters);
    let caption = "The encoder's token embeddings on their first two principal axes.";
    report.plot("letters", caption, |path| points.draw(path));
    report.positions(&sinusoidal_positions(table.device(), MaxSeqLen, EmbedDim)?);

    match &cli.load {
        Some(path) => report.finish(&[("seed", &cli.seed), ("weights", &path.display())], model),
        None => report.finish(
            &[
                ("seed", &cli.seed),
                ("steps", &cli.steps),
                ("words per step", &cli.batch),
                ("peak learning rate", &cli.learning_rate),
            ],
            model,
        ),
    }
}
