use super::ResidualNorm;
use crate::{
    backend::ActivationKind,
    backend::cpu::{
        autograd::{Buffer, KernelOutput, Operand, Partition, Split, with_backward},
        kernels::{
            Linear, LinearGradient, NormGradient, NormSaved, activation_forward, activation_forward_with_derivative,
        },
        matmul::{Layout, interleaved_if_half_full},
        simd::multiply_assign,
    },
};
use dfdx::tensor::CpuError;
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

/// `(N, M) -> (N, M)`: `output(f(hidden(x)))` with its residual and norm.
pub fn feed_forward_kernel(
    input: Operand,
    hidden: Linear,
    output: Linear,
    function: ActivationKind,
    residual: ResidualNorm,
) -> Result<KernelOutput, CpuError> {
    let (width, hidden_width) = (hidden.in_features(), hidden.out_features());
    let rows = input.len() / width.max(1);
    let layout = choose_layout(&hidden, rows);
    let split = match layout {
        Layout::RowMajor => Split::choose(rows, rows),
        Layout::Interleaved(_) => Split::Rows,
    };
    let (hidden, output) = (hidden.pack(layout, split, rows), output.pack(layout, split, rows));
    let residual = residual.with_layout(layout);
    let rows_per_chunk = HIDDEN_PER_CHUNK / hidden_width.max(width).max(1);
    let partition = match split {
        Split::Rows => layout.partition(rows, hidden.macs_per_row() + output.macs_per_row(), rows_per_chunk),
        Split::Columns => Partition::whole(rows),
    };
    // Scratch memory for the largest chunk.
    let padded_chunk_len = layout.padded_len(partition.chunk_len());
    let (max_len, max_hidden_len) = (padded_chunk_len * width, padded_chunk_len * hidden_width);

    let mut y = input.alloc_output(rows * width)?;
    let chunks = partition.ranges().zip(partition.split_mut(&mut y, width));
    let saved = partition.map_threads(chunks, |chunks| {
        let mut normed = Buffer::recycled(max_len);
        let mut activated = Buffer::recycled(max_hidden_len);
        let (mut x_scratch, mut y_scratch) = (layout.scratch(max_len), layout.scratch(max_len));
        let mut saved = Vec::with_capacity(chunks.len());
        for (rows, y) in chunks {
            let padded_rows = layout.padded_len(rows.len());
            let lane_len = layout.rows_per_lane(rows.len()) * width;
            let mut pre_activation = Buffer::recycled(padded_rows * hidden_width);
            let mut norm_saved = residual.alloc_saved(padded_rows, width);
            let activated = &mut activated[..pre_activation.len()];

            let x = layout.interleave(rows.slice(input.elements(), width), lane_len, &mut x_scratch);
            let sublayer_in = residual.pre_norm(x, &mut normed, &mut norm_saved);
            hidden.forward(&mut pre_activation, sublayer_in);
            activation_forward(activated, &pre_activation, function, split);
            layout.write_rows(y, lane_len, &mut y_scratch, |y| {
                y.copy_from_slice(x);
                output.forward_accumulate(y, activated);
                residual.post_norm(y, &mut norm_saved);
            });
            saved.push(Saved { pre_activation, norm: norm_saved });
        }
        saved
    });
    let saved: Vec<Saved> = saved.into_iter().flatten().collect();
    let result = input.new_tensor(y)?;
    let (hidden, output) = (hidden.drop_packed(), output.drop_packed());

    Ok(with_backward(result, move |dy, gradients| {
        let mut dx = input.take_gradient(gradients)?;
        let chunks = izip!(partition.ranges(), partition.split_mut(&mut dx, width), &saved);
        let new_gradient = || {
            let (hidden, output) = (hidden.new_gradient(gradients)?, output.new_gradient(gradients)?);
            Ok(Gradient { hidden, output, norm: residual.zero_gradient() })
        };
        let parts = partition.try_map_threads(chunks, new_gradient, |mut gradient, chunks| {
            let [mut normed, mut d_sum, mut d_normed] = [(); 3].map(|()| Buffer::recycled(max_len));
            let [mut activated, mut derivative] = [(); 2].map(|()| Buffer::recycled(max_hidden_len));
            let (mut x_scratch, mut y_scratch) = (layout.scratch(max_len), layout.scratch(max_len));
            for (rows, dx, Saved { pre_activation, norm: norm_saved }) in chunks {
                let lane_len = layout.rows_per_lane(rows.len()) * width;
                let activated = &mut activated[..pre_activation.len()];
                let derivative = &mut derivative[..pre_activation.len()];

                let dy = layout.interleave_zero_padded(rows.slice(dy, width), lane_len, &mut y_scratch);
                let d_sum = residual.backward_post_norm(dy, &mut d_sum, &mut gradient.norm, norm_saved);
                activation_forward_with_derivative(activated, derivative, pre_activation, function, split);
                output.backward_params(&mut gradient.output, d_sum, activated);
                let d_hidden = activated;
                output.backward_input(d_hidden, d_sum);
                multiply_assign(d_hidden, derivative);
                let x = layout.interleave(rows.slice(input.elements(), width), lane_len, &mut x_scratch);
                let sublayer_in = residual.recompute_input(x, &mut normed, norm_saved);
                hidden.backward_params(&mut gradient.hidden, d_hidden, sublayer_in);
                layout.add_to_rows(dx, lane_len, &mut x_scratch, |dx| {
                    let scratch: [&mut [f32]; 2] = [&mut normed, &mut d_normed];
                    residual.backward_input(dx, d_sum, scratch, &mut gradient.norm, norm_saved, |dx| {
                        hidden.backward_input_accumulate(dx, d_hidden);
                    });
                });
            }
            gradient
        })?;
        input.put_gradient(gradients, dx)?;
        for part in parts {
            hidden.accumulate_gradient(gradients, part.hidden)?;
            output.accumulate_gradient(gradients, part.output)?;
            residual.accumulate_gradient(gradients, &part.norm)?;
        }
        Ok(())
    }))
}

/// Interleaved if the weights are small and the rows fill at least half a vector.
fn choose_layout(hidden: &Linear, rows: usize) -> Layout {
    match (1..=MAX_INTERLEAVED_WEIGHT_LEN).contains(&hidden.macs_per_row()) {
        true => interleaved_if_half_full(rows),
        false => Layout::RowMajor,
    }
}
