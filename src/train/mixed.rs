use crate::{
    backend::Backend,
    ops::{OpError, Real, cast, device_error},
};
use dfdx::{
    nn::{RecursiveWalker, TensorCollection, TensorOptions, TensorVisitor, ViewTensorRef},
    shapes::{HasShape, Shape},
    tensor::{Gradients, Tensor, Trace},
    tensor_ops::{Backward, SumTo, TryMul},
};
use std::{mem, vec::IntoIter};

const OP: &str = "master gradients";

/// The gradients of a model from those of a copy of it in another dtype, divided by `scale` and added to
/// `into`: mixed precision with master weights and a scaled loss ([Micikevicius et al.,
/// 2017](https://arxiv.org/abs/1710.03740), 3.1 and 3.2).
///
/// The copy is made by dfdx's `ToDtype` for each step, of `AMP<f16>` (feature `f16`) for mixed precision;
/// what is optimized and kept in files is the model itself. Three things are to be known of 16 bits:
///
/// - They round a slope below 3e-8 to 0 and one above 65,520 to infinity, so the loss is scaled to have its
///   slopes between the two. Where one is infinite all the same, [`update`](super::update) returns an error
///   and leaves the model as it was: the step can be made again with a smaller scale.
/// - The scale is such a number as well, at most 65,504.
/// - dfdx sums the slopes of biases, norms and embeddings position by position, in 16 bits, which loses the
///   small ones in a pass of more than some hundred positions. A larger batch is taken in parts, whose
///   gradients are summed here, `into` being those of the part before.
///
/// At first `into` is `model.try_alloc_grads()` of dfdx's `ZeroGrads`, that is, zeros.
///
/// # Errors
/// [`OpError::Device`] if the device fails.
///
/// ```
/// use dfdx::nn::{ToDtype, ZeroGrads};
/// use typed_transformer::{
///     nn::Linear,
///     ops::scale,
///     prelude::*,
///     train::{Adam, master_gradients, update},
/// };
/// dims! { pub EmbedDim = 2; pub VocabSize = 3; pub SeqLen = 1; pub Batch = 1; }
/// let device = Cpu::default();
/// let mut model = Linear::<EmbedDim, VocabSize, f64, Cpu>::build(&device);
/// let labels = TokenIds::from_ids(&[2], None, (Batch, SeqLen))?;
///
/// let copy = model.to_dtype::<f32>(); // `AMP<f16>` for mixed precision
/// let input: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = device.tensor(vec![1.0, 0.0]);
/// let loss = cross_entropy(copy.forward(input.leaky_traced()), &labels, Reduction::MeanAll);
/// let (gradients, zeros) = (scale(loss, 1024.0).backward(), model.try_alloc_grads()?);
/// let gradients = master_gradients(&model, &copy, gradients, 1024.0, zeros)?;
/// update(&mut model, gradients, &mut Adam::default(), 1e-3, 1.0)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn master_gradients<Model, Low, E, D>(
    model: &Model,
    copy: &Model::To<Low, D>,
    gradients: Gradients<Low, D>,
    scale: f64,
    into: Gradients<E, D>,
) -> Result<Gradients<E, D>, OpError>
where
    Model: TensorCollection<E, D>,
    Model::To<Low, D>: TensorCollection<Low, D>,
    Low: Real,
    E: Real,
    D: Backend<E> + Backend<Low>,
{
    let mut read = Read { gradients, slopes: Vec::new() };
    Model::To::<Low, D>::iter_tensors(&mut RecursiveWalker { m: copy, f: &mut read })
        .map_err(device_error(OP))?;
    let mut write = Write { gradients: into, slopes: read.slopes.into_iter(), scale };
    Model::iter_tensors(&mut RecursiveWalker { m: model, f: &mut write }).map_err(device_error(OP))?;
    Ok(write.gradients)
}

/// Takes the gradients of the copy.
struct Read<Low: Real, D: Backend<Low>> {
    gradients: Gradients<Low, D>,
    /// Of each parameter, in the order of the fields.
    slopes: Vec<Vec<Low>>,
}

impl<Low: Real, D: Backend<Low>> TensorVisitor<Low, D> for Read<Low, D> {
    type Viewer = ViewTensorRef;
    type Err = D::Err;
    type E2 = Low;
    type D2 = D;

    fn visit<S: Shape>(
        &mut self,
        options: TensorOptions<S, Low, D>,
        tensor: &Tensor<S, Low, D>,
    ) -> Result<Option<Tensor<S, Low, D>>, D::Err> {
        if options.do_gradient_update {
            let mut slopes = vec![Low::zero(); tensor.shape().num_elements()];
            D::try_take_gradient(&mut self.gradients, tensor, &mut slopes)?;
            self.slopes.push(slopes);
        }
        Ok(None)
    }
}

/// Gives the model its gradients.
struct Write<E: Real, Low, D: Backend<E>> {
    gradients: Gradients<E, D>,
    slopes: IntoIter<Vec<Low>>,
    scale: f64,
}

impl<E: Real, Low: Real, D: Backend<E>> TensorVisitor<E, D> for Write<E, Low, D> {
    type Viewer = ViewTensorRef;
    type Err = D::Err;
    type E2 = E;
    type D2 = D;

    fn visit<S: Shape>(
        &mut self,
        options: TensorOptions<S, E, D>,
        tensor: &Tensor<S, E, D>,
    ) -> Result<Option<Tensor<S, E, D>>, D::Err> {
        if options.do_gradient_update
            && let Some(slopes) = self.slopes.next()
            && !slopes.is_empty()
        {
            let unscaled = |slope: Low| cast(slope.to_f64().unwrap_or(f64::NAN) / self.scale);
            let slopes = slopes.into_iter().map(unscaled).collect();
            let slopes = tensor.device().try_tensor_from_vec(slopes, *tensor.shape())?;
            // dfdx writes gradients only by a pass: these are the slopes of `Σ slopes · parameter`.
            let gradients = mem::replace(&mut self.gradients, Gradients::leaky());
            let sum = tensor.trace(gradients).try_mul(slopes)?.try_sum()?;
            self.gradients = sum.try_backward()?;
        }
        Ok(None)
    }
}
