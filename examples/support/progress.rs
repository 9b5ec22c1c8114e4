//! A progress bar on a terminal, plain lines elsewhere.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal, Write, stderr, stdout};
use typed_transformer::train::StepReport;

/// Shows step, loss, learning rate, tokens per second and time left on standard error.
pub struct Progress {
    /// `None` if standard error is not a terminal.
    bar: Option<ProgressBar>,
}

impl Progress {
    pub fn new(steps: usize) -> Self {
        let bar = stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{bar:30} {msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::new(steps as u64).with_style(style)
        });
        Self { bar }
    }

    /// Updates the bar, or logs a line ten times per training.
    pub fn show(&self, report: &StepReport) {
        let StepReport { step, steps, .. } = *report;
        if let Some(bar) = &self.bar {
            bar.set_message(format_step(report));
            bar.set_position(step as u64);
        } else if step.is_multiple_of(steps.div_ceil(10)) || step == steps {
            log(&format_step(report));
        }
    }

    /// Logs a line above the bar.
    pub fn log(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| log(line)),
            None => log(line),
        }
    }

    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.abandon();
        }
    }
}

fn format_step(report: &StepReport) -> String {
    let StepReport { step, steps, loss, learning_rate, tokens_per_second, time_left, .. } = *report;
    let (minutes, seconds) = (time_left.as_secs() / 60, time_left.as_secs() % 60);
    format!(
        "step {step}/{steps}  loss {loss:.4}  rate {learning_rate:.2e}  {tokens_per_second:.0} tokens/s  \
         {minutes}:{seconds:02} left"
    )
}

/// Writes a line to standard error. A closed standard error does not stop the program.
pub fn log(line: &str) {
    let _ = writeln!(stderr(), "{line}");
}

/// Writes to standard output. A closed pipe, such as that of `head`, is not an error.
pub fn print(text: &str) -> Result<(), String> {
    match stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.map_err(|error| format!("cannot write to standard output: {error}")),
    }
}
