//! A model is not read from a file as one and used as another.
use typed_transformer::{io, nn::Linear, prelude::*};

dims! { EmbedDim = 8; Letters = 28; Sounds = 28; }

fn open(device: &Cpu) -> Result<Linear<EmbedDim, Letters, f32, Cpu>, io::LoadError> {
    io::load::<Linear<EmbedDim, Letters, f32, Cpu>, _, _>("letters.safetensors", device)
}

fn main() {}
