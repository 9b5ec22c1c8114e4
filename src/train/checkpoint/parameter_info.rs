use crate::weights::SafetensorsDtype;
use dfdx::{
    nn::{RecursiveWalker, TensorCollection, TensorOptions, TensorVisitor, ViewTensorName},
    shapes::Shape,
    tensor::Tensor,
    tensor_ops::Device,
};
use std::convert::Infallible;

/// A parameter as the type of a model describes it.
pub(crate) struct ParameterInfo {
    /// Its field path.
    pub path: String,
    /// The size of each dimension.
    pub sizes: Vec<usize>,
    /// The name and size of each dimension, such as `EmbedDim=8`.
    pub dims: Vec<String>,
    /// Whether optimizers update it.
    pub is_trained: bool,
}

/// Describes all parameters of a model, in the order of its fields.
pub(crate) fn parameter_infos<Model, E, D>() -> Vec<ParameterInfo>
where
    Model: TensorCollection<E, D>,
    E: SafetensorsDtype,
    D: Device<E>,
{
    let mut describe = DescribeParameters(Vec::new());
    match Model::iter_tensors(&mut RecursiveWalker { m: String::new(), f: &mut describe }) {
        Ok(_) => describe.0,
    }
}

struct DescribeParameters(Vec<ParameterInfo>);

impl<E: SafetensorsDtype, D: Device<E>> TensorVisitor<E, D> for DescribeParameters {
    type Viewer = ViewTensorName;
    type Err = Infallible;
    type E2 = E;
    type D2 = D;

    fn visit<S: Shape>(
        &mut self,
        options: TensorOptions<S, E, D>,
        path: String,
    ) -> Result<Option<Tensor<S, E, D>>, Infallible> {
        let sizes: Vec<usize> = options.shape.concrete().into();
        // The alternate form writes a tuple in lines: one indented line per dimension.
        let shape = format!("{:#?}", options.shape);
        let names = shape.lines().filter_map(|line| line.strip_prefix("    "));
        let dims = names.zip(&sizes).map(|(name, size)| {
            let name = name.trim_end_matches(',');
            let size = format!("={size}");
            format!("{}{size}", name.strip_suffix(&size).unwrap_or(name))
        });
        self.0.push(ParameterInfo { path, dims: dims.collect(), is_trained: options.do_gradient_update, sizes });
        Ok(None)
    }
}
