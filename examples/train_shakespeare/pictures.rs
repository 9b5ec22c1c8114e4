//! What the model is and has learned, drawn.

use crate::{
    cli::Cli,
    model::{Block, Model, SeqLen, VocabSize},
    support::{Failure, Report},
    text::Text,
};
use std::{ops::RangeInclusive, path::PathBuf};
use typed_transformer::{backend::Backend, nn::Module, plot::HeatMapGrid, prelude::*};

/// The line that is shown has no fewer characters and no more, so that all of them can be read.
const LINE: RangeInclusive<usize> = 14..=18;

/// Begins a report with what the text is needed for; `told` is what the training came to.
pub fn of_training<D: Backend<f32>>(
    report: &mut Report,
    cli: &Cli,
    model: &Model<D>,
    text: &Text,
    told: &str,
) -> Result<(), Failure> {
    if let Some(metrics) = cli.files.metrics() {
        report.training_curves(&metrics)?;
    }
    report.page.text(told);
    attention(report, model, text)
}

/// Writes the report; `written` is what the model wrote.
pub fn finish<D: Backend<f32>>(
    mut report: Report,
    cli: &Cli,
    model: &Model<D>,
    written: &str,
) -> Result<PathBuf, Failure> {
    report.page.heading("Written");
    report.page.preformatted(written);
    if let Some(positions) = &model.embedder.position_embedder {
        report.positions(&positions.weight)?;
    }
    report.page.heading("Settings");
    let of_text = match &cli.data {
        Some(path) => path.display().to_string(),
        None => "plays by Shakespeare".into(),
    };
    let settings = [
        ["text", &of_text],
        ["seed", &cli.seed.to_string()],
        ["steps", &cli.steps.to_string()],
        ["pieces of text in each step", &cli.batch.to_string()],
        ["highest learning rate", &cli.learning_rate.to_string()],
    ];
    report.page.table(&["setting", "value"], settings);
    report.page.heading("Model");
    report.page.summary(&model.summary());
    report.write()
}

/// Which characters the model looks at while it reads a line of the text that it was not trained on.
fn attention<D: Backend<f32>>(report: &mut Report, model: &Model<D>, text: &Text) -> Result<(), Failure> {
    let tokens: Vec<Fin<VocabSize>> =
        (text.validation.iter()).map(|id| Fin::new(*id)).collect::<Result<_, _>>()?;
    let all = text.characters.decode(&tokens);
    // Neither the name of who speaks nor what is to be done.
    let is_spoken = |line: &str| !line.ends_with(':') && !line.starts_with('[');
    let fits = |line: &&str| LINE.contains(&line.chars().count()) && is_spoken(line);
    let line = all.lines().skip(1).find(fits).unwrap_or(&all);
    let line: String = line.chars().take(Block::SIZE.min(*LINE.end())).collect();
    let ids: Vec<usize> = text.characters.encode(&line)?.into_iter().map(Fin::value).collect();
    let ids = TokenIds::from_ids(&ids, None, (Const::<1>, SeqLen::new(ids.len())?))?;
    let weights = model.try_attention_weights(&ids)?;
    let names: Vec<String> = line.chars().map(name).collect();

    let maps = HeatMapGrid::of_attention(line, &weights, &names, &names);
    report.page.heading("Attention");
    let caption =
        "A row for each character that is read: how much each head looks at it and at those before it.";
    report.picture("attention", caption, |path| maps.draw(path))
}

/// A character that can be seen.
fn name(character: char) -> String {
    match character {
        ' ' => "\u{b7}".into(),
        '\n' => "\u{b6}".into(),
        character => character.into(),
    }
}
