use super::{ConstDim, Dim, Divides, StaticSize, size::FullyStatic};
use std::{
    fmt,
    marker::PhantomData,
    ops::{Div, Mul},
};

/// The dimension of `One::SIZE * Other::SIZE` elements: `Other` side by side, `One` times.
///
/// It is symbolic: `Product<NumHeads, HeadDim>` and `Product<HeadDim, NumHeads>` are different
/// dimensions, although their sizes agree. (*The Typed Transformer*, "Multi-head attention".)
///
/// ```
/// use typed_transformer::{dims, dims::{ConstDim, Product}};
/// dims! { pub NumHeads = 7; pub HeadDim = 5; }
/// assert_eq!(Product::<NumHeads, HeadDim>::SIZE, 35);
/// ```
pub struct Product<One, Other>(PhantomData<fn() -> (One, Other)>);

/// The dimension of `Whole::SIZE / Parts::SIZE` elements, for `Parts` that divide `Whole`.
///
/// For models that fix the embedding and the number of heads and want the size of a head from them.
///
/// ```
/// use typed_transformer::{dims, dims::{ConstDim, Quotient}};
/// dims! { pub EmbedDim = 128; pub NumHeads = 2; }
/// assert_eq!(Quotient::<EmbedDim, NumHeads>::SIZE, 64);
/// ```
pub struct Quotient<Whole, Parts>(PhantomData<fn() -> (Whole, Parts)>);

impl<One: ConstDim, Other: ConstDim> ConstDim for Product<One, Other> {
    const SIZE: usize = One::SIZE * Other::SIZE;
}
impl<Whole: ConstDim, Parts: Divides<Whole>> ConstDim for Quotient<Whole, Parts> {
    const SIZE: usize = Whole::SIZE / Parts::SIZE;
}

impl<One, Other> StaticSize for Product<One, Other>
where
    One: StaticSize<Nat: Mul<Other::Nat>>,
    Other: StaticSize,
{
    type Nat = typenum::Prod<One::Nat, Other::Nat>;
}
impl<Whole, Parts> StaticSize for Quotient<Whole, Parts>
where
    Whole: StaticSize<Nat: Div<Parts::Nat>>,
    Parts: StaticSize + Divides<Whole>,
{
    type Nat = typenum::Quot<Whole::Nat, Parts::Nat>;
}

impl<One, Other> FullyStatic for Product<One, Other> where Self: StaticSize {}
impl<Whole, Parts> FullyStatic for Quotient<Whole, Parts> where Self: StaticSize {}

/// What dfdx asks of every dimension; derives would ask it of the operands too.
macro_rules! symbolic_dim {
    ($name:ident, $one:ident: $one_bound:path, $other:ident: $other_bound:path) => {
        impl<$one: $one_bound, $other: $other_bound> Dim for $name<$one, $other> {
            #[inline(always)]
            fn size(&self) -> usize {
                Self::SIZE
            }
            #[inline(always)]
            fn from_size(size: usize) -> Option<Self> {
                (size == Self::SIZE).then_some(Self(PhantomData))
            }
        }
        impl<$one, $other> Default for $name<$one, $other> {
            fn default() -> Self {
                Self(PhantomData)
            }
        }
        impl<$one, $other> Clone for $name<$one, $other> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<$one, $other> Copy for $name<$one, $other> {}
        impl<$one, $other> PartialEq for $name<$one, $other> {
            fn eq(&self, _: &Self) -> bool {
                true
            }
        }
        impl<$one, $other> Eq for $name<$one, $other> {}
    };
}
symbolic_dim!(Product, One: ConstDim, Other: ConstDim);
symbolic_dim!(Quotient, Whole: ConstDim, Parts: Divides<Whole>);

impl<One: ConstDim, Other: ConstDim> fmt::Debug for Product<One, Other> {
    /// Its name and size; with the flag `+` those of its two factors.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.sign_plus() {
            let (one, other) = (super::name::<One>(), super::name::<Other>());
            return write!(f, "{one}={} * {other}={}", One::SIZE, Other::SIZE);
        }
        write!(f, "{}={}", super::name::<Self>(), Self::SIZE)
    }
}
impl<Whole: ConstDim, Parts: Divides<Whole>> fmt::Debug for Quotient<Whole, Parts> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", super::name::<Self>(), Self::SIZE)
    }
}
