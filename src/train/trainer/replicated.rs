//! A training run of several ranks: rank 0 writes the files, and all decide together.

use super::Trainer;
use crate::backend::{Backend, elements_of};
use crate::dims::name;
use crate::internal::Internal;
use crate::nn::OwnsParameters;
use crate::ops::{OpError, Real};
use crate::ranks::{Element, Partial, RankAxis, Ranks, RanksError, ReducedOver, Replicated};
use crate::train::checkpoint::Progress;
use crate::train::{GradientsOf, Optimizer, Schedule, Slot, StepReport, TrainError};
use dfdx::nn::TensorCollection;
use serde::{Deserialize, Serialize};
use std::sync::atomic::Ordering;

impl<O, S: Schedule> Trainer<O, S> {
    /// [`update`](Self::update) on all ranks. `loss` is this rank's part of the loss, and `tokens` counts the whole
    /// batch.
    ///
    /// All ranks end together: after the step if [`stop`](Self::stop) is true on one, and before it if the loss of one
    /// is not finite, if all steps are made, or if the disk of rank 0 is too small for the checkpoints. Call
    /// [`checkpoint_every`](Self::checkpoint_every) and set [`metrics`](Self::metrics) on rank 0 only, because rank 0
    /// writes the files. All ranks get the losses that rank 0 has [recorded](Self::record_best).
    ///
    /// # Errors
    /// Those of [`update`](Self::update), on all ranks; [`TrainError::Ranks`] on the ranks that did not fail, and on
    /// all ranks before the first step if their settings or the numbers of steps that they have made differ.
    pub fn update_replicated<Model: OwnsParameters<E, D>, E: Element, D: Backend<E>, W: RankAxis>(
        &mut self,
        ranks: &Ranks<W>,
        model: &mut Replicated<Model, W>,
        gradients: impl ReducedOver<GradientsOf<Model, E, D>, W>,
        loss: Partial<f64, W>,
        tokens: usize,
    ) -> Result<StepReport, TrainError>
    where
        O: Optimizer<Model, E, D>,
    {
        self.ranks = ranks.size();
        if !self.is_compared {
            let steps_made = ("the number of steps made", self.progress.steps_made as u64);
            let optimizer_steps = ("the number of the optimizer's steps", self.optimizer.state().steps());
            self.ensure_same_on::<Model, E, D, W>(ranks, &[steps_made, optimizer_steps])?;
            self.is_compared = true;
            self.note_ranks();
        }
        if !self.is_space_checked {
            ranks.fail_together(self.ensure_space::<Model, E, D>())?;
            self.is_space_checked = true;
        }
        let count = |is_so: bool| if is_so { 1.0 } else { 0.0 };
        let of_first = |number: f64| if ranks.is_first() { number } else { 0.0 };
        let Progress { best_loss, best_after, recorded_loss, .. } = self.progress;
        let mut sums = [
            loss.into_term(),
            count(self.stop.load(Ordering::Relaxed)),
            count(self.is_finished()),
            of_first(best_loss),
            of_first(best_after as f64),
            of_first(recorded_loss),
        ];
        ranks.all_reduce(&mut sums)?;
        let [loss, num_stop_requests, num_finished, best_loss, best_after, recorded_loss] = sums;
        self.progress = Progress { best_loss, best_after: best_after as usize, recorded_loss, ..self.progress };
        if num_finished > 0.0 {
            ranks.end_together();
            return Err(TrainError::Finished { steps: self.steps });
        }
        if !loss.is_finite() {
            ranks.end_together();
            return Err(TrainError::Loss { step: self.progress.steps_made, loss });
        }
        let report =
            self.make_step(model.as_mut(), gradients.into_sum(Internal(())), loss, tokens).inspect_err(|error| {
                // All ranks return this error: it comes from the same sums and the same model.
                use OpError::{Clones, Hyperparameter, Unused};
                use TrainError::{Gradient, Op};
                if matches!(error, Gradient { .. } | Op(Clones { .. } | Hyperparameter { .. } | Unused { .. })) {
                    ranks.end_together();
                }
            })?;
        self.stopped = num_stop_requests > 0.0;
        if self.optimizer.is_sharded() && ranks.any(self.is_checkpoint_due())? {
            self.optimizer.gather_state()?;
        }
        if self.stopped || report.steps_made == report.steps {
            ranks.end_together();
        }
        self.save_if_due::<Model, E, D>(model);
        Ok(report)
    }

    /// Compares the settings of the ranks: those that a checkpoint stores, the number of steps, whether the loss may
    /// rise, and `counts`.
    fn ensure_same_on<Model, E: Real, D: Backend<E>, W: RankAxis>(
        &self,
        ranks: &Ranks<W>,
        counts: &[(&str, u64)],
    ) -> Result<(), RanksError>
    where
        O: Optimizer<Model, E, D>,
    {
        let mut settings = self.run_record().settings;
        settings.push(("the model".into(), name::<Model>()));
        settings.push(("the number of steps".into(), self.steps.to_string()));
        settings.push(("whether the loss may rise".into(), self.loss_may_rise.to_string()));
        settings.extend(counts.iter().map(|(name, count)| (name.to_string(), count.to_string())));
        ranks.ensure_same(settings)
    }

    /// Gives all ranks the state of rank 0's training, which may have been resumed: the steps made, the losses and the
    /// optimizer's state. [`Ranks::replicate`] sends the model.
    ///
    /// # Errors
    /// [`RanksError::Setting`], on all ranks, if the settings of one are not those of rank 0: model, optimizer,
    /// schedule, clip norm, seed, number of steps, [`loss_may_rise`](Self::loss_may_rise), and the values given to
    /// [`require_same`](Self::require_same); [`RanksError`] if the ranks cannot reach each other.
    pub fn replicate<Model, E, D, W>(&mut self, ranks: &Ranks<W>, device: &D) -> Result<(), RanksError>
    where
        O: Optimizer<Model, E, D>,
        Model: TensorCollection<E, D>,
        E: Element,
        D: Backend<E>,
        W: RankAxis,
    {
        self.ensure_same_on::<Model, E, D, W>(ranks, &[])?;
        if self.optimizer.is_sharded() {
            self.optimizer.gather_state()?;
        }
        let state = self.optimizer.state_mut();
        let shared = BroadcastState {
            progress: self.progress,
            optimizer_steps: state.steps,
            slot_lens: state.slots.iter().map(Slot::lens).collect(),
        };
        let text = serde_json::to_vec(&shared).map_err(RanksError::device("replicate"))?;
        let text = ranks.broadcast_vec(text)?;
        let shared: BroadcastState = serde_json::from_slice(&text).map_err(RanksError::device("replicate"))?;
        for (slot, lens) in state.slots.iter_mut().zip(&shared.slot_lens) {
            let mut elements: Vec<E> = slot.values.iter().flat_map(elements_of).collect();
            elements.resize(lens.iter().sum(), E::zero());
            ranks.broadcast(&mut elements, 0)?;
            slot.fill(&elements, lens, device).map_err(RanksError::device("replicate"))?;
        }
        state.steps = shared.optimizer_steps;
        self.progress = shared.progress;
        self.ranks = ranks.size();
        self.note_ranks();
        Ok(())
    }
}

/// The state of rank 0's training, without the elements of the optimizer's slots.
#[derive(Serialize, Deserialize)]
struct BroadcastState {
    progress: Progress,
    optimizer_steps: u64,
    /// The length of each vector of each slot.
    slot_lens: Vec<Vec<usize>>,
}
