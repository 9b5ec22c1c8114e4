use super::BLOCK_LEN;
use super::row_products::Lanes;
use half::{bf16, f16};
use pulp::bytemuck::Zeroable;

/// How the elements of a block are stored. A block has 32 consecutive elements of a row.
pub trait Format: Copy + Send + Sync + 'static {
    type Block: Copy + Send + Sync + 'static;
    /// A block of the vector that the rows are multiplied by.
    type InputBlock: Copy + Send + Sync + 'static;
    /// A sum of products of a row.
    type Sum<L: Lanes>: Copy + Zeroable;

    /// The number that a row is divided by before its blocks are packed, if there is one.
    fn row_scale(_row: &[f32]) -> Option<f32> {
        None
    }

    /// The number that a vector is divided by before its blocks are packed, if there is one.
    fn input_scale(_x: &[f32]) -> Option<f32> {
        None
    }

    /// The block whose elements are nearest to these; `None` if one is not finite in this format.
    fn pack(elements: &[f32; BLOCK_LEN]) -> Option<Self::Block>;

    /// The element at `i`, without the scale of the row. It has no branch, so that a loop over a block becomes vector
    /// instructions.
    fn element(block: &Self::Block, i: usize) -> f32;

    fn pack_input(x: &[f32; BLOCK_LEN]) -> Self::InputBlock;

    /// `sum + a x`, with the scales of the blocks. The caller applies [`row_scale`](Self::row_scale) and
    /// [`input_scale`](Self::input_scale).
    fn add_block<L: Lanes>(lanes: L, a: &Self::Block, x: &Self::InputBlock, sum: Self::Sum<L>) -> Self::Sum<L>;

    /// `total + sum`, lane by lane.
    fn add_sum<L: Lanes>(lanes: L, sum: Self::Sum<L>, total: L::Numbers) -> L::Numbers;
}

/// A format of numbers in 16 bits. `$widened` is the `f32` of the number that has the bits `$bits`.
macro_rules! half_format {
    ($name:ident, $number:ident, |$bits:ident| $widened:expr) => {
        impl Format for $name {
            type Block = [u16; BLOCK_LEN];
            type InputBlock = [f32; BLOCK_LEN];
            type Sum<L: Lanes> = L::Numbers;

            fn pack(elements: &[f32; BLOCK_LEN]) -> Option<Self::Block> {
                let nearest = elements.map($number::from_f32);
                nearest.iter().all(|x| x.is_finite()).then(|| nearest.map($number::to_bits))
            }

            #[inline(always)]
            fn element(block: &Self::Block, i: usize) -> f32 {
                let $bits = block[i];
                $widened
            }

            #[inline(always)]
            fn pack_input(x: &[f32; BLOCK_LEN]) -> Self::InputBlock {
                *x
            }

            #[inline(always)]
            fn add_block<L: Lanes>(lanes: L, a: &Self::Block, x: &Self::InputBlock, mut sum: L::Numbers) -> L::Numbers {
                for (a, x) in a.as_chunks().0.iter().zip(x.as_chunks().0) {
                    let widened = a.map(
                        #[inline(always)]
                        |$bits| $widened,
                    );
                    sum = lanes.add_products(widened, *x, sum);
                }
                sum
            }

            #[inline(always)]
            fn add_sum<L: Lanes>(lanes: L, sum: L::Numbers, total: L::Numbers) -> L::Numbers {
                lanes.add(sum, total)
            }
        }
    };
}

/// bfloat16: the upper half of an `f32`.
#[derive(Clone, Copy)]
pub struct Bf16Format;
half_format!(Bf16Format, bf16, |bits| f32::from_bits(u32::from(bits) << 16));

/// float16 of IEEE 754.
#[derive(Clone, Copy)]
pub struct F16Format;
half_format!(F16Format, f16, |bits| f32_of_f16(bits));

/// A float16 as an `f32`, wrong for NaN and infinities, which no block has. Without a branch, as in
/// [FP16](https://github.com/Maratyszcza/FP16).
#[inline(always)]
pub fn f32_of_f16(bits: u16) -> f32 {
    const SIGN: u32 = 1 << 31;
    /// The exponents of float16 and `f32` differ by 112.
    const EXPONENT_OFFSET: u32 = 112 << 23;
    /// The bits of 0.5.
    const HALF: u32 = 126 << 23;
    let bits = u32::from(bits) << 16;
    let magnitude = bits & !SIGN;
    let normal = (magnitude >> 3).wrapping_add(EXPONENT_OFFSET);
    // A subnormal number with the bits `m` is `m * 2⁻²⁴`, and 0.5 with `m` as its last bits is `0.5 + m * 2⁻²⁴`.
    let subnormal = (f32::from_bits((magnitude >> 16) | HALF) - 0.5).to_bits();
    let is_normal = magnitude >= 1 << 26;
    f32::from_bits((bits & SIGN) | if is_normal { normal } else { subnormal })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packed::Q8Format;

    #[test]
    fn every_finite_float16_is_widened_exactly() {
        for bits in 0..=u16::MAX {
            let expected = f16::from_bits(bits);
            if expected.is_finite() {
                assert_eq!(f32_of_f16(bits).to_bits(), expected.to_f32().to_bits(), "{bits:#x}");
            }
        }
    }

    /// Elements of every size, the signs mixed.
    fn elements(size: f32) -> [f32; BLOCK_LEN] {
        std::array::from_fn(|i| size * ((i * 7919 % 401) as f32 / 200.0 - 1.0))
    }

    fn largest_error<F: Format>(elements: &[f32; BLOCK_LEN]) -> f32 {
        let block = F::pack(elements).unwrap();
        let errors = (0..BLOCK_LEN).map(|i| (F::element(&block, i) - elements[i]).abs());
        errors.fold(0.0, f32::max)
    }

    #[test]
    fn the_error_is_half_of_the_last_place() {
        for size in [1e-3, 0.02, 1.0, 300.0] {
            let elements = elements(size);
            assert!(largest_error::<Bf16Format>(&elements) <= size / 256.0);
            assert!(largest_error::<F16Format>(&elements) <= size / 2048.0);
            // The scale has an error of its own.
            assert!(largest_error::<Q8Format>(&elements) <= size / 254.0 * 1.07);
        }
        assert_eq!(largest_error::<Q8Format>(&[0.0; BLOCK_LEN]), 0.0);
    }

    #[test]
    fn an_element_that_is_too_large_is_refused() {
        fn check<F: Format>(largest: f32, too_large: f32) {
            let with = |x| std::array::from_fn(|i| if i == 5 { x } else { 1.0 });
            assert!(F::pack(&with(largest)).is_some() && F::pack(&with(-largest)).is_some());
            for x in [too_large, -too_large, f32::INFINITY, f32::NAN] {
                assert!(F::pack(&with(x)).is_none(), "{x}");
            }
        }
        check::<Bf16Format>(3.38e38, f32::MAX);
        check::<F16Format>(65_504.0, 65_520.0);
        check::<Q8Format>(65_504.0 * 127.0, 65_520.0 * 127.1);
    }
}
