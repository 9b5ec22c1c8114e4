use super::DistributedError;
use super::parameter_sharding::{elements_by_path, gather_parts, parameter_shardings, parts_of_rank};
use crate::backend::{Backend, elements_of};
use crate::dims::{DataDim, Dim};
use crate::model_tensors::ViewPath;
use crate::nn::{Autoregressive, Module};
use crate::ops::{OpError, Real, device_error};
use crate::ranks::{Element, RankAxis, Ranks, RanksError, Replicated};
use crate::tokens::TokenIds;
use crate::weights::{
    Dims, ExpectedTensor, FileTensor, LoadError, Loadable, TensorFile, TensorSource, collect, compare_conventions,
};
use dfdx::nn::{RecursiveWalker, TensorCollection, TensorOptions, TensorVisitor};
use dfdx::{shapes::Shape, tensor::Tensor, tensor_ops::Device};
use std::{collections::BTreeMap, fmt, marker::PhantomData, ops::Deref, path::Path};

/// A model of which each rank holds a part. Its parameters have the field paths of the `Whole` model, in the same
/// order, or [`Distributed`] panics. Each is the whole parameter, or this rank's shard of it along one axis.
///
/// ```
/// use typed_transformer::{doctest::*, nn::Module, prelude::*, ranks, tensor_parallel::{Sharded, OnRanks}};
/// ranks! { pub Tp = 1; }
/// fn num_params_of_whole<Model: Sharded<Tp, f32, Cpu>>() -> usize {
///     Model::Whole::NUM_PARAMS
/// }
/// let count = num_params_of_whole::<DecoderOnly<OnRanks<Model, Tp>, f32, Cpu>>();
/// assert_eq!(count, DecoderOnly::<Model, f32, Cpu>::NUM_PARAMS);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a model whose parts the ranks of `{Axis}` have",
    label = "not a model of shards over `{Axis}`",
    note = "`DecoderOnly`, `EncoderOnly` and `LM` of `OnRanks<Config, {Axis}>` are such models; a model of your own implements `Sharded`, with `type Whole` the same fields in the same order"
)]
pub trait Sharded<Axis, E: Element, D: Device<E>>:
    Module + TensorCollection<E, D, To<E, D> = Self> + Loadable<E, D>
{
    /// The model that is divided among the ranks.
    type Whole: Module + TensorCollection<E, D, To<E, D> = Self::Whole> + Loadable<E, D>;
}

/// A model that is divided among the ranks of `Axis`: each has its part.
///
/// It can be read, but only [`update_sharded`](super::update_sharded) changes it, because the parameters that all
/// ranks have must stay the same.
///
/// ```
/// use typed_transformer::{doctest::*, prelude::*, ranks, ranks::Ranks, tensor_parallel::{Distributed, OnRanks}};
/// ranks! { pub Tp = 1; }
/// let ranks = Ranks::<Tp>::single()?;
/// let model = Distributed::<DecoderOnly<OnRanks<Model, Tp>, f32, Cpu>, Tp>::build(&Cpu::seed_from_u64(0), &ranks)?;
/// // The same parameters as those of one rank with this seed.
/// let whole = DecoderOnly::<Model, f32, Cpu>::build(&Cpu::seed_from_u64(0));
/// let gathered: DecoderOnly<Model, f32, Cpu> = model.gather(&Cpu::default(), &ranks)?;
/// assert_eq!(gathered.logit.weight.unwrap().as_vec(), whole.logit.weight.unwrap().as_vec());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Distributed<Model, Axis> {
    model: Model,
    /// The rank of `Axis` that has this part.
    rank: usize,
    axis: PhantomData<fn() -> Axis>,
}

impl<Model, Axis> Distributed<Model, Axis> {
    fn new(model: Model, rank: usize) -> Self {
        Self { model, rank, axis: PhantomData }
    }

    pub(crate) fn as_mut(&mut self) -> &mut Model {
        &mut self.model
    }
}

impl<Model, Axis: RankAxis> Distributed<Model, Axis> {
    /// A new model. Its parameters are those that rank 0 draws for the whole model, whatever the number of ranks. A
    /// rank holds its part and one whole parameter at a time.
    ///
    /// # Errors
    /// [`DistributedError::Ranks`] if a rank fails; [`DistributedError::Op`] if the device fails.
    pub fn build<E: Element, D: Device<E>>(device: &D, ranks: &Ranks<Axis>) -> Result<Self, DistributedError>
    where
        Model: Sharded<Axis, E, D>,
    {
        let mut shardings = parameter_shardings::<Model, E, D, Axis>().into_iter();
        let mut parts = Vec::new();
        let keep = |path: String, mut whole: Vec<E>| {
            ranks.broadcast(&mut whole, 0)?;
            if let Some(parameter) = shardings.next() {
                parts.push((path, parameter.part(whole, ranks.rank())));
            }
            Ok(())
        };
        let mut draw = DrawParameters { device, keep };
        Model::Whole::iter_tensors(&mut RecursiveWalker { m: String::new(), f: &mut draw })?;
        Ok(Self::new(build_from(parts, device, ranks)?, ranks.rank()))
    }

    /// This rank's part of a whole model, which must be the same on all ranks.
    ///
    /// # Errors
    /// [`DistributedError::Op`] if the device fails.
    pub fn from_whole<E: Element, D: Device<E>>(
        whole: &Model::Whole,
        device: &D,
        ranks: &Ranks<Axis>,
    ) -> Result<Self, DistributedError>
    where
        Model: Sharded<Axis, E, D>,
    {
        let parts = parts_of_rank(parameter_shardings::<Model, E, D, Axis>(), collect(whole, ""), ranks.rank());
        Ok(Self::new(build_from(parts, device, ranks)?, ranks.rank()))
    }

    /// The whole model, on every rank.
    ///
    /// # Errors
    /// [`DistributedError::Ranks`] if a rank fails; [`DistributedError::Op`] if the device fails.
    pub fn gather<E: Element, D: Device<E>>(
        &self,
        device: &D,
        ranks: &Ranks<Axis>,
    ) -> Result<Model::Whole, DistributedError>
    where
        Model: Sharded<Axis, E, D>,
    {
        gather_whole(&self.model, device, ranks)
    }

    /// Loads this rank's part of a file of the whole model, which every rank must be able to read.
    ///
    /// # Errors
    /// [`DistributedError::Load`] with the errors of [`weights::load`](crate::weights::load);
    /// [`DistributedError::Ranks`] if another rank cannot load its part.
    pub fn load<E: Element, D: Device<E>>(
        path: impl AsRef<Path>,
        device: &D,
        ranks: &Ranks<Axis>,
    ) -> Result<Self, DistributedError>
    where
        Model: Sharded<Axis, E, D>,
    {
        let part = ranks.fail_together(load_part::<Model, E, D, Axis>(path.as_ref(), device, ranks))?;
        Ok(Self::new(part, ranks.rank()))
    }

    /// Gives the ranks of another axis the same part: for tensor and data parallelism together.
    ///
    /// # Errors
    /// [`RanksError::Differs`] if the ranks have different parts; [`RanksError::Transport`] if a rank fails;
    /// [`RanksError::Device`] if the device fails.
    pub fn replicate<E: Element, D: Device<E>, Data: RankAxis>(
        self,
        ranks: &Ranks<Data>,
    ) -> Result<Distributed<Replicated<Model, Data>, Axis>, RanksError>
    where
        Model: TensorCollection<E, D>,
    {
        // Ranks with other parts would get that of the first.
        ranks.ensure_equal("the part of the model", self.rank as u64)?;
        Ok(Distributed::new(ranks.replicate(self.model)?, self.rank))
    }
}

impl<Model: Clone, Axis> Clone for Distributed<Model, Axis> {
    fn clone(&self) -> Self {
        Self::new(self.model.clone(), self.rank)
    }
}

impl<Model, Axis> Deref for Distributed<Model, Axis> {
    type Target = Model;
    fn deref(&self) -> &Model {
        &self.model
    }
}

crate::error::debug_as!([Model: fmt::Debug, Axis] Distributed<Model, Axis>, |this, f| this.model.fmt(f));

/// A model that ranks share generates text as the model itself does.
macro_rules! writes_as_its_model {
    ($Shared:ident) => {
        #[diagnostic::do_not_recommend]
        impl<B: DataDim, Model: Autoregressive<B, E, D>, Axis, E: Real, D: Backend<E>> Autoregressive<B, E, D>
            for $Shared<Model, Axis>
        {
            type VocabSize = Model::VocabSize;
            type MaxSeqLen = Model::MaxSeqLen;
            type Cache = Model::Cache;

            fn cache(&self, batch: B) -> Result<Model::Cache, OpError> {
                (**self).cache(batch)
            }

            fn last_logits<S: Dim, Last: Dim>(
                &self,
                tokens: &TokenIds<B, S, Model::VocabSize>,
                cache: &mut Model::Cache,
                last: Last,
            ) -> Result<Tensor<(B, Last, Model::VocabSize), E, D>, OpError> {
                (**self).last_logits(tokens, cache, last)
            }
        }
    };
}
writes_as_its_model!(Distributed);
writes_as_its_model!(Replicated);

/// The whole model, of which each rank has its `part`.
pub(super) fn gather_whole<Part: Sharded<Axis, E, D>, E: Element, D: Device<E>, Axis: RankAxis>(
    part: &Part,
    device: &D,
    ranks: &Ranks<Axis>,
) -> Result<Part::Whole, DistributedError> {
    build_from(elements_by_path(gather_tensors(part, ranks)?), device, ranks)
}

/// The parameters of the whole model, of which each rank has its `part`.
pub(super) fn gather_tensors<Part: Sharded<Axis, E, D>, E: Element, D: Device<E>, Axis: RankAxis>(
    part: &Part,
    ranks: &Ranks<Axis>,
) -> Result<Vec<FileTensor>, DistributedError> {
    gather_parts::<E, Axis>(parameter_shardings::<Part, E, D, Axis>(), collect(part, ""), ranks)
}

fn load_part<Model: Sharded<Axis, E, D>, E: Element, D: Device<E>, Axis: RankAxis>(
    path: &Path,
    device: &D,
    ranks: &Ranks<Axis>,
) -> Result<Model, DistributedError> {
    let mut file = TensorFile::open_weights(path)?;
    compare_conventions::<Model::Whole>(&file, false)?;
    let mut shardings = parameter_shardings::<Model, E, D, Axis>().into_iter();
    let mut read = |expected: &ExpectedTensor| {
        let parameter = shardings.next().ok_or_else(|| expected.missing())?;
        let dims = Dims(&parameter.dims);
        let whole =
            file.read(&ExpectedTensor { path: &parameter.path, sizes: parameter.sizes.clone(), dims: &dims })?;
        Ok(parameter.part(whole, ranks.rank()))
    };
    let model = Model::load_from(&mut TensorSource::new(device, &mut read).on_ranks(ranks), "")?;
    file.ensure_all_read(|_| false)?;
    Ok(model)
}

/// A model from the elements of its parameters, by their paths.
fn build_from<Model: Loadable<E, D>, E: Element, D: Device<E>, Axis: RankAxis>(
    parameters: Vec<(String, Vec<E>)>,
    device: &D,
    ranks: &Ranks<Axis>,
) -> Result<Model, DistributedError> {
    let mut parameters = BTreeMap::from_iter(parameters);
    let mut take = |expected: &ExpectedTensor| parameters.remove(expected.path).ok_or_else(|| expected.missing());
    Model::load_from(&mut TensorSource::new(device, &mut take).on_ranks(ranks), "").map_err(|error| match error {
        LoadError::Device { message, .. } => OpError::Device { op: "build", message }.into(),
        error => error.into(),
    })
}

/// Draws the initial values of each parameter, without keeping the parameters.
struct DrawParameters<'a, D, Keep> {
    device: &'a D,
    keep: Keep,
}

impl<E, D, Keep> TensorVisitor<E, D> for DrawParameters<'_, D, Keep>
where
    E: Element,
    D: Device<E>,
    Keep: FnMut(String, Vec<E>) -> Result<(), RanksError>,
{
    type Viewer = ViewPath;
    type Err = DistributedError;
    type E2 = E;
    type D2 = D;

    fn visit<S: Shape>(
        &mut self,
        options: TensorOptions<S, E, D>,
        path: String,
    ) -> Result<Option<Tensor<S, E, D>>, DistributedError> {
        let draw = || {
            let mut parameter = self.device.try_zeros_like(&options.shape)?;
            (options.reset)(&mut parameter)?;
            Ok(elements_of(&parameter))
        };
        (self.keep)(path, draw().map_err(device_error::<D::Err>("build"))?)?;
        Ok(None)
    }
}
