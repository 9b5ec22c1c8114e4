//! The file of a sharded model.

use super::{Distributed, DistributedError, Sharded, distributed::gather_tensors};
use crate::ranks::{Element, RankAxis, Ranks, Replicated};
use crate::weights::{ensure_all_finite, save_tensors};
use dfdx::tensor_ops::Device;
use std::{collections::HashMap, path::Path};

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
    /// let path = std::env::temp_dir().join("typed-transformer-sharded.safetensors");
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
    /// let path = std::env::temp_dir().join("typed-transformer-replicated.safetensors");
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
