//! The loops of the optimizers, over elements that one thread has. The steps are generic in the dtype; their methods
//! for `f32` are compiled in this crate, which is optimised.

use crate::simd::vectorized;
use num_traits::Float;

/// The hyperparameters of one step of Adam.
#[derive(Clone, Copy, Debug)]
pub struct AdamStep<E> {
    /// The learning rate over the bias correction of `m`: `rate / (1 - β₁ᵗ)`.
    pub corrected_rate: E,
    /// `1 / √(1 - β₂ᵗ)`: the bias correction of `√v`.
    pub inv_sqrt_correction: E,
    pub beta1: E,
    pub beta2: E,
    pub epsilon: E,
    /// `1 - rate · weight_decay`.
    pub decay_factor: E,
}

impl<E: Float> AdamStep<E> {
    /// `g ← factor · g`, `m ← β₁ m + (1 - β₁) g`, `v ← β₂ v + (1 - β₂) g²`,
    /// `θ ← decay · θ - rate · m / (√v · correction + ε)`.
    pub fn update(&self, factor: E, values: &mut [E], gradient: &[E], [exp_avg, exp_avg_sq]: [&mut [E]; 2]) {
        let Self { corrected_rate, inv_sqrt_correction, beta1, beta2, epsilon, decay_factor } = *self;
        vectorized!({
            let elements = values.iter_mut().zip(gradient);
            let elements = elements.zip(exp_avg.iter_mut().zip(exp_avg_sq.iter_mut()));
            for ((value, &gradient), (m, v)) in elements {
                let gradient = factor * gradient;
                *m = beta1 * *m + (E::one() - beta1) * gradient;
                *v = beta2 * *v + (E::one() - beta2) * gradient * gradient;
                *value = *value * decay_factor - corrected_rate * *m / (v.sqrt() * inv_sqrt_correction + epsilon);
            }
        });
    }
}

impl AdamStep<f32> {
    /// [`update`](Self::update), compiled here.
    pub fn update_f32(&self, factor: f32, values: &mut [f32], gradient: &[f32], averages: [&mut [f32]; 2]) {
        self.update(factor, values, gradient, averages);
    }
}

/// The hyperparameters of one step of gradient descent with momentum.
#[derive(Clone, Copy, Debug)]
pub struct SgdStep<E> {
    pub rate: E,
    pub momentum: E,
}

impl<E: Float> SgdStep<E> {
    /// `v ← momentum · v + factor · g`, `θ ← θ - rate · v`.
    pub fn update(&self, factor: E, values: &mut [E], gradient: &[E], velocity: &mut [E]) {
        let Self { rate, momentum } = *self;
        vectorized!({
            for ((value, &gradient), velocity) in values.iter_mut().zip(gradient).zip(velocity.iter_mut()) {
                *velocity = momentum * *velocity + factor * gradient;
                *value = *value - rate * *velocity;
            }
        });
    }
}

impl SgdStep<f32> {
    /// [`update`](Self::update), compiled here.
    pub fn update_f32(&self, factor: f32, values: &mut [f32], gradient: &[f32], velocity: &mut [f32]) {
        self.update(factor, values, gradient, velocity);
    }
}

/// `Σ x²`, in `f64`.
pub fn sum_of_squares<E: Float>(elements: &[E]) -> f64 {
    // Independent partial sums, which the compiler can keep in vector registers.
    const LANES: usize = 16;
    vectorized!({
        let widen = |x: E| x.to_f64().unwrap_or(f64::NAN);
        let (chunks, rest) = elements.as_chunks::<LANES>();
        let mut sums = [0.0; LANES];
        for chunk in chunks {
            for (sum, x) in sums.iter_mut().zip(chunk) {
                *sum += widen(*x) * widen(*x);
            }
        }
        let rest = rest.iter().map(|x| widen(*x) * widen(*x));
        sums.into_iter().sum::<f64>() + rest.sum::<f64>()
    })
}

/// [`sum_of_squares`], compiled here.
pub fn sum_of_squares_f32(elements: &[f32]) -> f64 {
    sum_of_squares(elements)
}
