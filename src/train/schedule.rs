use std::fmt::Debug;

/// The learning rate as a function of the step.
///
/// A checkpoint stores the `Debug` text: schedules of equal text must compute the same.
///
/// ```
/// use typed_transformer::train::Schedule;
///
/// #[derive(Debug)]
/// struct LinearDecay { init_value: f64, steps: usize }
///
/// impl Schedule for LinearDecay {
///     fn learning_rate(&self, step: usize) -> f64 {
///         self.init_value * (1.0 - step as f64 / self.steps as f64)
///     }
/// }
/// assert_eq!(LinearDecay { init_value: 0.1, steps: 100 }.learning_rate(50), 0.05);
/// assert_eq!(0.1.learning_rate(1_000), 0.1);
/// ```
pub trait Schedule: Debug {
    /// The learning rate of a step, the first being 0.
    fn learning_rate(&self, step: usize) -> f64;
}

/// Linear warmup over `warmup_steps` to `peak_value`, then half a cosine down to `end_value` at step
/// `steps`, and `end_value` from there on (optax's `warmup_cosine_decay_schedule`).
///
/// The warmup is `peak_value · (step + 1) / warmup_steps`: the first step already learns.
///
/// ```
/// use typed_transformer::train::{Schedule, WarmupCosine};
/// let schedule = WarmupCosine { peak_value: 1.0, end_value: 0.1, warmup_steps: 10, steps: 110 };
/// assert_eq!(schedule.learning_rate(5), 0.6);
/// assert_eq!(schedule.learning_rate(9), 1.0);
/// assert!((schedule.learning_rate(60) - 0.55).abs() < 1e-12);
/// assert_eq!(schedule.learning_rate(500), 0.1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WarmupCosine {
    /// The highest learning rate.
    pub peak_value: f64,
    /// The learning rate after the decay.
    pub end_value: f64,
    /// Steps of the warmup.
    pub warmup_steps: usize,
    /// Steps of warmup and decay together.
    pub steps: usize,
}

impl Schedule for WarmupCosine {
    fn learning_rate(&self, step: usize) -> f64 {
        if step < self.warmup_steps {
            return self.peak_value * (step + 1) as f64 / self.warmup_steps as f64;
        }
        let decay_steps = self.steps.saturating_sub(self.warmup_steps).max(1);
        let progress = ((step - self.warmup_steps) as f64 / decay_steps as f64).min(1.0);
        let cosine = (std::f64::consts::PI * progress).cos();
        self.end_value + (self.peak_value - self.end_value) * (1.0 + cosine) / 2.0
    }
}

/// A number is the same learning rate at every step.
impl Schedule for f64 {
    fn learning_rate(&self, _: usize) -> f64 {
        *self
    }
}

/// Linear warmup from `init_value` to `peak_value` over `warmup_steps`, then `hold_steps` at the peak,
/// then exponential decay by `decay_rate` every `decay_steps`, never below `end_value` (*Another
/// annotated transformer*; optax's `warmup_exponential_decay_schedule`).
///
/// ```
/// use typed_transformer::train::{Schedule, WarmupExponential};
/// // The values of the post.
/// let schedule = WarmupExponential {
///     init_value: 0.5,
///     peak_value: 0.8,
///     warmup_steps: 100,
///     hold_steps: 100,
///     decay_steps: 200,
///     decay_rate: 0.5,
///     end_value: 1e-3,
/// };
/// assert_eq!(schedule.learning_rate(0), 0.5);
/// assert_eq!(schedule.learning_rate(200), 0.8);
/// assert_eq!(schedule.learning_rate(400), 0.4);
/// assert_eq!(schedule.learning_rate(10_000), 1e-3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WarmupExponential {
    /// The learning rate of the first step.
    pub init_value: f64,
    /// The highest learning rate.
    pub peak_value: f64,
    /// Steps of the warmup.
    pub warmup_steps: usize,
    /// Steps at the highest learning rate.
    pub hold_steps: usize,
    /// Steps in which the learning rate falls by the factor `decay_rate`.
    pub decay_steps: usize,
    /// The factor, below 1.
    pub decay_rate: f64,
    /// The lowest learning rate after the peak.
    pub end_value: f64,
}

impl Schedule for WarmupExponential {
    fn learning_rate(&self, step: usize) -> f64 {
        if step < self.warmup_steps {
            let progress = step as f64 / self.warmup_steps as f64;
            return self.init_value + (self.peak_value - self.init_value) * progress;
        }
        let steps = step.saturating_sub(self.warmup_steps.saturating_add(self.hold_steps));
        let decays = steps as f64 / self.decay_steps.max(1) as f64;
        (self.peak_value * self.decay_rate.powf(decays)).max(self.end_value)
    }
}

/// `width^-½ · min(s^-½, s · warmup_steps^-1½)` at the `s`-th step, the first being 1: linear warmup, then
/// decay with the inverse square root of the step
/// ([*Attention Is All You Need*](https://arxiv.org/abs/1706.03762), 5.3).
///
/// ```
/// use typed_transformer::train::{InverseSqrt, Schedule};
/// // The values of the paper. The last step of the warmup has the highest learning rate.
/// let schedule = InverseSqrt { width: 512, warmup_steps: 4_000 };
/// assert!((schedule.learning_rate(3_999) - (512.0f64 * 4_000.0).powf(-0.5)).abs() < 1e-12);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InverseSqrt {
    /// The width of the model's embeddings, `d_model` in the paper.
    pub width: usize,
    /// Steps of the warmup.
    pub warmup_steps: usize,
}

impl Schedule for InverseSqrt {
    fn learning_rate(&self, step: usize) -> f64 {
        let (step, warmup) = (step as f64 + 1.0, self.warmup_steps.max(1) as f64);
        (self.width as f64).powf(-0.5) * step.powf(-0.5).min(step * warmup.powf(-1.5))
    }
}
