use super::{GradientsOf, Recording};
use dfdx::tensor::Storage;

/// A tape whose backward pass adds to `gradients`. It lets a batch that does not fit into memory be
/// processed in parts, with one update for all of them.
///
/// The first part starts from [`GradientsOf::zeros`]. Scale the loss of each part by its share of the batch. A pass adds
/// to one sum: if tensors of two such tapes meet, the backward pass is an
/// [`OpError::TwoSums`](crate::ops::OpError::TwoSums).
///
/// ```
/// use typed_transformer::{
///     nn::Linear,
///     ops::scale,
///     prelude::*,
///     train::{Adam, GradientsOf, accumulate_gradients, update},
/// };
/// dims! { pub EmbedDim = 2; pub VocabSize = 3; pub SeqLen = 1; pub PartBatch = 1; }
/// let device = Cpu::default();
/// let mut model = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&device);
/// let mut gradients = GradientsOf::zeros(&model);
/// for (input, label) in [([1.0, 0.0], 0), ([0.0, 1.0], 2)] {
///     let input: Tensor<(PartBatch, SeqLen, EmbedDim), f32, Cpu> = device.tensor(input.to_vec());
///     let labels = TokenIds::from_ids(&[label], None, (PartBatch, SeqLen))?;
///     let logits = model.forward(input.put_tape(accumulate_gradients(gradients)))?;
///     let loss = cross_entropy(logits, &labels, Reduction::MeanAll)?;
///     gradients = scale(loss, 1.0 / 2.0)?.backward()?;
/// }
/// update(&mut model, gradients, &mut Adam::default(), 1e-3, 1.0)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn accumulate_gradients<Model, E, D: Storage<E>>(gradients: GradientsOf<Model, E, D>) -> Recording<Model, E, D> {
    gradients.into_recording()
}
