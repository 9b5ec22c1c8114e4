mod hugging_face;
mod parity;
#[path = "../support/mod.rs"]
mod support;
