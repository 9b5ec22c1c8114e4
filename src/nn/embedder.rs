use super::{Conventions, Embedding, HasPositionsFor, Norm, PositionKind, WidthScale, norm::try_optional_norm};
use crate::{
    backend::{Backend, Tape},
    dims::{AtMost, ConstDim, Dim, MaybeSharded},
    module,
    ops::{
        OpError, Real, try_add_positions, try_dropout, try_learned_positions_from, try_scale,
        try_sinusoidal_positions_from,
    },
    tokens::TokenIds,
};
use dfdx::tensor::Tensor;
use typed_transformer_macros::panicking;

/// Turns token ids into vectors (*The Typed Transformer*, "Embedder").
///
/// `norm(scale · token_embedder(ids) + positions)`. The conventions of `A` decide the scale, the kind of
/// positions and the norm. The type ensures that no sequence is longer than `MaxSeqLen`.
///
/// ```
/// # use typed_transformer::{doctest::*, nn::*, prelude::*};
/// # let device = Cpu::default();
/// let embedder = Embedder::<VocabSize, MaxSeqLen, EmbedDim, Model, f32, Cpu>::build(&device);
/// let ids = TokenIds::from_ids(&[0, 1, 2, 3], None, (Batch, SrcLen))?;
/// let x: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> = embedder.forward(&ids, NoneTape);
/// # Ok::<(), TokenError>(())
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
}

impl<VocabSize: ConstDim, MaxSeqLen: ConstDim, EmbedDim: ConstDim, A: HasPositionsFor<EmbedDim>, E: Real, D: Backend<E>>
    Embedder<VocabSize, MaxSeqLen, EmbedDim, A, E, D>
{
    /// `(B, S) ids of VocabSize -> (B, S, EmbedDim)`; `tape` records the operations for gradients.
    ///
    /// # Errors
    /// [`OpError::Device`] if the device fails.
    #[panicking]
    pub fn try_forward<B: MaybeSharded, S: AtMost<MaxSeqLen>, T: Tape<E, D>>(
        &self,
        token_ids: &TokenIds<B, S, VocabSize>,
        tape: T,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        self.try_forward_from(0, token_ids, tape)
    }

    /// [`try_forward`](Self::try_forward) of tokens from position `start` on.
    pub(crate) fn try_forward_from<B: MaybeSharded, S: Dim, T: Tape<E, D>>(
        &self,
        start: usize,
        token_ids: &TokenIds<B, S, VocabSize>,
        tape: T,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        let (_, len) = token_ids.shape();
        let tokens = self.token_embedder.try_forward(token_ids, tape)?;
        let tokens = match A::Conventions::EMBEDDING_SCALE {
            WidthScale::One => tokens,
            scale => try_scale(tokens, scale.of(EmbedDim::SIZE))?,
        };
        let positions = match &self.position_embedder {
            Some(table) => Some(try_learned_positions_from(&table.weight, start, len)?),
            None if <A::Conventions as Conventions>::Positions::IS_ADDED => {
                let width = EmbedDim::default();
                Some(try_sinusoidal_positions_from(tokens.device(), start, len, width)?.retaped::<T>())
            }
            None => None,
        };
        let embeds = match positions {
            Some(positions) => try_add_positions(tokens, positions)?,
            None => tokens,
        };
        try_optional_norm(&self.norm, try_dropout(embeds, A::DROPOUT)?)
    }
}
