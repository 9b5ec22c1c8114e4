//! Arithmetic of one tensor and of two, the choice between two tensors by a mask, and dropout.

use crate::autograd::{
    Buffer, KernelOutput, Operand, Runs, StridedOperand, SumsInParts, partition_elements, partition_repeated,
    with_backward,
};
use crate::kernel_options::Arithmetic;
use crate::matmul::{round_all_to_bf16, round_to_bf16};
use crate::simd::{ELEMENTS_PER_PART, vectorized};
use dfdx::tensor::CpuError;
use itertools::izip;

/// `factor · x + addend`. An addend of -0 changes no `x`.
pub fn affine_kernel(input: Operand, factor: f32, addend: f32) -> Result<KernelOutput, CpuError> {
    let partition = partition_elements(input.len(), 0);
    let mut y = input.alloc_output(input.len())?;
    partition.map_mut(&mut y, 1, |elements, y| {
        let x = elements.slice(input.elements(), 1);
        vectorized!(y.iter_mut().zip(x).for_each(|(y, x)| *y = factor * x + addend));
    });
    let output = input.new_tensor(y)?;

    let input = input.gradient;
    Ok(with_backward(output, move |mut dy, gradients| {
        if factor != 1.0 {
            partition.map_chunks(partition.split_mut(&mut dy, 1), |dy| {
                vectorized!(dy.iter_mut().for_each(|d| *d *= factor));
            });
        }
        input.add(gradients, dy);
    }))
}

/// `x` rounded to bfloat16; backward rounds the gradient.
pub fn round_kernel(input: Operand) -> Result<KernelOutput, CpuError> {
    let partition = partition_elements(input.len(), 0);
    let mut y = input.alloc_output(input.len())?;
    partition.map_mut(&mut y, 1, |elements, y| {
        let x = elements.slice(input.elements(), 1);
        vectorized!(y.iter_mut().zip(x).for_each(|(y, x)| *y = round_to_bf16(*x)));
    });
    let output = input.new_tensor(y)?;

    let input = input.gradient;
    Ok(with_backward(output, move |mut dy, gradients| {
        partition.map_mut(&mut dy, 1, |_, dy| round_all_to_bf16(dy));
        input.add(gradients, dy);
    }))
}

/// Calls `$loop` with an operation and its derivatives with respect to both operands, times the gradient `d`. This is a
/// macro because a function passed as a value would not be inlined into the loop that is compiled for wide registers.
macro_rules! with_operation {
    ($kind:expr, $loop:ident ! ($($argument:ident),*)) => {
        match $kind {
            Arithmetic::Add => $loop!((|x: f32, y: f32| x + y), (|_x: f32, _y: f32, d: f32| (d, d)), $($argument),*),
            Arithmetic::Sub => $loop!((|x: f32, y: f32| x - y), (|_x: f32, _y: f32, d: f32| (d, -d)), $($argument),*),
            Arithmetic::Mul => $loop!((|x: f32, y: f32| x * y), (|x: f32, y: f32, d: f32| (d * y, d * x)), $($argument),*),
            Arithmetic::Div => {
                // Not by the square of `y`, which is 0 or infinite for numbers whose quotient is neither.
                $loop!((|x: f32, y: f32| x / y), (|x: f32, y: f32, d: f32| (d / y, -(d / y) * (x / y))), $($argument),*)
            }
            Arithmetic::Maximum => $loop!(
                (|x: f32, y: f32| if x > y || x.is_nan() { x } else { y }),
                (|x: f32, y: f32, d: f32| gradients_of_choice(d, x > y || x.is_nan(), x == y)),
                $($argument),*
            ),
            Arithmetic::Minimum => $loop!(
                (|x: f32, y: f32| if x < y || x.is_nan() { x } else { y }),
                (|x: f32, y: f32, d: f32| gradients_of_choice(d, x < y || x.is_nan(), x == y)),
                $($argument),*
            ),
        }
    };
}

/// The gradient goes to the operand that was chosen; equal operands share it.
#[inline(always)]
fn gradients_of_choice(d: f32, is_first: bool, is_equal: bool) -> (f32, f32) {
    // No product with 0, which is NaN for an infinite gradient.
    if is_equal {
        (0.5 * d, 0.5 * d)
    } else if is_first {
        (d, 0.0)
    } else {
        (0.0, d)
    }
}

/// `z = f(x, y)`.
macro_rules! write_values {
    ($f:tt, $df:tt, $z:ident, $x:ident, $y:ident) => {
        izip!($z.iter_mut(), $x, $y).for_each(|(z, x, y)| *z = $f(*x, *y))
    };
}

/// `dx, dy = …`. `d` has the gradient of `z`, and gets that of `x`.
macro_rules! write_gradients {
    ($f:tt, $df:tt, $d:ident, $d_y:ident, $x:ident, $y:ident) => {
        for (d, d_y, x, y) in izip!($d.iter_mut(), $d_y.iter_mut(), $x, $y) {
            (*d, *d_y) = $df(*x, *y, *d);
        }
    };
}

/// `dx = …, dy += …`. `d` has the gradient of `z`, and gets that of `x`.
macro_rules! add_gradients {
    ($f:tt, $df:tt, $d:ident, $d_y:ident, $x:ident, $y:ident) => {
        for (d, d_y, x, y) in izip!($d.iter_mut(), $d_y.iter_mut(), $x, $y) {
            let (dx, dy) = $df(*x, *y, *d);
            *d = dx;
            *d_y += dy;
        }
    };
}

/// `f(x, y)`, element by element. `y` repeats itself along the axes that it does not have.
pub fn arithmetic_kernel(x: Operand, y: StridedOperand, kind: Arithmetic) -> Result<KernelOutput, CpuError> {
    let runs = Runs::new(&y);
    let partition = partition_elements(x.len(), 0);
    let mut output = x.alloc_output(x.len())?;
    partition.map_mut(&mut output, 1, |chunk, output| {
        let (all_x, all_y) = (x.elements(), y.storage());
        vectorized!(runs.for_each_block(chunk.range(), all_y, |elements, y, _| {
            let z = &mut output[elements.start - chunk.start()..elements.end - chunk.start()];
            let x = &all_x[elements];
            with_operation!(kind, write_values!(z, x, y));
        }));
    });
    let output = x.new_tensor(output)?;

    if kind == Arithmetic::Add {
        // The gradients of a sum need no operands, so the backward pass does not keep them.
        let (x, y) = (x.gradient, y.gradient());
        return Ok(with_backward(output, move |d, gradients| {
            y.add(gradients, &d);
            x.add(gradients, d);
        }));
    }
    Ok(with_backward(output, move |mut d, gradients| {
        let (all_x, all_y) = (x.elements(), y.storage());
        if runs.is_contiguous() {
            let mut d_y = Buffer::recycled(d.len());
            let chunks = izip!(partition.chunks(), partition.split_mut(&mut d, 1), partition.split_mut(&mut d_y, 1));
            partition.map_chunks(chunks, |(chunk, d, d_y)| {
                let [x, y] = [all_x, all_y].map(|all| chunk.slice(all, 1));
                vectorized!(with_operation!(kind, write_gradients!(d, d_y, x, y)));
            });
            y.add_gradient(gradients, vec![d_y]);
        } else {
            let partition = partition_repeated(all_y.len(), d.len());
            let parts = partition.map_mut(&mut d, 1, |chunk, d| {
                let mut sums = SumsInParts::zeros(all_y.len());
                let mut d_y = [0.0; ELEMENTS_PER_PART];
                vectorized!(runs.for_each_block(chunk.range(), all_y, |elements, y, place| {
                    let d = &mut d[elements.start - chunk.start()..elements.end - chunk.start()];
                    let x = &all_x[elements.clone()];
                    if let Some(start) = place {
                        let d_y = &mut sums.part_for(d.len())[start..];
                        return with_operation!(kind, add_gradients!(d, d_y, x, y));
                    }
                    let d_y = &mut d_y[..d.len()];
                    with_operation!(kind, write_gradients!(d, d_y, x, y));
                    runs.add(&mut sums, elements, d_y);
                }));
                sums.into_total()
            });
            y.add_gradient(gradients, parts);
        }
        x.gradient.add(gradients, d);
    }))
}

/// The element of `x` where the mask is true, and that of `y` elsewhere.
pub fn where_kernel(mask: Vec<bool>, x: Operand, y: Operand) -> Result<KernelOutput, CpuError> {
    let partition = partition_elements(x.len(), 0);
    let mut z = x.alloc_output(x.len())?;
    partition.map_mut(&mut z, 1, |elements, z| {
        let [x, y] = [&x, &y].map(|operand| elements.slice(operand.elements(), 1));
        let mask = elements.slice(&mask, 1);
        vectorized!(izip!(z.iter_mut(), mask, x, y).for_each(|(z, is_x, x, y)| *z = if *is_x { *x } else { *y }));
    });
    let output = x.new_tensor(z)?;

    let (x, y) = (x.gradient, y.gradient);
    Ok(with_backward(output, move |dz, gradients| {
        let (mut dx, mut dy) = (dz, Buffer::recycled(mask.len()));
        let chunks = partition.split_mut(&mut dx, 1).zip(partition.split_mut(&mut dy, 1));
        partition.map_chunks(partition.chunks().zip(chunks), |(elements, (dx, dy))| {
            let mask = elements.slice(&mask, 1);
            vectorized!({
                for (dx, dy, is_x) in izip!(dx.iter_mut(), dy.iter_mut(), mask) {
                    (*dx, *dy) = if *is_x { (*dx, 0.0) } else { (0.0, *dx) };
                }
            });
        });
        x.add(gradients, dx);
        y.add(gradients, dy);
    }))
}

/// The kept elements times `factor`; the others become 0.
pub fn dropout_kernel(input: Operand, is_kept: Vec<bool>, factor: f32) -> Result<KernelOutput, CpuError> {
    let partition = partition_elements(input.len(), 0);
    let mut y = input.alloc_output(input.len())?;
    partition.map_mut(&mut y, 1, |elements, y| {
        y.copy_from_slice(elements.slice(input.elements(), 1));
        drop_others(y, elements.slice(&is_kept, 1), factor);
    });
    let output = input.new_tensor(y)?;

    let input = input.gradient;
    Ok(with_backward(output, move |mut dy, gradients| {
        partition.map_mut(&mut dy, 1, |elements, dy| drop_others(dy, elements.slice(&is_kept, 1), factor));
        input.add(gradients, dy);
    }))
}

fn drop_others(x: &mut [f32], is_kept: &[bool], factor: f32) {
    vectorized!({
        for (x, is_kept) in x.iter_mut().zip(is_kept) {
            *x = if *is_kept { *x * factor } else { 0.0 };
        }
    });
}
