use crate::autograd::{Buffer, KernelOutput, MACS_PER_READ, Operand, Partition, with_backward};
use crate::kernels::linear::MAX_FEW_ROWS;
use crate::matmul::{Matrix, add_part_of_product, column_sums_in_parts, fill_rows, matmul};
use crate::packed::{Format, PackedWeight};
use dfdx::tensor::CpuError;

/// The elements of a panel: rows of a weight that are widened at a time, so few that they stay in the cache.
const ELEMENTS_PER_PANEL: usize = 1 << 17;

/// `(N, In) -> (N, Out)`: `y = x Wᵀ + b`, for all rows, with a weight that has no gradient.
pub fn packed_linear_kernel<F: Format>(
    input: Operand,
    weight: PackedWeight<F>,
    bias: Option<Operand>,
    out_features: usize,
) -> Result<KernelOutput, CpuError> {
    let in_features = weight.columns();
    let rows = input.len() / in_features.max(1);
    let mut y = input.alloc_output(rows * out_features)?;
    fill_rows(&mut y, bias.as_ref().map(Operand::elements), out_features);
    match rows {
        1 => add_one_row(&mut y, input.elements(), &weight),
        _ => add_rows(&mut y, input.elements(), &weight, rows, out_features),
    }
    let output = input.new_tensor(y)?;

    Ok(with_backward(output, move |dy, gradients| {
        let mut dx = Buffer::recycled(input.len());
        backward_input(&mut dx, &dy, &weight, out_features);
        if let Some(bias) = &bias {
            bias.gradient.add_parts(gradients, column_sums_in_parts(&dy, bias.len()));
        }
        input.gradient.add(gradients, dx);
    }))
}

/// `y += x Wᵀ` for one row. Each thread reads its rows of the weight as they are stored.
fn add_one_row<F: Format>(y: &mut [f32], x: &[f32], weight: &PackedWeight<F>) {
    let x = PackedWeight::<F>::pack_input(x);
    let partition = Partition::new(y.len(), MACS_PER_READ * weight.columns(), usize::MAX);
    partition.map_mut(y, 1, |features, y| weight.add_product(features.range(), &x, y));
}

/// `y += x Wᵀ` for several rows. Each thread widens panels of the weight, and multiplies them as a linear layer does.
fn add_rows<F: Format>(y: &mut [f32], x: &[f32], weight: &PackedWeight<F>, rows: usize, out_features: usize) {
    let in_features = weight.columns();
    let macs_per_feature = rows.max(MACS_PER_READ) * in_features;
    let partition = Partition::new(out_features, macs_per_feature, (ELEMENTS_PER_PANEL / in_features.max(1)).max(1));
    let chunks = partition.chunks().zip(partition.split_columns_mut(y, 1));
    partition.map_chunks(chunks, |(features, mut y)| {
        let mut panel = Buffer::recycled(features.len() * in_features);
        weight.unpack(features.range(), &mut panel);
        if rows <= MAX_FEW_ROWS {
            return add_part_of_product(y, x, &panel, in_features);
        }
        let mut product = Buffer::recycled(features.len() * rows);
        let panel = Matrix::new(&panel, features.len(), in_features);
        matmul(&mut product, panel, Matrix::new(x, rows, in_features).transposed(), false);
        Matrix::new(&product, features.len(), rows).transposed().add_to_rows(&mut y);
    });
}

/// `(N, Out) -> (N, In)`: `dx = dy W`.
fn backward_input<F: Format>(dx: &mut [f32], dy: &[f32], weight: &PackedWeight<F>, out_features: usize) {
    let in_features = weight.columns();
    let mut widened = Buffer::recycled(out_features * in_features);
    let partition = Partition::new(out_features, in_features, usize::MAX);
    partition.map_mut(&mut widened, in_features, |features, panel| weight.unpack(features.range(), panel));
    let widened = Matrix::new(&widened, out_features, in_features);
    let partition = Partition::new(dx.len() / in_features.max(1), out_features * in_features, usize::MAX);
    partition.map_mut(dx, in_features, |rows, dx| {
        let dy = Matrix::new(rows.slice(dy, out_features), rows.len(), out_features);
        matmul(dx, dy, widened, false);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packed::{Bf16Format, F16Format, Q8Format, Q8RowsFormat};
    use dfdx::{
        shapes::HasShape,
        tensor::{Cpu, NoneTape, TensorFromVec},
    };

    fn number(i: usize) -> f32 {
        ((i * 7919) % 61) as f32 / 30.0 - 1.0
    }

    fn operand(elements: Vec<f32>) -> Operand {
        let shape = (elements.len(),);
        Operand::read(Cpu::default().tensor_from_vec(elements, shape), &mut NoneTape).unwrap()
    }

    /// The kernel agrees with the definition in `f64`, in which the weight is the one that is stored. In the product of
    /// one row each `x` is rounded, by at most `x_error` times the largest `|x|`.
    fn agrees<F: Format>(rows: usize, out_features: usize, in_features: usize, x_error: f64) {
        let elements: Vec<f32> = (0..out_features * in_features).map(|i| number(i + 3) / 7.0).collect();
        let weight = PackedWeight::<F>::pack(elements.iter().copied(), in_features).unwrap();
        let mut stored = vec![f32::NAN; elements.len()];
        weight.unpack(0..out_features, &mut stored);
        for (stored, element) in stored.iter().zip(&elements) {
            assert!((stored - element).abs() <= 1.0 / 7.0 / 253.5, "{stored} {element}");
        }
        let x: Vec<f32> = (0..rows * in_features).map(number).collect();
        let bias: Vec<f32> = (0..out_features).map(|i| number(i + 11)).collect();
        let bias = Some(operand(bias));
        let (output, _) = packed_linear_kernel(operand(x.clone()), weight, bias.clone(), out_features).unwrap();
        assert_eq!(output.shape().0, rows * out_features);
        for (i, y) in output.as_vec().into_iter().enumerate() {
            let (row, column) = (i / out_features, i % out_features);
            let stored = &stored[column * in_features..][..in_features];
            let products = x[row * in_features..].iter().zip(stored).map(|(x, a)| f64::from(*x) * f64::from(*a));
            let expected = products.sum::<f64>() + f64::from(bias.as_ref().unwrap().elements()[column]);
            let x_error = if rows == 1 { x_error } else { 0.0 };
            let tolerance = 1e-5 + x_error * stored.iter().map(|a| f64::from(a.abs())).sum::<f64>();
            assert!((f64::from(y) - expected).abs() < tolerance, "{row} {column}: {y} {expected}");
        }
    }

    #[test]
    fn every_format_agrees_with_the_definition() {
        for (rows, out_features, in_features) in [
            (1, 1, 1),
            (1, 9, 16),
            (1, 130, 33),
            (1, 31, 64),
            (1, 1500, 97),
            (1, 5, 600),
            (2, 3, 5),
            (4, 4, 64),
            (5, 17, 35),
            (16, 1500, 97),
            (17, 70, 31),
            (40, 1500, 97),
        ] {
            agrees::<Bf16Format>(rows, out_features, in_features, 0.0);
            agrees::<F16Format>(rows, out_features, in_features, 0.0);
            agrees::<Q8Format>(rows, out_features, in_features, 0.5 / f64::from(i16::MAX));
            agrees::<Q8RowsFormat>(rows, out_features, in_features, 0.5 / f64::from(i16::MAX));
        }
    }

    #[test]
    fn the_gradient_of_the_input_is_that_of_the_stored_weight() {
        let (rows, out_features, in_features) = (3, 7, 33);
        let elements = (0..out_features * in_features).map(|i| number(i + 3));
        let weight = PackedWeight::<Q8Format>::pack(elements, in_features).unwrap();
        let mut stored = vec![0.0; out_features * in_features];
        weight.unpack(0..out_features, &mut stored);
        let dy: Vec<f32> = (0..rows * out_features).map(number).collect();
        let mut dx = vec![f32::NAN; rows * in_features];
        backward_input(&mut dx, &dy, &weight, out_features);
        for (i, dx) in dx.into_iter().enumerate() {
            let (row, l) = (i / in_features, i % in_features);
            let products = (0..out_features).map(|j| dy[row * out_features + j] * stored[j * in_features + l]);
            assert!((dx - products.sum::<f32>()).abs() < 1e-5);
        }
    }
}
