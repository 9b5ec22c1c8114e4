//! The files of a training run: checkpoints, from which it resumes, and metrics.

use super::Trainer;
use crate::backend::{Backend, num_threads};
use crate::nn::OwnsParameters;
use crate::ops::Real;
use crate::ranks::Element;
use crate::train::checkpoint::{self, CheckpointFiles, LastCheckpoint, RunRecord, ensure_not_of_checkpoint};
use crate::train::metrics::is_invalid_line;
use crate::train::{Metrics, Optimizer, ResumeError, ResumeNote, Schedule, StepReport, TrainError};
use crate::weights::disk::retried;
use crate::weights::{Loadable, SaveError};
use std::path::{Path, PathBuf};
use std::{fs, io, io::ErrorKind};

/// The name of the setting that [`Trainer::allow_other_schedule`] is about.
const SCHEDULE: &str = "the schedule";

impl<O, S> Trainer<O, S> {
    /// Saves the training at `path` after every `steps` steps, after the last step, and when it is
    /// stopped. With `steps` 0, only when it is stopped.
    ///
    /// The previous checkpoint is kept as `PATH.previous-1`; [`max_to_keep`](Self::max_to_keep) keeps more. The best
    /// one is kept as `PATH.best`: the one whose last [recorded](Self::record_best) loss is the lowest. Evaluate before
    /// an update that is saved: if `(step.number + 1).is_multiple_of(steps)`. Without recorded losses, the
    /// larger of the last step's loss and the mean of about 20 steps counts. No checkpoint is saved while this mean is
    /// far above the first loss. This is not checked if the first loss is within 0.001 of 0, or if
    /// [`loss_may_rise`](Self::loss_may_rise). Each file is complete at every moment.
    ///
    /// Until the trainer is dropped, `path` is locked: no other training run can save there. A resumed training run
    /// calls it after [`resume`](Self::resume) with its old path, even if it goes on from the copy of a refused
    /// checkpoint, which [`TrainError::Save`] names.
    ///
    /// # Errors
    /// [`SaveError::Write`] if the file cannot be written; [`SaveError::Locked`] if another training run saves
    /// there; [`SaveError::Exists`] if the file there is not a checkpoint of this training run, unless
    /// [`overwrite`](Self::overwrite) is true; [`SaveError::SamePath`] and [`SaveError::PartOfCheckpoint`] if the
    /// [`metrics`](Self::metrics) are one of these files, or if `path` has the name of a file beside another
    /// checkpoint, such as `PATH.best`. A file of [`save`](Self::save) counts as that of another run, because the
    /// trainer does not know it.
    pub fn checkpoint_every(&mut self, path: impl AsRef<Path>, steps: usize) -> Result<(), SaveError> {
        // Ends the lock of an earlier call.
        self.checkpoints = None;
        self.ensure_metrics_apart(path.as_ref())?;
        let mut files = CheckpointFiles::open(path.as_ref(), steps, self.overwrite, self.last_checkpoint.as_ref())?;
        self.resume_notes.append(&mut files.notes);
        self.checkpoints = Some(files);
        Ok(())
    }

    /// Checks that the metrics are not a checkpoint of this training run at `path`, nor beside it.
    pub(super) fn ensure_metrics_apart(&self, path: &Path) -> Result<(), SaveError> {
        self.metrics.as_ref().map_or(Ok(()), |metrics| ensure_not_of_checkpoint(metrics.path(), path))
    }

    /// The best checkpoint, if [`checkpoint_every`](Self::checkpoint_every) has kept one.
    pub fn best_checkpoint(&self) -> Option<PathBuf> {
        self.checkpoints.as_ref()?.best()
    }

    /// Notes for the user about the last [`resume`](Self::resume), and about files that
    /// [`checkpoint_every`](Self::checkpoint_every) set aside.
    pub fn resume_notes(&self) -> &[ResumeNote] {
        &self.resume_notes
    }

    /// Renews the note about the number of ranks.
    pub(super) fn note_ranks(&mut self) {
        self.resume_notes.retain(|note| !matches!(note, ResumeNote::Ranks { .. }));
        let (before, now) = (self.ranks_before, self.ranks);
        if before != now && self.last_checkpoint.is_some() {
            self.resume_notes.push(ResumeNote::Ranks { before, now });
        }
    }

    /// The files that could not be written so far. A checkpoint that could be written later is not among
    /// them. [`TrainError::Diverged`] is among them once it prevents a checkpoint, until one is due after the loss
    /// has fallen.
    pub fn failures(&self) -> &[TrainError] {
        &self.failures
    }

    /// Ends a training run. If it fails, the model is still there to be saved.
    ///
    /// # Errors
    /// One of the [`failures`](Self::failures): that of a checkpoint before others. The rest remain there.
    /// [`TrainError::Diverged`] is among them if the mean loss of the last steps is far above the loss of the first
    /// step. This is not checked if the first loss is within 0.001 of 0, or if [`loss_may_rise`](Self::loss_may_rise).
    pub fn finish(&mut self) -> Result<(), TrainError> {
        self.use_metrics(|metrics| metrics.sync());
        self.note_divergence();
        // A stable sort: what tells the user how to go on comes first.
        self.failures.sort_by_key(|failure| match failure {
            TrainError::Save { .. } => 0,
            TrainError::Diverged { .. } => 1,
            _ => 2,
        });
        if self.failures.is_empty() { Ok(()) } else { Err(self.failures.remove(0)) }
    }

    pub(super) fn write_metrics(&mut self, report: &StepReport) {
        let values =
            [("loss", report.loss), ("learning_rate", report.learning_rate), ("gradient_norm", report.gradient_norm)];
        self.use_metrics(|metrics| {
            let written = metrics.write(report.steps_made, &values);
            if written.as_ref().is_err_and(is_invalid_line) {
                // Every step needs a line (otherwise a resume starts a new file), so the line is written without the
                // logged values.
                metrics.write(report.steps_made, &values)?;
            }
            written
        });
    }

    /// Runs `action` on the metrics. After a failure of their file, no more are written.
    pub(super) fn use_metrics(&mut self, action: impl FnOnce(&mut Metrics) -> io::Result<()>) {
        let Some(metrics) = &mut self.metrics else { return };
        let Err(source) = action(metrics) else { return };
        let path = metrics.path().into();
        // Lines are still written after a refused one, and after a failure of TensorBoard, whose kind is `Other`.
        if !is_invalid_line(&source) && source.kind() != ErrorKind::Other {
            self.metrics = None;
        }
        // Every line may be refused, so only the first refusal is reported.
        let is_told =
            |failure: &TrainError| matches!(failure, TrainError::Metrics { source, .. } if is_invalid_line(source));
        if !is_invalid_line(&source) || !self.failures.iter().any(is_told) {
            self.failures.push(TrainError::Metrics { path, source });
        }
    }
}

impl<O, S: Schedule> Trainer<O, S> {
    /// Saves the training: model, optimizer state, step, losses and settings.
    ///
    /// As with [`weights::save`](crate::weights::save), an existing checkpoint stays intact until the new one
    /// is complete. Unlike [`checkpoint_every`](Self::checkpoint_every), it keeps no older one and no best one.
    ///
    /// # Errors
    /// [`SaveError`] if the file cannot be written, or if an element is not finite: the training could not continue
    /// from it; [`SaveError::Format`] if ranks divide the model, or if they [shard](crate::train::ShardedState) the
    /// optimizer's state, which only [`update_replicated`](Self::update_replicated) gathers. [`SaveError::Exists`] if
    /// there is something else than a checkpoint of the same model and settings, unless [`overwrite`](Self::overwrite)
    /// is true; [`SaveError::Locked`] if another training run saves there.
    pub fn save<Model, E, D>(&self, model: &Model, path: impl AsRef<Path>) -> Result<(), SaveError>
    where
        O: Optimizer<Model, E, D>,
        Model: OwnsParameters<E, D>,
        E: Element,
        D: Backend<E>,
    {
        self.save_with_stayed(model, path.as_ref(), None)
    }

    /// Loads a training run: returns its model, and sets the optimizer state, the step and the losses.
    ///
    /// If the file is damaged or missing, the newest whole one of those that
    /// [`checkpoint_every`](Self::checkpoint_every) keeps beside it is loaded. [`resume_notes`](Self::resume_notes)
    /// says so. If [`metrics`](Self::metrics) are open, their next line removes the lines of later steps.
    ///
    /// # Errors
    /// A [`ResumeError`] that names the first difference between the file and this training run. The
    /// training is then unchanged.
    pub fn resume<Model, E, D>(&mut self, path: impl AsRef<Path>, device: &D) -> Result<Model, ResumeError>
    where
        O: Optimizer<Model, E, D>,
        Model: OwnsParameters<E, D> + Loadable<E, D>,
        E: Element,
        D: Backend<E>,
    {
        let path = path.as_ref();
        let run = self.run_record();
        let state = self.optimizer.state_mut();
        let mut notes = Vec::new();
        let mut load = |path: &Path| retried(ResumeError::is_transient, || checkpoint::load(path, device, state, &run));
        let ((model, resumed), used) = match load(path) {
            Ok(resumed) => (resumed, path.to_path_buf()),
            Err(error) if error.is_damage() => {
                let older = checkpoint::fallbacks(path);
                let Some((resumed, used)) = older.iter().find_map(|used| Some((load(used).ok()?, used.clone()))) else {
                    // The user has to know what is wrong with the one before a newest that is missing.
                    let before = older.first().filter(|_| !path.exists());
                    return Err(before.and_then(|before| load(before).err()).unwrap_or(error));
                };
                let (why, steps_made) = (error.to_string(), resumed.1.progress.steps_made);
                notes.push(ResumeNote::OlderCheckpoint { why, path: used.clone(), steps_made });
                (resumed, used)
            }
            Err(error) => return Err(error),
        };
        let (before, now) = (resumed.threads, num_threads());
        if before != now {
            notes.push(ResumeNote::Threads { before, now });
        }
        self.ranks_before = resumed.ranks;
        self.progress = resumed.progress;
        let is_substitute = used != path;
        let mut last = LastCheckpoint::new(&used, resumed.progress, is_substitute);
        last.stayed = resumed.stayed.filter(|_| !is_substitute);
        self.last_checkpoint = Some(last);
        self.resume_notes = notes;
        self.note_ranks();
        self.use_metrics(|metrics| metrics.go_back_to(resumed.progress.steps_made));
        Ok(model)
    }

    /// [`resume`](Self::resume), or the model that `build` makes if there is no file at `path` and no earlier
    /// checkpoint beside it. Earlier checkpoints do not count if [`overwrite`](Self::overwrite) is true.
    ///
    /// Published weights are loaded after this call, and only into a new model:
    /// `if trainer.steps_made() == 0 { model.encoder = load_pretrained(folder, &device)?; }`. Without this condition
    /// each resume replaces what was trained.
    ///
    /// # Errors
    /// Those of [`resume`](Self::resume).
    ///
    /// ```
    /// use typed_transformer::{doctest::*, nn::Linear, prelude::*, train::{Sgd, Trainer}};
    /// type Layer = Linear<EmbedDim, VocabSize, f32, Cpu>;
    /// let device = Cpu::default();
    /// let mut trainer = Trainer::new(Sgd::default(), 0.1, 100, 0);
    /// let model: Layer = trainer.resume_or("no/such/checkpoint", &device, || Layer::build(&device))?;
    /// # Ok::<(), typed_transformer::train::ResumeError>(())
    /// ```
    pub fn resume_or<Model: OwnsParameters<E, D> + Loadable<E, D>, E: Element, D: Backend<E>>(
        &mut self,
        path: impl AsRef<Path>,
        device: &D,
        build: impl FnOnce() -> Model,
    ) -> Result<Model, ResumeError>
    where
        O: Optimizer<Model, E, D>,
    {
        let path = path.as_ref();
        let is_missing = fs::metadata(path).is_err_and(|error| error.kind() == ErrorKind::NotFound);
        match is_missing && (self.overwrite || checkpoint::fallbacks(path).is_empty()) {
            true => Ok(build()),
            false => self.resume(path, device),
        }
    }

    pub(super) fn run_record<Model, E: Real, D: Backend<E>>(&self) -> RunRecord<'static>
    where
        O: Optimizer<Model, E, D>,
    {
        let mut settings: Vec<(String, String)> = vec![
            ("the optimizer".into(), self.optimizer.hyperparameters()),
            (SCHEDULE.into(), format!("{:?}", self.schedule)),
            ("the clip norm".into(), self.clip_norm.to_string()),
            ("the random generator".into(), format!("ChaCha8 with seed {}", self.seed)),
        ];
        settings.extend_from_slice(&self.required);
        RunRecord {
            progress: self.progress,
            steps: self.steps,
            settings,
            ignored_setting: self.allow_other_schedule.then_some(SCHEDULE),
            ranks: self.ranks,
            stayed: None,
        }
    }
}
