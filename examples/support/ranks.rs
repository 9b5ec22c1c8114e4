//! The processes that train together, and what only the first of them does.

use super::{BoxError, EXIT_SIGINT, Interrupted, log};
use std::process::ExitCode;
use typed_transformer::{
    ranks,
    ranks::{Ranks, RanksError},
};

ranks! {
    /// All processes that `mpirun -n N` started, or this one alone.
    pub World;
}

/// An error that all ranks have, so that only the first one logs it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct OfAllRanks(pub String);

/// Runs a program on this rank, logs its error, if any, and returns the exit status: 0, 1 for an error, 130 after
/// Ctrl-C.
pub fn run_on_ranks(run: impl FnOnce(&Ranks<World>) -> Result<(), BoxError>) -> ExitCode {
    let ranks = match Ranks::start() {
        Ok(ranks) => ranks,
        Err(error) => {
            log(&format!("error: {error}"));
            return ExitCode::FAILURE;
        }
    };
    // The ranks are still there while the error is logged.
    let Err(error) = run(&ranks) else {
        return ExitCode::SUCCESS;
    };
    let is_interrupted = error.is::<Interrupted>();
    let is_of_others = matches!(error.downcast_ref(), Some(RanksError::OtherRanks { .. }));
    match (ranks.is_first(), is_interrupted) {
        (true, true) => log(&error.to_string()),
        (true, false) => log(&format!("error: {error}")),
        (false, false) if !is_of_others && !error.is::<OfAllRanks>() => {
            log(&format!("error on rank {}: {error}", ranks.rank()));
        }
        _ => {}
    }
    ExitCode::from(if is_interrupted { EXIT_SIGINT } else { 1 })
}

/// Does something on the first rank only. If it fails there, all ranks fail.
pub fn on_first<Value>(
    ranks: &Ranks<World>,
    action: impl FnOnce() -> Result<Value, BoxError>,
) -> Result<Option<Value>, BoxError> {
    ranks.agree(if ranks.is_first() { action().map(Some) } else { Ok(None) })
}
