//! A batch of logits has a row for each text.
//! Covers `B` of `generate::Sampler::choose_each`.
//! Right with `Rows` for `Columns` in line 12.
use typed_transformer::{generate::Sampler, prelude::*};

dims! { Letters = 28; Batch = 2; }

type Columns = Tensor<(Letters, Batch), f32, Cpu>;
type Rows = Tensor<(Batch, Letters), f32, Cpu>;

/// The next letter of each text.
fn choose(sampler: &mut Sampler<Letters>, logits: &Columns) -> Result<Vec<Fin<Letters>>, OpError> {
    sampler.choose_each(logits)
}

fn main() {}
