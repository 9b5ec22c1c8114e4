//! Memory for the output of a kernel, and advice about memory to the allocator and the system. Once a training run has
//! begun, the memory comes from the cache of the device, and nothing is written to it before the kernel does.

use dfdx::dtypes::{SafeZeros, Unit};
use dfdx::tensor::{Cache, Cpu, CpuError, Storage};
use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::hint::black_box;
use std::mem::{self, ManuallyDrop};
use std::sync::Once;

/// An `f32` that may have any value. dfdx fills what comes from its cache with one element, on one thread. For `f32`
/// this took 7 % of a training step of *The Typed Transformer*. All values of this type count as equal, so
/// `clone_from`, which `fill` calls for all elements but the last one, does nothing.
#[derive(Copy, Debug, Default)]
#[repr(transparent)]
struct AnyValue(f32);

#[allow(clippy::non_canonical_clone_impl, reason = "`clone_from` leaves the value as it is")]
impl Clone for AnyValue {
    fn clone(&self) -> Self {
        *self
    }

    fn clone_from(&mut self, _source: &Self) {}
}

impl PartialEq for AnyValue {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl PartialOrd for AnyValue {
    fn partial_cmp(&self, _other: &Self) -> Option<Ordering> {
        Some(Ordering::Equal)
    }
}

impl SafeZeros for AnyValue {}

impl Unit for AnyValue {
    const ONE: Self = Self(1.0);
}

/// With CUDA, dfdx requires of every type of elements the traits of what a GPU may hold. The feature `cuda` brings in
/// the crate of these traits.
#[cfg(feature = "cuda")]
#[allow(unsafe_code)]
mod on_cuda {
    use super::AnyValue;
    use cudarc::driver::{DeviceRepr, ValidAsZeroBits};
    // SAFETY: The type has the representation of `f32`, which is both.
    unsafe impl DeviceRepr for AnyValue {}
    // SAFETY: As above.
    unsafe impl ValidAsZeroBits for AnyValue {}
}

/// Memory for an output of `len` elements of any value. The kernel writes each of them. With debug assertions, as
/// in tests, all are NaN until then.
pub fn alloc_output(device: &Cpu, len: usize) -> Result<Vec<f32>, CpuError> {
    keep_freed_memory();
    if OUTPUTS.with_borrow_mut(|outputs| outputs.add(len)) {
        device.try_empty_cache()?;
    }
    let mut memory = match len * size_of::<f32>() > MAX_KEPT_BYTES {
        // New pages of the system, outside of a training run: zero already, so the kernel is the first to touch them.
        true => {
            let memory = take_from_cache::<f32>(device, len)?;
            prefer_huge_pages(&memory, false);
            memory
        }
        false => into_numbers(take_from_cache(device, len)?),
    };
    if cfg!(debug_assertions) {
        memory.fill(f32::NAN);
    }
    Ok(memory)
}

/// Counts a training step. Returns whether the cache of its device is to be emptied.
///
/// dfdx keeps the memory of every tensor that is dropped, for a tensor of exactly the same length. Memory of tensors
/// that are made from vectors, and of lengths that do not come again, piles up. So the cache is emptied now and then.
/// The next step takes fresh pages from the system.
pub fn count_step() -> bool {
    OUTPUTS.with_borrow_mut(Outputs::end_step)
}

/// Counts a part of a batch, whose inputs the cache keeps as those of a step.
pub fn count_part() {
    OUTPUTS.with_borrow_mut(|outputs| outputs.num_steps += 1);
}

thread_local! {
    static OUTPUTS: RefCell<Outputs> = RefCell::default();
}

/// The outputs of kernels since the cache was emptied.
#[derive(Default)]
struct Outputs {
    /// For each length, the outputs since the last step, and the most of one step.
    of_len: HashMap<usize, [usize; 2]>,
    num_steps: usize,
    /// The outputs since the last step.
    num_outputs: usize,
    /// The most outputs of one step.
    most_outputs: usize,
    /// The most elements of the outputs of one step.
    most_elements: usize,
}

impl Outputs {
    /// The steps after which the cache is emptied: a prime, so that several devices take turns.
    const MAX_STEPS: usize = 13;
    /// The cache may hold this many times what the largest step takes.
    const MAX_STEPS_IN_CACHE: usize = 4;

    /// Adds an output of this length. Returns whether the cache is to be emptied: since the last step there were as many
    /// outputs as in many steps, so the training is over, or this is an evaluation.
    fn add(&mut self, len: usize) -> bool {
        self.num_outputs += 1;
        self.of_len.entry(len).or_default()[0] += 1;
        // A thread that has made no step does not know its outputs per step.
        let outputs_per_step = if self.most_outputs == 0 { 4 } else { self.most_outputs };
        let is_late = self.num_outputs > Self::MAX_STEPS * outputs_per_step;
        if is_late {
            self.of_len.clear();
            self.num_outputs = 0;
        }
        is_late
    }

    /// Returns whether the cache is to be emptied.
    fn end_step(&mut self) -> bool {
        self.num_steps += 1;
        let (outputs, [mut elements, mut kept_elements]) = (mem::take(&mut self.num_outputs), [0, 0]);
        for (len, [outputs, most]) in &mut self.of_len {
            *most = (*most).max(*outputs);
            elements += len * mem::take(outputs);
            kept_elements += len * *most;
        }
        self.most_outputs = self.most_outputs.max(outputs);
        self.most_elements = self.most_elements.max(elements);
        let is_full = kept_elements > Self::MAX_STEPS_IN_CACHE * self.most_elements;
        let is_due = is_full || self.num_steps >= Self::MAX_STEPS;
        if is_due {
            self.of_len.clear();
            (self.most_outputs, self.most_elements) = (outputs, elements);
            // The remainder is kept: with parts of batches, several devices would not take turns otherwise.
            self.num_steps %= Self::MAX_STEPS;
        }
        is_due
    }
}

fn take_from_cache<E: Unit>(device: &Cpu, len: usize) -> Result<Vec<E>, CpuError> {
    let mut allocation = device.try_alloc_len(len)?;
    let memory = mem::take(&mut *allocation);
    // Dropping the emptied allocation would put an empty vector into the device's cache at each call, so it is
    // forgotten. This leaks one reference to the cache: the cache and its memory live until the program ends.
    mem::forget(allocation);
    Ok(memory)
}

fn into_numbers(memory: Vec<AnyValue>) -> Vec<f32> {
    let mut memory = ManuallyDrop::new(memory);
    let (first, len, capacity) = (memory.as_mut_ptr().cast::<f32>(), memory.len(), memory.capacity());
    #[allow(unsafe_code, reason = "only a raw pointer makes a vector of `AnyValue` one of `f32`")]
    // SAFETY: The pointer, the length and the capacity are those of a vector that is not used again. `AnyValue` has the
    // representation of `f32`, so the allocation has the same layout, and all elements are initialized.
    unsafe {
        Vec::from_raw_parts(first, len, capacity)
    }
}

/// The most that [`keep_freed_memory`] keeps of one tensor. glibc accepts 32 MB, with what it adds itself.
const MAX_KEPT_BYTES: usize = (32 << 20) - (64 << 10);

/// Lets the allocator keep the memory of a freed tensor for the next one. glibc, the C library of most Linux systems,
/// by default returns 128 kB and more to the system, and a forward pass then spends a tenth of its time on fresh pages.
///
/// glibc raises its limits when large memory is freed. Memory of up to that size is then part of a heap, which keeps
/// twice as much at its end; threads that allocate at the same time have heaps of their own, of up to 64 MB. Other
/// allocators free the memory. Settings of the user, such as `MALLOC_MMAP_THRESHOLD_`, have precedence.
fn keep_freed_memory() {
    static DONE: Once = Once::new();
    DONE.call_once(|| {
        // Nothing is written to the memory, so the system gives no pages for it. Nothing is kept if it is refused.
        let mut memory = Vec::<u8>::new();
        if memory.try_reserve_exact(MAX_KEPT_BYTES).is_ok() {
            drop(black_box(memory));
        }
    });
}

/// Asks the system to keep memory in huge pages, of 2 MB on most processors. A product of one row with a weight then
/// takes a quarter less time: the processor looks up fewer addresses, and reads ahead across small pages. Memory that
/// `is_written` already is moved to such pages.
///
/// It is a hint. A system that does not know it, or has no such pages left, keeps the memory as it is.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
pub fn prefer_huge_pages<E>(memory: &[E], is_written: bool) {
    /// A multiple of the size of a small page on every processor.
    const ALIGNMENT: usize = 1 << 16;
    /// Smaller memory may hold no whole huge page.
    const MIN_BYTES: usize = 4 << 20;
    /// The number of Linux: the crate `libc` has it for glibc alone.
    const MADV_COLLAPSE: libc::c_int = 25;
    let bytes = size_of_val(memory);
    if bytes < MIN_BYTES {
        return;
    }
    let start = memory.as_ptr().cast::<u8>();
    let skipped = start.align_offset(ALIGNMENT);
    // SAFETY: The pages lie within `memory`, and both kinds of advice leave what they hold as it is.
    unsafe {
        let pages = start.add(skipped).cast_mut().cast();
        libc::madvise(pages, bytes - skipped, libc::MADV_HUGEPAGE);
        if is_written {
            // Linux from 6.1 on moves it.
            libc::madvise(pages, bytes - skipped, MADV_COLLAPSE);
        }
    }
}

/// Elsewhere the system decides.
#[cfg(not(target_os = "linux"))]
pub fn prefer_huge_pages<E>(_memory: &[E], _is_written: bool) {}

#[cfg(test)]
mod tests {
    use super::*;
    use dfdx::tensor::TensorFromVec;
    use itertools::iproduct;

    #[test]
    fn memory_of_a_tensor_is_that_of_the_next_output() {
        let device = Cpu::default();
        device.enable_cache();
        for len in [0, 1, 1000] {
            let memory = alloc_output(&device, len).unwrap();
            let first = memory.as_ptr();
            assert_eq!((memory.len(), memory.capacity()), (len, len));
            drop(device.tensor_from_vec(memory, (len,)));
            let memory = alloc_output(&device, len).unwrap();
            assert_eq!(memory.len(), len);
            assert!(std::ptr::eq(memory.as_ptr(), first));
            // dfdx's own tensors of the same length are still filled.
            drop(device.tensor_from_vec(memory, (len,)));
            assert_eq!(take_from_cache::<f32>(&device, len).unwrap(), vec![0.0; len]);
        }
    }

    #[test]
    fn all_devices_of_a_thread_take_turns() {
        for (lens, parts) in iproduct!([&[100, 1][..], &[1; 3], &[1; 5], &[100, 1, 1]], 0..13) {
            let (mut outputs, mut emptied) = (Outputs::default(), vec![0; lens.len()]);
            for step in 0..40 * lens.len() {
                (0..10).for_each(|_| {
                    outputs.add(lens[step % lens.len()]);
                });
                outputs.num_steps += parts;
                emptied[step % lens.len()] += usize::from(outputs.end_step());
            }
            // Each as often as the others: one of 13 steps or parts.
            let expected = 40 * (parts + 1) / 13;
            assert!(
                emptied.iter().all(|count| (expected..=expected + 1).contains(count)),
                "{lens:?}, {parts} parts: {emptied:?}"
            );
        }
    }

    #[test]
    fn to_fill_changes_the_last_value_alone() {
        let mut values = [AnyValue(2.0); 3];
        values.fill(AnyValue(7.0));
        assert_eq!(values.map(|value| value.0), [2.0, 2.0, 7.0]);
        assert_eq!(values, [AnyValue(0.0); 3]);
    }

    #[test]
    fn numbers_are_those_of_the_values() {
        assert_eq!(into_numbers(vec![AnyValue(2.0), AnyValue(-3.5)]), [2.0, -3.5]);
        assert!(into_numbers(Vec::new()).is_empty());
    }

    #[test]
    fn memory_keeps_its_contents() {
        let numbers: Vec<u64> = (0..3_000_001).collect();
        for part in [&numbers[..], &numbers[7..], &numbers[..5], &[]] {
            prefer_huge_pages(part, false);
            prefer_huge_pages(part, true);
        }
        assert!(numbers.iter().zip(0..).all(|(number, i)| *number == i));
    }
}
