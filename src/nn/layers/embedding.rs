use crate::backend::{Backend, Tape};
use crate::dims::{ConstDim, DataDim, Dim};
use crate::module;
use crate::nn::{Arch, Conventions, init};
use crate::ops::{OpError, Real, embed, linear};
use crate::tokens::TokenIds;
use dfdx::tensor::Tensor;

/// A table with a vector for each of `N` tokens or positions.
///
/// ```
/// # use typed_transformer::{doctest::*, nn::Embedding, prelude::*};
/// let table = Embedding::<VocabSize, EmbedDim, Model, f32, Cpu>::build(&Cpu::default());
/// let ids = TokenIds::from_ids(&[7, 4, 24, 0], None, (Batch, SeqLen))?;
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = table.forward(&ids, NoneTape)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[module(output = EmbedDim)]
pub struct Embedding<N: ConstDim, EmbedDim: ConstDim, A: Arch, E, D> {
    /// The table.
    #[param(init::embedding::<A, _, _, _, _>)]
    pub weight: Tensor<(N, EmbedDim), E, D>,
}

impl<N: ConstDim, EmbedDim: ConstDim, A: Arch, E: Real, D: Backend<E>> Embedding<N, EmbedDim, A, E, D> {
    /// `(B, S) ids of N -> (B, S, EmbedDim)`; `tape` records the operations for gradients.
    pub fn forward<B: DataDim, S: Dim, T: Tape<E, D>>(
        &self,
        ids: &TokenIds<B, S, N>,
        tape: T,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        embed(&self.weight, ids, tape)
    }
}

/// `x Wᵀ + b`: the logits of each token. The conventions of `A` decide whether `W` is the table of the embeddings.
///
/// ```
/// # use typed_transformer::{doctest::*, nn::{Embedding, LmHead}, prelude::*};
/// # let device = Cpu::default();
/// let table = Embedding::<VocabSize, EmbedDim, Model, f32, Cpu>::build(&device);
/// let logit = LmHead::<EmbedDim, VocabSize, Model, f32, Cpu>::build(&device);
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = device.zeros();
/// let logits: Tensor<(Batch, SeqLen, VocabSize), f32, Cpu> = logit.forward(x, &table)?;
/// # Ok::<(), OpError>(())
/// ```
#[module(output = VocabSize)]
pub struct LmHead<EmbedDim: ConstDim, VocabSize: ConstDim, A: Arch, E, D> {
    /// `W`, if it is not tied to the embeddings.
    #[some_if(!<A::Conventions as Conventions>::TIED_LOGITS)]
    #[param(init::linear)]
    pub weight: Option<Tensor<(VocabSize, EmbedDim), E, D>>,
    /// `b`, if the conventions have it.
    #[some_if(<A::Conventions as Conventions>::LOGIT_BIAS)]
    #[param(init::uniform::<EmbedDim, _, _, _>)]
    pub bias: Option<Tensor<(VocabSize,), E, D>>,
}

impl<EmbedDim: ConstDim, VocabSize: ConstDim, A: Arch, E: Real, D: Backend<E>> LmHead<EmbedDim, VocabSize, A, E, D> {
    /// `(B, S, EmbedDim), table (VocabSize, EmbedDim) -> (B, S, VocabSize)`
    pub fn forward<B: DataDim, S: Dim, T: Tape<E, D>>(
        &self,
        input: Tensor<(B, S, EmbedDim), E, D, T>,
        token_embedder: &Embedding<VocabSize, EmbedDim, A, E, D>,
    ) -> Result<Tensor<(B, S, VocabSize), E, D, T>, OpError> {
        let weight = self.weight.as_ref().unwrap_or(&token_embedder.weight);
        linear(input, weight, self.bias.as_ref())
    }
}
