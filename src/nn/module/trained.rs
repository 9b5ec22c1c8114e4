//! Bounds of a model that is trained or saved. They exist for their error messages.

use super::Module;
use dfdx::{dtypes::Dtype, nn::TensorCollection, tensor_ops::Device};
use std::borrow::BorrowMut;

/// A module with parameters of its own in `E` on `D`.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a module that can be trained or saved here",
    label = "not a module with parameters of its own in one dtype",
    note = "`#[module]` on a struct makes it a module; `update_replicated` updates a `Replicated` model, and `save(&*model, ..)` saves it; a `Distributed` one has `update_sharded` and its own `save`; packed weights are neither trained nor saved; a function that is generic in the model needs the bounds `Module + BuildModule<D, E>`"
)]
pub trait OwnsParameters<E: Dtype, D: Device<E>>: Module + TensorCollection<E, D> {}
#[diagnostic::do_not_recommend]
impl<E: Dtype, D: Device<E>, Model: Module + TensorCollection<E, D>> OwnsParameters<E, D> for Model {}

/// A module, or a tuple of modules, whose parameters an optimizer can change.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a module that can be updated here",
    label = "`{Self}` has no parameters of its own in one dtype",
    note = "`#[module]` on a struct makes it a module; `update_replicated` updates a `Replicated` model, and `update_sharded` a `Distributed` one, whose average has `add_sharded`; packed weights are not trained; code that is generic in the model needs the bound `BuildModule<D, E>`"
)]
pub trait HasParameters<E: Dtype, D: Device<E>>: TensorCollection<E, D> {}
#[diagnostic::do_not_recommend]
impl<E: Dtype, D: Device<E>, Model: TensorCollection<E, D>> HasParameters<E, D> for Model {}

/// The model, or a reference to it: the gradients decide which. So `&mut model` of a `model: &mut Model` is an error of
/// the borrow alone, which says that the binding is a mutable borrow already.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not `{Model}`, the model of the gradients and the optimizer",
    label = "expected `{Model}`",
    note = "`&mut *guard` is the model that a guard or a pointer holds; `update_replicated` updates a `Replicated` model"
)]
pub trait ModelOrRef<Model>: BorrowMut<Model> {}
#[diagnostic::do_not_recommend]
impl<Model, Owned: BorrowMut<Model>> ModelOrRef<Model> for Owned {}

/// A module or a parameter of a model.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a part of a model in `{E}`",
    label = "neither a parameter nor a module with parameters of its own in `{E}`",
    note = "`if let Some(part) = &model.part` gives the part of an `Option`; each part of a list has a call of its own; code that is generic in the part needs the bound `BuildModule<D, E>`"
)]
pub trait PartOfModel<E: Dtype, D: Device<E>>: TensorCollection<E, D> {}
#[diagnostic::do_not_recommend]
impl<E: Dtype, D: Device<E>, Part: TensorCollection<E, D>> PartOfModel<E, D> for Part {}
