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
#[diagnostic::on_unimplemented(
    message = "expected a schedule of learning rates: an `f64`, or a type that implements `Schedule`",
    label = "this is not a schedule",
    note = "a constant rate is an `f64`, such as `f64::from(rate)`; a function of the step is `FnSchedule::new(\"its formula\", |step| ..)`"
)]
pub trait Schedule: Debug {
    /// The learning rate of a step, the first being 0.
    fn learning_rate(&self, step: usize) -> f64;

    /// This schedule for `steps` steps, and from then on `next`, which counts its own steps from 0 (optax's
    /// `join_schedules`).
    ///
    /// ```
    /// use typed_transformer::train::{LinearSchedule, Schedule};
    /// let warmup = LinearSchedule { init_value: 0.0, end_value: 1.0, steps: 10 };
    /// let schedule = warmup.then(10, LinearSchedule { init_value: 1.0, end_value: 0.0, steps: 100 });
    /// assert_eq!([5, 10, 60].map(|step| schedule.learning_rate(step)), [0.5, 1.0, 0.5]);
    /// ```
    fn then<Next: Schedule>(self, steps: usize, next: Next) -> Chained<Self, Next>
    where
        Self: Sized,
    {
        Chained { first: self, steps, next }
    }
}

/// A schedule that is chosen at run time.
impl<S: Schedule + ?Sized> Schedule for Box<S> {
    fn learning_rate(&self, step: usize) -> f64 {
        (**self).learning_rate(step)
    }
}

/// A schedule that is chosen at run time and borrowed.
impl Schedule for &dyn Schedule {
    fn learning_rate(&self, step: usize) -> f64 {
        (**self).learning_rate(step)
    }
}

/// One schedule after another, made by [`Schedule::then`].
///
/// ```
/// use typed_transformer::train::{Chained, Schedule};
/// let schedule: Chained<f64, f64> = 0.1.then(100, 0.01);
/// assert_eq!([99, 100].map(|step| schedule.learning_rate(step)), [0.1, 0.01]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chained<First, Next> {
    first: First,
    steps: usize,
    next: Next,
}

impl<First: Schedule, Next: Schedule> Schedule for Chained<First, Next> {
    fn learning_rate(&self, step: usize) -> f64 {
        match step.checked_sub(self.steps) {
            None => self.first.learning_rate(step),
            Some(step) => self.next.learning_rate(step),
        }
    }
}

/// A schedule that is a function of the step.
///
/// ```
/// use typed_transformer::train::{FnSchedule, Schedule};
/// let schedule = FnSchedule::new("0.1 / (1 + step)", |step| 0.1 / (1 + step) as f64);
/// assert_eq!(schedule.learning_rate(1), 0.05);
/// ```
#[derive(Clone, Copy)]
pub struct FnSchedule<F> {
    text: &'static str,
    learning_rate: F,
}

impl<F: Fn(usize) -> f64> FnSchedule<F> {
    /// The function `learning_rate`. A checkpoint stores `text`, and is resumed only with the same text.
    pub fn new(text: &'static str, learning_rate: F) -> Self {
        Self { text, learning_rate }
    }
}

impl<F: Fn(usize) -> f64> Schedule for FnSchedule<F> {
    fn learning_rate(&self, step: usize) -> f64 {
        (self.learning_rate)(step)
    }
}

crate::error::debug_as!([F] FnSchedule<F>, |this, f| f.write_str(this.text));

/// A straight line from `init_value` to `end_value` over `steps`, and `end_value` from there on (optax's
/// `linear_schedule`).
///
/// ```
/// use typed_transformer::train::{LinearSchedule, Schedule};
/// let schedule = LinearSchedule { init_value: 1.0, end_value: 0.5, steps: 10 };
/// assert_eq!([0, 5, 10, 99].map(|step| schedule.learning_rate(step)), [1.0, 0.75, 0.5, 0.5]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearSchedule {
    /// The learning rate of the first step.
    pub init_value: f64,
    /// The learning rate at the end of the line.
    pub end_value: f64,
    /// The number of steps from `init_value` to `end_value`.
    pub steps: usize,
}

impl Schedule for LinearSchedule {
    fn learning_rate(&self, step: usize) -> f64 {
        let progress = (step as f64 / self.steps.max(1) as f64).min(1.0);
        self.init_value + (self.end_value - self.init_value) * progress
    }
}

/// Half a cosine up from `peak_value / 25` to `peak_value` over the first 0.3 of `steps`, then half a cosine down to
/// `peak_value / 250,000` ([Smith and Topin, 2017](https://arxiv.org/abs/1708.07120), as PyTorch's `OneCycleLR`).
///
/// ```
/// use typed_transformer::train::{OneCycle, Schedule};
/// let schedule = OneCycle { peak_value: 1.0, steps: 101 };
/// assert!((schedule.learning_rate(0) - 0.04).abs() < 1e-12);
/// let highest = (0..101).map(|step| schedule.learning_rate(step)).fold(0.0, f64::max);
/// assert!((highest - 1.0).abs() < 1e-3);
/// assert!((schedule.learning_rate(100) - 4e-6).abs() < 1e-12);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OneCycle {
    /// The highest learning rate.
    pub peak_value: f64,
    /// Steps of the cycle.
    pub steps: usize,
}

impl Schedule for OneCycle {
    fn learning_rate(&self, step: usize) -> f64 {
        const RISE: f64 = 0.3;
        let (init_value, end_value) = (self.peak_value / 25.0, self.peak_value / 250_000.0);
        let half_cosine = |from: f64, to: f64, progress: f64| {
            to + (from - to) * (1.0 + (std::f64::consts::PI * progress.clamp(0.0, 1.0)).cos()) / 2.0
        };
        // The peak is between two steps, as in PyTorch.
        let (step, peak) = (step as f64, RISE * self.steps as f64 - 1.0);
        match step <= peak {
            true => half_cosine(init_value, self.peak_value, step / peak.max(1.0)),
            false => half_cosine(self.peak_value, end_value, (step - peak) / (self.steps as f64 - 1.0 - peak)),
        }
    }
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
        let decayed = self.peak_value * self.decay_rate.powf(decays);
        // `f64::max` would hide a NaN, which is an error of the step.
        if decayed.is_nan() || decayed > self.end_value { decayed } else { self.end_value }
    }
}

/// `width^-½ · min(s^-½, s · warmup_steps^-1½)` at the `s`-th step, the first being 1: linear warmup, then decay with
/// the inverse square root of the step ([*Attention Is All You Need*](https://arxiv.org/abs/1706.03762), 5.3).
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
