use super::{GradientsOf, put_gradient::add_gradient};
use crate::backend::Backend;
use crate::model_tensors::visit_tensors;
use crate::ops::{OpError, Real, device_error};
use dfdx::tensor::{Storage, Tensor, UniqueId};
use dfdx::{nn::TensorCollection, shapes::HasShape, tensor_ops::TryDiv};

const OP: &str = "master gradients";

/// `accumulated + gradients / loss_scale`: the gradients of a model from those of its copy in 16 bits.
/// This is mixed precision with master weights and loss scaling ([Micikevicius et al.,
/// 2017](https://arxiv.org/abs/1710.03740), 3.1 and 3.2).
///
/// dfdx's `ToDtype` makes the copy, anew for each step: `AMP<f16>` (feature `f16`) for mixed precision.
/// The optimizer and the files hold the model itself. 16 bits have four limits:
///
/// - A gradient below 3e-8 becomes 0 and one above 65,520 infinite. Scale the loss so that the gradients lie
///   between. If one is infinite anyway, [`update`](super::update) returns an error and leaves the model
///   unchanged, so the step can be repeated with a smaller scale.
/// - The loss scale has 16 bits too: it is at most 65,504.
/// - A sum above 65,504 is infinite ([`guide::cuda`](crate::guide::cuda)).
/// - dfdx sums the gradients of biases, norms and embeddings position by position in 16 bits, which loses
///   the small ones in a pass of more than a few hundred positions. Divide a larger batch into parts and sum
///   their gradients here: `accumulated` is the result for the parts before.
///
/// `accumulated` starts as [`GradientsOf::zeros`].
///
/// ```
/// use dfdx::nn::ToDtype;
/// use typed_transformer::{nn::Linear, ops::scale, prelude::*, train::{Adam, GradientsOf, master_gradients, update}};
/// dims! { pub EmbedDim = 2; pub VocabSize = 3; pub SeqLen = 1; pub Batch = 1; }
/// let device = Cpu::default();
/// let mut model = Linear::<EmbedDim, VocabSize, f64, Cpu>::build(&device);
/// let labels = LabelIds::from_ids(&[2], None, (Batch, SeqLen))?;
///
/// let half_model = model.to_dtype::<f32>(); // `AMP<f16>` for mixed precision
/// let input: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = device.tensor(vec![1.0, 0.0]);
/// let loss = cross_entropy(half_model.forward(input.put_tape(half_model.recording()))?, &labels, Reduction::MeanAll)?;
/// let (gradients, zeros) = (scale(loss, 1024.0)?.backward()?, GradientsOf::zeros(&model));
/// let gradients = master_gradients(&model, &half_model, gradients, 1024.0, zeros)?;
/// update(&mut model, gradients, &mut Adam::default(), 1e-3, 1.0)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn master_gradients<Model, Half, E, D>(
    model: &Model,
    half_model: &Model::To<Half, D>,
    gradients: GradientsOf<Model::To<Half, D>, Half, D>,
    loss_scale: f64,
    mut accumulated: GradientsOf<Model, E, D>,
) -> Result<GradientsOf<Model, E, D>, OpError>
where
    Model: TensorCollection<E, D>,
    Model::To<Half, D>: TensorCollection<Half, D>,
    Half: Real,
    E: Real,
    D: Backend<E> + Backend<Half> + Backend<f64>,
{
    // One flat tensor per trained parameter, in the order of the fields.
    let GradientsOf { gradients: mut half_gradients, used, may_be_unused, .. } = gradients;
    let mut unscaled = Vec::<(Tensor<(usize,), E, D>, UniqueId)>::new();
    visit_tensors::<_, Half, D, D::Err>(half_model, "", |visited| {
        if visited.is_trained {
            let gradient = visited.tensor.flat_gradient(&mut half_gradients)?;
            // The quotient may not fit into 16 bits.
            let quotient = gradient.try_to_dtype::<f64>()?.try_div(loss_scale)?;
            unscaled.push((quotient.try_to_dtype::<E>()?, visited.tensor.id()));
            // Frees the memory of this gradient.
            *visited.tensor.stored_gradient(half_gradients.for_dfdx()?)? =
                Storage::<Half>::try_alloc_len(visited.tensor.device(), 1)?;
        }
        Ok(())
    })
    .map_err(device_error(OP))?;
    let mut unscaled = unscaled.into_iter();
    visit_tensors::<_, E, D, D::Err>(model, "", |visited| {
        if visited.is_trained
            && let Some((gradient, half_id)) = unscaled.next()
            && gradient.shape().0 > 0
        {
            let id = visited.tensor.id();
            accumulated.used.extend(used.contains(&half_id).then_some(id));
            accumulated.may_be_unused.extend(may_be_unused.contains(&half_id).then_some(id));
            add_gradient(visited.tensor, &mut accumulated.gradients, gradient)?;
        }
        Ok(())
    })
    .map_err(device_error(OP))?;
    Ok(accumulated)
}
