use super::{
    layout::Layout,
    leaf::{Leaf, Output},
    map::Map,
    parallel::Share,
    rows_mut, rows_of,
};
use dfdx::tensor::{Cpu, CpuError, Gradients};
use itertools::izip;
use std::mem;

/// One product for the rows of all sequences together, where the definition makes one a sequence.
pub fn linear(input: Leaf, map: Map) -> Result<Output, CpuError> {
    let rows = input.elements.len() / map.inputs().max(1);
    let map = map.prepared(Layout::Rows, rows);
    let share = Share::new(rows, map.cost(), usize::MAX);
    let (in_width, out_width) = (share.chunk * map.inputs(), share.chunk * map.outputs());
    let mut y = input.room(rows * map.outputs())?;
    let chunks = rows_of(&input.elements, in_width).zip(rows_mut(&mut y, out_width));
    share.for_each(chunks, |chunks| {
        for (x, y) in chunks {
            map.forward(x, y);
        }
    });
    let output = input.beside(y)?;
    let map = map.finished();

    let out = output.ghost();
    let backward = move |gradients: &mut Gradients<f32, Cpu>| {
        let dy = mem::take(&mut **gradients.get_or_alloc_mut(&out)?);
        let mut dx = input.take(gradients)?;
        let chunks =
            izip!(rows_of(&input.elements, in_width), rows_of(&dy, out_width), rows_mut(&mut dx, in_width),);
        let parts = share.for_each(chunks, |chunks| {
            let mut gradient = map.gradient();
            for (x, dy, dx) in chunks {
                map.backward_input(dy, dx);
                map.backward(dy, x, &mut gradient);
            }
            gradient
        });
        input.put(gradients, dx)?;
        **gradients.get_or_alloc_mut(&out)? = dy;
        parts.iter().try_for_each(|part| map.add(gradients, part))
    };
    Ok((output, Box::new(backward)))
}
