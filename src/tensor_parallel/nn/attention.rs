use super::{ColumnProjection, DividesLayersOf, RowProjection};
use crate::{
    backend::{Backend, Tape},
    dims::{ConstDim, Dim, MaybeSharded, Product},
    mask::{AttentionMask, MaskKind, PaddingMask, mk_cross_mask, mk_mask},
    module,
    nn::{Arch, AttentionProjection, Conventions, Norm, rotary, try_residual_norm},
    ops::{OpError, Rotary, dim_error, try_dropout},
    ranks::{Element, Ranks, Shard},
    tensor_parallel::{
        Entered, attention::try_rotate_heads, dropout::same_dropout, try_enter, try_multi_head_attention,
    },
};
use dfdx::tensor::Tensor;
use typed_transformer_macros::panicking;

/// [`MHAttention`](crate::nn::MHAttention), of which each rank has its heads.
///
/// A rank projects to its heads, attends in them, and projects their outputs. The sum over the ranks is the output.
///
/// ```
/// use typed_transformer::{
///     doctest::*, prelude::*, ranks, ranks::Ranks,
///     tensor_parallel::{ShardedAttention, enter},
/// };
/// ranks! { pub Tp = 1; }
/// let ranks = Ranks::<Tp>::single()?;
/// let layer =
///     ShardedAttention::<EmbedDim, EmbedDim, EmbedDim, EmbedDim, Model, Tp, f32, Cpu>::build(&Cpu::default());
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = Cpu::default().zeros();
/// let [query, key, value] = [0, 1, 2].map(|_| enter(x.clone(), &ranks));
/// let mask = mk_mask::<CausalMask, PadSourceKeys, _, _>(&PaddingMask::without_padding((Batch, SeqLen)));
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = layer.forward(query, key, value, &mask, &ranks);
/// # Ok::<(), typed_transformer::ranks::RanksError>(())
/// ```
#[module(conventions = A::Conventions, output = OutputDim)]
pub struct ShardedAttention<
    QDim: ConstDim,
    KDim: ConstDim,
    VDim: ConstDim,
    OutputDim: ConstDim,
    A: Arch,
    Axis: DividesLayersOf<A>,
    E,
    D,
> {
    /// Projects to the queries of this rank's heads.
    pub query_proj: ColumnProjection<QDim, Product<Shard<A::NumHeads, Axis>, A::QKDim>, AttentionProjection<A>, E, D>,
    /// Projects to the keys of this rank's heads.
    pub key_proj: ColumnProjection<KDim, Product<Shard<A::NumHeads, Axis>, A::QKDim>, AttentionProjection<A>, E, D>,
    /// Projects to the values of this rank's heads.
    pub value_proj: ColumnProjection<VDim, Product<Shard<A::NumHeads, Axis>, A::VODim>, AttentionProjection<A>, E, D>,
    /// Mixes the outputs of the heads of all ranks.
    pub output_proj:
        RowProjection<Product<Shard<A::NumHeads, Axis>, A::VODim>, OutputDim, AttentionProjection<A>, E, D>,
}

impl<
    QDim: ConstDim,
    KDim: ConstDim,
    VDim: ConstDim,
    OutputDim: ConstDim,
    A: Arch,
    Axis: DividesLayersOf<A>,
    E: Element,
    D: Backend<E>,
> ShardedAttention<QDim, KDim, VDim, OutputDim, A, Axis, E, D>
{
    /// `Entered<(B, Q, QDim)>, Entered<(B, K, KDim)>, Entered<(B, K, VDim)>, mask (B, Q, K) -> (B, Q, OutputDim)`
    ///
    /// # Errors
    /// [`OpError::Dim`] if two sizes of a run-time dimension differ; [`OpError::Ranks`] if a rank fails;
    /// [`OpError::Device`] if the device fails.
    #[panicking]
    pub fn try_forward<B: MaybeSharded, Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        query: Entered<Tensor<(B, Q, QDim), E, D, T>, Axis>,
        key: Entered<Tensor<(B, K, KDim), E, D, T>, Axis>,
        value: Entered<Tensor<(B, K, VDim), E, D, T>, Axis>,
        mask: &AttentionMask<B, Q, K>,
        ranks: &Ranks<Axis>,
    ) -> Result<Tensor<(B, Q, OutputDim), E, D, T>, OpError> {
        self.try_forward_rotary(query, key, value, mask, None, ranks)
    }

    /// [`try_forward`](Self::try_forward), where queries and keys are rotated by their positions.
    fn try_forward_rotary<B: MaybeSharded, Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        query: Entered<Tensor<(B, Q, QDim), E, D, T>, Axis>,
        key: Entered<Tensor<(B, K, KDim), E, D, T>, Axis>,
        value: Entered<Tensor<(B, K, VDim), E, D, T>, Axis>,
        mask: &AttentionMask<B, Q, K>,
        rotary: Option<Rotary>,
        ranks: &Ranks<Axis>,
    ) -> Result<Tensor<(B, Q, OutputDim), E, D, T>, OpError> {
        let query = self.query_proj.try_forward(query)?; // (B, Q, this rank's heads * QKDim)
        let key = self.key_proj.try_forward(key)?; // (B, K, this rank's heads * QKDim)
        let value = self.value_proj.try_forward(value)?; // (B, K, this rank's heads * VODim)
        let (query, key) = match rotary {
            Some(rotary) => (try_rotate_heads(query, rotary)?, try_rotate_heads(key, rotary)?),
            None => (query, key),
        };
        let (scale, mask_fill) = (A::Conventions::ATTENTION_SCALE, A::Conventions::MASK_FILL);
        let dropout = A::ATTENTION_DROPOUT;
        let attended = try_multi_head_attention(query, key, value, mask, scale, mask_fill, dropout, ranks)?;
        let output = self.output_proj.try_forward(attended, ranks)?;
        let _seed = same_dropout::<E, D, T, _>(A::DROPOUT, output.device(), ranks)?;
        try_dropout(output, A::DROPOUT)
    }
}

/// [`SelfAttention`](crate::nn::SelfAttention), of which each rank has its heads.
#[module(output = EmbedDim)]
pub struct ShardedSelfAttention<EmbedDim: ConstDim, Mask: MaskKind, A: Arch, Axis: DividesLayersOf<A>, E, D> {
    /// The attention; query, key, value and output all have width `EmbedDim`.
    pub attention: ShardedAttention<EmbedDim, EmbedDim, EmbedDim, EmbedDim, A, Axis, E, D>,
    /// The norm, if each sublayer has one.
    #[some_if(<A::Conventions as Conventions>::NORM_PLACEMENT.per_sublayer())]
    pub norm: Option<Norm<EmbedDim, A, E, D>>,
}

impl<EmbedDim: ConstDim, Mask: MaskKind, A: Arch, Axis: DividesLayersOf<A>, E: Element, D: Backend<E>>
    ShardedSelfAttention<EmbedDim, Mask, A, Axis, E, D>
{
    /// `(B, S, EmbedDim), padding (B, S) -> (B, S, EmbedDim)`
    ///
    /// # Errors
    /// [`OpError::Dim`] if two sizes of a run-time dimension differ; [`OpError::Ranks`] if a rank fails;
    /// [`OpError::Device`] if the device fails.
    #[panicking]
    pub fn try_forward<B: MaybeSharded, S: Dim, T: Tape<E, D>>(
        &self,
        input: Tensor<(B, S, EmbedDim), E, D, T>,
        padding_mask: &PaddingMask<B, S>,
        ranks: &Ranks<Axis>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        let mask = mk_mask::<Mask, <A::Conventions as Conventions>::PaddingRule, B, S>(padding_mask);
        let rotary = const { rotary::<A::Conventions>() };
        try_residual_norm(&self.norm, input, |x| {
            let x = try_enter(x, ranks)?;
            let (query, key) = (x.clone(), x.clone());
            self.attention.try_forward_rotary(query, key, x, &mask, rotary, ranks)
        })
    }
}

/// [`CrossAttention`](crate::nn::CrossAttention), of which each rank has its heads.
#[module(output = QDim)]
pub struct ShardedCrossAttention<QDim: ConstDim, KVDim: ConstDim, A: Arch, Axis: DividesLayersOf<A>, E, D> {
    /// The attention; query and output have width `QDim`, key and value `KVDim`.
    pub attention: ShardedAttention<QDim, KVDim, KVDim, QDim, A, Axis, E, D>,
    /// The norm, if each sublayer has one.
    #[some_if(<A::Conventions as Conventions>::NORM_PLACEMENT.per_sublayer())]
    pub norm: Option<Norm<QDim, A, E, D>>,
}

impl<QDim: ConstDim, KVDim: ConstDim, A: Arch, Axis: DividesLayersOf<A>, E: Element, D: Backend<E>>
    ShardedCrossAttention<QDim, KVDim, A, Axis, E, D>
{
    /// `(B, Q, QDim), (B, K, KVDim), padding (B, Q), padding (B, K) -> (B, Q, QDim)`
    ///
    /// # Errors
    /// [`OpError::Dim`] if two sizes of a run-time dimension differ; [`OpError::Ranks`] if a rank fails;
    /// [`OpError::Device`] if the device fails.
    #[panicking]
    pub fn try_forward<B: MaybeSharded, Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        query: Tensor<(B, Q, QDim), E, D, T>,
        key_value: Tensor<(B, K, KVDim), E, D, T>,
        query_padding_mask: &PaddingMask<B, Q>,
        key_value_padding_mask: &PaddingMask<B, K>,
        ranks: &Ranks<Axis>,
    ) -> Result<Tensor<(B, Q, QDim), E, D, T>, OpError> {
        let mask = mk_cross_mask::<<A::Conventions as Conventions>::PaddingRule, B, Q, K>(
            query_padding_mask,
            key_value_padding_mask,
        )
        .map_err(dim_error("cross-attention"))?;
        try_residual_norm(&self.norm, query, |x| {
            let (query, key_value) = (try_enter(x, ranks)?, try_enter(key_value, ranks)?);
            self.attention.try_forward(query, key_value.clone(), key_value, &mask, ranks)
        })
    }
}
