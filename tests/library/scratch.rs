mod attention_variants;
mod gradients;
mod hugging_face;
mod model_parts;
mod names;
mod parity;
#[path = "../support/mod.rs"]
mod support;
