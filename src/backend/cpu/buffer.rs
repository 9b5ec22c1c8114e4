use std::{
    collections::BTreeMap,
    mem,
    ops::{Deref, DerefMut},
    sync::Mutex,
};

/// Numbers that a kernel needs for a while, from the beginning of a line of the cache: a vector that
/// lies across two lines takes twice as long to read.
///
/// Its memory is kept for the next buffer of the same length: mapping it anew in each step costs more
/// than most of what is done in it. Buffers kept and buffers in use are together never more than
/// were once in use.
pub struct Buffer {
    memory: Vec<f32>,
    start: usize,
    len: usize,
}

/// Bytes of a line of the cache.
const LINE: usize = 64;

/// The memory of buffers that are not in use, and how many elements are where.
struct Pool {
    free: BTreeMap<usize, Vec<Vec<f32>>>,
    kept: usize,
    used: usize,
    most: usize,
}

static POOL: Mutex<Pool> = Mutex::new(Pool { free: BTreeMap::new(), kept: 0, used: 0, most: 0 });

impl Pool {
    fn take(&mut self, len: usize) -> Option<Vec<f32>> {
        self.used += len;
        self.most = self.most.max(self.used);
        let memory = self.free.get_mut(&len)?.pop()?;
        self.kept -= len;
        Some(memory)
    }

    fn put(&mut self, memory: Vec<f32>) {
        let len = memory.len();
        self.used -= len;
        while self.kept + self.used + len > self.most
            && let Some(mut other) = self.free.last_entry()
        {
            match other.get_mut().pop() {
                Some(memory) => self.kept -= memory.len(),
                None => drop(other.remove()),
            }
        }
        self.kept += len;
        self.free.entry(len).or_default().push(memory);
    }
}

/// The pool holds no invariant that a panic elsewhere could have broken.
fn pool() -> std::sync::MutexGuard<'static, Pool> {
    POOL.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Buffer {
    /// Elements of any value.
    pub fn new(len: usize) -> Self {
        let room = len + LINE / size_of::<f32>() - 1;
        let memory = pool().take(room);
        let memory = memory.unwrap_or_else(|| vec![0.0; room]);
        let start = memory.as_ptr().align_offset(LINE);
        // The offset may also not be known, as the standard library has it.
        let start = if start <= room - len { start } else { 0 };
        Self { memory, start, len }
    }

    /// Elements of 0.
    pub fn zeros(len: usize) -> Self {
        let mut buffer = Self::new(len);
        buffer.fill(0.0);
        buffer
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        pool().put(mem::take(&mut self.memory));
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
        Pool { free: BTreeMap::new(), kept: 0, used: 0, most: 0 }
    }

    #[test]
    fn memory_comes_back() {
        let mut pool = pool();
        assert!(pool.take(8).is_none());
        pool.put(vec![1.0; 8]);
        assert_eq!(pool.take(8), Some(vec![1.0; 8]));
        assert!(pool.take(8).is_none());
    }

    #[test]
    fn no_more_is_kept_than_was_in_use() {
        let mut pool = pool();
        for len in 1..100 {
            assert!(pool.take(len).is_none());
            pool.put(vec![0.0; len]);
            let kept: usize = pool.free.values().flatten().map(Vec::len).sum();
            assert_eq!(kept, pool.kept);
            assert!(kept <= len);
        }
    }
}
