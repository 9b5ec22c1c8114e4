use super::ResidualNorm;
use crate::{
    backend::cpu::{
        autograd::{Buffer, KernelOutput, Operand, Partition, Split, with_backward},
        kernels::{
            Linear, LinearGradient, NormGradient, NormSaved,
            attention::{Attention, AttentionConfig, AttentionDims, choose_layout, sequences_per_chunk},
        },
        matmul::Layout,
    },
    mask::MaskRule,
};
use dfdx::tensor::{Cpu, CpuError, Gradients};
use itertools::izip;

/// One value for each of the query, key, value and output projections.
pub struct Projections<T> {
    pub query: T,
    pub key: T,
    pub value: T,
    pub output: T,
}

impl Projections<Linear> {
    fn pack(self, layout: Layout, split: Split, query_rows: usize, key_rows: usize) -> Self {
        Self {
            query: self.query.pack(layout, split, query_rows),
            key: self.key.pack(layout, split, key_rows),
            value: self.value.pack(layout, split, key_rows),
            output: self.output.pack(layout, split, query_rows),
        }
    }

    fn drop_packed(self) -> Self {
        Self {
            query: self.query.drop_packed(),
            key: self.key.drop_packed(),
            value: self.value.drop_packed(),
            output: self.output.drop_packed(),
        }
    }

    /// Multiply-adds for one sequence.
    fn macs(&self, dims: AttentionDims) -> usize {
        dims.queries * (self.query.macs_per_row() + self.output.macs_per_row())
            + dims.keys * (self.key.macs_per_row() + self.value.macs_per_row())
    }

    fn new_gradient(&self, gradients: &mut Gradients<f32, Cpu>) -> Result<Projections<LinearGradient>, CpuError> {
        Ok(Projections {
            query: self.query.new_gradient(gradients)?,
            key: self.key.new_gradient(gradients)?,
            value: self.value.new_gradient(gradients)?,
            output: self.output.new_gradient(gradients)?,
        })
    }

    fn accumulate_gradient(
        &self,
        gradients: &mut Gradients<f32, Cpu>,
        part: Projections<LinearGradient>,
    ) -> Result<(), CpuError> {
        self.query.accumulate_gradient(gradients, part.query)?;
        self.key.accumulate_gradient(gradients, part.key)?;
        self.value.accumulate_gradient(gradients, part.value)?;
        self.output.accumulate_gradient(gradients, part.output)
    }
}

/// Values that a chunk saves for backward; `softmax` is what [`Attention::forward`] saves.
struct Saved {
    q: Buffer,
    k: Buffer,
    v: Buffer,
    softmax: Buffer,
    attended: Buffer,
    norm: NormSaved,
}

/// Scratch memory for the interleaved elements of a chunk; empty if the layout is row-major.
struct Scratch {
    x: Buffer,
    y: Buffer,
    source: Buffer,
}

impl Scratch {
    fn new(layout: Layout, query_len: usize, source_len: usize) -> Self {
        Self { x: layout.scratch(query_len), y: layout.scratch(query_len), source: layout.scratch(source_len) }
    }
}

/// A thread's part of the parameter gradients.
struct Gradient {
    projections: Projections<LinearGradient>,
    norm: Option<NormGradient>,
}

/// `(B, Q, M), (B, K, KV), (B, Q, K) -> (B, Q, M)`: projections, attention, output projection, with residual
/// and norm, for a few sequences at a time. Without a `source`, the query sequence attends to itself.
pub fn attention_sublayer_kernel(
    query: Operand,
    source: Option<Operand>,
    projections: Projections<Linear>,
    mask: MaskRule,
    config: AttentionConfig,
    residual: ResidualNorm,
) -> Result<KernelOutput, CpuError> {
    let dims = config.dims;
    let batch = mask.batch();
    let width = projections.query.in_features();
    let layout = choose_layout(dims, width, projections.key.in_features(), batch);
    let split = match layout {
        Layout::RowMajor => Split::choose(batch, batch * dims.queries.max(dims.keys)),
        Layout::Interleaved(_) => Split::Rows,
    };
    let projections = projections.pack(layout, split, batch * dims.queries, batch * dims.keys);
    let residual = residual.with_layout(layout);
    let partition = match split {
        Split::Rows => layout.partition(batch, projections.macs(dims) + dims.macs(), sequences_per_chunk(dims, layout)),
        Split::Columns => Partition::whole(batch),
    };
    let query_len = dims.queries * width;
    let source_len = if source.is_some() { dims.keys * projections.key.in_features() } else { 0 };
    let attention = Attention::new(config, mask, layout, split);
    // Scratch memory for the largest chunk.
    let max_sequences = layout.padded_len(partition.chunk_len());

    let mut y = query.alloc_output(query.len())?;
    let chunks = partition.ranges().zip(partition.split_mut(&mut y, query_len));
    let saved = partition.map_threads(chunks, |chunks| {
        let mut normed = Buffer::recycled(max_sequences * query_len);
        let mut scratch = Scratch::new(layout, max_sequences * query_len, max_sequences * source_len);
        let mut all_saved = Vec::with_capacity(chunks.len());
        for (units, y) in chunks {
            let sequences = layout.padded_len(units.len());
            let mut saved = Saved {
                q: Buffer::recycled(sequences * dims.q_len()),
                k: Buffer::recycled(sequences * dims.k_len()),
                v: Buffer::recycled(sequences * dims.v_len()),
                softmax: Buffer::recycled(sequences * dims.softmax_len(layout)),
                attended: Buffer::recycled(sequences * dims.out_len()),
                norm: residual.alloc_saved(sequences * dims.queries, width),
            };
            let x = layout.interleave(units.of(query.elements(), query_len), query_len, &mut scratch.x);
            let sublayer_in = residual.pre_norm(x, &mut normed, &mut saved.norm);
            let source = match &source {
                Some(source) => {
                    let source = units.of(source.elements(), source_len);
                    layout.interleave(source, source_len, &mut scratch.source)
                }
                None => sublayer_in,
            };
            projections.query.forward(&mut saved.q, sublayer_in);
            projections.key.forward(&mut saved.k, source);
            projections.value.forward(&mut saved.v, source);
            let Saved { q, k, v, softmax, attended, norm } = &mut saved;
            attention.forward(attended, softmax, [q, k, v], units);
            layout.write_rows(y, query_len, &mut scratch.y, |y| {
                y.copy_from_slice(x);
                projections.output.forward_accumulate(y, attended);
                residual.post_norm(y, norm);
            });
            all_saved.push(saved);
        }
        all_saved
    });
    let saved: Vec<Saved> = saved.into_iter().flatten().collect();
    let output = query.new_tensor(y)?;
    let projections = projections.drop_packed();

    Ok(with_backward(output, move |dy, gradients| {
        let mut dx = query.take_gradient(gradients)?;
        let mut d_source = Buffer::zeros(batch * source_len);
        let chunks = izip!(
            partition.ranges(),
            partition.split_mut(&mut dx, query_len),
            partition.split_mut(&mut d_source, source_len),
            &saved,
        );
        let new_gradient =
            || Ok(Gradient { projections: projections.new_gradient(gradients)?, norm: residual.zero_gradient() });
        let parts = partition.try_map_threads(chunks, new_gradient, |mut gradient, chunks| {
            let [mut normed, mut d_sum, mut d_normed] = [(); 3].map(|()| Buffer::recycled(max_sequences * query_len));
            let mut dq = Buffer::recycled(max_sequences * dims.q_len());
            let mut dk = Buffer::recycled(max_sequences * dims.k_len());
            let mut dv = Buffer::recycled(max_sequences * dims.v_len());
            let mut d_attended = Buffer::recycled(max_sequences * dims.out_len());
            let mut scratch = Scratch::new(layout, max_sequences * query_len, max_sequences * source_len);
            for (units, dx, d_source, Saved { q, k, v, softmax, attended, norm: norm_saved }) in chunks {
                let d_attended = &mut d_attended[..attended.len()];
                let (dq, dk, dv) = (&mut dq[..q.len()], &mut dk[..k.len()], &mut dv[..v.len()]);
                let d_proj = &mut gradient.projections;

                let dy = layout.interleave_zero_padded(units.of(dy, query_len), query_len, &mut scratch.y);
                let d_sum = residual.backward_post_norm(dy, &mut d_sum, &mut gradient.norm, norm_saved);
                projections.output.backward_params(&mut d_proj.output, d_sum, attended);
                projections.output.backward_input(d_attended, d_sum);
                let d_qkv = [&mut *dq, &mut *dk, &mut *dv];
                attention.backward(d_qkv, [d_attended, attended, softmax], [q, k, v], units);
                let x = layout.interleave(units.of(query.elements(), query_len), query_len, &mut scratch.x);
                let sublayer_in = residual.recompute_input(x, &mut normed, norm_saved);
                let source_in = match &source {
                    Some(source) => {
                        let source = units.of(source.elements(), source_len);
                        layout.interleave(source, source_len, &mut scratch.source)
                    }
                    None => sublayer_in,
                };
                projections.query.backward_params(&mut d_proj.query, dq, sublayer_in);
                projections.key.backward_params(&mut d_proj.key, dk, source_in);
                projections.value.backward_params(&mut d_proj.value, dv, source_in);
                let add_d_source = |d_source: &mut [f32]| {
                    projections.key.backward_input_accumulate(d_source, dk);
                    projections.value.backward_input_accumulate(d_source, dv);
                };
                layout.add_to_rows(dx, query_len, &mut scratch.x, |dx| {
                    let scratch: [&mut [f32]; 2] = [&mut normed, &mut d_normed];
                    residual.backward_input(dx, d_sum, scratch, &mut gradient.norm, norm_saved, |dx| {
                        projections.query.backward_input_accumulate(dx, dq);
                        if source.is_none() {
                            add_d_source(dx);
                        }
                    });
                });
                if source.is_some() {
                    layout.add_to_rows(d_source, source_len, &mut scratch.source, add_d_source);
                }
            }
            gradient
        })?;
        query.put_gradient(gradients, dx)?;
        if let Some(source) = &source {
            source.accumulate_gradient(gradients, &d_source)?;
        }
        for part in parts {
            projections.accumulate_gradient(gradients, part.projections)?;
            residual.accumulate_gradient(gradients, &part.norm)?;
        }
        Ok(())
    }))
}
