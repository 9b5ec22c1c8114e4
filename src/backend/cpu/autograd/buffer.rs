use std::{
    collections::BTreeMap,
    mem,
    ops::{Deref, DerefMut},
    sync::Mutex,
};

/// Scratch memory, aligned to a cache line. A vector that crosses two lines takes twice as long to read.
///
/// The memory returns to a pool for the next buffer of the same length. Fresh pages in every step would cost
/// more than the arithmetic of most kernels. Free and used buffers together never exceed the peak use.
pub struct Buffer {
    memory: Vec<f32>,
    start: usize,
    len: usize,
}

const CACHE_LINE_BYTES: usize = 64;

/// The memory of free buffers by length. All lengths count elements.
struct Pool {
    free: BTreeMap<usize, Vec<Vec<f32>>>,
    free_len: usize,
    in_use_len: usize,
    peak_len: usize,
}

static POOL: Mutex<Pool> = Mutex::new(Pool { free: BTreeMap::new(), free_len: 0, in_use_len: 0, peak_len: 0 });

impl Pool {
    fn take(&mut self, len: usize) -> Option<Vec<f32>> {
        self.in_use_len += len;
        self.peak_len = self.peak_len.max(self.in_use_len);
        let memory = self.free.get_mut(&len)?.pop()?;
        self.free_len -= len;
        Some(memory)
    }

    fn put(&mut self, memory: Vec<f32>) {
        let len = memory.len();
        self.in_use_len -= len;
        while self.free_len + self.in_use_len + len > self.peak_len
            && let Some(mut other) = self.free.last_entry()
        {
            match other.get_mut().pop() {
                Some(memory) => self.free_len -= memory.len(),
                None => drop(other.remove()),
            }
        }
        self.free_len += len;
        self.free.entry(len).or_default().push(memory);
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
        let capacity = len + CACHE_LINE_BYTES / size_of::<f32>() - 1;
        let memory = pool().take(capacity);
        let memory = memory.unwrap_or_else(|| vec![0.0; capacity]);
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
            pool().put(mem::take(&mut self.memory));
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

    fn pool() -> Pool {
        Pool { free: BTreeMap::new(), free_len: 0, in_use_len: 0, peak_len: 0 }
    }

    #[test]
    fn memory_is_reused() {
        let mut pool = pool();
        assert!(pool.take(8).is_none());
        pool.put(vec![1.0; 8]);
        assert_eq!(pool.take(8), Some(vec![1.0; 8]));
        assert!(pool.take(8).is_none());
    }

    #[test]
    fn free_memory_never_exceeds_peak_use() {
        let mut pool = pool();
        for len in 1..100 {
            assert!(pool.take(len).is_none());
            pool.put(vec![0.0; len]);
            let free_len: usize = pool.free.values().flatten().map(Vec::len).sum();
            assert_eq!(free_len, pool.free_len);
            assert!(free_len <= len);
        }
    }
}
