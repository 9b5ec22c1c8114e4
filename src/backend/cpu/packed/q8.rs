use super::{Format, format::f32_of_f16, weight::BLOCK_LEN};
use crate::simd::{level, vectorized};
use half::f16;
use pulp::Arch;
#[cfg(target_arch = "x86_64")]
use pulp::{Simd, cast, f32x8, x86::V3};
use std::slice::ChunksExact;

/// 8 bits: a block is a float16 scale and its multiples, from -127 to 127, as in `Q8_0` of llama.cpp.
///
/// As there, a row of the weight and the vector are multiplied in integers, in half of the instructions that widened
/// elements take. The vector has 16 bits here, not 8, so its rounding is far below that of the weight.
#[derive(Clone, Copy)]
pub struct Q8Format;

/// The 34 bytes of a block of [`Q8Format`].
#[derive(Clone, Copy)]
pub struct Q8Block {
    scale: u16,
    multiples: [i8; BLOCK_LEN],
}

/// A block of a vector: a scale and its multiples, from -32,767 to 32,767.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub struct Q16Block {
    multiples: [i16; BLOCK_LEN],
    scale: f32,
}

impl Format for Q8Format {
    type Block = Q8Block;
    type InputBlock = Q16Block;

    fn pack(elements: &[f32; BLOCK_LEN]) -> Option<Self::Block> {
        const MAX_MULTIPLE: f32 = 127.0;
        let scale = f16::from_f32(largest(elements) / MAX_MULTIPLE);
        // Multiples of the rounded scale, which is the one that the product multiplies with.
        let inverse = if scale == f16::ZERO { 0.0 } else { scale.to_f32().recip() };
        let multiple = |x: f32| (x * inverse).round().clamp(-MAX_MULTIPLE, MAX_MULTIPLE) as i8;
        let is_finite = scale.is_finite() && elements.iter().all(|x| x.is_finite());
        is_finite.then(|| Q8Block { scale: scale.to_bits(), multiples: elements.map(multiple) })
    }

    #[inline(always)]
    fn element(block: &Self::Block, i: usize) -> f32 {
        f32_of_f16(block.scale) * f32::from(block.multiples[i])
    }

    #[inline(always)]
    fn pack_input(x: &[f32; BLOCK_LEN]) -> Self::InputBlock {
        let largest = largest(x);
        // A scale that is not finite makes the product NaN, as an element that is not finite does.
        let inverse = if largest == 0.0 { 0.0 } else { f32::from(i16::MAX) / largest };
        let scale = if x.iter().all(|x| x.is_finite()) { largest / f32::from(i16::MAX) } else { f32::NAN };
        let mut multiples = [0; BLOCK_LEN];
        for (multiple, x) in multiples.iter_mut().zip(x) {
            *multiple = (x * inverse).round_ties_even() as i16;
        }
        Q16Block { multiples, scale }
    }

    fn add_product(rows: ChunksExact<Self::Block>, x: &[Self::InputBlock], y: &mut [f32]) {
        match level() {
            #[cfg(target_arch = "x86_64")]
            Arch::V3(v3) => add_row_products_v3(v3, rows, x, y),
            // Wider registers are not faster: the weight does not come sooner.
            #[cfg(target_arch = "x86_64")]
            Arch::V4(v4) => add_row_products_v3(*v4, rows, x, y),
            _ => vectorized!(add_row_products(Plain, rows.clone(), x, y)),
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn add_row_products_v3(v3: V3, rows: ChunksExact<Q8Block>, x: &[Q16Block], y: &mut [f32]) {
    v3.vectorize(
        #[inline(always)]
        || add_row_products(v3, rows, x, y),
    );
}

#[inline(always)]
fn largest(elements: &[f32; BLOCK_LEN]) -> f32 {
    elements.iter().fold(0.0, |largest, x| largest.max(x.abs()))
}

/// Independent sums, which hide the latency of an addition.
const SUMS: usize = 4;

#[inline(always)]
fn add_row_products<L: BlockProduct>(level: L, rows: ChunksExact<Q8Block>, x: &[Q16Block], y: &mut [f32]) {
    let (x, x_rest) = x.as_chunks::<SUMS>();
    for (y, blocks) in y.iter_mut().zip(rows) {
        let (blocks, rest) = blocks.as_chunks::<SUMS>();
        let mut sums = [level.zero(); SUMS];
        for (blocks, x) in blocks.iter().zip(x) {
            for i in 0..SUMS {
                sums[i] = level.multiply_add(&blocks[i], &x[i], sums[i]);
            }
        }
        for (i, (block, x)) in rest.iter().zip(x_rest).enumerate() {
            sums[i] = level.multiply_add(block, x, sums[i]);
        }
        for sum in sums {
            *y += level.total(sum);
        }
    }
}

/// The product of two blocks in the instructions of one level.
trait BlockProduct: Copy {
    type Sum: Copy;

    fn zero(self) -> Self::Sum;

    /// `sum + Σ a x`, spread over the lanes.
    fn multiply_add(self, a: &Q8Block, x: &Q16Block, sum: Self::Sum) -> Self::Sum;

    fn total(self, sum: Self::Sum) -> f32;
}

/// The scale of the products of two blocks.
#[inline(always)]
fn scale(a: &Q8Block, x: &Q16Block) -> f32 {
    f32_of_f16(a.scale) * x.scale
}

/// Instructions that the compiler chooses.
#[derive(Clone, Copy)]
struct Plain;

impl BlockProduct for Plain {
    type Sum = f32;

    #[inline(always)]
    fn zero(self) -> f32 {
        0.0
    }

    #[inline(always)]
    fn multiply_add(self, a: &Q8Block, x: &Q16Block, sum: f32) -> f32 {
        let mut sums = [0_i32; 8];
        for (a, x) in a.multiples.as_chunks::<8>().0.iter().zip(x.multiples.as_chunks::<8>().0) {
            for i in 0..8 {
                sums[i] += i32::from(a[i]) * i32::from(x[i]);
            }
        }
        sum + scale(a, x) * sums.iter().sum::<i32>() as f32
    }

    #[inline(always)]
    fn total(self, sum: f32) -> f32 {
        sum
    }
}

#[cfg(target_arch = "x86_64")]
impl BlockProduct for V3 {
    type Sum = f32x8;

    #[inline(always)]
    fn zero(self) -> f32x8 {
        self.splat_f32x8(0.0)
    }

    // A lane is the sum of four products, which is below 2²⁴: an `f32` has it exactly.
    #[inline(always)]
    fn multiply_add(self, a: &Q8Block, x: &Q16Block, sum: f32x8) -> f32x8 {
        let [low, high]: [_; 2] = cast(a.multiples);
        let [x_low, x_high]: [_; 2] = cast(x.multiples);
        let low = self.multiply_wrapping_add_adjacent_i16x16(self.convert_i8x16_to_i16x16(low), x_low);
        let high = self.multiply_wrapping_add_adjacent_i16x16(self.convert_i8x16_to_i16x16(high), x_high);
        let products = self.convert_i32x8_to_f32x8(self.wrapping_add_i32x8(low, high));
        self.mul_add_f32x8(self.splat_f32x8(scale(a, x)), products, sum)
    }

    #[inline(always)]
    fn total(self, sum: f32x8) -> f32 {
        self.reduce_sum_f32s(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_of_8_bits_has_34_bytes() {
        assert_eq!(size_of::<Q8Block>(), 34);
    }

    /// The largest multiples of both signs, whose sums are the largest.
    #[test]
    fn the_largest_products_are_exact() {
        for sign in [1.0, -1.0] {
            let (a, x) = ([127.0; BLOCK_LEN], [sign * f32::from(i16::MAX); BLOCK_LEN]);
            let (block, input) = (Q8Format::pack(&a).unwrap(), Q8Format::pack_input(&x));
            let mut y = [1.0];
            Q8Format::add_product([block].chunks_exact(1), &[input], &mut y);
            assert_eq!(y, [1.0 + 32.0 * 127.0 * x[0]]);
        }
    }

    #[test]
    fn an_element_that_is_not_finite_makes_the_product_nan() {
        let block = Q8Format::pack(&[1.0; BLOCK_LEN]).unwrap();
        for not_finite in [f32::NAN, f32::INFINITY] {
            let mut x = [1.0; BLOCK_LEN];
            x[7] = not_finite;
            let mut y = [0.0];
            Q8Format::add_product([block].chunks_exact(1), &[Q8Format::pack_input(&x)], &mut y);
            assert!(y[0].is_nan());
        }
    }
}
