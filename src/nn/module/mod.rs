//! A module, its summary, and the shapes of its parameters.

mod layers;
mod trained;

pub use crate::model_tensors::child_path;
pub use layers::{ForEachLayer, Layers, LayersIter};
pub use trained::{HasParameters, ModelOrRef, OwnsParameters, PartOfModel};

use crate::weights::{FACTORS_OF_PRODUCTS, LoadError, TensorSource, factors, written_dims};
use dfdx::shapes::{ConstShape, Shape};
use dfdx::{dtypes::Dtype, nn::TensorOptions, tensor::Tensor, tensor_ops::Device};
use itertools::Itertools;
use std::{collections::BTreeSet, fmt};

/// Declares a module: a struct of parameters and other modules.
///
/// From the fields it derives:
///
/// - `Clone` and `Debug`. A `#[derive]` of them is an error. rustc itself reports one above `#[module]`;
/// - dfdx's [`TensorCollection`](dfdx::nn::TensorCollection), which gives building, resetting and moving between
///   devices and dtypes. Optimizers, saving and moving averages walk the parameters by it;
/// - [`Module`], with `NUM_PARAMS` and the summary;
/// - [`Loadable`](crate::weights::Loadable), which reads the parameters from a file of weights;
/// - [`WithPrecision`](super::WithPrecision), if the module has a precision.
///
/// The name of a parameter in a weights file is its field path.
///
/// The last type parameters are the dtype `E`, the device `D` and, if the module has one, the
/// [precision](super::Precision) `P: Precision`. Defaults and a bound are added: `E = f32, D: Device<E> = Cpu`.
///
/// | field | what it is |
/// | --- | --- |
/// | `#[param(init)] weight: Tensor<(OutDim, InDim), E, D>` | a parameter; `init` is a function that fills it, such as those in [`init`](crate::nn::init) |
/// | `norm: Norm<EmbedDim, A, E, D>` | a module |
/// | `layers: Layers<NumLayers, EncoderLayer<EmbedDim, A, E, D>>` | modules, as many as a dimension says ([`Layers`](crate::nn::Layers)) |
/// | `#[layers(COUNT)] inner: Vec<Linear<EmbedDim, EmbedDim, E, D>>` | modules, as many as a constant says |
/// | `#[some_if(FLAG)] norm: Option<…>` | a parameter or a module, `Some` if the constant `FLAG` is true |
///
/// `COUNT` and `FLAG` decide what is trained and saved, whatever the field holds: change the constant, not the field.
/// `None` where `FLAG` is true, or another number of layers than `COUNT`, causes a panic with the name of the field
/// once the model is trained, saved or converted. `Some` where `FLAG` is false, or layers where `COUNT` is 0, are
/// ignored.
///
/// A type parameter of a field has a bound, at least `'static`. One with the bound `Module` is a layer:
/// `struct PreNorm<Inner: Module, E, D> { inner: Inner, … }`. What the layers have in common is a trait of your own, the
/// bound of `Inner` at the `impl` of `forward`.
/// `with_precision` stores the weights of the module itself in fewer bits, not those of `Inner`.
///
/// `forward` is a method that you write. The error of a missing one, ``no method named `forward` found``, lists
/// traits of dfdx; none of them is meant.
///
/// A module with a precision has functions `build` and `recording` already. A function of yours that builds one has
/// another name, such as `new`, and calls `Self::build`.
///
/// A module is built or loaded, and then its fields may be replaced: `model.head = Linear::build(&device)`. It has a
/// private field for its dimensions, so `Classifier { encoder, head }` does not compile.
///
/// Two options stand in the attribute, as in `#[module(output = EmbedDim, conventions = A::Conventions)]`:
///
/// - `output` is the last dimension of the output, shown in the summary;
/// - `conventions` is a type whose function `conventions` returns the conventions on which the module itself depends;
///   they are stored with saved parameters. Implementations of [`Conventions`](crate::nn::Conventions) and the
///   configurations of [`models`](crate::models) are such types.
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
/// let mut gated = Gated::<EmbedDim, f32, Cpu>::build(&device);
/// gated.map = Linear::build(&device);
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
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a module",
    label = "this is not a module",
    note = "`#[module]` on a struct makes it one; a field of a module is a parameter or a module",
    note = "if it is `!`, write the type of the model: `let model: gpt2::Model = ..`"
)]
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

    /// Adds to `out` the [conventions](super::Conventions::conventions) of the module and its submodules, and the sizes
    /// of the factors in the dimensions of their parameters, `("division of dimensions", "4 * 8")`.
    fn conventions(out: &mut BTreeSet<(&'static str, String)>);
}

/// One module in a [`Summary`].
///
/// ```
/// use typed_transformer::{doctest::*, nn::{FeedForward, Summary}, prelude::*};
/// let rows = Summary::of::<FeedForward<EmbedDim, Model, f32, Cpu>>().rows;
/// assert_eq!(rows[1].path, "hidden");
/// assert_eq!(rows[1].output.as_deref(), Some("HiddenDim=5"));
/// assert_eq!(rows[1].parameters[1], ("bias", "(HiddenDim=5,)".to_string()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryRow {
    /// Field path from the root of the model.
    pub path: String,
    /// Name of the module's type.
    pub module: &'static str,
    /// Last dimension of the output, with its size, if the module declares it.
    pub output: Option<String>,
    /// Field name and dimensions of each parameter that is a field of this module.
    pub parameters: Vec<(&'static str, String)>,
    /// Number of scalars in these parameters.
    pub count: usize,
}

/// A model as a table: path, module, output dimension, parameters, count, total (*Another annotated
/// transformer*, "Multi-head attention").
///
/// ```
/// use typed_transformer::{doctest::*, nn::{FeedForward, Summary}, prelude::*};
/// let summary = Summary::of::<FeedForward<EmbedDim, Model, f32, Cpu>>();
/// assert_eq!(summary.to_string(), "\
/// path    module       output             parameters                                             count
///         FeedForward  (.., EmbedDim=8)
/// hidden  Projection   (.., HiddenDim=5)  weight (HiddenDim=5, EmbedDim=8), bias (HiddenDim=5,)     45
/// output  Projection   (.., EmbedDim=8)   weight (EmbedDim=8, HiddenDim=5), bias (EmbedDim=8,)      48
/// norm    Norm         (.., EmbedDim=8)   weight (EmbedDim=8,), bias (EmbedDim=8,)                  16
/// total                                                                                            109");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// One row for each module, parents before children.
    pub rows: Vec<SummaryRow>,
    /// Number of scalars in the whole model.
    pub total: usize,
}

impl Summary {
    /// The summary of a module's type.
    #[must_use]
    pub fn of<Model: Module>() -> Self {
        let mut rows = Vec::new();
        Model::describe("", &mut rows);
        Self { rows, total: Model::NUM_PARAMS }
    }
}

impl SummaryRow {
    pub(crate) fn cells(&self) -> [String; 5] {
        let parameters: Vec<String> = self.parameters.iter().map(|(name, dims)| format!("{name} {dims}")).collect();
        [
            self.path.clone(),
            self.module.to_string(),
            self.output.as_ref().map_or_else(String::new, |width| format!("(.., {width})")),
            parameters.join(", "),
            if self.count > 0 { self.count.to_string() } else { String::new() },
        ]
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = vec![["path", "module", "output", "parameters", "count"].map(String::from)];
        table.extend(self.rows.iter().map(SummaryRow::cells));
        let total = self.total.to_string();
        table.push(["total", "", "", "", &total].map(String::from));
        let width = |column: usize| table.iter().map(|row| row[column].len()).max().unwrap_or(0);
        let [path, module, output, parameters, count] = [0, 1, 2, 3, 4].map(width);
        let line = |[a, b, c, d, e]: &[String; 5]| {
            let line = format!("{a:path$}  {b:module$}  {c:output$}  {d:parameters$}  {e:>count$}");
            line.trim_end().to_string()
        };
        let lines: Vec<_> = table.iter().map(line).collect();
        f.write_str(&lines.join("\n"))
    }
}

/// The shape of a parameter.
///
/// [`#[module]`](macro@crate::module) takes all that it needs of a shape from this trait, so a wrong shape is one
/// error.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the shape of a parameter",
    label = "the sizes of a parameter are known at compile time",
    note = "`dims! {{ pub Name = 8; }}` declares a dimension of a known size; the parts of a `Quotient` divide its whole"
)]
#[doc(hidden)]
pub trait ParamShape: Shape {
    /// Number of elements.
    const NUM_ELEMENTS: usize;

    /// The shape, which has no run-time size.
    fn shape() -> Self;

    /// The dimensions, with their sizes.
    fn describe() -> String;

    /// Adds the sizes of the factors of its dimensions, `("division of dimensions", "4 * 8")`, so that 4 heads of 8
    /// and 8 heads of 4 are different models.
    fn factor_sizes(out: &mut BTreeSet<(&'static str, String)>);

    /// The parameter at `path` of a source.
    fn load<E: Dtype, D: Device<E>>(
        source: &mut TensorSource<'_, E, D>,
        path: &str,
    ) -> Result<Tensor<Self, E, D>, LoadError> {
        source.tensor(path, Self::shape())
    }

    /// How dfdx makes a parameter: `init` fills it.
    fn options<E: Dtype, D: Device<E>>(
        init: fn(&mut Tensor<Self, E, D>) -> Result<(), D::Err>,
    ) -> TensorOptions<Self, E, D>;
}

#[diagnostic::do_not_recommend]
impl<Dims: ConstShape> ParamShape for Dims {
    const NUM_ELEMENTS: usize = Dims::NUMEL;

    fn shape() -> Self {
        Dims::default()
    }

    fn describe() -> String {
        format!("{:?}", Dims::default())
    }

    fn factor_sizes(out: &mut BTreeSet<(&'static str, String)>) {
        out.extend(factors_of_products(&written_dims(&Dims::default())));
    }

    fn options<E: Dtype, D: Device<E>>(
        init: fn(&mut Tensor<Dims, E, D>) -> Result<(), D::Err>,
    ) -> TensorOptions<Dims, E, D> {
        TensorOptions::reset_with(init)
    }
}

/// What [`ParamShape::factor_sizes`] adds for these dimensions.
fn factors_of_products(dims: &[String]) -> Vec<(&'static str, String)> {
    let products = dims.iter().filter(|dim| dim.contains(" * "));
    products.map(|dim| (FACTORS_OF_PRODUCTS, factors(dim).iter().join(" * "))).collect()
}
