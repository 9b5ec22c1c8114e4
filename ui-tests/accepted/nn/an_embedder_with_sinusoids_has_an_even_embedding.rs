//! A style with sinusoidal positions is for embeddings of even width.
use typed_transformer::{models::another_annotated::Annotated, nn::Embeds, prelude::*};

dims! { VocabSize = 28; MaxSeqLen = 16; EmbedDim = 8; NumHeads = 4; HeadDim = 2; }

struct Model;

impl Arch for Model {
    type NumHeads = NumHeads;
    type QKDim = HeadDim;
    type VODim = HeadDim;
    type HiddenDim = VocabSize;
    type Style = Annotated;
}

fn build<A: Embeds<EmbedDim>>(device: &Cpu) {
    Embedder::<VocabSize, MaxSeqLen, EmbedDim, A, f32, Cpu>::build(device);
}

fn main() {
    let _build = build::<Model>;
}
