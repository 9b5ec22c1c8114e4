use super::{AnyDim, ConstDim, Dim, Factor, MaybeSharded, StaticSize, Sum, WindowOf, Windows, name};
use dfdx::shapes;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Add, Div, Sub};
use typenum::B1;

/// Every `Step`-th place of an axis, from the first one on: `⌈Len / Step⌉`. `Len` may have its size at run time.
///
/// ```
/// use typed_transformer::{dims, dims::{ConstDim, Strided}};
/// dims! { pub SeqLen = 7; pub Step = 3; }
/// assert_eq!(Strided::<SeqLen, Step>::SIZE, 3);
/// ```
pub struct Strided<Len, Step> {
    size: usize,
    parts: PhantomData<fn() -> (Len, Step)>,
}

/// The places of a kernel along an axis of `Len`, with `Padding` zeros on both sides: `⌊(Len + 2 Padding - Kernel) /
/// Stride⌋ + 1`. [`conv1d`](crate::ops::conv1d) and [`conv2d`](crate::ops::conv2d) make axes of this dimension.
///
/// ```
/// use typed_transformer::{dims, dims::{ConstDim, ConvLen}};
/// dims! { pub NumFrames = 3000; pub Kernel = 3; pub Stride = 2; pub Padding = 1; }
/// assert_eq!(ConvLen::<NumFrames, Kernel, Stride, Padding>::SIZE, 1500);
/// ```
pub type ConvLen<Len, Kernel, Stride, Padding> = Strided<Windows<Sum<Padding, Sum<Len, Padding>>, Kernel>, Stride>;

/// The dimension can be the length of a kernel along an axis `Len` that has `Padding` zeros on both sides: it is not longer
/// than a compile-time `Len` with the padding. A run-time `Len` is compared at run time.
///
/// ```
/// use typed_transformer::{dims, dims::{ConstDim, Dim, KernelOf}};
/// dims! { pub SeqLen = 4; pub Kernel = 6; pub Padding = 1; pub Batch; }
/// fn is_kernel<Len: Dim, Padding: ConstDim, Kernel: KernelOf<Len, Padding>>() {}
/// is_kernel::<SeqLen, Padding, Kernel>();
/// is_kernel::<Batch, Padding, Kernel>();
/// ```
#[diagnostic::on_unimplemented(
    message = "a kernel of `{Self}` does not fit into `{Len}` with a padding of `{Padding}`",
    label = "`{Self}` is not known to be at most as long as `{Len}` with `{Padding}` zeros on both sides",
    note = "in a generic function, the bound `{Self}: KernelOf<{Len}, {Padding}>` says so"
)]
pub trait KernelOf<Len: Dim, Padding: ConstDim>: ConstDim {}

#[diagnostic::do_not_recommend]
impl<Kernel, Len: Dim, Padding: ConstDim> KernelOf<Len, Padding> for Kernel where
    Kernel: WindowOf<Sum<Padding, Sum<Len, Padding>>>
{
}

impl<Len, Step> Strided<Len, Step> {
    /// The size.
    #[must_use]
    pub fn size(self) -> usize {
        self.size
    }

    fn unchecked(size: usize) -> Self {
        Self { size, parts: PhantomData }
    }
}

impl<Len: Dim, Step: ConstDim> shapes::Dim for Strided<Len, Step> {
    #[inline(always)]
    fn size(&self) -> usize {
        self.size
    }
    fn from_size(size: usize) -> Option<Self> {
        let longest = size.checked_mul(Step::SIZE)?;
        let mut lens = longest.saturating_sub(Step::SIZE.saturating_sub(1))..=longest;
        lens.any(|len| Len::from_size(len).is_some()).then(|| Self::unchecked(size))
    }
}
#[diagnostic::do_not_recommend]
impl<Len: Dim, Step: ConstDim> AnyDim for Strided<Len, Step> {}
#[diagnostic::do_not_recommend]
impl<Len: Dim, Step: ConstDim> MaybeSharded for Strided<Len, Step> {}
#[diagnostic::do_not_recommend]
impl<Len: Dim, Step: ConstDim> Dim for Strided<Len, Step> {}
impl<Len: ConstDim, Step: ConstDim> shapes::ConstDim for Strided<Len, Step> {
    const SIZE: usize = Len::SIZE.div_ceil(Step::SIZE);
}
#[diagnostic::do_not_recommend]
impl<Len: ConstDim, Step: ConstDim> Factor for Strided<Len, Step> {}
#[diagnostic::do_not_recommend]
impl<Len: ConstDim, Step: ConstDim> ConstDim for Strided<Len, Step> {}
impl<Len: ConstDim, Step: ConstDim> Strided<Len, Step> {
    /// The size, if the axis has its size at compile time.
    pub const SIZE: usize = Len::SIZE.div_ceil(Step::SIZE);
}
impl<Len: ConstDim, Step: ConstDim> Default for Strided<Len, Step> {
    fn default() -> Self {
        Self::unchecked(Self::SIZE)
    }
}
impl<Len, Step> StaticSize for Strided<Len, Step>
where
    Len: StaticSize<Nat: Add<Step::Nat, Output: Sub<B1, Output: Div<Step::Nat>>>>,
    Step: StaticSize,
{
    type Nat = typenum::Quot<typenum::Sub1<typenum::Sum<Len::Nat, Step::Nat>>, Step::Nat>;
    type Factors<Rest> = (Self, Rest);
}

crate::__count_by_size!([Len, Step] Strided<Len, Step> where Self: StaticSize);

crate::dims::copied_and_compared!(Strided<Len, Step> by size);
impl<Len, Step> fmt::Debug for Strided<Len, Step> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", name::<Self>(), self.size)
    }
}
