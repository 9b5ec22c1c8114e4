use super::integers::{IntegerFormat, Lanes, MAX_INPUT_MULTIPLE, MAX_WEIGHT_MULTIPLE, add_product_at_level, largest};
use super::weight::{BLOCK_LEN, reciprocal};
use super::{Format, format::f32_of_f16};
use half::f16;
use pulp::bytemuck::Zeroable;
use std::slice::ChunksExact;

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
        let largest = largest(x);
        let inverse = if largest == 0.0 { 0.0 } else { MAX_INPUT_MULTIPLE / largest };
        let mut multiples = [0; BLOCK_LEN];
        for (multiple, x) in multiples.iter_mut().zip(x) {
            *multiple = (x * inverse).round_ties_even() as i16;
        }
        // With an element that is not finite the scale is not either, and the product is NaN.
        Q16Block { multiples, scale: largest / MAX_INPUT_MULTIPLE }
    }

    fn add_product(rows: ChunksExact<Self::Block>, x: &[Self::InputBlock], y: &mut [f32]) {
        add_product_at_level::<Self>(rows, x, y);
    }
}

impl IntegerFormat for Q8Format {
    type Sum<L: Lanes> = L::Numbers;

    #[inline(always)]
    fn add_block<L: Lanes>(lanes: L, a: &Q8Block, x: &Q16Block, sum: L::Numbers) -> L::Numbers {
        let products = lanes.add_products(&a.multiples, &x.multiples, L::Integers::zeroed());
        lanes.add_scaled(products, f32_of_f16(a.scale) * x.scale, sum)
    }

    #[inline(always)]
    fn total<L: Lanes>(lanes: L, sum: L::Numbers) -> f32 {
        lanes.total(sum)
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
