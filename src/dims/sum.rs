//! Sums of dimensions, of which some may have their sizes at run time.

use super::size::count_made;
use super::{ConstDim, CountFactor, Dim, StaticSize};
use dfdx::shapes;
use std::{any::type_name, marker::PhantomData, ops::Add};

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
/// size, and `$static_size` is its `AnyDim::static_size`. Nothing is derived, because derived impls would have bounds
/// for `$left` and `$right`.
macro_rules! sized_dim {
    (
        $(#[$doc:meta])*
        $vis:vis struct $name:ident<$left:ident: $left_bound:path, $right:ident: $right_bound:path>,
        SIZE<$left_const:path, $right_const:path> = $size:expr,
        $is_size:expr
        $(, $static_size:expr)?
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
        $crate::__dfdx_dim!([$left: $left_bound, $right: $right_bound] $name<$left, $right>, |this| this.size, |size| {
            let is_size: fn(usize) -> bool = $is_size;
            is_size(size).then(|| Self::unchecked(size))
        });
        $crate::__whole_dim!([$left: $left_bound, $right: $right_bound] $name<$left, $right> $(, $static_size)?);
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
        $crate::error::debug_as!(
            [$left, $right] $name<$left, $right>,
            |this, f| write!(f, "{}={}", $crate::__private::name::<Self>(), this.size)
        );
    };
}
pub(super) use sized_dim;

sized_dim! {
    /// [`Sum`], by the name in the compiler's messages.
    pub struct SumDim<Left: Dim, Right: Dim>,
    SIZE<ConstDim, ConstDim> = Left::SIZE + Right::SIZE,
    // A part of known size leaves one size to the other part. Otherwise all pairs of sizes are tried.
    |size| match (Left::static_size(), Right::static_size()) {
        (Some(left), _) => size.checked_sub(left).and_then(Right::from_size).is_some(),
        (_, Some(right)) => size.checked_sub(right).and_then(Left::from_size).is_some(),
        // A part that is a sum searches in its turn, so it is asked last.
        _ if has_sum::<Right>() => {
            (0..=size).any(|left| Left::from_size(left).is_some() && Right::from_size(size - left).is_some())
        }
        _ => (0..=size).any(|left| Right::from_size(size - left).is_some() && Left::from_size(left).is_some()),
    },
    Some(Left::static_size()? + Right::static_size()?)
}

/// Whether a sum is in the type.
fn has_sum<Part>() -> bool {
    type_name::<Part>().contains(concat!(module_path!(), "::SumDim<"))
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
