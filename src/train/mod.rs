//! Training.
//!
//! The step is the user's: forward, loss, backward, [`update`]. Around it stands a [`Trainer`], if the
//! training is to be watched, stopped and resumed.
//!
//! | for | there is |
//! | --- | --- |
//! | losses | [`cross_entropy`], [`smoothed_cross_entropy`] |
//! | optimizers | [`Sgd`], [`Adam`], [`AdamW`], and [`Optimizer`] for others |
//! | schedules | [`Constant`], [`WarmupExponential`], [`WarmupCosine`], [`InverseSqrt`], and [`Schedule`] for others |
//! | batches in parts | [`accumulating`] |
//! | mixed precision | [`master_gradients`] |
//! | files | checkpoints by [`Trainer::save_to`] and [`Trainer::resume`], [`Metrics`] |

mod accumulate;
mod adam;
mod checkpoint;
mod loss;
mod metrics;
mod mixed;
mod optimizer;
mod schedule;
mod sgd;
mod trainer;

pub use accumulate::accumulating;
pub use adam::{Adam, AdamW};
pub use checkpoint::ResumeError;
pub use loss::{
    cross_entropy, smoothed_cross_entropy, try_cross_entropy, try_smoothed_cross_entropy,
};
pub use metrics::Metrics;
pub use mixed::master_gradients;
pub use optimizer::{Memory, Optimizer, Parameter, Slot, update};
pub use schedule::{Constant, InverseSqrt, Schedule, WarmupCosine, WarmupExponential};
pub use sgd::Sgd;
pub use trainer::{Report, Step, TrainError, Trainer};
