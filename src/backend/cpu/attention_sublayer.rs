use super::{
    around::{Around, AroundGradient},
    attention::{CACHED, Heads, Sizes},
    buffer::Buffer,
    leaf::{Leaf, Output},
    map::{Map, MapGradient},
    parallel::Share,
    rows_mut, rows_of,
};
use crate::{backend::HeadMaps, dims::ConstDim};
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
    let share = Share::new(
        batch,
        maps.cost(sizes) + sizes.cost(),
        heads.sequences(CACHED),
    );
    // Elements of a chunk.
    let of_chunk = move |elements: usize| share.chunk * elements;
    let width = of_chunk(sizes.queries * maps.query.inputs());
    let source_width = of_chunk(sizes.keys * maps.key.inputs());
    let mut y = query.room(query.elements.len())?;
    let mut kept = around.kept(batch * sizes.queries, maps.query.inputs());
    let mut q = Buffer::new(batch * sizes.q());
    let mut k = Buffer::new(batch * sizes.k());
    let mut v = Buffer::new(batch * sizes.v());
    let mut weights = Buffer::new(batch.div_ceil(share.chunk) * heads.weights(share.chunk));
    let mut attended = Buffer::new(batch * sizes.y());
    let chunks = izip!(
        rows_mut(&mut y, width),
        rows_of(&query.elements, width),
        some_rows_of(source.as_ref(), source_width),
        rows_of(&mask, of_chunk(sizes.mask())),
        rows_mut(&mut q, of_chunk(sizes.q())),
        rows_mut(&mut k, of_chunk(sizes.k())),
        rows_mut(&mut v, of_chunk(sizes.v())),
        rows_mut(&mut weights, heads.weights(share.chunk)),
        rows_mut(&mut attended, of_chunk(sizes.y())),
        kept.chunks_mut(of_chunk(sizes.queries), maps.query.inputs()),
    );
    share.for_each(chunks, |chunks| {
        let mut read = Buffer::new(width);
        for (y, x, source, mask, q, k, v, weights, attended, mut kept) in chunks {
            y.copy_from_slice(x);
            let x = around.before(x, &mut read, &mut kept);
            maps.query.forward(x, q);
            maps.key.forward(source.unwrap_or(x), k);
            maps.value.forward(source.unwrap_or(x), v);
            heads.forward([q, k, v], mask, weights, attended);
            maps.output.forward_add(attended, y);
            around.after(y, &mut kept);
        }
    });
    let result = query.beside(y)?;

    let out = result.ghost();
    let backward = move |gradients: &mut Gradients<f32, Cpu>| {
        let dy = mem::take(&mut **gradients.get_or_alloc_mut(&out)?);
        let mut dx = query.take(gradients)?;
        let mut d_source = source.as_ref().map(Leaf::zeros);
        let mut d_sources = d_source.as_mut().map(|d| rows_mut(d, source_width));
        let chunks = izip!(
            rows_mut(&mut dx, width),
            rows_of(&dy, width),
            rows_of(&query.elements, width),
            some_rows_of(source.as_ref(), source_width),
            iter::repeat_with(|| d_sources.as_mut().and_then(Iterator::next)),
            rows_of(&mask, of_chunk(sizes.mask())),
            rows_of(&q, of_chunk(sizes.q())),
            rows_of(&k, of_chunk(sizes.k())),
            rows_of(&v, of_chunk(sizes.v())),
            rows_of(&weights, heads.weights(share.chunk)),
            rows_of(&attended, of_chunk(sizes.y())),
            kept.chunks(of_chunk(sizes.queries), maps.query.inputs()),
        );
        let parts = share.for_each(chunks, |chunks| {
            let mut gradient = Gradient {
                maps: maps.each(Map::zeros),
                around: around.zeros(),
            };
            let mut read = Buffer::new(width);
            let mut sum = Buffer::new(width);
            let mut own = Buffer::new(width);
            let mut dq = Buffer::new(of_chunk(sizes.q()));
            let mut dk = Buffer::new(of_chunk(sizes.k()));
            let mut dv = Buffer::new(of_chunk(sizes.v()));
            let mut d_attended = Buffer::new(of_chunk(sizes.y()));
            for chunk in chunks {
                let (dx, dy, x, source, d_source, mask, q, k, v, weights, attended, kept) = chunk;
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
                maps.query.backward(dq, x, &mut gradient.maps.query);
                maps.key
                    .backward(dk, source.unwrap_or(x), &mut gradient.maps.key);
                maps.value
                    .backward(dv, source.unwrap_or(x), &mut gradient.maps.value);
                let scratch: [&mut [f32]; 2] = [&mut read, &mut own];
                around.of_input(dx, of_sum, kept, &mut gradient.around, scratch, |dx| {
                    maps.query.backward_input(dq, dx);
                    let of_source = d_source.unwrap_or(dx);
                    maps.key.backward_input(dk, of_source);
                    maps.value.backward_input(dv, of_source);
                });
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
