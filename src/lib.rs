//! x
pub mod backend;
pub mod dims;
pub mod generate;
pub mod io;
pub mod mask;
pub mod models;
pub mod nn;
pub mod ops;
pub mod tokens;
pub mod train;

#[doc(hidden)]
pub mod __private {
    pub use dfdx::{
        dtypes::Dtype,
        nn::{ModuleVisitor, TensorCollection, TensorOptions},
        shapes::ConstShape,
        tensor::Tensor,
        tensor_ops::Device,
    };
    pub use typenum::UTerm;
}
pub mod prelude {
    pub use crate::{
        backend::Backend,
        dims,
        dims::{
            AtMost, Const, ConstDim, Dim, DimError, Divides, Even, LessThan, Product, Quotient,
        },
        mask::{
            AttentionMask, CausalMask, MaskKind, NoMask, PadQueriesAndKeys, PadSourceKeys,
            PaddingMask, mk_cross_mask, mk_mask,
        },
        module,
        nn::{
            Arch, CrossAttention, Decoder, DecoderLayer, Embedder, EmbeddingDecoder,
            EmbeddingEncoder, Encoder, EncoderLayer, LM, MHAttention, Output, SelfAttention,
            Seq2Seq, TypedTransformer,
        },
        ops::*,
        tokens::{Fin, TokenError, TokenIds},
    };
    pub use dfdx::{
        nn::BuildModule,
        shapes::HasShape,
        tensor::*,
        tensor_ops::{Backward, BroadcastTo, Device},
    };
}
