use super::RankAxis;
use std::marker::PhantomData;

/// A tensor that is the same on all ranks of `Axis`. It is the input of a tensor-parallel region, which is made of
/// operations with shards.
///
/// Each rank uses it with a part of the columns, so each rank has only its term of the gradient.
/// [`enter`](crate::tensor_parallel::enter) makes such a tensor, and sums these terms in the backward pass:
/// *Megatron-LM*'s `copy_to_tensor_model_parallel_region`.
///
/// ```
/// use typed_transformer::{prelude::*, ranks, ranks::{Entered, Ranks}, tensor_parallel::enter};
/// ranks! { pub Tp = 2; }
/// dims! { pub Batch = 1; pub EmbedDim = 2; }
/// Ranks::<Tp>::in_threads(2, |ranks| {
///     let x: Tensor<(Batch, EmbedDim), f32, Cpu> = Cpu::default().zeros();
///     // One tensor for two operations.
///     let query: Entered<Tensor<(Batch, EmbedDim), f32, Cpu>, Tp> = enter(x, ranks).unwrap();
///     let key = query.clone();
///     assert_eq!(format!("{key:?}"), "the same on all ranks of `Tp`");
/// });
/// ```
#[derive(Clone)]
#[must_use]
pub struct Entered<X, Axis> {
    value: X,
    axis: PhantomData<fn() -> Axis>,
}

impl<X, Axis> Entered<X, Axis> {
    pub(crate) fn new(value: X) -> Self {
        Self { value, axis: PhantomData }
    }

    pub(crate) fn into_inner(self) -> X {
        self.value
    }
}

crate::error::debug_as!(
    [X, Axis: RankAxis] Entered<X, Axis>,
    |_, f| write!(f, "the same on all ranks of `{}`", Axis::NAME)
);
