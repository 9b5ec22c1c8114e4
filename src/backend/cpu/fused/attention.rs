use super::{Projections, ResidualNorm};
use crate::{
    autograd::{Buffer, KernelOutput, Operand, Partition, UnitRange, with_backward},
    kernels::{
        Linear, LinearGradient, NormGradient, NormSaved,
        attention::{Attention, AttentionConfig, AttentionDims, choose_layout, sequences_per_chunk},
    },
    mask_rule::MaskRule,
    matmul::Layout,
};
use dfdx::tensor::CpuError;
use itertools::izip;

/// Values that a chunk saves for backward; `softmax` is what [`Attention::forward`] saves.
struct Saved {
    q: Buffer,
    k: Buffer,
    v: Buffer,
    softmax: Buffer,
    attended: Buffer,
    norm: NormSaved,
}

/// A thread's part of the parameter gradients.
struct Gradient {
    projections: Projections<LinearGradient>,
    norm: Option<NormGradient>,
}

/// Scratch memory of a thread, for its largest chunk. `normed` is the normed input. `x`, `y` and `source` are
/// interleaved copies of the input, the output and the source; if the layout is row-major they are empty.
struct Scratch {
    normed: Buffer,
    x: Buffer,
    y: Buffer,
    source: Buffer,
}

/// Further scratch memory of a thread, for the backward pass.
struct BackwardScratch {
    d_sum: Buffer,
    d_normed: Buffer,
    dq: Buffer,
    dk: Buffer,
    dv: Buffer,
    d_attended: Buffer,
}

/// The sublayer with its plan: the layout of its memory, and the partition of the sequences.
struct AttentionSublayer {
    query: Operand,
    /// The source of cross-attention; `None` for self-attention.
    source: Option<Operand>,
    projections: Projections<Linear>,
    attention: Attention,
    residual: ResidualNorm,
    dims: AttentionDims,
    layout: Layout,
    partition: Partition,
    /// The elements of a sequence of the query.
    query_len: usize,
    /// The elements of a sequence of the source; 0 for self-attention.
    source_len: usize,
}

impl AttentionSublayer {
    fn plan(
        query: Operand,
        source: Option<Operand>,
        projections: Projections<Linear>,
        mask: MaskRule,
        config: AttentionConfig,
        residual: ResidualNorm,
    ) -> Self {
        let (dims, batch) = (config.dims, mask.batch());
        let (width, source_width) = (projections.query.in_features(), projections.key.in_features());
        let layout = choose_layout(dims, width, source_width, batch);
        let split = layout.choose_split(batch, batch * dims.queries.max(dims.keys));
        let projections = projections.pack(layout, split, batch * dims.queries, batch * dims.keys);
        let macs = projections.macs(dims) + dims.macs();
        Self {
            partition: layout.partition(split, batch, macs, sequences_per_chunk(dims, layout)),
            query_len: dims.queries * width,
            source_len: if source.is_some() { dims.keys * source_width } else { 0 },
            attention: Attention::new(config, mask, layout, split),
            residual: residual.with_layout(layout),
            query,
            source,
            projections,
            dims,
            layout,
        }
    }

    /// The sequences of the largest chunk, with those that fill its lanes.
    fn max_sequences(&self) -> usize {
        self.layout.padded_len(self.partition.chunk_len())
    }

    fn scratch(&self) -> Scratch {
        let (query_len, source_len) = (self.max_sequences() * self.query_len, self.max_sequences() * self.source_len);
        Scratch {
            normed: Buffer::recycled(query_len),
            x: self.layout.scratch(query_len),
            y: self.layout.scratch(query_len),
            source: self.layout.scratch(source_len),
        }
    }

    fn backward_scratch(&self) -> BackwardScratch {
        let (dims, sequences) = (self.dims, self.max_sequences());
        BackwardScratch {
            d_sum: Buffer::recycled(sequences * self.query_len),
            d_normed: Buffer::recycled(sequences * self.query_len),
            dq: Buffer::recycled(sequences * dims.q_len()),
            dk: Buffer::recycled(sequences * dims.k_len()),
            dv: Buffer::recycled(sequences * dims.v_len()),
            d_attended: Buffer::recycled(sequences * dims.out_len()),
        }
    }

    fn alloc_saved(&self, sequences: usize) -> Saved {
        let (dims, sequences) = (self.dims, self.layout.padded_len(sequences));
        Saved {
            q: Buffer::recycled(sequences * dims.q_len()),
            k: Buffer::recycled(sequences * dims.k_len()),
            v: Buffer::recycled(sequences * dims.v_len()),
            softmax: Buffer::recycled(sequences * dims.saved_softmax_len(self.layout)),
            attended: Buffer::recycled(sequences * dims.out_len()),
            norm: self.residual.alloc_saved(sequences * dims.queries, self.projections.query.in_features()),
        }
    }

    /// The query of some sequences, in the layout of the kernel.
    fn query<'a>(&'a self, sequences: UnitRange, scratch: &'a mut [f32]) -> &'a [f32] {
        self.layout.interleave(sequences.slice(self.query.elements(), self.query_len), self.query_len, scratch)
    }

    /// The source of some sequences, in the layout of the kernel. Self-attention has `sublayer_in` as its source.
    fn source<'a>(&'a self, sequences: UnitRange, sublayer_in: &'a [f32], scratch: &'a mut [f32]) -> &'a [f32] {
        let Some(source) = &self.source else {
            return sublayer_in;
        };
        self.layout.interleave(sequences.slice(source.elements(), self.source_len), self.source_len, scratch)
    }

    /// Writes the output of some sequences to `y`, and returns what their backward pass needs.
    fn forward_chunk(&self, y: &mut [f32], sequences: UnitRange, scratch: &mut Scratch) -> Saved {
        let Self { projections, attention, residual, .. } = self;
        let mut saved = self.alloc_saved(sequences.len());
        let Saved { q, k, v, softmax, attended, norm } = &mut saved;

        let x = self.query(sequences, &mut scratch.x);
        let sublayer_in = residual.pre_norm(x, &mut scratch.normed, norm);
        let source = self.source(sequences, sublayer_in, &mut scratch.source);
        projections.query.forward(q, sublayer_in);
        projections.key.forward(k, source);
        projections.value.forward(v, source);
        attention.forward(attended, softmax, [q, k, v], sequences);
        self.layout.write_rows(y, self.query_len, &mut scratch.y, |y| {
            y.copy_from_slice(x);
            projections.output.forward_accumulate(y, attended);
            residual.post_norm(y, norm);
        });
        saved
    }

    /// Adds the gradients of some sequences to those of the query, of the source and of the parameters. `dy` is that of
    /// the whole output.
    fn backward_chunk(
        &self,
        (sequences, dx, d_source, saved): (UnitRange, &mut [f32], &mut [f32], &Saved),
        dy: &[f32],
        gradient: &mut Gradient,
        (scratch, backward): (&mut Scratch, &mut BackwardScratch),
    ) {
        let Self { projections, attention, residual, layout, query_len, source_len, .. } = self;
        let Saved { q, k, v, softmax, attended, norm: norm_saved } = saved;
        let BackwardScratch { d_sum, d_normed, dq, dk, dv, d_attended } = backward;
        let d_attended = &mut d_attended[..attended.len()];
        let (dq, dk, dv) = (&mut dq[..q.len()], &mut dk[..k.len()], &mut dv[..v.len()]);
        let d_proj = &mut gradient.projections;

        let dy = layout.interleave_zero_padded(sequences.slice(dy, *query_len), *query_len, &mut scratch.y);
        let d_sum = residual.backward_post_norm(dy, d_sum, &mut gradient.norm, norm_saved);
        projections.output.backward_params(&mut d_proj.output, d_sum, attended);
        projections.output.backward_input(d_attended, d_sum);
        attention.backward(
            [&mut *dq, &mut *dk, &mut *dv],
            &mut [],
            [d_attended, attended, softmax],
            [q, k, v],
            sequences,
        );
        let x = self.query(sequences, &mut scratch.x);
        let sublayer_in = residual.recompute_input(x, &mut scratch.normed, norm_saved);
        let source_in = self.source(sequences, sublayer_in, &mut scratch.source);
        projections.query.backward_params(&mut d_proj.query, dq, sublayer_in);
        projections.key.backward_params(&mut d_proj.key, dk, source_in);
        projections.value.backward_params(&mut d_proj.value, dv, source_in);
        let add_d_source = |d_source: &mut [f32]| {
            projections.key.backward_input_accumulate(d_source, dk);
            projections.value.backward_input_accumulate(d_source, dv);
        };
        layout.add_to_rows(dx, *query_len, &mut scratch.x, |dx| {
            let scratch: [&mut [f32]; 2] = [&mut scratch.normed, d_normed];
            residual.backward_input(dx, d_sum, scratch, &mut gradient.norm, norm_saved, |dx| {
                projections.query.backward_input_accumulate(dx, dq);
                if self.source.is_none() {
                    add_d_source(dx);
                }
            });
        });
        if self.source.is_some() {
            layout.add_to_rows(d_source, *source_len, &mut scratch.source, add_d_source);
        }
    }
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
    let batch = mask.batch();
    let mut sublayer = AttentionSublayer::plan(query, source, projections, mask, config, residual);
    let (partition, query_len) = (sublayer.partition, sublayer.query_len);

    let mut y = sublayer.query.alloc_output(sublayer.query.len())?;
    let chunks = partition.ranges().zip(partition.split_mut(&mut y, query_len));
    let saved = partition.map_threads(chunks, |chunks| {
        let mut scratch = sublayer.scratch();
        let chunks = chunks.into_iter();
        chunks.map(|(sequences, y)| sublayer.forward_chunk(y, sequences, &mut scratch)).collect::<Vec<_>>()
    });
    let saved: Vec<Saved> = saved.into_iter().flatten().collect();
    let output = sublayer.query.new_tensor(y)?;
    sublayer.projections = sublayer.projections.drop_packed();

    Ok(with_backward(output, move |dy, gradients| {
        let AttentionSublayer { query, source, projections, residual, source_len, .. } = &sublayer;
        let mut dx = query.take_gradient(gradients)?;
        let mut d_source = Buffer::zeros(batch * source_len);
        let chunks = izip!(
            partition.ranges(),
            partition.split_mut(&mut dx, query_len),
            partition.split_mut(&mut d_source, *source_len),
            &saved,
        );
        let new_gradient =
            || Ok(Gradient { projections: projections.new_gradient(gradients)?, norm: residual.zero_gradient() });
        let parts = partition.try_map_threads(chunks, new_gradient, |mut gradient, chunks| {
            let (mut scratch, mut backward) = (sublayer.scratch(), sublayer.backward_scratch());
            for chunk in chunks {
                sublayer.backward_chunk(chunk, dy, &mut gradient, (&mut scratch, &mut backward));
            }
            gradient
        })?;
        query.put_gradient(gradients, dx)?;
        if let Some(source) = source {
            source.accumulate_gradient(gradients, &d_source)?;
        }
        for part in parts {
            projections.accumulate_gradient(gradients, part.projections)?;
            residual.accumulate_gradient(gradients, &part.norm)?;
        }
        Ok(())
    }))
}
