use crate::{
    ops::{DropoutSeed, OpError},
    ranks::{Element, RankAxis, Ranks},
};
use dfdx::{tensor::Tape, tensor_ops::Device};

/// While the guard lives, all ranks drop the same elements of a tensor that all of them have. Without a
/// [`DropoutSeed`], each rank would draw from its own device; the numbers of the first rank's count.
pub(super) fn same_dropout<E: Element, D: Device<E>, T: Tape<E, D>, Axis: RankAxis>(
    rate: f64,
    device: &D,
    ranks: &Ranks<Axis>,
) -> Result<Option<DropoutSeed>, OpError> {
    if !T::OWNS_TAPE || rate == 0.0 || ranks.size() == 1 || DropoutSeed::is_set() {
        return Ok(None);
    }
    let mut seed = device.random_u64().to_ne_bytes();
    ranks.broadcast_bytes(&mut seed, 0).map_err(|source| OpError::Ranks { op: "dropout", source })?;
    Ok(Some(DropoutSeed::new(u64::from_ne_bytes(seed))))
}
