//! Published systems: one file for each post, one for nanoGPT, and one for each family of models whose weights
//! HuggingFace's `transformers` saves.
//!
//! # Models of `transformers`
//!
//! | module | model | kind |
//! | --- | --- | --- |
//! | [`gpt2`] | [`Gpt2`](gpt2::Gpt2) | decoder: norms before, learned positions, biases, tied logits |
//! | [`llama`] | [`Llama`](llama::Llama) | decoder: RMS norms before, rotary positions, groups of heads, SwiGLU |
//! | [`llama`] | Qwen3: [`Norms::BeforeAndInHeads`](llama::Norms::BeforeAndInHeads) | a Llama that normalizes the queries and keys of each head |
//! | [`llama`] | OLMo 2: [`Norms::After`](llama::Norms::After) | a Llama whose norms stand after the sublayers, and that normalizes queries and keys |
//! | [`gemma3`] | [`Gemma3`](gemma3::Gemma3) | decoder: RMS norms around each sublayer, windows of positions, GeGLU |
//! | [`mixtral`] | [`Mixtral`](mixtral::Mixtral) | a Llama with a mixture of experts |
//! | [`t5`] | [`T5`](t5::T5) | encoder-decoder: RMS norms before, learned relative positions, no biases |
//! | [`whisper`] | [`Whisper`](whisper::Whisper) | encoder-decoder: convolutions of sound, norms before, biases |
//! | [`bert`] | [`Bert`](bert::Bert) | encoder: norms after, token types, biases, a pooler |
//! | [`modern_bert`] | [`ModernBert`](modern_bert::ModernBert) | encoder: norms before, rotary positions, windows of positions, GeGLU, no biases |
//! | [`vit`] | [`Vit`](vit::Vit) | encoder of images: patches, norms before, biases, a pooler |
//! | [`clip`] | [`Clip`](clip::Clip) | encoders of texts and of images into one space, a contrastive loss |
//!
//! The computation of each model is in a file of its own, for some with a folder beside it. It is made of
//! [`#[module]`](macro@crate::module) and [`ops`](crate::ops). Some models take layers of GPT-2 or Llama.
//! [`Pretrained::NAMES`](crate::weights::Pretrained::NAMES), in the folder `hugging_face`, maps the parameters to the
//! names in HuggingFace's files. [`published`] has the sizes of published models. A configuration is a type with a line
//! for each dimension:
//!
//! ```
//! use typed_transformer::{models::llama::{Llama, LlamaConfig}, nn::{Autoregressive, Module}, ops::Rotary, prelude::*};
//! dims! {
//!     pub VocabSize = 28; pub MaxSeqLen = 16; pub EmbedDim = 24; pub HiddenDim = 10; pub NumLayers = 2;
//!     pub NumHeads = 6; pub NumKeyValueHeads = 2; pub HeadDim = 4; pub SeqLen = 3; pub Batch = 1;
//! }
//!
//! pub struct Small;
//! impl LlamaConfig for Small {
//!     type VocabSize = VocabSize;
//!     type MaxSeqLen = MaxSeqLen;
//!     type EmbedDim = EmbedDim;
//!     type HiddenDim = HiddenDim;
//!     type NumLayers = NumLayers;
//!     type NumHeads = NumHeads;
//!     type NumKeyValueHeads = NumKeyValueHeads;
//!     type HeadDim = HeadDim;
//!     const NORM_EPSILON: f64 = 1e-5;
//!     const ROTARY: Rotary = Rotary::halves(10_000.0);
//!     const TIED_LOGITS: bool = true;
//! }
//! const _: () = assert!(Llama::<Small, f32, Cpu>::NUM_PARAMS == 5_304);
//!
//! let model = Llama::<Small, f32, Cpu>::build(&Cpu::default());
//! let ids = TokenIds::from_ids(&[7, 4, 24], None, (Batch, SeqLen))?;
//! let logits: Tensor<(Batch, SeqLen, VocabSize), f32, Cpu> = model.forward(&ids, NoneTape)?;
//! let mut cache = model.cache(Batch)?;
//! let next: Tensor<(Batch, VocabSize), f32, Cpu> = model.next_logits(&ids, &mut cache)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Systems of posts
//!
//! These systems are built from [`nn`](crate::nn). Each file defines the [`Conventions`](crate::nn::Conventions) of its
//! system, maps the sections of the post to this crate, and shows the system at a size from the post. The systems
//! differ in:
//!
//! | | [`TypedTransformer`](typed_transformer::TypedTransformer) | [`Annotated`](another_annotated::Annotated) | [`FromScratch`](transformer_from_scratch::FromScratch) | [`Learning`](learning_the_transformer::Learning) | [`AnnotatedFlax`](annotated_flax::AnnotatedFlax) | [`NanoGpt`](nano_gpt::NanoGpt) |
//! | --- | --- | --- | --- | --- | --- | --- |
//! | flavour | encoder-decoder | all three flavours | encoder-decoder | decoder-only | encoder-only | decoder-only |
//! | norm | LayerNorm | LayerNorm | LayerNorm | RMSNorm | LayerNorm without bias | LayerNorm without bias |
//! | norm placement | post | post | post | post, one shared by each block | post | pre |
//! | activation | GELU (tanh) | ReLU | GELU | ReLU | ReLU | GELU |
//! | positions | learned | sinusoidal | sinusoidal | sinusoidal | sinusoidal | learned |
//! | embedding scale | 1 | √width | 1 | 1 | 1/√width | 1 |
//! | attention scale | 1/√head | 1/√head | 1/√width | 1/√head | 1/√head | 1/√head |
//! | biases in attention | no | yes | no | no | yes | no |
//! | biases in feed-forward | yes | yes | yes | yes | yes | no |
//! | logits | untied, bias | untied, bias | untied, bias | untied | none | tied |

/// `Autoregressive` for a decoder with a method `last_vectors`. `$parameter` is the one by which the cache knows its
/// model (`Cache::advance`), and `$logit` the weight of the logits.
macro_rules! autoregressive {
    ($Model:ident<$Config:ident>, |$model:ident| $parameter:expr, $logit:expr) => {
        #[diagnostic::do_not_recommend]
        impl<B: DataDim, Config: $Config, E: Real, D: Backend<E>, P: Precision> Autoregressive<B, E, D>
            for $Model<Config, E, D, P>
        {
            type VocabSize = Config::VocabSize;
            type MaxSeqLen = Config::MaxSeqLen;
            type Cache = Cache<B, Config::MaxSeqLen, Config::NumLayers, CachedHeadsOf<Config>, E, D>;

            fn cache(&self, batch: B) -> Result<Self::Cache, OpError> {
                let $model = self;
                Cache::new($parameter, batch)
            }

            fn last_logits<S: Dim, Last: Dim>(
                &self,
                tokens: &TokenIds<B, S, Config::VocabSize>,
                cache: &mut Self::Cache,
                last: Last,
            ) -> Result<Tensor<(B, Last, Config::VocabSize), E, D>, OpError> {
                let $model = self;
                P::linear($model.last_vectors(tokens, cache, last)?, $logit, None)
            }
        }
    };
}

pub mod annotated_flax;
pub mod another_annotated;
pub mod bert;
pub mod clip;
pub mod gemma3;
pub mod gpt2;
mod hugging_face;
pub mod learning_the_transformer;
pub mod llama;
pub mod mixtral;
pub mod modern_bert;
pub mod nano_gpt;
pub mod published;
pub mod t5;
pub mod transformer_from_scratch;
pub mod typed_transformer;
pub mod vit;
pub mod whisper;
