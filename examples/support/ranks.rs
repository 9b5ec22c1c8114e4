//! The processes that train together, and what only the first of them does.

use super::{
    BoxError, Checkpoints, EXIT_SIGINT, Files, Interrupted, Outcome, Progress, Trainable, device_error, exit_code,
    files::exit_if_stopped, hints::NotFinite, log, stop_on_signals,
};
use std::{collections::HashMap, env, fs, process::ExitCode, sync::atomic::Ordering};
use typed_transformer::{
    backend::Backend,
    ranks,
    ranks::{Ranks, RanksError, Replicated},
    train::{Optimizer, Schedule, Trainer},
};

ranks! {
    /// All processes that `mpirun -n N` started, or this one alone.
    pub World;
}

/// Runs a program on this rank, and returns [`exit_code`]. An error that all ranks have is logged once.
pub fn run_on_ranks(run: impl FnOnce(&Ranks<World>) -> Result<(), BoxError>) -> ExitCode {
    let ranks = match Ranks::start() {
        Ok(ranks) => ranks,
        Err(error) => return exit_code(Err(error.into())),
    };
    // The ranks are still there while the error is logged.
    let result = ensure_same_program(&ranks).and_then(|()| run(&ranks));
    match result {
        Err(error) if !ranks.is_first() => {
            let is_interrupted = error.is::<Interrupted>();
            let is_of_others = matches!(error.downcast_ref(), Some(RanksError::OtherRanks { .. }));
            let is_setting = matches!(error.downcast_ref(), Some(RanksError::Setting { .. }));
            let is_of_all = is_interrupted || is_setting || error.is::<NotFinite>();
            if !is_of_all && !is_of_others {
                log(&format!("error on rank {}: {error}", ranks.rank()));
            }
            ExitCode::from(if is_interrupted { EXIT_SIGINT } else { 1 })
        }
        result => exit_code(result),
    }
}

/// Checks that all ranks run this program with the same options.
fn ensure_same_program(ranks: &Ranks<World>) -> Result<(), BoxError> {
    // A single process compares nothing: the checksum reads the whole file of the program.
    if ranks.size() > 1 {
        let settings = ranks.fail_together(program_and_options())?;
        ranks.ensure_same(settings)?;
    }
    Ok(())
}

/// The name of this program, the checksum of its file, and its options.
fn program_and_options() -> Result<Vec<(String, String)>, BoxError> {
    let program = env::current_exe()?;
    let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let checksum = format!("{:08x}", crc32fast::hash(&fs::read(&program)?));
    let mut settings = vec![("the program".into(), name), ("the checksum of the program".into(), checksum)];
    let mut option = None;
    for (position, argument) in env::args_os().skip(1).enumerate() {
        let argument = argument.to_string_lossy().into_owned();
        match (argument.starts_with("--"), option.take()) {
            (true, _) => {
                let (name, value) = argument.split_once('=').unwrap_or((&argument, "given"));
                settings.push((name.into(), value.into()));
                option = Some(settings.len() - 1);
            }
            (false, Some(option)) => settings[option].1 = argument,
            (false, None) => settings.push((format!("argument {}", position + 1), argument)),
        }
    }
    Ok(settings)
}

/// Does something on the first rank only. If it fails there, all ranks fail.
pub fn on_first<Value>(
    ranks: &Ranks<World>,
    action: impl FnOnce() -> Result<Value, BoxError>,
) -> Result<Option<Value>, BoxError> {
    ranks.fail_together(if ranks.is_first() { action().map(Some) } else { Ok(None) })
}

/// [`Files::prepare`] on all ranks. The first one opens the files, and all get its model and its state.
pub fn prepare<M: Trainable<D>, O: Optimizer<M, f32, D>, S: Schedule, D: Backend<f32>>(
    files: &Files,
    ranks: &Ranks<World>,
    trainer: &mut Trainer<O, S>,
    checkpoints: &Checkpoints,
    device: &D,
    new: impl Fn() -> Result<M, D::Err>,
) -> Result<Replicated<M, World>, BoxError> {
    trainer.loss_may_rise = files.loss_may_rise;
    let model = on_first(ranks, || files.open(trainer, checkpoints, device, &new))?;
    let model = ranks.fail_together(model.map_or_else(|| new().map_err(device_error), Ok))?;
    trainer.replicate(ranks, device)?;
    if ranks.is_first() {
        trainer.resume_notes().iter().for_each(|note| log(&note.to_string()));
    }
    ranks.fail_together(stop_on_signals(trainer.stop.clone()))?;
    Ok(ranks.replicate(model)?)
}

/// The progress of the first rank; the others show none.
pub fn progress(ranks: &Ranks<World>, steps: usize) -> Progress {
    if ranks.is_first() { Progress::new(steps) } else { Progress::hidden() }
}

/// [`Files::finish`] on all ranks, after the same step. The first one completes the files, and saves `metadata` with
/// the weights.
pub fn finish<M: Trainable<D>, O, S, D: Backend<f32>>(
    files: &Files,
    ranks: &Ranks<World>,
    trainer: Trainer<O, S>,
    (steps, checkpoints): (usize, &Checkpoints),
    model: &M,
    metadata: &HashMap<String, String>,
) -> Result<Outcome, BoxError> {
    ranks.end_together();
    let stop = trainer.stop.clone();
    let outcome = match ranks.is_first() {
        true => files.close(trainer, steps, checkpoints, model, metadata)?,
        false if trainer.stopped() => return Err(Interrupted::new(&trainer, steps, checkpoints).into()),
        false => Ok(()),
    };
    // Under `mpirun`, a process must not exit before MPI has ended. So a Ctrl-C that came after the last step is
    // ignored: the results come soon.
    match ranks.size() {
        1 => exit_if_stopped(&stop, &outcome),
        _ => stop.store(true, Ordering::Relaxed),
    }
    Ok(outcome)
}
