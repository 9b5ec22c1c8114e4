use super::{
    OpError, Real,
    contraction::label_array,
    device_error,
    einsum::{NumAxes, Over, TensorAndTape},
    ensure_not_empty,
    operand::OperandTape,
    views::{NamedAxes, Sizes, permuted, with_leading_axes},
};
use crate::dims::Label;
use dfdx::{
    shapes::HasShape,
    tensor::{PutTape, Tape, Tensor},
    tensor_ops::{Device, ReshapeTo},
};
use std::array;

/// The same elements with their axes in another order, split or merged: a rearrangement, by name.
///
/// ```text
/// rearrange!(x: (Batch, SrcLen, Product<NumHeads, HeadDim>) -> (Batch, NumHeads, SrcLen, HeadDim))
/// ```
///
/// The operand is an expression and the dimensions of its tensor. The compiler compares them with its type. A
/// [`Product`](crate::dims::Product) is two axes: if the result has them elsewhere, or in another `Product`, they
/// are split or merged. The result has all axes of the operand and no others, and no tensor has an axis twice.
/// Otherwise there is an error at the axis. Run-time axes move, but they have no `Product`.
///
/// The macro compares axes by their spelling in this call. So spell an axis the same way everywhere, and write
/// `Product` without a path. The operand is a tensor, or a reference to a tensor without a tape
/// ([`TensorOrRef`](crate::ops::TensorOrRef)). Operand and result have up to 6 axes, with products split.
///
/// Merging axes copies, and so does splitting an axis of a view. Other results are views. The idea is that of
/// [einops](https://openreview.net/forum?id=oapKSVM2bcj).
///
/// # Panics
/// If [`try_rearrange!`](crate::try_rearrange!) returns an error; the message is the error's text.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub Batch; pub Rows = 1; pub Columns = 2; pub Height = 2; pub Width = 2; pub Channels = 1; }
/// type Image = (Batch, Product<Rows, Height>, Product<Columns, Width>, Channels);
/// type Patches = (Batch, Product<Rows, Columns>, Product<Height, Product<Width, Channels>>);
///
/// let shape = (Batch::new(1), Product::default(), Product::default(), Channels);
/// let image: Tensor<Image, f32, Cpu> =
///     Cpu::default().tensor((vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], shape));
/// let patches: Tensor<Patches, f32, Cpu> = rearrange!(
///     image: (Batch, Product<Rows, Height>, Product<Columns, Width>, Channels)
///     -> (Batch, Product<Rows, Columns>, Product<Height, Product<Width, Channels>>)
/// );
/// assert_eq!(patches.as_vec(), [1.0, 2.0, 5.0, 6.0, 3.0, 4.0, 7.0, 8.0]);
/// ```
#[macro_export]
macro_rules! rearrange {
    ($($rearrangement:tt)*) => {
        match $crate::try_rearrange!($($rearrangement)*) {
            ::core::result::Result::Ok(value) => value,
            ::core::result::Result::Err(error) => ::core::panic!("{error}"),
        }
    };
}

/// Fallible form of [`rearrange!`](crate::rearrange!).
///
/// # Errors
/// [`OpError::Empty`](crate::ops::OpError::Empty) if there are no elements;
/// [`OpError::Device`](crate::ops::OpError::Device) if the device fails.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub SrcLen; pub EmbedDim = 2; }
/// let x: Tensor<(SrcLen, EmbedDim), f32, Cpu> = Cpu::default().zeros_like(&(SrcLen::new(0), EmbedDim));
/// let error = try_rearrange!(x: (SrcLen, EmbedDim) -> (EmbedDim, SrcLen)).unwrap_err();
/// assert_eq!(error.to_string(), "rearrange: (SrcLen=0, EmbedDim=2) has no elements");
/// ```
#[macro_export]
macro_rules! try_rearrange {
    ($($rearrangement:tt)*) => { $crate::__rearrange!(@parse [] $($rearrangement)*) };
}

/// Reads the operand one token at a time, and then each list of axes. Writes the rules and the call.
#[doc(hidden)]
#[macro_export]
macro_rules! __rearrange {
    (@parse [$($x:tt)+] : ($($from:tt)*) -> ($($to:tt)*) $(,)?) => {
        $crate::__rearrange!(@axes [@from [$($x)+] [$($to)*]] [] [] $($from)*)
    };
    (@parse [$($x:tt)*] $next:tt $($rest:tt)*) => { $crate::__rearrange!(@parse [$($x)* $next] $($rest)*) };
    (@parse $($rest:tt)*) => {
        ::core::compile_error!("this is not of the form `rearrange!(x: (A, Product<B, C>) -> (B, A, C))`")
    };

    // Reads an axis: its type, and the axes of which it is the product. An axis that is no product is the product of
    // itself. After a type such as `Const<2>`, the `>>` that follows it is read as `> >`.
    (@axes $next:tt [$($t:tt)*] [$($n:tt)*]
        Product<$a:ty, Product<$b:ty, Product<$c:ty, $d:ty>>> $(, $($rest:tt)*)?) => {
        $crate::__rearrange!(@axes $next
            [$($t)* [$crate::__rearrange!(@product $a, ($b, ($c, $d)))]] [$($n)* [$a, $b, $c, $d]] $($($rest)*)?)
    };
    (@axes $next:tt [$($t:tt)*] [$($n:tt)*]
        Product<$a:ty, Product<$b:ty, Product<$c:ty, $d:ty> >> $(, $($rest:tt)*)?) => {
        $crate::__rearrange!(@axes $next
            [$($t)* [$crate::__rearrange!(@product $a, ($b, ($c, $d)))]] [$($n)* [$a, $b, $c, $d]] $($($rest)*)?)
    };
    (@axes $next:tt [$($t:tt)*] [$($n:tt)*]
        Product<Product<$a:ty, $b:ty>, Product<$c:ty, $d:ty>> $(, $($rest:tt)*)?) => {
        $crate::__rearrange!(@axes $next
            [$($t)* [$crate::__rearrange!(@product ($a, $b), ($c, $d))]] [$($n)* [$a, $b, $c, $d]] $($($rest)*)?)
    };
    (@axes $next:tt [$($t:tt)*] [$($n:tt)*]
        Product<Product<$a:ty, $b:ty>, Product<$c:ty, $d:ty> > $(, $($rest:tt)*)?) => {
        $crate::__rearrange!(@axes $next
            [$($t)* [$crate::__rearrange!(@product ($a, $b), ($c, $d))]] [$($n)* [$a, $b, $c, $d]] $($($rest)*)?)
    };
    (@axes $next:tt [$($t:tt)*] [$($n:tt)*]
        Product<$a:ty, Product<$b:ty, $c:ty>> $(, $($rest:tt)*)?) => {
        $crate::__rearrange!(@axes $next
            [$($t)* [$crate::__rearrange!(@product $a, ($b, $c))]] [$($n)* [$a, $b, $c]] $($($rest)*)?)
    };
    (@axes $next:tt [$($t:tt)*] [$($n:tt)*]
        Product<$a:ty, Product<$b:ty, $c:ty> > $(, $($rest:tt)*)?) => {
        $crate::__rearrange!(@axes $next
            [$($t)* [$crate::__rearrange!(@product $a, ($b, $c))]] [$($n)* [$a, $b, $c]] $($($rest)*)?)
    };
    (@axes $next:tt [$($t:tt)*] [$($n:tt)*]
        Product<Product<$a:ty, $b:ty>, $c:ty> $(, $($rest:tt)*)?) => {
        $crate::__rearrange!(@axes $next
            [$($t)* [$crate::__rearrange!(@product ($a, $b), $c)]] [$($n)* [$a, $b, $c]] $($($rest)*)?)
    };
    (@axes $next:tt [$($t:tt)*] [$($n:tt)*]
        Product<$a:ty, $b:ty> $(, $($rest:tt)*)?) => {
        $crate::__rearrange!(@axes $next
            [$($t)* [$crate::__rearrange!(@product $a, $b)]] [$($n)* [$a, $b]] $($($rest)*)?)
    };
    (@axes $next:tt [$($t:tt)*] [$($n:tt)*]
        $a:ty $(, $($rest:tt)*)?) => {
        $crate::__rearrange!(@axes $next
            [$($t)* [$a]] [$($n)* [$a]] $($($rest)*)?)
    };
    (@product ($($a:tt)+), ($($b:tt)+)) => {
        $crate::dims::Product<$crate::__rearrange!(@product $($a)+), $crate::__rearrange!(@product $($b)+)>
    };
    (@product ($($a:tt)+), $b:ty) => { $crate::dims::Product<$crate::__rearrange!(@product $($a)+), $b> };
    (@product $a:ty, ($($b:tt)+)) => { $crate::dims::Product<$a, $crate::__rearrange!(@product $($b)+)> };
    (@product $a:ty, $b:ty) => { $crate::dims::Product<$a, $b> };
    (@axes [@from $x:tt [$($to:tt)*]] $t:tt $n:tt) => {
        $crate::__rearrange!(@axes [@to $x $t $n] [] [] $($to)*)
    };
    (@axes [@to $x:tt [$([$f:ty])*] [$([$($fa:ty),*])*]] [$([$t:ty])*] [$([$($ta:ty),*])*]) => {
        $crate::__rearrange!(@write $x [$($f)*] [$([$($fa)*])*] [$($($fa)*)*] [$($(::core::stringify!($fa)),*),*]
            [$($t)*] [$([$($ta)*])*] [$($($ta)*)*] [$($(::core::stringify!($ta)),*),*])
    };

    (@write [$($x:tt)+] [$($f:ty)*] [$($factors:tt)*] [$($fa:ty)*] $fn:tt
        [$($t:ty)*] [$($merged:tt)*] [$($ta:ty)*] $tn:tt) => {{
        $crate::__einsum!(@once once_in_operand [] [$($fa,)*]);
        $crate::__einsum!(@once once_in_result [] [$($ta,)*]);
        $crate::__einsum!(@given [$($ta)*] [&$fn]);
        $crate::__rearrange!(@kept [$($fa)*] $tn $fn);
        let x = $crate::__private::Over::<($($f,)*)>::operand($($x)+);
        $crate::__private::Over::<($($t,)*)>::rearrange(
            x,
            $crate::__private::NumAxes::<{ $crate::__private::names::num_axes(&$fn) }>,
            $crate::__private::Rearrangement {
                factors: &[$($crate::__rearrange!(@factors $factors)),*],
                from: const { $crate::__einsum!(@labels [$($fa)*] $fn) },
                to: const { $crate::__einsum!(@labels [$($ta)*] $fn) },
                merged: &[$($crate::__rearrange!(@count $merged)),*],
            },
        )
    }};
    (@factors [$one:ty]) => { &[] };
    (@factors [$($factor:ty)*]) => { &[$($crate::__private::names::size::<$factor>()),*] };
    (@count [$($axis:ty)*]) => { [$(::core::stringify!($axis)),*].len() };
    (@kept [$($dim:ty)*] $to:tt $from:tt) => {
        $($crate::__private::names::kept::<
            $dim,
            {
                $crate::__private::names::is_in(::core::stringify!($dim), &[&$to])
                    || !$crate::__private::names::is_result(&$to, &[&$from])
            },
        >();)*
    };
}

const OP: &str = "rearrange";

/// The arguments of a rearrangement, as [`try_rearrange!`](crate::try_rearrange!) writes them.
#[doc(hidden)]
pub struct Rearrangement<'a> {
    /// For each axis of the operand, the sizes of its factors; empty if it is no product.
    pub factors: &'a [&'a [usize]],
    /// The labels of the operand's axes, with products split.
    pub from: &'a [Label],
    /// The labels of the result's axes, with products split.
    pub to: &'a [Label],
    /// The number of axes in each axis of the result.
    pub merged: &'a [usize],
}

impl<To> Over<To> {
    /// The operand split, permuted and merged. Split, it has `N` axes.
    pub fn rearrange<From, Tape, E, D, const F: usize, const N: usize, const T: usize>(
        (x, tape): TensorAndTape<From, E, D, Tape>,
        _: NumAxes<N>,
        Rearrangement { factors, from, to, merged }: Rearrangement,
    ) -> Result<Tensor<To, E, D, Tape::Tape>, OpError>
    where
        From: NamedAxes<F>,
        To: NamedAxes<T>,
        Tape: OperandTape<E, D>,
        E: Real,
        D: Device<E>,
        [usize; F]: Sizes,
        [usize; N]: Sizes,
        [usize; T]: Sizes,
    {
        ensure_not_empty(OP, x.shape())?;
        let sizes = x.shape().concrete();
        let split = factors.iter().zip(sizes).flat_map(|(factors, size)| match factors {
            [] => vec![size],
            factors => factors.to_vec(),
        });
        let split: Vec<usize> = split.collect();
        let (from, to): ([Label; N], [Label; N]) = (label_array(from), label_array(to));
        let order = to.map(|label| from.iter().position(|other| *other == label).unwrap_or(0));
        let size = |axis: usize| split.get(axis).copied().unwrap_or(1);
        let mut rest = order.into_iter().map(size);
        let merged: Vec<usize> = merged.iter().map(|count| rest.by_ref().take(*count).product()).collect();
        let merged = array::from_fn(|axis| merged.get(axis).copied().unwrap_or(1));

        let x = From::into_sizes(OP, x.put_tape(tape.into_tape()))?;
        let compute = || {
            let axes = into_shape::<F, N, E, D, _>(x, array::from_fn(size))?;
            into_shape::<N, T, E, D, _>(permuted(axes, order)?, merged)
        };
        To::from_sizes(OP, compute().map_err(device_error(OP))?)
    }
}

/// A view if the number of axes stays the same (then so do the sizes), otherwise a reshape.
fn into_shape<const F: usize, const N: usize, E: Real, D: Device<E>, T: Tape<E, D>>(
    x: Tensor<[usize; F], E, D, T>,
    shape: [usize; N],
) -> Result<Tensor<[usize; N], E, D, T>, D::Err>
where
    [usize; F]: Sizes,
    [usize; N]: Sizes,
{
    match F == N {
        // A reshape would copy a tensor that is itself a view.
        true => with_leading_axes(x, shape),
        false => x.try_reshape_like(&shape),
    }
}
