//! Fused kernels for the CPU in `f32`.
//!
//! An operation here is one entry on the tape where its definition makes ten, and one pass over
//! memory where the definition makes as many. Loops are compiled for several widths of vector
//! registers and the processor's is chosen at run time, so no compiler flags are asked of anybody.

mod activation;
mod around;
mod attention;
mod attention_in_lanes;
mod attention_sublayer;
mod buffer;
mod cross_entropy;
mod embed;
mod feed_forward;
mod lanes;
mod layout;
mod leaf;
mod linear;
mod map;
mod math;
mod matmul;
mod norm;
mod parallel;
mod positions;
mod product;
mod residual;

use super::{
    AttentionParams, AttentionScale, Backend, FeedForwardParams, Fused, KernelResult, LinearParams, MaskFill,
    NormParams, NotFused, Residual, check_attention,
};
use crate::{
    dims::{ConstDim, Dim, Product},
    error::{OpError, device_error},
    mask::AttentionMask,
    tokens::TokenIds,
};
use attention::Heads;
use attention_sublayer::{Maps, attention_sublayer};
use dfdx::{
    shapes::{HasShape, Rank0, Shape},
    tensor::{Cpu, CpuError, Gradients, PutTape, Tape, Tensor},
    tensor_ops::ReshapeTo,
};
use leaf::{Leaf, Output};
use map::Map;
pub use parallel::on_all_threads;
use pulp::{Arch, Simd, WithSimd};

impl Backend<f32> for Cpu {
    fn fused_linear<B: Dim, S: Dim, InDim: ConstDim, OutDim: ConstDim, T: Tape<f32, Cpu>>(
        input: Tensor<(B, S, InDim), f32, Cpu, T>,
        params: LinearParams<'_, InDim, OutDim, f32, Cpu>,
    ) -> KernelResult<Tensor<(B, S, OutDim), f32, Cpu, T>, Tensor<(B, S, InDim), f32, Cpu, T>> {
        let (batch, len, _) = *input.shape();
        kernel("linear", (batch, len, OutDim::default()), T::default(), |tape| {
            let input = Leaf::read(input, tape)?;
            linear::linear(input, Map::read(&params, tape)?)
        })
    }

    fn fused_embed<B: Dim, S: Dim, V: ConstDim, M: ConstDim, T: Tape<f32, Cpu>>(
        table: &Tensor<(V, M), f32, Cpu>,
        ids: &TokenIds<B, S, V>,
        tape: T,
    ) -> KernelResult<Tensor<(B, S, M), f32, Cpu, T>, T> {
        let (batch, len) = ids.shape();
        kernel("embed", (batch, len, M::default()), tape, |tape| {
            let table = Leaf::parameter(table, tape)?;
            embed::embed(table, ids.clone_arc(), M::SIZE)
        })
    }

    fn fused_add_positions<B: Dim, S: Dim, M: ConstDim, T: Tape<f32, Cpu>>(
        input: Tensor<(B, S, M), f32, Cpu, T>,
        positions: Tensor<(S, M), f32, Cpu, T>,
    ) -> KernelResult<
        Tensor<(B, S, M), f32, Cpu, T>,
        (Tensor<(B, S, M), f32, Cpu, T>, Tensor<(S, M), f32, Cpu, T>),
    > {
        kernel("add positions", *input.shape(), T::default(), |tape| {
            let input = Leaf::read(input, tape)?;
            positions::add_positions(input, Leaf::read(positions, tape)?)
        })
    }

    fn fused_residual<B: Dim, S: Dim, M: ConstDim, T: Tape<f32, Cpu>>(
        input: Tensor<(B, S, M), f32, Cpu, T>,
        output: Tensor<(B, S, M), f32, Cpu, T>,
    ) -> KernelResult<Tensor<(B, S, M), f32, Cpu, T>, [Tensor<(B, S, M), f32, Cpu, T>; 2]> {
        kernel("residual", *input.shape(), T::default(), |tape| {
            let input = Leaf::read(input, tape)?;
            residual::residual(input, Leaf::read(output, tape)?)
        })
    }

    fn fused_norm<B: Dim, S: Dim, M: ConstDim, T: Tape<f32, Cpu>>(
        input: Tensor<(B, S, M), f32, Cpu, T>,
        params: NormParams<'_, M, f32, Cpu>,
    ) -> KernelResult<Tensor<(B, S, M), f32, Cpu, T>, Tensor<(B, S, M), f32, Cpu, T>> {
        kernel("norm", *input.shape(), T::default(), |tape| {
            let input = Leaf::read(input, tape)?;
            norm::norm(input, norm::Norm::read(&params, tape)?)
        })
    }

    fn fused_multi_head_attention<
        B: Dim,
        Q: Dim,
        K: Dim,
        H: ConstDim,
        QKDim: ConstDim,
        VODim: ConstDim,
        T: Tape<f32, Cpu>,
    >(
        query: Tensor<(B, Q, Product<H, QKDim>), f32, Cpu, T>,
        key: Tensor<(B, K, Product<H, QKDim>), f32, Cpu, T>,
        value: Tensor<(B, K, Product<H, VODim>), f32, Cpu, T>,
        mask: &AttentionMask<B, Q, K>,
        scale: AttentionScale,
        mask_fill: MaskFill,
        dropout: f64,
    ) -> KernelResult<
        Tensor<(B, Q, Product<H, VODim>), f32, Cpu, T>,
        (
            Tensor<(B, Q, Product<H, QKDim>), f32, Cpu, T>,
            Tensor<(B, K, Product<H, QKDim>), f32, Cpu, T>,
            Tensor<(B, K, Product<H, VODim>), f32, Cpu, T>,
        ),
    > {
        if T::OWNS_TAPE && dropout != 0.0 {
            return Ok(NotFused((query, key, value)));
        }
        let (batch, len, _) = *query.shape();
        let heads = Heads::new::<H, QKDim, VODim>(mask.shape(), scale, mask_fill);
        kernel("attention", (batch, len, Product::default()), T::default(), |tape| {
            let query = Leaf::read(query, tape)?;
            let key = Leaf::read(key, tape)?;
            let value = Leaf::read(value, tape)?;
            attention::attention(query, key, value, mask.clone_arc(), heads)
        })
    }

    fn fused_feed_forward<B: Dim, S: Dim, M: ConstDim, Hidden: ConstDim, T: Tape<f32, Cpu>>(
        input: Tensor<(B, S, M), f32, Cpu, T>,
        params: &FeedForwardParams<'_, M, Hidden, f32, Cpu>,
        residual: &Residual<'_, M, f32, Cpu>,
    ) -> KernelResult<Tensor<(B, S, M), f32, Cpu, T>, Tensor<(B, S, M), f32, Cpu, T>> {
        let uses_dropout = T::OWNS_TAPE && params.dropout != 0.0;
        let (Some(activation), [], false) = (params.activation, &params.inner[..], uses_dropout) else {
            return Ok(NotFused(input));
        };
        kernel("feed-forward", *input.shape(), T::default(), |tape| {
            let input = Leaf::read(input, tape)?;
            let hidden = Map::read(&params.hidden, tape)?;
            let output = Map::read(&params.output, tape)?;
            let around = around::Around::read(residual, tape)?;
            feed_forward::feed_forward(input, hidden, output, activation, around)
        })
    }

    fn fused_self_attention<
        B: Dim,
        S: Dim,
        M: ConstDim,
        H: ConstDim,
        QKDim: ConstDim,
        VODim: ConstDim,
        T: Tape<f32, Cpu>,
    >(
        input: Tensor<(B, S, M), f32, Cpu, T>,
        params: &AttentionParams<'_, M, M, H, QKDim, VODim, f32, Cpu>,
        mask: &AttentionMask<B, S, S>,
        residual: &Residual<'_, M, f32, Cpu>,
    ) -> KernelResult<Tensor<(B, S, M), f32, Cpu, T>, Tensor<(B, S, M), f32, Cpu, T>> {
        if T::OWNS_TAPE && params.uses_dropout() {
            return Ok(NotFused(input));
        }
        let shape @ (batch, len, _) = *input.shape();
        check_attention((batch, len), (batch, len), mask)?;
        let heads = Heads::new::<H, QKDim, VODim>(mask.shape(), params.scale, params.mask_fill);
        kernel("attention", shape, T::default(), |tape| {
            let input = Leaf::read(input, tape)?;
            let maps = Maps::read(params, tape)?;
            let around = around::Around::read(residual, tape)?;
            attention_sublayer(input, None, maps, mask.clone_arc(), heads, around)
        })
    }

    fn fused_cross_attention<
        B: Dim,
        Q: Dim,
        K: Dim,
        QDim: ConstDim,
        KVDim: ConstDim,
        H: ConstDim,
        QKDim: ConstDim,
        VODim: ConstDim,
        T: Tape<f32, Cpu>,
    >(
        query: Tensor<(B, Q, QDim), f32, Cpu, T>,
        key_value: Tensor<(B, K, KVDim), f32, Cpu, T>,
        params: &AttentionParams<'_, QDim, KVDim, H, QKDim, VODim, f32, Cpu>,
        mask: &AttentionMask<B, Q, K>,
        residual: &Residual<'_, QDim, f32, Cpu>,
    ) -> KernelResult<
        Tensor<(B, Q, QDim), f32, Cpu, T>,
        (Tensor<(B, Q, QDim), f32, Cpu, T>, Tensor<(B, K, KVDim), f32, Cpu, T>),
    > {
        if T::OWNS_TAPE && params.uses_dropout() {
            return Ok(NotFused((query, key_value)));
        }
        let (shape @ (batch, queries, _), (key_batch, keys, _)) = (*query.shape(), *key_value.shape());
        check_attention((batch, queries), (key_batch, keys), mask)?;
        let heads = Heads::new::<H, QKDim, VODim>(mask.shape(), params.scale, params.mask_fill);
        kernel("attention", shape, T::default(), |tape| {
            let query = Leaf::read(query, tape)?;
            let key_value = Leaf::read(key_value, tape)?;
            let maps = Maps::read(params, tape)?;
            let around = around::Around::read(residual, tape)?;
            attention_sublayer(query, Some(key_value), maps, mask.clone_arc(), heads, around)
        })
    }

    fn fused_cross_entropy<B: Dim, S: Dim, V: ConstDim, T: Tape<f32, Cpu>>(
        logits: Tensor<(B, S, V), f32, Cpu, T>,
        labels: &TokenIds<B, S, V>,
        position_weights: &[f32],
        smoothing: f64,
    ) -> KernelResult<Tensor<Rank0, f32, Cpu, T>, Tensor<(B, S, V), f32, Cpu, T>> {
        kernel("cross-entropy", (), T::default(), |tape| {
            let logits = Leaf::read(logits, tape)?;
            let weights = position_weights.to_vec();
            cross_entropy::cross_entropy(logits, V::SIZE, labels.clone_arc(), weights, smoothing)
        })
    }

    fn try_assign_rows<B: Dim, Len: Dim, S: Dim, M: ConstDim>(
        out: &mut Tensor<(B, Len, M), f32, Cpu>,
        part: &Tensor<(B, S, M), f32, Cpu>,
        start: usize,
    ) -> Result<(), OpError> {
        let (_, len, width) = *part.shape();
        // By index, because dfdx copies into whole tensors only.
        for (i, element) in part.as_vec().into_iter().enumerate() {
            let (row, column) = (i / width.size(), i % width.size());
            let (row, position) = (row / len.size(), row % len.size());
            out[[row, start + position, column]] = element;
        }
        Ok(())
    }

    fn try_take_gradient<S: Shape>(
        gradients: &mut Gradients<f32, Cpu>,
        parameter: &Tensor<S, f32, Cpu>,
        out: &mut Vec<f32>,
    ) -> Result<(), CpuError> {
        std::mem::swap(&mut **gradients.get_or_alloc_mut(parameter)?, out);
        Ok(())
    }
}

/// Runs a kernel and records its backward pass: the output gets `shape` and a tape that merges the tapes of all
/// tensors that `run` reads.
fn kernel<Dims: Shape, T: Tape<f32, Cpu>, Operands>(
    op: &'static str,
    shape: Dims,
    mut tape: T,
    run: impl FnOnce(&mut T) -> Result<Output, CpuError>,
) -> KernelResult<Tensor<Dims, f32, Cpu, T>, Operands> {
    let record = || {
        let (output, backward) = run(&mut tape)?;
        tape.add_backward_op(backward);
        Ok(Fused(output.try_reshape_like(&shape)?.put_tape(tape)))
    };
    record().map_err(device_error::<CpuError>(op))
}

/// The elements of some rows at a time, given how many they are.
fn rows_of<Element>(all: &[Element], elements: usize) -> std::slice::Chunks<'_, Element> {
    all.chunks(elements.max(1))
}

/// The elements of some rows at a time, to be written.
fn rows_mut(all: &mut [f32], elements: usize) -> std::slice::ChunksMut<'_, f32> {
    all.chunks_mut(elements.max(1))
}

/// `to *= by`, element by element.
fn multiply_assign(to: &mut [f32], by: &[f32]) {
    vectorized(
        #[inline(always)]
        || {
            for (to, by) in to.iter_mut().zip(by) {
                *to *= by;
            }
        },
    );
}

/// `to += from`, element by element.
fn add_assign(to: &mut [f32], from: &[f32]) {
    vectorized(
        #[inline(always)]
        || add_row(to, from),
    );
}

/// [`add_assign`] of few elements, or inside of what is vectorized.
#[inline(always)]
fn add_row(to: &mut [f32], from: &[f32]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += from;
    }
}

/// Runs a loop that was compiled for the widest vector registers of this processor; `run` must be
/// `#[inline(always)]`.
pub fn vectorized<Value>(run: impl FnMut() -> Value) -> Value {
    // Not pulp's own `impl WithSimd for FnOnce`: a closure that could run twice is called through a
    // shim then, which is compiled for no particular processor.
    struct Run<F>(F);
    impl<Value, F: FnMut() -> Value> WithSimd for Run<F> {
        type Output = Value;
        #[inline(always)]
        fn with_simd<S: Simd>(mut self, _: S) -> Value {
            (self.0)()
        }
    }
    Arch::new().dispatch(Run(run))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        backend::{ActivationKind, Fused},
        dims,
    };
    use dfdx::tensor::{NoneTape, SampleTensor, TensorFromVec};
    use std::time::{Duration, Instant};

    dims! { Batch = 32; SeqLen = 16; EmbedDim = 128; HiddenDim = 512; }

    // By hand and alone, since it measures time: cargo test --release --lib free -- --ignored --nocapture
    #[test]
    #[ignore = "measures time"]
    fn types_are_free() {
        let device = Cpu::default();
        let input: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu> = device.sample(rand_distr::StandardNormal);
        let hidden: Tensor<(HiddenDim, EmbedDim), f32, Cpu> = device.sample(rand_distr::StandardNormal);
        let output: Tensor<(EmbedDim, HiddenDim), f32, Cpu> = device.sample(rand_distr::StandardNormal);
        let params = FeedForwardParams {
            hidden: LinearParams { weight: &hidden, bias: None },
            inner: Vec::new(),
            output: LinearParams { weight: &output, bias: None },
            activation: Some(ActivationKind::Gelu),
            dropout: 0.0,
        };
        let typed = || {
            let Ok(Fused(output)) = Cpu::fused_feed_forward(input.clone(), &params, &Residual::Plain) else {
                panic!("the kernel did not run");
            };
            output.as_vec()
        };
        let flat = |numbers: Vec<f32>| {
            let shape = (numbers.len(),);
            device.tensor_from_vec(numbers, shape)
        };
        let [x, w1, w2] = [input.as_vec(), hidden.as_vec(), output.as_vec()].map(flat);
        let raw = || {
            let mut tape = NoneTape;
            let mut leaf = |numbers: &leaf::Flat| Leaf::read(numbers.clone(), &mut tape).unwrap();
            let (x, w1, w2) = (leaf(&x), leaf(&w1), leaf(&w2));
            let around = around::Around::read(&Residual::<EmbedDim, f32, Cpu>::Plain, &mut tape);
            let (y, _) = feed_forward::feed_forward(
                x,
                Map::of(w1, 128, 512),
                Map::of(w2, 512, 128),
                ActivationKind::Gelu,
                around.unwrap(),
            )
            .unwrap();
            y.as_vec()
        };
        assert_eq!(typed(), raw());
        let mut fastest = [Duration::MAX; 2];
        for _ in 0..2_000 {
            for (fastest, run) in fastest.iter_mut().zip([&typed as &dyn Fn() -> _, &raw]) {
                let start = Instant::now();
                std::hint::black_box(run());
                *fastest = start.elapsed().min(*fastest);
            }
        }
        let [typed, raw] = fastest.map(|time| time.as_secs_f64());
        println!("typed {typed:.3e} s, raw {raw:.3e} s, ratio {:.3}", typed / raw);
        assert!(typed / raw <= 1.02);
    }
}
