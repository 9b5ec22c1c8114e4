use rayon::{ThreadPool, ThreadPoolBuilder, Yield};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, OnceLock};
use std::time::{Duration, Instant};
use std::{cell::Cell, error::Error, iter, thread};

/// The time for which a thread looks for work before it sleeps. A virtual machine may take long to wake a thread up.
/// Between two looks the thread yields its core to threads that have work.
const SPIN_TIME: Duration = Duration::from_millis(2);

/// Runs `run` on all parts in parallel, the last part on the calling thread. Returns the results in the
/// order of the parts.
pub fn parallel_map<Part: Send, Value: Send>(parts: Vec<Part>, run: impl Fn(Part) -> Value + Sync) -> Vec<Value> {
    let mut values: Vec<Option<Value>> = parts.iter().map(|_| None).collect();
    let task = |(value, part): (&mut Option<Value>, Part)| *value = Some(run(part));
    let task = &task;
    run_tasks(values.iter_mut().zip(parts).map(|slot| Box::new(move || task(slot)) as Task).collect());
    values.into_iter().flatten().collect()
}

/// The computation of one part.
type Task<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Runs all tasks in parallel, the last one on the calling thread. Tasks are boxed, so that this code is compiled once.
fn run_tasks(mut tasks: Vec<Task>) {
    let Some(last) = tasks.pop() else {
        return;
    };
    // A single task starts no pool.
    let Some(pool) = (!tasks.is_empty()).then(worker_pool).flatten() else {
        return tasks.into_iter().chain([last]).for_each(|task| task());
    };
    let pending = AtomicUsize::new(tasks.len());
    pool.in_place_scope(|scope| {
        for task in tasks {
            let pending = &pending;
            scope.spawn(move |_| {
                task();
                spin_for_work(pool);
                pending.fetch_sub(1, Ordering::Release);
            });
        }
        last();
        spin_until_done(pool, &pending);
    });
}

/// The number of threads that divide work: those of the pool that the caller is in, or else of rayon's own pool. It is
/// 1 if the system lets rayon start no such pool.
pub fn num_threads() -> usize {
    static OF_RAYON: LazyLock<usize> = LazyLock::new(|| match ThreadPoolBuilder::new().build_global() {
        // The only error with a source is one of the system. After such an error, rayon panics when its pool is used.
        Err(error) if error.source().is_some() => 1,
        _ => rayon::current_num_threads(),
    });
    // Without threads, as in wasm, the pool that rayon starts itself is the calling thread.
    if cfg!(target_family = "wasm") || rayon::current_thread_index().is_some() {
        return rayon::current_num_threads();
    }
    *OF_RAYON
}

/// A pool of one thread fewer than rayon's, but at least one: the calling thread works too. Rayon's own pool would have
/// one thread too many, which would steal time while it looks for work.
fn worker_pool() -> Option<&'static ThreadPool> {
    static POOL: OnceLock<Option<ThreadPool>> = OnceLock::new();
    let pool = POOL.get_or_init(|| {
        // A new thread counts the threads, because it is in no pool. The first caller may be in a small one.
        let counting = thread::Builder::new().spawn(num_threads);
        let threads = counting.ok().and_then(|thread| thread.join().ok()).unwrap_or(1);
        let threads = threads.saturating_sub(1).max(1);
        // A limit of processes may allow fewer threads. If none can be started, the calling thread does all the work.
        let mut counts = iter::successors(Some(threads), |count| (*count > 1).then_some(count / 2));
        counts.find_map(|count| ThreadPoolBuilder::new().num_threads(count).build().ok())
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
        // Any thread of the pool may have taken this job, even one that spins already.
        if IS_SPINNING.replace(true) {
            return;
        }
        let mut start = Instant::now();
        while start.elapsed() < SPIN_TIME {
            match rayon::yield_now() {
                Some(Yield::Executed) => start = Instant::now(),
                _ => thread::yield_now(),
            }
        }
        IS_SPINNING.set(false);
    });
}

/// Spins for at most [`SPIN_TIME`] until the other parts are done. For most parts, sleeping and waking up takes longer.
fn spin_until_done(pool: &ThreadPool, pending: &AtomicUsize) {
    let start = Instant::now();
    while pending.load(Ordering::Acquire) > 0 && start.elapsed() < SPIN_TIME {
        // If this thread is a worker, its parts may be in its own queue, and no other thread may be free to run them.
        if pool.yield_now() != Some(Yield::Executed) {
            thread::yield_now();
        }
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
