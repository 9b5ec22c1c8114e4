use crate::autograd::{KernelOutput, Operand, partition_elements, with_backward};
use crate::kernel_options::LossKind;
use crate::simd::{exp, ln_1p, vectorized};
use dfdx::tensor::CpuError;
use itertools::izip;

/// The cost of an element, in multiply-adds.
const MACS_PER_LOSS: usize = 32;

/// Calls `$loop` with the function of a loss, which returns value and derivative. This is a macro because a function
/// passed as a value would not be inlined into the loop that is compiled for wide registers.
macro_rules! with_function {
    ($loss:expr, $loop:ident ! ($($argument:ident),*)) => {
        match $loss {
            LossKind::SquaredError => $loop!(squared_error, $($argument),*),
            LossKind::BinaryCrossEntropy => $loop!(binary_cross_entropy, $($argument),*),
        }
    };
}

/// `y = f(x, t)`; the unused derivative is optimized away.
macro_rules! write_values {
    ($f:ident, $y:ident, $x:ident, $t:ident) => {
        vectorized!({
            for (y, x, t) in izip!($y.iter_mut(), $x, $t) {
                *y = $f(*x, *t).0;
            }
        })
    };
}

/// `dx`, which holds `dy`, becomes `f'(x, t) dy`.
macro_rules! write_gradients {
    ($f:ident, $dx:ident, $x:ident, $t:ident) => {
        vectorized!({
            for (dx, x, t) in izip!($dx.iter_mut(), $x, $t) {
                *dx *= $f(*x, *t).1;
            }
        })
    };
}

/// `(N,), (N,) -> (N,)`: the loss of each element of the input. The target is a constant.
pub fn loss_kernel(input: Operand, target: Operand, loss: LossKind) -> Result<KernelOutput, CpuError> {
    let partition = partition_elements(input.len(), MACS_PER_LOSS);
    let mut y = input.alloc_output(input.len())?;
    partition.map_mut(&mut y, 1, |elements, y| {
        let [x, t] = [&input, &target].map(|operand| elements.slice(operand.elements(), 1));
        with_function!(loss, write_values!(y, x, t));
    });
    let output = input.new_tensor(y)?;

    Ok(with_backward(output, move |dy, gradients| {
        let mut dx = dy;
        partition.map_mut(&mut dx, 1, |elements, dx| {
            let [x, t] = [&input, &target].map(|operand| elements.slice(operand.elements(), 1));
            with_function!(loss, write_gradients!(dx, x, t));
        });
        input.gradient.add(gradients, dx);
    }))
}

#[inline(always)]
fn squared_error(x: f32, t: f32) -> (f32, f32) {
    let difference = x - t;
    (difference * difference, 2.0 * difference)
}

/// `-t · log σ(x) - (1 - t) · log(1 - σ(x))`, as a sum of terms of one sign, so that no digits cancel.
/// Its derivative is `(1 - t) σ(x) - t σ(-x)`.
#[inline(always)]
fn binary_cross_entropy(x: f32, t: f32) -> (f32, f32) {
    let power = exp(-x.abs());
    // The logistic functions of `|x|` and of `-|x|`.
    let larger = 1.0 / (1.0 + power);
    let smaller = power * larger;
    let (linear, derivative) = match x > 0.0 {
        true => ((1.0 - t) * x, (1.0 - t) * larger - t * smaller),
        false => (-t * x, (1.0 - t) * smaller - t * larger),
    };
    (linear + ln_1p(power), derivative)
}
