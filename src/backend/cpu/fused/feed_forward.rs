use super::ResidualNorm;
use crate::{
    autograd::{Buffer, KernelOutput, Operand, Partition, Split, UnitRange, with_backward},
    conventions::ActivationKind,
    kernels::{
        Linear, LinearGradient, NormGradient, NormSaved, activation_forward, activation_forward_with_derivative,
    },
    matmul::{Layout, interleaved_if_half_full},
    simd::multiply_assign,
};
use dfdx::tensor::{Cpu, CpuError, Gradients};
use itertools::izip;

/// The maximum number of hidden elements in a chunk, so that they stay in the cache.
const HIDDEN_PER_CHUNK: usize = 1 << 17;
/// The maximum number of weight elements for interleaved rows. With larger weights the per-lane gradients
/// cost too much.
const MAX_INTERLEAVED_WEIGHT_LEN: usize = 1024;

/// Values that a chunk saves for backward, which recomputes the activation.
struct Saved {
    pre_activation: Buffer,
    norm: NormSaved,
}

/// A thread's part of the parameter gradients.
struct Gradient {
    hidden: LinearGradient,
    output: LinearGradient,
    norm: Option<NormGradient>,
}

/// Scratch memory of a thread, for its largest chunk: the normed input, the hidden layer, and the interleaved elements,
/// which are empty if the layout is row-major.
struct Scratch {
    normed: Buffer,
    activated: Buffer,
    x: Buffer,
    y: Buffer,
}

/// Further scratch memory of a thread, for the backward pass.
struct BackwardScratch {
    d_sum: Buffer,
    d_normed: Buffer,
    derivative: Buffer,
}

/// The sublayer with its plan: the layout of its memory, and the partition of the rows.
struct FeedForwardSublayer {
    input: Operand,
    hidden: Linear,
    output: Linear,
    activation: ActivationKind,
    residual: ResidualNorm,
    layout: Layout,
    split: Split,
    partition: Partition,
    /// The elements of a row of the input.
    width: usize,
    /// The elements of a row of the hidden layer.
    hidden_width: usize,
}

impl FeedForwardSublayer {
    fn plan(
        input: Operand,
        hidden: Linear,
        output: Linear,
        activation: ActivationKind,
        residual: ResidualNorm,
    ) -> Self {
        let (width, hidden_width) = (hidden.in_features(), hidden.out_features());
        let rows = input.len() / width.max(1);
        let layout = choose_layout(&hidden, rows);
        let split = layout.choose_split(rows, rows);
        let (hidden, output) = (hidden.pack(layout, split, rows), output.pack(layout, split, rows));
        let rows_per_chunk = HIDDEN_PER_CHUNK / hidden_width.max(width).max(1);
        let macs = hidden.macs_per_row() + output.macs_per_row();
        let partition = layout.partition(split, rows, macs, rows_per_chunk);
        let residual = residual.with_layout(layout);
        Self { input, hidden, output, activation, residual, layout, split, partition, width, hidden_width }
    }

    /// The elements of the largest chunk of rows of `width` elements, with those that fill its lanes.
    fn max_len(&self, width: usize) -> usize {
        self.layout.padded_len(self.partition.chunk_len()) * width
    }

    fn scratch(&self) -> Scratch {
        let len = self.max_len(self.width);
        Scratch {
            normed: Buffer::recycled(len),
            activated: Buffer::recycled(self.max_len(self.hidden_width)),
            x: self.layout.scratch(len),
            y: self.layout.scratch(len),
        }
    }

    fn backward_scratch(&self) -> BackwardScratch {
        BackwardScratch {
            d_sum: Buffer::recycled(self.max_len(self.width)),
            d_normed: Buffer::recycled(self.max_len(self.width)),
            derivative: Buffer::recycled(self.max_len(self.hidden_width)),
        }
    }

    /// Some rows of the input, in the layout of the kernel.
    fn input<'a>(&'a self, rows: UnitRange, scratch: &'a mut [f32]) -> &'a [f32] {
        self.layout.interleave(rows.slice(self.input.elements(), self.width), self.lane_len(rows), scratch)
    }

    /// The elements of each lane of some rows.
    fn lane_len(&self, rows: UnitRange) -> usize {
        self.layout.rows_per_lane(rows.len()) * self.width
    }

    /// Writes some rows of the output to `y`, and returns what their backward pass needs.
    fn forward_chunk(&self, y: &mut [f32], rows: UnitRange, scratch: &mut Scratch) -> Saved {
        let Self { hidden, output, residual, layout, .. } = self;
        let padded_rows = layout.padded_len(rows.len());
        let mut pre_activation = Buffer::recycled(padded_rows * self.hidden_width);
        let mut norm = residual.alloc_saved(padded_rows, self.width);
        let activated = &mut scratch.activated[..pre_activation.len()];

        let x = self.input(rows, &mut scratch.x);
        let sublayer_in = residual.pre_norm(x, &mut scratch.normed, &mut norm);
        hidden.forward(&mut pre_activation, sublayer_in);
        activation_forward(activated, &pre_activation, self.activation, self.split);
        layout.write_rows(y, self.lane_len(rows), &mut scratch.y, |y| {
            y.copy_from_slice(x);
            output.forward_accumulate(y, activated);
            residual.post_norm(y, &mut norm);
        });
        Saved { pre_activation, norm }
    }

    /// Adds the gradients of some rows to those of the input and of the parameters. `dy` is that of the whole output.
    fn backward_chunk(
        &self,
        (rows, dx, saved): (UnitRange, &mut [f32], &Saved),
        dy: &[f32],
        gradient: &mut Gradient,
        (scratch, backward): (&mut Scratch, &mut BackwardScratch),
    ) {
        let Self { hidden, output, residual, layout, .. } = self;
        let Saved { pre_activation, norm: norm_saved } = saved;
        let BackwardScratch { d_sum, d_normed, derivative } = backward;
        let lane_len = self.lane_len(rows);
        let activated = &mut scratch.activated[..pre_activation.len()];
        let derivative = &mut derivative[..pre_activation.len()];

        let dy = layout.interleave_zero_padded(rows.slice(dy, self.width), lane_len, &mut scratch.y);
        let d_sum = residual.backward_post_norm(dy, d_sum, &mut gradient.norm, norm_saved);
        activation_forward_with_derivative(activated, derivative, pre_activation, self.activation, self.split);
        output.backward_params(&mut gradient.output, d_sum, activated);
        let d_hidden = activated;
        output.backward_input(d_hidden, d_sum);
        multiply_assign(d_hidden, derivative);
        let x = self.input(rows, &mut scratch.x);
        let sublayer_in = residual.recompute_input(x, &mut scratch.normed, norm_saved);
        hidden.backward_params(&mut gradient.hidden, d_hidden, sublayer_in);
        layout.add_to_rows(dx, lane_len, &mut scratch.x, |dx| {
            let scratch: [&mut [f32]; 2] = [&mut scratch.normed, d_normed];
            residual.backward_input(dx, d_sum, scratch, &mut gradient.norm, norm_saved, |dx| {
                hidden.backward_input_accumulate(dx, d_hidden);
            });
        });
    }

    /// Memory for a thread's part of the parameter gradients.
    fn new_gradient(&self, gradients: &mut Gradients<f32, Cpu>) -> Result<Gradient, CpuError> {
        let (hidden, output) = (self.hidden.new_gradient(gradients)?, self.output.new_gradient(gradients)?);
        Ok(Gradient { hidden, output, norm: self.residual.zero_gradient() })
    }

    /// Adds a thread's part to the gradients.
    fn accumulate_gradient(&self, gradients: &mut Gradients<f32, Cpu>, part: Gradient) -> Result<(), CpuError> {
        self.hidden.accumulate_gradient(gradients, part.hidden)?;
        self.output.accumulate_gradient(gradients, part.output)?;
        self.residual.accumulate_gradient(gradients, &part.norm)
    }
}

/// `(N, M) -> (N, M)`: `output(f(hidden(x)))` with its residual and norm.
pub fn feed_forward_kernel(
    input: Operand,
    hidden: Linear,
    output: Linear,
    activation: ActivationKind,
    residual: ResidualNorm,
) -> Result<KernelOutput, CpuError> {
    let mut sublayer = FeedForwardSublayer::plan(input, hidden, output, activation, residual);
    let (partition, width) = (sublayer.partition, sublayer.width);

    let mut y = sublayer.input.alloc_output(sublayer.input.len())?;
    let chunks = partition.ranges().zip(partition.split_mut(&mut y, width));
    let saved = partition.map_threads(chunks, |chunks| {
        let mut scratch = sublayer.scratch();
        chunks.into_iter().map(|(rows, y)| sublayer.forward_chunk(y, rows, &mut scratch)).collect::<Vec<_>>()
    });
    let saved: Vec<Saved> = saved.into_iter().flatten().collect();
    let result = sublayer.input.new_tensor(y)?;
    sublayer.hidden = sublayer.hidden.drop_packed();
    sublayer.output = sublayer.output.drop_packed();

    Ok(with_backward(result, move |dy, gradients| {
        let mut dx = sublayer.input.take_gradient(gradients)?;
        let chunks = izip!(partition.ranges(), partition.split_mut(&mut dx, width), &saved);
        let new_gradient = || sublayer.new_gradient(gradients);
        let parts = partition.try_map_threads(chunks, new_gradient, |mut gradient, chunks| {
            let (mut scratch, mut backward) = (sublayer.scratch(), sublayer.backward_scratch());
            for chunk in chunks {
                sublayer.backward_chunk(chunk, dy, &mut gradient, (&mut scratch, &mut backward));
            }
            gradient
        })?;
        sublayer.input.put_gradient(gradients, dx)?;
        parts.into_iter().try_for_each(|part| sublayer.accumulate_gradient(gradients, part))
    }))
}

/// Interleaved if the weights are small and the rows fill at least half a vector.
fn choose_layout(hidden: &Linear, rows: usize) -> Layout {
    match (1..=MAX_INTERLEAVED_WEIGHT_LEN).contains(&hidden.weight_len()) {
        true => interleaved_if_half_full(rows),
        false => Layout::RowMajor,
    }
}
