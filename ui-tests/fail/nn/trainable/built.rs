//! A model is built in full precision, and its copy stores fewer bits.
//! Right with `FullPrecision` for `Q8` in line 10.
use typed_transformer::{nn::{FullPrecision, Linear, Q8}, prelude::*};

dims! { EmbedDim = 32; Letters = 28; }

type Head<P> = Linear<EmbedDim, Letters, f32, Cpu, P>;
type Trained = Head<FullPrecision>;

fn head() -> Head<Q8> {
    Head::build(&Cpu::default())
}

fn main() {}
