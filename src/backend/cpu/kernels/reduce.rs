use super::MiddleAxis;
use crate::{
    autograd::{Buffer, KernelOutput, Operand, Partition, with_backward},
    conventions::Reduction,
    simd::{add_row, dispatch_simd, max, row_chunks, row_chunks_mut, sum},
};
use dfdx::tensor::CpuError;
use itertools::izip;

/// The cost of an element, in multiply-adds.
const MACS_PER_ELEMENT: usize = 16;
/// The number of elements that are summed before their sum is added to the whole: adding to a large sum rounds more.
const ELEMENTS_PER_PARTIAL_SUM: usize = 1 << 10;

/// The sum, the mean or the largest element along an axis.
pub fn reduce_kernel(input: Operand, axis: MiddleAxis, kind: Reduction) -> Result<KernelOutput, CpuError> {
    let (block_len, inner) = (axis.block_len(), axis.inner);
    let partition = Partition::new(axis.outer, MACS_PER_ELEMENT * block_len, usize::MAX);
    let mut y = input.alloc_output(axis.outer * inner)?;
    let chunks = partition.ranges().zip(partition.split_mut(&mut y, inner));
    partition.map_chunks(chunks, |(blocks, y)| {
        let x = blocks.slice(input.elements(), block_len);
        for (y, x) in row_chunks_mut(y, inner).zip(row_chunks(x, block_len)) {
            forward_block(y, x, kind);
        }
    });
    let output = input.new_tensor(y)?;
    let y = Operand::without_gradient(&output);

    let factor = if kind == Reduction::Mean { 1.0 / axis.len as f32 } else { 1.0 };
    Ok(with_backward(output, move |dy, gradients| {
        let mut dx = Buffer::recycled(input.len());
        let chunks = partition.ranges().zip(partition.split_mut(&mut dx, block_len));
        partition.map_chunks(chunks, |(blocks, dx)| {
            let x = blocks.slice(input.elements(), block_len);
            let [y, dy] = [y.elements(), &dy].map(|all| blocks.slice(all, inner));
            dispatch_simd(
                #[inline(always)]
                || {
                    let rows = row_chunks(y, inner).zip(row_chunks(dy, inner));
                    for (dx, x, (y, dy)) in izip!(row_chunks_mut(dx, block_len), row_chunks(x, block_len), rows) {
                        for (dx, x) in row_chunks_mut(dx, inner).zip(row_chunks(x, inner)) {
                            for (dx, x, y, dy) in izip!(dx, x, y, dy) {
                                *dx = if kind == Reduction::Max && x != y { 0.0 } else { factor * dy };
                            }
                        }
                    }
                },
            );
        });
        input.add_gradient(gradients, dx)
    }))
}

/// `(Len, Inner) -> (Inner,)`.
fn forward_block(y: &mut [f32], x: &[f32], kind: Reduction) {
    let inner = y.len();
    let len = x.len() / inner.max(1);
    dispatch_simd(
        #[inline(always)]
        || match (kind, inner) {
            (Reduction::Max, 1) => y[0] = max(x),
            (Reduction::Max, _) => {
                y.fill(f32::NEG_INFINITY);
                for row in row_chunks(x, inner) {
                    y.iter_mut().zip(row).for_each(|(y, x)| *y = if *x > *y { *x } else { *y });
                }
            }
            (_, 1) => y[0] = x.chunks(ELEMENTS_PER_PARTIAL_SUM).map(|part| f64::from(sum(part))).sum::<f64>() as f32,
            (_, _) => {
                y.fill(0.0);
                for row in row_chunks(x, inner) {
                    add_row(y, row);
                }
            }
        },
    );
    if kind == Reduction::Mean {
        y.iter_mut().for_each(|y| *y *= 1.0 / len as f32);
    }
}
