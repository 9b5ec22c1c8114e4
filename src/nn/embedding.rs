use super::{Arch, init};
use crate::{
    backend::{Backend, Tape},
    dims::{ConstDim, Dim, MaybeSharded},
    module,
    ops::{OpError, Real, try_embed},
    tokens::TokenIds,
};
use dfdx::tensor::Tensor;
use typed_transformer_macros::panicking;

/// A table with a vector for each of `N` tokens or positions.
///
/// ```
/// # use typed_transformer::{doctest::*, nn::Embedding, prelude::*};
/// let table = Embedding::<VocabSize, EmbedDim, Model, f32, Cpu>::build(&Cpu::default());
/// let ids = TokenIds::from_ids(&[7, 4, 24, 0], None, (Batch, SeqLen))?;
/// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = table.forward(&ids, NoneTape);
/// # Ok::<(), TokenError>(())
/// ```
#[module(output = EmbedDim)]
pub struct Embedding<N: ConstDim, EmbedDim: ConstDim, A: Arch, E, D> {
    /// The table.
    #[param(init::embedding::<A, _, _, _, _>)]
    pub weight: Tensor<(N, EmbedDim), E, D>,
}

impl<N: ConstDim, EmbedDim: ConstDim, A: Arch, E: Real, D: Backend<E>> Embedding<N, EmbedDim, A, E, D> {
    /// `(B, S) ids of N -> (B, S, EmbedDim)`; `tape` records the operations for gradients.
    ///
    /// # Errors
    /// [`OpError::Device`] if the device fails.
    #[panicking]
    pub fn try_forward<B: MaybeSharded, S: Dim, T: Tape<E, D>>(
        &self,
        ids: &TokenIds<B, S, N>,
        tape: T,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        try_embed(&self.weight, ids, tape)
    }
}
