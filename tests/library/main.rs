//! Whole models, their files and their training, module by module. One binary, because every binary would compile the
//! generic code of the models anew.

#[path = "../support/numbers.rs"]
mod numbers;
#[path = "../support/recorded.rs"]
mod recorded;
#[path = "../support/small_models.rs"]
mod small_models;
#[path = "../support/mod.rs"]
mod support;
#[path = "../support/terminal.rs"]
mod terminal;

mod attention_weights;
mod beams;
mod bit_exact_resume;
mod cache;
mod cache_edits;
#[cfg(feature = "tokenizers")]
mod chat;
mod checkpoint_faults;
mod checkpoints;
mod conventions;
mod decoding;
mod documentation;
mod editor;
mod encoders;
mod ending;
mod experts;
mod files;
#[cfg(feature = "tokenizers")]
mod fill_mask;
mod fixture;
mod fuzz;
mod generation;
mod guide;
mod hostile;
mod hostile_folders;
#[cfg(feature = "tokenizers")]
mod hostile_tokenizers;
mod hugging_face;
mod hyperparameters;
mod kept_checkpoints;
mod latent_attention;
mod mixed_precision;
mod modules;
mod names;
#[cfg(feature = "plot")]
mod notebook;
mod other_files;
mod outputs;
mod parameter_groups;
mod params;
mod parity;
#[cfg(feature = "plot")]
mod plot;
mod precisions;
mod pretrained;
mod prompts;
mod published_folders;
mod recent_decoders;
mod sampling;
#[cfg(feature = "tokenizers")]
mod similar_sentences;
mod small_disks;
#[cfg(feature = "tokenizers")]
mod sounds_and_images;
mod speculation;
mod tensor_board;
mod tiny_training;
#[cfg(feature = "tokenizers")]
mod tokenizer;
#[cfg(feature = "tokenizers")]
mod tokenizer_memory;
mod training;
#[cfg(feature = "plot")]
mod training_curves;
mod unused_parameters;
mod whisper;
