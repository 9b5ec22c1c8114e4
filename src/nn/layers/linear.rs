use crate::backend::{Backend, Tape};
use crate::dims::{ConstDim, DataShape, EndsIn, Factor, LessThan};
use crate::nn::group::ProcessGroup;
use crate::nn::{Arch, Conventions, Precision, Weight, init};
use crate::ops::collective::sum_of_terms;
use crate::ops::{OpError, Real, add, add_bias, linear, linear_of_parts, reshape_to, residual, scale};
use crate::ranks::Entered;
use crate::{einsum, module};
use dfdx::shapes::HasShape;
use dfdx::tensor::{PutTape, Tensor};
use std::marker::PhantomData;

/// `x Wᵀ + b`: a linear map of the vector at each position. Each rank has all of it; ranks can divide a [`Projection`].
///
/// ```
/// use typed_transformer::{nn::Linear, prelude::*};
/// dims! { pub EmbedDim = 8; pub HiddenDim = 5; pub SeqLen = 3; pub Batch = 2; }
/// let device = Cpu::default();
/// let hidden = Linear::<EmbedDim, HiddenDim, f32, Cpu>::build(&device);
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = device.zeros();
/// let y: Tensor<(Batch, SeqLen, HiddenDim), f32, Cpu> = hidden.forward(x)?;
/// # Ok::<(), OpError>(())
/// ```
#[module(output = OutDim)]
pub struct Linear<InDim: ConstDim, OutDim: ConstDim, E, D, P: Precision> {
    /// `W`.
    #[param(init::linear)]
    pub weight: Weight<(OutDim, InDim), E, D, P>,
    /// `b`.
    #[param(init::uniform::<InDim, _, _, _>)]
    pub bias: Tensor<(OutDim,), E, D>,
}

impl<InDim: ConstDim, OutDim: ConstDim, E: Real, D: Backend<E>, P: Precision> Linear<InDim, OutDim, E, D, P> {
    /// `(.., InDim) -> (.., OutDim)`, for tensors of 1 to 6 axes.
    pub fn forward<Dims: EndsIn<InDim, Before: DataShape>, T: Tape<E, D>>(
        &self,
        input: Tensor<Dims, E, D, T>,
    ) -> Result<Tensor<Dims::WithLast<OutDim>, E, D, T>, OpError> {
        P::linear(input, &self.weight, Some(&self.bias))
    }
}

/// Decides whether a [`Projection`] has a bias: [`AttentionProjection`] or [`FeedForwardProjection`].
///
/// ```
/// use typed_transformer::{doctest::*, nn::{Projection, ProjectionRule}, prelude::*};
/// pub struct WithBias;
/// impl ProjectionRule for WithBias {
///     type Arch = Model;
///     const BIAS: bool = true;
/// }
/// let layer = Projection::<EmbedDim, HiddenDim, WithBias, f32, Cpu>::build(&Cpu::default());
/// assert!(layer.bias.is_some());
/// ```
pub trait ProjectionRule: 'static {
    /// The configuration whose conventions the projection follows.
    type Arch: Arch;
    /// Whether the projection has a bias.
    const BIAS: bool;
}

/// The rule of the projections of an attention layer: they have a bias if [`Conventions::ATTENTION_BIAS`] of `A` is
/// true.
///
/// ```
/// use typed_transformer::{doctest::*, nn::{AttentionProjection, ProjectionRule}};
/// assert!(!AttentionProjection::<Model>::BIAS);
/// ```
pub struct AttentionProjection<A>(PhantomData<fn() -> A>);

/// The rule of the projections of a feed-forward layer: they have a bias if [`Conventions::FEED_FORWARD_BIAS`] of `A`
/// is true.
///
/// ```
/// use typed_transformer::{doctest::*, nn::{FeedForwardProjection, ProjectionRule}};
/// assert!(FeedForwardProjection::<Model>::BIAS);
/// ```
pub struct FeedForwardProjection<A>(PhantomData<fn() -> A>);

impl<A: Arch> ProjectionRule for AttentionProjection<A> {
    type Arch = A;
    const BIAS: bool = A::Conventions::ATTENTION_BIAS;
}
impl<A: Arch> ProjectionRule for FeedForwardProjection<A> {
    type Arch = A;
    const BIAS: bool = A::Conventions::FEED_FORWARD_BIAS;
}

/// `x Wᵀ + b`: a linear map inside a block. The conventions decide whether it has the bias.
///
/// ```
/// use typed_transformer::{models::another_annotated::Annotated, nn::{AttentionProjection, Module, Projection}, prelude::*};
/// dims! { pub EmbedDim = 8; pub NumHeads = 7; pub HeadDim = 5; pub HiddenDim = 5; }
/// struct Biased;
/// impl Arch for Biased {
///     type NumHeads = NumHeads;
///     type QKDim = HeadDim;
///     type VODim = HeadDim;
///     type HiddenDim = HiddenDim;
///     type Conventions = Annotated;
/// }
/// type QueryProj = Projection<EmbedDim, Product<NumHeads, HeadDim>, AttentionProjection<Biased>, f32, Cpu>;
/// const _: () = assert!(QueryProj::NUM_PARAMS == 8 * 35 + 35);
/// ```
#[module(output = OutDim)]
pub struct Projection<InDim: Factor, OutDim: Factor, Rule: ProjectionRule, E, D> {
    /// `W`.
    #[param(init::weight::<Rule::Arch, _, _, _, _>)]
    pub weight: Tensor<(OutDim, InDim), E, D>,
    /// `b`.
    #[some_if(Rule::BIAS)]
    #[param(init::uniform::<InDim, _, _, _>)]
    pub bias: Option<Tensor<(OutDim,), E, D>>,
}

impl<InDim: ConstDim, OutDim: ConstDim, Rule: ProjectionRule, E: Real, D: Backend<E>>
    Projection<InDim, OutDim, Rule, E, D>
{
    /// `(.., InDim) -> (.., OutDim)`, for tensors of 1 to 6 axes.
    pub fn forward<Dims: EndsIn<InDim, Before: DataShape>, T: Tape<E, D>>(
        &self,
        input: Tensor<Dims, E, D, T>,
    ) -> Result<Tensor<Dims::WithLast<OutDim>, E, D, T>, OpError> {
        linear(input, &self.weight, self.bias.as_ref())
    }
}

impl<InDim: ConstDim, OutDim: Factor, Rule: ProjectionRule, E: Real, D: Backend<E>>
    Projection<InDim, OutDim, Rule, E, D>
{
    /// [`forward`](Self::forward) in which each rank computes its own output columns.
    pub(crate) fn column_parallel<Dims: EndsIn<InDim, Before: DataShape>, T: Tape<E, D>>(
        &self,
        input: Entered<Tensor<Dims, E, D, T>, OutDim::Axis>,
    ) -> Result<Tensor<Dims::WithLast<OutDim>, E, D, T>, OpError> {
        linear_of_parts(input.into_inner(), &self.weight, self.bias.as_ref())
    }
}

impl<InDim: Factor, OutDim: ConstDim, Rule: ProjectionRule, E: Real, D: Backend<E>>
    Projection<InDim, OutDim, Rule, E, D>
{
    /// [`forward`](Self::forward) of an input of which each rank has its own columns. The ranks sum their products.
    pub(crate) fn row_parallel<Dims: EndsIn<InDim, Before: DataShape>, T: Tape<E, D>>(
        &self,
        input: Tensor<Dims, E, D, T>,
        rank_group: &ProcessGroup<InDim::Axis, E, D>,
    ) -> Result<Tensor<Dims::WithLast<OutDim>, E, D, T>, OpError> {
        if ProcessGroup::<InDim::Axis, E, D>::ARE_RANKS {
            let term = linear_of_parts(input, &self.weight, None)?;
            let sum = sum_of_terms(term, rank_group.ranks("all-reduce")?)?;
            return if let Some(bias) = &self.bias { add_bias(sum, bias) } else { Ok(sum) };
        }
        linear_of_parts(input, &self.weight, self.bias.as_ref())
    }
}

/// The dimension is smaller than `Bound`. The rank of a [`Lora`] is smaller than both dimensions of its map.
///
/// ```
/// use typed_transformer::{nn::LowRank, prelude::*};
/// dims! { pub InDim = 8; pub OutDim = 6; pub Rank = 2; }
/// fn is_low<R: LowRank<InDim> + LowRank<OutDim>>() {}
/// is_low::<Rank>();
/// ```
#[diagnostic::on_unimplemented(
    message = "the rank `{Self}` is not smaller than `{Bound}`",
    label = "`{Self}` is not smaller than `{Bound}`",
    note = "the rank of a `Lora` is smaller than both dimensions of its map"
)]
pub trait LowRank<Bound: ConstDim>: ConstDim {}

#[diagnostic::do_not_recommend]
impl<Rank: LessThan<Bound>, Bound: ConstDim> LowRank<Bound> for Rank {}

/// Low-rank adaptation of a linear map: `x Wᵀ + b + (alpha / Rank) · (x Aᵀ) Bᵀ` ([Hu et al.,
/// 2021](https://arxiv.org/abs/2106.09685), 4.1).
///
/// The map is an argument of [`forward`](Self::forward), not a field, so a model of adapters trains them alone. `B` is
/// 0 at first: the adapted map then equals the map.
///
/// ```
/// use typed_transformer::{doctest::*, nn::{Linear, Lora}, prelude::*};
/// dims! { pub Rank = 2; }
/// let device = Cpu::default();
/// let map = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&device);
/// let lora = Lora::<EmbedDim, VocabSize, Rank, f32, Cpu>::build(&device);
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = device.tensor(vec![1.0; 4 * 8]);
/// let y: Tensor<(Batch, SeqLen, VocabSize), f32, Cpu> = lora.forward(x.clone(), &map.weight, Some(&map.bias), 16.0)?;
/// assert_eq!(y.as_vec(), map.forward(x)?.as_vec());
/// # Ok::<(), OpError>(())
/// ```
///
/// A model can be adapted without a change of its code: weights from [`merged`](Self::merged) replace its own, and a
/// recorded pass gives the gradients of the adapters.
#[module(output = OutDim)]
pub struct Lora<InDim: ConstDim, OutDim: ConstDim, Rank: LowRank<InDim> + LowRank<OutDim>, E, D> {
    /// `A`.
    #[param(init::linear)]
    pub a: Tensor<(Rank, InDim), E, D>,
    /// `B`.
    #[param(init::zeros)]
    pub b: Tensor<(OutDim, Rank), E, D>,
}

impl<InDim: ConstDim, OutDim: ConstDim, Rank: LowRank<InDim> + LowRank<OutDim>, E: Real, D: Backend<E>>
    Lora<InDim, OutDim, Rank, E, D>
{
    /// The output of the adapted map: `(.., InDim), (OutDim, InDim), (OutDim) -> (.., OutDim)`, for tensors of 1 to 6
    /// axes.
    pub fn forward<Dims: EndsIn<InDim, Before: DataShape>, T: Tape<E, D>>(
        &self,
        input: Tensor<Dims, E, D, T>,
        weight: &Tensor<(OutDim, InDim), E, D>,
        bias: Option<&Tensor<(OutDim,), E, D>>,
        alpha: f64,
    ) -> Result<Tensor<Dims::WithLast<OutDim>, E, D, T>, OpError> {
        residual(linear(input.clone(), weight, bias)?, self.change(input, alpha)?)
    }

    /// The term that the adapter adds to the output of its map, `(alpha / Rank) · (x Aᵀ) Bᵀ`:
    /// `(.., InDim) -> (.., OutDim)`. The map may have any precision.
    ///
    /// ```
    /// use typed_transformer::{doctest::*, nn::{Linear, Lora, Q8, WithPrecision}, prelude::*};
    /// dims! { pub Rank = 2; }
    /// let device = Cpu::default();
    /// let map = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&device).with_precision::<Q8>()?;
    /// let lora = Lora::<EmbedDim, VocabSize, Rank, f32, Cpu>::build(&device);
    /// let x: Tensor<(Batch, EmbedDim), f32, Cpu> = device.tensor(vec![1.0; 8]);
    /// let y: Tensor<(Batch, VocabSize), f32, Cpu> = residual(map.forward(x.clone())?, lora.change(x, 16.0)?)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn change<Dims: EndsIn<InDim, Before: DataShape>, T: Tape<E, D>>(
        &self,
        input: Tensor<Dims, E, D, T>,
        alpha: f64,
    ) -> Result<Tensor<Dims::WithLast<OutDim>, E, D, T>, OpError> {
        let shape = input.shape().with_last(OutDim::default());
        let change = linear(linear(input, &self.a, None)?, &self.b, None)?;
        // `WithLast<Rank>`, then `WithLast<OutDim>` is the same shape as `WithLast<OutDim>`, which the compiler does
        // not see.
        reshape_to("lora", scale(change, alpha / Rank::SIZE as f64)?, shape)
    }

    /// The weight of the adapted map, `W + (alpha / Rank) · B A`: `(OutDim, InDim) -> (OutDim, InDim)`. `tape` records
    /// the operations for gradients of the adapter.
    ///
    /// ```
    /// use typed_transformer::{doctest::*, models::llama::Llama, module, nn::Lora, prelude::*};
    /// dims! { pub Rank = 1; }
    /// #[module]
    /// struct Adapters<E, D> {
    ///     gates: Layers<NumLayers, Lora<EmbedDim, HiddenDim, Rank, E, D>>,
    /// }
    ///
    /// let device = Cpu::default();
    /// let base = Llama::<Small, f32, Cpu>::build(&device);
    /// let adapters = Adapters::<f32, Cpu>::build(&device);
    /// let (mut adapted, mut tape) = (base.clone(), adapters.recording());
    /// for (layer, gate) in adapted.layers.iter_mut().zip(&adapters.gates) {
    ///     let weight = gate.merged(&layer.feed_forward.gate, 16.0, tape)?;
    ///     (layer.feed_forward.gate, tape) = weight.split_tape();
    /// }
    /// let ids = TokenIds::from_ids(&[7, 4, 24, 0], None, (Batch, SeqLen))?;
    /// let (inputs, labels) = ids.teacher_forcing(Fin::literal::<26>());
    /// let loss = cross_entropy(adapted.forward(&inputs, tape)?, &labels, Reduction::MeanAll)?;
    /// let mut gradients = loss.backward()?;
    /// assert!(gradients.of(&adapters.gates[0].b)?.as_vec().iter().any(|gradient| *gradient != 0.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn merged<T: Tape<E, D>>(
        &self,
        weight: &Tensor<(OutDim, InDim), E, D>,
        alpha: f64,
        tape: T,
    ) -> Result<Tensor<(OutDim, InDim), E, D, T>, OpError> {
        let b = self.b.clone().put_tape(tape);
        let change = einsum!(b: (OutDim, Rank), &self.a: (Rank, InDim) -> (OutDim, InDim))?;
        add(scale(change, alpha / Rank::SIZE as f64)?, weight)
    }
}
