//! The errors, the update and the file of a sharded model.

use super::distributed::{gather_tensors, gather_whole};
use super::parameter_sharding::parameter_shardings;
use super::{Distributed, Sharded};
use crate::backend::Backend;
use crate::internal::Internal;
use crate::ops::OpError;
use crate::ranks::{Element, RankAxis, Ranks, RanksError, ReducedOver, Replicated};
use crate::train::{GradientsOf, Optimizer, update_by_norm};
use crate::weights::{LoadError, SaveError, ensure_all_finite, save_tensors};
use dfdx::tensor_ops::Device;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// The error of building, loading or saving a sharded model.
///
/// ```no_run
/// use typed_transformer::{doctest::*, prelude::*, ranks, ranks::Ranks, tensor_parallel::{Distributed, DistributedError, OnRanks}};
/// ranks! { pub Tp = 1; }
/// type Part = DecoderOnly<OnRanks<Model, Tp>, f32, Cpu>;
/// let ranks = Ranks::<Tp>::start()?;
/// match Distributed::<Part, Tp>::load("weights.safetensors", &Cpu::default(), &ranks) {
///     Err(DistributedError::Ranks(error)) => println!("another rank could not load its part: {error}"),
///     Err(error) => println!("{error}"),
///     Ok(model) => println!("{model:?}"),
/// }
/// # Ok::<(), typed_transformer::ranks::RanksError>(())
/// ```
#[derive(thiserror::Error)]
pub enum DistributedError {
    /// A collective operation or another rank failed.
    #[error(transparent)]
    Ranks(#[from] RanksError),
    /// The file could not be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The file could not be saved.
    #[error(transparent)]
    Save(#[from] SaveError),
    /// The device failed.
    #[error(transparent)]
    Op(#[from] OpError),
}
crate::error::debug_by_sentence!(DistributedError);

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
/// let mut adam = Adam::default();
/// update_sharded(&mut model, loss.backward()?, &mut adam, 1e-3, 1.0, &ranks)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn update_sharded<Model: Sharded<Axis, E, D>, E: Element, D: Backend<E>, Axis: RankAxis>(
    model: &mut Distributed<Model, Axis>,
    gradients: GradientsOf<Model, E, D>,
    optimizer: &mut (impl Optimizer<Model, E, D> + ?Sized),
    learning_rate: f64,
    clip_norm: f64,
    ranks: &Ranks<Axis>,
) -> Result<f64, OpError> {
    update_part(model.as_mut(), gradients, optimizer, learning_rate, clip_norm, ranks)
}

/// [`update_sharded`] of a model whose parts other ranks replicate, by gradients that those ranks have summed.
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
/// let mut adam = Adam::default();
/// update_sharded_replicated(&mut model, gradients, &mut adam, 1e-3, 1.0, &tp)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn update_sharded_replicated<Model: Sharded<Axis, E, D>, E: Element, D: Backend<E>, Axis: RankAxis, Data>(
    model: &mut Distributed<Replicated<Model, Data>, Axis>,
    gradients: impl ReducedOver<GradientsOf<Model, E, D>, Data>,
    optimizer: &mut (impl Optimizer<Model, E, D> + ?Sized),
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
    optimizer: &mut (impl Optimizer<Model, E, D> + ?Sized),
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

impl<Model, Axis: RankAxis> Distributed<Model, Axis> {
    /// Saves the whole model. The file is that of [`weights::save`](crate::weights::save) on one rank, whatever the
    /// number of ranks. Rank 0 writes it.
    ///
    /// # Errors
    /// [`DistributedError::Save`] on rank 0, and [`DistributedError::Ranks`] on the others, if it cannot be written.
    ///
    /// ```
    /// use typed_transformer::{doctest::*, prelude::*, ranks, ranks::Ranks, tensor_parallel::{Distributed, OnRanks}, weights};
    /// ranks! { pub Tp = 1; }
    /// let (device, ranks) = (Cpu::default(), Ranks::<Tp>::single()?);
    /// let path = std::env::temp_dir().join(format!("sharded-{}.safetensors", std::process::id()));
    /// let model = Distributed::<DecoderOnly<OnRanks<Model, Tp>, f32, Cpu>, Tp>::build(&device, &ranks)?;
    /// model.save(&path, &ranks)?;
    /// let whole: DecoderOnly<Model, f32, Cpu> = weights::load(&path, &device)?;
    /// let again = Distributed::<DecoderOnly<OnRanks<Model, Tp>, f32, Cpu>, Tp>::load(&path, &device, &ranks)?;
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save<E: Element, D: Device<E>>(
        &self,
        path: impl AsRef<Path>,
        ranks: &Ranks<Axis>,
    ) -> Result<(), DistributedError>
    where
        Model: Sharded<Axis, E, D>,
    {
        save_whole::<Model, E, D, Axis>(self, path.as_ref(), ranks)
    }
}

impl<Model, Axis: RankAxis, Data: RankAxis> Distributed<Replicated<Model, Data>, Axis> {
    /// [`save`](Self::save) of a model whose parts the ranks of `Data` replicate. One of all ranks writes the file: the
    /// first along both axes.
    ///
    /// # Errors
    /// [`DistributedError::Save`] on the rank that writes, and [`DistributedError::Ranks`] on the others, if it cannot
    /// be written.
    ///
    /// ```
    /// use typed_transformer::{doctest::*, prelude::*, ranks, ranks::Ranks, tensor_parallel::{Distributed, OnRanks}};
    /// ranks! { pub World; pub Data; pub Tp = 1; }
    /// let (data, tp) = Ranks::<World>::start()?.split::<Data, Tp>()?;
    /// let path = std::env::temp_dir().join(format!("replicated-{}.safetensors", std::process::id()));
    /// let model = Distributed::<DecoderOnly<OnRanks<Model, Tp>, f32, Cpu>, Tp>::build(&Cpu::default(), &tp)?;
    /// let model = model.replicate(&data)?;
    /// model.save_replicated(&path, &data, &tp)?;
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn save_replicated<E: Element, D: Device<E>>(
        &self,
        path: impl AsRef<Path>,
        data: &Ranks<Data>,
        ranks: &Ranks<Axis>,
    ) -> Result<(), DistributedError>
    where
        Model: Sharded<Axis, E, D>,
    {
        let saved = if data.is_first() { save_whole::<Model, E, D, Axis>(self, path.as_ref(), ranks) } else { Ok(()) };
        data.fail_together(saved)
    }

    /// [`gather`](Self::gather), with its errors, of a model whose parts the ranks of `Data` replicate.
    ///
    /// ```
    /// use typed_transformer::{doctest::*, prelude::*, ranks, ranks::Ranks, tensor_parallel::{Distributed, OnRanks}};
    /// ranks! { pub World; pub Data; pub Tp = 1; }
    /// let (data, tp) = Ranks::<World>::start()?.split::<Data, Tp>()?;
    /// let model = Distributed::<DecoderOnly<OnRanks<Model, Tp>, f32, Cpu>, Tp>::build(&Cpu::default(), &tp)?;
    /// let model = model.replicate(&data)?;
    /// let whole: DecoderOnly<Model, f32, Cpu> = model.gather_replicated(&Cpu::default(), &tp)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn gather_replicated<E: Element, D: Device<E>>(
        &self,
        device: &D,
        ranks: &Ranks<Axis>,
    ) -> Result<Model::Whole, DistributedError>
    where
        Model: Sharded<Axis, E, D>,
    {
        gather_whole::<Model, E, D, Axis>(self, device, ranks)
    }
}

/// Saves the whole model, of which each rank has its `part`.
fn save_whole<Part: Sharded<Axis, E, D>, E: Element, D: Device<E>, Axis: RankAxis>(
    part: &Part,
    path: &Path,
    ranks: &Ranks<Axis>,
) -> Result<(), DistributedError> {
    let tensors = gather_tensors(part, ranks)?;
    let saved = match ranks.is_first() {
        true => ensure_all_finite::<E>(&tensors, path)
            .and_then(|()| save_tensors::<Part::Whole>(&tensors, path, HashMap::new(), false))
            .map_err(Into::into),
        false => Ok(()),
    };
    ranks.fail_together(saved)
}
