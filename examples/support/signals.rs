//! Ctrl-C and the other signals that ask a program to end.

use super::BoxError;
use std::{
    path::PathBuf,
    process::exit,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// The exit status of a program that Ctrl-C ended, as shells report it: 128 + SIGINT.
pub const EXIT_SIGINT: u8 = 130;

/// A closing terminal sends its signal twice. The second one within this time is the same request.
const SAME_REQUEST: Duration = Duration::from_millis(300);

/// A signal stopped the training; the message says how to resume it.
#[derive(Debug, thiserror::Error)]
#[error(
    "stopped after step {steps_made} of {steps}; the same command with --resume {} goes on from there",
    path.display()
)]
pub struct Interrupted {
    pub steps_made: usize,
    pub steps: usize,
    pub path: PathBuf,
}

/// Sets `stop` on Ctrl-C, SIGTERM or SIGHUP. The next one ends the program at once.
pub fn stop_on_signals(stop: Arc<AtomicBool>) -> Result<(), BoxError> {
    let mut request: Option<Instant> = None;
    let handler = move || {
        let is_same_request = request.is_some_and(|first| first.elapsed() < SAME_REQUEST);
        // It is also true once the training is over.
        if stop.swap(true, Ordering::Relaxed) && !is_same_request {
            exit(EXIT_SIGINT.into());
        }
        request.get_or_insert_with(Instant::now);
    };
    ctrlc::set_handler(handler).map_err(|error| format!("cannot listen to Ctrl-C: {error}").into())
}
