mod checkpoints;
mod generations;
#[path = "../support/mod.rs"]
mod support;
mod tiny_training;
