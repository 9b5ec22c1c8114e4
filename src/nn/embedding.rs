use super::{Arch, init};
use crate::{
    backend::Backend,
    dims::{ConstDim, Dim},
    module,
    ops::{OpError, Real, or_panic},
    tokens::TokenIds,
};
use dfdx::tensor::{Tape, Tensor};

module! {
    /// A vector for each of `N` tokens or positions.
    ///
    /// ```
    /// # use typed_transformer::{nn::Embedding, prelude::*};
    /// # dims! { pub VocabSize = 28; pub EmbedDim = 8; pub NumHeads = 2; pub HeadDim = 4; pub HiddenDim = 5; pub SeqLen = 3; pub Batch = 1; }
    /// # struct Model;
    /// # impl Arch for Model {
    /// #     type NumHeads = NumHeads;
    /// #     type QKDim = HeadDim;
    /// #     type VODim = HeadDim;
    /// #     type HiddenDim = HiddenDim;
    /// #     type Conventions = TypedTransformer;
    /// # }
    /// let table = Embedding::<VocabSize, EmbedDim, Model, f32, Cpu>::build(&Cpu::default());
    /// let ids = TokenIds::from_ids(&[7, 4, 24], None, (Batch, SeqLen))?;
    /// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = table.forward(&ids, NoneTape);
    /// # Ok::<(), TokenError>(())
    /// ```
    pub struct Embedding<N: ConstDim, EmbedDim: ConstDim, A: Arch; E, D> -> EmbedDim {
        /// A row for each token.
        pub weight: param (N, EmbedDim) = init::embedding::<A, _, _, _, _>,
    }
}

impl<N: ConstDim, EmbedDim: ConstDim, A: Arch, E: Real, D: Backend<E>> Embedding<N, EmbedDim, A, E, D> {
    /// `(B, S) ids of N -> (B, S, EmbedDim)`; `tape` begins the record for the gradients.
    ///
    /// # Panics
    /// If the device fails; [`try_forward`](Self::try_forward) returns the error.
    #[track_caller]
    #[must_use]
    pub fn forward<B: Dim, S: Dim, T: Tape<E, D>>(
        &self,
        ids: &TokenIds<B, S, N>,
        tape: T,
    ) -> Tensor<(B, S, EmbedDim), E, D, T> {
        or_panic(self.try_forward(ids, tape))
    }

    /// Fallible [`forward`](Self::forward).
    ///
    /// # Errors
    /// Those of [`try_embed`](crate::ops::try_embed).
    pub fn try_forward<B: Dim, S: Dim, T: Tape<E, D>>(
        &self,
        ids: &TokenIds<B, S, N>,
        tape: T,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        D::try_embed(&self.weight, ids, tape)
    }
}
