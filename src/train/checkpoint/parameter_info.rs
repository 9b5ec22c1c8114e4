use crate::model_tensors::describe_tensors;
use crate::ranks::Element;
use crate::weights::dims_in;
use dfdx::{nn::TensorCollection, tensor_ops::Device};

/// A parameter as the type of a model describes it.
pub(crate) struct ParameterInfo {
    /// Its field path.
    pub path: String,
    /// The size of each dimension.
    pub sizes: Vec<usize>,
    /// The name and size of each dimension, such as `EmbedDim=8`.
    pub dims: Vec<String>,
    /// Whether optimizers update it: false only for the buffers of dfdx's own modules. Every parameter of a `#[module]`
    /// is trained.
    pub is_trained: bool,
}

/// Describes all parameters of a model, in the order of its fields.
pub(crate) fn parameter_infos<Model: TensorCollection<E, D>, E: Element, D: Device<E>>() -> Vec<ParameterInfo> {
    let mut infos = Vec::new();
    describe_tensors::<Model, E, D>(|tensor| {
        // Not `written_dims`: a checkpoint has a product by its name, without its factors.
        let shape = format!("{:#?}", tensor.dims);
        let dims = dims_in(&shape).zip(&tensor.sizes).map(|(name, size)| {
            let size = format!("={size}");
            format!("{}{size}", name.strip_suffix(&size).unwrap_or(name))
        });
        let (path, dims) = (tensor.path.to_string(), dims.collect());
        infos.push(ParameterInfo { path, dims, is_trained: tensor.is_trained, sizes: tensor.sizes });
    });
    infos
}
