use super::{ConstDim, Dim, StaticSize, name};
use std::{fmt, marker::PhantomData, ops::Add};

/// The dimension of `One` elements followed by `Other` elements, as `past + present = total` is the
/// length of what a decoder has seen.
///
/// It is symbolic: `Sum<Past, Present>` and `Sum<Present, Past>` are different dimensions. Its parts may
/// be known at run time; it is a compile-time dimension if both are.
///
/// ```
/// use typed_transformer::{dims, dims::{ConstDim, Dim, Sum}};
/// dims! { pub Past; pub Present = 1; pub Start = 2; }
/// let total = Sum::of(Past::new(6), Present);
/// assert_eq!(format!("{total:?}"), "Sum<Past, Present>=7");
/// assert_eq!(Sum::<Start, Present>::SIZE, 3);
/// assert_eq!(Sum::<Start, Present>::from_size(4), None);
/// ```
pub struct Sum<One, Other> {
    size: usize,
    of: PhantomData<fn() -> (One, Other)>,
}

impl<One: Dim, Other: Dim> Sum<One, Other> {
    /// The sum of two dimensions.
    ///
    /// ```
    /// use typed_transformer::{dims, dims::{Dim, Sum}};
    /// dims! { pub Past; pub Present; }
    /// assert_eq!(Sum::of(Past::new(6), Present::new(1)).size(), 7);
    /// ```
    #[must_use]
    pub fn of(one: One, other: Other) -> Self {
        Self::unchecked(one.size() + other.size())
    }
}

impl<One, Other> Sum<One, Other> {
    fn unchecked(size: usize) -> Self {
        Self { size, of: PhantomData }
    }
}

impl<One: Dim, Other: Dim> Dim for Sum<One, Other> {
    #[inline(always)]
    fn size(&self) -> usize {
        self.size
    }
    fn from_size(size: usize) -> Option<Self> {
        let is_sum = |one| One::from_size(one).is_some() && Other::from_size(size - one).is_some();
        (0..=size).any(is_sum).then(|| Self::unchecked(size))
    }
}
impl<One: ConstDim, Other: ConstDim> ConstDim for Sum<One, Other> {
    const SIZE: usize = One::SIZE + Other::SIZE;
}
impl<One: ConstDim, Other: ConstDim> Default for Sum<One, Other> {
    fn default() -> Self {
        Self::unchecked(Self::SIZE)
    }
}
impl<One, Other> StaticSize for Sum<One, Other>
where
    One: StaticSize<Nat: Add<Other::Nat>>,
    Other: StaticSize,
{
    type Nat = typenum::Sum<One::Nat, Other::Nat>;
}

// Derives would ask the same of the operands, which are only names here.
impl<One, Other> Clone for Sum<One, Other> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<One, Other> Copy for Sum<One, Other> {}
impl<One, Other> PartialEq for Sum<One, Other> {
    fn eq(&self, other: &Self) -> bool {
        self.size == other.size
    }
}
impl<One, Other> Eq for Sum<One, Other> {}
impl<One, Other> fmt::Debug for Sum<One, Other> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", name::<Self>(), self.size)
    }
}
