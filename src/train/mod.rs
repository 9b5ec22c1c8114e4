//! Training: losses, learning-rate schedules, clipping and optimizers.

mod loss;
mod optimizer;
mod schedule;

pub use loss::{cross_entropy, try_cross_entropy};
pub use optimizer::{Adam, Optimizer, update};
pub use schedule::{Schedule, WarmupCosine};
