use crate::backend::{Backend, Tape};
use crate::dims::{AtMost, ConstDim, DataDim};
use crate::module;
use crate::nn::{Embedder, Encoder, HasPositionsFor};
use crate::ops::{OpError, Real, masked_mean};
use crate::tokens::TokenIds;
use dfdx::tensor::{NoneTape, Tensor};

/// The encoder with its embedder: it computes a vector for each token from the whole sequence (*The Typed
/// Transformer*, "Encoder").
///
/// ```
/// # use typed_transformer::{doctest::*, nn::*, prelude::*};
/// # let device = Cpu::default();
/// let encoder = EmbeddingEncoder::<VocabSize, MaxSeqLen, EmbedDim, NumLayers, Model, f32, Cpu>::build(&device);
/// let ids = TokenIds::from_ids(&[0, 1, 2, 3], None, (Batch, SrcLen))?;
/// let x: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> = encoder.forward(&ids, NoneTape)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[module(output = EmbedDim)]
pub struct EmbeddingEncoder<
    VocabSize: ConstDim,
    MaxSeqLen: ConstDim,
    EmbedDim: ConstDim,
    NumLayers: ConstDim,
    A: HasPositionsFor<EmbedDim>,
    E,
    D,
> {
    /// From token ids to vectors.
    pub embedder: Embedder<VocabSize, MaxSeqLen, EmbedDim, A, E, D>,
    /// The layers.
    pub encoder: Encoder<EmbedDim, NumLayers, A, E, D>,
}

impl<VocabSize: ConstDim, MaxSeqLen: ConstDim, EmbedDim: ConstDim, NumLayers: ConstDim, A, E: Real, D: Backend<E>>
    EmbeddingEncoder<VocabSize, MaxSeqLen, EmbedDim, NumLayers, A, E, D>
where
    A: HasPositionsFor<EmbedDim>,
{
    /// `(B, S) ids of VocabSize -> (B, S, EmbedDim)`; `tape` records the operations for gradients.
    pub fn forward<B: DataDim, S: AtMost<MaxSeqLen>, T: Tape<E, D>>(
        &self,
        token_ids: &TokenIds<B, S, VocabSize>,
        tape: T,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        let embeds = self.embedder.forward(token_ids, tape)?;
        self.encoder.forward(embeds, &token_ids.padding_mask())
    }

    /// The mean output over the positions that are not padding: features to classify a sequence by (*Another
    /// annotated transformer*, "Encoder-only").
    ///
    /// `(B, S) ids of VocabSize -> (B, EmbedDim)`; `tape` records the operations for gradients.
    pub fn pooled<B: DataDim, S: AtMost<MaxSeqLen>, T: Tape<E, D>>(
        &self,
        token_ids: &TokenIds<B, S, VocabSize>,
        tape: T,
    ) -> Result<Tensor<(B, EmbedDim), E, D, T>, OpError> {
        let features = self.forward(token_ids, tape)?;
        masked_mean(features, &token_ids.padding_mask())
    }

    /// The attention weights of each layer: `(B, S) ids of VocabSize -> (B, NumHeads, S, S)` per layer.
    pub fn attention_weights<B: DataDim, S: AtMost<MaxSeqLen>>(
        &self,
        token_ids: &TokenIds<B, S, VocabSize>,
    ) -> Result<Vec<Tensor<(B, A::NumHeads, S, S), E, D>>, OpError> {
        let embeds = self.embedder.forward(token_ids, NoneTape)?;
        self.encoder.attention_weights(embeds, &token_ids.padding_mask())
    }
}
