use std::fmt::Debug;

/// How the learning rate changes from step to step. Two that are written the same by `Debug` are the
/// same.
pub trait Schedule: Debug {
    /// The learning rate of a step, the first being 0.
    fn learning_rate(&self, step: usize) -> f64;
}

/// Up to `peak` in equal steps over `warmup_steps`, then down to `last` along half a cosine
/// until `steps`, and `last` from there on.
///
/// ```
/// use typed_transformer::train::{Schedule, WarmupCosine};
/// let schedule = WarmupCosine { peak: 1.0, last: 0.1, warmup_steps: 10, steps: 110 };
/// assert_eq!(schedule.learning_rate(5), 0.6);
/// assert_eq!(schedule.learning_rate(9), 1.0);
/// assert!((schedule.learning_rate(60) - 0.55).abs() < 1e-12);
/// assert_eq!(schedule.learning_rate(500), 0.1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WarmupCosine {
    /// The highest rate.
    pub peak: f64,
    /// The lowest rate after it.
    pub last: f64,
    /// Steps until the highest rate.
    pub warmup_steps: usize,
    /// Steps until the lowest rate.
    pub steps: usize,
}

impl Schedule for WarmupCosine {
    fn learning_rate(&self, step: usize) -> f64 {
        if step < self.warmup_steps {
            return self.peak * (step + 1) as f64 / self.warmup_steps as f64;
        }
        let decay_steps = self.steps.saturating_sub(self.warmup_steps).max(1);
        let progress = ((step - self.warmup_steps) as f64 / decay_steps as f64).min(1.0);
        let cosine = (std::f64::consts::PI * progress).cos();
        self.last + (self.peak - self.last) * (1.0 + cosine) / 2.0
    }
}

/// The same learning rate at every step.
///
/// ```
/// use typed_transformer::train::{Constant, Schedule};
/// assert_eq!(Constant(0.1).learning_rate(1_000), 0.1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constant(pub f64);

impl Schedule for Constant {
    fn learning_rate(&self, _: usize) -> f64 {
        self.0
    }
}

/// From `first` to `peak` in equal steps over `warmup_steps`, then, `hold_steps` later, down by the
/// factor `decay` every `decay_steps`, never below `last` (*Another annotated transformer*; optax's
/// `warmup_exponential_decay_schedule`).
///
/// ```
/// use typed_transformer::train::{Schedule, WarmupExponential};
/// // The post's.
/// let schedule = WarmupExponential {
///     first: 0.5, peak: 0.8, warmup_steps: 100, hold_steps: 100, decay_steps: 200, decay: 0.5, last: 1e-3,
/// };
/// assert_eq!(schedule.learning_rate(0), 0.5);
/// assert_eq!(schedule.learning_rate(200), 0.8);
/// assert_eq!(schedule.learning_rate(400), 0.4);
/// assert_eq!(schedule.learning_rate(10_000), 1e-3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WarmupExponential {
    /// The rate of the first step.
    pub first: f64,
    /// The highest rate.
    pub peak: f64,
    /// Steps until the highest rate.
    pub warmup_steps: usize,
    /// Steps at the highest rate.
    pub hold_steps: usize,
    /// Steps in which the rate falls by the factor `decay`.
    pub decay_steps: usize,
    /// What is left of the rate after as many steps.
    pub decay: f64,
    /// The lowest rate after the highest.
    pub last: f64,
}

impl Schedule for WarmupExponential {
    fn learning_rate(&self, step: usize) -> f64 {
        if step < self.warmup_steps {
            let progress = step as f64 / self.warmup_steps as f64;
            return self.first + (self.peak - self.first) * progress;
        }
        let steps = step.saturating_sub(self.warmup_steps.saturating_add(self.hold_steps));
        let decays = steps as f64 / self.decay_steps.max(1) as f64;
        (self.peak * self.decay.powf(decays)).max(self.last)
    }
}

/// `width^-½ · min(s^-½, s · warmup_steps^-1½)` at the `s`-th step, the first being 1: up in equal
/// steps, then down with the root of the step ([*Attention Is All You
/// Need*](https://arxiv.org/abs/1706.03762), 5.3).
///
/// ```
/// use typed_transformer::train::{InverseSqrt, Schedule};
/// // The paper's; the highest rate is that of the last step of the warm-up.
/// let schedule = InverseSqrt { width: 512, warmup_steps: 4_000 };
/// assert!((schedule.learning_rate(3_999) - (512.0f64 * 4_000.0).powf(-0.5)).abs() < 1e-12);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InverseSqrt {
    /// Width of the model's embeddings.
    pub width: usize,
    /// Steps until the highest rate.
    pub warmup_steps: usize,
}

impl Schedule for InverseSqrt {
    fn learning_rate(&self, step: usize) -> f64 {
        let (step, warmup) = (step as f64 + 1.0, self.warmup_steps.max(1) as f64);
        (self.width as f64).powf(-0.5) * step.powf(-0.5).min(step * warmup.powf(-1.5))
    }
}
