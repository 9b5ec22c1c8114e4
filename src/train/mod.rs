//! Training: losses, learning-rate schedules, clipping and optimizers.

mod accumulate;
mod adam;
mod loss;
mod optimizer;
mod schedule;
mod sgd;

pub use accumulate::accumulating;
pub use adam::{Adam, AdamW};
pub use loss::{
    cross_entropy, smoothed_cross_entropy, try_cross_entropy, try_smoothed_cross_entropy,
};
pub use optimizer::{Memory, Optimizer, Parameter, Slot, update};
pub use schedule::{Constant, InverseSqrt, Schedule, WarmupCosine, WarmupExponential};
pub use sgd::Sgd;
