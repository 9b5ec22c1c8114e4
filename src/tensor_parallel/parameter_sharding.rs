//! The shard of each parameter of a sharded model.

use super::Sharded;
use crate::ops::collective::Parts;
use crate::ranks::{Element, RankAxis, Ranks, RanksError};
use crate::train::parameter_infos;
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
    pub parts: Option<Parts>,
}

/// The shard of each parameter, in the order of the fields.
pub(super) fn parameter_shardings<Model: Sharded<Axis, E, D>, E: Element, D: Device<E>, Axis: RankAxis>()
-> Vec<ParameterSharding> {
    let whole = parameter_infos::<Model::Whole, E, D>().into_iter();
    let parameters = whole.zip(parameter_infos::<Model, E, D>()).map(|(whole, part)| {
        debug_assert_eq!(whole.path, part.path);
        // The sharded axis is the one whose size differs from that in the whole model.
        let index = whole.sizes.iter().zip(&part.sizes).position(|(whole, part)| whole != part);
        let parts = index.map(|index| Parts::of(&whole.sizes, index, whole.sizes[index] / part.sizes[index].max(1)));
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
            Some(parts) => parts.all_gather(ranks, &part),
            None => Ok(part),
        }
    }
}
