//! Operations at the edges of what they take: nothing, many numbers, infinities, padding in odd places.

use crate::recorded::Recorded;
use dfdx::tensor::TensorFromVec;
use rayon::ThreadPoolBuilder;
use typed_transformer::dims::ConvLen;
use typed_transformer::mask::SlidingWindow;
use typed_transformer::ops::{
    self, Activation, Relu, Rotary, RotaryScaling, Softplus, alibi, attention, conv1d,
    cross_entropy_with_label_smoothing, detach, dropout, eq, kl_divergence, layer_norm, log_softmax_over, masked_mean,
    maximum, mean_over, minimum, multi_head_attention, rotary_positions, scale, sub, sum_over,
};
use typed_transformer::prelude::*;
use typed_transformer::tokens::Indices;
use typed_transformer::train::Recording;

dims! {
    Rows; Classes; Copies;
    Two = 2; Three = 3; Six = 6; NumHeads = 2; HeadDim = 2; Width = 2; Outputs = 256;
}

fn tensor<Dims: Shape, E: Real>(numbers: impl IntoIterator<Item = f64>, shape: Dims) -> Tensor<Dims, E, Cpu>
where
    Cpu: Backend<E>,
{
    Cpu::default().tensor_from_vec(numbers.into_iter().map(|number| E::from_f64(number).unwrap()).collect(), shape)
}

fn assert_empty<Output>(result: Result<Output, OpError>) {
    assert!(matches!(result.err(), Some(OpError::Empty { .. })));
}

#[test]
fn operations_on_no_elements_are_refused_with_and_without_kernels() {
    fn check<E: Real>()
    where
        Cpu: Backend<E>,
    {
        let none = Rows::new(0);
        let x: Tensor<(Rows, Two), E, Cpu> = tensor([], (none, Two));
        assert_empty(eq(&x, 0.0));
        assert!(x.display().to_string().ends_with("[]"));
        let labels = Indices::new(&[], (none,), Two).unwrap();
        assert_empty(cross_entropy_with_label_smoothing(x.clone(), &labels, Reduction::Sum, 0.0));
        let is_token: Tensor<(Rows,), bool, Cpu> = Cpu::default().tensor_from_vec(vec![], (none,));
        assert_empty(kl_divergence(x.clone(), &x, &is_token, Reduction::Sum));
        let is_token: Tensor<(Rows, Two), bool, Cpu> = Cpu::default().tensor_from_vec(vec![], (none, Two));
        assert!(PaddingMask::from(&is_token).as_slice().is_empty());

        let heads: Tensor<(Rows, NumHeads, Two, HeadDim), E, Cpu> = tensor([], (none, NumHeads, Two, HeadDim));
        let mask = AttentionMask::all_visible((none, Two, Two));
        assert_empty(attention(heads.clone(), heads.clone(), heads, &mask, AttentionOptions::default()));
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn the_mean_of_many_equal_numbers_is_that_number() {
    let count = 1_000_000;
    let x: Tensor<(Rows, Two), f32, Cpu> = tensor((0..2 * count).map(|_| 0.1), (Rows::new(count), Two));
    for mean in mean_over(x, axis::<Rows>()).unwrap().as_vec() {
        assert!((mean - 0.1).abs() < 1e-5, "{mean}");
    }
}

#[test]
fn a_quotient_of_tiny_or_huge_numbers_has_a_gradient() {
    for (x, y) in [(1e-30, 1e-30), (3e25, 2e20), (0.0, 1e-30)] {
        let [x, y]: [Tensor<(Two,), f32, Cpu>; 2] = [x, y].map(|number| tensor([number; 2], (Two,)));
        let quotient = ops::div(x.clone().put_tape(Recording::<(), f32, Cpu>::default()), &y).unwrap();
        let mut gradients = sum_over(quotient, axis::<Two>()).unwrap().backward().unwrap();
        let (x, y, found) = (f64::from(x.as_vec()[0]), f64::from(y.as_vec()[0]), gradients.of(&y).unwrap().as_vec());
        assert!(found.iter().all(|found| (f64::from(*found) + x / y / y).abs() <= 1e-6 * (x / y / y)), "{found:?}");
    }
}

#[test]
fn an_infinite_gradient_does_not_reach_what_was_not_chosen() {
    let x: Tensor<(Two,), f32, Cpu> = tensor([-1e-9, 4.0], (Two,));
    let zeros: Tensor<(Two,), f32, Cpu> = tensor([0.0; 2], (Two,));
    let largest = ops::maximum(x.recorded(), &zeros).unwrap();
    for positive in [largest, Relu::apply(x.recorded()).unwrap()] {
        let mut gradients = sum_over(positive.sqrt(), axis::<Two>()).unwrap().backward().unwrap();
        assert_eq!(gradients.of(&x).unwrap().as_vec(), [0.0, 0.25]);
    }
}

#[test]
fn two_convolutions_read_an_axis_of_a_run_time_size() {
    type Once = ConvLen<Rows, Three, Const<1>, Const<1>>;
    let x: Tensor<(Const<1>, Rows, Two), f32, Cpu> = tensor([1.0; 10], (Const::<1>, Rows::new(5), Two));
    let weight: Tensor<(Two, Two, Three), f32, Cpu> = tensor([1.0; 12], (Two, Two, Three));
    let once: Tensor<(Const<1>, Once, Two), f32, Cpu> = conv1d(x, &weight, None, Const::<1>, Const::<1>).unwrap();
    let twice: Tensor<(Const<1>, ConvLen<Once, Three, Two, Const<1>>, Two), f32, Cpu> =
        conv1d(once, &weight, None, Two, Const::<1>).unwrap();
    let twice = ops::rename(twice, axis::<ConvLen<Once, Three, Two, Const<1>>>(), Three).unwrap();
    // Sums of 3 places of (4, 6, 6, 6, 4), with zeros around, over 2 channels.
    assert_eq!(twice.as_vec(), [20.0, 20.0, 36.0, 36.0, 20.0, 20.0]);
}

#[test]
fn a_made_axis_of_a_compile_time_size_has_a_maximum() {
    type Places = ConvLen<Six, Three, Two, Const<1>>;
    let table: Tensor<(Three, Two), f32, Cpu> = tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], (Three, Two));
    let positions: Tensor<(Places, Two), f32, Cpu> = ops::learned_positions(&table, Places::default()).unwrap();
    assert_eq!(positions.as_vec(), table.as_vec());
}

/// Calls `check` with numbers of threads that give each of them many terms to sum, or have many parts to join.
fn on_threads(check: impl Fn() + Sync) {
    for num_threads in [1, 2, 48, 96] {
        ThreadPoolBuilder::new().num_threads(num_threads).build().unwrap().install(&check);
    }
}

#[test]
fn the_gradient_of_a_norm_of_many_rows_is_precise() {
    on_threads(|| {
        let count = 200_000;
        let x: Tensor<(Rows, Two), f32, Cpu> = tensor((0..2 * count).map(|i| (i % 2) as f64), (Rows::new(count), Two));
        let [weight, bias]: [Tensor<(Two,), f32, Cpu>; 2] = [1.0, 0.0].map(|number| tensor([number; 2], (Two,)));
        let y = layer_norm(x.put_tape(Recording::<(), f32, Cpu>::default()), &weight, Some(&bias), 0.0).unwrap();
        let gradients = sum_over(sum_over(scale(y, 0.1).unwrap(), axis::<Rows>()).unwrap(), axis::<Two>()).unwrap();
        let mut gradients = gradients.backward().unwrap();
        for (parameter, expected) in [(&weight, [-20_000.0, 20_000.0]), (&bias, [20_000.0; 2])] {
            for (found, expected) in gradients.of(parameter).unwrap().as_vec().into_iter().zip(expected) {
                assert!((found - expected).abs() < 2.0, "{found} {expected}");
            }
        }
    });
}

#[test]
fn the_gradient_of_an_operand_of_many_rows_is_precise() {
    on_threads(|| {
        let count = 200_000;
        for (is_sum, expected) in [(true, 1.0), (false, 0.1)] {
            let x: Tensor<(Rows, Two), f32, Cpu> = tensor(vec![0.1; 2 * count], (Rows::new(count), Two));
            let y: Tensor<(Two,), f32, Cpu> = tensor([0.1; 2], (Two,));
            let x = x.put_tape(Recording::<(), f32, Cpu>::default());
            let z = if is_sum { ops::add(x, &y) } else { mul(x, &y) }.unwrap();
            let sum = sum_over(sum_over(z, axis::<Rows>()).unwrap(), axis::<Two>()).unwrap();
            let found = sum.backward().unwrap().of(&y).unwrap().as_vec();
            assert!(found.iter().all(|found| (found / count as f32 - expected).abs() < 1e-5 * expected), "{found:?}");
        }
    });
}

#[test]
fn the_gradient_of_a_bias_of_many_rows_is_precise() {
    on_threads(|| {
        // With 48 threads and more, each has columns of the output, and the sums of the bias are then divided by rows.
        let count = 8192;
        let x: Tensor<(Rows, Two), f32, Cpu> = tensor(vec![0.1; 2 * count], (Rows::new(count), Two));
        let weight: Tensor<(Outputs, Two), f32, Cpu> = tensor([0.1; 2 * Outputs::SIZE], (Outputs, Two));
        let bias: Tensor<(Outputs,), f32, Cpu> = tensor([0.1; Outputs::SIZE], (Outputs,));
        let y = ops::linear(x.put_tape(Recording::<(), f32, Cpu>::default()), &weight, Some(&bias)).unwrap();
        let sum = sum_over(sum_over(scale(y, 0.1).unwrap(), axis::<Rows>()).unwrap(), axis::<Outputs>()).unwrap();
        let found = sum.backward().unwrap().of(&bias).unwrap().as_vec();
        assert!(found.iter().all(|found| (found - 819.2).abs() < 1e-3), "{found:?}");
    });
}

/// The largest elements of the rows and of the columns of `(Rows, Three)`, and the gradient of the sum of each.
fn largest<E: Real>(numbers: &[f64]) -> [Vec<f64>; 4]
where
    Cpu: Backend<E>,
{
    let x: Tensor<(Rows, Three), E, Cpu> = tensor(numbers.to_vec(), (Rows::new(numbers.len() / 3), Three));
    let tape = Recording::<(), E, Cpu>::default;
    let of_rows = max_over(x.clone().put_tape(tape()), axis::<Three>()).unwrap();
    let of_columns = max_over(x.clone().put_tape(tape()), axis::<Rows>()).unwrap();
    let (rows, columns) = (of_rows.as_vec(), of_columns.as_vec());
    let of_rows = sum_over(of_rows, axis::<Rows>()).unwrap().backward().unwrap().of(&x).unwrap().as_vec();
    let of_columns = sum_over(of_columns, axis::<Three>()).unwrap().backward().unwrap().of(&x).unwrap().as_vec();
    [rows, columns, of_rows, of_columns].map(|numbers| numbers.iter().map(|x| x.to_f64().unwrap()).collect())
}

#[test]
fn equal_largest_elements_share_the_gradient() {
    let infinite = f64::NEG_INFINITY;
    let numbers = [2.0, 1.0, 2.0, -1.0, 1.0, -3.0, infinite, infinite, infinite, 2.0, 0.0, 1.0];
    for [rows, columns, of_rows, of_columns] in [largest::<f32>(&numbers), largest::<f64>(&numbers)] {
        assert_eq!((rows, columns), (vec![2.0, 1.0, infinite, 2.0], vec![2.0, 1.0, 2.0]));
        let third = of_rows[6];
        assert!((third - 1.0 / 3.0).abs() < 1e-7);
        assert_eq!(of_rows, [0.5, 0.0, 0.5, 0.0, 1.0, 0.0, third, third, third, 1.0, 0.0, 0.0]);
        assert_eq!(of_columns, [0.5, 0.5, 1.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0]);
    }
}

#[test]
fn a_sum_and_the_gradient_of_a_repeated_number_are_exact_to_a_millionth() {
    on_threads(|| {
        let count = 1 << 20;
        let shape = (Rows::new(count), Two);
        let x: Tensor<_, f32, Cpu> = tensor(std::iter::repeat_n(0.1, 2 * count), shape);
        let expected = 0.2 * count as f32;
        let is_near = |found: f32| (found - expected).abs() < 1e-6 * expected;
        assert!(is_near(einsum!(&x: (Rows, Two) -> ()).unwrap().array()));
        let of_columns: Tensor<(Two,), f32, Cpu> = einsum!(&x: (Rows, Two) -> (Two)).unwrap();
        assert!(of_columns.as_vec().into_iter().all(|sum| is_near(2.0 * sum)));
        let of_columns = sum_over(x.clone(), axis::<Rows>()).unwrap();
        assert!(of_columns.as_vec().into_iter().all(|sum| is_near(2.0 * sum)));
        let number: Tensor<(), f32, Cpu> = tensor([3.0], ());
        let taped = || number.clone().put_tape(Recording::<(), f32, Cpu>::default());
        let sum = add(x.clone().put_tape(Recording::default()), taped()).unwrap();
        let sum = scale(einsum!(sum: (Rows, Two) -> ()).unwrap(), 0.1).unwrap();
        let product = mul(x.put_tape(Recording::default()), taped()).unwrap();
        let product = einsum!(product: (Rows, Two) -> ()).unwrap();
        for loss in [sum, product] {
            assert!(is_near(loss.backward().unwrap().of(&number).unwrap().array()));
        }
    });
}

#[test]
fn the_larger_of_a_nan_and_a_number_is_the_nan_which_gets_the_gradient() {
    fn check<E: Real>()
    where
        Cpu: Backend<E>,
    {
        let x: Tensor<(Two,), E, Cpu> = tensor([f64::NAN, 1.0], (Two,));
        let y: Tensor<(Two,), E, Cpu> = tensor([2.0, f64::NAN], (Two,));
        let taped = |x: &Tensor<(Two,), E, Cpu>| x.clone().put_tape(Recording::<(), E, Cpu>::default());
        for result in [maximum(taped(&x), taped(&y)).unwrap(), minimum(taped(&x), taped(&y)).unwrap()] {
            assert!(result.as_vec().iter().all(|x| x.to_f64().unwrap().is_nan()));
            let mut gradients = sum_over(result, axis::<Two>()).unwrap().backward().unwrap();
            assert_eq!(gradients.of(&x).unwrap().as_vec(), [E::one(), E::zero()]);
            assert_eq!(gradients.of(&y).unwrap().as_vec(), [E::zero(), E::one()]);
        }
        let x: Tensor<(Three,), E, Cpu> = tensor([f64::NAN, -1.0, 2.0], (Three,));
        let positive = Relu::apply(x.clone().put_tape(Recording::<(), E, Cpu>::default())).unwrap();
        let numbers: Vec<f64> = positive.as_vec().iter().map(|x| x.to_f64().unwrap()).collect();
        assert!(numbers[0].is_nan() && numbers[1..] == [0.0, 2.0], "{numbers:?}");
        let mut gradients = sum_over(positive, axis::<Three>()).unwrap().backward().unwrap();
        assert_eq!(gradients.of(&x).unwrap().as_vec(), [E::one(), E::zero(), E::one()]);
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn a_small_softplus_has_all_digits() {
    let x: Tensor<(Two,), f64, Cpu> = tensor([-40.0, -20.0], (Two,));
    let found = Softplus::apply(x.recorded()).unwrap();
    let is_near = |found: f64, expected: f64| (found - expected).abs() <= 1e-14 * expected;
    for (found, x) in found.as_vec().into_iter().zip(x.as_vec()) {
        assert!(is_near(found, x.exp().ln_1p()), "{found}");
    }
    let mut gradients = sum_over(found, axis::<Two>()).unwrap().backward().unwrap();
    for (found, x) in gradients.of(&x).unwrap().as_vec().into_iter().zip(x.as_vec()) {
        assert!(is_near(found, 1.0 / (1.0 + (-x).exp())), "{found}");
    }
}

#[test]
fn a_mask_subtracts_what_the_dtype_holds() {
    fn check<E: Real>(batch: usize)
    where
        Cpu: Backend<E>,
    {
        let batch = Rows::new(batch);
        let mask = AttentionMask::from_fn((batch, Two, Six), |_, query, _| query > 0);
        let query: Tensor<(Rows, Two, Product<NumHeads, HeadDim>), E, Cpu> =
            tensor((0..8 * batch.size()).map(|i| (i % 7) as f64), (batch, Two, Product::default()));
        let key: Tensor<(Rows, Six, Product<NumHeads, HeadDim>), E, Cpu> =
            tensor((0..24 * batch.size()).map(|i| (i % 5) as f64), (batch, Six, Product::default()));
        for amount in [1e39, f64::MAX, f64::INFINITY] {
            let options = AttentionOptions { mask_fill: MaskFill::Subtract(amount), ..AttentionOptions::default() };
            let attended = multi_head_attention(query.clone(), key.clone(), key.clone(), &mask, options).unwrap();
            assert!(attended.as_vec().iter().all(|x| x.to_f64().unwrap().is_finite()), "{amount}");
        }
    }
    // One sequence is computed in blocks, many are interleaved.
    for batch in [1, 16] {
        check::<f32>(batch);
        check::<f64>(batch);
    }
}

#[test]
fn the_largest_of_elements_with_a_nan_is_nan() {
    // A kernel joins the results of parts of a long axis.
    for (len, place) in [(1, 0), (20, 0), (20, 17), (3000, 5), (3000, 2900)] {
        let mut numbers: Vec<f64> = (0..3 * len).map(|x| x as f64).collect();
        numbers[3 * place + 1] = f64::NAN;
        for [rows, columns, of_rows, of_columns] in [largest::<f32>(&numbers), largest::<f64>(&numbers)] {
            assert_eq!(rows.iter().position(|x| x.is_nan()), Some(place));
            assert_eq!(rows.iter().filter(|x| x.is_nan()).count(), 1);
            assert!(columns[1].is_nan() && !columns[0].is_nan() && !columns[2].is_nan());
            let nans = |gradient: Vec<f64>| gradient.iter().filter(|x| x.is_nan()).count();
            assert_eq!((nans(of_rows), nans(of_columns)), (3, len));
        }
    }
    // A row as long.
    let mut row: Vec<f64> = (0..3000).map(f64::from).collect();
    row[2000] = f64::NAN;
    let x: Tensor<(Rows,), f32, Cpu> = tensor(row, (Rows::new(3000),));
    assert!(max_over(x, axis::<Rows>()).unwrap().array().is_nan());
}

#[test]
fn log_softmax_keeps_its_digits_beside_a_large_offset() {
    let expected = [-(1.0 + 1f64.exp()).ln(), 1.0 - (1.0 + 1f64.exp()).ln()];
    let x: Tensor<(Two,), f32, Cpu> = tensor([1e6, 1e6 + 1.0], (Two,));
    let column: Tensor<(Two, Three), f32, Cpu> = tensor([1e6, 1e6, 1e6, 1e6 + 1.0, 1e6 + 1.0, 1e6 + 1.0], (Two, Three));
    let row = log_softmax_over(x, axis::<Two>()).unwrap().as_vec();
    let columns = log_softmax_over(column, axis::<Two>()).unwrap().as_vec();
    for (found, expected) in
        [(row[0], expected[0]), (row[1], expected[1]), (columns[1], expected[0]), (columns[4], expected[1])]
    {
        assert!((f64::from(found) - expected).abs() < 1e-6, "{found} {expected}");
    }
}

#[test]
fn a_dropped_infinity_is_0() {
    fn check<E: Real>()
    where
        Cpu: Backend<E>,
    {
        let x: Tensor<(Rows,), E, Cpu> = tensor((0..100).map(|_| f64::INFINITY), (Rows::new(100),));
        let kept = dropout(x.put_tape(Recording::<(), E, Cpu>::default()), 0.5).unwrap().as_vec();
        let number = |x: &E| x.to_f64().unwrap();
        assert!(kept.iter().map(number).all(|x| x == 0.0 || x == f64::INFINITY));
        assert!(kept.iter().map(number).any(|x| x == 0.0));
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn a_mean_over_tokens_does_not_read_padding() {
    let x: Tensor<(Two, Two), f32, Cpu> = tensor([f64::NAN, f64::INFINITY, 1.0, 2.0], (Two, Two));
    let is_token: Tensor<(Two,), bool, Cpu> = Cpu::default().tensor_from_vec(vec![false, true], (Two,));
    assert_eq!(masked_mean(x, &is_token).unwrap().as_vec(), [1.0, 2.0]);
}

#[test]
fn a_token_that_the_target_rules_out_adds_nothing_to_the_divergence() {
    let padding = PaddingMask::without_padding((Rows::new(1), Rows::new(1)));
    let shape = (Rows::new(1), Rows::new(1), Three);
    for excluded in [0.5, f64::NEG_INFINITY] {
        let logits: Tensor<_, f64, Cpu> = tensor([0.0, 0.0, excluded], shape);
        let target = tensor([0.0, 0.0, f64::NEG_INFINITY], shape);
        let divergence = kl_divergence(logits, &target, &padding, Reduction::Sum).unwrap().array();
        let of_kept = 1.0 / (2.0 + excluded.exp());
        assert!((divergence - (0.5 / of_kept).ln()).abs() < 1e-12, "{divergence}");
    }
}

/// With padding between the tokens a window may have padding alone.
#[test]
fn a_query_whose_window_is_padding_attends_to_all_keys_alike() {
    fn check<E: Real>(batch: usize) -> Vec<f64>
    where
        Cpu: Backend<E>,
    {
        let is_token = [true, false, false, true, true, true].repeat(batch);
        let is_token: Tensor<(Rows, Six), bool, Cpu> =
            Cpu::default().tensor_from_vec(is_token, (Rows::new(batch), Six));
        let mask = mk_mask::<SlidingWindow<Width>, PadSourceKeys, _, _>(&PaddingMask::from(&is_token));
        let shape = (Rows::new(batch), Six, Product::<Const<1>, Const<1>>::default());
        let zeros: Tensor<_, E, Cpu> = tensor(vec![0.0; 6 * batch], shape);
        let value = tensor((0..6 * batch).map(|i| (i % 6 + 1) as f64), shape);
        let attended = multi_head_attention(zeros.clone(), zeros, value, &mask, AttentionOptions::default()).unwrap();
        attended.as_vec()[..6].iter().map(|x| x.to_f64().unwrap()).collect()
    }
    let expected = [1.0, 1.0, 3.5, 4.0, 4.5, 5.5];
    // One sequence is computed in blocks, many are interleaved.
    for found in [check::<f32>(1), check::<f32>(64), check::<f64>(1)] {
        assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-6), "{found:?}");
    }
}

#[test]
fn a_detached_copy_passes_no_gradient_on() {
    fn check<E: Real>()
    where
        Cpu: Backend<E>,
    {
        let x: Tensor<(Two,), E, Cpu> = tensor([1.0, 2.0], (Two,));
        let h = scale(x.clone().put_tape(Recording::<(), E, Cpu>::default()), 3.0).unwrap();
        let constant = detach(&h).unwrap();
        let loss = sum_over(mul(h, &constant).unwrap(), axis::<Two>()).unwrap();
        let gradient = loss.backward().unwrap().of(&x).unwrap().as_vec();
        assert_eq!(gradient.iter().map(|x| x.to_f64().unwrap()).collect::<Vec<_>>(), [9.0, 18.0]);

        // Straight through: the value of another tensor, the gradient of `x`.
        let other: Tensor<(Two,), E, Cpu> = tensor([5.0, 7.0], (Two,));
        let recorded = x.clone().put_tape(Recording::<(), E, Cpu>::default());
        let nothing = sub(recorded.clone(), &detach(&recorded).unwrap()).unwrap();
        let straight = add(nothing, &other).unwrap();
        assert_eq!(straight.as_vec(), other.as_vec());
        let mut gradients = sum_over(straight, axis::<Two>()).unwrap().backward().unwrap();
        assert_eq!(gradients.of(&x).unwrap().as_vec(), [E::one(); 2]);
    }
    check::<f32>();
    check::<f64>();
}

#[test]
fn positions_beyond_all_numbers_are_refused() {
    let x: Tensor<(Rows, HeadDim), f32, Cpu> = tensor([1.0; 6], (Rows::new(3), HeadDim));
    let error = rotary_positions(x, axis::<Rows>(), usize::MAX - 1, Rotary::default()).unwrap_err();
    let start = usize::MAX - 1;
    let expected = format!("rotary positions: a sequence of 3 from {start} on is not inside the numbers of positions");
    assert_eq!(error.to_string(), expected);
    assert!(alibi::<_, _, _, f32, _>(&Cpu::default(), NumHeads, usize::MAX, Two, Two).is_err());
    assert!(ops::sinusoidal_positions_from::<_, _, f32, _>(&Cpu::default(), usize::MAX, Two, Width).is_err());
}

#[test]
fn sizes_whose_product_is_beyond_all_numbers_are_refused() {
    let (device, shape) = (Cpu::default(), (Rows::new((1 << 61) + 1), Classes::new(8)));
    let elements = OpError::Elements {
        op: "tensor",
        dims: "(Rows=2305843009213693953, Classes=8)".into(),
        expected: usize::MAX,
        found: 8,
    };
    assert_eq!(ops::tensor(&device, vec![1.0f32; 8], shape).unwrap_err(), elements);
    assert!(matches!(Indices::new(&[0; 8], shape, Two), Err(TokenError::WrongCount { expected: usize::MAX, .. })));
    assert!(matches!(TokenIds::from_ids(&[0; 8], None::<Fin<Two>>, shape), Err(TokenError::WrongCount { .. })));
    // A row is compared with the length before it is padded to it.
    for len in [usize::MAX, 1 << 60] {
        let (row, shape) = ([Fin::<Two>::new(0).unwrap(); 8], (Copies::new(1), Rows::new(len)));
        let short = |ids| matches!(ids, Err(TokenError::WrongCount { what: "tokens", found: 8, .. }));
        assert!(short(TokenIds::from_rows(&[row], shape).map(drop)));
        assert!(short(TokenIds::windows(&row, [0], shape).map(drop)));
    }
    let x: Tensor<(Rows, Classes), f32, Cpu> = tensor([1.0; 8], (Rows::new(1), Classes::new(8)));
    assert!(matches!(reshape(x.clone(), shape), Err(OpError::Shape { .. })));
    let repeated = broadcast(x, (Copies::new(1 << 61), Rows::new(1), Classes::new(8)), axis::<Copies>());
    assert!(matches!(repeated, Err(OpError::Shape { .. })));
    // The strides of a tensor without elements are products, too; and one size may be too much memory.
    let no_rows = (Rows::new(0), Classes::new(usize::MAX), Two);
    assert!(matches!(ops::zeros::<_, f32, _>(&device, no_rows), Err(OpError::Device { op: "zeros", .. })));
    for count in [usize::MAX, usize::MAX / 8] {
        let shape = (Rows::new(count), Two);
        assert!(matches!(ops::zeros::<_, f32, _>(&device, shape), Err(OpError::Device { op: "zeros", .. })));
        assert!(matches!(ops::full::<_, f64, _>(&device, shape, 1.0), Err(OpError::Device { op: "full", .. })));
        assert!(matches!(ops::iota::<_, f32, _>(&device, shape.0), Err(OpError::Device { op: "iota", .. })));
    }
}

#[test]
fn rotary_positions_refuse_numbers_out_of_range() {
    let rotated = |rotary| {
        let x: Tensor<(Rows, HeadDim), f32, Cpu> = tensor([1.0; 6], (Rows::new(3), HeadDim));
        rotary_positions(x, axis::<Rows>(), 0, rotary)
    };
    for base in [0.0, -1.0, f64::INFINITY, f64::NAN] {
        let error = rotated(Rotary { base, ..Rotary::default() }).unwrap_err();
        let expected = format!("rotary positions: the base must be finite and above 0, but it is {base}");
        assert_eq!(error.to_string(), expected);
    }
    let scaling = RotaryScaling { factor: 0.0, low_frequency_factor: 1.0, high_frequency_factor: 4.0, original_len: 8 };
    let error = rotated(Rotary { scaling: Some(scaling), ..Rotary::default() }).unwrap_err();
    assert!(matches!(error, OpError::Setting { name: "the factor of the scaling", found: 0.0, .. }));
    for high_frequency_factor in [0.5, 1.0, f64::NAN] {
        let scaling = RotaryScaling { factor: 2.0, high_frequency_factor, ..scaling };
        let error = rotated(Rotary { scaling: Some(scaling), ..Rotary::default() }).unwrap_err();
        assert!(matches!(error, OpError::Setting { name: "the high-frequency factor", .. }), "{error}");
    }
    assert!(rotated(Rotary::halves(0.5)).is_ok());
}
