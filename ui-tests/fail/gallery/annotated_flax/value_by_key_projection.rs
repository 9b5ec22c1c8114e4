//! Keys and values have projections of their own.
//! Right with `value_proj` for `key_proj` in line 16.
//!
//! *Annotated transformer (Flax)* makes its layers by `[nn.Dense(self.d_model)] * 3`: one layer, three times,
//! for query, key and value.
use typed_transformer::{nn::{AttentionProjection, Projection}, prelude::*};

dims! { EmbedDim = 8; KeyWidth = 6; ValueWidth = 6; SeqLen; Batch; }

fn project<A: Arch>(
    key_proj: &Projection<EmbedDim, KeyWidth, AttentionProjection<A>, f32, Cpu>,
    value_proj: &Projection<EmbedDim, ValueWidth, AttentionProjection<A>, f32, Cpu>,
    input: Tensor<(Batch, SeqLen, EmbedDim), f32, Cpu>,
) {
    let _ = (key_proj, value_proj);
    let _value: Tensor<(Batch, SeqLen, ValueWidth), f32, Cpu> = key_proj.forward(input).unwrap();
}

fn main() {}
