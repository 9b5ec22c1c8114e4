mod files;
mod resume;
#[path = "../support/mod.rs"]
mod support;
