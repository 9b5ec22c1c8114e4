//! Training.
//!
//! The caller writes the step: forward with [`model.recording()`](Record::recording), loss, backward, [`update`]. A
//! [`Trainer`] adds metrics, checkpoints, stopping and resuming.
//!
//! | for | there is |
//! | --- | --- |
//! | losses | [`ops::cross_entropy`](crate::ops::cross_entropy()), [`ops::mean_squared_error`](crate::ops::mean_squared_error()) and others of [`ops`](crate::ops) |
//! | optimizers | [`Sgd`], [`Adam`], [`AdamW`]; implement [`Optimizer`] for others; [`GroupRates`] for rates by parameter and frozen ones; [`MovingAverage`] of the parameters |
//! | schedules | a number, [`LinearSchedule`], [`OneCycle`], [`WarmupCosine`], [`WarmupExponential`], [`InverseSqrt`], one after another by [`Schedule::then`], a function by [`FnSchedule`] |
//! | data | [`Batches`]: the examples of each step, shuffled in each epoch |
//! | validation | [`Evaluation`]: loss, perplexity and accuracy |
//! | large batches | [`GradientsOf::into_recording`] adds up gradients |
//! | clipping by value, noise | [`GradientsOf::map`] |
//! | mixed precision | [`nn::MixedBf16`](crate::nn::MixedBf16) in bfloat16, [`master_gradients`] in 16-bit floats |
//! | ports of models | [`compare_gradients`] with those of the original |
//! | files | checkpoints by [`Trainer::checkpoint_every`] and [`Trainer::resume`], [`Metrics`], also for TensorBoard, and [`plot::training_curves`](crate::plot::training_curves()) of them |

mod adam;
mod checkpoint;
mod compare_gradients;
mod data_parallel;
mod error;
mod gradients;
mod metrics;
mod moving_average;
mod optimizer;
mod optimizer_wrappers;
mod parameter_mut;
mod parameters;
mod recording;
mod schedule;
mod sgd;
mod tensor_board;
mod trainer;
mod training_loop;
mod update;

pub use adam::{Adam, AdamW};
pub(crate) use checkpoint::{ParameterInfo, parameter_infos};
pub use checkpoint::{checkpoint_of, ensure_not_of_checkpoint};
pub use compare_gradients::{Differences, compare_gradients};
pub use data_parallel::update_replicated;
pub use error::{ResumeError, ResumeNote, TrainError};
pub use gradients::{GradientsOf, master_gradients};
pub use metrics::Metrics;
pub use moving_average::MovingAverage;
pub use optimizer::{Optimizer, OptimizerState, Slot};
pub use optimizer_wrappers::{GroupRates, ShardedState};
pub use parameter_mut::ParameterMut;
pub use parameters::{Parameter, Parameters};
pub use recording::{Backpropagate, GradientTape, Record, Recording};
pub use schedule::{
    Chained, FnSchedule, InverseSqrt, LinearSchedule, OneCycle, Schedule, WarmupCosine, WarmupExponential,
};
pub use sgd::Sgd;
pub use trainer::Trainer;
pub use training_loop::{Batches, Evaluation, Step, StepReport};
pub use update::update;
pub(crate) use update::update_by_norm;
