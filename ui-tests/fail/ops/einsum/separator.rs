//! A comma stands between operands.
//! Right with `,` for `;` in line 11.
use typed_transformer::prelude::*;

dims! { QLen = 2; KLen = 3; HeadDim = 8; }

fn scores(
    q: Tensor<(QLen, HeadDim), f32, Cpu>,
    k: Tensor<(KLen, HeadDim), f32, Cpu>,
) -> Tensor<(QLen, KLen), f32, Cpu> {
    einsum!(q: (QLen, HeadDim); k: (KLen, HeadDim) -> (QLen, KLen)).unwrap()
}

fn main() {}
