use super::{ColumnProjection, DividesLayersOf, RowProjection};
use crate::backend::{Backend, Tape};
use crate::dims::{ConstDim, Dim, MaybeSharded, Product};
use crate::mask::AttentionMask;
use crate::module;
use crate::nn::{Arch, AttentionProjection, Conventions, Norm, residual_norm, rotary};
use crate::ops::{OpError, Rotary, dropout, rotate_heads};
use crate::ranks::{Element, Ranks, Shard};
use crate::tensor_parallel::dropout::same_dropout;
use crate::tensor_parallel::{Entered, enter, multi_head_attention};
use dfdx::tensor::Tensor;

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
/// let [query, key, value] = [0, 1, 2].map(|_| enter(x.clone(), &ranks).unwrap());
/// let mask = mk_mask::<CausalMask, PadSourceKeys, _, _>(&PaddingMask::without_padding((Batch, SeqLen)));
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = layer.forward(query, key, value, &mask, &ranks)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
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
    pub fn forward<B: MaybeSharded, Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        query: Entered<Tensor<(B, Q, QDim), E, D, T>, Axis>,
        key: Entered<Tensor<(B, K, KDim), E, D, T>, Axis>,
        value: Entered<Tensor<(B, K, VDim), E, D, T>, Axis>,
        mask: &AttentionMask<B, Q, K>,
        ranks: &Ranks<Axis>,
    ) -> Result<Tensor<(B, Q, OutputDim), E, D, T>, OpError> {
        self.forward_rotary(query, key, value, mask, None, ranks)
    }

    /// [`forward`](Self::forward), where queries and keys are rotated by their positions.
    fn forward_rotary<B: MaybeSharded, Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        query: Entered<Tensor<(B, Q, QDim), E, D, T>, Axis>,
        key: Entered<Tensor<(B, K, KDim), E, D, T>, Axis>,
        value: Entered<Tensor<(B, K, VDim), E, D, T>, Axis>,
        mask: &AttentionMask<B, Q, K>,
        rotary: Option<Rotary>,
        ranks: &Ranks<Axis>,
    ) -> Result<Tensor<(B, Q, OutputDim), E, D, T>, OpError> {
        let query = self.query_proj.forward(query)?; // (B, Q, this rank's heads * QKDim)
        let key = self.key_proj.forward(key)?; // (B, K, this rank's heads * QKDim)
        let value = self.value_proj.forward(value)?; // (B, K, this rank's heads * VODim)
        let (query, key) = match rotary {
            Some(rotary) => (rotate_heads(query, 0, rotary)?, rotate_heads(key, 0, rotary)?),
            None => (query, key),
        };
        let attended = multi_head_attention(query, key, value, mask, A::attention_options(), ranks)?;
        let output = self.output_proj.forward(attended, ranks)?;
        let _seed = same_dropout::<E, D, T, _>(A::DROPOUT, output.device(), ranks)?;
        dropout(output, A::DROPOUT)
    }
}

/// An attention whose heads are divided among the ranks, with the residual around it and the norm: the sharded form of
/// [`SelfAttention`](crate::nn::SelfAttention) and [`CrossAttention`](crate::nn::CrossAttention).
#[module(output = EmbedDim)]
pub struct AttentionSublayer<EmbedDim: ConstDim, A: Arch, Axis: DividesLayersOf<A>, E, D> {
    /// The attention.
    pub attention: ShardedAttention<EmbedDim, EmbedDim, EmbedDim, EmbedDim, A, Axis, E, D>,
    /// The norm, if each sublayer has one.
    #[some_if(<A::Conventions as Conventions>::NORM_PLACEMENT.per_sublayer())]
    pub norm: Option<Norm<EmbedDim, A, E, D>>,
}

impl<EmbedDim: ConstDim, A: Arch, Axis: DividesLayersOf<A>, E: Element, D: Backend<E>>
    AttentionSublayer<EmbedDim, A, Axis, E, D>
{
    /// Self-attention: `(B, S, EmbedDim), mask (B, S, S) -> (B, S, EmbedDim)`
    pub(super) fn forward<B: MaybeSharded, S: Dim, T: Tape<E, D>>(
        &self,
        input: Tensor<(B, S, EmbedDim), E, D, T>,
        mask: &AttentionMask<B, S, S>,
        ranks: &Ranks<Axis>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        residual_norm(&self.norm, input, |x| {
            let x = enter(x, ranks)?;
            let rotary = const { rotary::<A::Conventions>() };
            self.attention.forward_rotary(x.clone(), x.clone(), x, mask, rotary, ranks)
        })
    }

    /// Cross-attention: `(B, Q, EmbedDim), (B, K, EmbedDim), mask (B, Q, K) -> (B, Q, EmbedDim)`
    pub(super) fn forward_cross<B: MaybeSharded, Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        query: Tensor<(B, Q, EmbedDim), E, D, T>,
        key_value: Tensor<(B, K, EmbedDim), E, D, T>,
        mask: &AttentionMask<B, Q, K>,
        ranks: &Ranks<Axis>,
    ) -> Result<Tensor<(B, Q, EmbedDim), E, D, T>, OpError> {
        residual_norm(&self.norm, query, |x| {
            let (query, key_value) = (enter(x, ranks)?, enter(key_value, ranks)?);
            self.attention.forward(query, key_value.clone(), key_value, mask, ranks)
        })
    }
}
