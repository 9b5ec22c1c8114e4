use dfdx::{dtypes::Dtype, tensor_ops::Device};

/// An argument that only this crate can make. So a hidden method of a public trait, which the compiler may propose,
/// cannot be called from outside.
#[derive(Clone, Copy, Debug)]
pub struct Internal(pub(crate) ());

/// The bound of `E` in a module, for the sake of its error message.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a dtype",
    label = "not a dtype such as `f32`",
    note = "a precision of weights is the last parameter of a model, behind dtype and device: `<.., f32, Cpu, Bf16>`; generic code has the bounds `E: Real, D: Backend<E>`"
)]
pub trait ModelDtype: Dtype {}
#[diagnostic::do_not_recommend]
impl<E: Dtype> ModelDtype for E {}

/// The bound of `D` in a module, for the sake of its error message.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a device that computes in `{E}`",
    label = "not a device of `{E}`",
    note = "dtype, device and precision are the last parameters of a model: `<.., f32, Cpu, Bf16>`; generic code has the bounds `E: Real, D: Backend<E>`"
)]
pub trait ModelDevice<E: Dtype>: Device<E> {}
#[diagnostic::do_not_recommend]
impl<E: Dtype, D: Device<E>> ModelDevice<E> for D {}
