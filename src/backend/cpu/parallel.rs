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
        Self { chunk: part.div_ceil(chunks), chunks }
    }

    /// The same of units that are so many each.
    pub fn times(self, each: usize) -> Self {
        Self { chunk: self.chunk * each, ..self }
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
                stay_awake(others);
                left.fetch_sub(1, Ordering::Release);
            });
        }
        let last = run(last);
        wait_awake(&left);
        last
    });
    values.into_iter().flatten().chain([last]).collect()
}

/// The threads beside the one that asks, one fewer than rayon has where this is first asked for. Not
/// rayon's own: the one too many would take its time from the others, looking for work.
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
        // Whether this thread looks already: one in the other, loops would fill the stack.
        static LOOKS: Cell<bool> = const { Cell::new(false) };
    }
    if LOOKS.get() {
        return;
    }
    others.spawn(|| {
        // Another thread may have taken it.
        if LOOKS.replace(true) {
            return;
        }
        let mut start = Instant::now();
        while start.elapsed() < AWAKE {
            match rayon::yield_now() {
                Some(rayon::Yield::Executed) => start = Instant::now(),
                _ => hint::spin_loop(),
            }
        }
        LOOKS.set(false);
    });
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
    fn parts_come_back_in_order_from_wherever_they_are_asked_for() {
        let squares = |count: usize| on_all_threads((0..count).collect(), |i: usize| i * i);
        let expected = |count: usize| (0..count).map(|i| i * i).collect::<Vec<_>>();
        for count in [0, 1, 2, 7, 100] {
            assert_eq!(squares(count), expected(count));
        }
        // From threads of another pool, all at once.
        let pool = ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        pool.broadcast(|_| assert_eq!(squares(50), expected(50)));
        // From a part.
        let nested = on_all_threads(vec![3, 4, 5], squares);
        assert_eq!(nested, [3, 4, 5].map(expected));
        // For so long that each would end if what is begun were not ended.
        for _ in 0..20_000 {
            assert_eq!(squares(3), [0, 1, 4]);
        }
    }

    #[test]
    #[should_panic = "a part"]
    fn a_panic_in_a_part_is_one_of_the_caller() {
        on_all_threads(vec![1, 2, 3], |i| assert!(i > 1, "a part"));
    }

    #[test]
    fn every_unit_is_in_one_chunk_and_the_parts_are_alike() {
        for (units, cost, most) in [(1, 1, 1), (750, 10, 64), (768, 1 << 20, 256), (13, 1 << 20, 4)] {
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
