//! A mask of scores has a query for each of its keys; padding has none.
//! Right with `mask` for `padding` in line 11.
use typed_transformer::{ops::where_, prelude::*};

dims! { TgtLen = 3; SrcLen = 5; NumHeads = 2; Batch; }

type Scores = Tensor<(Batch, NumHeads, TgtLen, SrcLen), f32, Cpu>;

fn hide(scores: Scores, padding: &PaddingMask<Batch, SrcLen>, mask: &AttentionMask<Batch, TgtLen, SrcLen>) {
    let _ = (padding, mask);
    let _hidden = where_(padding, scores, f64::from(f32::MIN)).unwrap();
}

fn main() {}
