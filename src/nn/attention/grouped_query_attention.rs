use super::{SelfConventions, rotate, self_mask};
use crate::backend::{Backend, Tape};
use crate::dims::{ConstDim, DataDim, Dim, Divides, Factor, Product};
use crate::mask::{AttentionMask, CausalKind, MaskKind, PaddingMask};
use crate::module;
use crate::nn::group::HeadGroupOf;
use crate::nn::{
    Arch, AttentionProjection, CacheUpdate, Conventions, Heads, KeyValueCache, Norm, Projection, residual_norm, rotary,
};
use crate::ops::{OpError, Real};
use crate::ranks::{ConstRankAxis, Shard};
use dfdx::shapes::HasShape;
use dfdx::tensor::{Cpu, Tensor};

/// An [`Arch`] whose attention has fewer heads for keys and values than for queries:
/// `NumHeads = Product<NumKeyValueHeads, GroupSize>`.
///
/// The query heads form `NumKeyValueHeads` groups of `GroupSize` heads. Groups of 1 head are multi-head attention. A
/// single group is multi-query attention ([Shazeer, 2019](https://arxiv.org/abs/1911.02150)). With [rotary
/// positions](crate::ops::rotary_positions), which use columns in pairs, the size of a head is even.
///
/// ```
/// use typed_transformer::{doctest::{Batch, EmbedDim, HiddenDim, MaxSeqLen, SeqLen}, nn::*, prelude::*};
/// dims! { pub NumKeyValueHeads = 2; pub GroupSize = 3; pub HeadDim = 4; }
///
/// pub struct Small;
/// impl Arch for Small {
///     type NumHeads = Product<NumKeyValueHeads, GroupSize>;
///     type QKDim = HeadDim;
///     type VODim = HeadDim;
///     type HiddenDim = HiddenDim;
///     type Conventions = TypedTransformer;
/// }
/// impl GroupedQuery for Small {
///     type NumKeyValueHeads = NumKeyValueHeads;
///     type GroupSize = GroupSize;
/// }
///
/// let device = Cpu::default();
/// let layer = GroupedQueryAttention::<EmbedDim, CausalMask, Small, f32, Cpu>::build(&device);
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = device.zeros();
/// let y: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> =
///     layer.forward(x.clone(), &PaddingMask::without_padding((Batch, SeqLen)))?;
/// // Decoding keeps the keys of 2 heads, not of 6.
/// let mut cache = GroupedKeyValueCache::<Batch, MaxSeqLen, Small, f32, Cpu>::new(&device, Batch)?;
/// assert_eq!(layer.forward_cached(x, &mut cache)?.as_vec(), y.as_vec());
/// let keys: &Tensor<(Batch, CacheCapacity<MaxSeqLen>, Product<NumKeyValueHeads, HeadDim>), f32, Cpu> = cache.keys();
/// # Ok::<(), OpError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say which heads share keys and values",
    label = "`{Self}` does not implement `GroupedQuery`",
    note = "implement `GroupedQuery` for `{Self}`, with the dimensions `NumKeyValueHeads` and `GroupSize`"
)]
pub trait GroupedQuery:
    Arch<NumHeads: GroupedHeads<<Self as GroupedQuery>::NumKeyValueHeads, <Self as GroupedQuery>::GroupSize>>
{
    /// The number of key and value heads: one for each group of query heads.
    type NumKeyValueHeads: Factor<Axis = <<Self as Arch>::NumHeads as Factor>::Axis>;
    /// The number of query heads in a group, which share one head of the keys and of the values.
    type GroupSize: ConstDim;
}

/// The dimension is `Product<NumKeyValueHeads, GroupSize>`.
///
/// ```
/// use typed_transformer::{nn::GroupedHeads, prelude::*};
/// dims! { pub NumKeyValueHeads = 2; pub GroupSize = 3; }
/// fn is_grouped<NumHeads: GroupedHeads<NumKeyValueHeads, GroupSize>>() {}
/// is_grouped::<Product<NumKeyValueHeads, GroupSize>>();
/// ```
#[diagnostic::on_unimplemented(
    message = "the heads of the queries are not `{NumKeyValueHeads}` groups of `{GroupSize}` heads",
    label = "`{Self}` is not `Product<{NumKeyValueHeads}, {GroupSize}>`",
    note = "the heads of the queries are declared as `type NumHeads = Product<{NumKeyValueHeads}, {GroupSize}>;`"
)]
pub trait GroupedHeads<NumKeyValueHeads: Factor, GroupSize: ConstDim>: Factor {}

#[diagnostic::do_not_recommend]
impl<NumKeyValueHeads: Factor, GroupSize: ConstDim> GroupedHeads<NumKeyValueHeads, GroupSize>
    for Product<NumKeyValueHeads, GroupSize>
{
}

// Ranks divide the groups.
#[diagnostic::do_not_recommend]
impl<NumKeyValueHeads: ConstDim, GroupSize: ConstDim, Axis> GroupedHeads<Shard<NumKeyValueHeads, Axis>, GroupSize>
    for Shard<Product<NumKeyValueHeads, GroupSize>, Axis>
where
    Axis: ConstRankAxis + Divides<NumKeyValueHeads> + Divides<Product<NumKeyValueHeads, GroupSize>>,
{
}

/// The heads of the queries of `A`.
type QueryHeads<A> = Product<<A as GroupedQuery>::NumKeyValueHeads, <A as GroupedQuery>::GroupSize>;

/// The `NumKeyValueHeads` heads of `A`, for the cache of keys and values.
type KeyValueHeads<A> = Heads<<A as GroupedQuery>::NumKeyValueHeads, <A as Arch>::QKDim, <A as Arch>::VODim, A>;

/// The keys and values of one causal [`GroupedQueryAttention`], in `NumKeyValueHeads` heads: `GroupSize` times smaller
/// than a cache of all heads.
pub type GroupedKeyValueCache<B, MaxLen, A, E = f32, D = Cpu> = KeyValueCache<B, MaxLen, KeyValueHeads<A>, E, D>;

/// A sequence attends to itself in `NumHeads` heads, which share `NumKeyValueHeads` heads of keys and values
/// ([Ainslie et al., 2023](https://arxiv.org/abs/2305.13245)).
///
/// `norm(x + attention(x))`; the conventions of `A` may put the norm elsewhere, and may rotate queries and keys
/// by their positions. The type `Mask` says which positions a position sees. [`GroupedQuery`] has an example.
#[module(conventions = SelfConventions<Mask, A>, output = EmbedDim)]
pub struct GroupedQueryAttention<EmbedDim: ConstDim, Mask: MaskKind, A: GroupedQuery, E, D> {
    /// Projects to the queries of all heads.
    pub query_proj: Projection<EmbedDim, Product<QueryHeads<A>, A::QKDim>, AttentionProjection<A>, E, D>,
    /// Projects to the keys.
    pub key_proj: Projection<EmbedDim, Product<A::NumKeyValueHeads, A::QKDim>, AttentionProjection<A>, E, D>,
    /// Projects to the values.
    pub value_proj: Projection<EmbedDim, Product<A::NumKeyValueHeads, A::VODim>, AttentionProjection<A>, E, D>,
    /// Mixes the outputs of the heads.
    pub output_proj: Projection<Product<QueryHeads<A>, A::VODim>, EmbedDim, AttentionProjection<A>, E, D>,
    /// The group that divides the heads.
    pub(crate) rank_group: HeadGroupOf<A, E, D>,
    /// The norm, if each sublayer has one.
    #[some_if(<A::Conventions as Conventions>::NORM_PLACEMENT.per_sublayer())]
    pub norm: Option<Norm<EmbedDim, A, E, D>>,
}

impl<EmbedDim: ConstDim, Mask: MaskKind, A: GroupedQuery, E: Real, D: Backend<E>>
    GroupedQueryAttention<EmbedDim, Mask, A, E, D>
{
    /// `(B, S, EmbedDim), padding (B, S) -> (B, S, EmbedDim)`
    pub fn forward<B: DataDim, S: Dim, T: Tape<E, D>>(
        &self,
        input: Tensor<(B, S, EmbedDim), E, D, T>,
        padding_mask: &PaddingMask<B, S>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        let mask = self_mask::<Mask, A, B, S>(padding_mask);
        self.forward_from(0, input, &mask, Ok)
    }

    /// Decodes the next positions of a sequence whose earlier positions are in `cache`, as
    /// [`SelfAttention::forward_cached`](crate::nn::SelfAttention::forward_cached) does:
    /// `(B, S, EmbedDim) -> (B, S, EmbedDim)`.
    pub fn forward_cached<B: DataDim, S: Dim, MaxLen: ConstDim>(
        &self,
        input: Tensor<(B, S, EmbedDim), E, D>,
        cache: &mut GroupedKeyValueCache<B, MaxLen, A, E, D>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D>, OpError>
    where
        Mask: CausalKind,
    {
        cache.slide::<Mask>()?;
        let (start, mask) = (cache.len(), cache.mask_of_kind::<Mask, S>(input.shape().1));
        self.forward_from(start, input, &mask, |new| cache.update(new))
    }

    /// The layer for positions from `start` on. `update_cache` returns all keys and values, the cached ones first.
    fn forward_from<B: DataDim, S: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        start: usize,
        input: Tensor<(B, S, EmbedDim), E, D, T>,
        mask: &AttentionMask<B, S, K>,
        update_cache: impl CacheUpdate<B, S, K, KeyValueHeads<A>, E, D, T>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        residual_norm(&self.norm, input, |x| {
            let rotary = const { rotary::<A::Conventions>() };
            let x = self.rank_group.enter(x)?;
            let query = rotate(self.query_proj.column_parallel(x.clone())?, start, rotary)?; // (B, S, H*QKDim)
            let key = rotate(self.key_proj.column_parallel(x.clone())?, start, rotary)?; // (B, S, NumKeyValueHeads*QKDim)
            let value = self.value_proj.column_parallel(x)?; // (B, S, NumKeyValueHeads*VODim)
            let (key, value) = update_cache((key, value))?; // (B, K, …)
            let attended = self.rank_group.attend_own_heads(query, key, value, mask, A::attention_options())?; // (B, S, H*VODim)
            self.rank_group.dropout(self.output_proj.row_parallel(attended, &self.rank_group)?, A::DROPOUT)
        })
    }
}
