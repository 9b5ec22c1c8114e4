// The program of *From a paper to a module* (`docs/llama.md`), in one piece.

use typed_transformer::{
    nn::{Conventions, NormKind, NormPlacement, RotaryPositions, init},
    ops::{Activation, Rotary, Silu, add, div, full, grouped_query_attention, linear, mul, rename, rotary_positions},
    prelude::*,
};

dims! {
    /// Width of the vector of a token.
    EmbedDim = 64;
    /// Heads of the queries.
    NumHeads = 8;
    /// Heads of the keys and of the values.
    NumKeyValueHeads = 2;
    /// Width of a query and of a key in a head.
    QKDim = EmbedDim::SIZE / NumHeads::SIZE;
    /// Width of a value in a head.
    VODim = EmbedDim::SIZE / NumHeads::SIZE;
    /// Width of the gate of the feed-forward layer.
    GateDim = 172;
    /// Width inside the feed-forward layer.
    HiddenDim = 172;
}

/// Heads of the queries that share one head of the keys.
type GroupSize = Quotient<NumHeads, NumKeyValueHeads>;
type QueryHeads = Product<NumKeyValueHeads, GroupSize>;

/// `x / √(mean(x²) + ε) · weight`
#[module(output = EmbedDim)]
struct RmsNorm<E, D> {
    #[param(init::ones)]
    weight: Tensor<(EmbedDim,), E, D>,
}

impl<E: Real, D: Backend<E>> RmsNorm<E, D> {
    fn forward<B: Dim, S: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, S, EmbedDim), E, D, T>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        let squares = x.clone().square();
        let mean: Tensor<(B, S), E, D, T> = mean_over(squares, axis::<EmbedDim>())?;
        let epsilon = full(x.device(), (), 1e-5)?;
        mul(div(x, add(mean, &epsilon)?.sqrt())?, &self.weight)
    }
}

/// Rotates queries or keys by their positions: `(B, S, Product<H, QKDim>) -> (B, S, Product<H, QKDim>)`.
fn rotated<B: Dim, S: Dim, H: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    x: Tensor<(B, S, Product<H, QKDim>), E, D, T>,
) -> Result<Tensor<(B, S, Product<H, QKDim>), E, D, T>, OpError> {
    let rotary = Rotary::halves(10_000.0);
    let heads = rearrange!(x: (B, S, Product<H, QKDim>) -> (B, S, H, QKDim))?;
    rearrange!(rotary_positions(heads, axis::<S>(), 0, rotary)?: (B, S, H, QKDim) -> (B, S, Product<H, QKDim>))
}

/// Attention in which groups of `GroupSize` query heads share one head of the keys and of the values.
#[module(output = EmbedDim)]
struct Attention<Mask: MaskKind, E, D> {
    #[param(init::linear)]
    query: Tensor<(Product<QueryHeads, QKDim>, EmbedDim), E, D>,
    #[param(init::linear)]
    key: Tensor<(Product<NumKeyValueHeads, QKDim>, EmbedDim), E, D>,
    #[param(init::linear)]
    value: Tensor<(Product<NumKeyValueHeads, VODim>, EmbedDim), E, D>,
    #[param(init::linear)]
    output: Tensor<(EmbedDim, Product<QueryHeads, VODim>), E, D>,
}

impl<Mask: MaskKind, E: Real, D: Backend<E>> Attention<Mask, E, D> {
    fn forward<B: Dim, S: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, S, EmbedDim), E, D, T>,
        padding: &PaddingMask<B, S>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        let query = linear(x.clone(), &self.query, None)?;
        let key = linear(x.clone(), &self.key, None)?;
        let value = linear(x, &self.value, None)?;
        let mask = mk_mask::<Mask, PadQueriesAndKeys, _, _>(padding);
        let attended = grouped_query_attention(rotated(query)?, rotated(key)?, value, &mask, AttentionOptions::default())?;
        linear(attended, &self.output, None)
    }
}

/// The factor of the hidden vector: `silu(gate)`.
fn opening<B: Dim, S: Dim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    gate: Tensor<(B, S, GateDim), E, D, T>,
) -> Result<Tensor<(B, S, HiddenDim), E, D, T>, OpError> {
    rename(Silu::apply(gate)?, axis::<GateDim>(), HiddenDim)
}

/// `output(opening(gate(x)) · hidden(x))`: SwiGLU.
#[module(output = EmbedDim)]
struct FeedForward<E, D> {
    #[param(init::linear)]
    gate: Tensor<(GateDim, EmbedDim), E, D>,
    #[param(init::linear)]
    hidden: Tensor<(HiddenDim, EmbedDim), E, D>,
    #[param(init::linear)]
    output: Tensor<(EmbedDim, HiddenDim), E, D>,
}

impl<E: Real, D: Backend<E>> FeedForward<E, D> {
    fn forward<B: Dim, S: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, S, EmbedDim), E, D, T>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        let gate = linear(x.clone(), &self.gate, None)?;
        let hidden = linear(x, &self.hidden, None)?;
        linear(mul(opening(gate)?, hidden)?, &self.output, None)
    }
}

/// Attention and feed-forward layer, each with a norm before it and a residual around it.
#[module(output = EmbedDim)]
struct Block<E, D> {
    attention_norm: RmsNorm<E, D>,
    attention: Attention<CausalMask, E, D>,
    feed_forward_norm: RmsNorm<E, D>,
    feed_forward: FeedForward<E, D>,
}

impl<E: Real, D: Backend<E>> Block<E, D> {
    fn forward<B: Dim, S: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, S, EmbedDim), E, D, T>,
        padding: &PaddingMask<B, S>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        let normalized = self.attention_norm.forward(x.clone())?;
        let x = residual(x, self.attention.forward(normalized, padding)?)?;
        let normalized = self.feed_forward_norm.forward(x.clone())?;
        residual(x, self.feed_forward.forward(normalized)?)
    }
}

/// The dimensions and the conventions of the block.
struct Llama;

impl Conventions for Llama {
    type Activation = Silu;
    type Positions = RotaryPositions;
    type PaddingRule = PadQueriesAndKeys;
    const NORM: NormKind = NormKind::RmsNorm;
    const NORM_PLACEMENT: NormPlacement = NormPlacement::Pre;
    const FEED_FORWARD_BIAS: bool = false;
    const ROTARY: Option<Rotary> = Some(Rotary::halves(10_000.0));
}

impl Arch for Llama {
    type NumHeads = QueryHeads;
    type QKDim = QKDim;
    type VODim = VODim;
    type HiddenDim = HiddenDim;
    type Conventions = Llama;
}

impl GroupedQuery for Llama {
    type NumKeyValueHeads = NumKeyValueHeads;
    type GroupSize = GroupSize;
}
