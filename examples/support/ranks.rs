//! The processes that train together, and what only the first of them does.

use super::{BoxError, EXIT_SIGINT, Interrupted, exit_code, log};
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

/// Runs a program on this rank, and returns [`exit_code`]. An error that all ranks have is logged once.
pub fn run_on_ranks(run: impl FnOnce(&Ranks<World>) -> Result<(), BoxError>) -> ExitCode {
    let ranks = match Ranks::start() {
        Ok(ranks) => ranks,
        Err(error) => return exit_code(Err(error.into())),
    };
    // The ranks are still there while the error is logged.
    let result = run(&ranks);
    match result {
        Err(error) if !ranks.is_first() => {
            let is_interrupted = error.is::<Interrupted>();
            let is_of_others = matches!(error.downcast_ref(), Some(RanksError::OtherRanks { .. }));
            if !is_interrupted && !is_of_others && !error.is::<OfAllRanks>() {
                log(&format!("error on rank {}: {error}", ranks.rank()));
            }
            ExitCode::from(if is_interrupted { EXIT_SIGINT } else { 1 })
        }
        result => exit_code(result),
    }
}

/// Does something on the first rank only. If it fails there, all ranks fail.
pub fn on_first<Value>(
    ranks: &Ranks<World>,
    action: impl FnOnce() -> Result<Value, BoxError>,
) -> Result<Option<Value>, BoxError> {
    ranks.fail_together(if ranks.is_first() { action().map(Some) } else { Ok(None) })
}
