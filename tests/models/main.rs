//! Whole models beside reference systems: outputs, gradients, precisions, beams, speculation.

#[path = "../support/fixture.rs"]
mod fixture;
#[path = "../support/numbers.rs"]
mod numbers;
#[path = "../support/recorded.rs"]
mod recorded;
#[path = "../support/small_models.rs"]
mod small_models;
#[path = "../support/mod.rs"]
mod support;

mod adapters;
mod as_published;
mod beams;
mod encoders;
mod experts;
#[cfg(feature = "tokenizers")]
mod fill_mask;
mod heads;
mod hugging_face;
mod latent_attention;
mod mixed_bf16;
mod other_folders;
mod parity;
mod precisions;
mod prompts;
mod published_folders;
mod recent_decoders;
mod saved_folders;
#[cfg(feature = "tokenizers")]
mod similar_sentences;
#[cfg(feature = "tokenizers")]
mod sounds_and_images;
mod speculation;
mod whisper;
