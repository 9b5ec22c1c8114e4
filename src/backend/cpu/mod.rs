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

use super::{Affine, Around, Backend, HeadMaps, Normalize, sublayer};
use crate::{
    dims::{ConstDim, Dim, Product},
    mask::AttentionMask,
    ops::{self, Activation, AttentionScale, MaskFill, NormKind, OpError, Reduction},
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
    fn try_linear<B: Dim, S: Dim, InDim: ConstDim, OutDim: ConstDim, T: Tape<f32, Cpu>>(
        input: Tensor<(B, S, InDim), f32, Cpu, T>,
        weight: &Tensor<(OutDim, InDim), f32, Cpu>,
        bias: Option<&Tensor<(OutDim,), f32, Cpu>>,
    ) -> Result<Tensor<(B, S, OutDim), f32, Cpu, T>, OpError> {
        let (batch, len, _) = *input.shape();
        kernel((batch, len, OutDim::default()), T::default(), |tape| {
            let input = Leaf::read(input, tape)?;
            let map = Map::read(&Affine { weight, bias }, tape)?;
            linear::linear(input, map)
        })
        .map_err(ops::failed("linear"))
    }

    fn try_embed<B: Dim, S: Dim, V: ConstDim, M: ConstDim, T: Tape<f32, Cpu>>(
        table: &Tensor<(V, M), f32, Cpu>,
        ids: &TokenIds<B, S, V>,
        tape: T,
    ) -> Result<Tensor<(B, S, M), f32, Cpu, T>, OpError> {
        let (batch, len) = ids.shape();
        kernel((batch, len, M::default()), tape, |tape| {
            let table = Leaf::parameter(table, tape)?;
            embed::embed(table, ids.clone_arc(), M::SIZE)
        })
        .map_err(ops::failed("embed"))
    }

    fn try_add_positions<B: Dim, S: Dim, M: ConstDim, T: Tape<f32, Cpu>>(
        input: Tensor<(B, S, M), f32, Cpu, T>,
        positions: Tensor<(S, M), f32, Cpu, T>,
    ) -> Result<Tensor<(B, S, M), f32, Cpu, T>, OpError> {
        ops::check_positions(&input, &positions)?;
        let shape = *input.shape();
        kernel(shape, T::default(), |tape| {
            let input = Leaf::read(input, tape)?;
            positions::add_positions(input, Leaf::read(positions, tape)?)
        })
        .map_err(ops::failed("add positions"))
    }

    fn try_write<B: Dim, Len: Dim, S: Dim, M: ConstDim>(
        into: &mut Tensor<(B, Len, M), f32, Cpu>,
        part: &Tensor<(B, S, M), f32, Cpu>,
        start: usize,
    ) -> Result<(), OpError> {
        let (_, len, width) = *part.shape();
        // By index, since what dfdx copies from is a whole tensor.
        for (i, element) in part.as_vec().into_iter().enumerate() {
            let (row, column) = (i / width.size(), i % width.size());
            let (row, position) = (row / len.size(), row % len.size());
            into[[row, start + position, column]] = element;
        }
        Ok(())
    }

    fn try_take_gradient<S: Shape>(
        gradients: &mut Gradients<f32, Cpu>,
        parameter: &Tensor<S, f32, Cpu>,
        into: &mut Vec<f32>,
    ) -> Result<(), CpuError> {
        std::mem::swap(&mut **gradients.get_or_alloc_mut(parameter)?, into);
        Ok(())
    }

    fn try_residual<B: Dim, S: Dim, M: ConstDim, T: Tape<f32, Cpu>>(
        input: Tensor<(B, S, M), f32, Cpu, T>,
        output: Tensor<(B, S, M), f32, Cpu, T>,
    ) -> Result<Tensor<(B, S, M), f32, Cpu, T>, OpError> {
        ops::check_residual(&input, &output)?;
        let shape = *input.shape();
        kernel(shape, T::default(), |tape| {
            let input = Leaf::read(input, tape)?;
            residual::residual(input, Leaf::read(output, tape)?)
        })
        .map_err(ops::failed("residual"))
    }

    fn try_multi_head_attention<
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
        masked: MaskFill,
        dropout: f64,
    ) -> Result<Tensor<(B, Q, Product<H, VODim>), f32, Cpu, T>, OpError> {
        if T::OWNS_TAPE && dropout != 0.0 {
            return ops::try_multi_head_attention(query, key, value, mask, scale, masked, dropout);
        }
        ops::check_attention(&query, &key, &value, mask)?;
        let (batch, len, _) = *query.shape();
        let heads = Heads::new::<H, QKDim, VODim>(mask.shape(), scale, masked);
        kernel((batch, len, Product::default()), T::default(), |tape| {
            let query = Leaf::read(query, tape)?;
            let key = Leaf::read(key, tape)?;
            let value = Leaf::read(value, tape)?;
            attention::attention(query, key, value, mask.clone_arc(), heads)
        })
        .map_err(ops::failed("attention"))
    }

    fn try_layer_norm<B: Dim, S: Dim, M: ConstDim, T: Tape<f32, Cpu>>(
        input: Tensor<(B, S, M), f32, Cpu, T>,
        weight: &Tensor<(M,), f32, Cpu>,
        bias: Option<&Tensor<(M,), f32, Cpu>>,
        epsilon: f64,
    ) -> Result<Tensor<(B, S, M), f32, Cpu, T>, OpError> {
        let norm = Normalize { kind: NormKind::LayerNorm, weight, bias, epsilon };
        norm_of(input, &norm).map_err(ops::failed("layer norm"))
    }

    fn try_rms_norm<B: Dim, S: Dim, M: ConstDim, T: Tape<f32, Cpu>>(
        input: Tensor<(B, S, M), f32, Cpu, T>,
        weight: &Tensor<(M,), f32, Cpu>,
        epsilon: f64,
    ) -> Result<Tensor<(B, S, M), f32, Cpu, T>, OpError> {
        let norm = Normalize { kind: NormKind::RmsNorm, weight, bias: None, epsilon };
        norm_of(input, &norm).map_err(ops::failed("RMS norm"))
    }

    fn try_feed_forward<B: Dim, S: Dim, M: ConstDim, Hidden: ConstDim, F: Activation, T: Tape<f32, Cpu>>(
        input: Tensor<(B, S, M), f32, Cpu, T>,
        hidden: &Affine<'_, M, Hidden, f32, Cpu>,
        output: &Affine<'_, Hidden, M, f32, Cpu>,
        around: &Around<'_, M, f32, Cpu>,
        dropout: f64,
    ) -> Result<Tensor<(B, S, M), f32, Cpu, T>, OpError> {
        match F::ELEMENTWISE {
            Some(function) if !T::OWNS_TAPE || dropout == 0.0 => {
                let shape = *input.shape();
                kernel(shape, T::default(), |tape| {
                    let input = Leaf::read(input, tape)?;
                    let hidden = Map::read(hidden, tape)?;
                    let output = Map::read(output, tape)?;
                    let around = around::Around::read(around, tape)?;
                    feed_forward::feed_forward(input, hidden, output, function, around)
                })
                .map_err(ops::failed("feed-forward"))
            }
            _ => sublayer::try_feed_forward::<_, _, _, _, F, _, _, _>(input, hidden, output, around, dropout),
        }
    }

    fn try_self_attention<
        B: Dim,
        S: Dim,
        M: ConstDim,
        H: ConstDim,
        QKDim: ConstDim,
        VODim: ConstDim,
        T: Tape<f32, Cpu>,
    >(
        input: Tensor<(B, S, M), f32, Cpu, T>,
        maps: &HeadMaps<'_, M, M, H, QKDim, VODim, f32, Cpu>,
        mask: &AttentionMask<B, S, S>,
        around: &Around<'_, M, f32, Cpu>,
    ) -> Result<Tensor<(B, S, M), f32, Cpu, T>, OpError> {
        if T::OWNS_TAPE && maps.drops() {
            return sublayer::try_self_attention(input, maps, mask, around);
        }
        ops::check_attention(&input, &input, &input, mask)?;
        let shape = *input.shape();
        let heads = Heads::new::<H, QKDim, VODim>(mask.shape(), maps.scale, maps.masked);
        kernel(shape, T::default(), |tape| {
            let input = Leaf::read(input, tape)?;
            let maps = Maps::read(maps, tape)?;
            let around = around::Around::read(around, tape)?;
            attention_sublayer(input, None, maps, mask.clone_arc(), heads, around)
        })
        .map_err(ops::failed("attention"))
    }

    fn try_cross_attention<
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
        source: Tensor<(B, K, KVDim), f32, Cpu, T>,
        maps: &HeadMaps<'_, QDim, KVDim, H, QKDim, VODim, f32, Cpu>,
        mask: &AttentionMask<B, Q, K>,
        around: &Around<'_, QDim, f32, Cpu>,
    ) -> Result<Tensor<(B, Q, QDim), f32, Cpu, T>, OpError> {
        if T::OWNS_TAPE && maps.drops() {
            return sublayer::try_cross_attention(query, source, maps, mask, around);
        }
        ops::check_attention_of(&query, &source, mask)?;
        let shape = *query.shape();
        let heads = Heads::new::<H, QKDim, VODim>(mask.shape(), maps.scale, maps.masked);
        kernel(shape, T::default(), |tape| {
            let query = Leaf::read(query, tape)?;
            let source = Leaf::read(source, tape)?;
            let maps = Maps::read(maps, tape)?;
            let around = around::Around::read(around, tape)?;
            attention_sublayer(query, Some(source), maps, mask.clone_arc(), heads, around)
        })
        .map_err(ops::failed("attention"))
    }

    fn try_cross_entropy_with_label_smoothing<B: Dim, S: Dim, V: ConstDim, T: Tape<f32, Cpu>>(
        logits: Tensor<(B, S, V), f32, Cpu, T>,
        labels: &TokenIds<B, S, V>,
        average: Reduction,
        smoothing: f64,
    ) -> Result<Tensor<Rank0, f32, Cpu, T>, OpError> {
        ops::check_labels(&logits, labels, smoothing)?;
        let weights = ops::weights(labels, average);
        kernel((), T::default(), |tape| {
            let logits = Leaf::read(logits, tape)?;
            cross_entropy::cross_entropy(logits, V::SIZE, labels.clone_arc(), weights, smoothing)
        })
        .map_err(ops::failed("cross-entropy"))
    }
}

/// What a kernel puts out, with its dimensions and on the tape, which takes on what is recorded on the
/// tensors that `run` reads.
fn kernel<Dims: Shape, T: Tape<f32, Cpu>>(
    shape: Dims,
    mut tape: T,
    run: impl FnOnce(&mut T) -> Result<Output, CpuError>,
) -> Result<Tensor<Dims, f32, Cpu, T>, CpuError> {
    let (output, backward) = run(&mut tape)?;
    tape.add_backward_op(backward);
    Ok(output.try_reshape_like(&shape)?.put_tape(tape))
}

/// A norm of either kind.
fn norm_of<B: Dim, S: Dim, M: ConstDim, T: Tape<f32, Cpu>>(
    input: Tensor<(B, S, M), f32, Cpu, T>,
    norm: &Normalize<'_, M, f32, Cpu>,
) -> Result<Tensor<(B, S, M), f32, Cpu, T>, CpuError> {
    let shape = *input.shape();
    kernel(shape, T::default(), |tape| {
        let input = Leaf::read(input, tape)?;
        norm::norm(input, norm::Norm::read(norm, tape)?)
    })
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
    use crate::{backend::Affine, dims, ops::ActivationKind, ops::Gelu};
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
        let affine = (Affine { weight: &hidden, bias: None }, Affine { weight: &output, bias: None });
        let typed = || {
            let (hidden, output) = (&affine.0, &affine.1);
            let around = Around::Nothing;
            Cpu::try_feed_forward::<_, _, _, _, Gelu, _>(input.clone(), hidden, output, &around, 0.0)
                .unwrap()
                .as_vec()
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
            let around = around::Around::read(&Around::<EmbedDim, f32, Cpu>::Nothing, &mut tape);
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
