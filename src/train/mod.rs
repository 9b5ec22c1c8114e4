//! Training: losses, learning-rate schedules, clipping and optimizers.

mod adam;
mod loss;
mod optimizer;
mod schedule;
mod sgd;

pub use adam::{Adam, AdamW};
pub use loss::{cross_entropy, try_cross_entropy};
pub use optimizer::{Memory, Optimizer, Parameter, Slot, update};
pub use schedule::{Schedule, WarmupCosine};
pub use sgd::Sgd;
