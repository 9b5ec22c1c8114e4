//! Caches, sampling, files, training and documentation, module by module.

#[path = "../support/fixture.rs"]
mod fixture;
#[path = "../support/numbers.rs"]
mod numbers;
#[path = "../support/recorded.rs"]
mod recorded;
#[path = "../support/mod.rs"]
mod support;
#[path = "../support/terminal.rs"]
mod terminal;

mod attention_weights;
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
mod ending;
mod files;
mod fuzz;
mod generation;
mod guide;
mod hostile;
mod hostile_folders;
#[cfg(feature = "tokenizers")]
mod hostile_tokenizers;
mod hyperparameters;
mod kept_checkpoints;
mod layer_parameters;
mod mixed_precision;
mod modules;
mod names;
#[cfg(feature = "plot")]
mod notebook;
mod other_files;
mod outputs;
mod parameter_groups;
mod params;
#[cfg(feature = "plot")]
mod plot;
mod pretrained;
mod refusals;
mod sampling;
mod saved_pretrained;
#[cfg(target_os = "linux")]
mod small_disks;
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
