//! An embedder with sinusoidal positions has an even width.
//! Right with `8` for `7` in line 5.
use typed_transformer::{models::another_annotated::Annotated, prelude::*};

dims! { VocabSize = 28; MaxSeqLen = 16; EmbedDim = 7; NumHeads = 4; HeadDim = 2; }

struct Model;

impl Arch for Model {
    type NumHeads = NumHeads;
    type QKDim = HeadDim;
    type VODim = HeadDim;
    type HiddenDim = VocabSize;
    type Conventions = Annotated;
}

struct Reader {
    _embedder: Embedder<VocabSize, MaxSeqLen, EmbedDim, Model, f32, Cpu>,
}

fn main() {}
