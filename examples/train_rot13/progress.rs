//! A progress bar for a terminal, plain lines for anything else.

use indicatif::{ProgressBar, ProgressStyle};
use std::{
    io::{IsTerminal, Write, stderr},
    time::Instant,
};

/// Shows step, loss and words per second on standard error.
pub struct Progress {
    /// `None` where there is no terminal.
    bar: Option<ProgressBar>,
    begun: Instant,
    steps: usize,
    batch: usize,
    step: usize,
    loss: f32,
}

impl Progress {
    pub fn new(steps: usize, batch: usize) -> Self {
        let bar = stderr().is_terminal().then(|| {
            let style =
                ProgressStyle::with_template("{bar:30} step {pos}/{len}  {msg}  {eta} left")
                    .unwrap_or_else(|_| ProgressStyle::default_bar());
            ProgressBar::new(steps as u64).with_style(style)
        });
        Self {
            bar,
            begun: Instant::now(),
            steps,
            batch,
            step: 0,
            loss: f32::NAN,
        }
    }

    pub fn step(&mut self, loss: f32) {
        self.step += 1;
        self.loss = loss;
        if let Some(bar) = &self.bar {
            bar.set_message(self.message());
            bar.inc(1);
        } else if self.step.is_multiple_of(self.steps.div_ceil(10)) || self.step == self.steps {
            let (step, steps, message) = (self.step, self.steps, self.message());
            say(&format!("step {step}/{steps}  {message}"));
        }
    }

    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.abandon();
        }
    }

    fn message(&self) -> String {
        let words = (self.step * self.batch) as f64;
        let per_second = words / self.begun.elapsed().as_secs_f64();
        format!("loss {:.4}  {per_second:.0} words/s", self.loss)
    }
}

/// Writes a line to standard error; that nobody reads it is no reason to stop.
pub fn say(line: &str) {
    let _ = writeln!(stderr(), "{line}");
}
