//! A function of the step is no schedule before it has a text.
//! Covers `Self` of `train::Schedule`.
//! Right with `schedule` for `rate` in line 11.
use typed_transformer::{nn::Linear, train::*, prelude::*};

dims! { EmbedDim = 8; Letters = 28; }

fn main() {
    let rate = |step: usize| 0.1 / (1 + step) as f64;
    let schedule = FnSchedule::new("0.1 / (1 + step)", rate);
    let _trainer = Trainer::new(Adam::<Linear<EmbedDim, Letters, f32, Cpu>, f32>::default(), rate, 100, 0);
    let _ = schedule;
}
