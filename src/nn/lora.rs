use super::init;
use crate::{
    backend::{Backend, Tape},
    dims::{ConstDim, Dim, LessThan},
    module,
    ops::{OpError, Real, try_add, try_linear, try_residual, try_scale},
    try_einsum,
};
use dfdx::tensor::{PutTape, Tensor};
use typed_transformer_macros::panicking;

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
/// The adapted map is an argument, so a model of adapters trains them alone. `B` is 0 at first: the adapted map
/// then is the map itself.
///
/// ```
/// use typed_transformer::{doctest::*, nn::{Linear, Lora}, prelude::*};
/// dims! { pub Rank = 2; }
/// let device = Cpu::default();
/// let map = Linear::<EmbedDim, VocabSize, f32, Cpu>::build(&device);
/// let lora = Lora::<EmbedDim, VocabSize, Rank, f32, Cpu>::build(&device);
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = device.tensor(vec![1.0; 4 * 8]);
/// let y: Tensor<(Batch, SeqLen, VocabSize), f32, Cpu> = lora.forward(x.clone(), &map.weight, Some(&map.bias), 16.0);
/// assert_eq!(y.as_vec(), map.forward(x).as_vec());
/// ```
///
/// A model with other weights needs no change to be adapted: [`merged`](Self::merged) weights take the place of its
/// own, and a recorded pass gives the gradients of the adapters.
#[module(output = OutDim)]
pub struct Lora<InDim: ConstDim, OutDim: ConstDim, Rank: LowRank<InDim> + LowRank<OutDim>, E, D> {
    /// `A`.
    #[param(init::uniform::<InDim, _, _, _>)]
    pub a: Tensor<(Rank, InDim), E, D>,
    /// `B`.
    #[param(init::zeros)]
    pub b: Tensor<(OutDim, Rank), E, D>,
}

impl<InDim: ConstDim, OutDim: ConstDim, Rank: LowRank<InDim> + LowRank<OutDim>, E: Real, D: Backend<E>>
    Lora<InDim, OutDim, Rank, E, D>
{
    /// The output of the adapted map: `(B, S, InDim), (OutDim, InDim), (OutDim) -> (B, S, OutDim)`.
    ///
    /// # Errors
    /// [`OpError::Device`] if the device fails.
    #[panicking]
    pub fn try_forward<B: Dim, S: Dim, T: Tape<E, D>>(
        &self,
        input: Tensor<(B, S, InDim), E, D, T>,
        weight: &Tensor<(OutDim, InDim), E, D>,
        bias: Option<&Tensor<(OutDim,), E, D>>,
        alpha: f64,
    ) -> Result<Tensor<(B, S, OutDim), E, D, T>, OpError> {
        let mapped = try_linear(input.clone(), weight, bias)?;
        let change = try_linear(try_linear(input, &self.a, None)?, &self.b, None)?;
        try_residual(mapped, try_scale(change, alpha / Rank::SIZE as f64)?)
    }

    /// The weight of the adapted map, `W + (alpha / Rank) · B A`: `(OutDim, InDim) -> (OutDim, InDim)`. `tape` records
    /// the operations for gradients of the adapter.
    ///
    /// # Errors
    /// [`OpError::Device`] if the device fails.
    ///
    /// ```
    /// use typed_transformer::{doctest::*, models::llama::Llama, module, nn::Lora, prelude::*};
    /// use dfdx::tensor::SplitTape;
    /// dims! { pub Rank = 1; }
    /// #[module]
    /// struct Adapters<E, D> {
    ///     #[layers(NumLayers::SIZE)]
    ///     gates: Vec<Lora<EmbedDim, HiddenDim, Rank, E, D>>,
    /// }
    ///
    /// let device = Cpu::default();
    /// let base = Llama::<Small, f32, Cpu>::build(&device);
    /// let adapters = Adapters::<f32, Cpu>::build(&device);
    /// let (mut adapted, mut tape) = (base.clone(), adapters.recording());
    /// for (layer, gate) in adapted.layers.iter_mut().zip(&adapters.gates) {
    ///     let weight = gate.merged(&layer.feed_forward.gate, 16.0, tape);
    ///     (layer.feed_forward.gate, tape) = weight.split_tape();
    /// }
    /// let ids = TokenIds::from_ids(&[7, 4, 24, 0], None, (Batch, SeqLen))?;
    /// let loss = cross_entropy(adapted.forward(&ids, tape), &ids, Reduction::MeanAll);
    /// let mut gradients = loss.backward();
    /// assert!(gradients.of(&adapters.gates[0].b)?.as_vec().iter().any(|gradient| *gradient != 0.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[panicking]
    pub fn try_merged<T: Tape<E, D>>(
        &self,
        weight: &Tensor<(OutDim, InDim), E, D>,
        alpha: f64,
        tape: T,
    ) -> Result<Tensor<(OutDim, InDim), E, D, T>, OpError> {
        let b = self.b.clone().put_tape(tape);
        let change = try_einsum!(b: (OutDim, Rank), &self.a: (Rank, InDim) -> (OutDim, InDim))?;
        try_add(try_scale(change, alpha / Rank::SIZE as f64)?, weight)
    }
}
