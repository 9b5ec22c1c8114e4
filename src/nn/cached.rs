use crate::dims::{BoundedSize, ConstDim, CountFactor, Dim, MaybeSharded, name};
use dfdx::shapes;
use std::fmt;
use typenum::U1;

/// The capacity of a cache of at most `MaxLen` positions. It grows with the positions that the cache holds.
///
/// The capacity is at most a quarter more positions than the cache holds, so a decoding step takes time and memory
/// for the positions so far, not for `MaxLen`.
///
/// ```
/// use typed_transformer::{doctest::*, nn::{Cached, KeyValueCache, Keys}, prelude::*};
/// let cache = KeyValueCache::<Batch, MaxSeqLen, Model, f32, Cpu>::try_new(&Cpu::default(), Batch)?;
/// let keys: &Keys<Batch, Cached<MaxSeqLen>, Model, f32, Cpu> = cache.keys();
/// # Ok::<(), OpError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Cached<MaxLen>(BoundedSize<MaxLen>);

impl<MaxLen: ConstDim> Cached<MaxLen> {
    /// A capacity of at least `len` positions, but at most `MaxLen`.
    ///
    /// It is rounded up to one of eight steps between two powers of two. So it grows seldom, and all copies to larger
    /// memory together copy a position at most about nine times.
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

impl<MaxLen: ConstDim> shapes::Dim for Cached<MaxLen> {
    #[inline(always)]
    fn size(&self) -> usize {
        self.0.get()
    }
    #[inline(always)]
    fn from_size(size: usize) -> Option<Self> {
        BoundedSize::new("Cached", size).ok().map(Self)
    }
}
#[diagnostic::do_not_recommend]
impl<MaxLen: ConstDim> MaybeSharded for Cached<MaxLen> {}
#[diagnostic::do_not_recommend]
impl<MaxLen: ConstDim> Dim for Cached<MaxLen> {}
impl<MaxLen: ConstDim> CountFactor for Cached<MaxLen> {
    type Static = U1;
    type Dynamic<Rest> = (Self, Rest);
    type Factors<Rest> = (Self, Rest);
}
impl<MaxLen: ConstDim> fmt::Debug for Cached<MaxLen> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", name::<Self>(), self.size())
    }
}
