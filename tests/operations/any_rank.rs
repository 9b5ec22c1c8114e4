//! Norms, cross-entropy and indices at every rank: results against plain loops, gradients against finite differences, and
//! the kernels against the definitions.

use crate::finite_differences::{check, check_parameter, random, weighted_sum};
use crate::numbers::{F64, assert_close, device, double, random_like, single, softmax};
use crate::recorded::Recorded;
use dfdx::shapes::Shape;
use dfdx::tensor::{AsArray, AutoDevice};
use proptest::prelude::*;
use typed_transformer::dims::{DataShape, EndsIn};
use typed_transformer::nn::{LayerNorm, Linear};
use typed_transformer::ops::{cross_entropy, cross_entropy_with_label_smoothing, gather, rms_norm, select};
use typed_transformer::prelude::*;
use typed_transformer::tokens::Indices;

// Every compile-time dimension has its own size, so that confusing two of them fails.
dims! { Rows = 2; Columns = 3; Height = 4; Width = 5; EmbedDim = 6; NumClasses = 7; Batch; Len; Kept; }

fn norms<Dims: Shape + Default + EndsIn<EmbedDim, Before: DataShape>>() {
    let (x, weight, bias) = (random::<Dims>(1), random::<(EmbedDim,)>(2), random::<(EmbedDim,)>(3));
    let (w, b) = (weight.as_vec(), bias.as_vec());
    let rows = x.as_vec();
    let of_rows = |row: &[f64], mean: f64, bias: &[f64]| -> Vec<f64> {
        let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 6.0;
        (0..6).map(|m| (row[m] - mean) / (variance + 1e-3).sqrt() * w[m] + bias[m]).collect()
    };
    let mean = |row: &[f64]| row.iter().sum::<f64>() / 6.0;
    let layer: Vec<f64> = rows.chunks(6).flat_map(|row| of_rows(row, mean(row), &b)).collect();
    let rms: Vec<f64> = rows.chunks(6).flat_map(|row| of_rows(row, 0.0, &[0.0; 6])).collect();
    assert_close(&layer_norm(x.clone(), &weight, Some(&bias), 1e-3).unwrap().as_vec(), &layer, 1e-12);
    assert_close(&rms_norm(x.clone(), &weight, 1e-3).unwrap().as_vec(), &rms, 1e-12);
    let (x32, w32, b32) = (single(&x), single(&weight), single(&bias));
    assert_close(&double(&layer_norm(x32.clone(), &w32, Some(&b32), 1e-3).unwrap()), &layer, 1e-5);
    assert_close(&double(&rms_norm(x32, &w32, 1e-3).unwrap()), &rms, 1e-5);

    check(x.clone(), |x| weighted_sum(layer_norm(x, &weight, Some(&bias), 1e-3).unwrap()));
    check(x.clone(), |x| weighted_sum(rms_norm(x, &weight, 1e-3).unwrap()));
    let mut gradients = weighted_sum(layer_norm(x.recorded(), &weight, Some(&bias), 1e-3).unwrap()).backward().unwrap();
    check_parameter(&weight, &mut gradients, |w| {
        weighted_sum(layer_norm(x.recorded(), w, Some(&bias), 1e-3).unwrap()).array()
    });
    check_parameter(&bias, &mut gradients, |b| {
        weighted_sum(layer_norm(x.recorded(), &weight, Some(b), 1e-3).unwrap()).array()
    });
}

#[test]
fn norms_are_of_the_last_axis() {
    norms::<(EmbedDim,)>();
    norms::<(Rows, EmbedDim)>();
    norms::<(Rows, Columns, EmbedDim)>();
    norms::<(Rows, Columns, Height, EmbedDim)>();
    norms::<(Rows, Columns, Const<1>, Height, EmbedDim)>();
    norms::<(Rows, Const<1>, Columns, Const<2>, Const<1>, EmbedDim)>();
    // A module has any rank, too.
    let norm = LayerNorm::<EmbedDim, f64, AutoDevice>::build(&device());
    let x = random_like(4, (Batch::new(3), EmbedDim));
    let rows: F64<(Batch, EmbedDim)> = norm.forward(x.clone(), 1e-5).unwrap();
    let one: F64<(EmbedDim,)> = norm.forward(select(x, axis::<Batch>(), 2).unwrap(), 1e-5).unwrap();
    assert_close(&rows.as_vec()[12..], &one.as_vec(), 1e-12);
}

/// Labels that differ, as many as there are positions.
fn labels<Positions: Shape>(shape: Positions) -> Indices<Positions, NumClasses> {
    let ids: Vec<usize> = (0..shape.num_elements()).map(|i| (i * 5 + 3) % 7).collect();
    Indices::new(&ids, shape, NumClasses).unwrap()
}

macro_rules! check_loss {
    ($($axis:ty),*) => {{
        let labels = labels(<($($axis,)*)>::default());
        let logits = random::<($($axis,)* NumClasses,)>(5);
        let rows = logits.as_vec();
        let losses = rows.chunks(7).zip(labels.as_slice()).map(|(row, &label)| -softmax(row)[label].ln());
        let expected = losses.sum::<f64>() / labels.as_slice().len() as f64;
        for reduction in [Reduction::MeanAll, Reduction::MeanPerSequence] {
            let loss = cross_entropy(logits.clone(), &labels, reduction).unwrap().array();
            assert!((loss - expected).abs() < 1e-12, "{loss}, expected {expected}");
            let loss = cross_entropy(single(&logits), &labels, reduction).unwrap().array();
            assert!((f64::from(loss) - expected).abs() < 1e-5, "{loss}, expected {expected}");
            check(logits.clone(), |x| cross_entropy(x, &labels, reduction).unwrap());
            check(logits.clone(), |x| cross_entropy_with_label_smoothing(x, &labels, reduction, 0.2).unwrap());
        }
    }};
}

#[test]
fn a_loss_is_the_mean_over_positions() {
    check_loss!();
    check_loss!(Height);
    check_loss!(Rows, Height);
    check_loss!(Rows, Columns, Height);
    check_loss!(Rows, Const<1>, Columns, Const<2>);
    check_loss!(Const<1>, Rows, Const<2>, Columns, Const<1>);
}

#[test]
fn labels_of_tokens_may_be_padding_and_indices_may_not() {
    let ids = [3, 6, 6, 1, 0, 6];
    let (shape, logits) = ((Rows, Columns), random::<(Rows, Columns, NumClasses)>(7));
    let padded = LabelIds::<_, _, NumClasses>::from_ids(&ids, Some(Fin::literal::<6>()), shape).unwrap();
    let indices = padded.indices();
    let loss = |labels: &Indices<_, _>, reduction| cross_entropy(logits.clone(), labels, reduction).unwrap().array();
    let mean = loss(indices, Reduction::MeanAll);
    assert!((loss(indices, Reduction::MeanPerSequence) - mean).abs() < 1e-12);
    assert_eq!(cross_entropy(logits.clone(), &padded, Reduction::MeanAll).unwrap().array(), mean);
    let per_sequence = cross_entropy(logits.clone(), &padded, Reduction::MeanPerSequence).unwrap().array();
    assert!((per_sequence - mean).abs() > 1e-3);
    // A reference to labels is as good as the labels.
    assert_eq!(cross_entropy(logits, &&padded, Reduction::MeanPerSequence).unwrap().array(), per_sequence);
}

/// A head and its loss, in a function that is generic in the classes and the batch.
fn classify<B: Dim, M: ConstDim, C: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    x: Tensor<(B, M), E, D, T>,
    head: &Linear<M, C, E, D>,
    labels: &Indices<(B,), C>,
) -> Tensor<(), E, D, T> {
    cross_entropy(head.forward(x).unwrap(), labels, Reduction::MeanAll).unwrap()
}

#[test]
fn generic_code_has_a_loss() {
    let head = Linear::<EmbedDim, NumClasses, f64, AutoDevice>::build(&AutoDevice::seed_from_u64(0));
    let x = random_like(8, (Batch::new(4), EmbedDim));
    let labels = labels((Batch::new(4),));
    let expected = head.forward(x.clone()).unwrap().as_vec();
    let losses = expected.chunks(7).zip(labels.as_slice()).map(|(row, &label)| -softmax(row)[label].ln());
    assert!((classify(x, &head, &labels).array() - losses.sum::<f64>() / 4.0).abs() < 1e-12);
}

#[test]
fn run_time_sizes_of_labels_are_compared() {
    let labels = labels((Batch::new(2), Len::new(3)));
    let error = |batch, len| {
        let logits = random_like(1, (Batch::new(batch), Len::new(len), NumClasses));
        cross_entropy(logits, &labels, Reduction::MeanAll).map(|loss| loss.array())
    };
    assert!(error(2, 3).is_ok());
    let text = |batch, len| error(batch, len).unwrap_err().to_string();
    assert_eq!(text(4, 3), "cross-entropy: `Batch` is 4 in the logits and 2 in the labels");
    assert_eq!(text(2, 1), "cross-entropy: `Len` is 1 in the logits and 3 in the labels");
}

proptest! {
    #[test]
    fn gather_takes_other_places_of_each_row(seed in 0u64..100, batch in 1usize..4, len in 1usize..5, kept in 1usize..4) {
        let shape = (Batch::new(batch), Len::new(len), EmbedDim);
        let x = random_like(seed, shape);
        let ids: Vec<usize> = (0..batch * kept).map(|i| (i * 7 + seed as usize) % len).collect();
        let kept_axis = Kept::new(kept);
        let places = Indices::new(&ids, (shape.0, kept_axis), shape.1).unwrap();
        let found: F64<(Batch, Kept, EmbedDim)> = gather(x.clone(), axis::<Len>(), &places).unwrap();
        let elements = x.as_vec();
        let row = |(i, &id): (usize, &usize)| elements[(i / kept * len + id) * 6..][..6].to_vec();
        let expected: Vec<f64> = ids.iter().enumerate().flat_map(row).collect();
        prop_assert_eq!(found.as_vec(), expected);

        // With the index of each element written out, it is the same.
        let each: Vec<usize> = ids.iter().flat_map(|&id| [id; 6]).collect();
        let each = Indices::new(&each, (shape.0, kept_axis, EmbedDim), shape.1).unwrap();
        prop_assert_eq!(gather(x.clone(), axis::<Len>(), &each).unwrap().as_vec(), found.as_vec());

        let other = Indices::new(&vec![0; (batch + 1) * kept], (Batch::new(batch + 1), kept_axis), shape.1).unwrap();
        prop_assert!(gather(x.clone(), axis::<Len>(), &other).is_err());
        let longer = Indices::new(&ids, (shape.0, kept_axis), Len::new(len + 1)).unwrap();
        let error = gather(x, axis::<Len>(), &longer).unwrap_err().to_string();
        prop_assert_eq!(error, format!("gather: `Len` is {len} in the input and {} in the indices", len + 1));
    }
}

#[test]
fn gradients_of_gathered_rows() {
    let ids: Vec<usize> = (0..6).map(|i| i * i % 4).collect();
    let places = Indices::new(&ids, (Rows, Columns), Height).unwrap();
    check(random::<(Rows, Height, EmbedDim)>(9), |x| weighted_sum(gather(x, axis::<Height>(), &places).unwrap()));
    check(random::<(Rows, Height, Width, Const<2>)>(10), |x| {
        weighted_sum(gather(x, axis::<Height>(), &places).unwrap())
    });
}
