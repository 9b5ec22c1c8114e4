use crate::backend::Backend;
use crate::internal::Internal;
use crate::ops::{OpError, Real};
use crate::ranks::{ReducedOver, Replicated};
use crate::train::{GradientsOf, Optimizer, update};
use dfdx::nn::TensorCollection;

/// [`update`] of a replicated model: all ranks make the same one, from gradients that have been summed over the ranks.
///
/// # Errors
/// Those of [`update`], on all ranks alike.
///
/// ```
/// use typed_transformer::{
///     doctest::*, nn::Linear, ops::partial_cross_entropy, prelude::*, ranks, ranks::Ranks,
///     train::{Adam, update_replicated},
/// };
/// ranks! { pub World; }
/// dims! { pub Rows; }
/// let models = Ranks::<World>::in_threads(2, |ranks| {
///     let device = Cpu::default();
///     let mut model = ranks.replicate(Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&device)).unwrap();
///     let (rows, mut adam) = (ranks.shard(Rows::new(5)), Adam::default());
///     let labels = LabelIds::from_ids(&[2; 20][..4 * rows.size()], None, (rows, SeqLen)).unwrap();
///     let x: Tensor<_, f32, Cpu> = device.tensor_from_vec(vec![1.0; 32 * rows.size()], (rows, SeqLen, EmbedDim));
///     let logits = model.forward(x.put_tape(model.recording())).unwrap();
///     let gradients = partial_cross_entropy(logits, &labels, Reduction::MeanAll).unwrap().backward().unwrap();
///     let gradients = gradients.all_reduce(ranks, &model).unwrap();
///     update_replicated(&mut model, gradients, &mut adam, 0.05, 1.0).unwrap();
///     ranks.ensure_replicated(&model)
/// });
/// assert_eq!(models, [Ok(()), Ok(())]);
/// ```
pub fn update_replicated<Model: TensorCollection<E, D>, E: Real, D: Backend<E>, W>(
    model: &mut Replicated<Model, W>,
    gradients: impl ReducedOver<GradientsOf<Model, E, D>, W>,
    optimizer: &mut impl Optimizer<Model, E, D>,
    learning_rate: f64,
    clip_norm: f64,
) -> Result<f64, OpError> {
    update(model.as_mut(), gradients.into_sum(Internal(())), optimizer, learning_rate, clip_norm)
}
