//! Ranks as threads of one process: collective operations, data-parallel and tensor-parallel training.

#[path = "../support/finite_differences.rs"]
mod finite_differences;
#[path = "../support/numbers.rs"]
mod numbers;
#[path = "../support/recorded.rs"]
mod recorded;
#[path = "../support/small_models.rs"]
mod small_models;
#[path = "../support/mod.rs"]
mod support;

mod guide;
mod own_modules;
mod published;
mod ranks;
mod ranks_gradients;
mod sharded_batch;
mod sharded_state;
mod tensor_parallel;
mod tensor_parallel_layers;
mod tensor_parallel_llama;
mod tensor_parallel_models;
