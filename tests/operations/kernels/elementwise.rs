//! Arithmetic, activations, reductions, softmax, gathering and dropout against their definitions.

use super::*;
use typed_transformer::ops::{
    Abs, Activation, DropoutSeed, Exp, Gelu, GeluTanh, Ln, Relu, Sigmoid, Silu, Softplus, Sqrt, Tanh, add, div,
    dropout, gather, log_softmax_over, max_over, maximum, mean_over, minimum, mul, offset, permute, round_to_bf16,
    scale, softmax_over, sub, sum_over, take,
};

dims! { Batch; QLen; KLen; EmbedDim = 7; NumHeads = 3; Picked = 5; }

/// The dimensions of a call.
fn on_dims(run: impl Fn(&mut StdRng, Batch, QLen, KLen)) {
    on_calls(&|rng, (batch, queries, keys)| {
        run(rng, Batch::new(batch.size()), QLen::new(queries.size()), KLen::new(keys.size()))
    });
}

/// Compares the arithmetic of two tensors. The second is a reference, then a tensor with a tape.
macro_rules! compare_arithmetic {
    ($x:ident, $y:ident) => {
        compare_arithmetic!($x, $y: add, sub, mul, div, maximum, minimum);
    };
    ($x:ident, $y:ident: $($op:ident),*) => {
        $(compare!(
            $op($x.single.recorded(), &$y.single),
            $op($x.double.recorded(), &$y.double),
            [$x, $y]
        );
        compare!(
            $op($x.single.recorded(), $y.single.recorded()),
            $op($x.double.recorded(), $y.double.recorded()),
            [$x, $y]
        );)*
    };
}

/// Numbers away from 0, so that a quotient keeps its digits.
fn away_from_zero<Dims: Shape>(rng: &mut StdRng, shape: Dims) -> Both<Dims> {
    let elements: Vec<f32> =
        (0..shape.num_elements()).map(|_| rng.gen_range(0.5..2.0) * if rng.r#gen() { 1.0 } else { -1.0 }).collect();
    let exact = elements.iter().map(|&x| f64::from(x)).collect();
    Both { single: device().tensor_from_vec(elements, shape), double: Cpu::default().tensor_from_vec(exact, shape) }
}

#[test]
fn arithmetic_agrees_with_every_part_of_the_axes() {
    on_dims(|rng, b, q, _| {
        let x = both(rng, (b, q, EmbedDim), 2.0);
        let y = away_from_zero(rng, (b, q, EmbedDim));
        compare_arithmetic!(x, y);
        let y = away_from_zero(rng, (q, EmbedDim));
        compare_arithmetic!(x, y);
        let y = away_from_zero(rng, (EmbedDim,));
        compare_arithmetic!(x, y);
        let y = away_from_zero(rng, (b, q));
        compare_arithmetic!(x, y);
        let y = away_from_zero(rng, (EmbedDim, b));
        compare_arithmetic!(x, y);
        let y = away_from_zero(rng, (EmbedDim, q, b));
        compare_arithmetic!(x, y);
        let y = away_from_zero(rng, ());
        compare_arithmetic!(x, y);
    });
}

#[test]
fn arithmetic_of_a_tensor_with_itself_agrees() {
    on_dims(|rng, b, q, _| {
        let x = away_from_zero(rng, (b, q));
        compare_map!(x, |x| mul(x.clone(), x));
        compare_map!(x, |x| add(x.clone(), x));
        compare_map!(x, |x| div(scale(x.clone(), 3.0).unwrap(), x));
        compare_map!(x, |x| offset(scale(x, -3.0).unwrap(), 0.7));
    });
}

#[test]
fn rounding_agrees() {
    on_dims(|rng, b, q, _| {
        let x = both(rng, (b, q), 3.0);
        compare_map!(x, |x| round_to_bf16(x));
    });
}

#[test]
fn equal_operands_share_the_gradient_of_the_larger() {
    let x: Tensor<(EmbedDim,), f32, AutoDevice> = device().tensor(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    let y = x.clone() * 1.0;
    let mut gradients = maximum(x.recorded(), &y).unwrap().sum().backward().unwrap();
    assert_eq!(gradients.of(&x).unwrap().as_vec(), [0.5; 7]);
    assert_eq!(gradients.of(&y).unwrap().as_vec(), [0.5; 7]);
}

#[test]
fn activations_agree() {
    fn agrees<A: Activation>() {
        on_calls(&|rng, (batch, len, _)| {
            let x = both(rng, (batch, len), 6.0);
            compare_map!(x, |x| A::apply(x));
        });
    }
    agrees::<Relu>();
    agrees::<Gelu>();
    agrees::<GeluTanh>();
    agrees::<Silu>();
    agrees::<Tanh>();
    agrees::<Sigmoid>();
    agrees::<Softplus>();
    agrees::<Exp>();
    agrees::<Abs>();
    on_dims(|rng, b, q, _| {
        let x = away_from_zero(rng, (b, q));
        compare_map!(x, |x| Sqrt::apply(mul(x.clone(), x).unwrap()));
        compare_map!(x, |x| Ln::apply(mul(x.clone(), x).unwrap()));
    });
}

#[test]
fn reductions_agree_over_every_axis() {
    on_dims(|rng, b, q, k| {
        let x = both(rng, (b, q, k), 3.0);
        compare_map!(x, |x| sum_over(x, axis::<Batch>()));
        compare_map!(x, |x| sum_over(x, axis::<QLen>()));
        compare_map!(x, |x| sum_over(x, axis::<KLen>()));
        compare_map!(x, |x| mean_over(x, axis::<QLen>()));
        compare_map!(x, |x| mean_over(x, axis::<KLen>()));
        compare_map!(x, |x| max_over(x, axis::<Batch>()));
        compare_map!(x, |x| max_over(x, axis::<KLen>()));
        // Rows shorter than a vector.
        let x = both(rng, (q, k, EmbedDim), 3.0);
        compare_map!(x, |x| sum_over(x, axis::<KLen>()));
        compare_map!(x, |x| max_over(x, axis::<KLen>()));
        compare_map!(x, |x| sum_over(x, axis::<EmbedDim>()));
        compare_map!(x, |x| max_over(x, axis::<EmbedDim>()));
    });
}

#[test]
fn softmax_agrees_over_every_axis() {
    on_dims(|rng, b, q, k| {
        let x = both(rng, (b, q, k), 3.0);
        compare_map!(x, |x| softmax_over(x, axis::<Batch>()));
        compare_map!(x, |x| softmax_over(x, axis::<QLen>()));
        compare_map!(x, |x| softmax_over(x, axis::<KLen>()));
        compare_map!(x, |x| log_softmax_over(x, axis::<QLen>()));
        compare_map!(x, |x| log_softmax_over(x, axis::<KLen>()));
    });
}

#[test]
fn gathering_agrees_over_every_axis() {
    on_dims(|rng, b, q, _| {
        let x = both(rng, (b, q, EmbedDim), 1.0);
        let columns = Indices::from_fn((Picked,), |place| Fin::<EmbedDim>::all().nth(place * 3 % 7).unwrap());
        compare_map!(x, |x| take(x, axis::<EmbedDim>(), &columns));
        let heads = both(rng, (NumHeads, b, q), 1.0);
        let rows = Indices::from_fn((Picked,), |place| Fin::<NumHeads>::all().nth(place % 3).unwrap());
        compare_map!(heads, |x| take(x, axis::<NumHeads>(), &rows));
        let places = Indices::from_fn((b, q, Picked), |place| Fin::<EmbedDim>::all().nth(place * 5 % 7).unwrap());
        compare_map!(x, |x| gather(x, axis::<EmbedDim>(), &places));
        let heads = both(rng, (b, NumHeads, q), 1.0);
        let rows = Indices::from_fn((b, Picked), |place| Fin::<NumHeads>::all().nth(place % 3).unwrap());
        compare_map!(heads, |x| gather(x, axis::<NumHeads>(), &rows));
    });
}

#[test]
fn an_operand_that_is_a_view_agrees() {
    on_dims(|rng, b, q, k| {
        let x = both(rng, (b, q, k), 1.0);
        compare_map!(x, |x| {
            let swapped = permute::<_, (Batch, KLen, QLen), _, _, _, _>(x.clone()).unwrap();
            let swapped = softmax_over(scale(swapped, 2.0).unwrap(), axis::<KLen>()).unwrap();
            // The other operand is read in place, and its axes are in another order.
            mul(x, swapped)
        });
    });
}

#[test]
fn an_operand_with_a_new_axis_of_size_1_agrees() {
    on_dims(|rng, b, _, _| {
        let x = both(rng, (b, EmbedDim), 1.0);
        let one = (b, Const::<1>, EmbedDim);
        compare_map!(x, |x| scale(x.broadcast_like::<_, Axis<1>>(&one), 2.0));
        let weight = both(rng, (EmbedDim,), 1.0);
        let (single, double) = (both(rng, (b, EmbedDim), 1.0), weight);
        compare!(
            ops::linear(single.single.recorded(), &row(&double.single), None),
            ops::linear(single.double.recorded(), &row(&double.double), None),
            [single, double]
        );
    });

    /// A weight of one row, which is a view of a vector.
    fn row<E: ops::Real, D: Backend<E>>(vector: &Tensor<(EmbedDim,), E, D>) -> Tensor<(Const<1>, EmbedDim), E, D> {
        vector.clone().broadcast_like::<_, Axis<0>>(&(Const::<1>, EmbedDim))
    }
}

#[test]
fn dropout_keeps_the_same_elements() {
    on_dims(|rng, b, q, k| {
        let x = both(rng, (b, q, k), 1.0);
        compare_map!(x, |x| {
            let _seed = DropoutSeed::new(7);
            dropout(x, 0.4)
        });
    });
}

#[test]
fn dropout_of_attention_weights_keeps_the_same_weights() {
    on_dims(|rng, b, q, k| {
        type Heads = Product<NumHeads, EmbedDim>;
        let query = both(rng, (b, q, Heads::default()), 1.0);
        let (key, value) = (both(rng, (b, k, Heads::default()), 1.0), both(rng, (b, k, Heads::default()), 1.0));
        let lens: Vec<usize> = (0..b.size()).map(|row| 1 + row % k.size()).collect();
        let mask = AttentionMask::from_fn((b, q, k), |row, _, key| key < lens[row]);
        macro_rules! attended {
            ($precision:ident) => {{
                let _seed = DropoutSeed::new(3);
                let (q, k, v) = (query.$precision.recorded(), key.$precision.recorded(), value.$precision.recorded());
                ops::multi_head_attention::<_, _, _, NumHeads, EmbedDim, EmbedDim, _, _, _>(
                    q,
                    k,
                    v,
                    &mask,
                    AttentionOptions { dropout: 0.3, ..AttentionOptions::default() },
                )
            }};
        }
        compare!(attended!(single), attended!(double), [query, key, value]);
    });
}

#[test]
fn rounding_is_that_of_the_crate_half() {
    let halfway = [0x3f80_8000, 0x3f81_8000, 0xbf80_8000, 0x3f80_7fff, 0x3f80_8001, 0x7f7f_7fff, 0x7f7f_8000];
    let edges = [0, 0x8000_0000, 1, 0x7fff, 0x8001, 0x0080_0000, 0x7f7f_ffff, 0x7f80_0000, 0xff80_0000, 0x7f80_0001];
    let bits: Vec<u32> = halfway.into_iter().chain(edges).chain((0..20_000).map(|i| i * 214_741)).collect();
    let len = Batch::new(bits.len());
    let x: Tensor<(Batch,), f32, AutoDevice> =
        device().tensor_from_vec(bits.iter().map(|&bits| f32::from_bits(bits)).collect(), (len,));
    for (x, y) in x.as_vec().into_iter().zip(round_to_bf16(x).unwrap().as_vec()) {
        let expected = half::bf16::from_f32(x).to_f32();
        assert!(y.to_bits() == expected.to_bits() || y.is_nan() && expected.is_nan(), "{x}: {y}, not {expected}");
    }
}
