use crate::autograd::{Buffer, KernelOutput, Operand, partition_elements, with_backward};
use crate::simd::vectorized;
use dfdx::tensor::CpuError;
use itertools::izip;

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
