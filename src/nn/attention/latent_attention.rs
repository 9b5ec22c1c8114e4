use crate::backend::{Backend, Tape};
use crate::dims::{Const, ConstDim, DataDim, Dim, Even, Product, Sum, along, axis};
use crate::mask::AttentionMask;
use crate::nn::{CacheUpdate, Heads, KeyValueCache, init};
use crate::ops::{
    AttentionOptions, AttentionScale, OpError, Real, Rotary, attend, broadcast, concat, linear, multi_head_attention,
    rms_norm, rotary_positions, rotate_heads, select, split,
};
use crate::{einsum, module, rearrange};
use dfdx::shapes::{ConstDim as _, HasShape};
use dfdx::tensor::{Cpu, Tensor};

/// The dimensions and the constants of a [`LatentAttention`].
///
/// ```
/// use typed_transformer::{doctest::*, nn::{LatentArch, LatentAttention}, prelude::*};
/// pub struct Tiny;
/// impl LatentArch for Tiny {
///     type EmbedDim = EmbedDim;
///     type NumHeads = NumHeads;
///     type QueryLatentDim = HiddenDim;
///     type LatentDim = TgtLen;
///     type PlainDim = HeadDim;
///     type RotaryDim = EvenHeads;
///     type ValueDim = HeadDim;
/// }
/// let attention = LatentAttention::<Tiny, f32, Cpu>::build(&Cpu::default());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not have the dimensions of a latent attention",
    label = "`{Self}` does not implement `LatentArch`",
    note = "implement `LatentArch` for an empty struct of your own, with one line per dimension"
)]
pub trait LatentArch: 'static {
    /// The width of the vector of a token.
    type EmbedDim: ConstDim;
    /// The number of heads.
    type NumHeads: ConstDim;
    /// The width of the vector from which the queries of a position are made: `q_lora_rank`.
    type QueryLatentDim: ConstDim;
    /// The width of the vector from which the keys and values of a position are made: `kv_lora_rank`.
    type LatentDim: ConstDim;
    /// The columns of a head's query and key that are not rotated: `qk_nope_head_dim`.
    type PlainDim: ConstDim;
    /// The columns of a head's query and key that are rotated by their position: `qk_rope_head_dim`.
    type RotaryDim: Even;
    /// The size of a head's value: `v_head_dim`.
    type ValueDim: ConstDim;
    /// The number that a norm adds to the mean square.
    const NORM_EPSILON: f64 = 1e-6;
    /// The rotary positions of queries and keys.
    const ROTARY: Rotary = Rotary::ROFORMER;

    /// The constants that saved parameters do not show, as names and values; files of weights store them.
    fn conventions() -> Vec<(&'static str, String)> {
        vec![("norm epsilon", Self::NORM_EPSILON.to_string()), ("rotary positions", format!("{:?}", Self::ROTARY))]
    }
}

type NumHeads<A> = <A as LatentArch>::NumHeads;
type PlainDim<A> = <A as LatentArch>::PlainDim;
type RotaryDim<A> = <A as LatentArch>::RotaryDim;
type LatentDim<A> = <A as LatentArch>::LatentDim;
type ValueDim<A> = <A as LatentArch>::ValueDim;
/// The columns of one head that all heads share.
type Shared<Columns> = Product<Const<1>, Columns>;
/// The columns of a head's query, and of its key.
type QueryDim<A> = Sum<PlainDim<A>, RotaryDim<A>>;
/// The columns of a head's key and value that are made of the latent vector.
type KeyAndValueDim<A> = Sum<PlainDim<A>, ValueDim<A>>;
/// The columns of a query that is compared with latent vectors.
type LatentQueryDim<A> = Sum<LatentDim<A>, RotaryDim<A>>;

/// The heads of a [`LatentCache`]: one, whose key is the rotated key of a position and whose value is its latent
/// vector.
///
/// ```
/// use typed_transformer::{doctest::*, nn::{CachedHeads, LatentHeads}, prelude::*};
/// assert_eq!(<LatentHeads<Small> as CachedHeads>::VODim::SIZE, 3);
/// ```
pub type LatentHeads<A> = Heads<Const<1>, RotaryDim<A>, LatentDim<A>, A>;

/// The latent vectors and the rotated keys of the earlier positions of a [`LatentAttention`]: `LatentDim + RotaryDim`
/// numbers a position, whatever the number of heads.
///
/// ```
/// use typed_transformer::{doctest::*, nn::LatentCache, prelude::*};
/// let cache = LatentCache::<Batch, MaxSeqLen, Small, f32, Cpu>::new(&Cpu::default(), Batch)?;
/// assert!(cache.is_empty());
/// # Ok::<(), OpError>(())
/// ```
pub type LatentCache<B, MaxLen, A, E = f32, D = Cpu> = KeyValueCache<B, MaxLen, LatentHeads<A>, E, D>;

/// Multi-head latent attention ([DeepSeek-AI, 2024](https://arxiv.org/abs/2405.04434), 2.1): the keys and values of all
/// heads are linear maps of one short vector, which is all that a cache keeps beside one rotated key.
///
/// | in the paper, 2.1 and appendix C | in `modeling_deepseek_v3.py` | here |
/// | --- | --- | --- |
/// | `c_Q = W_DQ h`, `[q_C; q_R] = W_UQ c_Q` | `q_a_proj`, `q_a_layernorm`, `q_b_proj` | `query_down`, `query_norm`, `query_up` |
/// | `c_KV = W_DKV h`, `k_R = RoPE(W_KR h)` | `kv_a_proj_with_mqa`, `kv_a_layernorm` | `down`, `norm` |
/// | `k_C = W_UK c_KV`, `v_C = W_UV c_KV` | `kv_b_proj` | `up` |
/// | `u = W_O [o_1; ..; o_H]` | `o_proj` | `output` |
///
/// ```
/// use typed_transformer::{doctest::*, nn::{LatentAttention, LatentCache}, prelude::*};
/// let device = Cpu::seed_from_u64(0);
/// let attention = LatentAttention::<Small, f32, Cpu>::build(&device);
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = device.sample_normal();
/// let mask = mk_mask::<CausalMask, PadSourceKeys, _, _>(&PaddingMask::without_padding((Batch, SeqLen)));
/// let whole: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = attention.forward(x.clone(), 0, &mask, Ok)?;
///
/// let mut cache = LatentCache::<Batch, MaxSeqLen, Small, f32, Cpu>::new(&device, Batch)?;
/// let cached = attention.forward(x, cache.len(), &cache.mask(SeqLen), |new| cache.update(new))?;
/// assert!(whole.as_vec().iter().zip(cached.as_vec()).all(|(x, y)| (x - y).abs() < 1e-5));
/// # Ok::<(), OpError>(())
/// ```
#[module(conventions = A, output = A::EmbedDim)]
pub struct LatentAttention<A: LatentArch, E, D> {
    /// To the vector from which the queries are made.
    #[param(init::linear)]
    pub query_down: Tensor<(A::QueryLatentDim, A::EmbedDim), E, D>,
    /// The weight of the norm of that vector.
    #[param(init::ones)]
    pub query_norm: Tensor<(A::QueryLatentDim,), E, D>,
    /// To the queries of all heads.
    #[param(init::linear)]
    pub query_up: Tensor<(Product<A::NumHeads, QueryDim<A>>, A::QueryLatentDim), E, D>,
    /// To the latent vector, and to the key that is rotated.
    #[param(init::linear)]
    pub down: Tensor<(Sum<Shared<LatentDim<A>>, Shared<RotaryDim<A>>>, A::EmbedDim), E, D>,
    /// The weight of the norm of the latent vector.
    #[param(init::ones)]
    pub norm: Tensor<(Shared<LatentDim<A>>,), E, D>,
    /// From the latent vector to the keys and values of all heads.
    #[param(init::linear)]
    pub up: Tensor<(Product<A::NumHeads, KeyAndValueDim<A>>, Shared<LatentDim<A>>), E, D>,
    /// Mixes the outputs of the heads.
    #[param(init::linear)]
    pub output: Tensor<(A::EmbedDim, Product<A::NumHeads, ValueDim<A>>), E, D>,
}

/// The queries of `S` positions in two parts: plain and rotated columns.
type Queries<B, S, A, E, D, T> = (
    Tensor<(B, S, <A as LatentArch>::NumHeads, PlainDim<A>), E, D, T>,
    Tensor<(B, S, <A as LatentArch>::NumHeads, RotaryDim<A>), E, D, T>,
);
/// The rotated key and the latent vector of `S` positions.
type KeyAndLatent<B, S, A, E, D, T> =
    (Tensor<(B, S, Shared<RotaryDim<A>>), E, D, T>, Tensor<(B, S, Shared<LatentDim<A>>), E, D, T>);
/// The outputs of all heads.
type Outputs<B, S, A, E, D, T> = Tensor<(B, S, Product<<A as LatentArch>::NumHeads, ValueDim<A>>), E, D, T>;

impl<A: LatentArch, E: Real, D: Backend<E>> LatentAttention<A, E, D> {
    /// `(B, Q, EmbedDim), mask (B, Q, K) -> (B, Q, EmbedDim)` for positions from `start` on. `update_cache` prepends the
    /// cached keys and latent vectors.
    ///
    /// Two ways have the same result: to make the keys and values of all positions from the latent vectors, or to
    /// attend to the latent vectors themselves. `forward` takes the way with fewer multiplications: the first for a
    /// whole text, the second for a step of decoding.
    ///
    /// # Errors
    /// Those of `update_cache`.
    pub fn forward<B: DataDim, Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, Q, A::EmbedDim), E, D, T>,
        start: usize,
        mask: &AttentionMask<B, Q, K>,
        update_cache: impl CacheUpdate<B, Q, K, LatentHeads<A>, E, D, T>,
    ) -> Result<Tensor<(B, Q, A::EmbedDim), E, D, T>, OpError> {
        let query = rms_norm(linear(x.clone(), &self.query_down, None)?, &self.query_norm, A::NORM_EPSILON)?;
        let query = linear(query, &self.query_up, None)?;
        let query = rearrange!(query: (B, Q, Product<NumHeads<A>, QueryDim<A>>) -> (B, Q, NumHeads<A>, QueryDim<A>))?;
        let (plain, rotated) =
            split(query, PlainDim::<A>::default(), RotaryDim::<A>::default(), axis::<QueryDim<A>>())?;
        let rotated = rotary_positions(rotated, axis::<Q>(), start, A::ROTARY)?;

        let down = linear(x, &self.down, None)?;
        let both = axis::<Sum<Shared<LatentDim<A>>, Shared<RotaryDim<A>>>>();
        let (latent, key) = split(down, Shared::default(), Shared::default(), both)?;
        let latent = rms_norm(latent, &self.norm, A::NORM_EPSILON)?;
        let key = rotate_heads::<_, _, _, RotaryDim<A>, _, _, _>(key, start, A::ROTARY)?;
        let keys = update_cache((key, latent))?;

        let attended = match is_shorter_by_latents::<A>(mask.shape().1.size(), mask.shape().2.size()) {
            true => self.attend_to_latents((plain, rotated), keys, mask)?,
            false => self.attend_to_heads((plain, rotated), keys, mask)?,
        };
        linear(attended, &self.output, None)
    }

    /// Attention to the keys of each head, which are made of the latent vectors.
    fn attend_to_heads<B: DataDim, Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        (plain, rotated): Queries<B, Q, A, E, D, T>,
        (key, latent): KeyAndLatent<B, K, A, E, D, T>,
        mask: &AttentionMask<B, Q, K>,
    ) -> Result<Outputs<B, Q, A, E, D, T>, OpError> {
        let (batch, len, _) = *latent.shape();
        let made = linear(latent, &self.up, None)?;
        let made = rearrange!(made: (B, K, Product<NumHeads<A>, KeyAndValueDim<A>>) -> (B, K, NumHeads<A>, KeyAndValueDim<A>))?;
        let (plain_key, value) =
            split(made, PlainDim::<A>::default(), ValueDim::<A>::default(), axis::<KeyAndValueDim<A>>())?;
        let key = rearrange!(key: (B, K, Product<Const<1>, RotaryDim<A>>) -> (B, K, Const<1>, RotaryDim<A>))?;
        let key = select(key, axis::<Const<1>>(), 0)?;
        let shape = (batch, len, NumHeads::<A>::default(), RotaryDim::<A>::default());
        let rotated_key = broadcast(key, shape, axis::<NumHeads<A>>())?;

        let query = concat(plain, rotated, along::<PlainDim<A>, RotaryDim<A>>())?;
        let query = rearrange!(query: (B, Q, NumHeads<A>, QueryDim<A>) -> (B, Q, Product<NumHeads<A>, QueryDim<A>>))?;
        let key = concat(plain_key, rotated_key, along::<PlainDim<A>, RotaryDim<A>>())?;
        let key = rearrange!(key: (B, K, NumHeads<A>, QueryDim<A>) -> (B, K, Product<NumHeads<A>, QueryDim<A>>))?;
        let value = rearrange!(value: (B, K, NumHeads<A>, ValueDim<A>) -> (B, K, Product<NumHeads<A>, ValueDim<A>>))?;
        multi_head_attention(query, key, value, mask, AttentionOptions::default())
    }

    /// Attention to the latent vectors, which are the keys and the values of one head that all queries share. The map
    /// from latent vectors to keys is applied to the queries instead, because `q · (W_UK c) = (W_UKᵀ q) · c`, and the
    /// map to values is applied to the outputs.
    fn attend_to_latents<B: DataDim, Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        (plain, rotated): Queries<B, Q, A, E, D, T>,
        (key, latent): KeyAndLatent<B, K, A, E, D, T>,
        mask: &AttentionMask<B, Q, K>,
    ) -> Result<Outputs<B, Q, A, E, D, T>, OpError> {
        let up = self.up.retaped::<T>();
        let up = rearrange!(up: (Product<NumHeads<A>, KeyAndValueDim<A>>, Product<Const<1>, LatentDim<A>>) -> (NumHeads<A>, KeyAndValueDim<A>, Const<1>, LatentDim<A>))?;
        let up = select(up, axis::<Const<1>>(), 0)?;
        let (key_up, value_up) =
            split(up, PlainDim::<A>::default(), ValueDim::<A>::default(), axis::<KeyAndValueDim<A>>())?;
        let query = einsum!(
            plain: (B, Q, NumHeads<A>, PlainDim<A>), key_up: (NumHeads<A>, PlainDim<A>, LatentDim<A>)
                -> (B, Q, NumHeads<A>, LatentDim<A>)
        )?;
        let query = concat(query, rotated, along::<LatentDim<A>, RotaryDim<A>>())?;
        let query = rearrange!(query: (B, Q, NumHeads<A>, LatentQueryDim<A>) -> (B, Q, Product<NumHeads<A>, LatentQueryDim<A>>))?;

        let head = latent.clone();
        let head = rearrange!(head: (B, K, Product<Const<1>, LatentDim<A>>) -> (B, K, Const<1>, LatentDim<A>))?;
        let key = rearrange!(key: (B, K, Product<Const<1>, RotaryDim<A>>) -> (B, K, Const<1>, RotaryDim<A>))?;
        let key = concat(head, key, along::<LatentDim<A>, RotaryDim<A>>())?;
        let key = rearrange!(key: (B, K, Const<1>, LatentQueryDim<A>) -> (B, K, Product<Const<1>, LatentQueryDim<A>>))?;

        let scale = AttentionScale::Constant(1.0 / (QueryDim::<A>::SIZE as f64).sqrt());
        let options = AttentionOptions { scale, ..AttentionOptions::default() };
        let attended = attend(query, key, latent, mask, options, None)?;
        let attended =
            rearrange!(attended: (B, Q, Product<NumHeads<A>, LatentDim<A>>) -> (B, Q, NumHeads<A>, LatentDim<A>))?;
        let output = einsum!(
            attended: (B, Q, NumHeads<A>, LatentDim<A>), value_up: (NumHeads<A>, ValueDim<A>, LatentDim<A>)
                -> (B, Q, NumHeads<A>, ValueDim<A>)
        )?;
        rearrange!(output: (B, Q, NumHeads<A>, ValueDim<A>) -> (B, Q, Product<NumHeads<A>, ValueDim<A>>))
    }
}

/// Whether attention to the latent vectors takes fewer multiplications than attention to the keys and values of each
/// head.
fn is_shorter_by_latents<A: LatentArch>(queries: usize, keys: usize) -> bool {
    let (latent, head) = (LatentDim::<A>::SIZE, KeyAndValueDim::<A>::SIZE);
    queries * (latent * head + keys * 2 * latent) < keys * latent * head + queries * keys * head
}
