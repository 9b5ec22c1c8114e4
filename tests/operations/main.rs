//! Single operations and layers, and small models made of them, against plain loops, definitions and finite
//! differences.

#[path = "../support/finite_differences.rs"]
mod finite_differences;
#[path = "../support/numbers.rs"]
mod numbers;
#[path = "../support/recorded.rs"]
mod recorded;

mod any_rank;
mod attention_variants;
mod axes;
mod contraction;
mod edges;
mod edges_empty;
mod gradients;
mod index_gradients;
mod indexing;
mod kernel_sizes;
mod kernels;
mod levels;
mod llama;
mod losses;
mod losses_at_any_rank;
mod memory;
mod model_parts;
mod named_axes;
mod own_models;
mod ported_attention;
mod ported_functions;
mod ported_lengths;
mod ported_losses;
mod ported_parts;
mod position_kinds;
mod recorded_operations;
mod small_models;
mod sublayers;
mod sublayers_at_any_rank;
mod tape;
#[cfg(target_os = "linux")]
mod threads;
mod top_k;
