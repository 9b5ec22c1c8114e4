use crate::weights::{DIVISION, LoadError, TensorSource, factors, written_dims};
use dfdx::shapes::{ConstShape, Shape};
use dfdx::{dtypes::Dtype, nn::TensorOptions, tensor::Tensor, tensor_ops::Device};
use itertools::Itertools;
use std::collections::BTreeSet;

/// The shape of a parameter.
///
/// [`#[module]`](macro@crate::module) takes all that it needs of a shape from this trait, so a wrong shape is one
/// error.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the shape of a parameter",
    label = "the sizes of a parameter are known at compile time",
    note = "`dims! {{ pub Name = 8; }}` declares a dimension of a known size"
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
    fn divisions(out: &mut BTreeSet<(&'static str, String)>);

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

    fn divisions(out: &mut BTreeSet<(&'static str, String)>) {
        let dims = written_dims(&Dims::default());
        let products = dims.iter().filter(|dim| dim.contains(" * "));
        out.extend(products.map(|dim| (DIVISION, factors(dim).iter().join(" * "))));
    }

    fn options<E: Dtype, D: Device<E>>(
        init: fn(&mut Tensor<Dims, E, D>) -> Result<(), D::Err>,
    ) -> TensorOptions<Dims, E, D> {
        TensorOptions::reset_with(init)
    }
}
