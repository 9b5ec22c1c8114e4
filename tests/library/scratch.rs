mod ranks;
#[path = "../support/mod.rs"]
mod support;
