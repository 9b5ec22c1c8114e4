use dfdx::{dtypes::Dtype, tensor_ops::Device};

/// An argument that only this crate can make. So a hidden method of a public trait, which the compiler may propose,
/// cannot be called from outside.
#[derive(Clone, Copy, Debug)]
pub struct Internal(pub(crate) ());

/// The bound of `D` in a module, for the sake of its error message. It implies `E: Dtype`: a bound of `E` besides would
/// make two errors of a wrong `E`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a device that computes in `{E}`",
    label = "not a device of `{E}`",
    note = "dtype, device and precision are the last parameters of a model: `<.., f32, Cpu, Bf16>`; generic code has the bounds `E: Real, D: Backend<E>`",
    note = "if `{E}` is a device, a parameter before it is missing"
)]
pub trait ModelDevice<E>: ImpliesBounds<E, Same = E> + ImpliesBounds<E, Same: Dtype> + Device<E> {}
#[diagnostic::do_not_recommend]
impl<E: Dtype, D: Device<E>> ModelDevice<E> for D {}

/// A bound on a subtrait implies the bounds of `Same`, which is `T`. It would not imply bounds of `T` itself.
pub trait ImpliesBounds<T> {
    type Same;
}
impl<Any, T> ImpliesBounds<T> for Any {
    type Same = T;
}
