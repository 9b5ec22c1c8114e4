//! Weights in 8 bits: with a scale for each block, and with one for each row.

use super::format::f32_of_f16;
use super::row_products::{Lanes, PRODUCTS_PER_LANE, SUMS_PER_ROW};
use super::{BLOCK_LEN, Format, reciprocal};
use half::f16;
use pulp::bytemuck::Zeroable;

/// The largest multiple of a scale in 8 bits.
const MAX_WEIGHT_MULTIPLE: f32 = 127.0;
/// The largest multiple of a scale in 16 bits.
const MAX_INPUT_MULTIPLE: f32 = 32_767.0;

/// The largest absolute value; it is NaN or infinite if an element is. The bits of positive numbers, read as integers,
/// are in the order of the numbers; those of infinity and NaN come last.
#[inline(always)]
fn largest(elements: &[f32]) -> f32 {
    let mut bits = 0;
    for element in elements {
        bits = bits.max(element.abs().to_bits());
    }
    f32::from_bits(bits)
}

/// 8 bits: a block is a float16 scale and its multiples, from -127 to 127, as in `Q8_0` of llama.cpp.
///
/// As in llama.cpp, row and vector are multiplied as integers, in half of the instructions that widened elements take.
/// The vector has 16 bits here, not 8, so its rounding is far below that of the weight.
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
    type Sum<L: Lanes> = L::Numbers;

    fn pack(elements: &[f32; BLOCK_LEN]) -> Option<Self::Block> {
        let scale = f16::from_f32(largest(elements) / MAX_WEIGHT_MULTIPLE);
        // Multiples of the rounded scale, which is the one that the product multiplies with.
        let inverse = reciprocal(scale.to_f32());
        let multiple = |x: f32| (x * inverse).round().clamp(-MAX_WEIGHT_MULTIPLE, MAX_WEIGHT_MULTIPLE) as i8;
        scale.is_finite().then(|| Q8Block { scale: scale.to_bits(), multiples: elements.map(multiple) })
    }

    #[inline(always)]
    fn element(block: &Self::Block, i: usize) -> f32 {
        f32_of_f16(block.scale) * f32::from(block.multiples[i])
    }

    #[inline(always)]
    fn pack_input(x: &[f32; BLOCK_LEN]) -> Self::InputBlock {
        // With an element that is not finite the scale is not either, and the product is NaN.
        let scale = largest(x) / MAX_INPUT_MULTIPLE;
        let inverse = reciprocal(scale);
        let mut multiples = [0; BLOCK_LEN];
        for (multiple, x) in multiples.iter_mut().zip(x) {
            *multiple = (x * inverse).round_ties_even() as i16;
        }
        Q16Block { multiples, scale }
    }

    #[inline(always)]
    fn add_block<L: Lanes>(lanes: L, a: &Q8Block, x: &Q16Block, sum: L::Numbers) -> L::Numbers {
        let products = lanes.add_integer_products(&a.multiples, &x.multiples, L::Integers::zeroed());
        lanes.add_scaled(products, f32_of_f16(a.scale) * x.scale, sum)
    }

    #[inline(always)]
    fn add_sum<L: Lanes>(lanes: L, sum: L::Numbers, total: L::Numbers) -> L::Numbers {
        lanes.add(sum, total)
    }
}

/// 8 bits: a row is a scale and its multiples, from -127 to 127.
///
/// The vector has one scale too, so the products of a row are summed as integers in each lane, and only the sums are
/// scaled. A row of [`Q8Format`] has a scale for each block, so the sum of each block is scaled.
#[derive(Clone, Copy)]
pub struct Q8RowsFormat;

impl Format for Q8RowsFormat {
    type Block = [i8; BLOCK_LEN];
    type InputBlock = [i16; BLOCK_LEN];
    type Sum<L: Lanes> = L::Integers;

    #[inline(always)]
    fn row_scale(row: &[f32]) -> Option<f32> {
        Some(largest(row) / MAX_WEIGHT_MULTIPLE)
    }

    /// The scale keeps each sum of integers below 2³¹. The largest multiple of a vector of up to 16,512 elements is
    /// 32,767, the most that 16 bits hold. That of a longer vector is smaller.
    #[inline(always)]
    fn input_scale(x: &[f32]) -> Option<f32> {
        /// The largest `f32` below 2³¹.
        const MAX_SUM: f32 = 2_147_483_520.0;
        let num_products = x.len().div_ceil(BLOCK_LEN * SUMS_PER_ROW).max(1) * PRODUCTS_PER_LANE;
        let max_multiple = (MAX_SUM / (MAX_WEIGHT_MULTIPLE * num_products as f32)).floor().min(MAX_INPUT_MULTIPLE);
        // With an element that is not finite the scale is not either, and the product is NaN.
        Some(largest(x) / max_multiple)
    }

    fn pack(elements: &[f32; BLOCK_LEN]) -> Option<Self::Block> {
        elements.iter().all(|x| x.is_finite()).then(|| elements.map(|x| x.round() as i8))
    }

    #[inline(always)]
    fn element(block: &Self::Block, i: usize) -> f32 {
        f32::from(block[i])
    }

    #[inline(always)]
    fn pack_input(x: &[f32; BLOCK_LEN]) -> Self::InputBlock {
        let mut multiples = [0; BLOCK_LEN];
        for (multiple, x) in multiples.iter_mut().zip(x) {
            *multiple = x.round_ties_even() as i16;
        }
        multiples
    }

    #[inline(always)]
    fn add_block<L: Lanes>(lanes: L, a: &Self::Block, x: &Self::InputBlock, sum: L::Integers) -> L::Integers {
        lanes.add_integer_products(a, x, sum)
    }

    #[inline(always)]
    fn add_sum<L: Lanes>(lanes: L, sum: L::Integers, total: L::Numbers) -> L::Numbers {
        lanes.add_scaled(sum, 1.0, total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packed::PackedWeight;

    #[test]
    fn a_block_of_8_bits_has_34_bytes() {
        assert_eq!(size_of::<Q8Block>(), 34);
    }

    fn product<F: Format>(row: &[f32], x: &[f32]) -> f32 {
        let weight = PackedWeight::<F>::pack(row.iter().copied(), row.len()).unwrap();
        let mut y = [1.0];
        weight.add_product(0..1, &PackedWeight::<F>::pack_input(x), &mut y);
        y[0] - 1.0
    }

    /// The largest multiples of both signs, whose products and sums are the largest.
    #[test]
    fn the_largest_products_are_exact_and_their_sums_do_not_overflow() {
        for sign in [1.0, -1.0] {
            let x = [sign * f32::from(i16::MAX); BLOCK_LEN];
            assert_eq!(product::<Q8Format>(&[127.0; BLOCK_LEN], &x), 32.0 * 127.0 * x[0]);
            for len in [1, 32, 16_512, 16_513, 100_000] {
                let found = product::<Q8RowsFormat>(&vec![127.0; len], &vec![sign * 2.0; len]);
                let expected = sign * 254.0 * len as f32;
                assert!((found - expected).abs() <= 1e-6 * expected.abs(), "{len}: {found} {expected}");
            }
        }
    }

    #[test]
    fn a_row_of_zeros_or_of_tiny_numbers_is_zero() {
        for element in [0.0, 1e-40] {
            assert_eq!(product::<Q8RowsFormat>(&[element; 40], &[1.0; 40]), 0.0);
            assert_eq!(product::<Q8RowsFormat>(&[1.0; 40], &[element; 40]), 0.0);
        }
    }

    #[test]
    fn a_block_of_tiny_inputs_is_zero_or_right() {
        for largest in [1e-40, 5e-35, 1e-33, 1e-30] {
            let x = std::array::from_fn(|i| if i == 0 { largest } else { -0.02 * largest });
            let Q16Block { multiples, scale } = Q8Format::pack_input(&x);
            for (multiple, x) in multiples.into_iter().zip(x) {
                assert!(multiple == 0 || (f32::from(multiple) * scale - x).abs() <= scale, "{multiple} {scale} {x}");
            }
            assert_eq!(multiples[0], if largest < 1e-33 { 0 } else { i16::MAX });
        }
    }

    #[test]
    fn an_element_that_is_not_finite_makes_the_product_nan() {
        for not_finite in [f32::NAN, f32::INFINITY] {
            let mut x = [1.0; 40];
            x[7] = not_finite;
            assert!(product::<Q8Format>(&[1.0; 40], &x).is_nan());
            assert!(product::<Q8RowsFormat>(&[1.0; 40], &x).is_nan());
            assert!(PackedWeight::<Q8RowsFormat>::pack(x.into_iter(), 40).is_none());
        }
    }
}
