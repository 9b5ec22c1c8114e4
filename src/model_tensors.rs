//! The tensors of a model, whatever their dimensions.
//!
//! dfdx compiles the walk through all submodules again for each type of visitor. So there are three types here: for the
//! tensors of a model, for those of a model that changes, and for those that the type of a model describes. What
//! happens at a tensor is a trait object.

mod view;

pub(crate) use view::ViewPath;
pub use view::child_path;

use crate::backend::{Backend, Gradients, elements_of, tensor_id};
use crate::dims::unnamed;
use crate::real::Real;
use dfdx::nn::{RecursiveWalker, TensorCollection, TensorOptions, TensorVisitor};
use dfdx::shapes::{HasShape, Shape};
use dfdx::tensor::{Gradients as OfDfdx, OwnedTape, Storage, Tensor, Trace, UniqueId};
use dfdx::tensor_ops::{Device, ReshapeTo};
use std::{any::type_name, convert::Infallible, fmt::Debug};
use view::{ViewMut, ViewRef};

/// A tensor over any dimensions.
pub(crate) trait AnyTensor<E: Real, D: Device<E>> {
    fn device(&self) -> &D;
    /// The key of its gradient.
    fn id(&self) -> UniqueId;
    fn sizes(&self) -> Vec<usize>;
    /// The names and sizes of its dimensions.
    fn dims(&self) -> &dyn Debug;
    /// The name of the type of its dimensions, with paths.
    fn dims_type_name(&self) -> &'static str;
    /// The elements in row-major order.
    fn to_vec(&self) -> Vec<E>;
    /// The elements as one axis.
    fn flat(&self) -> Result<Tensor<(usize,), E, D>, D::Err>;
    /// The elements as one axis, with a tape that leads to this tensor.
    fn flat_with_tape(&self, gradients: OfDfdx<E, D>) -> Result<Tensor<(usize,), E, D, OwnedTape<E, D>>, D::Err>;
    fn set_from_flat(&mut self, elements: Tensor<(usize,), E, D>) -> Result<(), D::Err>;
    /// The gradient as one axis; zeros if there is none.
    fn flat_gradient(&self, gradients: &mut Gradients<E, D>) -> Result<Tensor<(usize,), E, D>, D::Err>;
    /// The gradient as dfdx stores it; zeros if there is none.
    fn stored_gradient<'a>(&self, gradients: &'a mut OfDfdx<E, D>) -> Result<&'a mut <D as Storage<E>>::Vec, D::Err>;
    /// [`Backend::gradient_mut`].
    fn gradient_mut<'a>(&self, gradients: &'a mut Gradients<E, D>) -> Result<Option<&'a mut [E]>, D::Err>
    where
        D: Backend<E>;
    fn elements_mut(&mut self) -> Option<&mut [E]>
    where
        D: Backend<E>;
    /// Whether the elements, and so those of the gradient, are in memory in row-major order.
    fn is_row_major(&self) -> bool
    where
        D: Backend<E>;
}

// What needs no type of the dimensions is compiled once.
impl<E: Real, D: Device<E>> dyn AnyTensor<E, D> + '_ {
    pub fn num_elements(&self) -> usize {
        self.sizes().iter().product()
    }

    /// Replaces all elements. They are in row-major order.
    pub fn set_from_vec(&mut self, elements: Vec<E>) -> Result<(), D::Err> {
        let len = elements.len();
        let flat = self.device().try_tensor_from_vec(elements, (len,))?;
        self.set_from_flat(flat)
    }

    /// The gradient in row-major order, if it is in memory in this order; zeros if there is none.
    pub fn row_major_gradient<'a>(&self, gradients: &'a mut Gradients<E, D>) -> Result<Option<&'a mut [E]>, D::Err>
    where
        D: Backend<E>,
    {
        Ok(self.gradient_mut(gradients)?.filter(|_| self.is_row_major()))
    }

    /// [`Backend::elements_mut`] and the gradient in the same order, if the elements of both are in memory.
    pub fn elements_and_gradient<'a>(
        &'a mut self,
        gradients: &'a mut Gradients<E, D>,
    ) -> Result<Option<(&'a mut [E], &'a [E])>, D::Err>
    where
        D: Backend<E>,
    {
        let gradient = self.gradient_mut(gradients)?;
        let both = self.elements_mut().zip(gradient.map(|gradient| &*gradient));
        Ok(both.filter(|(values, gradient)| values.len() == gradient.len()))
    }
}

impl<Dims: Shape, E: Real, D: Device<E>> AnyTensor<E, D> for Tensor<Dims, E, D> {
    fn device(&self) -> &D {
        self.device()
    }

    fn id(&self) -> UniqueId {
        tensor_id(self)
    }

    fn sizes(&self) -> Vec<usize> {
        self.shape().concrete().into()
    }

    fn dims(&self) -> &dyn Debug {
        self.shape()
    }

    fn dims_type_name(&self) -> &'static str {
        type_name::<Dims>()
    }

    fn to_vec(&self) -> Vec<E> {
        elements_of(self)
    }

    fn flat(&self) -> Result<Tensor<(usize,), E, D>, D::Err> {
        unnamed(self.clone()).try_reshape_like(&(self.shape().num_elements(),))
    }

    fn flat_with_tape(&self, gradients: OfDfdx<E, D>) -> Result<Tensor<(usize,), E, D, OwnedTape<E, D>>, D::Err> {
        unnamed(self.trace(gradients)).try_reshape_like(&(self.shape().num_elements(),))
    }

    fn set_from_flat(&mut self, elements: Tensor<(usize,), E, D>) -> Result<(), D::Err> {
        // The shape itself is kept, because a shard knows more than its size.
        *self = elements.try_reshape_like(self.shape())?;
        Ok(())
    }

    fn flat_gradient(&self, gradients: &mut Gradients<E, D>) -> Result<Tensor<(usize,), E, D>, D::Err> {
        gradients.get(&unnamed(self.clone()))?.try_reshape_like(&(self.shape().num_elements(),))
    }

    fn stored_gradient<'a>(&self, gradients: &'a mut OfDfdx<E, D>) -> Result<&'a mut <D as Storage<E>>::Vec, D::Err> {
        gradients.get_or_alloc_mut(self)
    }

    fn gradient_mut<'a>(&self, gradients: &'a mut Gradients<E, D>) -> Result<Option<&'a mut [E]>, D::Err>
    where
        D: Backend<E>,
    {
        D::gradient_mut(gradients, self)
    }

    fn elements_mut(&mut self) -> Option<&mut [E]>
    where
        D: Backend<E>,
    {
        D::elements_mut(self)
    }

    fn is_row_major(&self) -> bool
    where
        D: Backend<E>,
    {
        D::elements(self).is_some()
    }
}

/// A tensor of a model. `AnyRef` is `&dyn AnyTensor` or `&mut dyn AnyTensor`.
pub(crate) struct ModelTensor<AnyRef> {
    /// Its field path.
    pub path: String,
    /// Whether optimizers update it: false only for the buffers of dfdx's own modules.
    pub is_trained: bool,
    pub tensor: AnyRef,
}

/// Calls `visit` with each tensor of a model, in the order of its fields. The paths begin with `prefix`.
pub(crate) fn visit_tensors<Model: TensorCollection<E, D>, E: Real, D: Device<E>, Err>(
    model: &Model,
    prefix: &str,
    mut visit: impl FnMut(ModelTensor<&dyn AnyTensor<E, D>>) -> Result<(), Err>,
) -> Result<(), Err> {
    let mut result = Ok(());
    let mut visit = |tensor: ModelTensor<&dyn AnyTensor<E, D>>| visit(tensor).map_err(keep_in(&mut result));
    let m = (model, prefix.to_string());
    // The error is kept in `result`.
    let _ = Model::iter_tensors(&mut RecursiveWalker { m, f: &mut Visit(&mut visit) });
    result
}

/// Collects what `map` makes of each tensor of a model, in the order of its fields. `None` leaves a tensor out.
pub(crate) fn map_tensors<Model: TensorCollection<E, D>, E: Real, D: Device<E>, T, Err>(
    model: &Model,
    mut map: impl FnMut(ModelTensor<&dyn AnyTensor<E, D>>) -> Result<Option<T>, Err>,
) -> Result<Vec<T>, Err> {
    let mut mapped = Vec::new();
    visit_tensors(model, "", |visited| map(visited).map(|one| mapped.extend(one)))?;
    Ok(mapped)
}

/// [`map_tensors`] of the trained parameters, without an error.
pub(crate) fn map_trained<Model: TensorCollection<E, D>, E: Real, D: Device<E>, T>(
    model: &Model,
    map: impl Fn(&dyn AnyTensor<E, D>) -> T,
) -> Vec<T> {
    let Ok(mapped) =
        map_tensors::<_, E, D, _, Infallible>(model, |visited| Ok(visited.is_trained.then(|| map(visited.tensor))));
    mapped
}

/// [`visit_tensors`] of a model that `visit` changes.
pub(crate) fn visit_tensors_mut<Model: TensorCollection<E, D>, E: Real, D: Device<E>, Err>(
    model: &mut Model,
    mut visit: impl FnMut(ModelTensor<&mut dyn AnyTensor<E, D>>) -> Result<(), Err>,
) -> Result<(), Err> {
    let mut result = Ok(());
    let mut visit = |tensor: ModelTensor<&mut dyn AnyTensor<E, D>>| visit(tensor).map_err(keep_in(&mut result));
    let m = (model, String::new());
    let _ = Model::iter_tensors(&mut RecursiveWalker { m, f: &mut VisitMut(&mut visit) });
    result
}

/// Calls `describe(path, is_trained, sizes, dims)` with each tensor that the type of a model describes, in the order of
/// its fields. `dims` writes the names and sizes of the dimensions.
pub(crate) fn describe_tensors<Model: TensorCollection<E, D>, E: Real, D: Device<E>>(
    mut describe: impl FnMut(String, bool, Vec<usize>, &dyn Debug),
) {
    // It makes no tensor, so no walk fails.
    let _ = Model::iter_tensors(&mut RecursiveWalker { m: String::new(), f: &mut Describe(&mut describe) });
}

/// A walk ends before the last tensor.
struct Stopped;

fn keep_in<Err>(result: &mut Result<(), Err>) -> impl FnOnce(Err) -> Stopped {
    |error| {
        *result = Err(error);
        Stopped
    }
}

/// The visitor of the tensors that `$View` shows, by `&` or by `&mut`.
macro_rules! visitor {
    ($Visit:ident, $View:ty, $($by:tt)+) => {
        struct $Visit<'f, E, D>(&'f mut dyn FnMut(ModelTensor<$($by)+ dyn AnyTensor<E, D>>) -> Result<(), Stopped>);

        impl<E: Real, D: Device<E>> TensorVisitor<E, D> for $Visit<'_, E, D> {
            type Viewer = $View;
            type Err = Stopped;
            type E2 = E;
            type D2 = D;

            fn visit<Dims: Shape>(
                &mut self,
                options: TensorOptions<Dims, E, D>,
                (tensor, path): ($($by)+ Tensor<Dims, E, D>, String),
            ) -> Result<Option<Tensor<Dims, E, D>>, Stopped> {
                // `Result::map` and `?` would be two more functions for each shape.
                match (self.0)(ModelTensor { path, is_trained: options.do_gradient_update, tensor }) {
                    Ok(()) => Ok(None),
                    Err(stopped) => Err(stopped),
                }
            }
        }
    };
}
visitor!(Visit, ViewRef, &);
visitor!(VisitMut, ViewMut, &mut);

struct Describe<'f>(&'f mut dyn FnMut(String, bool, Vec<usize>, &dyn Debug));

impl<E: Real, D: Device<E>> TensorVisitor<E, D> for Describe<'_> {
    type Viewer = ViewPath;
    type Err = Stopped;
    type E2 = E;
    type D2 = D;

    fn visit<Dims: Shape>(
        &mut self,
        options: TensorOptions<Dims, E, D>,
        path: String,
    ) -> Result<Option<Tensor<Dims, E, D>>, Stopped> {
        (self.0)(path, options.do_gradient_update, options.shape.concrete().into(), &options.shape);
        Ok(None)
    }
}
