//! Products of the rows of a packed weight with a vector, in the instructions of each level.

use super::{BLOCK_LEN, Format};
use crate::simd::{PREFETCH_DISTANCE_BYTES, level, prefetch_after, vectorized};
use pulp::bytemuck::Zeroable;
#[cfg(target_arch = "x86_64")]
use pulp::{Arch, Simd, cast, f32x8, i32x8, x86::V3};
use std::slice::ChunksExact;

/// The lanes of a sum, on every processor.
const NUM_LANES: usize = 8;
/// The products that a lane adds for each block.
pub const PRODUCTS_PER_LANE: usize = BLOCK_LEN / NUM_LANES;
/// The independent sums of a row, which hide the latency of an addition. Block `i` is added to sum `i % SUMS_PER_ROW`.
pub const SUMS_PER_ROW: usize = 4;

/// `y += W x` for rows that follow each other in memory, without the scales of rows and of the vector.
pub fn add_row_products<F: Format>(rows: ChunksExact<F::Block>, x: &[F::InputBlock], y: &mut [f32]) {
    match level() {
        #[cfg(target_arch = "x86_64")]
        Arch::V3(v3) => add_row_products_v3::<F>(v3, rows, x, y),
        // Wider registers are not faster: the weight does not come from memory sooner.
        #[cfg(target_arch = "x86_64")]
        Arch::V4(v4) => add_row_products_v3::<F>(*v4, rows, x, y),
        _ => vectorized!(add_in_lanes::<F, _>(Plain, rows.clone(), x, y)),
    }
}

#[cfg(target_arch = "x86_64")]
fn add_row_products_v3<F: Format>(v3: V3, rows: ChunksExact<F::Block>, x: &[F::InputBlock], y: &mut [f32]) {
    v3.vectorize(
        #[inline(always)]
        || add_in_lanes::<F, _>(v3, rows, x, y),
    );
}

#[inline(always)]
fn add_in_lanes<F: Format, L: Lanes>(lanes: L, rows: ChunksExact<F::Block>, x: &[F::InputBlock], y: &mut [f32]) {
    let (x, x_rest) = x.as_chunks::<SUMS_PER_ROW>();
    for (y, blocks) in y.iter_mut().zip(rows) {
        let (blocks, rest) = blocks.as_chunks::<SUMS_PER_ROW>();
        let mut sums = [F::Sum::<L>::zeroed(); SUMS_PER_ROW];
        for (blocks, x) in blocks.iter().zip(x) {
            prefetch_after(blocks, PREFETCH_DISTANCE_BYTES);
            for i in 0..SUMS_PER_ROW {
                sums[i] = F::add_block(lanes, &blocks[i], &x[i], sums[i]);
            }
        }
        for ((sum, block), x) in sums.iter_mut().zip(rest).zip(x_rest) {
            *sum = F::add_block(lanes, block, x, *sum);
        }
        let mut total = L::Numbers::zeroed();
        for sum in sums {
            total = F::add_sum(lanes, sum, total);
        }
        *y += lanes.total(total);
    }
}

/// Sums of products in eight lanes, in the instructions of one level.
pub trait Lanes: Copy {
    type Integers: Copy + Zeroable;
    type Numbers: Copy + Zeroable;

    fn add(self, a: Self::Numbers, b: Self::Numbers) -> Self::Numbers;

    /// `sum + a x`.
    fn add_products(self, a: [f32; NUM_LANES], x: [f32; NUM_LANES], sum: Self::Numbers) -> Self::Numbers;

    /// `sum + a x`. Each lane adds four products. The sum of these four is between ±2²⁴, so an `f32` holds it exactly.
    fn add_integer_products(self, a: &[i8; BLOCK_LEN], x: &[i16; BLOCK_LEN], sum: Self::Integers) -> Self::Integers;

    /// `sum + scale * integers`.
    fn add_scaled(self, integers: Self::Integers, scale: f32, sum: Self::Numbers) -> Self::Numbers;

    /// The sum of all lanes.
    fn total(self, sum: Self::Numbers) -> f32;
}

/// Instructions that the compiler chooses.
#[derive(Clone, Copy)]
struct Plain;

impl Lanes for Plain {
    type Integers = [i32; NUM_LANES];
    type Numbers = [f32; NUM_LANES];

    #[inline(always)]
    fn add(self, a: Self::Numbers, mut b: Self::Numbers) -> Self::Numbers {
        for i in 0..NUM_LANES {
            b[i] += a[i];
        }
        b
    }

    #[inline(always)]
    fn add_products(self, a: [f32; NUM_LANES], x: [f32; NUM_LANES], mut sum: Self::Numbers) -> Self::Numbers {
        for i in 0..NUM_LANES {
            sum[i] += a[i] * x[i];
        }
        sum
    }

    #[inline(always)]
    fn add_integer_products(
        self,
        a: &[i8; BLOCK_LEN],
        x: &[i16; BLOCK_LEN],
        mut sum: Self::Integers,
    ) -> Self::Integers {
        for (a, x) in a.as_chunks::<NUM_LANES>().0.iter().zip(x.as_chunks::<NUM_LANES>().0) {
            for i in 0..NUM_LANES {
                sum[i] += i32::from(a[i]) * i32::from(x[i]);
            }
        }
        sum
    }

    #[inline(always)]
    fn add_scaled(self, integers: Self::Integers, scale: f32, mut sum: Self::Numbers) -> Self::Numbers {
        for i in 0..NUM_LANES {
            sum[i] += scale * integers[i] as f32;
        }
        sum
    }

    #[inline(always)]
    fn total(self, [a, b, c, d, e, f, g, h]: Self::Numbers) -> f32 {
        ((a + e) + (c + g)) + ((b + f) + (d + h))
    }
}

#[cfg(target_arch = "x86_64")]
impl Lanes for V3 {
    type Integers = i32x8;
    type Numbers = f32x8;

    #[inline(always)]
    fn add(self, a: f32x8, b: f32x8) -> f32x8 {
        self.add_f32x8(a, b)
    }

    #[inline(always)]
    fn add_products(self, a: [f32; NUM_LANES], x: [f32; NUM_LANES], sum: f32x8) -> f32x8 {
        self.mul_add_f32x8(cast(a), cast(x), sum)
    }

    #[inline(always)]
    fn add_integer_products(self, a: &[i8; BLOCK_LEN], x: &[i16; BLOCK_LEN], sum: i32x8) -> i32x8 {
        let [low, high]: [_; 2] = cast(*a);
        let [x_low, x_high]: [_; 2] = cast(*x);
        let low = self.multiply_wrapping_add_adjacent_i16x16(self.convert_i8x16_to_i16x16(low), x_low);
        let high = self.multiply_wrapping_add_adjacent_i16x16(self.convert_i8x16_to_i16x16(high), x_high);
        self.wrapping_add_i32x8(sum, self.wrapping_add_i32x8(low, high))
    }

    #[inline(always)]
    fn add_scaled(self, integers: i32x8, scale: f32, sum: f32x8) -> f32x8 {
        self.mul_add_f32x8(self.splat_f32x8(scale), self.convert_i32x8_to_f32x8(integers), sum)
    }

    #[inline(always)]
    fn total(self, sum: f32x8) -> f32 {
        self.reduce_sum_f32s(sum)
    }
}
