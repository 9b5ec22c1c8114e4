//! A progress bar for a terminal, plain lines for anything else.

use indicatif::{FormattedDuration, ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal, Write, stderr, stdout};
use typed_transformer::train::StepReport;

/// Shows step, loss, learning rate, tokens per second and time left on standard error.
pub struct Progress {
    /// `None` where there is no terminal.
    bar: Option<ProgressBar>,
}

impl Progress {
    pub fn new(steps: usize) -> Self {
        let bar = stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{bar:30} step {pos}/{len}  {msg}")
                .unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::new(steps as u64).with_style(style)
        });
        Self { bar }
    }

    pub fn step(&self, report: &StepReport) {
        let StepReport { step, steps, .. } = *report;
        let message = format!(
            "loss {:.4}  learning rate {:.2e}  {:.0} tokens/s  {} left",
            report.loss,
            report.learning_rate,
            report.tokens_per_second,
            FormattedDuration(report.time_left),
        );
        if let Some(bar) = &self.bar {
            bar.set_message(message);
            bar.set_position(step as u64);
        } else if step.is_multiple_of(steps.div_ceil(10)) || step == steps {
            say(&format!("step {step}/{steps}  {message}"));
        }
    }

    /// A line of its own.
    pub fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| say(line)),
            None => say(line),
        }
    }

    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.abandon();
        }
    }
}

/// Writes a line to standard error; that nobody reads it is no reason to stop.
pub fn say(line: &str) {
    let _ = writeln!(stderr(), "{line}");
}

/// Prints to standard output; a reader that has seen enough, such as `head`, is no error.
pub fn print(report: &str) -> Result<(), String> {
    match stdout().write_all(report.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.map_err(|error| format!("cannot write to standard output: {error}")),
    }
}
