//! Dimensions made of others, of which some may have their sizes at run time: sums, windows, and every n-th place.

use super::relations::LessOrEqual;
use super::size::{StaticKind, count_made};
use super::{ConstDim, CountFactor, Dim, StaticSize};
use dfdx::shapes;
use std::ops::{Add, Div, Sub};
use std::{fmt, marker::PhantomData};
use typenum::B1;

/// The dimension of `Left` elements followed by `Right` elements: `past + present = total`.
///
/// It is symbolic: `Sum<Past, Present>` and `Sum<Present, Past>` are different dimensions. Each part
/// may be a run-time dimension; the sum is a compile-time dimension if both parts are.
///
/// The compiler's messages call it [`SumDim`].
///
/// ```
/// use typed_transformer::{dims, dims::{ConstDim, Dim, Sum}};
/// dims! { pub Past; pub Present = 1; pub Start = 2; }
/// let total = Sum::of(Past::new(6), Present);
/// assert_eq!(format!("{total:?}"), "Sum<Past, Present>=7");
/// assert_eq!(Sum::<Start, Present>::SIZE, 3);
/// ```
pub type Sum<Left, Right> = SumDim<Left, Right>;

impl<Left: Dim, Right: Dim> Sum<Left, Right> {
    /// The sum of two dimensions.
    #[must_use]
    pub fn of(left: Left, right: Right) -> Self {
        Self::unchecked(left.size() + right.size())
    }
}

/// Declares a dimension `$name` that is made of two others, `$left` and `$right`, and holds its size. Its size at
/// compile time is `$size`, if the two satisfy the bounds after `SIZE`. `$is_size` says whether a number can be its
/// size. Nothing is derived, because derived impls would have bounds for `$left` and `$right`.
macro_rules! sized_dim {
    (
        $(#[$doc:meta])*
        $vis:vis struct $name:ident<$left:ident: $left_bound:path, $right:ident: $right_bound:path>,
        SIZE<$left_const:path, $right_const:path> = $size:expr,
        $is_size:expr
    ) => {
        $(#[$doc])*
        $vis struct $name<$left, $right> {
            size: usize,
            parts: PhantomData<fn() -> ($left, $right)>,
        }
        impl<$left, $right> $name<$left, $right> {
            /// The size.
            #[must_use]
            $vis fn size(self) -> usize {
                self.size
            }
            fn unchecked(size: usize) -> Self {
                Self { size, parts: PhantomData }
            }
        }
        impl<$left: $left_bound, $right: $right_bound> shapes::Dim for $name<$left, $right> {
            #[inline(always)]
            fn size(&self) -> usize {
                self.size
            }
            fn from_size(size: usize) -> Option<Self> {
                let is_size: fn(usize) -> bool = $is_size;
                is_size(size).then(|| Self::unchecked(size))
            }
        }
        $crate::__whole_dim!([$left: $left_bound, $right: $right_bound] $name<$left, $right>);
        impl<$left: $left_const, $right: $right_const> $name<$left, $right> {
            /// The size, if it is known at compile time.
            pub const SIZE: usize = $size;
        }
        impl<$left: $left_const, $right: $right_const> shapes::ConstDim for $name<$left, $right> {
            const SIZE: usize = Self::SIZE;
        }
        #[diagnostic::do_not_recommend]
        impl<$left: $left_const, $right: $right_const> $crate::dims::Factor for $name<$left, $right> {
            type Whole = Self;
            type Axis = ();
        }
        #[diagnostic::do_not_recommend]
        impl<$left: $left_const, $right: $right_const> $crate::dims::ConstDim for $name<$left, $right> {}
        impl<$left: $left_const, $right: $right_const> Default for $name<$left, $right> {
            fn default() -> Self {
                Self::unchecked(Self::SIZE)
            }
        }
        $crate::dims::copied_and_compared!($name<$left, $right> by size);
        impl<$left, $right> fmt::Debug for $name<$left, $right> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}={}", $crate::__private::name::<Self>(), self.size)
            }
        }
    };
}

sized_dim! {
    /// [`Sum`], by the name in the compiler's messages.
    pub struct SumDim<Left: Dim, Right: Dim>,
    SIZE<ConstDim, ConstDim> = Left::SIZE + Right::SIZE,
    |size| (0..=size).any(|left| Left::from_size(left).is_some() && Right::from_size(size - left).is_some())
}

impl<Left, Right> StaticSize for Sum<Left, Right>
where
    Left: StaticSize<Nat: Add<Right::Nat>>,
    Right: StaticSize,
{
    type Nat = typenum::Sum<Left::Nat, Right::Nat>;
    type Factors<Rest> = (Self, Rest);
}

count_made!([Left: CountFactor + Dim, Right: CountFactor + Dim] Sum<Left, Right>: Left::Dynamic<Right::Dynamic<()>>);

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
    note = "a window is a compile-time dimension that is at most as long as its axis; in a generic function, the bound `{Self}: WindowOf<{Len}>` says so"
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
