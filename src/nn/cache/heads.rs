use crate::dims::{ConstDim, Factor};
use crate::nn::Arch;
use std::marker::PhantomData;

/// The heads whose keys and values a cache holds. Every [`Arch`] has them; [`Heads`] names them one by one.
///
/// ```
/// use typed_transformer::{doctest::{Batch, MaxSeqLen}, nn::{CacheCapacity, CachedHeads, KeyValueCache}, prelude::*};
/// dims! { pub NumKeyValueHeads = 2; pub HeadDim = 4; }
/// pub struct KeyValueHeads;
/// impl CachedHeads for KeyValueHeads {
///     type NumHeads = NumKeyValueHeads;
///     type QKDim = HeadDim;
///     type VODim = HeadDim;
/// }
/// let cache = KeyValueCache::<Batch, MaxSeqLen, KeyValueHeads, f32, Cpu>::new(&Cpu::default(), Batch)?;
/// let keys: &Tensor<(Batch, CacheCapacity<MaxSeqLen>, Product<NumKeyValueHeads, HeadDim>), f32, Cpu> = cache.keys();
/// # Ok::<(), OpError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say which heads a cache holds",
    label = "`{Self}` is neither an `Arch` nor `Heads`",
    note = "a cache holds the heads of an `Arch`, or `Heads<NumHeads, QKDim, VODim>`"
)]
pub trait CachedHeads: 'static {
    /// The number of heads.
    type NumHeads: Factor;
    /// The size of a head's keys.
    type QKDim: ConstDim;
    /// The size of a head's values.
    type VODim: ConstDim;
}

#[diagnostic::do_not_recommend]
impl<A: Arch> CachedHeads for A {
    type NumHeads = A::NumHeads;
    type QKDim = A::QKDim;
    type VODim = A::VODim;
}

/// `NumHeads` heads, whose keys have `QKDim` columns and whose values have `VODim`. A cache of the heads of a `Model` does
/// not fit another one.
///
/// ```
/// use typed_transformer::{doctest::{Batch, MaxSeqLen}, nn::{CacheCapacity, Heads, KeyValueCache}, prelude::*};
/// dims! { pub NumKeyValueHeads = 2; pub HeadDim = 4; }
/// type KeyValueHeadsCache = KeyValueCache<Batch, MaxSeqLen, Heads<NumKeyValueHeads, HeadDim, HeadDim>, f32, Cpu>;
/// let cache = KeyValueHeadsCache::new(&Cpu::default(), Batch)?;
/// let keys: &Tensor<(Batch, CacheCapacity<MaxSeqLen>, Product<NumKeyValueHeads, HeadDim>), f32, Cpu> = cache.keys();
/// # Ok::<(), OpError>(())
/// ```
pub struct Heads<NumHeads, QKDim, VODim, Model = ()>(PhantomData<fn() -> (NumHeads, QKDim, VODim, Model)>);

#[diagnostic::do_not_recommend]
impl<NumHeads: Factor, QKDim: ConstDim, VODim: ConstDim, Model: 'static> CachedHeads
    for Heads<NumHeads, QKDim, VODim, Model>
{
    type NumHeads = NumHeads;
    type QKDim = QKDim;
    type VODim = VODim;
}
