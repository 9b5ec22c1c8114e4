//! The dimensions and models that several modules share. The compiler generates code for every model
//! and dimension anew, so each further set of them costs seconds.

#![allow(dead_code, unused_imports, reason = "each binary uses a part of it")]

use typed_transformer::models::annotated_flax::AnnotatedFlax;
use typed_transformer::models::another_annotated::Annotated;
use typed_transformer::models::learning_the_transformer::Learning;
use typed_transformer::models::nano_gpt::NanoGpt;
use typed_transformer::prelude::*;

// All sizes that could be confused differ.
dims! {
    pub SrcVocab = 11; pub VocabSize = 13; pub MaxSrcLen = 9; pub MaxSeqLen = 12; pub EmbedDim = 6;
    pub NumHeads = 3; pub QKDim = 4; pub VODim = 5; pub HiddenDim = 10; pub NumLayers = 2;
    pub SrcLen <= MaxSrcLen; pub SeqLen <= MaxSeqLen; pub Batch;
}

/// An architecture with the dimensions above and these conventions, as a single stack and as an
/// encoder-decoder. Constants such as a dropout rate may follow.
macro_rules! model {
    ($(#[$meta:meta])* $name:ident: $conventions:ty $(, $const:ident = $value:expr)*) => {
        $(#[$meta])*
        pub struct $name;
        impl Arch for $name {
            type NumHeads = NumHeads;
            type QKDim = QKDim;
            type VODim = VODim;
            type HiddenDim = HiddenDim;
            type Conventions = $conventions;
            $(const $const: f64 = $value;)*
        }
        impl SingleStack for $name {
            type VocabSize = VocabSize;
            type MaxSeqLen = MaxSeqLen;
            type EmbedDim = EmbedDim;
            type NumLayers = NumLayers;
        }
        impl Seq2Seq for $name {
            type SrcVocab = SrcVocab;
            type TgtVocab = VocabSize;
            type MaxSrcLen = MaxSrcLen;
            type MaxTgtLen = MaxSeqLen;
            type EmbedDim = EmbedDim;
            type NumEncoderLayers = NumLayers;
            type NumDecoderLayers = NumLayers;
        }
    };
}
pub(crate) use model;

model!(TypedModel: TypedTransformer);
model!(AnnotatedModel: Annotated);
model!(FlaxModel: AnnotatedFlax);
model!(LearningModel: Learning);
model!(NanoGptModel: NanoGpt);
