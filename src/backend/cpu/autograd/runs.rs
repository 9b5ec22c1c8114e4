use super::{StridedOperand, SumsInParts};
use crate::simd::{ELEMENTS_PER_PART, add_row, sum};
use std::ops::Range;

/// The least length of a run that is read in place.
const MIN_LEN_IN_PLACE: usize = 64;

/// The elements of a strided operand in row-major order, in runs of a constant stride.
pub struct Runs {
    /// Size and stride of the axes that count the runs.
    axes: Vec<(usize, usize)>,
    len: usize,
    /// The distance of neighbours in a run, in elements of the storage.
    stride: usize,
}

impl Runs {
    pub fn new(operand: &StridedOperand) -> Self {
        let mut axes: Vec<(usize, usize)> = Vec::new();
        for (&size, &stride) in operand.sizes.iter().zip(&operand.strides).filter(|(size, _)| **size > 1) {
            match axes.last_mut() {
                // Both axes together have one stride.
                Some(last) if last.1 == size * stride => *last = (last.0 * size, stride),
                _ => axes.push((size, stride)),
            }
        }
        let (len, stride) = axes.pop().unwrap_or((1, 0));
        Self { axes, len, stride }
    }

    /// Whether the elements lie in row-major order without gaps.
    pub fn is_contiguous(&self) -> bool {
        self.axes.is_empty() && self.stride == 1
    }

    /// The place of the first element of a run.
    fn start(&self, mut run: usize) -> usize {
        let mut start = 0;
        for (size, stride) in self.axes.iter().rev() {
            start += run % size * stride;
            run /= size;
        }
        start
    }

    /// Calls `visit` with each part of a run in a range of elements: the elements, and the place of the first one in
    /// the storage.
    #[inline(always)]
    fn for_each(&self, elements: Range<usize>, mut visit: impl FnMut(Range<usize>, usize)) {
        let &(num_runs, distance) = self.axes.last().unwrap_or(&(1, 0));
        let mut at = elements.start;
        while at < elements.end {
            let (run, mut skipped) = (at / self.len, at % self.len);
            let mut start = self.start(run);
            // The runs up to the end of their axis: each starts `distance` after the one before.
            for _ in run % num_runs..num_runs {
                let end = elements.end.min(at - skipped + self.len);
                visit(at..end, start + skipped * self.stride);
                (at, skipped, start) = (end, 0, start + distance);
                if at == elements.end {
                    return;
                }
            }
        }
    }

    /// Calls `visit` with blocks of at most [`ELEMENTS_PER_PART`] elements: their range, what the operand has there, and
    /// the place of the first one in the storage if they are read in place. Short runs are copied to a block, so that a
    /// loop over it takes whole vectors.
    #[inline(always)]
    pub fn for_each_block(
        &self,
        elements: Range<usize>,
        storage: &[f32],
        mut visit: impl FnMut(Range<usize>, &[f32], Option<usize>),
    ) {
        let is_in_place = self.stride == 1 && self.len >= MIN_LEN_IN_PLACE;
        let mut copy = [0.0; ELEMENTS_PER_PART];
        let mut at = elements.start;
        while at < elements.end {
            let mut block = at..elements.end.min(at + ELEMENTS_PER_PART);
            let (values, place) = if is_in_place {
                let (run, skipped) = (at / self.len, at % self.len);
                block.end = block.end.min(at - skipped + self.len);
                let start = self.start(run) + skipped;
                (&storage[start..][..block.len()], Some(start))
            } else {
                self.copy(&mut copy, block.clone(), storage);
                (&copy[..block.len()], None)
            };
            at = block.end;
            visit(block, values, place);
        }
    }

    /// Copies a range of elements.
    #[inline(always)]
    pub fn copy(&self, to: &mut [f32], elements: Range<usize>, storage: &[f32]) {
        let first = elements.start;
        self.for_each(elements, |elements, start| {
            let to = &mut to[elements.start - first..elements.end - first];
            match self.stride {
                0 => to.fill(storage[start]),
                1 => to.copy_from_slice(&storage[start..][..to.len()]),
                stride => to.iter_mut().zip(storage[start..].iter().step_by(stride)).for_each(|(to, x)| *to = *x),
            }
        });
    }

    /// Adds a term that has the gradient of each element in a range. An element that is repeated gets the sum.
    #[inline(always)]
    pub fn add(&self, sums: &mut SumsInParts, elements: Range<usize>, term: &[f32]) {
        let first = elements.start;
        self.for_each(elements, |elements, start| {
            let sums = &mut sums.part_for(elements.len())[start..];
            let term = &term[elements.start - first..elements.end - first];
            match self.stride {
                0 => {
                    // Adding to a large sum rounds more.
                    let mut total = 0.0;
                    for part in term.chunks(ELEMENTS_PER_PART) {
                        total += f64::from(sum(part));
                    }
                    sums[0] += total as f32;
                }
                1 => add_row(sums, term),
                stride => sums.iter_mut().step_by(stride).zip(term).for_each(|(sum, x)| *sum += x),
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dfdx::shapes::{Axes2, Axis, Shape};
    use dfdx::tensor::{Cpu, Tensor, TensorFromVec};
    use dfdx::tensor_ops::{BroadcastTo, PermuteTo, ReshapeTo};

    /// Runs of all kinds: shorter and longer than a block, of one element, repeated, and of any stride.
    #[test]
    fn blocks_copies_and_sums_are_those_of_the_elements() {
        fn check<Dims: Shape>(tensor: Tensor<Dims, f32, Cpu>) {
            let (expected, operand) = (tensor.as_vec(), StridedOperand::new(tensor));
            let (runs, storage, len) = (Runs::new(&operand), operand.storage(), expected.len());
            for range in [0..len, 0..len / 2, len / 3..len, 1..len - 1] {
                let mut blocks = vec![f32::NAN; len];
                runs.for_each_block(range.clone(), storage, |part, x, _| blocks[part].copy_from_slice(x));
                assert_eq!(blocks[range.clone()], expected[range.clone()]);
                let mut sums = SumsInParts::zeros(storage.len());
                runs.add(&mut sums, range.clone(), &vec![1.0; range.len()]);
                let mut counts = vec![0.0; storage.len()];
                // Each element of the storage is another number.
                let place = |x: &f32| storage.iter().position(|other| other == x).unwrap();
                expected[range].iter().for_each(|x| counts[place(x)] += 1.0);
                assert_eq!(sums.into_total()[..], counts);
            }
        }
        let numbers = |len: usize| -> Tensor<[usize; 1], f32, Cpu> {
            Cpu::default().tensor_from_vec((0..len).map(|i| i as f32).collect(), [len])
        };
        for len in [1, 4, 17, 100, 1500] {
            check(numbers(len).broadcast_like::<_, Axis<0>>(&[7, len]));
            check(numbers(7).broadcast_like::<_, Axis<1>>(&[7, len]));
            check(numbers(len).broadcast_like::<_, Axes2<0, 2>>(&[3, len, 4]));
            let matrix: Tensor<(usize, usize), f32, Cpu> = numbers(7 * len).reshape_like(&(7, len));
            check(matrix.clone().permute::<_, Axes2<1, 0>>());
            check(matrix.broadcast_like::<_, Axis<0>>(&(2, 7, len)));
        }
    }
}
