//! The training examples as several processes under `mpirun`, with 1 to 4 ranks.
//!
//! `cargo test -p typed-transformer-tests --features mpi --test ranks`. Every run has a time limit, so that a rank that
//! waits for ever is a failure.

mod agreement;
mod failures;
mod launch;
mod models;
#[path = "../support/profile.rs"]
mod profile;
#[path = "../support/mod.rs"]
mod support;
mod training;
