use super::size::{StaticKind, count_made};
use super::{ConstDim, CountFactor, Dim, StaticSize, Sum, WindowOf, Windows, sized::sized_dim};
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

/// The dimension can be the length of a kernel along an axis `Len` that has `Padding` zeros on both sides: it is not
/// longer than a compile-time `Len` with the padding. A run-time `Len` is compared at run time.
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
}

sized_dim!(Strided<Len: Dim, Step: ConstDim>, SIZE<ConstDim, ConstDim> = Len::SIZE.div_ceil(Step::SIZE), |size| {
    size.checked_mul(Step::SIZE).is_some_and(|longest| {
        let mut lens = longest.saturating_sub(Step::SIZE.saturating_sub(1))..=longest;
        lens.any(|len| Len::from_size(len).is_some())
    })
});
impl<Len, Step> StaticSize for Strided<Len, Step>
where
    Len: StaticSize<Nat: Add<Step::Nat, Output: Sub<B1, Output: Div<Step::Nat>>>>,
    Step: StaticSize,
{
    type Nat = typenum::Quot<typenum::Sub1<typenum::Sum<Len::Nat, Step::Nat>>, Step::Nat>;
    type Factors<Rest> = (Self, Rest);
}

count_made!([Len: CountFactor + Dim, Step: ConstDim] Strided<Len, Step>: Len::Dynamic<()>);
#[diagnostic::do_not_recommend]
impl<Len, Step> StaticKind for Strided<Len, Step> where Self: StaticSize {}
