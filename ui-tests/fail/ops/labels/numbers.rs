//! Numbers become labels by a check.
//! Right with `Checked` for `Numbers` in line 10.
use typed_transformer::{prelude::*, tokens::Indices};

dims! { NumClasses = 3; Batch; }

type Numbers = [usize];
type Checked = Indices<(Batch,), NumClasses>;

fn loss(logits: Tensor<(Batch, NumClasses), f32, Cpu>, labels: &Numbers) {
    let _loss = cross_entropy(logits, labels, Reduction::MeanAll);
}

fn main() {}
