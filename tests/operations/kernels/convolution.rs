//! Convolutions against their sum, at sizes that no vector width divides.

use super::*;
use typed_transformer::dims::{ConvLen, KernelOf};
use typed_transformer::ops::{conv1d, conv2d};

dims! { Batch; Len; Height; Width; In = 3; Out = 5; }

/// `Σ w[o, i, j, k] x[n, Stride y + j - Padding, Stride x + i - Padding, i] + b[o]`, by its terms.
struct Sizes {
    batch: usize,
    input: [usize; 2],
    channels: [usize; 2],
    kernel: [usize; 2],
    stride: usize,
    padding: [usize; 2],
}

impl Sizes {
    fn output(&self) -> [usize; 2] {
        // The axis of one element has a stride of 1.
        [0, 1].map(|axis| (self.input[axis] + 2 * self.padding[axis] - self.kernel[axis]) / self.stride + 1)
    }

    fn convolve(&self, x: &[f64], w: &[f64], b: &[f64]) -> Vec<f64> {
        let ([rows, columns], [input, output]) = (self.output(), self.channels);
        let mut y = Vec::new();
        for [n, row, column, out] in places([self.batch, rows, columns, output]) {
            let terms = places([input, self.kernel[0], self.kernel[1]]).map(|[channel, j, k]| {
                let at = [(row, j, 0), (column, k, 1)].map(|(place, offset, axis)| {
                    let at = (place * self.stride + offset).checked_sub(self.padding[axis]);
                    at.filter(|at| *at < self.input[axis])
                });
                let [Some(row), Some(column)] = at else { return 0.0 };
                let x = x[((n * self.input[0] + row) * self.input[1] + column) * input + channel];
                x * w[((out * input + channel) * self.kernel[0] + j) * self.kernel[1] + k]
            });
            y.push(b[out] + terms.sum::<f64>());
        }
        y
    }
}

/// All indices of a tensor, row by row.
fn places<const N: usize>(sizes: [usize; N]) -> impl Iterator<Item = [usize; N]> {
    (0..sizes.iter().product()).map(move |mut place: usize| {
        let mut indices = [0; N];
        for (index, size) in indices.iter_mut().zip(sizes).rev() {
            (*index, place) = (place % size, place / size);
        }
        indices
    })
}

fn along_one_axis<const KERNEL: usize, const STRIDE: usize, const PADDING: usize>(batch: usize, len: usize)
where
    Const<KERNEL>: KernelOf<Len, Const<PADDING>>,
    Const<STRIDE>: ConstDim,
    Const<PADDING>: ConstDim,
{
    let rng = &mut StdRng::seed_from_u64(1);
    let x = both(rng, (Batch::new(batch), Len::new(len), In), 1.0);
    let weight = both(rng, (Out, In, Const::<KERNEL>), 1.0);
    let bias = both(rng, (Out,), 1.0);
    let (stride, padding) = (Const::<STRIDE>, Const::<PADDING>);
    compare!(
        conv1d(x.single.recorded(), &weight.single, Some(&bias.single), stride, padding),
        conv1d(x.double.recorded(), &weight.double, Some(&bias.double), stride, padding),
        [x, weight, bias]
    );
    let y: Untaped<(Batch, ConvLen<Len, Const<KERNEL>, Const<STRIDE>, Const<PADDING>>, Out), f64, Cpu> =
        conv1d(x.double.clone(), &weight.double, Some(&bias.double), stride, padding).unwrap();
    // As an image whose rows the stride passes over.
    let sizes =
        Sizes { batch, input: [1, len], channels: [3, 5], kernel: [1, KERNEL], stride: STRIDE, padding: [0, PADDING] };
    let expected = sizes.convolve(&x.double.as_vec(), &weight.double.as_vec(), &bias.double.as_vec());
    assert_eq!(y.shape().1.size(), sizes.output()[1]);
    assert_same(&y.as_vec(), &expected);
}

fn along_two_axes<const KERNEL: usize, const OTHER: usize, const STRIDE: usize, const PADDING: usize>(
    batch: usize,
    input: [usize; 2],
) where
    Const<KERNEL>: KernelOf<Height, Const<PADDING>>,
    Const<OTHER>: KernelOf<Width, Const<PADDING>>,
    Const<STRIDE>: ConstDim,
    Const<PADDING>: ConstDim,
{
    let rng = &mut StdRng::seed_from_u64(2);
    let x = both(rng, (Batch::new(batch), Height::new(input[0]), Width::new(input[1]), In), 1.0);
    let weight = both(rng, (Out, In, Const::<KERNEL>, Const::<OTHER>), 1.0);
    let bias = both(rng, (Out,), 1.0);
    let (stride, padding) = (Const::<STRIDE>, Const::<PADDING>);
    compare!(
        conv2d(x.single.recorded(), &weight.single, Some(&bias.single), stride, padding),
        conv2d(x.double.recorded(), &weight.double, Some(&bias.double), stride, padding),
        [x, weight, bias]
    );
    let y = conv2d(x.double.clone(), &weight.double, Some(&bias.double), stride, padding).unwrap();
    let sizes =
        Sizes { batch, input, channels: [3, 5], kernel: [KERNEL, OTHER], stride: STRIDE, padding: [PADDING; 2] };
    let expected = sizes.convolve(&x.double.as_vec(), &weight.double.as_vec(), &bias.double.as_vec());
    assert_eq!([y.shape().1.size(), y.shape().2.size()], sizes.output());
    assert_same(&y.as_vec(), &expected);
}

#[track_caller]
fn assert_same(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12));
}

#[test]
fn convolutions_along_one_axis_agree() {
    along_one_axis::<3, 1, 1>(2, 17);
    along_one_axis::<3, 2, 1>(3, 15);
    along_one_axis::<3, 2, 1>(1, 16);
    along_one_axis::<1, 1, 0>(2, 1);
    along_one_axis::<5, 3, 2>(1, 1);
    along_one_axis::<4, 4, 0>(2, 33);
    along_one_axis::<2, 5, 3>(2, 7);
}

#[test]
fn convolutions_along_two_axes_agree() {
    along_two_axes::<3, 3, 1, 1>(2, [5, 7]);
    along_two_axes::<2, 3, 2, 0>(1, [7, 9]);
    along_two_axes::<3, 1, 2, 1>(3, [4, 6]);
    along_two_axes::<4, 5, 4, 2>(1, [1, 3]);
}

#[test]
fn a_run_time_axis_that_is_shorter_than_the_kernel_is_an_error() {
    dims! { Kernel = 4; Stride = 1; Padding = 0; }
    let device = device();
    let x: Untaped<(Batch, Len, In), f32> = device.zeros_like(&(Batch::new(1), Len::new(2), In));
    let weight: Untaped<(Out, In, Kernel), f32> = device.zeros();
    let error = conv1d(x, &weight, None, Stride, Padding).unwrap_err();
    assert_eq!(error.to_string(), "conv1d: Kernel=4 from 0 on is not inside Sum<Padding, Sum<Len, Padding>>=2");
}
