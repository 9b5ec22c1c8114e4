//! A training run of several ranks: rank 0 writes the files, and all decide together.

use super::Trainer;
use crate::backend::{Backend, elements_of};
use crate::dims::name;
use crate::internal::Internal;
use crate::nn::Module;
use crate::ops::{OpError, Real};
use crate::ranks::{Element, Partial, RankAxis, Ranks, RanksError, ReducedOver, Replicated};
use crate::train::checkpoint::Progress;
use crate::train::{GradientsOf, Optimizer, Schedule, StepReport, TrainError, parameter_infos};
use dfdx::{nn::TensorCollection, shapes::HasShape, tensor::Tensor};
use serde::{Deserialize, Serialize};
use std::sync::atomic::Ordering;

impl<O, S: Schedule> Trainer<O, S> {
    /// [`update`](Self::update) on all ranks. `loss` is this rank's part of the loss, and `tokens` counts the whole
    /// batch.
    ///
    /// All ranks end together: after the step if [`stop`](Self::stop) is true on one, and before it if the loss of one
    /// is not finite, if all steps are made, or if the disk of rank 0 is too small for the checkpoints. Call
    /// [`checkpoint_every`](Self::checkpoint_every) and set [`metrics`](Self::metrics) on rank 0 only, because it
    /// writes the files.
    ///
    /// # Errors
    /// Those of [`update`](Self::update), on all ranks; [`TrainError::Ranks`] on the ranks that did not fail.
    pub fn update_replicated<Model, E, D, W>(
        &mut self,
        ranks: &Ranks<W>,
        model: &mut Replicated<Model, W>,
        gradients: impl ReducedOver<GradientsOf<Model, E, D>, W>,
        loss: Partial<f64, W>,
        tokens: usize,
    ) -> Result<StepReport, TrainError>
    where
        O: Optimizer<Model, E, D>,
        Model: Module + TensorCollection<E, D>,
        E: Element,
        D: Backend<E>,
        W: RankAxis,
    {
        self.ranks = ranks.size();
        self.ensure_same_on::<Model, E, D, W>(ranks)?;
        if !self.is_space_checked {
            ranks.fail_together(self.ensure_space::<Model, E, D>())?;
            self.is_space_checked = true;
        }
        let stop_requested = Partial::term(if self.stop.load(Ordering::Relaxed) { 1.0 } else { 0.0 });
        let finished = Partial::term(if self.is_finished() { 1.0 } else { 0.0 });
        let [loss, num_stop_requests, num_finished] = sum(ranks, [loss, stop_requested, finished])?;
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
            self.optimizer.gather_state(&trained_lens::<Model, E, D>())?;
        }
        if self.stopped || report.steps_made == report.steps {
            ranks.end_together();
        }
        self.save_if_due::<Model, E, D>(model);
        Ok(report)
    }

    /// Compares the settings of the ranks once: those that a checkpoint stores, and the number of steps.
    fn ensure_same_on<Model, E, D, W>(&mut self, ranks: &Ranks<W>) -> Result<(), RanksError>
    where
        O: Optimizer<Model, E, D>,
        E: Real,
        D: Backend<E>,
        W: RankAxis,
    {
        if self.is_compared {
            return Ok(());
        }
        let mut settings = self.run_record().settings;
        settings.push(("the model".into(), name::<Model>()));
        settings.push(("the number of steps".into(), self.steps.to_string()));
        ranks.ensure_same(settings)?;
        self.is_compared = true;
        Ok(())
    }

    /// Gives all ranks the state of rank 0's training, which may have been resumed: the steps made, the losses and the
    /// optimizer's state.
    ///
    /// # Errors
    /// [`RanksError::Setting`], on all ranks, if the settings of one are not those of rank 0: model, optimizer,
    /// schedule, clip norm, seed, number of steps, and what [`require_same`](Self::require_same) has; [`RanksError`] if
    /// the ranks cannot reach each other.
    pub fn replicate<Model, E, D, W>(&mut self, ranks: &Ranks<W>, device: &D) -> Result<(), RanksError>
    where
        O: Optimizer<Model, E, D>,
        Model: TensorCollection<E, D>,
        E: Element,
        D: Backend<E>,
        W: RankAxis,
    {
        self.ensure_same_on::<Model, E, D, W>(ranks)?;
        if self.optimizer.is_sharded() {
            self.optimizer.gather_state(&trained_lens::<Model, E, D>())?;
        }
        let state = self.optimizer.state_mut();
        let lens = |values: &[Tensor<(usize,), E, D>]| values.iter().map(|values| values.shape().0).collect();
        let shared = BroadcastState {
            progress: self.progress,
            optimizer_steps: state.steps,
            slot_lens: state.slots.iter().map(|slot| lens(&slot.values)).collect(),
        };
        let text = serde_json::to_vec(&shared).map_err(RanksError::device("replicate"))?;
        let text = ranks.broadcast_vec(text)?;
        let shared: BroadcastState = serde_json::from_slice(&text).map_err(RanksError::device("replicate"))?;
        for (slot, lens) in state.slots.iter_mut().zip(&shared.slot_lens) {
            slot.values.truncate(lens.len());
            for (index, &len) in lens.iter().enumerate() {
                let mut elements = slot.values.get(index).map_or_else(Vec::new, elements_of);
                elements.resize(len, E::zero());
                ranks.broadcast(&mut elements, 0)?;
                let values = device.try_tensor_from_vec(elements, (len,));
                let values = values.map_err(RanksError::device("replicate"))?;
                match slot.values.get_mut(index) {
                    Some(slot) => *slot = values,
                    None => slot.values.push(values),
                }
            }
        }
        state.steps = shared.optimizer_steps;
        self.progress = shared.progress;
        self.ranks = ranks.size();
        self.note_ranks();
        Ok(())
    }
}

/// The numbers of elements of the trained parameters.
fn trained_lens<Model: TensorCollection<E, D>, E: Element, D: Backend<E>>() -> Vec<usize> {
    let trained = parameter_infos::<Model, E, D>().into_iter().filter(|parameter| parameter.is_trained);
    trained.map(|parameter| parameter.sizes.iter().product()).collect()
}

/// The state of rank 0's training, without the elements of the optimizer's slots.
#[derive(Serialize, Deserialize)]
struct BroadcastState {
    progress: Progress,
    optimizer_steps: u64,
    /// The length of each vector of each slot.
    slot_lens: Vec<Vec<usize>>,
}

/// Sums numbers over the ranks.
fn sum<const N: usize, W: RankAxis>(ranks: &Ranks<W>, terms: [Partial<f64, W>; N]) -> Result<[f64; N], RanksError> {
    let mut sums = terms.map(Partial::into_term);
    ranks.all_reduce(&mut sums)?;
    Ok(sums)
}
