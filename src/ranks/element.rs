use crate::error::Real;
use bytemuck::Pod;

/// An element that the ranks can send to each other and sum: `f32` or `f64`.
pub trait Element: Real + Pod {}
impl Element for f32 {}
impl Element for f64 {}
