//! Loops over the elements of a parameter, divided among threads.

use crate::backend::{Backend, parallel_map};
use crate::ops::Real;
use rayon::current_num_threads;

/// Below this many elements, one thread is faster.
const MIN_PARALLEL_LEN: usize = 1 << 15;

/// Calls `update` with the values, the gradient and the slots of all elements, once on each thread.
pub(super) fn update_elements<E: Real, const SLOTS: usize>(
    values: &mut [E],
    gradient: &[E],
    slots: [&mut [E]; SLOTS],
    update: impl Fn(&mut [E], &[E], [&mut [E]; SLOTS]) + Sync,
) {
    if values.len() < MIN_PARALLEL_LEN {
        return update(values, gradient, slots);
    }
    let part_len = values.len().div_ceil(current_num_threads());
    let mut slots = slots.map(|slot| slot.chunks_mut(part_len));
    let parts = values.chunks_mut(part_len).zip(gradient.chunks(part_len));
    let parts = parts.map(|(values, gradient)| {
        let slots = slots.each_mut().map(|slot| slot.next().unwrap_or_default());
        (values, gradient, slots)
    });
    parallel_map(parts.collect(), |(values, gradient, slots)| update(values, gradient, slots));
}

/// `Σ x²`, in `f64`. It does not depend on the number of threads.
pub(super) fn sum_of_squares<E: Real, D: Backend<E>>(elements: &[E]) -> f64 {
    /// The elements that one thread sums at a time.
    const CHUNK_LEN: usize = 1 << 16;
    let sum = |chunks: &[E]| chunks.chunks(CHUNK_LEN).map(D::slice_sum_of_squares).collect::<Vec<_>>();
    let threads = if elements.len() < MIN_PARALLEL_LEN { 1 } else { current_num_threads() };
    let part_len = elements.len().div_ceil(threads).next_multiple_of(CHUNK_LEN).max(CHUNK_LEN);
    parallel_map(elements.chunks(part_len).collect(), sum).into_iter().flatten().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dfdx::tensor::Cpu;
    use rayon::ThreadPoolBuilder;

    fn numbers(len: usize, seed: usize) -> Vec<f64> {
        (0..len).map(|i| ((i + seed) * 7919 % 1013) as f64 - 500.0).collect()
    }

    #[test]
    fn every_element_is_updated_once() {
        for len in [0, 1, 7, MIN_PARALLEL_LEN - 1, MIN_PARALLEL_LEN, MIN_PARALLEL_LEN + 1, 300_001] {
            let (mut values, gradient, mut slot) = (numbers(len, 1), numbers(len, 2), numbers(len, 3));
            let expected: Vec<f64> = (0..len).map(|i| values[i] + gradient[i] * slot[i]).collect();
            update_elements(&mut values, &gradient, [&mut slot], |values, gradient, [slot]| {
                for ((value, gradient), slot) in values.iter_mut().zip(gradient).zip(slot) {
                    *value += gradient * *slot;
                    *slot = 1.0;
                }
            });
            assert_eq!(values, expected);
            assert_eq!(slot, vec![1.0; len]);
        }
    }

    #[test]
    fn a_sum_of_squares_does_not_depend_on_the_number_of_threads() {
        for len in [0, 1, 15, 1_000, 65_536, 65_537, 400_003] {
            let elements: Vec<f32> = numbers(len, 1).iter().map(|x| *x as f32 * 0.01).collect();
            let expected: f64 = elements.iter().map(|x| f64::from(*x).powi(2)).sum();
            let sums = [1, 2, 3, 5].map(|threads| {
                let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| sum_of_squares::<f32, Cpu>(&elements))
            });
            assert_eq!(sums, [sums[0]; 4]);
            assert!((sums[0] - expected).abs() <= 1e-12 * expected);
        }
    }
}
