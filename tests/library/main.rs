//! The library, module by module. One binary, because every binary would compile the generic code of
//! the models anew.

#[path = "../support/mod.rs"]
mod support;

mod any_rank;
mod attention_variants;
mod attention_weights;
mod axes;
mod cache;
mod checkpoints;
mod contraction;
mod conventions;
mod decoding;
mod documentation;
mod experts;
mod files;
mod fixture;
mod generation;
mod gradients;
mod hostile;
mod hostile_folders;
#[cfg(feature = "tokenizers")]
mod hostile_tokenizers;
mod hugging_face;
mod index_gradients;
mod indexing;
mod kept_checkpoints;
mod kernels;
mod llama;
mod losses;
mod losses_at_any_rank;
mod memory;
mod mixed_precision;
mod model_parts;
mod modules;
mod named_axes;
mod names;
mod numbers;
mod other_files;
mod outputs;
mod own_models;
mod params;
mod parity;
#[cfg(feature = "plot")]
mod plot;
mod position_kinds;
mod pretrained;
mod published_folders;
mod ranks;
mod ranks_gradients;
mod resume;
mod sampling;
mod sharded_state;
#[cfg(feature = "tokenizers")]
mod similar_sentences;
mod small_disks;
mod small_models;
mod sublayers;
mod sublayers_at_any_rank;
mod tensor_parallel;
mod tensor_parallel_models;
mod tiny_training;
#[cfg(feature = "tokenizers")]
mod tokenizer;
mod training;
