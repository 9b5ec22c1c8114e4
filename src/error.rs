//! The error of operations, and how errors print.

use crate::{dims::DimError, ranks::RanksError, tokens::TokenError};
use dfdx::shapes::Shape;
use std::fmt::{Debug, Display};

/// The `Debug` of a type in few words. A derived one would need more bounds, or print what nobody needs.
macro_rules! debug_as {
    ([$($generics:tt)*] $Type:ty, |$value:pat_param, $f:ident| $write:expr $(,)?) => {
        impl<$($generics)*> std::fmt::Debug for $Type {
            fn fmt(&self, $f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let $value = self;
                $write
            }
        }
    };
}
pub(crate) use debug_as;

/// The `Debug` of an error is its sentence, because that is what `main` and `unwrap` print.
macro_rules! debug_by_sentence {
    ($error:ty) => {
        crate::error::debug_as!([] $error, |this, f| std::fmt::Display::fmt(this, f));
    };
}
pub(crate) use debug_by_sentence;

/// An error that types cannot rule out: a run-time size, a rate, a number or the device.
///
/// ```
/// use typed_transformer::{ops::{OpError, dropout}, prelude::*};
/// let x: Tensor<(Const<2>,), f32, Cpu> = Cpu::default().zeros();
/// let error = dropout(x, 1.5).unwrap_err();
/// assert_eq!(error, OpError::DropoutRate { rate: 1.5 });
/// assert_eq!(
///     error.to_string(),
///     "dropout: the rate must be at least 0 and less than 1, but it is 1.5",
/// );
/// ```
#[derive(Clone, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the fields of a variant are the words of its sentence")]
pub enum OpError {
    /// A run-time dimension has one size in one operand and another size in the other.
    #[error("{op}: {source}")]
    Dim { op: &'static str, source: DimError },
    /// A run-time dimension has one size in one shape and another size in the other.
    #[error("{op}: shape {from} is not compatible with {to}")]
    Shape { op: &'static str, from: String, to: String },
    /// A tensor is made of another number of elements than its shape has.
    #[error("{op}: {found} elements given, but {dims} has {expected}")]
    Elements { op: &'static str, dims: String, expected: usize, found: usize },
    /// The number of tensors is not the size of the axis along which they are stacked.
    #[error("{op}: {found} tensors for {expected}")]
    Count { op: &'static str, expected: String, found: usize },
    /// A part of an axis reaches beyond the axis.
    #[error("{op}: {part} from {start} on is not inside {whole}")]
    Range { op: &'static str, part: String, start: usize, whole: String },
    /// A prompt has padding before a token, or no token. Row and position count from 0.
    #[error("{op}: prompt {row} has padding at position {position}, but padding stands only behind its tokens")]
    Padding { op: &'static str, row: usize, position: usize },
    /// A text ends in padding where the logits of its next token are wanted.
    #[error(
        "next logits: row {row} ends in padding, and its logits would be those after the padding; `Generation` takes \
         texts of different lengths; a token that is also the padding, as the start of a T5, is given without padding"
    )]
    EndsInPadding { row: usize },
    /// A number that a caller sets is out of its range: the base or the scaling of rotary positions, or the length
    /// penalty of a beam search.
    #[error("{op}: {name} must be {expected}, but it is {found}")]
    Setting { op: &'static str, name: &'static str, expected: &'static str, found: f64 },
    /// An index is not below the size of its axis.
    #[error("{op}: {index} is not an index of {axis}")]
    Index { op: &'static str, index: usize, axis: String },
    /// A shape has no elements, so dfdx's operations would panic; or a list is empty that must not be.
    #[error("{op}: {dims} has no elements")]
    Empty { op: &'static str, dims: String },
    /// A mean over the tokens of all ranks needs their number, but a rank knows only the number of its own.
    #[error(
        "partial cross-entropy: a rank does not know the number of tokens of the others; `tensor_parallel::scale` \
         divides the term of `Reduction::Sum` by the number of all"
    )]
    TokensOfRanks,
    /// A shard does not know the size of the whole dimension, because a shape was made from sizes alone.
    #[error("{op}: the whole size of {dim} is not known; `Ranks::shard` makes a shard that knows it")]
    Whole { op: &'static str, dim: String },
    /// A dropout rate is not a probability below 1.
    #[error("dropout: the rate must be at least 0 and less than 1, but it is {rate}")]
    DropoutRate { rate: f64 },
    /// The random numbers of heads depend on their place among all heads, which the type of a shard does not say.
    #[error(
        "attention: dropout does not know which heads `{heads}` are; `multi_head_attention` and \
         `grouped_query_attention` of `tensor_parallel` take the ranks, and drop what one rank would drop"
    )]
    ShardedDropout { heads: String },
    /// The random number of an element depends on its place in the whole tensor, which a shard's type does not say.
    #[error(
        "dropout: a rank has its part of `{dims}`, and all ranks would drop the same places of their parts; \
         `Step::assign_rows` or `DropoutSeed::assign_rows` gives a part of a batch whose rows have the numbers of the \
         whole batch"
    )]
    DropoutOfShard { dims: String },
    /// The amount of label smoothing is not a probability.
    #[error("cross-entropy: label smoothing must be between 0 and 1, but it is {smoothing}")]
    Smoothing { smoothing: f64 },
    /// A layer makes a token outside its vocabulary, or an index outside its axis.
    #[error("indices: {source}")]
    Token {
        #[from]
        source: TokenError,
    },
    /// There is no highest element.
    #[error("{op}: every element is NaN or -inf")]
    NotANumber { op: &'static str },
    /// A hyperparameter has a value with which no training can learn.
    #[error("update: {name} must be {expected}, but it is {found}")]
    Hyperparameter { name: &'static str, expected: &'static str, found: f64 },
    /// The backward pass of a recorded pass has run, and a tensor of the pass was used again.
    #[error("backward: the backward pass of this recording has run; a new pass needs `model.recording()` again")]
    Backward,
    /// One loss joins two recordings that add to different gradients, as those of two calls of
    /// [`GradientsOf::into_recording`](crate::train::GradientsOf::into_recording) do.
    #[error(
        "backward: two recordings that add to gradients meet; one of them is to be that of `gradients.into_recording()`, \
         and the other a clone of it or `model.recording()`"
    )]
    TwoAccumulators,
    /// The gradient of a tensor was not kept. A pass keeps those of parameters and inputs. A pass that adds to
    /// [`GradientsOf::zeros`](crate::train::GradientsOf::zeros) keeps those of parameters alone, and so does a sum over
    /// ranks.
    #[error(
        "gradient: that of this tensor over `{dims}` is not kept; a pass keeps those of its inputs and parameters, and \
         `GradientsOf::zeros` and `all_reduce` those of the model's parameters alone"
    )]
    NoGradient { dims: String },
    /// The gradients of a model are not finite, so the model is not updated.
    #[error("update: the gradients are not finite (norm {norm})")]
    Gradient { norm: f64 },
    /// The loss does not depend on some parameters. `parameters` are their field paths. A parameter that is passed by
    /// reference to arithmetic, `where_`, [`einsum!`](crate::einsum!) or an operation without a kernel counts as used
    /// as soon as it is read.
    #[error(
        "update: no gradient reached {}: the loss must depend on every parameter, by the tape of its own pass; \
         `gradients.allow_unused(&model.part)` lets the parameters of a part be unused",
        listed(parameters)
    )]
    Unused { parameters: Vec<String> },
    /// Two trained parameters, neither of them frozen, are clones of one tensor. `first` and `second` are their field
    /// paths.
    #[error(
        "update: `{first}` and `{second}` are clones of one tensor, so they have one gradient; build one of them \
         anew, or have one field for both"
    )]
    Clones { first: String, second: String },
    /// The gradients are those of another model of the same type: no parameter of this model has a gradient.
    #[error("the gradients were recorded for another `{model}`: no parameter of this one has a gradient")]
    OtherModel { model: String },
    /// A cache was made for another model, and holds the keys and values of that model.
    #[error("cache: it was made for another model, whose keys and values it holds")]
    OtherCache,
    /// A cache has positions that not all layers have filled, as after an error in a step of decoding.
    #[error("cache: {reserved} positions are reserved, but a layer has filled {filled}; decode with another cache")]
    UnfilledCache { reserved: usize, filled: usize },
    /// One rank alone would change its part of a model that is divided among ranks. `parameter` is the field path of
    /// the first divided parameter.
    #[error(
        "update: each rank has its part of `{parameter}`, a tensor over `{dims}`, and would change it alone; \
         `Distributed` holds such a model, and `update_sharded` changes it on all ranks"
    )]
    Sharded { parameter: String, dims: String },
    /// A collective operation of the ranks failed.
    #[error("{op}: {source}")]
    Ranks { op: &'static str, source: RanksError },
    /// The device failed, for example because a GPU is out of memory.
    #[error("{op}: {message}")]
    Device { op: &'static str, message: String },
}
debug_by_sentence!(OpError);

/// For `?` after a call that makes a mask or a length: no operation gives its name to this error.
///
/// ```
/// use typed_transformer::prelude::*;
/// dims! { pub MaxSeqLen = 16; pub SeqLen <= MaxSeqLen; }
/// let len = || -> Result<SeqLen, OpError> { Ok(SeqLen::new(17)?) };
/// assert_eq!(len().unwrap_err().to_string(), "dimension: `SeqLen` of 17 is longer than `MaxSeqLen` of 16");
/// ```
impl From<DimError> for OpError {
    fn from(source: DimError) -> Self {
        Self::Dim { op: "dimension", source }
    }
}

/// Adds the name of the operation to a mismatch of dimensions.
pub(crate) fn dim_error(op: &'static str) -> impl Fn(DimError) -> OpError {
    move |source| OpError::Dim { op, source }
}

/// Adds the name of the operation to a failure of the device.
pub(crate) fn device_error<Error: Display>(op: &'static str) -> impl Fn(Error) -> OpError {
    move |error| OpError::Device { op, message: error.to_string() }
}

/// The error of a part that reaches beyond the whole.
pub(crate) fn range_error(op: &'static str, part: &dyn Debug, start: usize, whole: &dyn Debug) -> OpError {
    OpError::Range { op, part: format!("{part:?}"), start, whole: format!("{whole:?}") }
}

/// Refuses a shape without elements.
pub(crate) fn ensure_not_empty<Dims: Shape>(op: &'static str, dims: &Dims) -> Result<(), OpError> {
    if dims.num_elements() == 0 {
        return Err(OpError::Empty { op, dims: format!("{dims:?}") });
    }
    Ok(())
}

/// Refuses `len` positions from `start` on, if they reach beyond `usize::MAX`.
pub(crate) fn ensure_positions(op: &'static str, start: usize, len: usize) -> Result<(), OpError> {
    if start.checked_add(len).is_none() {
        let (part, whole) = (format!("a sequence of {len}"), "the numbers of positions".into());
        return Err(OpError::Range { op, part, start, whole });
    }
    Ok(())
}

/// The first of some paths, and how many more there are.
fn listed(paths: &[String]) -> String {
    let shown: Vec<String> = paths.iter().take(3).map(|path| format!("`{path}`")).collect();
    match paths.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more parameters", shown.join(", ")),
    }
}
