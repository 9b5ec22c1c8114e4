//! `--report`: plots of the training and of the trained model.

use crate::{
    Batch, Model, SeqLen, batch,
    cli::Cli,
    repeated,
    support::{Outcome, Report},
};
use typed_transformer::backend::Backend;

/// Writes the report. `text` is the printed result.
pub fn write<D: Backend<f32>>(mut report: Report, cli: &Cli, model: &Model<D>, text: &str) -> Outcome {
    report.page.text(text);
    if let Some(metrics) = cli.files.metrics() {
        report.training_curves(&metrics);
    }
    report.page.heading("Attention");
    let sequence = repeated([3, 7, 1]);
    let (digits, _) = batch(&[sequence], Batch::new(1))?;
    let weights = model.attention_weights(&digits)?;
    let digits: Vec<String> = sequence[..SeqLen::SIZE].iter().map(usize::to_string).collect();
    let text = ("Self-attention", "How much each digit attends to those before it.");
    report.attention("attention", text, &weights, (&digits, &digits));
    if let Some(positions) = &model.embedder.position_embedder {
        report.positions(&positions.weight);
    }
    report.finish(
        &[
            ("seed", &cli.seed),
            ("steps", &cli.steps),
            ("sequences per step", &cli.batch),
            ("peak learning rate", &cli.learning_rate),
        ],
        model,
    )
}
