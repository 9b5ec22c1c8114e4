mod checkpoints;
mod files;
mod generations;
mod hostile;
mod resume;
#[path = "../support/mod.rs"]
mod support;
mod tiny_training;
