//! Data-parallel training: each rank has rows of the batch, and all make the same update.

mod buckets;
mod gradients;
mod loss;
mod update;

pub use update::update_replicated;
