//! A quotient in a product has parts that divide the whole.
//! Right with `Patch` for `Odd` in line 7.
use typed_transformer::prelude::*;

dims! { Channels = 3; Width = 12; Patch = 4; Odd = 5; }

type Columns = Product<Channels, Quotient<Width, Odd>>;

struct Small;
impl Arch for Small {
    type NumHeads = Channels;
    type QKDim = Patch;
    type VODim = Patch;
    type HiddenDim = Columns;
    type Conventions = TypedTransformer;
}

fn main() {}
