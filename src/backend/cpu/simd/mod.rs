//! Vector arithmetic: loops compiled for the vector registers of this processor, reductions,
//! elementary functions, prefetching, and [`ElementOps`], which makes loops generic over the layout.

mod element_ops;
mod level;
mod math;
mod prefetch;
mod reduce;

pub use element_ops::{ElementOps, ScalarElements, VectorElements};
pub use level::level;
pub use math::{erf, exp, exp_element, ln, ln_1p};
pub use prefetch::{PREFETCH_DISTANCE_BYTES, prefetch_after};
pub use reduce::{ELEMENTS_PER_PART, dot, larger_or_nan, max, max_or_nan, padded_len, sum};

use pulp::{Simd, WithSimd};
use std::slice::{Chunks, ChunksMut};

/// Runs an expression, such as a loop, compiled for the vector registers of the [`level`].
macro_rules! vectorized {
    ($body:expr) => {
        $crate::simd::dispatch_simd(
            #[inline(always)]
            || $body,
        )
    };
}
pub(crate) use vectorized;

/// What [`vectorized`] expands to; `run` must be `#[inline(always)]`.
pub fn dispatch_simd<Value>(run: impl FnMut() -> Value) -> Value {
    // Not pulp's `impl WithSimd for FnOnce`: it calls an `FnMut` through a shim that is compiled without
    // target features.
    struct Run<F>(F);
    impl<Value, F: FnMut() -> Value> WithSimd for Run<F> {
        type Output = Value;
        #[inline(always)]
        fn with_simd<S: Simd>(mut self, _: S) -> Value {
            (self.0)()
        }
    }
    level().dispatch(Run(run))
}

/// The number of `f32` in a vector register of the [`level`].
pub fn simd_width() -> usize {
    struct Width;
    impl WithSimd for Width {
        type Output = usize;
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> usize {
            S::F32_LANES
        }
    }
    level().dispatch(Width)
}

/// Consecutive chunks of `len` elements, or of 1 element if `len` is 0.
pub fn row_chunks<T>(all: &[T], len: usize) -> Chunks<'_, T> {
    all.chunks(len.max(1))
}

/// [`row_chunks`] of a mutable slice.
pub fn row_chunks_mut(all: &mut [f32], len: usize) -> ChunksMut<'_, f32> {
    all.chunks_mut(len.max(1))
}

/// `to += from`, elementwise.
pub fn add_assign(to: &mut [f32], from: &[f32]) {
    vectorized!(add_row(to, from));
}

/// [`add_assign`] for short rows, or inside a [`vectorized`] loop.
#[inline(always)]
pub fn add_row(to: &mut [f32], from: &[f32]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += from;
    }
}
