/// How the learning rate changes from step to step.
pub trait Schedule {
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
