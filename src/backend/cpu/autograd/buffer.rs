use super::prefer_huge_pages;
use std::ops::{Deref, DerefMut};
use std::{cell::RefCell, collections::BTreeMap, mem, sync::Mutex};

/// Scratch memory, aligned to a cache line. A vector that crosses two lines takes twice as long to read.
///
/// Short memory stays with the thread that freed it. The rest returns to a pool for the next buffer of about the same
/// length. Fresh pages in every step would cost more than the arithmetic of most kernels. The pool keeps the memory
/// that one of the last [`MAX_IDLE_TAKES`] buffers used, and frees what is idle for longer.
pub struct Buffer {
    memory: Vec<f32>,
    start: usize,
    len: usize,
}

const CACHE_LINE_BYTES: usize = 64;

/// The number of buffers taken after which idle memory is freed: those of several training steps.
const MAX_IDLE_TAKES: u64 = 1 << 14;

/// Free memory by length. All lengths count elements.
struct Pool {
    free: BTreeMap<usize, Vec<Idle>>,
    /// The number of buffers taken so far.
    takes: u64,
}

/// The memory of a free buffer.
struct Idle {
    memory: Vec<f32>,
    /// The number of buffers that had been taken when it became idle.
    since: u64,
}

static POOL: Mutex<Pool> = Mutex::new(Pool { free: BTreeMap::new(), takes: 0 });

/// The longest memory that a thread keeps for itself, in elements.
const MAX_LOCAL_LEN: usize = 1 << 14;

/// The number of buffers whose memory a thread keeps for itself: at most 1 MB.
const MAX_LOCAL_BUFFERS: usize = 16;

/// The number of buffers that a thread takes from its own memory before it tells the pool.
const TAKES_PER_COUNT: u64 = 256;

/// The short memory that a thread freed last. An attention over short sequences takes some 20 buffers for each of
/// them, for which threads would wait for each other at the pool.
struct LocalPool {
    free: Vec<Vec<f32>>,
    /// The number of buffers taken so far.
    takes: u64,
}

thread_local! {
    static LOCAL_POOL: RefCell<LocalPool> = const { RefCell::new(LocalPool { free: Vec::new(), takes: 0 }) };
}

/// `run` on the pool of this thread; `None` in a thread that ends.
fn with_local_pool(run: impl FnOnce(&mut LocalPool) -> Option<Vec<f32>>) -> Option<Vec<f32>> {
    LOCAL_POOL.try_with(|local| run(&mut local.borrow_mut())).ok()?
}

impl LocalPool {
    /// Free memory of `len` elements.
    fn take(&mut self, len: usize) -> Option<Vec<f32>> {
        let memory = self.free.remove(self.free.iter().rposition(|memory| memory.len() == len)?);
        self.takes += 1;
        if self.takes.is_multiple_of(TAKES_PER_COUNT) {
            pool().count(TAKES_PER_COUNT);
        }
        Some(memory)
    }

    /// Keeps memory. The result is what it does not keep: long memory, or what it has kept for the longest time.
    fn put(&mut self, memory: Vec<f32>) -> Option<Vec<f32>> {
        if memory.len() > MAX_LOCAL_LEN {
            return Some(memory);
        }
        self.free.push(memory);
        (self.free.len() > MAX_LOCAL_BUFFERS).then(|| self.free.remove(0))
    }
}

impl Pool {
    /// The shortest free memory of `len` to `2 len` elements.
    fn take(&mut self, len: usize) -> Option<Vec<f32>> {
        self.count(1);
        let mut fitting = self.free.range_mut(len..=2 * len);
        // The memory used last is the likeliest to be in a cache.
        fitting.find_map(|(_, idle)| idle.pop()).map(|idle| idle.memory)
    }

    /// Counts buffers that were taken. Four times in [`MAX_IDLE_TAKES`] of them, idle memory is freed.
    fn count(&mut self, takes: u64) {
        let quarters = |takes: u64| takes / (MAX_IDLE_TAKES / 4);
        let before = self.takes;
        self.takes += takes;
        if quarters(self.takes) > quarters(before) {
            self.drop_idle();
        }
    }

    /// The length of the memory for `len` elements: `len` rounded up to one of four lengths between two powers of two.
    /// Lengths that change from step to step then share memory, and all free memory is at most about six times the peak
    /// in use.
    fn size_class(len: usize) -> usize {
        len.next_multiple_of((len.next_power_of_two() / 8).max(1))
    }

    fn put(&mut self, memory: Vec<f32>) {
        let since = self.takes;
        self.free.entry(memory.len()).or_default().push(Idle { memory, since });
    }

    fn drop_idle(&mut self) {
        let takes = self.takes;
        self.free.retain(|_, idle| {
            idle.retain(|idle| takes - idle.since < MAX_IDLE_TAKES);
            !idle.is_empty()
        });
    }
}

/// A panic elsewhere cannot break an invariant of the pool, so poisoning is ignored.
fn pool() -> std::sync::MutexGuard<'static, Pool> {
    POOL.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Buffer {
    /// A buffer of arbitrary contents.
    pub fn recycled(len: usize) -> Self {
        if len == 0 {
            return Self { memory: Vec::new(), start: 0, len };
        }
        let capacity = Pool::size_class(len + CACHE_LINE_BYTES / size_of::<f32>() - 1);
        let memory = with_local_pool(|local| local.take(capacity)).or_else(|| pool().take(capacity));
        let memory = memory.unwrap_or_else(|| {
            let fresh = vec![0.0; capacity];
            prefer_huge_pages(&fresh, false);
            fresh
        });
        let start = memory.as_ptr().align_offset(CACHE_LINE_BYTES);
        // `align_offset` may fail by contract; the buffer is then unaligned.
        let start = if start <= capacity - len { start } else { 0 };
        Self { memory, start, len }
    }

    /// A buffer of zeros.
    pub fn zeros(len: usize) -> Self {
        let mut buffer = Self::recycled(len);
        buffer.fill(0.0);
        buffer
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if !self.memory.is_empty() {
            let memory = mem::take(&mut self.memory);
            if let Some(memory) = with_local_pool(|local| local.put(memory)) {
                pool().put(memory);
            }
        }
    }
}

impl Deref for Buffer {
    type Target = [f32];
    fn deref(&self) -> &[f32] {
        &self.memory[self.start..][..self.len]
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [f32] {
        &mut self.memory[self.start..][..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::iter;

    fn pool() -> Pool {
        Pool { free: BTreeMap::new(), takes: 0 }
    }

    /// Takes a buffer of each length, all at once, and puts them back. Returns how many of them were new.
    fn step(pool: &mut Pool, lens: impl IntoIterator<Item = usize>) -> usize {
        let mut new = 0;
        let take = |len: usize| {
            let len = Pool::size_class(len);
            pool.take(len).unwrap_or_else(|| {
                new += 1;
                vec![0.0; len]
            })
        };
        let memory: Vec<_> = lens.into_iter().map(take).collect();
        memory.into_iter().for_each(|memory| pool.put(memory));
        new
    }

    #[test]
    fn a_thread_keeps_the_short_memory_that_it_freed_last() {
        let mut local = LocalPool { free: Vec::new(), takes: 0 };
        assert_eq!(local.put(vec![0.0; MAX_LOCAL_LEN + 1]).map(|memory| memory.len()), Some(MAX_LOCAL_LEN + 1));
        for len in 1..=MAX_LOCAL_BUFFERS {
            assert!(local.put(vec![0.0; len]).is_none());
        }
        let oldest = local.put(vec![0.0; 100]);
        assert_eq!(oldest.map(|memory| memory.len()), Some(1));
        assert_eq!(local.take(100).map(|memory| memory.len()), Some(100));
        assert!(local.take(100).is_none() && local.take(1).is_none() && local.take(2).is_some());
    }

    fn free_len(pool: &Pool) -> usize {
        pool.free.values().flatten().map(|idle| idle.memory.len()).sum()
    }

    #[test]
    fn memory_is_reused() {
        let mut pool = pool();
        assert!(pool.take(8).is_none());
        pool.put(vec![1.0; 8]);
        assert!(pool.take(9).is_none());
        assert!(pool.take(3).is_none());
        assert_eq!(pool.take(4), Some(vec![1.0; 8]));
        assert!(pool.take(8).is_none());
    }

    #[test]
    fn a_repeated_step_takes_no_new_memory() {
        let mut pool = pool();
        let lens = || (0..50).map(|i| 100 + i * 7919 % 613);
        // Each length needs its own memory only until every length has it.
        let new: Vec<usize> = (0..20).map(|_| step(&mut pool, lens())).collect();
        assert!(new[0] > 0);
        assert_eq!(new[10..], [0; 10]);
        for len in lens() {
            assert_eq!(step(&mut pool, [len]), 0);
        }
    }

    #[test]
    fn lengths_are_rounded_up_by_at_most_a_quarter() {
        for len in 1..5_000 {
            let rounded = Pool::size_class(len);
            assert!(len <= rounded && 4 * rounded <= 5 * len + 4, "{len}: {rounded}");
        }
    }

    #[test]
    fn memory_does_not_grow_with_steps_of_changing_lengths() {
        let (longest, count) = (1000, 10);
        let rising = (1..=longest).collect();
        let drawn: Vec<usize> = (0..2_000).map(|i| 1 + i * 7919 % longest).collect();
        for lens in [rising, drawn] {
            let mut pool = pool();
            for len in lens {
                step(&mut pool, iter::repeat_n(len, count));
                assert!(free_len(&pool) <= 7 * count * longest);
            }
        }
    }

    #[test]
    fn idle_memory_is_freed() {
        let mut pool = pool();
        step(&mut pool, [1000; 5]);
        for _ in 0..2 * MAX_IDLE_TAKES {
            step(&mut pool, [10]);
        }
        assert_eq!(free_len(&pool), 10);
    }
}
