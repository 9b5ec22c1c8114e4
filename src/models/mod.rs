//! Whole systems put together from [`nn`](crate::nn), one file for each post.

pub mod another_annotated;
pub mod typed_transformer;
