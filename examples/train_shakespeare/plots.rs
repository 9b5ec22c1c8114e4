//! `--report`: plots of the training and of the trained model.

use crate::{
    BlockSize, Model, SeqLen, VocabSize,
    cli::Cli,
    support::{BoxError, Report},
    text::Text,
};
use std::{fmt::Display, ops::RangeInclusive};
use typed_transformer::{nn::Module, prelude::*, tokens::CharTokenizer};

/// Length of the line whose attention is drawn, in characters: a longer one would not be legible.
const LINE_LEN: RangeInclusive<usize> = 14..=18;

/// Adds training curves, the final validation loss, attention and positions.
pub fn training<D: Backend<f32>>(
    report: &mut Report,
    cli: &Cli,
    model: &Model<D>,
    (characters, text): (&CharTokenizer<VocabSize>, &Text),
    result: &str,
) -> Result<(), BoxError> {
    if let Some(metrics) = cli.files.metrics() {
        report.training_curves(&metrics);
    }
    report.page.text(result);

    let line = spoken_line(characters, text)?;
    let ids: Vec<usize> = characters.encode(&line)?.into_iter().map(Fin::value).collect();
    let ids = TokenIds::from_ids(&ids, None, (Const::<1>, SeqLen::new(ids.len())?))?;
    let weights = model.attention_weights(&ids)?;
    let names: Vec<String> = line.chars().map(visible).collect();
    let caption = "One row per character: how much each head attends to it and to the characters before it.";
    report.page.heading("Attention");
    report.attention("attention", (&line, caption), &weights, (&names, &names));
    if let Some(positions) = &model.embedder.position_embedder {
        report.positions(&positions.weight);
    }
    Ok(())
}

/// Adds the sample and settings, and writes the report.
pub fn finish(mut report: Report, cli: &Cli, model: &impl Module, sample: &str) -> Result<(), BoxError> {
    report.page.heading("Sample");
    report.page.preformatted(sample);
    let data = cli.data.as_ref().map(|path| path.display());
    let data: &dyn Display = data.as_ref().map_or(&"plays by Shakespeare", |path| path);
    report.finish(
        &[
            ("text", data),
            ("seed", &cli.seed),
            ("steps", &cli.steps),
            ("windows of text per step", &cli.batch),
            ("peak learning rate", &cli.learning_rate()),
        ],
        model,
    )
}

/// A line of the validation text that is neither a speaker's name nor a stage direction.
fn spoken_line(characters: &CharTokenizer<VocabSize>, text: &Text) -> Result<String, BoxError> {
    let tokens: Vec<Fin<VocabSize>> = text.validation.iter().map(|id| Fin::new(*id)).collect::<Result<_, _>>()?;
    let all = characters.decode(&tokens);
    let is_spoken = |line: &str| !line.ends_with(':') && !line.starts_with('[');
    let fits = |line: &&str| LINE_LEN.contains(&line.chars().count()) && is_spoken(line);
    let line = all.lines().skip(1).find(fits).unwrap_or(&all);
    Ok(line.chars().take(BlockSize::SIZE.min(*LINE_LEN.end())).collect())
}

/// A visible form of spaces and newlines.
fn visible(character: char) -> String {
    match character {
        ' ' => "\u{b7}".into(),
        '\n' => "\u{b6}".into(),
        character => character.into(),
    }
}
