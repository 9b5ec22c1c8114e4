//! Ctrl-C and the other signals that ask a program to end.

use super::{BoxError, Checkpoints};
use signal_hook::{consts::SIGINT, flag};
#[cfg(unix)]
use signal_hook::{
    consts::{SIGHUP, SIGTERM, SIGXFSZ},
    iterator::Signals,
};
#[cfg(unix)]
use std::{
    fs,
    process::exit,
    sync::atomic::Ordering,
    thread,
    time::{Duration, Instant},
};
use std::{
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
};
use typed_transformer::train::Trainer;

/// The exit status of a program that Ctrl-C ended, as shells report it: 128 + SIGINT.
pub const EXIT_SIGINT: u8 = 130;

/// A terminal that is closed sends SIGHUP twice. A second signal within this time is the same request.
#[cfg(unix)]
const SAME_REQUEST: Duration = Duration::from_millis(300);

/// A signal stopped the training; the message says how to resume it.
#[derive(Debug, thiserror::Error)]
#[error(
    "stopped after step {steps_made} of {steps}; the same command with --resume {} goes on from there",
    path.display()
)]
pub struct Interrupted {
    steps_made: usize,
    steps: usize,
    path: PathBuf,
}

impl Interrupted {
    pub fn new<O, S>(trainer: &Trainer<O, S>, steps: usize, checkpoints: &Checkpoints) -> Self {
        Self { steps_made: trainer.steps_made(), steps, path: checkpoints.path.clone() }
    }
}

/// Sets `stop` on Ctrl-C, SIGTERM or SIGHUP. The next one ends the program at once. Under `nohup`, SIGHUP stays
/// ignored. A write beyond the size that `ulimit -f` allows is an error, and no longer ends the program.
#[cfg(unix)]
pub fn stop_on_signals(stop: Arc<AtomicBool>) -> Result<(), BoxError> {
    let cannot_listen = |error| format!("cannot listen to signals: {error}");
    flag::register(SIGXFSZ, Arc::default()).map_err(cannot_listen)?;
    let mut stopping = vec![SIGINT, SIGTERM];
    if !is_ignored(SIGHUP) {
        stopping.push(SIGHUP);
    }
    let mut signals = Signals::new(stopping).map_err(cannot_listen)?;
    let listen = move || {
        let mut request: Option<Instant> = None;
        for _ in signals.forever() {
            let is_same_request = request.is_some_and(|first| first.elapsed() < SAME_REQUEST);
            // `stop` is also true once the training is over.
            if stop.swap(true, Ordering::Relaxed) && !is_same_request {
                exit(EXIT_SIGINT.into());
            }
            request.get_or_insert_with(Instant::now);
        }
    };
    thread::Builder::new().spawn(listen).map(drop).map_err(|error| cannot_listen(error).into())
}

/// Whether the parent process lets this one ignore a signal, as `nohup` does. Only Linux has the file that says so;
/// elsewhere the answer is no.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Sets `stop` on Ctrl-C. The next one ends the program at once.
#[cfg(not(unix))]
pub fn stop_on_signals(stop: Arc<AtomicBool>) -> Result<(), BoxError> {
    // The shutdown is registered first. So it runs before `stop` is set, and the first signal does not end the program.
    flag::register_conditional_shutdown(SIGINT, EXIT_SIGINT.into(), stop.clone())
        .and_then(|_| flag::register(SIGINT, stop))
        .map(drop)
        .map_err(|error| format!("cannot listen to signals: {error}").into())
}
