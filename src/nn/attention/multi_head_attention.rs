use crate::backend::{Backend, Tape};
use crate::dims::{ConstDim, DataDim, Dim, Product};
use crate::mask::AttentionMask;
use crate::module;
use crate::nn::group::HeadGroupOf;
use crate::nn::{Arch, AttentionProjection, KeysAndValues, Projection};
use crate::ops::{OpError, Real, attention_weights, split_heads};
use dfdx::tensor::Tensor;

/// Every query attends to every key that it may see, in `NumHeads` heads (*The Typed Transformer*,
/// "Multi-head attention").
///
/// `concat(head₁, …) W_outputᵀ` with `headᵢ = softmax(scale · qᵢ kᵢᵀ) vᵢ`, where `qᵢ`, `kᵢ`, `vᵢ` are the
/// `i`-th parts of the projections of query, key and value. The widths of query, key, value and output are
/// parameters of the type. The number of heads and their sizes stay inside `A`.
///
/// `H` is `NumHeads`, and `H*QKDim` is `Product<NumHeads, QKDim>`:
///
/// ```text
///      query                    key                    value
///   (B, Q, QDim)            (B, K, KDim)            (B, K, VDim)
///        |                       |                       |
///    query_proj              key_proj               value_proj
///        |                       |                       |
///  (B, Q, H*QKDim)         (B, K, H*QKDim)         (B, K, H*VODim)
///        |                       |                       |
///   split_heads             split_heads             split_heads
///        |                       |                       |
///  (B, H, Q, QKDim)        (B, H, K, QKDim)        (B, H, K, VODim)
///        |                       |                       |
///        +---- times its --------+                       |
///              transpose                                 |
///                  |                                     |
///             (B, H, Q, K)                               |
///                  |                                     |
///        scale, mask (B, Q, K),                          |
///      softmax over K, dropout                           |
///                  |                                     |
///             (B, H, Q, K)                               |
///                  |                                     |
///                  +---------------- times --------------+
///                                      |
///                               (B, H, Q, VODim)
///                                      |
///                                 merge_heads
///                                      |
///                               (B, Q, H*VODim)
///                                      |
///                             output_proj, dropout
///                                      |
///                               (B, Q, OutputDim)
/// ```
///
/// ```
/// # use typed_transformer::{doctest::*, nn::*, prelude::*};
/// # let device = Cpu::default();
/// let attention = MHAttention::<EmbedDim, EmbedDim, EmbedDim, EmbedDim, Model, f32, Cpu>::build(&device);
/// let target: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu> = device.zeros();
/// let source: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> = device.zeros();
/// let mask = AttentionMask::all_visible((Batch, TgtLen, SrcLen));
/// let attended: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu> =
///     attention.forward(target.clone(), source.clone(), source.clone(), &mask)?;
/// let weights: Tensor<(Batch, NumHeads, TgtLen, SrcLen), f32, Cpu> =
///     attention.attention_weights(target, source, &mask)?;
/// assert!(weights.as_vec().iter().all(|weight| *weight == 0.25));
/// # Ok::<(), OpError>(())
/// ```
#[module(conventions = A::Conventions, output = OutputDim)]
pub struct MHAttention<QDim: ConstDim, KDim: ConstDim, VDim: ConstDim, OutputDim: ConstDim, A: Arch, E, D> {
    /// Projects to the queries of all heads.
    pub query_proj: Projection<QDim, Product<A::NumHeads, A::QKDim>, AttentionProjection<A>, E, D>,
    /// Projects to the keys of all heads.
    pub key_proj: Projection<KDim, Product<A::NumHeads, A::QKDim>, AttentionProjection<A>, E, D>,
    /// Projects to the values of all heads.
    pub value_proj: Projection<VDim, Product<A::NumHeads, A::VODim>, AttentionProjection<A>, E, D>,
    /// Mixes the outputs of the heads.
    pub output_proj: Projection<Product<A::NumHeads, A::VODim>, OutputDim, AttentionProjection<A>, E, D>,
    /// The group that divides the heads.
    pub(crate) rank_group: HeadGroupOf<A, E, D>,
}

impl<QDim: ConstDim, KDim: ConstDim, VDim: ConstDim, OutputDim: ConstDim, A: Arch, E: Real, D: Backend<E>>
    MHAttention<QDim, KDim, VDim, OutputDim, A, E, D>
{
    /// `(B, Q, QDim), (B, K, KDim), (B, K, VDim), mask (B, Q, K) -> (B, Q, OutputDim)`
    pub fn forward<B: DataDim, Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        query: Tensor<(B, Q, QDim), E, D, T>,
        key: Tensor<(B, K, KDim), E, D, T>,
        value: Tensor<(B, K, VDim), E, D, T>,
        mask: &AttentionMask<B, Q, K>,
    ) -> Result<Tensor<(B, Q, OutputDim), E, D, T>, OpError> {
        let query = self.query_proj.column_parallel(self.rank_group.enter(query)?)?; // (B, Q, H*QKDim)
        let key = self.key_proj.column_parallel(self.rank_group.enter(key)?)?; // (B, K, H*QKDim)
        let value = self.value_proj.column_parallel(self.rank_group.enter(value)?)?; // (B, K, H*VODim)
        self.attend_and_project(query, (key, value), mask)
    }

    /// Attention and output projection of a projected query, key and value.
    pub(crate) fn attend_and_project<B: DataDim, Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        query: Tensor<(B, Q, Product<A::NumHeads, A::QKDim>), E, D, T>,
        (key, value): KeysAndValues<B, K, A, E, D, T>,
        mask: &AttentionMask<B, Q, K>,
    ) -> Result<Tensor<(B, Q, OutputDim), E, D, T>, OpError> {
        let attended = self.rank_group.attend_own_heads(query, key, value, mask, A::attention_options())?; // (B, Q, H*VODim)
        self.rank_group.dropout(self.output_proj.row_parallel(attended, &self.rank_group)?, A::DROPOUT)
    }

    /// The attention weights of each head before dropout: `(B, Q, QDim), (B, K, KDim), mask (B, Q, K) ->
    /// (B, NumHeads, Q, K)`.
    ///
    /// These are the [`attention_weights`](crate::ops::attention_weights) of the projected query and key.
    /// [`forward`](Self::forward) does not store them.
    pub fn attention_weights<B: DataDim, Q: Dim, K: Dim>(
        &self,
        query: Tensor<(B, Q, QDim), E, D>,
        key: Tensor<(B, K, KDim), E, D>,
        mask: &AttentionMask<B, Q, K>,
    ) -> Result<Tensor<(B, A::NumHeads, Q, K), E, D>, OpError> {
        let query = self.query_proj.column_parallel(self.rank_group.enter(query)?)?;
        let key = self.key_proj.column_parallel(self.rank_group.enter(key)?)?;
        let (query, key) = (split_heads(query)?, split_heads(key)?);
        attention_weights::<_, _, _, _, A::QKDim, _, _, _>(query, key, mask, A::attention_options())
    }
}
