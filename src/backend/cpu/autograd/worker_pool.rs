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

/// The time for which a thread spins for work before it sleeps.
const SPIN_TIME: Duration = Duration::from_micros(100);

/// Runs `run` on all parts in parallel, the last part on the calling thread. Returns the results in the
/// order of the parts.
pub fn parallel_map<Part: Send, Value: Send>(mut parts: Vec<Part>, run: impl Fn(Part) -> Value + Sync) -> Vec<Value> {
    let Some(last) = parts.pop() else {
        return Vec::new();
    };
    let (false, Some(pool)) = (parts.is_empty(), worker_pool()) else {
        return parts.into_iter().chain([last]).map(run).collect();
    };
    let (mut values, pending) = (Vec::new(), AtomicUsize::new(parts.len()));
    values.resize_with(parts.len(), || None);
    let last = pool.in_place_scope(|scope| {
        for (value, part) in values.iter_mut().zip(parts) {
            let (run, pending) = (&run, &pending);
            scope.spawn(move |_| {
                *value = Some(run(part));
                spin_for_work(pool);
                pending.fetch_sub(1, Ordering::Release);
            });
        }
        let last = run(last);
        spin_until_done(&pending);
        last
    });
    values.into_iter().flatten().chain([last]).collect()
}

/// A pool of one thread fewer than rayon's, because the calling thread works too. Rayon's own pool would
/// have one thread too many, which would steal time while it looks for work.
fn worker_pool() -> Option<&'static ThreadPool> {
    static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();
    let pool = POOL.get_or_init(|| {
        let threads = rayon::current_num_threads().saturating_sub(1).max(1);
        // If no thread can be started, the calling thread does all the work.
        ThreadPoolBuilder::new().num_threads(threads).build().ok()
    });
    pool.as_ref()
}

/// Lets this worker thread look for its next part for a while before it sleeps.
fn spin_for_work(pool: &ThreadPool) {
    thread_local! {
        // A thread that spins already must not spin again inside: nested loops would fill the stack.
        static IS_SPINNING: Cell<bool> = const { Cell::new(false) };
    }
    if IS_SPINNING.get() {
        return;
    }
    pool.spawn(|| {
        // Another thread may have taken this job.
        if IS_SPINNING.replace(true) {
            return;
        }
        let mut start = Instant::now();
        while start.elapsed() < SPIN_TIME {
            match rayon::yield_now() {
                Some(rayon::Yield::Executed) => start = Instant::now(),
                _ => hint::spin_loop(),
            }
        }
        IS_SPINNING.set(false);
    });
}

/// Spins for at most [`SPIN_TIME`] until the other parts are done. For small parts, sleeping and waking up
/// takes longer.
fn spin_until_done(pending: &AtomicUsize) {
    let start = Instant::now();
    while pending.load(Ordering::Acquire) > 0 && start.elapsed() < SPIN_TIME {
        hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_order_for_callers_on_any_thread() {
        let squares = |count: usize| parallel_map((0..count).collect(), |i: usize| i * i);
        let expected = |count: usize| (0..count).map(|i| i * i).collect::<Vec<_>>();
        for count in [0, 1, 2, 7, 100] {
            assert_eq!(squares(count), expected(count));
        }
        // Called by all threads of another pool at once.
        let pool = ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        pool.broadcast(|_| assert_eq!(squares(50), expected(50)));
        // Called by a part.
        let nested = parallel_map(vec![3, 4, 5], squares);
        assert_eq!(nested, [3, 4, 5].map(expected));
        // Often enough that a leak of stack or threads would show.
        for _ in 0..20_000 {
            assert_eq!(squares(3), [0, 1, 4]);
        }
    }

    #[test]
    #[should_panic = "a part"]
    fn a_panic_in_a_part_reaches_the_caller() {
        parallel_map(vec![1, 2, 3], |i| assert!(i > 1, "a part"));
    }
}
