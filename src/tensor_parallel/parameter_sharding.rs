//! The shard that a rank has of each parameter of a model.

use super::{DistributedError, Sharded};
use crate::dims::name;
use crate::ops::collective::PartLayout;
use crate::ranks::{Element, RankAxis, Ranks, RanksError};
use crate::train::{ParameterInfo, parameter_infos};
use crate::weights::FileTensor;
use dfdx::tensor_ops::Device;

/// A parameter of the whole model, and the parts of it that the ranks have.
pub(super) struct ParameterSharding {
    /// Its field path, in both models.
    pub path: String,
    /// The size of each dimension in the whole model.
    pub sizes: Vec<usize>,
    /// The name and size of each dimension in the whole model.
    pub dims: Vec<String>,
    /// The parts; `None` if every rank has the whole parameter.
    pub parts: Option<PartLayout>,
}

/// The shard of each parameter, in the order of the fields. Panics if a pair of models that a user has declared does
/// not have the same parameters in the same order: a parameter could get the numbers of another one of its shape.
pub(super) fn parameter_shardings<Model: Sharded<Axis, E, D>, E: Element, D: Device<E>, Axis: RankAxis>()
-> Vec<ParameterSharding> {
    let (whole, part) = (parameter_infos::<Model::Whole, E, D>(), parameter_infos::<Model, E, D>());
    shardings(&name::<Model>(), whole, part, Axis::EXPECTED_SIZE)
}

// The functions below do not know the model. So each is compiled once for a dtype and an axis, not for each model.

/// [`parameter_shardings`], from the parameters of both models.
fn shardings(
    model: &str,
    whole: Vec<ParameterInfo>,
    part: Vec<ParameterInfo>,
    num_ranks: Option<usize>,
) -> Vec<ParameterSharding> {
    let [expected, found] = [&whole, &part].map(|infos| infos.iter().map(|info| &info.path).collect::<Vec<_>>());
    assert_eq!(found, expected, "`{model}` has other parameters than its `Whole`, or in another order");
    let parameters = whole.into_iter().zip(part).map(|(whole, part)| {
        // The sharded axis is the one whose size differs from that in the whole model.
        let index = whole.sizes.iter().zip(&part.sizes).position(|(whole, part)| whole != part);
        if let Some(index) = index {
            let (of_whole, of_part) = (&whole.dims[index], &part.dims[index]);
            let is_of_ranks = |ranks| whole.sizes[index] == part.sizes[index] * ranks;
            let is_part = of_part.contains("Shard<") && num_ranks.is_none_or(is_of_ranks);
            assert!(is_part, "`{}` of `{model}`: `{of_part}` is no rank's part of `{of_whole}`", part.path);
        }
        let parts =
            index.map(|index| PartLayout::of(&whole.sizes, index, whole.sizes[index] / part.sizes[index].max(1)));
        ParameterSharding { path: whole.path, sizes: whole.sizes, dims: whole.dims, parts }
    });
    parameters.collect()
}

impl ParameterSharding {
    /// This rank's part of the whole parameter.
    pub fn part<E: Element>(&self, whole: Vec<E>, rank: usize) -> Vec<E> {
        match self.parts {
            Some(parts) => parts.part(&whole, rank),
            None => whole,
        }
    }

    /// The whole parameter, from the parts of all ranks.
    pub fn all_gather<E: Element, Axis: RankAxis>(
        &self,
        part: Vec<E>,
        ranks: &Ranks<Axis>,
    ) -> Result<Vec<E>, RanksError> {
        match self.parts {
            Some(parts) => parts.all_gather(ranks, part),
            None => Ok(part),
        }
    }
}

/// A rank's part of each parameter of a whole model, by its path.
pub(super) fn parts_of_rank<E: Element>(
    shardings: Vec<ParameterSharding>,
    wholes: Vec<FileTensor>,
    rank: usize,
) -> Vec<(String, Vec<E>)> {
    let parameters = shardings.iter().zip(wholes);
    parameters.map(|(sharding, whole)| (whole.path.clone(), sharding.part(whole.elements(), rank))).collect()
}

/// The elements of each tensor, by its path.
pub(super) fn elements_by_path<E: Element>(tensors: Vec<FileTensor>) -> Vec<(String, Vec<E>)> {
    let elements = |tensor: FileTensor| {
        let elements = tensor.elements();
        (tensor.path, elements)
    };
    tensors.into_iter().map(elements).collect()
}

/// The whole of each parameter, from the parts of all ranks.
pub(super) fn gather_parts<E: Element, Axis: RankAxis>(
    shardings: Vec<ParameterSharding>,
    parts: Vec<FileTensor>,
    ranks: &Ranks<Axis>,
) -> Result<Vec<FileTensor>, DistributedError> {
    let wholes = shardings.into_iter().zip(parts).map(|(parameter, part)| {
        let whole = parameter.all_gather(part.elements::<E>(), ranks)?;
        Ok(FileTensor::new(parameter.path, parameter.sizes, &whole))
    });
    wholes.collect()
}
