use super::{
    activation,
    around::{Around, AroundGradient},
    buffer::Buffer,
    layout::{Layout, side_by_side},
    leaf::{Leaf, Output},
    map::{Map, MapGradient},
    multiply_assign, rows_mut, rows_of,
};
use crate::backend::ActivationKind;
use dfdx::tensor::{Cpu, CpuError, Gradients};
use itertools::izip;
use std::mem;

/// As many elements of the hidden layer as are calculated with while they stay in the cache.
const CACHED: usize = 1 << 17;
/// The most numbers of a map of which rows lie side by side.
const MOST_IN_LANES: usize = 1024;

/// The whole sublayer for a few rows at a time: what is hidden never leaves the cache but for the one
/// copy that the gradient needs.
pub fn feed_forward(
    input: Leaf,
    hidden: Map,
    output: Map,
    function: ActivationKind,
    around: Around,
) -> Result<Output, CpuError> {
    let width = hidden.inputs();
    let rows = input.elements.len() / width.max(1);
    let layout = layout(&hidden, rows);
    let hidden = hidden.prepared(layout, rows);
    let output = output.prepared(layout, rows);
    let around = around.laid_out(layout);
    let cached = CACHED / hidden.outputs().max(width).max(1);
    let share = layout.share(rows, hidden.cost() + output.cost(), cached);
    // Elements of a chunk, and those that they take the room of.
    let of_chunk = share.chunk * width;
    let room = layout.room(share.chunk);
    let (of_room, hidden_room) = (room * width, room * hidden.outputs());
    let chunks = rows.div_ceil(share.chunk);
    let mut y = input.room(rows * width)?;
    let mut kept = around.kept(chunks * room, width);
    // Before the activation.
    let mut inner = Buffer::new(chunks * hidden_room);
    let chunks = izip!(
        rows_mut(&mut y, of_chunk),
        rows_of(&input.elements, of_chunk),
        rows_mut(&mut inner, hidden_room),
        kept.chunks_mut(room, width),
    );
    share.for_each(chunks, |chunks| {
        let mut read = Buffer::new(of_room);
        let mut active = Buffer::new(hidden_room);
        let (mut x_room, mut y_room) = (layout.scratch(of_room), layout.scratch(of_room));
        for (y, x, inner, mut kept) in chunks {
            // The last chunk may be smaller than the room for it.
            let rows = x.len() / width;
            let size = layout.each(rows) * width;
            let inner = &mut inner[..layout.room(rows) * hidden.outputs()];
            let active = &mut active[..inner.len()];
            let mut kept = kept.first(layout.room(rows), width);

            let x = layout.arrange(x, size, &mut x_room);
            hidden.forward(around.before(x, &mut read, &mut kept), inner);
            activation::forward(function, inner, active);
            layout.write(y, size, &mut y_room, |y| {
                y.copy_from_slice(x);
                output.forward_add(active, y);
                around.after(y, &mut kept);
            });
        }
    });
    let result = input.beside(y)?;
    let (hidden, output) = (hidden.finished(), output.finished());

    let out = result.ghost();
    let backward = move |gradients: &mut Gradients<f32, Cpu>| {
        let dy = mem::take(&mut **gradients.get_or_alloc_mut(&out)?);
        let mut dx = input.take(gradients)?;
        let chunks = izip!(
            rows_mut(&mut dx, of_chunk),
            rows_of(&dy, of_chunk),
            rows_of(&input.elements, of_chunk),
            rows_of(&inner, hidden_room),
            kept.chunks(room, width),
        );
        let parts = share.for_each(chunks, |chunks| {
            let mut gradient =
                Gradient { hidden: hidden.gradient(), output: output.gradient(), around: around.zeros() };
            let mut read = Buffer::new(of_room);
            let mut sum = Buffer::new(of_room);
            let mut own = Buffer::new(of_room);
            let mut active = Buffer::new(hidden_room);
            let mut slopes = Buffer::new(hidden_room);
            let (mut x_room, mut y_room) = (layout.scratch(of_room), layout.scratch(of_room));
            for (dx, dy, x, inner, kept) in chunks {
                let rows = x.len() / width;
                let size = layout.each(rows) * width;
                let inner = &inner[..layout.room(rows) * hidden.outputs()];
                let active = &mut active[..inner.len()];
                let slopes = &mut slopes[..inner.len()];
                let kept = kept.first(layout.room(rows), width);

                let dy = layout.arrange_gradient(dy, size, &mut y_room);
                let of_sum = around.of_sum(dy, &mut sum, kept, &mut gradient.around);
                activation::forward_with_slopes(function, inner, active, slopes);
                output.backward(of_sum, active, &mut gradient.output);
                // From here on `active` is its gradient, then that of what was before it.
                output.backward_only_input(of_sum, active);
                multiply_assign(active, slopes);
                let x = layout.arrange(x, size, &mut x_room);
                let normal = around.again(x, &mut read, kept);
                hidden.backward(active, normal, &mut gradient.hidden);
                layout.add_to(dx, size, &mut x_room, |dx| {
                    let scratch: [&mut [f32]; 2] = [&mut read, &mut own];
                    around.of_input(dx, of_sum, kept, &mut gradient.around, scratch, |dx| {
                        hidden.backward_input(active, dx);
                    });
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

/// Side by side, if the maps are small enough and rows many enough.
fn layout(hidden: &Map, rows: usize) -> Layout {
    match (1..=MOST_IN_LANES).contains(&hidden.cost()) {
        true => side_by_side(rows),
        false => Layout::Rows,
    }
}

struct Gradient {
    hidden: MapGradient,
    output: MapGradient,
    around: AroundGradient,
}
