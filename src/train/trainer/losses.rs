//! The losses that a training run records.

use super::Trainer;
use crate::train::Evaluation;

impl<O, S> Trainer<O, S> {
    /// The lowest loss given to [`record_best`](Self::record_best); initially infinite.
    pub fn best_loss(&self) -> f64 {
        self.progress.best_loss
    }

    /// The number of steps since [`record_best`](Self::record_best) got the lowest loss, to end a training that no
    /// longer improves. Before the first loss it is the number of all steps made. A resumed training goes on counting.
    /// On several ranks it is that of rank 0 at the last update, so ask for it before the evaluation of a step.
    ///
    /// ```
    /// use typed_transformer::train::{Sgd, Trainer};
    /// let mut trainer = Trainer::new(Sgd::<(), f32>::default(), 0.1, 100, 0);
    /// trainer.record_best(2.0);
    /// assert_eq!(trainer.steps_since_best(), 0);
    /// ```
    pub fn steps_since_best(&self) -> usize {
        self.progress.steps_made.saturating_sub(self.progress.best_after)
    }

    /// Records a loss and returns whether it is the lowest so far. Checkpoints store the last and the lowest loss.
    /// Evaluate and record before the [`update`](Self::update) of the step that is saved, not in the next step, so that
    /// the checkpoint includes the loss.
    pub fn record_best(&mut self, loss: f64) -> bool {
        self.progress.record(loss)
    }

    /// Records the loss of an evaluation, as [`record_best`](Self::record_best) does, and logs it with the metrics of
    /// the step, as `validation_loss`. In that line, a second evaluation before the same step replaces the first.
    pub fn record_evaluation(&mut self, evaluation: &Evaluation) -> bool {
        if let Some(metrics) = &mut self.metrics {
            metrics.log_or_replace("validation_loss", evaluation.loss());
        }
        self.record_best(evaluation.loss())
    }

    /// Whether the mean loss of the last steps is far above the loss of the first, which is an error of
    /// [`finish`](Self::finish).
    ///
    /// ```
    /// use typed_transformer::{doctest::*, nn::Linear, prelude::*, train::{GradientsOf, Sgd, Trainer}};
    /// let mut model = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&Cpu::default());
    /// let mut trainer = Trainer::new(Sgd::default(), 0.1, 10, 0);
    /// for loss in [2.0, 40.0] {
    ///     assert!(!trainer.is_diverged());
    ///     let gradients = GradientsOf::zeros(&model).allow_unused(&model);
    ///     trainer.update(&mut model, gradients, loss, 4)?;
    /// }
    /// assert!(trainer.is_diverged());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_diverged(&self) -> bool {
        self.progress.is_diverged()
    }
}
