//! `--report`: plots of the training and of the trained model.

use crate::{
    Batch, Model,
    cli::Cli,
    sequences::{BEGIN, Numbers, Sequence, format_number, format_numbers, sources, targets},
    support::{BoxError, Report},
};
use std::slice::from_ref;
use typed_transformer::backend::Backend;

/// Writes the report. `result` is the printed result; `pairs` are sequences and what the model writes after
/// them, ascending and descending.
pub fn write<D: Backend<f32>>(
    mut report: Report,
    cli: &Cli,
    model: &Model<D>,
    result: &str,
    pairs: [Option<&(&Sequence, &Numbers)>; 2],
) -> Result<(), BoxError> {
    report.page.heading("Continued");
    report.page.preformatted(result);
    if let Some(metrics) = cli.files.metrics() {
        report.training_curves(&metrics);
    }
    report.page.heading("Attention");
    for (sequence, written) in pairs.into_iter().flatten() {
        let source = sources(from_ref(sequence), Batch::new(1))?;
        let (inputs, _) = targets(from_ref(sequence), Batch::new(1))?.teacher_forcing(BEGIN);
        let weights = model.attention_weights(&source, &inputs)?;
        let names = |numbers: &Numbers| -> Vec<String> { numbers.iter().map(format_number).collect() };
        let (given, next) = (names(&sequence.given), names(written));
        let direction = if sequence.is_ascending() { "ascending" } else { "descending" };
        let title = format!("Cross-attention to {}", format_numbers(written));
        let text = (&*title, "One row per output number: how much each head attends to each given number.");
        let name = format!("{direction}_cross");
        report.attention(&name, text, &weights.target_to_source, (&next, &given));
        let text = ("Encoder self-attention", "How much each given number attends to the others.");
        report.attention(&format!("{direction}_encoder"), text, &weights.source, (&given, &given));
    }
    if let Some(positions) = &model.encoder.embedder.position_embedder {
        report.positions(&positions.weight);
    }
    report.finish(
        &[
            ("seed", &cli.seed),
            ("steps", &cli.steps),
            ("sequences per step", &cli.batch),
            ("learning rate", &cli.learning_rate),
        ],
        model,
    )
}
