//! Weights loaded as one model are not used as another.
//! Right with `Letters` for `Sounds` in line 30.
use std::marker::PhantomData;
use typed_transformer::{weights, prelude::*};

dims! { Letters = 28; Sounds = 28; Size = 8; }

struct Model<VocabSize>(PhantomData<VocabSize>);

impl<VocabSize: ConstDim> Arch for Model<VocabSize> {
    type NumHeads = Size;
    type QKDim = Size;
    type VODim = Size;
    type HiddenDim = Size;
    type Conventions = TypedTransformer;
}

impl<VocabSize: ConstDim> Seq2Seq for Model<VocabSize> {
    type SrcVocab = VocabSize;
    type TgtVocab = VocabSize;
    type MaxSrcLen = Size;
    type MaxTgtLen = Size;
    type EmbedDim = Size;
    type NumEncoderLayers = Size;
    type NumDecoderLayers = Size;
}

fn open(device: &Cpu) -> Result<(), weights::LoadError> {
    let _model: LM<Model<Letters>, f32, Cpu> =
        weights::load::<LM<Model<Sounds>, f32, Cpu>, _, _>("letters.safetensors", device)?;
    Ok(())
}

fn main() {}
