//! Dimensions that windows along an axis make: their number, every n-th place, and the places of a kernel.

use super::relations::LessOrEqual;
use super::size::{StaticKind, count_made};
use super::sum::sized_dim;
use super::{ConstDim, CountFactor, Dim, StaticSize, Sum};
use dfdx::shapes;
use std::marker::PhantomData;
use std::ops::{Add, Div, Sub};
use typenum::B1;

/// The number of windows of `Window` neighbours along an axis: `Len - Window + 1`.
///
/// [`windows`](crate::ops::windows) makes an axis of this dimension. `Len` may have its size at run time.
///
/// The compiler's messages call it [`WindowsDim`].
///
/// ```
/// use typed_transformer::{dims, dims::{ConstDim, Windows}};
/// dims! { pub SeqLen = 6; pub Width = 2; }
/// assert_eq!(Windows::<SeqLen, Width>::SIZE, 5);
/// ```
pub type Windows<Len, Window> = WindowsDim<Len, Window>;

sized_dim! {
    /// [`Windows`], by the name in the compiler's messages.
    pub struct WindowsDim<Len: Dim, Window: ConstDim>,
    SIZE<ConstDim, WindowOf<Len>> = Len::SIZE + 1 - Window::SIZE,
    |size| (size + Window::SIZE).checked_sub(1).and_then(Len::from_size).is_some()
}

impl<Len, Window> StaticSize for Windows<Len, Window>
where
    Len: StaticSize<Nat: Add<B1, Output: Sub<Window::Nat>>>,
    Window: StaticSize + WindowOf<Len>,
{
    type Nat = typenum::Diff<typenum::Add1<Len::Nat>, Window::Nat>;
    type Factors<Rest> = (Self, Rest);
}

count_made!([Len: CountFactor + Dim, Window: ConstDim] Windows<Len, Window>: Len::Dynamic<()>);
#[diagnostic::do_not_recommend]
impl<Len, Window> StaticKind for Windows<Len, Window> where Self: StaticSize {}

/// The dimension can be the length of a window along an axis `Len`: it is not longer than a compile-time `Len`. A
/// run-time `Len` is compared at run time.
///
/// ```
/// use typed_transformer::{dims, dims::WindowOf};
/// dims! { pub Width = 2; pub SeqLen = 6; pub Batch; }
/// fn is_window<Len: typed_transformer::dims::Dim, Window: WindowOf<Len>>() {}
/// is_window::<SeqLen, Width>();
/// is_window::<Batch, Width>();
/// ```
#[diagnostic::on_unimplemented(
    message = "a window of `{Self}` does not fit into `{Len}`",
    label = "`{Self}` is not known to be at most as long as `{Len}`",
    note = "a window is a compile-time dimension, such as `Const::<3>`, that is at most as long as its axis; in a generic function, the bound `{Self}: WindowOf<{Len}>` says so"
)]
pub trait WindowOf<Len: Dim>: ConstDim {}

#[diagnostic::do_not_recommend]
impl<Window: StaticSize, Len: CountFactor + Dim> WindowOf<Len> for Window where
    (Len::Dynamic<()>, (Window::Nat, Len::Static)): WindowFits
{
}

/// The first number of the pair is at most the second, or the list of run-time dimensions has one.
pub trait WindowFits {}

impl<Sizes: LessOrEqual> WindowFits for ((), Sizes) {}

impl<Name, Sizes> WindowFits for ((Name, ()), Sizes) {}

sized_dim! {
    /// Every `Step`-th place of an axis, from the first one on: `⌈Len / Step⌉`. `Len` may have its size at run time.
    ///
    /// ```
    /// use typed_transformer::{dims, dims::{ConstDim, Strided}};
    /// dims! { pub SeqLen = 7; pub Step = 3; }
    /// assert_eq!(Strided::<SeqLen, Step>::SIZE, 3);
    /// ```
    pub struct Strided<Len: Dim, Step: ConstDim>,
    SIZE<ConstDim, ConstDim> = Len::SIZE.div_ceil(Step::SIZE),
    |size| size.checked_mul(Step::SIZE).is_some_and(|longest| {
        let mut lens = longest.saturating_sub(Step::SIZE.saturating_sub(1))..=longest;
        lens.any(|len| Len::from_size(len).is_some())
    })
}

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
