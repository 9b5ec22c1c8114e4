//! A progress bar on a terminal, plain lines elsewhere.

use super::{
    BoxError, Outcome,
    hints::{hint, step_error, with_hint},
};
use indicatif::{ProgressBar, ProgressStyle};
use std::{
    cell::RefCell,
    io::{self, IsTerminal, Write, stderr, stdout},
    mem::{Discriminant, discriminant},
};
use typed_transformer::train::{StepReport, TrainError, Trainer};

/// Shows step, loss, learning rate, tokens per second and time left on standard error.
pub struct Progress {
    /// `None` if standard error is not a terminal, or a terminal that shows no bar, such as that of `TERM=dumb`.
    bar: Option<ProgressBar>,
    is_shown: bool,
    /// The kinds of the failures at the last step, which have been logged.
    logged: RefCell<Vec<Discriminant<TrainError>>>,
}

impl Progress {
    pub fn new(steps: usize) -> Self {
        let bar = stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template("{bar:30} {msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::new(steps as u64).with_style(style)
        });
        Self { bar: bar.filter(|bar| !bar.is_hidden()), is_shown: true, logged: RefCell::default() }
    }

    /// Shows nothing.
    pub fn hidden() -> Self {
        Self { bar: None, is_shown: false, logged: RefCell::default() }
    }

    /// Updates the bar, or logs a line ten times per training run. Logs new failures of files. Returns the report of
    /// the step, or its error with a hint.
    pub fn show<O, S>(
        &self,
        report: Result<StepReport, TrainError>,
        trainer: &Trainer<O, S>,
    ) -> Result<StepReport, BoxError> {
        let report = report.map_err(|error| step_error(error, trainer))?;
        let failures = trainer.failures();
        let mut logged = self.logged.replace(failures.iter().map(discriminant).collect());
        for failure in failures {
            // A failure that lasts is there again at each step: it is logged once.
            match logged.iter().position(|kind| *kind == discriminant(failure)) {
                Some(earlier) => {
                    logged.swap_remove(earlier);
                }
                None => self.log(&format!("warning: {}", with_hint(failure, &hint(trainer)))),
            }
        }
        let StepReport { steps_made, steps, .. } = report;
        if let Some(bar) = &self.bar {
            bar.set_message(report.to_string());
            bar.set_position(steps_made as u64);
        } else if steps_made.is_multiple_of(steps.div_ceil(10)) || steps_made == steps {
            self.log(&report.to_string());
        }
        Ok(report)
    }

    /// Logs a line above the bar.
    pub fn log(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| log(line)),
            None if self.is_shown => log(line),
            None => {}
        }
    }

    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.abandon();
        }
    }
}

/// Writes a line to standard error. A closed standard error does not stop the program.
pub fn log(line: &str) {
    let _ = writeln!(stderr(), "{line}");
}

/// Writes to standard output. A closed pipe, such as that of `head`, is not an error. On a terminal, control
/// characters other than line breaks and tabs are escaped: they may come from a file.
pub fn print(text: &str) -> Outcome {
    stream(text).map(drop)
}

/// [`print`], without a buffer. Returns false if nobody reads the output any more.
pub fn stream(text: &str) -> Result<bool, BoxError> {
    let is_safe = |character: char| !character.is_control() || matches!(character, '\n' | '\t');
    let mut text = text.to_string();
    if stdout().is_terminal() && !text.chars().all(is_safe) {
        let escape = |c: char| if is_safe(c) { c.to_string() } else { c.escape_default().to_string() };
        text = text.chars().map(escape).collect();
    }
    match stdout().write_all(text.as_bytes()).and_then(|()| stdout().flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        result => result.map(|()| true).map_err(|error| format!("cannot write to standard output: {error}").into()),
    }
}
