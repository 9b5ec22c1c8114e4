use super::{
    around::{Around, AroundGradient},
    attention::{CACHED, Heads, Sizes},
    buffer::Buffer,
    leaf::{Leaf, Output},
    map::{Map, MapGradient},
    parallel::Share,
    rows_mut, rows_of, side_by_side,
};
use crate::{backend::HeadMaps, dims::ConstDim};
use dfdx::tensor::{Cpu, CpuError, Gradients, Tape};
use itertools::izip;
use pulp::Arch;
use std::{iter, mem, sync::Arc};

/// The whole sublayer for a few sequences at a time. Without a `source`, the query attends to itself.
pub fn attention_sublayer(
    query: Leaf,
    source: Option<Leaf>,
    maps: Maps<Map>,
    mask: Arc<[bool]>,
    heads: Heads,
    around: Around,
) -> Result<Output, CpuError> {
    let sizes = heads.sizes;
    let batch = mask.len() / sizes.mask().max(1);
    let lanes = side_by_side::lanes(sizes, batch);
    let at_once = lanes.unwrap_or_else(|| heads.sequences(CACHED));
    let share = Share::new(batch, maps.cost(sizes) + sizes.cost(), at_once);
    // Elements of a chunk, and those of it that are worked on: lanes may stay empty.
    let of_chunk = move |elements: usize| share.chunk * elements;
    let of_work = move |elements: usize| lanes.unwrap_or(share.chunk) * elements;
    let of_all = |elements: usize| batch.div_ceil(share.chunk) * of_work(elements);
    let query_size = sizes.queries * maps.query.inputs();
    let source_size = sizes.keys * maps.key.inputs();
    let weights_size = match lanes {
        Some(_) => sizes.heads * sizes.mask(),
        None => sizes.weights(),
    };
    let mut y = query.room(query.elements.len())?;
    let mut kept = around.kept(of_all(sizes.queries), maps.query.inputs());
    let mut q = Buffer::new(of_all(sizes.q()));
    let mut k = Buffer::new(of_all(sizes.k()));
    let mut v = Buffer::new(of_all(sizes.v()));
    let mut weights = Buffer::new(of_all(weights_size));
    let mut attended = Buffer::new(of_all(sizes.y()));
    let chunks = izip!(
        rows_mut(&mut y, of_chunk(query_size)),
        rows_of(&query.elements, of_chunk(query_size)),
        some_rows_of(source.as_ref(), of_chunk(source_size)),
        rows_of(&mask, of_chunk(sizes.mask())),
        rows_mut(&mut q, of_work(sizes.q())),
        rows_mut(&mut k, of_work(sizes.k())),
        rows_mut(&mut v, of_work(sizes.v())),
        rows_mut(&mut weights, of_work(weights_size)),
        rows_mut(&mut attended, of_work(sizes.y())),
        kept.chunks_mut(of_work(sizes.queries), maps.query.inputs()),
    );
    share.for_each(chunks, |chunks| {
        let mut read = Buffer::new(of_work(query_size));
        let mut rows = Interleaved::new(lanes, of_work(query_size), of_work(source_size));
        for (y, x, source, mask, q, k, v, weights, attended, mut kept) in chunks {
            if let Some(lanes) = lanes {
                let Interleaved {
                    x: rows,
                    y: sum,
                    source: source_rows,
                } = &mut rows;
                side_by_side::interleave(x, sizes.queries, lanes, rows);
                if let Some(source) = source {
                    side_by_side::interleave(source, sizes.keys, lanes, source_rows);
                }
                let x = around.before(rows, &mut read, &mut kept);
                let source = source.map_or(x, |_| source_rows);
                maps.query.forward_to_columns(x, q);
                maps.key.forward_to_columns(source, k);
                maps.value.forward_to_columns(source, v);
                Arch::new().dispatch(side_by_side::Forward {
                    heads,
                    q,
                    k,
                    v,
                    mask,
                    weights,
                    y: attended,
                });
                sum.copy_from_slice(rows);
                maps.output.forward_add_from_columns(attended, sum);
                around.after(sum, &mut kept);
                y.fill(0.0);
                side_by_side::add_separated(sum, sizes.queries, lanes, y);
            } else {
                // The last chunk may be smaller than the room for it.
                let sequences = mask.len() / sizes.mask();
                let (q, k) = (
                    &mut q[..sequences * sizes.q()],
                    &mut k[..sequences * sizes.k()],
                );
                let v = &mut v[..sequences * sizes.v()];
                let attended = &mut attended[..sequences * sizes.y()];
                let mut kept = kept.first(sequences * sizes.queries, maps.query.inputs());
                y.copy_from_slice(x);
                let x = around.before(x, &mut read, &mut kept);
                maps.query.forward(x, q);
                maps.key.forward(source.unwrap_or(x), k);
                maps.value.forward(source.unwrap_or(x), v);
                heads.forward([q, k, v], mask, weights, attended);
                maps.output.forward_add(attended, y);
                around.after(y, &mut kept);
            }
        }
    });
    let result = query.beside(y)?;

    let out = result.ghost();
    let backward = move |gradients: &mut Gradients<f32, Cpu>| {
        let dy = mem::take(&mut **gradients.get_or_alloc_mut(&out)?);
        let mut dx = query.take(gradients)?;
        let mut d_source = source.as_ref().map(Leaf::zeros);
        let mut d_sources = d_source
            .as_mut()
            .map(|d| rows_mut(d, of_chunk(source_size)));
        let chunks = izip!(
            rows_mut(&mut dx, of_chunk(query_size)),
            rows_of(&dy, of_chunk(query_size)),
            rows_of(&query.elements, of_chunk(query_size)),
            some_rows_of(source.as_ref(), of_chunk(source_size)),
            iter::repeat_with(|| d_sources.as_mut().and_then(Iterator::next)),
            rows_of(&mask, of_chunk(sizes.mask())),
            rows_of(&q, of_work(sizes.q())),
            rows_of(&k, of_work(sizes.k())),
            rows_of(&v, of_work(sizes.v())),
            rows_of(&weights, of_work(weights_size)),
            rows_of(&attended, of_work(sizes.y())),
            kept.chunks(of_work(sizes.queries), maps.query.inputs()),
        );
        let parts = share.for_each(chunks, |chunks| {
            let mut gradient = Gradient {
                maps: maps.each(Map::zeros),
                around: around.zeros(),
            };
            let mut read = Buffer::new(of_work(query_size));
            let mut sum = Buffer::new(of_work(query_size));
            let mut own = Buffer::new(of_work(query_size));
            let mut dq = Buffer::new(of_work(sizes.q()));
            let mut dk = Buffer::new(of_work(sizes.k()));
            let mut dv = Buffer::new(of_work(sizes.v()));
            let mut d_attended = Buffer::new(of_work(sizes.y()));
            let mut rows = Interleaved::new(lanes, of_work(query_size), of_work(source_size));
            let mut d_rows = Interleaved::new(lanes, of_work(query_size), of_work(source_size));
            for chunk in chunks {
                let (dx, dy, x, source, d_source, mask, q, k, v, weights, attended, kept) = chunk;
                if let Some(lanes) = lanes {
                    let Interleaved {
                        x,
                        source: source_rows,
                        ..
                    } = {
                        side_by_side::interleave(x, sizes.queries, lanes, &mut rows.x);
                        if let Some(source) = source {
                            side_by_side::interleave(source, sizes.keys, lanes, &mut rows.source);
                        }
                        &rows
                    };
                    let Interleaved {
                        x: dx_rows,
                        y: dy_rows,
                        source: d_source_rows,
                    } = &mut d_rows;
                    side_by_side::interleave(dy, sizes.queries, lanes, dy_rows);
                    let of_sum = around.of_sum(dy_rows, &mut sum, kept, &mut gradient.around);
                    maps.output
                        .backward_of_columns(of_sum, attended, &mut gradient.maps.output);
                    maps.output
                        .backward_only_input_to_columns(of_sum, &mut d_attended);
                    Arch::new().dispatch(side_by_side::Backward {
                        heads,
                        q,
                        k,
                        v,
                        mask,
                        weights,
                        dy: &d_attended,
                        dq: &mut dq,
                        dk: &mut dk,
                        dv: &mut dv,
                    });
                    let x = around.again(x, &mut read, kept);
                    let source = source.map_or(x, |_| source_rows);
                    maps.query
                        .backward_from_columns(&dq, x, &mut gradient.maps.query);
                    maps.key
                        .backward_from_columns(&dk, source, &mut gradient.maps.key);
                    maps.value
                        .backward_from_columns(&dv, source, &mut gradient.maps.value);
                    dx_rows.fill(0.0);
                    d_source_rows.fill(0.0);
                    let scratch: [&mut [f32]; 2] = [&mut read, &mut own];
                    around.of_input(dx_rows, of_sum, kept, &mut gradient.around, scratch, |dx| {
                        maps.query.backward_input_from_columns(&dq, dx);
                        let of_source = match &d_source {
                            Some(_) => &mut **d_source_rows,
                            None => dx,
                        };
                        maps.key.backward_input_from_columns(&dk, of_source);
                        maps.value.backward_input_from_columns(&dv, of_source);
                    });
                    side_by_side::add_separated(dx_rows, sizes.queries, lanes, dx);
                    if let Some(d_source) = d_source {
                        side_by_side::add_separated(d_source_rows, sizes.keys, lanes, d_source);
                    }
                } else {
                    let sequences = mask.len() / sizes.mask();
                    let (q, k) = (&q[..sequences * sizes.q()], &k[..sequences * sizes.k()]);
                    let v = &v[..sequences * sizes.v()];
                    let attended = &attended[..sequences * sizes.y()];
                    let kept = kept.first(sequences * sizes.queries, maps.query.inputs());
                    let d_attended = &mut d_attended[..attended.len()];
                    let dq = &mut dq[..q.len()];
                    let dk = &mut dk[..k.len()];
                    let dv = &mut dv[..v.len()];
                    let of_sum = around.of_sum(dy, &mut sum, kept, &mut gradient.around);
                    maps.output
                        .backward(of_sum, attended, &mut gradient.maps.output);
                    maps.output.backward_only_input(of_sum, d_attended);
                    heads.backward([q, k, v], mask, weights, d_attended, [dq, dk, dv]);
                    let x = around.again(x, &mut read, kept);
                    let source = source.unwrap_or(x);
                    maps.query.backward(dq, x, &mut gradient.maps.query);
                    maps.key.backward(dk, source, &mut gradient.maps.key);
                    maps.value.backward(dv, source, &mut gradient.maps.value);
                    let scratch: [&mut [f32]; 2] = [&mut read, &mut own];
                    around.of_input(dx, of_sum, kept, &mut gradient.around, scratch, |dx| {
                        maps.query.backward_input(dq, dx);
                        let of_source = d_source.unwrap_or(dx);
                        maps.key.backward_input(dk, of_source);
                        maps.value.backward_input(dv, of_source);
                    });
                }
            }
            gradient
        });
        query.put(gradients, dx)?;
        **gradients.get_or_alloc_mut(&out)? = dy;
        if let (Some(source), Some(d_source)) = (&source, &d_source) {
            source.add(gradients, d_source)?;
        }
        for Gradient {
            maps: parts,
            around: part,
        } in parts
        {
            maps.query.add(gradients, &parts.query)?;
            maps.key.add(gradients, &parts.key)?;
            maps.value.add(gradients, &parts.value)?;
            maps.output.add(gradients, &parts.output)?;
            around.add(gradients, &part)?;
        }
        Ok(())
    };
    Ok((result, Box::new(backward)))
}

/// Room for the rows of a chunk in the order of [`side_by_side`], if they are put in it.
struct Interleaved {
    x: Buffer,
    y: Buffer,
    source: Buffer,
}

impl Interleaved {
    fn new(lanes: Option<usize>, query: usize, source: usize) -> Self {
        let room = |size: usize| Buffer::new(lanes.map_or(0, |_| size));
        Self {
            x: room(query),
            y: room(query),
            source: room(source),
        }
    }
}

/// Something for each of the four maps.
pub struct Maps<Each> {
    query: Each,
    key: Each,
    value: Each,
    output: Each,
}

/// The gradients of every parameter.
struct Gradient {
    maps: Maps<MapGradient>,
    around: AroundGradient,
}

impl Maps<Map> {
    pub fn read<
        QDim: ConstDim,
        KVDim: ConstDim,
        H: ConstDim,
        QKDim: ConstDim,
        VODim: ConstDim,
        T: Tape<f32, Cpu>,
    >(
        maps: &HeadMaps<'_, QDim, KVDim, H, QKDim, VODim, f32, Cpu>,
        tape: &mut T,
    ) -> Result<Self, CpuError> {
        Ok(Self {
            query: Map::read(&maps.query, tape)?,
            key: Map::read(&maps.key, tape)?,
            value: Map::read(&maps.value, tape)?,
            output: Map::read(&maps.output, tape)?,
        })
    }

    /// Multiply-adds for each sequence.
    fn cost(&self, sizes: Sizes) -> usize {
        sizes.queries * (self.query.cost() + self.output.cost())
            + sizes.keys * (self.key.cost() + self.value.cost())
    }

    fn each<Value>(&self, value: impl Fn(&Map) -> Value) -> Maps<Value> {
        Maps {
            query: value(&self.query),
            key: value(&self.key),
            value: value(&self.value),
            output: value(&self.output),
        }
    }
}

/// The chunks of a source, or none again and again.
fn some_rows_of(source: Option<&Leaf>, width: usize) -> impl Iterator<Item = Option<&[f32]>> {
    let mut rows = source.map(|source| rows_of(&source.elements, width));
    iter::repeat_with(move || rows.as_mut().and_then(Iterator::next))
}
