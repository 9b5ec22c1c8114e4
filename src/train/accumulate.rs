use crate::ops::{OpError, Real, device_error};
use dfdx::{
    shapes::Rank0,
    tensor::{Gradients, OwnedTape, SplitTape, Tensor, Trace},
    tensor_ops::Device,
};

/// A tape whose backward pass adds to `gradients`. It lets a batch that does not fit into memory be
/// processed in parts, with one update for all of them.
///
/// The first part starts from zeros, `model.try_alloc_grads()` of dfdx's `ZeroGrads`. They hold the
/// model's parameters only, so nothing else is kept between the passes. Scale the loss of each part by
/// its share of the batch.
///
/// # Errors
/// [`OpError::Device`] if the device fails.
///
/// ```
/// use dfdx::nn::ZeroGrads;
/// use typed_transformer::{nn::Linear, ops::scale, prelude::*, train::{Adam, accumulate_gradients, update}};
/// dims! { pub EmbedDim = 2; pub VocabSize = 3; pub SeqLen = 1; pub PartBatch = 1; }
/// let device = Cpu::default();
/// let mut model = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&device);
/// let mut gradients = model.try_alloc_grads()?;
/// for (input, label) in [([1.0, 0.0], 0), ([0.0, 1.0], 2)] {
///     let input: Tensor<(PartBatch, SeqLen, EmbedDim), f32, Cpu> = device.tensor(input.to_vec());
///     let labels = TokenIds::from_ids(&[label], None, (PartBatch, SeqLen))?;
///     let logits = model.forward(input.put_tape(accumulate_gradients(&device, gradients)?));
///     let loss = cross_entropy(logits, &labels, Reduction::MeanAll);
///     gradients = scale(loss, 1.0 / 2.0).backward();
/// }
/// update(&mut model, gradients, &mut Adam::default(), 1e-3, 1.0)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn accumulate_gradients<E: Real, D: Device<E>>(
    device: &D,
    gradients: Gradients<E, D>,
) -> Result<OwnedTape<E, D>, OpError> {
    // dfdx only starts a tape with given gradients at a tensor.
    let unused: Tensor<Rank0, E, D> = device.try_zeros().map_err(device_error("accumulate_gradients"))?;
    let (_, tape) = unused.traced(gradients).split_tape();
    Ok(tape)
}
