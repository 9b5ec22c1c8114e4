//! Checkpoints that are due, the space for them, and copies of those that are refused.

use super::Trainer;
use crate::backend::Backend;
use crate::nn::Module;
use crate::ranks::Element;
use crate::train::checkpoint::{self, CheckpointFiles, LastCheckpoint, Progress, RunRecord};
use crate::train::{Optimizer, Schedule, TrainError};
use crate::weights::{self, FileKind, FileLock, SaveError, atomic};
use dfdx::nn::TensorCollection;
use std::path::Path;

impl<O, S> Trainer<O, S> {
    /// Removes [`TrainError::Diverged`] from the failures, and adds the present one if the training is diverged.
    pub(super) fn note_divergence(&mut self) {
        self.failures.retain(|failure| !matches!(failure, TrainError::Diverged { .. }));
        let Progress { steps_made, mean_loss, first_loss, .. } = self.progress;
        if self.is_diverged() {
            self.failures.push(TrainError::Diverged { steps_made, mean_loss, first_loss });
        }
    }
}

impl<O, S: Schedule> Trainer<O, S> {
    /// Whether a checkpoint is due after the last step. None is due while the training is diverged: the ones
    /// before remain.
    pub(super) fn is_checkpoint_due(&self) -> bool {
        !self.is_diverged() && self.is_interval_over()
    }

    fn is_interval_over(&self) -> bool {
        let steps_made = self.progress.steps_made;
        self.checkpoints.as_ref().is_some_and(|CheckpointFiles { interval, .. }| {
            self.stopped || *interval > 0 && (self.is_finished() || steps_made.is_multiple_of(*interval))
        })
    }

    /// Saves a checkpoint if one is due. If that fails, it is saved in the folder of temporary files.
    pub(super) fn save_if_due<Model: Module + TensorCollection<E, D>, E: Element, D: Backend<E>>(
        &mut self,
        model: &Model,
    ) where
        O: Optimizer<Model, E, D>,
    {
        if self.is_interval_over() {
            // The user should know of a divergence now: the training may go on for days, or end without `finish`.
            self.note_divergence();
        }
        if !self.is_checkpoint_due() {
            return;
        }
        // Otherwise the metrics of steps before the checkpoint could be lost in a power cut.
        self.use_metrics(|metrics| metrics.sync());
        let Some(mut files) = self.checkpoints.take() else { return };
        // Not the caller's path: a link in it may lead to the folder of another training run by now.
        let (path, progress) = (files.newest.clone(), self.progress);
        let save = |files: &mut CheckpointFiles| {
            let staged = checkpoint::stage(&path, model, self.optimizer.state(), self.run_record())?;
            files.make_newest(staged, progress, self.max_to_keep)
        };
        let mut saved = save(&mut files);
        // The second try is for a transient error, such as too many open files.
        if saved.as_ref().is_err_and(SaveError::is_transient) && !files.is_newest(progress) {
            saved = save(&mut files);
        }
        // An error after the rename leaves the new file there.
        if files.is_newest(progress) {
            self.last_checkpoint = Some(LastCheckpoint::new(&path, progress, false));
        }
        let stayed = files.newest_progress;
        self.checkpoints = Some(files);
        let failed_saves = self.failures.extract_if(.., |failure| matches!(failure, TrainError::Save { .. }));
        let copies = failed_saves
            .filter_map(|failure| if let TrainError::Save { saved_at, .. } = failure { saved_at } else { None });
        let earlier = copies.last();
        match saved {
            Ok(()) => earlier.iter().for_each(|path| weights::remove_private_file(path)),
            Err(source) => {
                // Somebody may have removed the earlier copy to make room. Otherwise it stays whole when this save
                // fails too.
                let earlier = earlier.filter(|earlier| earlier.exists());
                let saved_at = match &earlier {
                    Some(earlier) => self.save_with_stayed(model, earlier, stayed).map(|()| earlier.clone()),
                    None => weights::in_private_folder(&path, |path| self.save_with_stayed(model, path, stayed)),
                };
                let saved_at = saved_at.ok().or(earlier);
                self.failures.push(TrainError::Save { source, saved_at });
            }
        }
    }

    /// [`save`](Self::save). For the copy of a refused checkpoint, `stayed` is the progress of the one that stayed at
    /// the path, if any.
    pub(super) fn save_with_stayed<Model: Module + TensorCollection<E, D>, E: Element, D: Backend<E>>(
        &self,
        model: &Model,
        path: &Path,
        stayed: Option<Progress>,
    ) -> Result<(), SaveError>
    where
        O: Optimizer<Model, E, D>,
    {
        let run = RunRecord { stayed, ..self.run_record() };
        let is_own = |kind| match kind {
            FileKind::Nothing => true,
            FileKind::Checkpoint => checkpoint::is_same_run::<Model, E, D>(path, &run),
            FileKind::Weights | FileKind::Other => false,
        };
        if !self.overwrite && !is_own(weights::file_kind(path)) {
            let found = checkpoint::description_of(path, "the checkpoint of another training run");
            return Err(SaveError::Exists { path: path.into(), found });
        }
        let cannot_write = |source| SaveError::Write { path: path.into(), source };
        let target = atomic::resolve_target(path).map_err(cannot_write)?;
        let holds_lock = self.checkpoints.as_ref().is_some_and(|own| own.newest == target);
        let _lock = if holds_lock { None } else { Some(FileLock::acquire(path, &target)?) };
        checkpoint::stage(path, model, self.optimizer.state(), run)?.commit().map_err(cannot_write)
    }

    /// Checks before the first step of a run that the disk has room for the checkpoints.
    pub(super) fn ensure_space<Model: TensorCollection<E, D>, E: Element, D: Backend<E>>(
        &mut self,
    ) -> Result<(), TrainError>
    where
        O: Optimizer<Model, E, D>,
    {
        let Some(files) = self.checkpoints.as_ref().filter(|_| !self.is_space_checked) else {
            return Ok(());
        };
        let save_error = |source| TrainError::Save { source, saved_at: None };
        self.ensure_metrics_apart(&files.path).map_err(save_error)?;
        let len_bytes = checkpoint::len_bytes::<Model, E, D>(self.optimizer.state());
        let needed_bytes = files.needed_bytes(len_bytes, self.max_to_keep);
        weights::ensure_space(&files.path, needed_bytes).map_err(save_error)?;
        self.is_space_checked = true;
        Ok(())
    }
}
