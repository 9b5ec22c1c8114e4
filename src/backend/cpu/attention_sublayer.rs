use super::{
    around::{Around, AroundGradient},
    attention::{CACHED, Heads, Sizes},
    attention_in_lanes,
    buffer::Buffer,
    layout::Layout,
    leaf::{Leaf, Output},
    map::{Map, MapGradient},
    rows_mut, rows_of,
};
use crate::{backend::AttentionParams, dims::ConstDim};
use dfdx::tensor::{Cpu, CpuError, Gradients, Tape};
use itertools::izip;
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
    let width = maps.query.inputs();
    let layout = attention_in_lanes::layout(heads, [width, maps.key.inputs()], batch);
    let maps = Maps {
        query: maps.query.prepared(layout, batch * sizes.queries),
        key: maps.key.prepared(layout, batch * sizes.keys),
        value: maps.value.prepared(layout, batch * sizes.keys),
        output: maps.output.prepared(layout, batch * sizes.queries),
    };
    let around = around.laid_out(layout);
    let at_once = match layout {
        Layout::Rows => heads.sequences(CACHED),
        Layout::Lanes(lanes) => lanes,
    };
    let share = layout.share(batch, maps.cost(sizes) + sizes.cost(), at_once);
    // Elements of a chunk, and those that they take the room of.
    let of_chunk = move |elements: usize| share.chunk * elements;
    let of_room = move |elements: usize| layout.room(share.chunk) * elements;
    let of_all = |elements: usize| batch.div_ceil(share.chunk) * of_room(elements);
    let query_size = sizes.queries * width;
    let source_size = sizes.keys * maps.key.inputs();
    let weights_size = heads.weights(layout);
    let mut y = query.room(query.elements.len())?;
    let mut kept = around.kept(of_all(sizes.queries), width);
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
        rows_mut(&mut q, of_room(sizes.q())),
        rows_mut(&mut k, of_room(sizes.k())),
        rows_mut(&mut v, of_room(sizes.v())),
        rows_mut(&mut weights, of_room(weights_size)),
        rows_mut(&mut attended, of_room(sizes.y())),
        kept.chunks_mut(of_room(sizes.queries), width),
    );
    share.for_each(chunks, |chunks| {
        let mut read = Buffer::new(of_room(query_size));
        let mut rooms = Rooms::new(layout, of_room(query_size), of_room(source_size));
        for (y, x, source, mask, q, k, v, weights, attended, mut kept) in chunks {
            // The last chunk may be smaller than the room for it.
            let sequences = layout.room(mask.len() / sizes.mask());
            let q = &mut q[..sequences * sizes.q()];
            let k = &mut k[..sequences * sizes.k()];
            let v = &mut v[..sequences * sizes.v()];
            let attended = &mut attended[..sequences * sizes.y()];
            let mut kept = kept.first(sequences * sizes.queries, width);

            let x = layout.arrange(x, query_size, &mut rooms.x);
            let source = source.map(|source| layout.arrange(source, source_size, &mut rooms.source));
            let normal = around.before(x, &mut read, &mut kept);
            maps.query.forward(normal, q);
            maps.key.forward(source.unwrap_or(normal), k);
            maps.value.forward(source.unwrap_or(normal), v);
            heads.forward(layout, [q, k, v], mask, weights, attended);
            layout.write(y, query_size, &mut rooms.y, |y| {
                y.copy_from_slice(x);
                maps.output.forward_add(attended, y);
                around.after(y, &mut kept);
            });
        }
    });
    let result = query.beside(y)?;
    let maps = maps.finished();

    let out = result.ghost();
    let backward = move |gradients: &mut Gradients<f32, Cpu>| {
        let dy = mem::take(&mut **gradients.get_or_alloc_mut(&out)?);
        let mut dx = query.take(gradients)?;
        let mut d_source = source.as_ref().map(Leaf::zeros);
        let mut d_sources = d_source.as_mut().map(|d| rows_mut(d, of_chunk(source_size)));
        let chunks = izip!(
            rows_mut(&mut dx, of_chunk(query_size)),
            rows_of(&dy, of_chunk(query_size)),
            rows_of(&query.elements, of_chunk(query_size)),
            some_rows_of(source.as_ref(), of_chunk(source_size)),
            iter::repeat_with(|| d_sources.as_mut().and_then(Iterator::next)),
            rows_of(&mask, of_chunk(sizes.mask())),
            rows_of(&q, of_room(sizes.q())),
            rows_of(&k, of_room(sizes.k())),
            rows_of(&v, of_room(sizes.v())),
            rows_of(&weights, of_room(weights_size)),
            rows_of(&attended, of_room(sizes.y())),
            kept.chunks(of_room(sizes.queries), width),
        );
        let parts = share.for_each(chunks, |chunks| {
            let mut gradient = Gradient { maps: maps.gradient(), around: around.zeros() };
            let mut read = Buffer::new(of_room(query_size));
            let mut sum = Buffer::new(of_room(query_size));
            let mut own = Buffer::new(of_room(query_size));
            let mut dq = Buffer::new(of_room(sizes.q()));
            let mut dk = Buffer::new(of_room(sizes.k()));
            let mut dv = Buffer::new(of_room(sizes.v()));
            let mut d_attended = Buffer::new(of_room(sizes.y()));
            let mut rooms = Rooms::new(layout, of_room(query_size), of_room(source_size));
            for chunk in chunks {
                let (dx, dy, x, source, d_source, mask, q, k, v, weights, attended, kept) = chunk;
                let sequences = layout.room(mask.len() / sizes.mask());
                let q = &q[..sequences * sizes.q()];
                let k = &k[..sequences * sizes.k()];
                let v = &v[..sequences * sizes.v()];
                let attended = &attended[..sequences * sizes.y()];
                let kept = kept.first(sequences * sizes.queries, width);
                let d_attended = &mut d_attended[..attended.len()];
                let dq = &mut dq[..q.len()];
                let dk = &mut dk[..k.len()];
                let dv = &mut dv[..v.len()];
                let slopes = &mut gradient.maps;

                let dy = layout.arrange_gradient(dy, query_size, &mut rooms.y);
                let of_sum = around.of_sum(dy, &mut sum, kept, &mut gradient.around);
                maps.output.backward(of_sum, attended, &mut slopes.output);
                maps.output.backward_only_input(of_sum, d_attended);
                heads.backward(layout, [q, k, v], mask, weights, d_attended, [dq, dk, dv]);
                let x = layout.arrange(x, query_size, &mut rooms.x);
                let normal = around.again(x, &mut read, kept);
                let source = match source {
                    Some(source) => layout.arrange(source, source_size, &mut rooms.source),
                    None => normal,
                };
                maps.query.backward(dq, normal, &mut slopes.query);
                maps.key.backward(dk, source, &mut slopes.key);
                maps.value.backward(dv, source, &mut slopes.value);
                let of_source = |d_source: &mut [f32]| {
                    maps.key.backward_input(dk, d_source);
                    maps.value.backward_input(dv, d_source);
                };
                let attends_to_itself = d_source.is_none();
                layout.add_to(dx, query_size, &mut rooms.x, |dx| {
                    let scratch: [&mut [f32]; 2] = [&mut read, &mut own];
                    around.of_input(dx, of_sum, kept, &mut gradient.around, scratch, |dx| {
                        maps.query.backward_input(dq, dx);
                        if attends_to_itself {
                            of_source(dx);
                        }
                    });
                });
                if let Some(d_source) = d_source {
                    layout.add_to(d_source, source_size, &mut rooms.source, of_source);
                }
            }
            gradient
        });
        query.put(gradients, dx)?;
        **gradients.get_or_alloc_mut(&out)? = dy;
        if let (Some(source), Some(d_source)) = (&source, &d_source) {
            source.add(gradients, d_source)?;
        }
        for part in parts {
            maps.query.add(gradients, &part.maps.query)?;
            maps.key.add(gradients, &part.maps.key)?;
            maps.value.add(gradients, &part.maps.value)?;
            maps.output.add(gradients, &part.maps.output)?;
            around.add(gradients, &part.around)?;
        }
        Ok(())
    };
    Ok((result, Box::new(backward)))
}

/// Room for the rows of a chunk in another layout.
struct Rooms {
    x: Buffer,
    y: Buffer,
    source: Buffer,
}

impl Rooms {
    fn new(layout: Layout, query: usize, source: usize) -> Self {
        Self { x: layout.scratch(query), y: layout.scratch(query), source: layout.scratch(source) }
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
        maps: &AttentionParams<'_, QDim, KVDim, H, QKDim, VODim, f32, Cpu>,
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

    fn finished(self) -> Self {
        Self {
            query: self.query.finished(),
            key: self.key.finished(),
            value: self.value.finished(),
            output: self.output.finished(),
        }
    }

    fn gradient(&self) -> Maps<MapGradient> {
        Maps {
            query: self.query.gradient(),
            key: self.key.gradient(),
            value: self.value.gradient(),
            output: self.output.gradient(),
        }
    }
}

/// The chunks of a source, or none again and again.
fn some_rows_of(source: Option<&Leaf>, width: usize) -> impl Iterator<Item = Option<&[f32]>> {
    let mut rows = source.map(|source| rows_of(&source.elements, width));
    iter::repeat_with(move || rows.as_mut().and_then(Iterator::next))
}
