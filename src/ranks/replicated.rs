//! Values that are the same on all ranks.

use super::{Element, RankAxis, Ranks, RanksError};
use crate::model_tensors::{visit_tensors, visit_tensors_mut};
use dfdx::{nn::TensorCollection, tensor_ops::Device};
use std::{convert::Infallible, fmt, marker::PhantomData, ops::Deref};

/// A value that is the same bits on all ranks of `Axis`.
///
/// It can be read, but only an operation that all ranks do alike changes it: a model that one rank changes alone is no
/// longer the model of the others.
///
/// ```
/// use typed_transformer::{doctest::*, nn::Linear, prelude::*, ranks, ranks::{Ranks, Replicated}};
/// ranks! { pub World; }
/// type Layer = Linear<EmbedDim, VocabSize, f32, Cpu>;
/// let are_same = Ranks::<World>::in_threads(2, |ranks| {
///     // Each rank draws other parameters, until it gets those of rank 0.
///     let model = Layer::build(&Cpu::seed_from_u64(ranks.rank() as u64));
///     let model: Replicated<Layer, World> = ranks.replicate(model)?;
///     ranks.ensure_replicated(&model)
/// });
/// assert_eq!(are_same, [Ok(()), Ok(())]);
/// ```
pub struct Replicated<X, Axis> {
    value: X,
    axis: PhantomData<fn() -> Axis>,
}

impl<X, Axis> Replicated<X, Axis> {
    /// Takes a value that is the same on all ranks, to the bit. The caller guarantees it; nothing checks it here.
    pub(crate) fn assume(value: X) -> Self {
        Self { value, axis: PhantomData }
    }

    /// The value, for a change that all ranks make alike.
    pub(crate) fn as_mut(&mut self) -> &mut X {
        &mut self.value
    }

    /// The value alone: from now on, no type says that the ranks have the same value.
    pub fn into_inner(self) -> X {
        self.value
    }
}

impl<X, Axis> Deref for Replicated<X, Axis> {
    type Target = X;
    fn deref(&self) -> &X {
        &self.value
    }
}

impl<X: Clone, Axis> Clone for Replicated<X, Axis> {
    fn clone(&self) -> Self {
        Self::assume(self.value.clone())
    }
}

crate::error::debug_as!([X: fmt::Debug, Axis] Replicated<X, Axis>, |this, f| this.value.fmt(f));

impl<Axis: RankAxis> Ranks<Axis> {
    /// Gives every rank the parameters of rank 0's model.
    ///
    /// # Errors
    /// [`RanksError::Len`] if the model has another number of elements than that of rank 0, and
    /// [`RanksError::OtherRanks`] on the other ranks; [`RanksError::Transport`]; [`RanksError::Device`].
    pub fn replicate<Model: TensorCollection<E, D>, E: Element, D: Device<E>>(
        &self,
        mut model: Model,
    ) -> Result<Replicated<Model, Axis>, RanksError> {
        let mut elements = elements_of_model(&model);
        let mut len = (elements.len() as u64).to_ne_bytes();
        self.broadcast_bytes(&mut len, 0)?;
        self.fail_together(self.ensure_len("replicate", u64::from_ne_bytes(len) as usize, elements.len()))?;
        self.broadcast(&mut elements, 0)?;
        let mut rest = &elements[..];
        let written = visit_tensors_mut::<_, E, D, D::Err>(&mut model, |visited| {
            let own = rest.split_off(..visited.tensor.num_elements()).unwrap_or_default();
            if own.is_empty() { Ok(()) } else { visited.tensor.set_from_vec(own.to_vec()) }
        });
        written.map_err(RanksError::device("replicate"))?;
        Ok(Replicated::assume(model))
    }

    /// Compares a model with that of rank 0, bit by bit except for hash collisions.
    ///
    /// # Errors
    /// [`RanksError::Differs`] with the ranks that have other parameters; [`RanksError::Transport`].
    pub fn ensure_replicated<Model: TensorCollection<E, D>, E: Element, D: Device<E>>(
        &self,
        model: &Replicated<Model, Axis>,
    ) -> Result<(), RanksError> {
        let hash = crc32fast::hash(bytemuck::cast_slice(&elements_of_model::<Model, E, D>(model)));
        self.ensure_equal("the model", hash.into())
    }

    /// An error on all ranks if a rank has another `value` than rank 0.
    pub(crate) fn ensure_equal(&self, what: &'static str, value: u64) -> Result<(), RanksError> {
        let values = self.all_gather_bytes(value.to_ne_bytes())?;
        let ranks: Vec<usize> = (0..self.size()).filter(|&rank| values[rank] != values[0]).collect();
        if ranks.is_empty() { Ok(()) } else { Err(RanksError::Differs { axis: Axis::NAME, what, ranks }) }
    }
}

/// All elements of a model, in the order of its fields.
fn elements_of_model<Model: TensorCollection<E, D>, E: Element, D: Device<E>>(model: &Model) -> Vec<E> {
    let mut elements = Vec::new();
    let Ok(()) = visit_tensors::<_, E, D, Infallible>(model, "", |visited| {
        elements.extend(visited.tensor.to_vec());
        Ok(())
    });
    elements
}

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
