use super::{
    add_assign,
    leaf::{Leaf, Output},
};
use dfdx::tensor::{Cpu, CpuError, Gradients};
use std::mem;

/// One pass, where the definition makes two so that a tensor can be added to itself.
pub fn residual(input: Leaf, output: Leaf) -> Result<Output, CpuError> {
    let mut sum = input.room(input.elements.len())?;
    sum.copy_from_slice(&input.elements);
    add_assign(&mut sum, &output.elements);
    let sum = input.beside(sum)?;

    let (input, output, out) = (input.tensor.ghost(), output.tensor.ghost(), sum.ghost());
    let backward = move |gradients: &mut Gradients<f32, Cpu>| {
        let dy = mem::take(&mut **gradients.get_or_alloc_mut(&out)?);
        add_assign(gradients.get_or_alloc_mut(&input)?, &dy);
        add_assign(gradients.get_or_alloc_mut(&output)?, &dy);
        **gradients.get_or_alloc_mut(&out)? = dy;
        Ok(())
    };
    Ok((sum, Box::new(backward)))
}
