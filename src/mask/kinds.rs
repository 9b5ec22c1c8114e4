use crate::dims::ConstDim;
use std::marker::PhantomData;

/// The positions that self-attention shows to a position: [`NoMask`], [`CausalMask`], [`SlidingWindow`] or
/// [`CenteredWindow`] (the post's `MaskType`).
///
/// The kind is a type parameter of the attention module, not an argument of its call, because a module trained with one
/// kind does not work with another. Files of weights store the kind of [`SelfAttention`](crate::nn::SelfAttention) and
/// of [`GroupedQueryAttention`](crate::nn::GroupedQueryAttention).
///
/// ```
/// use typed_transformer::{doctest::Batch, mask::{CenteredWindow, SlidingWindow}, prelude::*};
/// dims! { pub Width = 2; }
/// let padding = PaddingMask::without_padding((Batch, Const::<3>));
/// let mask = mk_mask::<NoMask, PadQueriesAndKeys, _, _>(&padding);
/// assert_eq!(mask.as_slice(), [true; 9]);
/// let mask = mk_mask::<CausalMask, PadQueriesAndKeys, _, _>(&padding);
/// assert_eq!(mask.as_slice(), [true, false, false, true, true, false, true, true, true]);
/// let mask = mk_mask::<SlidingWindow<Width>, PadQueriesAndKeys, _, _>(&padding);
/// assert_eq!(mask.as_slice(), [true, false, false, true, true, false, false, true, true]);
/// let centered = mk_mask::<CenteredWindow<Width>, PadQueriesAndKeys, _, _>(&padding);
/// assert_eq!(centered.as_slice(), [true, true, false, true, true, true, false, true, true]);
///
/// pub struct LastTwo;
/// impl MaskKind for LastTwo {
///     const CAUSAL: bool = true;
///     const WINDOW: Option<usize> = Some(2);
/// }
/// assert_eq!(mk_mask::<LastTwo, PadQueriesAndKeys, _, _>(&padding).as_slice(), mask.as_slice());
/// ```
#[diagnostic::on_unimplemented(
    message = "expected a mask kind: `NoMask`, `CausalMask`, `SlidingWindow` or `CenteredWindow`",
    label = "`{Self}` is not a mask kind",
    note = "`NoMask` shows the whole sequence to every position; `CausalMask` shows only the position itself and the ones before it; `SlidingWindow` shows only the last of these; `CenteredWindow` shows only neighbours on both sides"
)]
pub trait MaskKind: 'static {
    /// Whether a query is kept from seeing keys after its own position.
    const CAUSAL: bool;
    /// A query sees its own position and the `WINDOW - 1` before it. If the kind is not causal, it also sees the
    /// `WINDOW - 1` after it. `None` if there is no limit.
    const WINDOW: Option<usize> = None;
}

/// No causal mask: every position sees every position, as in an encoder. Padding stays hidden. (The name is the
/// post's.)
#[derive(Clone, Copy, Debug, Default)]
pub struct NoMask;

/// A position sees itself and the positions before it, as in a decoder.
#[derive(Clone, Copy, Debug, Default)]
pub struct CausalMask;

/// A position sees itself and the `Width - 1` positions before it ([Beltagy et al.,
/// 2020](https://arxiv.org/abs/2004.05150), 3.1; [Jiang et al., 2023](https://arxiv.org/abs/2310.06825), 2).
///
/// `cargo build` refuses a width of 0, in which no position sees a key:
///
/// ```compile_fail,E0080
/// use typed_transformer::{doctest::*, mask::SlidingWindow, prelude::*};
/// let mask = AttentionMask::causal::<SlidingWindow<Const<0>>>((Batch, SeqLen, SeqLen), 0);
/// ```
// The bound of the struct, here and below, gives a run-time width the error of `ConstDim`.
#[derive(Clone, Copy, Debug, Default)]
pub struct SlidingWindow<Width: ConstDim>(PhantomData<fn() -> Width>);

/// A position sees itself, the `Width / 2` positions before it and the `Width / 2` positions after it, as in an encoder
/// of long texts ([Beltagy et al., 2020](https://arxiv.org/abs/2004.05150), 3.1).
#[derive(Clone, Copy, Debug, Default)]
pub struct CenteredWindow<Width: ConstDim>(PhantomData<fn() -> Width>);

#[diagnostic::do_not_recommend]
impl<Width: ConstDim> MaskKind for CenteredWindow<Width> {
    const CAUSAL: bool = false;
    const WINDOW: Option<usize> = Some(Width::SIZE / 2 + 1);
}
#[diagnostic::do_not_recommend]
impl<Width: ConstDim> MaskKind for SlidingWindow<Width> {
    const CAUSAL: bool = true;
    const WINDOW: Option<usize> = {
        assert!(Width::SIZE > 0, "a window has at least the position itself: its width is not 0");
        Some(Width::SIZE)
    };
}
#[diagnostic::do_not_recommend]
impl MaskKind for NoMask {
    const CAUSAL: bool = false;
}
#[diagnostic::do_not_recommend]
impl MaskKind for CausalMask {
    const CAUSAL: bool = true;
}

/// A [`MaskKind`] that shows no later position, so that a sequence can be decoded step by step with a cache:
/// [`CausalMask`], [`SlidingWindow`] or a kind of your own.
///
/// ```
/// use typed_transformer::{mask::{CausalKind, SlidingWindow}, prelude::*};
/// dims! { pub Width = 2; }
/// fn can_be_decoded<Mask: CausalKind>() {}
/// can_be_decoded::<CausalMask>();
/// can_be_decoded::<SlidingWindow<Width>>();
/// ```
///
/// `cargo build` refuses a cache's mask of a kind that implements this trait and shows later positions after all:
///
/// ```compile_fail,E0080
/// # use typed_transformer::{doctest::*, mask::CausalKind, nn::KeyValueCache, prelude::*};
/// pub struct Everything;
/// impl MaskKind for Everything {
///     const CAUSAL: bool = false;
/// }
/// impl CausalKind for Everything {}
/// # let cache = KeyValueCache::<Batch, MaxSeqLen, Model, f32, Cpu>::new(&Cpu::default(), Batch)?;
/// let mask = cache.mask_of_kind::<Everything, _>(SeqLen);
/// # Ok::<(), OpError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "a cache and decoding need a causal mask, such as `CausalMask`",
    label = "`{Self}` may show later positions",
    note = "the causal mask kinds are `CausalMask` and `SlidingWindow`; a kind of your own that shows none implements `CausalKind`"
)]
pub trait CausalKind: MaskKind {}
#[diagnostic::do_not_recommend]
impl CausalKind for CausalMask {}
#[diagnostic::do_not_recommend]
impl<Width: ConstDim> CausalKind for SlidingWindow<Width> {}
