//! Training.
//!
//! The step is the user's: forward, loss, backward, [`update`]. Around it stands a [`Trainer`], if the
//! training is to be watched, stopped and resumed.
//!
//! | for | there is |
//! | --- | --- |
//! | losses | [`cross_entropy`], [`cross_entropy_with_label_smoothing`] |
//! | optimizers | [`Sgd`], [`Adam`], [`AdamW`], and [`Optimizer`] for others |
//! | schedules | [`Constant`], [`WarmupExponential`], [`WarmupCosine`], [`InverseSqrt`], and [`Schedule`] for others |
//! | batches in parts | [`accumulate_gradients`] |
//! | mixed precision | [`master_gradients`] |
//! | files | checkpoints by [`Trainer::checkpoint_every`] and [`Trainer::resume`], [`Metrics`] |

mod accumulate;
mod adam;
mod checkpoint;
mod metrics;
mod mixed;
mod optimizer;
mod schedule;
mod sgd;
mod trainer;

pub use crate::ops::{
    cross_entropy, cross_entropy_with_label_smoothing, try_cross_entropy,
    try_cross_entropy_with_label_smoothing,
};
pub use accumulate::accumulate_gradients;
pub use adam::{Adam, AdamW};
pub use checkpoint::ResumeError;
pub use metrics::Metrics;
pub use mixed::master_gradients;
pub use optimizer::{Optimizer, OptimizerState, Parameter, Slot, update};
pub use schedule::{Constant, InverseSqrt, Schedule, WarmupCosine, WarmupExponential};
pub use sgd::Sgd;
pub use trainer::{Step, StepReport, TrainError, Trainer};
