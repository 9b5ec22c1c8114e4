//! An operation that has a kernel compares the run-time sizes before the kernel reads its operands.

use crate::numbers::device;
use dfdx::tensor::{AutoDevice, Tensor, ZerosTensor};
use typed_transformer::ops::{
    OpError, add_positions, cross_entropy_with_label_smoothing, multi_head_attention, residual,
};
use typed_transformer::prelude::*;
use typed_transformer::tokens::Indices;

dims! { InDim = 3; OutDim = 4; NumHeads = 2; HeadDim = 2; Batch; Len; KLen; Wide; }

fn zeros<Dims: Shape>(shape: Dims) -> Tensor<Dims, f32, AutoDevice> {
    device().zeros_like(&shape)
}

/// The text of the error.
fn refused<Output>(result: Result<Output, OpError>) -> String {
    result.err().unwrap().to_string()
}

#[test]
fn elementwise_kernels() {
    assert_eq!(
        refused(residual(zeros((Len::new(3),)), zeros((Len::new(5),)))),
        "residual: `Len` is 3 in the sublayer's input and 5 in its output",
    );
    let x = zeros((Batch::new(2), Len::new(3), InDim));
    for len in [2, 4] {
        refused(add_positions(x.clone(), zeros((Len::new(len), InDim))));
    }
    assert!(add_positions(x, zeros((Len::new(3), InDim))).is_ok());
}

#[test]
fn contraction_kernels() {
    let product = |len, wide| {
        let (left, right) =
            (zeros((Batch::new(2), Wide::new(3), Len::new(5))), zeros((Len::new(len), Wide::new(wide))));
        einsum!(&left: (Batch, Wide, Len), &right: (Len, Wide) -> (Batch, Wide))
    };
    assert!(product(5, 3).is_ok());
    for (len, wide) in [(4, 3), (6, 3), (5, 2), (5, 4)] {
        refused(product(len, wide));
    }
}

#[test]
fn attention_kernels() {
    let heads = |batch, len| zeros((Batch::new(batch), KLen::new(len), Product::<NumHeads, HeadDim>::default()));
    let query = zeros((Batch::new(2), Len::new(3), Product::<NumHeads, HeadDim>::default()));
    let mask = mk_cross_mask::<PadSourceKeys, _, _, _>(
        &PaddingMask::without_padding((Batch::new(2), Len::new(3))),
        &PaddingMask::without_padding((Batch::new(2), KLen::new(4))),
    )
    .unwrap();
    let attend = |batch, keys, values, bias: [usize; 2]| {
        let bias = zeros((NumHeads, Len::new(bias[0]), KLen::new(bias[1])));
        let (key, value) = (heads(batch, keys), heads(2, values));
        multi_head_attention(
            query.clone(),
            key,
            value,
            &mask,
            AttentionOptions { bias: Some(bias), ..AttentionOptions::default() },
        )
    };
    assert!(attend(2, 4, 4, [3, 4]).is_ok());
    for (batch, keys, values, bias) in
        [(3, 4, 4, [3, 4]), (2, 5, 5, [3, 5]), (2, 4, 3, [3, 4]), (2, 4, 4, [2, 4]), (2, 4, 4, [3, 5])]
    {
        refused(attend(batch, keys, values, bias));
    }
}

#[test]
fn cross_entropy_kernels() {
    let labels = Indices::new(&[0, 2], (Batch::new(2),), Wide::new(3)).unwrap();
    let loss = |rows, classes| {
        let logits = zeros((Batch::new(rows), Wide::new(classes)));
        cross_entropy_with_label_smoothing(logits, &labels, Reduction::MeanAll, 0.1)
    };
    assert!(loss(2, 3).is_ok());
    for (rows, classes) in [(3, 3), (1, 3), (2, 4), (2, 2)] {
        refused(loss(rows, classes));
    }
}
