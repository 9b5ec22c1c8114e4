//! The layout of a cache: its heads, and the capacity that grows with its positions.

use crate::dims::{CheckedSize, ConstDim, Factor, name};
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

/// `NumHeads` heads, whose keys have `QKDim` columns and whose values have `VODim`. A cache of these heads does not fit
/// another model if `Model` is a type that one model alone has.
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

/// The capacity of a cache of at most `MaxLen` positions.
///
/// It grows with the positions that the cache holds, to at most 1.25 times as many. So a decoding step takes time and
/// memory for these, not for `MaxLen`. [`truncate`](super::EditableCache::truncate) does not reduce it.
///
/// ```
/// use typed_transformer::{doctest::*, nn::{CacheCapacity, KeyValueCache, Keys}, prelude::*};
/// let cache = KeyValueCache::<Batch, MaxSeqLen, Model, f32, Cpu>::new(&Cpu::default(), Batch)?;
/// let keys: &Keys<Batch, CacheCapacity<MaxSeqLen>, Model, f32, Cpu> = cache.keys();
/// # Ok::<(), OpError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CacheCapacity<MaxLen>(CheckedSize<MaxLen>);

impl<MaxLen: ConstDim> CacheCapacity<MaxLen> {
    /// A capacity of at least `len` positions, but at most `MaxLen`.
    ///
    /// It is rounded up to one of four sizes between two powers of two: 80, 96, 112 and 128 after 64. So the cache
    /// grows seldom: until it holds `n` positions, its growths together copy about `6 n`.
    pub(super) fn for_len(len: usize) -> Self {
        let step = (len.next_power_of_two() / 8).max(1);
        Self(CheckedSize::at_most_max(len.max(1).next_multiple_of(step)))
    }

    /// The number of positions.
    #[must_use]
    pub fn size(self) -> usize {
        self.0.get()
    }
}

crate::__dfdx_dim!(#[diagnostic::do_not_recommend] [MaxLen: ConstDim] CacheCapacity<MaxLen>, |this| this.0.get(), |size| {
    CheckedSize::new("CacheCapacity", size).ok().map(Self)
});
crate::__whole_dim!([MaxLen: ConstDim] CacheCapacity<MaxLen>);
crate::dims!(@run_time [MaxLen: ConstDim] CacheCapacity<MaxLen>);
crate::error::debug_as!(
    [MaxLen: ConstDim] CacheCapacity<MaxLen>,
    |this, f| write!(f, "{}={}", name::<Self>(), this.size())
);
