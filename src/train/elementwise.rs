//! Loops over all elements of all parameters, divided among threads.

use super::Parameter;
use crate::{backend::parallel_map, ops::Real};
use rayon::current_num_threads;

/// Below this many elements, one thread is faster.
const MIN_PARALLEL_LEN: usize = 1 << 16;

/// Calls `run` on each parameter. The results are in the order of the parameters.
pub(super) fn for_each<'a, E: Real, Value: Send>(
    parameters: &'a mut [Parameter<E>],
    run: impl Fn(&'a mut Parameter<E>) -> Value + Send + Sync,
) -> Vec<Value> {
    let parts = balance_over_threads(parameters.iter_mut().collect(), |p| p.values.len());
    let run = |part: Vec<_>| part.into_iter().map(&run).collect::<Vec<_>>();
    parallel_map(parts, run).into_iter().flatten().collect()
}

/// Calls `update` on each parameter and its vector of each slot.
pub(super) fn update_elements<E: Real, const SLOTS: usize>(
    parameters: &mut [Parameter<E>],
    slots: [&mut [Vec<E>]; SLOTS],
    update: impl Fn(&mut Parameter<E>, [&mut [E]; SLOTS]) + Send + Sync,
) {
    let mut slots = slots.map(|slot| slot.iter_mut());
    let work = parameters.iter_mut().map(|parameter| {
        let state = slots.each_mut().map(|slot| {
            let values = slot.next().map(Vec::as_mut_slice);
            values.unwrap_or_default()
        });
        (parameter, state)
    });
    let parts = balance_over_threads(work.collect(), |(p, _)| p.values.len());
    parallel_map(parts, |part| {
        for (parameter, state) in part {
            update(parameter, state);
        }
    });
}

/// Divides `work` into consecutive parts of about equally many elements, at most one per thread.
fn balance_over_threads<Work>(work: Vec<Work>, elements: impl Fn(&Work) -> usize) -> Vec<Vec<Work>> {
    let total = work.iter().map(&elements).sum::<usize>();
    let threads = if total < MIN_PARALLEL_LEN { 1 } else { current_num_threads() };
    let mut parts: Vec<_> = (0..threads).map(|_| Vec::new()).collect();
    let mut start = 0;
    for work in work {
        let middle = start + elements(&work) / 2;
        start += elements(&work);
        parts[(middle * threads / total.max(1)).min(threads - 1)].push(work);
    }
    parts.retain(|part| !part.is_empty());
    parts
}
