use super::{
    add_assign,
    leaf::{Leaf, Output},
    rows_mut, rows_of,
};
use dfdx::tensor::{Cpu, CpuError, Gradients};
use std::mem;

/// Adds row by row, where the definition broadcasts.
pub fn add_positions(input: Leaf, positions: Leaf) -> Result<Output, CpuError> {
    let sequence = positions.elements.len();
    let mut y = input.room(input.elements.len())?;
    y.copy_from_slice(&input.elements);
    rows_mut(&mut y, sequence).for_each(|sequence| add_assign(sequence, &positions.elements));
    let output = input.beside(y)?;

    let (input, positions) = (input.tensor.ghost(), positions.tensor.ghost());
    let out = output.ghost();
    let backward = move |gradients: &mut Gradients<f32, Cpu>| {
        let dy = mem::take(&mut **gradients.get_or_alloc_mut(&out)?);
        add_assign(gradients.get_or_alloc_mut(&input)?, &dy);
        let dp = gradients.get_or_alloc_mut(&positions)?;
        rows_of(&dy, sequence).for_each(|sequence| add_assign(dp, sequence));
        **gradients.get_or_alloc_mut(&out)? = dy;
        Ok(())
    };
    Ok((output, Box::new(backward)))
}
