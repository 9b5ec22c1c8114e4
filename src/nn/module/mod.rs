mod layers;
mod param_shape;
mod summary;

pub use crate::model_tensors::child_path;
pub use layers::{ForEachLayer, Layers, LayersIter};
pub use param_shape::ParamShape;
pub use summary::{Summary, SummaryRow};

use std::collections::BTreeSet;

/// Declares a module: a struct of parameters and other modules.
///
/// From the fields it derives:
///
/// - `Clone` and `Debug`;
/// - dfdx's [`TensorCollection`](dfdx::nn::TensorCollection), which gives building, resetting and moving between
///   devices and dtypes. Optimizers, saving and moving averages walk the parameters by it;
/// - [`Module`], with `NUM_PARAMS` and the summary;
/// - [`Loadable`](crate::weights::Loadable), which reads the parameters from a file of weights.
///
/// The name of a parameter in a weights file is its field path.
///
/// The last type parameters are the dtype `E`, the device `D` and, if the module has one, the
/// [precision](super::Precision) `P: Precision`. Bounds and defaults are added: `E: Dtype = f32, D: Device<E> = Cpu`.
///
/// | field | what it is |
/// | --- | --- |
/// | `#[param(init)] weight: Tensor<(OutDim, InDim), E, D>` | a parameter; `init` is a function that fills it, such as those in [`init`](crate::nn::init) |
/// | `norm: Norm<EmbedDim, A, E, D>` | a module |
/// | `layers: Layers<NumLayers, EncoderLayer<EmbedDim, A, E, D>>` | modules, as many as a dimension says ([`Layers`](crate::nn::Layers)) |
/// | `#[layers(COUNT)] inner: Vec<Linear<EmbedDim, EmbedDim, E, D>>` | modules, as many as a constant says |
/// | `#[some_if(FLAG)] norm: Option<…>` | a parameter or a module, `Some` if the constant `FLAG` is true |
///
/// A type parameter with the bound `Module` is a layer: `struct PreNorm<Inner: Module, E, D> { inner: Inner, … }`. What
/// the layers have in common is a trait of your own, the bound of `Inner` at the `impl` of `forward`.
/// `with_precision` stores the weights of the module itself in fewer bits, not those of the layer.
///
/// Two options stand in the attribute, as in `#[module(output = EmbedDim, conventions = A::Conventions)]`:
///
/// - `output` is the last dimension of the output, shown in the summary;
/// - `conventions` are those on which the module itself depends, which are stored with saved parameters. The type has a
///   function `conventions`, as [`Conventions`](crate::nn::Conventions) and the configurations of
///   [`models`](crate::models) have.
///
/// ```
/// use typed_transformer::{nn::{Linear, Module, init}, ops::mul, prelude::*};
///
/// /// A linear map with a factor for each column of its output.
/// #[module(output = EmbedDim)]
/// pub struct Gated<EmbedDim: ConstDim, E, D> {
///     /// The linear map.
///     pub map: Linear<EmbedDim, EmbedDim, E, D>,
///     /// The factor of each column.
///     #[param(init::ones)]
///     pub gate: Tensor<(EmbedDim,), E, D>,
/// }
///
/// impl<EmbedDim: ConstDim, E: Real, D: Backend<E>> Gated<EmbedDim, E, D> {
///     fn forward<B: Dim, S: Dim, T: Tape<E, D>>(
///         &self,
///         input: Tensor<(B, S, EmbedDim), E, D, T>,
///     ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
///         mul(self.map.forward(input)?, &self.gate)
///     }
/// }
///
/// dims! { EmbedDim = 3; }
/// const _: () = assert!(Gated::<EmbedDim, f32, Cpu>::NUM_PARAMS == 15);
/// let device = Cpu::default();
/// let gated = Gated::<EmbedDim, f32, Cpu>::build(&device);
/// let x: Tensor<(Const<2>, Const<4>, EmbedDim), f32, Cpu> = device.zeros();
/// assert_eq!(gated.forward(x)?.as_vec().len(), 24);
/// # Ok::<(), OpError>(())
/// ```
#[doc(inline)]
pub use typed_transformer_macros::module;

/// A module whose parameters and dimensions are known from its type alone.
///
/// [`#[module]`](macro@crate::module) implements it.
///
/// ```
/// use typed_transformer::{doctest::*, nn::{Linear, Module}, prelude::*};
/// type Logits = Linear<EmbedDim, VocabSize, f32, Cpu>;
/// const _: () = assert!(Logits::NUM_PARAMS == 8 * 28 + 28);
/// ```
///
/// A function of any model has this bound and `BuildModule`:
///
/// ```
/// use typed_transformer::{nn::Module, prelude::*, train::{GradientsOf, Sgd, update}, weights};
/// fn finish<Model: Module + BuildModule<Cpu, f32>>(
///     model: &mut Model,
///     gradients: GradientsOf<Model, f32, Cpu>,
/// ) -> Result<(), Box<dyn std::error::Error>> {
///     update(model, gradients, &mut Sgd::default(), 0.1, 1.0)?;
///     weights::save(model, "model.safetensors")?;
///     Ok(())
/// }
/// ```
pub trait Module {
    /// Number of trainable scalars.
    const NUM_PARAMS: usize;

    /// Appends a summary row for the module at `path` and one for each of its submodules.
    fn describe(path: &str, rows: &mut Vec<SummaryRow>);

    /// The summary of the module.
    fn summary(&self) -> Summary
    where
        Self: Sized,
    {
        Summary::of::<Self>()
    }

    /// Adds to `out` the [conventions](super::Conventions::conventions) of the module and its submodules.
    fn conventions(out: &mut BTreeSet<(&'static str, String)>);
}
