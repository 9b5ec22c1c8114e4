use crate::ops::{OpError, Real, device_error};
use dfdx::{
    shapes::Rank0,
    tensor::{Gradients, OwnedTape, SplitTape, Tensor, Trace},
    tensor_ops::Device,
};

/// A tape on which the gradients of a pass are added to those of earlier ones: a batch that is too
/// large for the memory is taken in parts, and the model is updated once.
///
/// The first pass adds to zeros, `model.try_alloc_grads()` of dfdx's `ZeroGrads`; these know the
/// model's parameters, so that nothing else is kept between the passes. The loss of a part counts for
/// its share of the batch.
///
/// # Errors
/// [`OpError::Device`] if the device fails.
///
/// ```
/// use dfdx::nn::ZeroGrads;
/// use typed_transformer::{nn::Linear, ops::scale, prelude::*, train::{Adam, accumulate_gradients, update}};
/// dims! { pub EmbedDim = 2; pub VocabSize = 3; pub SeqLen = 1; pub Part = 1; }
/// let device = Cpu::default();
/// let mut model = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&device);
/// let mut gradients = model.try_alloc_grads()?;
/// for (input, label) in [([1.0, 0.0], 0), ([0.0, 1.0], 2)] {
///     let input: Tensor<(Part, SeqLen, EmbedDim), f32, Cpu> = device.tensor(input.to_vec());
///     let labels = TokenIds::from_ids(&[label], None, (Part, SeqLen))?;
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
    // dfdx begins a tape with given gradients only on a tensor.
    let any: Tensor<Rank0, E, D> = device.try_zeros().map_err(device_error("accumulate_gradients"))?;
    let (_, tape) = any.traced(gradients).split_tape();
    Ok(tape)
}
