use crate::backend::{Backend, elements_of};
use crate::dims::Dim;
use crate::ops::{FitsLogits, Labels, OpError, Real, Reduction, cross_entropy};
use dfdx::{shapes::Shape, tensor::Tensor};
use std::fmt::{self, Display, Formatter};

/// The quality of predictions, over the labels of all batches that were added: each token counts the same, and padding
/// counts nothing.
///
/// ```
/// use typed_transformer::{prelude::*, train::Evaluation};
/// dims! { pub VocabSize = 3; pub SeqLen = 2; pub Batch = 1; }
/// let pad: Fin<VocabSize> = Fin::literal::<2>();
/// let mut evaluation = Evaluation::default();
/// for ids in [[0, 1], [1, 2]] {
///     let labels = LabelIds::from_ids(&ids, Some(pad), (Batch, SeqLen))?;
///     // All classes are equally likely, so the first one is predicted.
///     let logits: Tensor<(Batch, SeqLen, VocabSize), f32, Cpu> = Cpu::default().zeros();
///     evaluation.add(&logits, &labels)?;
/// }
/// assert_eq!(evaluation.tokens(), 3);
/// assert!((evaluation.accuracy() - 1.0 / 3.0).abs() < 1e-12);
/// assert_eq!(evaluation.to_string(), "loss 1.0986  perplexity 3.000  accuracy 33.3 %");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evaluation {
    tokens: usize,
    right: usize,
    loss_sum: f64,
}

impl Evaluation {
    /// Adds the predictions of a batch: `(.., V), (..) indices of V`.
    ///
    /// # Errors
    /// [`OpError::Dim`] if two sizes of a run-time dimension differ.
    pub fn add<Dims: Shape, Positions: Shape, V: Dim, Ids, E: Real, D: Backend<E>>(
        &mut self,
        logits: &Tensor<Dims, E, D>,
        labels: &Ids,
    ) -> Result<(), OpError>
    where
        Ids: Labels<Positions, V> + FitsLogits<Dims, Positions, V>,
    {
        let loss = cross_entropy(logits.clone(), labels, Reduction::Sum)?;
        self.loss_sum += loss.as_vec().iter().filter_map(|loss| loss.to_f64()).sum::<f64>();
        let (ids, padding) = (labels.indices(), labels.padding().map(|padding| padding.value()));
        let num_classes = ids.axis().size().max(1);
        let rows = elements_of(logits);
        for (row, &label) in rows.chunks(num_classes).zip(ids.as_slice()) {
            if Some(label) == padding {
                continue;
            }
            self.tokens += 1;
            // As `argmax` does, the first of equal ones is predicted, and a NaN never is.
            let beats = |(class, x): (usize, &E)| *x > row[label] || class < label && *x == row[label];
            let is_beaten = row.iter().enumerate().any(beats);
            self.right += usize::from(!is_beaten && !row[label].is_nan());
        }
        Ok(())
    }

    /// The number of labels that are not padding.
    pub fn tokens(&self) -> usize {
        self.tokens
    }

    /// The mean cross-entropy of a token, in nats; NaN before the first one.
    pub fn loss(&self) -> f64 {
        self.loss_sum / self.tokens as f64
    }

    /// `exp(loss)`: the model is as uncertain as among so many equally likely tokens.
    pub fn perplexity(&self) -> f64 {
        self.loss().exp()
    }

    /// The part of the tokens whose logit is the highest, from 0 to 1; NaN before the first one.
    pub fn accuracy(&self) -> f64 {
        self.right as f64 / self.tokens as f64
    }
}

impl Display for Evaluation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (loss, perplexity, percent) = (self.loss(), self.perplexity(), 100.0 * self.accuracy());
        write!(f, "loss {loss:.4}  perplexity {perplexity:.3}  accuracy {percent:.1} %")
    }
}
