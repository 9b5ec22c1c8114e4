use crate::dims::{BoundedSize, ConstDim, name};
use dfdx::shapes;

/// The capacity of a cache of at most `MaxLen` positions. It grows with the positions that the cache holds.
///
/// The capacity grows to at most 1.25 times the positions that the cache holds. So a decoding step takes time and
/// memory for these, not for `MaxLen`. [`truncate`](super::EditableCache::truncate) keeps it.
///
/// ```
/// use typed_transformer::{doctest::*, nn::{CacheCapacity, KeyValueCache, Keys}, prelude::*};
/// let cache = KeyValueCache::<Batch, MaxSeqLen, Model, f32, Cpu>::new(&Cpu::default(), Batch)?;
/// let keys: &Keys<Batch, CacheCapacity<MaxSeqLen>, Model, f32, Cpu> = cache.keys();
/// # Ok::<(), OpError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CacheCapacity<MaxLen>(BoundedSize<MaxLen>);

impl<MaxLen: ConstDim> CacheCapacity<MaxLen> {
    /// A capacity of at least `len` positions, but at most `MaxLen`.
    ///
    /// It is rounded up to one of four sizes between two powers of two: 80, 96, 112 and 128 after 64. So the cache
    /// grows seldom, and all growths together copy a position about six times.
    pub(super) fn for_len(len: usize) -> Self {
        let step = (len.next_power_of_two() / 8).max(1);
        Self(BoundedSize::at_most_max(len.max(1).next_multiple_of(step)))
    }

    /// The number of positions.
    #[must_use]
    pub fn size(self) -> usize {
        self.0.get()
    }
}

impl<MaxLen: ConstDim> shapes::Dim for CacheCapacity<MaxLen> {
    #[inline(always)]
    fn size(&self) -> usize {
        self.0.get()
    }
    #[inline(always)]
    fn from_size(size: usize) -> Option<Self> {
        BoundedSize::new("CacheCapacity", size).ok().map(Self)
    }
}
crate::__whole_dim!([MaxLen: ConstDim] CacheCapacity<MaxLen>);
crate::dims!(@run_time [MaxLen: ConstDim] CacheCapacity<MaxLen>);
crate::error::debug_as!(
    [MaxLen: ConstDim] CacheCapacity<MaxLen>,
    |this, f| write!(f, "{}={}", name::<Self>(), this.size())
);
