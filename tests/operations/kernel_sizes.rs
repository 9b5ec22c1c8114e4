//! A kernel that is called directly, with run-time sizes that differ, returns an error and does not panic.

use dfdx::tensor::{Cpu, Tensor, ZerosTensor};
use typed_transformer::{
    backend::{Backend, ContractionAxis, LinearParams},
    ops::{AttentionScale, MaskFill, OpError},
    prelude::*,
    tokens::Indices,
};

dims! { InDim = 3; OutDim = 4; NumHeads = 2; HeadDim = 2; Batch; Len; KLen; Wide; }

fn zeros<Dims: Shape>(shape: Dims) -> Tensor<Dims, f32, Cpu> {
    Cpu::default().zeros_like(&shape)
}

/// The text of the error.
fn refused<Output>(result: Result<Output, OpError>) -> String {
    result.err().unwrap().to_string()
}

#[test]
fn elementwise_kernels() {
    assert_eq!(
        refused(Cpu::residual_kernel(zeros((Len::new(3),)), zeros((Len::new(5),)))),
        "residual: shape (Len=3,) is not compatible with (Len=5,)",
    );
    let x = zeros((Batch::new(2), Len::new(3), InDim));
    for len in [2, 4] {
        refused(Cpu::add_positions_kernel(x.clone(), zeros((Len::new(len), InDim))));
    }
    assert!(Cpu::add_positions_kernel(x, zeros((Len::new(3), InDim))).is_ok());
}

#[test]
fn linear_kernels() {
    let x = zeros((Batch::new(2), Wide::new(5)));
    let output = (Batch::new(2), OutDim);
    for (width, rows, fits) in [(5, 2, true), (7, 2, false), (5, 3, false)] {
        let weight = zeros((OutDim, Wide::new(width)));
        let params = LinearParams { weight: &weight, bias: None };
        assert_eq!(Cpu::linear_kernel(x.clone(), params, (Batch::new(rows), OutDim)).is_ok(), fits, "{width} {rows}");
    }
    let (weight, bias) = (zeros((Len::new(4), Wide::new(5))), zeros((Len::new(3),)));
    refused(Cpu::linear_kernel(x, LinearParams { weight: &weight, bias: Some(&bias) }, output));
}

#[test]
fn contraction_kernels() {
    let (left, right) = (zeros([2, 3, 1, 1, 1, 1]), zeros([3, 4, 1, 1, 1, 1]));
    let axis =
        |size, left, right| ContractionAxis { size, left, right, is_in_output: left.is_none() || right.is_none() };
    let [rows, inner, columns] = [axis(2, Some(0), None), axis(3, Some(1), Some(0)), axis(4, None, Some(1))];
    assert!(Cpu::contraction_kernel(&left, &right, &[rows, inner, columns], NoneTape).is_ok());
    for axes in [
        &[rows, inner][..],
        &[rows, columns],
        &[rows, inner, axis(5, None, Some(1))],
        &[axis(1, Some(0), None), inner, columns],
        &[rows, axis(3, Some(1), Some(1)), columns],
        &[rows, inner, columns, axis(1, Some(6), None)],
        &[rows, rows, inner, columns],
    ] {
        refused(Cpu::contraction_kernel(&left, &right, axes, NoneTape));
    }
}

#[test]
fn attention_kernels() {
    let heads = |len: usize| zeros((Batch::new(2), KLen::new(len), Product::<NumHeads, HeadDim>::default()));
    let query = zeros((Batch::new(2), Len::new(3), Product::<NumHeads, HeadDim>::default()));
    let mask = mk_cross_mask::<PadSourceKeys, _, _, _>(
        &PaddingMask::without_padding((Batch::new(2), Len::new(3))),
        &PaddingMask::without_padding((Batch::new(2), KLen::new(4))),
    )
    .unwrap();
    let attend = |keys, values, bias: [usize; 2]| {
        let bias = Some(zeros((NumHeads, Len::new(bias[0]), KLen::new(bias[1]))));
        let (scale, fill) = (AttentionScale::HeadDim, MaskFill::MinValue);
        Cpu::multi_head_attention_kernel(query.clone(), heads(keys), heads(values), bias, &mask, scale, fill)
    };
    assert!(attend(4, 4, [3, 4]).is_ok());
    for (keys, values, bias) in [(5, 5, [3, 5]), (4, 3, [3, 4]), (4, 4, [2, 4]), (4, 4, [3, 5])] {
        refused(attend(keys, values, bias));
    }
}

#[test]
fn cross_entropy_kernels() {
    let labels = Indices::new(&[0, 2], (Batch::new(2),), Wide::new(3)).unwrap();
    let loss = |rows, classes, weights: &[f32]| {
        Cpu::cross_entropy_kernel(zeros((Batch::new(rows), Wide::new(classes))), &labels, weights, 0.0)
    };
    assert!(loss(2, 3, &[0.5; 2]).is_ok());
    for (rows, classes, weights) in [(3, 3, 2), (2, 4, 2), (2, 3, 1)] {
        refused(loss(rows, classes, &vec![0.5; weights]));
    }
}
