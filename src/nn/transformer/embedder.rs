use crate::backend::{Backend, Tape};
use crate::dims::{AtMost, ConstDim, DataDim, Dim};
use crate::module;
use crate::nn::group::HeadGroupOf;
use crate::nn::{Conventions, Embedding, HasPositionsFor, Norm, PositionKind, WidthScale, optional_norm};
use crate::ops::{OpError, Real, add, add_positions, learned_positions_from, scale, sinusoids};
use crate::tokens::TokenIds;
use dfdx::tensor::Tensor;

/// Turns token ids into vectors (*The Typed Transformer*, "Embedder").
///
/// `norm(dropout(scale · token_embedder(ids) + positions))`. The conventions of `A` decide the scale, the kind of
/// positions and the norm. The type ensures that no sequence is longer than `MaxSeqLen`.
///
/// ```
/// # use typed_transformer::{doctest::*, nn::*, prelude::*};
/// # let device = Cpu::default();
/// let embedder = Embedder::<VocabSize, MaxSeqLen, EmbedDim, Model, f32, Cpu>::build(&device);
/// let ids = TokenIds::from_ids(&[0, 1, 2, 3], None, (Batch, SrcLen))?;
/// let x: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> = embedder.forward(&ids, NoneTape)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[module(conventions = A::Conventions, output = EmbedDim)]
pub struct Embedder<VocabSize: ConstDim, MaxSeqLen: ConstDim, EmbedDim: ConstDim, A: HasPositionsFor<EmbedDim>, E, D> {
    /// A vector for each token.
    pub token_embedder: Embedding<VocabSize, EmbedDim, A, E, D>,
    /// A vector for each position, if positions are learned.
    #[some_if(<A::Conventions as Conventions>::Positions::IS_LEARNED)]
    pub position_embedder: Option<Embedding<MaxSeqLen, EmbedDim, A, E, D>>,
    /// The norm of the sum, if the conventions have one.
    #[some_if(<A::Conventions as Conventions>::EMBEDDING_NORM)]
    pub norm: Option<Norm<EmbedDim, A, E, D>>,
    /// The processes that divide the layers.
    pub(crate) rank_group: HeadGroupOf<A, E, D>,
}

impl<VocabSize: ConstDim, MaxSeqLen: ConstDim, EmbedDim: ConstDim, A: HasPositionsFor<EmbedDim>, E: Real, D: Backend<E>>
    Embedder<VocabSize, MaxSeqLen, EmbedDim, A, E, D>
{
    /// `(B, S) ids of VocabSize -> (B, S, EmbedDim)`; `tape` records the operations for gradients.
    pub fn forward<B: DataDim, S: AtMost<MaxSeqLen>, T: Tape<E, D>>(
        &self,
        token_ids: &TokenIds<B, S, VocabSize>,
        tape: T,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        self.forward_from(0, token_ids, tape)
    }

    /// [`forward`](Self::forward) of tokens from position `start` on.
    pub(crate) fn forward_from<B: DataDim, S: Dim, T: Tape<E, D>>(
        &self,
        start: usize,
        token_ids: &TokenIds<B, S, VocabSize>,
        tape: T,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        let (_, len) = token_ids.shape();
        let tokens = self.token_embedder.forward(token_ids, tape)?;
        let tokens = match A::Conventions::EMBEDDING_SCALE {
            WidthScale::One => tokens,
            width_scale => scale(tokens, width_scale.of(EmbedDim::SIZE))?,
        };
        let embeds = match &self.position_embedder {
            Some(table) => add_positions(tokens, learned_positions_from(&table.weight, start, len)?)?,
            None if <A::Conventions as Conventions>::Positions::IS_ADDED => {
                let positions = sinusoids(tokens.device(), start, len, EmbedDim::default())?;
                add(tokens, &positions)?
            }
            None => tokens,
        };
        optional_norm(&self.norm, self.rank_group.dropout(embeds, A::DROPOUT)?)
    }
}
