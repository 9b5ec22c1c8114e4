use super::{Arch, Style, init};
use crate::{
    backend::Backend,
    dims::{ConstDim, Dim},
    module,
    ops::{OpError, Real, or_panic},
};
use dfdx::tensor::{Tape, Tensor};

module! {
    /// `(x - mean(x)) / √(var(x) + ε) · weight + bias` over the last dimension, `ε` from the style
    /// of `A`.
    ///
    /// ```
    /// # use typed_transformer::{nn::LayerNorm, prelude::*};
    /// # dims! { pub EmbedDim = 2; pub NumHeads = 2; pub HeadDim = 4; pub HiddenDim = 5; pub SeqLen = 1; pub Batch = 1; }
    /// # struct Model;
    /// # impl Arch for Model {
    /// #     type NumHeads = NumHeads;
    /// #     type QKDim = HeadDim;
    /// #     type VODim = HeadDim;
    /// #     type HiddenDim = HiddenDim;
    /// #     type Style = TypedTransformer;
    /// # }
    /// let device = Cpu::default();
    /// let norm = LayerNorm::<EmbedDim, Model, f32, Cpu>::build(&device);
    /// let x: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = device.tensor(vec![30.0, 70.0]);
    /// assert_eq!(norm.forward(x).as_vec(), [-1.0, 1.0]);
    /// ```
    pub struct LayerNorm<EmbedDim: ConstDim, A: Arch; E, D> {
        /// What each normalized column is multiplied by.
        pub weight: param (EmbedDim,) = init::ones,
        /// What is added to each column then.
        pub bias: param (EmbedDim,) = init::zeros,
    }
}

impl<EmbedDim: ConstDim, A: Arch, E: Real, D: Backend<E>> LayerNorm<EmbedDim, A, E, D> {
    /// `(B, S, EmbedDim) -> (B, S, EmbedDim)`
    ///
    /// # Panics
    /// If the device fails; [`try_forward`](Self::try_forward) returns the error.
    #[track_caller]
    pub fn forward<B: Dim, S: Dim, T: Tape<E, D>>(
        &self,
        input: Tensor<(B, S, EmbedDim), E, D, T>,
    ) -> Tensor<(B, S, EmbedDim), E, D, T> {
        or_panic(self.try_forward(input))
    }

    /// Fallible [`forward`](Self::forward).
    ///
    /// # Errors
    /// Those of [`try_layer_norm`](crate::ops::try_layer_norm).
    pub fn try_forward<B: Dim, S: Dim, T: Tape<E, D>>(
        &self,
        input: Tensor<(B, S, EmbedDim), E, D, T>,
    ) -> Result<Tensor<(B, S, EmbedDim), E, D, T>, OpError> {
        D::try_layer_norm(
            input,
            &self.weight,
            Some(&self.bias),
            A::Style::NORM_EPSILON,
        )
    }
}
