//! Work on all threads, in the same parts from run to run: what comes out for a number of threads is
//! always the same to the last bit.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::{
    cell::Cell,
    hint,
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

/// The multiply-adds below which another thread costs more than it brings.
const WORTH_A_THREAD: usize = 1 << 20;

/// How long a thread waits for others before it sleeps.
const AWAKE: Duration = Duration::from_micros(100);

/// How work on rows, or on sequences, is shared out.
#[derive(Clone, Copy)]
pub struct Share {
    /// How many are worked on at once, so that what belongs to them stays in the cache.
    pub chunk: usize,
    /// How many of such chunks one thread works on.
    chunks: usize,
}

impl Share {
    /// Of `units` that cost so many multiply-adds each, with at most `most` in a chunk.
    pub fn new(units: usize, cost: usize, most: usize) -> Self {
        let threads = match units * cost < WORTH_A_THREAD {
            true => 1,
            false => rayon::current_num_threads(),
        };
        let part = units.div_ceil(threads).max(1);
        let chunks = part.div_ceil(most.max(1));
        Self {
            chunk: part.div_ceil(chunks),
            chunks,
        }
    }

    /// Runs `run` on the chunks of each thread; what it returns is in the order of the chunks.
    pub fn for_each<Chunk: Send, Value: Send>(
        self,
        chunks: impl Iterator<Item = Chunk>,
        run: impl Fn(Vec<Chunk>) -> Value + Send + Sync,
    ) -> Vec<Value> {
        let mut chunks: Vec<_> = chunks.collect();
        let mut parts = Vec::new();
        while chunks.len() > self.chunks {
            let rest = chunks.split_off(self.chunks);
            parts.push(std::mem::replace(&mut chunks, rest));
        }
        parts.push(chunks);
        on_all_threads(parts, run)
    }
}

/// Runs `run` on each part at the same time, the last of them on this thread; what it returns is in the
/// order of the parts.
pub fn on_all_threads<Part: Send, Value: Send>(
    mut parts: Vec<Part>,
    run: impl Fn(Part) -> Value + Sync,
) -> Vec<Value> {
    let Some(last) = parts.pop() else {
        return Vec::new();
    };
    let (false, Some(others)) = (parts.is_empty(), others()) else {
        return parts.into_iter().chain([last]).map(run).collect();
    };
    let (mut values, left) = (Vec::new(), AtomicUsize::new(parts.len()));
    values.resize_with(parts.len(), || None);
    let last = others.in_place_scope(|scope| {
        for (value, part) in values.iter_mut().zip(parts) {
            let (run, left) = (&run, &left);
            scope.spawn(move |_| {
                *value = Some(run(part));
                left.fetch_sub(1, Ordering::Release);
                stay_awake(others);
            });
        }
        let last = run(last);
        wait_awake(&left);
        last
    });
    values.into_iter().flatten().chain([last]).collect()
}

/// The threads beside the one that asks. Not rayon's own, of which there is one for each processor:
/// the one too many takes its time from the others, looking for work.
fn others() -> Option<&'static ThreadPool> {
    static OTHERS: OnceLock<Option<ThreadPool>> = OnceLock::new();
    let others = OTHERS.get_or_init(|| {
        let threads = rayon::current_num_threads().saturating_sub(1).max(1);
        // Without other threads the one that asks does the work.
        ThreadPoolBuilder::new().num_threads(threads).build().ok()
    });
    others.as_ref()
}

/// Lets this thread, one of the others, look for its next part for a while before it sleeps.
fn stay_awake(others: &ThreadPool) {
    thread_local! {
        static IS_AWAKE: Cell<bool> = const { Cell::new(false) };
    }
    if !IS_AWAKE.replace(true) {
        others.spawn(|| {
            let mut start = Instant::now();
            while start.elapsed() < AWAKE {
                match rayon::yield_now() {
                    Some(rayon::Yield::Executed) => start = Instant::now(),
                    _ => hint::spin_loop(),
                }
            }
            IS_AWAKE.set(false);
        });
    }
}

/// Waits for the others, if they are about to be done: falling asleep and waking up takes longer than
/// what is left of parts as small as these.
fn wait_awake(left: &AtomicUsize) {
    let start = Instant::now();
    while left.load(Ordering::Acquire) > 0 && start.elapsed() < AWAKE {
        hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_is_in_one_chunk_and_the_parts_are_alike() {
        for (units, cost, most) in [
            (1, 1, 1),
            (750, 10, 64),
            (768, 1 << 20, 256),
            (13, 1 << 20, 4),
        ] {
            let share = Share::new(units, cost, most);
            assert!((1..=most).contains(&share.chunk));
            let numbers: Vec<usize> = (0..units).collect();
            let parts = share.for_each(numbers.chunks(share.chunk), |chunks| chunks.concat());
            assert_eq!(parts.concat(), numbers);
            let longest = parts.iter().map(Vec::len).max().unwrap();
            assert!(longest <= units.div_ceil(parts.len()) + share.chunk);
        }
    }
}
