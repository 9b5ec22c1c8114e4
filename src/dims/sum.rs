use super::{ConstDim, CountFactor, Dim, StaticSize, sized::sized_dim};
use dfdx::shapes;
use std::{fmt, marker::PhantomData, ops::Add};
use typenum::U1;

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

/// [`Sum`], by the name in the compiler's messages.
pub struct SumDim<Left, Right> {
    size: usize,
    parts: PhantomData<fn() -> (Left, Right)>,
}

impl<Left: Dim, Right: Dim> Sum<Left, Right> {
    /// The sum of two dimensions.
    #[must_use]
    pub fn of(left: Left, right: Right) -> Self {
        Self::unchecked(left.size() + right.size())
    }

    /// The size.
    #[must_use]
    pub fn size(self) -> usize {
        self.size
    }
}

sized_dim!(Sum<Left: Dim, Right: Dim>, SIZE<ConstDim, ConstDim> = Left::SIZE + Right::SIZE, |size| {
    (0..=size).any(|left| Left::from_size(left).is_some() && Right::from_size(size - left).is_some())
});
impl<Left, Right> StaticSize for Sum<Left, Right>
where
    Left: StaticSize<Nat: Add<Right::Nat>>,
    Right: StaticSize,
{
    type Nat = typenum::Sum<Left::Nat, Right::Nat>;
    type Factors<Rest> = (Self, Rest);
}

#[diagnostic::do_not_recommend]
impl<Left: CountFactor + Dim, Right: CountFactor + Dim> CountFactor for Sum<Left, Right>
where
    (Left::Dynamic<()>, Right::Dynamic<()>, Left::Static, Right::Static): Total,
{
    type Static = <(Left::Dynamic<()>, Right::Dynamic<()>, Left::Static, Right::Static) as Total>::Static;
    type Dynamic<Rest> =
        <(Left::Dynamic<()>, Right::Dynamic<()>, Left::Static, Right::Static) as Total>::Dynamic<Self, Rest>;
    type Factors<Rest> = (Self, Rest);
}

/// The size of a sum of two dimensions, each as the list of its run-time dimension and its compile-time size.
pub trait Total {
    /// The compile-time size; 1 if a part has its size at run time.
    type Static;
    /// The list `Rest`, preceded by `Sum` if a part has its size at run time.
    type Dynamic<Sum, Rest>;
}
impl<Left: Add<Right>, Right> Total for ((), (), Left, Right) {
    type Static = typenum::Sum<Left, Right>;
    type Dynamic<Sum, Rest> = Rest;
}
impl<Name, List, Left, Right> Total for ((Name, ()), List, Left, Right) {
    type Static = U1;
    type Dynamic<Sum, Rest> = (Sum, Rest);
}
impl<Name, Left, Right> Total for ((), (Name, ()), Left, Right) {
    type Static = U1;
    type Dynamic<Sum, Rest> = (Sum, Rest);
}
