//! A progress bar for a terminal, plain lines for anything else.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, Write, stderr};
use typed_transformer::train::StepReport;

/// Shows on standard error how far a training has come.
pub struct Progress {
    /// `None` where there is no terminal.
    bar: Option<ProgressBar>,
}

impl Progress {
    pub fn new(steps: usize) -> Self {
        let bar = stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{bar:30} {msg}")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::new(steps as u64).with_style(style)
        });
        Self { bar }
    }

    pub fn show(&self, report: &StepReport) {
        let StepReport { step, steps, .. } = *report;
        if let Some(bar) = &self.bar {
            bar.set_position(step as u64);
            bar.set_message(message(report));
        } else if step.is_multiple_of(steps.div_ceil(10)) || step == steps {
            say(&message(report));
        }
    }

    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.abandon();
        }
    }
}

fn message(report: &StepReport) -> String {
    let left = report.time_left.as_secs();
    format!(
        "step {}/{}  loss {:.4}  rate {:.5}  {:.0} tokens/s  {}:{:02} left",
        report.step,
        report.steps,
        report.loss,
        report.learning_rate,
        report.tokens_per_second,
        left / 60,
        left % 60,
    )
}

/// Writes a line to standard error; that nobody reads it is no reason to stop.
pub fn say(line: &str) {
    let _ = writeln!(stderr(), "{line}");
}
