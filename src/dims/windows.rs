use super::relations::LessOrEqual;
use super::size::{StaticKind, count_made};
use super::{ConstDim, CountFactor, Dim, StaticSize, sized::sized_dim};
use dfdx::shapes;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Add, Sub};
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

/// [`Windows`], by the name in the compiler's messages.
pub struct WindowsDim<Len, Window> {
    size: usize,
    parts: PhantomData<fn() -> (Len, Window)>,
}

impl<Len, Window> Windows<Len, Window> {
    /// The size.
    #[must_use]
    pub fn size(self) -> usize {
        self.size
    }
}

sized_dim!(Windows<Len: Dim, Window: ConstDim>, SIZE<ConstDim, WindowOf<Len>> = Len::SIZE + 1 - Window::SIZE, |size| {
    (size + Window::SIZE).checked_sub(1).and_then(Len::from_size).is_some()
});
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
