use super::{Distributed, Sharded, parameter_sharding::parameter_shardings};
use crate::backend::Backend;
use crate::internal::Internal;
use crate::ops::OpError;
use crate::ranks::{Element, RankAxis, Ranks, ReducedOver, Replicated};
use crate::train::{GradientsOf, Optimizer, update_by_norm};
use std::collections::HashSet;

/// [`update`](crate::train::update) of a sharded model: each rank updates its part, by the norm of the
/// gradients of the whole model.
///
/// # Errors
/// Those of [`update`](crate::train::update), on all ranks alike; [`OpError::Ranks`] if a rank fails.
///
/// ```
/// use typed_transformer::{
///     doctest::*, prelude::*, ranks, ranks::Ranks, train::Adam,
///     tensor_parallel::{Distributed, OnRanks, update_sharded},
/// };
/// ranks! { pub Tp = 1; }
/// let ranks = Ranks::<Tp>::single()?;
/// let mut model = Distributed::<DecoderOnly<OnRanks<Model, Tp>, f32, Cpu>, Tp>::build(&Cpu::default(), &ranks)?;
/// let ids = TokenIds::from_ids(&[7, 4, 24, 0], None, (Batch, SeqLen))?;
/// let (inputs, labels) = ids.teacher_forcing(Fin::literal::<26>());
/// let loss = cross_entropy(model.forward(&inputs, model.recording())?, &labels, Reduction::MeanAll)?;
/// update_sharded(&mut model, loss.backward()?, &mut Adam::default(), 1e-3, 1.0, &ranks)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn update_sharded<Model: Sharded<Axis, E, D>, E: Element, D: Backend<E>, Axis: RankAxis>(
    model: &mut Distributed<Model, Axis>,
    gradients: GradientsOf<Model, E, D>,
    optimizer: &mut impl Optimizer<Model, E, D>,
    learning_rate: f64,
    clip_norm: f64,
    ranks: &Ranks<Axis>,
) -> Result<f64, OpError> {
    update_part(model.as_mut(), gradients, optimizer, learning_rate, clip_norm, ranks)
}

/// [`update_sharded`] of a model whose parts other ranks replicate, by gradients that have been summed over those.
///
/// # Errors
/// Those of [`update_sharded`].
///
/// ```
/// use typed_transformer::{
///     doctest::*, ops::partial_cross_entropy, prelude::*, ranks, ranks::Ranks, train::Adam,
///     tensor_parallel::{Distributed, OnRanks, update_sharded_replicated},
/// };
/// ranks! { pub Data; pub Tp = 1; }
/// let (data, tp) = Ranks::<Data>::single()?.split::<Data, Tp>()?;
/// let model = Distributed::<DecoderOnly<OnRanks<Model, Tp>, f32, Cpu>, Tp>::build(&Cpu::default(), &tp)?;
/// let mut model = model.replicate(&data)?;
/// let ids = TokenIds::from_ids(&[7, 4, 24, 0], None, (data.shard(Batch), SeqLen))?;
/// let (inputs, labels) = ids.teacher_forcing(Fin::literal::<26>());
/// let logits = model.forward(&inputs, model.recording())?;
/// let loss = partial_cross_entropy(logits, &labels, Reduction::MeanAll)?;
/// let gradients = loss.backward()?.all_reduce(&data, &model)?;
/// update_sharded_replicated(&mut model, gradients, &mut Adam::default(), 1e-3, 1.0, &tp)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn update_sharded_replicated<Model: Sharded<Axis, E, D>, E: Element, D: Backend<E>, Axis: RankAxis, Data>(
    model: &mut Distributed<Replicated<Model, Data>, Axis>,
    gradients: impl ReducedOver<GradientsOf<Model, E, D>, Data>,
    optimizer: &mut impl Optimizer<Model, E, D>,
    learning_rate: f64,
    clip_norm: f64,
    ranks: &Ranks<Axis>,
) -> Result<f64, OpError> {
    let model = model.as_mut().as_mut();
    update_part(model, gradients.into_sum(Internal(())), optimizer, learning_rate, clip_norm, ranks)
}

fn update_part<Model: Sharded<Axis, E, D>, E: Element, D: Backend<E>, Axis: RankAxis>(
    model: &mut Model,
    gradients: GradientsOf<Model, E, D>,
    optimizer: &mut impl Optimizer<Model, E, D>,
    learning_rate: f64,
    clip_norm: f64,
    ranks: &Ranks<Axis>,
) -> Result<f64, OpError> {
    let shardings = parameter_shardings::<Model, E, D, Axis>().into_iter();
    let sharded_paths: HashSet<String> = shardings.filter(|p| p.parts.is_some()).map(|p| p.path).collect();
    update_by_norm(model, gradients, optimizer, learning_rate, clip_norm, |squares| {
        // The shards' squares are summed over the ranks. Every rank has the replicated parameters, so these count once.
        let [mut sharded, mut replicated] = [0.0, 0.0];
        for square in squares {
            *(if sharded_paths.contains(&square.path) { &mut sharded } else { &mut replicated }) += square.sum;
        }
        let mut sums = [sharded];
        ranks.all_reduce(&mut sums).map_err(|source| OpError::Ranks { op: "update", source })?;
        Ok(replicated + sums[0])
    })
}
