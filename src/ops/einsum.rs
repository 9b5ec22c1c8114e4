use super::{
    OpError, Real,
    contraction::{Labelled, contract, label_array},
    dim_error, ensure_not_empty,
    operand::{JoinTapes, JoinedTape, OperandTape, TensorOrRef, distinct_from},
    views::{NamedAxes, Sizes},
};
use crate::{
    backend::Backend,
    dims::{DimError, Label},
};
use dfdx::{
    shapes::{HasShape, Shape},
    tensor::{PutTape, Storage, Tape, Tensor},
};
use std::marker::PhantomData;

/// `Σ x · w` over the axes that are not in the result: a contraction of two or three tensors, by name.
///
/// ```text
/// einsum!(x: (Batch, SrcLen, EmbedDim), w: (HiddenDim, EmbedDim) -> (Batch, SrcLen, HiddenDim))
/// ```
///
/// Each operand is an expression and the dimensions of its tensor. The compiler checks that they are. An axis of
/// two operands is one axis. It is summed over if the result does not have it. So these do not compile, each with
/// an error at the axis:
///
/// - an axis of the result that is in no operand;
/// - an axis that is in one operand, in no other one and not in the result;
/// - an axis that a tensor has twice.
///
/// Axes are compared by the words that stand here, so an axis has the same spelling in all places. An operand is a
/// tensor, or a reference to a tensor without a tape ([`TensorOrRef`](crate::ops::TensorOrRef)). Tensors have up to 6 axes.
/// Of three operands, the first two are contracted first.
///
/// The name is NumPy's; the form with names is that of
/// [haliax](https://haliax.readthedocs.io) and [einops](https://openreview.net/forum?id=oapKSVM2bcj).
///
/// # Panics
/// If [`try_einsum!`](crate::try_einsum!) returns an error; the message is the error's text.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub Batch = 1; pub QLen = 2; pub KLen = 3; pub NumHeads = 1; pub HeadDim = 1; }
/// let device = Cpu::default();
/// let query: Tensor<(Batch, QLen, NumHeads, HeadDim), f32, Cpu> = device.tensor(vec![1.0, 10.0]);
/// let key: Tensor<(Batch, KLen, NumHeads, HeadDim), f32, Cpu> = device.tensor(vec![1.0, 2.0, 3.0]);
/// let scores: Tensor<(Batch, NumHeads, QLen, KLen), f32, Cpu> = einsum!(
///     query: (Batch, QLen, NumHeads, HeadDim), key: (Batch, KLen, NumHeads, HeadDim)
///     -> (Batch, NumHeads, QLen, KLen)
/// );
/// assert_eq!(scores.as_vec(), [1.0, 2.0, 3.0, 10.0, 20.0, 30.0]);
/// ```
///
/// It works in functions that are generic in their dimensions, and a call may be an operand:
///
/// ```
/// use typed_transformer::{dims::Dim, prelude::*};
///
/// /// `xᵀ A y`
/// fn bilinear<Left: Dim, Right: Dim, E: Real, D: Backend<E>, T: Tape<E, D>>(
///     x: Tensor<(Left,), E, D, T>,
///     matrix: &Tensor<(Left, Right), E, D>,
///     y: Tensor<(Right,), E, D, T>,
/// ) -> Tensor<(), E, D, T> {
///     einsum!(einsum!(x: (Left), matrix: (Left, Right) -> (Right)): (Right), y: (Right) -> ())
/// }
///
/// let device = Cpu::default();
/// let (x, y) = (device.tensor([1.0, 2.0]), device.tensor([1.0, 1.0, 1.0]));
/// let matrix = device.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]);
/// assert_eq!(bilinear::<Const<2>, Const<3>, f32, Cpu, NoneTape>(x, &matrix, y).array(), 5.0);
/// ```
#[macro_export]
macro_rules! einsum {
    ($($contraction:tt)*) => {
        match $crate::try_einsum!($($contraction)*) {
            ::core::result::Result::Ok(value) => value,
            ::core::result::Result::Err(error) => ::core::panic!("{error}"),
        }
    };
}

/// Fallible form of [`einsum!`](crate::einsum!).
///
/// # Errors
/// [`OpError::Dim`](crate::ops::OpError::Dim) if an axis has two sizes; it names the axis, both operands and both
/// sizes. [`OpError::Empty`](crate::ops::OpError::Empty) if an operand has no elements;
/// [`OpError::Device`](crate::ops::OpError::Device) if the device fails.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub SrcLen; pub EmbedDim = 2; }
/// let rows = |len| -> Tensor<(SrcLen, EmbedDim), f32, Cpu> {
///     Cpu::default().zeros_like(&(SrcLen::new(len), EmbedDim))
/// };
/// let (x, y) = (rows(3), rows(4));
/// let error = try_einsum!(x: (SrcLen, EmbedDim), y: (SrcLen, EmbedDim) -> (EmbedDim)).unwrap_err();
/// assert_eq!(error.to_string(), "einsum: `SrcLen` is 3 in `x` and 4 in `y`");
/// ```
#[macro_export]
macro_rules! try_einsum {
    ($($contraction:tt)*) => { $crate::__einsum!(@parse [] [] $($contraction)*) };
}

/// Reads the operands `expression: (axes)` one token at a time, because an expression cannot be followed by `:` in
/// a pattern. Then writes the rules and the call.
#[doc(hidden)]
#[macro_export]
macro_rules! __einsum {
    (@parse [$($operands:tt)*] [$($x:tt)+] : ($($axes:tt)*) , $($rest:tt)+) => {
        $crate::__einsum!(@parse [$($operands)* [[$($x)+] $($axes)*]] [] $($rest)+)
    };
    (@parse [$($operands:tt)*] [$($x:tt)+] : ($($axes:tt)*) -> ($($to:tt)*) $(,)?) => {
        $crate::__einsum!(@name $($operands)* [[$($x)+] $($axes)*] -> [$($to)*])
    };
    (@parse $operands:tt [$($x:tt)*] $next:tt $($rest:tt)*) => {
        $crate::__einsum!(@parse $operands [$($x)* $next] $($rest)*)
    };
    (@parse $($rest:tt)*) => {
        ::core::compile_error!("this is not of the form `einsum!(x: (A, B), w: (B, C) -> (A, C))`")
    };

    (@name [[$($x:tt)+] $($xd:ty),* $(,)?] -> [$($od:ty),* $(,)?]) => {
        ::core::compile_error!("a contraction has two or three operands; `rearrange!` and `sum_over` take one")
    };
    (@name [[$($x:tt)+] $($xd:ty),* $(,)?] [[$($w:tt)+] $($wd:ty),* $(,)?] -> [$($od:ty),* $(,)?]) => {
        $crate::__einsum!(@two
            [$($x)+] [$($xd)*] [$(::core::stringify!($xd)),*] [$($w)+] [$($wd)*] [$(::core::stringify!($wd)),*]
            [$($od)*] [$(::core::stringify!($od)),*]
            [$(::core::stringify!($xd),)* $(::core::stringify!($wd),)* $(::core::stringify!($od)),*])
    };
    (@name [[$($x:tt)+] $($xd:ty),* $(,)?] [[$($w:tt)+] $($wd:ty),* $(,)?] [[$($v:tt)+] $($vd:ty),* $(,)?]
        -> [$($od:ty),* $(,)?]) => {
        $crate::__einsum!(@three
            [$($x)+] [$($xd)*] [$(::core::stringify!($xd)),*] [$($w)+] [$($wd)*] [$(::core::stringify!($wd)),*]
            [$($v)+] [$($vd)*] [$(::core::stringify!($vd)),*] [$($od)*] [$(::core::stringify!($od)),*]
            [$(::core::stringify!($xd),)* $(::core::stringify!($wd),)* $(::core::stringify!($vd),)*
                $(::core::stringify!($od)),*])
    };
    (@name $($more:tt)*) => { ::core::compile_error!("a contraction has two or three operands") };

    (@two [$($x:tt)+] [$($xd:ty)*] $xn:tt [$($w:tt)+] [$($wd:ty)*] $wn:tt [$($od:ty)*] $on:tt $all:tt) => {{
        $crate::__einsum!(@once [] [$($xd,)*]);
        $crate::__einsum!(@once [] [$($wd,)*]);
        $crate::__einsum!(@once [] [$($od,)*]);
        $crate::__einsum!(@given [$($od)*] [&$xn, &$wn]);
        $crate::__einsum!(@shared [$($xd)*] [&$wn, &$on] $on [&$xn, &$wn]);
        $crate::__einsum!(@shared [$($wd)*] [&$xn, &$on] $on [&$xn, &$wn]);
        let x = $crate::__private::Over::<($($xd,)*)>::operand($($x)+);
        let w = $crate::__private::Over::<($($wd,)*)>::operand_beside(&x, $($w)+);
        $crate::__private::Over::<($($od,)*)>::contract_two(
            x,
            w,
            [$crate::__einsum!(@text $($x)+), $crate::__einsum!(@text $($w)+)],
            const {
                [
                    $crate::__einsum!(@labels [$($xd)*] $all),
                    $crate::__einsum!(@labels [$($wd)*] $all),
                    $crate::__einsum!(@labels [$($od)*] $all),
                ]
            },
        )
    }};
    (@three [$($x:tt)+] [$($xd:ty)*] $xn:tt [$($w:tt)+] [$($wd:ty)*] $wn:tt [$($v:tt)+] [$($vd:ty)*] $vn:tt
        [$($od:ty)*] $on:tt $all:tt) => {{
        $crate::__einsum!(@once [] [$($xd,)*]);
        $crate::__einsum!(@once [] [$($wd,)*]);
        $crate::__einsum!(@once [] [$($vd,)*]);
        $crate::__einsum!(@once [] [$($od,)*]);
        $crate::__einsum!(@given [$($od)*] [&$xn, &$wn, &$vn]);
        $crate::__einsum!(@shared [$($xd)*] [&$wn, &$vn, &$on] $on [&$xn, &$wn, &$vn]);
        $crate::__einsum!(@shared [$($wd)*] [&$xn, &$vn, &$on] $on [&$xn, &$wn, &$vn]);
        $crate::__einsum!(@shared [$($vd)*] [&$xn, &$wn, &$on] $on [&$xn, &$wn, &$vn]);
        let x = $crate::__private::Over::<($($xd,)*)>::operand($($x)+);
        let w = $crate::__private::Over::<($($wd,)*)>::operand_beside(&x, $($w)+);
        let v = $crate::__private::Over::<($($vd,)*)>::operand_beside(&x, $($v)+);
        $crate::__private::Over::<($($od,)*)>::contract_three(
            x,
            w,
            v,
            $crate::__private::Rank::<{ $crate::__private::names::product_rank([&$xn, &$wn], &[&$vn, &$on]) }>,
            [$crate::__einsum!(@text $($x)+), $crate::__einsum!(@text $($w)+), $crate::__einsum!(@text $($v)+)],
            const {
                [
                    $crate::__einsum!(@labels [$($xd)*] $all),
                    $crate::__einsum!(@labels [$($wd)*] $all),
                    $crate::__einsum!(@labels [$($vd)*] $all),
                    $crate::__einsum!(@labels [$($od)*] $all),
                ]
            },
        )
    }};
    (@text $($x:tt)+) => { ::core::concat!("`", ::core::stringify!($($x)+), "`") };
    (@labels [$($dim:ty)*] $all:tt) => {
        &[$($crate::__private::names::label(::core::stringify!($dim), &$all)),*] as &[$crate::__private::names::Label]
    };
    (@once [$($seen:ty)*] [$next:ty, $($rest:tt)*]) => {
        $crate::__private::names::once::<
            $next,
            { $crate::__private::names::count(::core::stringify!($next), &[$(::core::stringify!($seen)),*]) == 0 },
        >();
        $crate::__einsum!(@once [$($seen)* $next] [$($rest)*]);
    };
    (@once $seen:tt []) => {};
    (@given [$($dim:ty)*] $lists:tt) => {
        $($crate::__private::names::given::<
            $dim, { $crate::__private::names::is_in(::core::stringify!($dim), &$lists) }
        >();)*
    };
    (@shared [$($dim:ty)*] $lists:tt $to:tt $operands:tt) => {
        $($crate::__private::names::shared::<
            $dim,
            {
                $crate::__private::names::is_in(::core::stringify!($dim), &$lists)
                    || !$crate::__private::names::is_result(&$to, &$operands)
            },
        >();)*
    };
}

const OP: &str = "einsum";

/// A tensor, and what a [`TensorOrRef`] says of its tape.
pub type Split<Dims, E, D, Tape> = (Tensor<Dims, E, D>, Tape);

/// What [`try_einsum!`](crate::try_einsum!) does with tensors over `Dims`.
#[doc(hidden)]
pub struct Over<Dims>(PhantomData<Dims>);

impl<Dims: Shape> Over<Dims> {
    /// The first operand.
    pub fn operand<E, D: Storage<E>, Tape, X: TensorOrRef<Dims, E, D, Tape>>(operand: X) -> Split<Dims, E, D, Tape> {
        operand.split()
    }

    /// A further operand, of the same dtype and device.
    pub fn operand_beside<Other: Shape, E, D: Storage<E>, OtherTape, Tape, X: TensorOrRef<Dims, E, D, Tape>>(
        _: &Split<Other, E, D, OtherTape>,
        operand: X,
    ) -> Split<Dims, E, D, Tape> {
        operand.split()
    }

    /// The contraction of two operands. `texts` are the operands as the user wrote them, and `labels` those of the
    /// operands and of the result.
    pub fn contract_two<X, W, XTape, WTape, E, D, const XN: usize, const WN: usize, const N: usize>(
        (x, x_tape): Split<X, E, D, XTape>,
        (w, w_tape): Split<W, E, D, WTape>,
        texts: [&'static str; 2],
        [x_labels, w_labels, to]: [&[Label]; 3],
    ) -> Result<Tensor<Dims, E, D, JoinedTape<XTape, WTape, E, D>>, OpError>
    where
        X: NamedAxes<XN>,
        W: NamedAxes<WN>,
        Dims: NamedAxes<N>,
        XTape: JoinTapes<WTape, E, D>,
        E: Real,
        D: Backend<E>,
        [usize; XN]: Sizes,
        [usize; WN]: Sizes,
        [usize; N]: Sizes,
    {
        check_sizes(&[Axes::of(texts[0], &x, x_labels)?, Axes::of(texts[1], &w, w_labels)?])?;
        let x = x.put_tape(x_tape.join(w_tape).into_tape());
        let w = distinct_from(&x, w.put_tape(Default::default()))?;
        let product = contract(OP, labelled(x, x_labels)?, labelled(w, w_labels)?, label_array(to));
        Dims::from_sizes(OP, product?)
    }

    /// The contraction of three operands. The product of the first two has `P` axes.
    #[allow(clippy::type_complexity)]
    pub fn contract_three<
        X,
        W,
        V,
        XTape,
        WTape,
        VTape,
        E,
        D,
        const XN: usize,
        const WN: usize,
        const VN: usize,
        const N: usize,
        const P: usize,
    >(
        (x, x_tape): Split<X, E, D, XTape>,
        (w, w_tape): Split<W, E, D, WTape>,
        (v, v_tape): Split<V, E, D, VTape>,
        _: Rank<P>,
        texts: [&'static str; 3],
        [x_labels, w_labels, v_labels, to]: [&[Label]; 4],
    ) -> Result<Tensor<Dims, E, D, JoinedTape<XTape::Joined, VTape, E, D>>, OpError>
    where
        X: NamedAxes<XN>,
        W: NamedAxes<WN>,
        V: NamedAxes<VN>,
        Dims: NamedAxes<N>,
        XTape: JoinTapes<WTape, E, D, Joined: JoinTapes<VTape, E, D>>,
        E: Real,
        D: Backend<E>,
        [usize; XN]: Sizes,
        [usize; WN]: Sizes,
        [usize; VN]: Sizes,
        [usize; N]: Sizes,
        [usize; P]: Sizes,
    {
        check_sizes(&[
            Axes::of(texts[0], &x, x_labels)?,
            Axes::of(texts[1], &w, w_labels)?,
            Axes::of(texts[2], &v, v_labels)?,
        ])?;
        let x = x.put_tape(x_tape.join(w_tape).join(v_tape).into_tape());
        let w = distinct_from(&x, w.put_tape(Default::default()))?;
        let v = v.put_tape(Default::default());

        let of_w = w_labels.iter().filter(|label| !x_labels.contains(label));
        let kept = x_labels.iter().chain(of_w).filter(|label| v_labels.contains(label) || to.contains(label));
        let kept: [Label; P] = label_array(&kept.copied().collect::<Vec<_>>());
        let product = contract(OP, labelled(x, x_labels)?, labelled(w, w_labels)?, kept);
        let product = Labelled { tensor: product?, labels: kept };
        let product = contract(OP, product, labelled(v, v_labels)?, label_array(to));
        Dims::from_sizes(OP, product?)
    }
}

/// The number of axes of a product.
#[doc(hidden)]
pub struct Rank<const N: usize>;

/// An operand's axes, for a comparison of sizes.
struct Axes<'a> {
    text: &'static str,
    names: Vec<String>,
    sizes: Vec<usize>,
    labels: &'a [Label],
}

impl<'a> Axes<'a> {
    fn of<Dims: NamedAxes<N>, const N: usize, E: Real, D: Backend<E>>(
        text: &'static str,
        operand: &Tensor<Dims, E, D>,
        labels: &'a [Label],
    ) -> Result<Self, OpError>
    where
        [usize; N]: Sizes,
    {
        ensure_not_empty(OP, operand.shape())?;
        Ok(Self { text, names: Dims::names(), sizes: operand.shape().concrete().into(), labels })
    }
}

/// Refuses operands in which an axis has two sizes.
fn check_sizes(operands: &[Axes]) -> Result<(), OpError> {
    for (i, right) in operands.iter().enumerate() {
        for left in &operands[..i] {
            for (axis, label) in left.labels.iter().enumerate() {
                let Some(other) = right.labels.iter().position(|other| other == label) else { continue };
                let (expected, found) = (left.sizes[axis], right.sizes[other]);
                if expected != found {
                    let dim = left.names[axis].clone();
                    return Err(dim_error(OP)(DimError::Mismatch {
                        dim,
                        left: left.text,
                        expected,
                        right: right.text,
                        found,
                    }));
                }
            }
        }
    }
    Ok(())
}

fn labelled<Dims: NamedAxes<N>, const N: usize, E: Real, D: Backend<E>, T: Tape<E, D>>(
    tensor: Tensor<Dims, E, D, T>,
    labels: &[Label],
) -> Result<Labelled<N, E, D, T>, OpError>
where
    [usize; N]: Sizes,
{
    Ok(Labelled { tensor: Dims::into_sizes(OP, tensor)?, labels: label_array(labels) })
}
