//! What the model is and has learned, drawn.

use crate::{
    cli::Cli,
    model::Model,
    sequences::{self, BEGIN, Numbers, Sequence},
    support::{Failure, Report},
    text,
};
use std::{path::PathBuf, slice};
use typed_transformer::{backend::Backend, nn::Module, plot::HeatMapGrid, tokens::Fin};

/// Writes the report; `text` is what the run has printed, `pairs` are sequences and what the model made of
/// them.
pub fn write<D: Backend<f32>>(
    mut report: Report,
    cli: &Cli,
    model: &Model<D>,
    text: &str,
    pairs: &[(&Sequence, &Numbers)],
) -> Result<PathBuf, Failure> {
    report.page.heading("Continued");
    report.page.preformatted(text);
    if let Some(metrics) = cli.files.metrics() {
        report.training_curves(&metrics)?;
    }
    report.page.heading("Attention");
    for (direction, ascending) in [("ascending", true), ("descending", false)] {
        let mut pairs = pairs.iter().filter(|(s, _)| s.is_ascending() == ascending);
        if let Some((sequence, written)) = pairs.next() {
            attention(&mut report, model, direction, sequence, written)?;
        }
    }
    if let Some(positions) = &model.encoder.embedder.position_embedder {
        report.positions(&positions.weight)?;
    }
    report.page.heading("Settings");
    let settings = [
        ["seed", &cli.seed.to_string()],
        ["steps", &cli.steps.to_string()],
        ["sequences in each step", &cli.batch.to_string()],
        ["learning rate", &cli.learning_rate.to_string()],
    ];
    report.page.table(&["setting", "value"], settings);
    report.page.heading("Model");
    report.page.summary(&model.summary());
    report.write()
}

/// Which numbers the model looks at while it continues a sequence.
fn attention<D: Backend<f32>>(
    report: &mut Report,
    model: &Model<D>,
    direction: &str,
    sequence: &Sequence,
    written: &Numbers,
) -> Result<(), Failure> {
    let source = sequences::sources(slice::from_ref(sequence))?;
    let labels = sequences::labels(slice::from_ref(sequence))?;
    let weights = model.try_attention_weights(&source, &labels.shifted_right(BEGIN))?;
    let names = |numbers: &[Fin<_>]| -> Vec<String> {
        numbers.iter().map(|number| text(slice::from_ref(number))).collect()
    };
    let (given, written) = (names(&sequence.given), names(written));

    let title = format!("{} is written", written.join(" "));
    let cross = HeatMapGrid::of_attention(title, &weights.target_to_source, &written, &given);
    let caption = "A row for each number that is written: how much each head looks at the given numbers.";
    report.picture(&format!("{direction}_cross"), caption, |path| cross.draw(path))?;
    let encoder = HeatMapGrid::of_attention("The encoder reads", &weights.source, &given, &given);
    let caption = "How much each given number looks at the others.";
    report.picture(&format!("{direction}_encoder"), caption, |path| encoder.draw(path))
}
