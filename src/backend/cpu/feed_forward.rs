use super::{
    activation,
    around::{Around, AroundGradient},
    buffer::Buffer,
    leaf::{Leaf, Output},
    map::{Map, MapGradient},
    multiply_assign,
    parallel::Share,
    rows_mut, rows_of,
};
use crate::ops::Elementwise;
use dfdx::tensor::{Cpu, CpuError, Gradients};
use itertools::izip;
use std::mem;

/// As many elements of the hidden layer as are calculated with while they stay in the cache.
const CACHED: usize = 1 << 17;

/// The whole sublayer for a few rows at a time: what is hidden never leaves the cache but for the one
/// copy that the gradient needs.
pub fn feed_forward(
    input: Leaf,
    hidden: Map,
    output: Map,
    function: Elementwise,
    around: Around,
) -> Result<Output, CpuError> {
    let rows = input.elements.len() / hidden.inputs().max(1);
    let cached = CACHED / hidden.outputs().max(hidden.inputs()).max(1);
    let share = Share::new(rows, hidden.cost() + output.cost(), cached);
    let (width, hidden_width) = (
        share.chunk * hidden.inputs(),
        share.chunk * hidden.outputs(),
    );
    let mut y = input.room(rows * output.outputs())?;
    let mut kept = around.kept(rows, output.outputs());
    // Before the activation.
    let mut inner = Buffer::new(rows * hidden.outputs());
    let chunks = izip!(
        rows_mut(&mut y, width),
        rows_of(&input.elements, width),
        rows_mut(&mut inner, hidden_width),
        kept.chunks_mut(share.chunk, output.outputs()),
    );
    share.for_each(chunks, |chunks| {
        let mut read = Buffer::new(width);
        let mut active = Buffer::new(hidden_width);
        for (y, x, inner, mut kept) in chunks {
            let active = &mut active[..inner.len()];
            y.copy_from_slice(x);
            hidden.forward(around.before(x, &mut read, &mut kept), inner);
            activation::forward(function, inner, active);
            output.forward_add(active, y);
            around.after(y, &mut kept);
        }
    });
    let result = input.beside(y)?;

    let out = result.ghost();
    let backward = move |gradients: &mut Gradients<f32, Cpu>| {
        let dy = mem::take(&mut **gradients.get_or_alloc_mut(&out)?);
        let mut dx = input.take(gradients)?;
        let chunks = izip!(
            rows_mut(&mut dx, width),
            rows_of(&dy, width),
            rows_of(&input.elements, width),
            rows_of(&inner, hidden_width),
            kept.chunks(share.chunk, output.outputs()),
        );
        let parts = share.for_each(chunks, |chunks| {
            let mut gradient = Gradient {
                hidden: hidden.zeros(),
                output: output.zeros(),
                around: around.zeros(),
            };
            let mut read = Buffer::new(width);
            let mut sum = Buffer::new(width);
            let mut own = Buffer::new(width);
            let mut active = Buffer::new(hidden_width);
            let mut slopes = Buffer::new(hidden_width);
            for (dx, dy, x, inner, kept) in chunks {
                let active = &mut active[..inner.len()];
                let slopes = &mut slopes[..inner.len()];
                let of_sum = around.of_sum(dy, &mut sum, kept, &mut gradient.around);
                activation::forward_with_slopes(function, inner, active, slopes);
                output.backward(of_sum, active, &mut gradient.output);
                // From here on `active` is its gradient, then that of what was before it.
                output.backward_only_input(of_sum, active);
                multiply_assign(active, slopes);
                let x = around.again(x, &mut read, kept);
                hidden.backward(active, x, &mut gradient.hidden);
                let scratch: [&mut [f32]; 2] = [&mut read, &mut own];
                around.of_input(dx, of_sum, kept, &mut gradient.around, scratch, |dx| {
                    hidden.backward_input(active, dx);
                });
            }
            gradient
        });
        input.put(gradients, dx)?;
        **gradients.get_or_alloc_mut(&out)? = dy;
        for gradient in parts {
            hidden.add(gradients, &gradient.hidden)?;
            output.add(gradients, &gradient.output)?;
            around.add(gradients, &gradient.around)?;
        }
        Ok(())
    };
    Ok((result, Box::new(backward)))
}

struct Gradient {
    hidden: MapGradient,
    output: MapGradient,
    around: AroundGradient,
}
