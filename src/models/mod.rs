//! Published systems built from [`nn`](crate::nn): one file for each post, and one for nanoGPT.
//!
//! Each file defines the [`Conventions`](crate::nn::Conventions) of its system, maps the sections of the post to
//! this crate, and shows the system at a size from the post. The systems differ in:
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

pub mod annotated_flax;
pub mod another_annotated;
pub mod gpt2;
pub mod learning_the_transformer;
pub mod llama;
pub mod nano_gpt;
pub mod transformer_from_scratch;
pub mod typed_transformer;
