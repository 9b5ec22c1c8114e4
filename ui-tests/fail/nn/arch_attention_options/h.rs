//! The options of an attention are those of its own heads.
//! Covers `H` of `nn::Arch::attention_options`.
//! Right with `NumHeads` for `HeadDim` in line 11.
//! Mutants cover `Q` by `QLen`, `K` by `KLen` of `nn::Arch::attention_options`.
use typed_transformer::prelude::*;

dims! { QLen = 3; KLen = 5; NumHeads = 4; HeadDim = 2; Batch = 2; }

type Heads<Len> = Tensor<(Batch, NumHeads, Len, HeadDim), f32, Cpu>;
type Mask = AttentionMask<Batch, QLen, KLen>;
type Options = AttentionOptions<HeadDim, QLen, KLen, f32, Cpu>;

fn attend<A: Arch>(query: Heads<QLen>, key: Heads<KLen>, mask: &Mask) -> Result<Heads<QLen>, OpError> {
    let options: Options = A::attention_options();
    attention(query, key.clone(), key, mask, options)
}

fn main() {}
