//! The heads of the queries are a multiple of those of the keys.
//! Right with `6` for `7` in line 6.
use typed_transformer::prelude::*;

dims! { KeyValueHeads = 2; HeadDim = 4; HiddenDim = 32; }
dims! { NumHeads = 7; }

struct Model;
impl Arch for Model {
    type NumHeads = Product<KeyValueHeads, Quotient<NumHeads, KeyValueHeads>>;
    type QKDim = HeadDim;
    type VODim = HeadDim;
    type HiddenDim = HiddenDim;
    type Conventions = TypedTransformer;
}

fn main() {}
