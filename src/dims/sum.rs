use super::{ConstDim, CountFactor, Dim, StaticSize, size::count_made, sized::sized_dim};
use dfdx::shapes;
use std::{fmt, marker::PhantomData, ops::Add};

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
