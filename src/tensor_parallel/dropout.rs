use crate::ops::{DropoutSeed, OpError};
use crate::ranks::{Element, RankAxis, Ranks};
use dfdx::{tensor::Tape, tensor_ops::Device};

/// A guard: while it lives, all ranks drop the same elements of a tensor that all of them have. If the caller has set
/// no [`DropoutSeed`], rank 0 draws one, and the others use it too.
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
