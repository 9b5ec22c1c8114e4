//! The model: every dimension of it is a line here.

use typed_transformer::{models::nano_gpt::NanoGpt, nn::Module, prelude::*};

dims! {
    /// The most characters that a text may use.
    pub VocabSize = 256;
    /// The longest piece of text that the model sees (nanoGPT's `block_size`).
    pub Block = 64;
    /// Width of an embedding.
    pub EmbedDim = 128;
    /// Heads of every attention.
    pub NumHeads = 4;
    /// Number of layers.
    pub NumLayers = 4;
    /// CharTokenizer that the model sees now.
    pub SeqLen <= Block;
    /// Pieces of text in a batch.
    pub Batch;
}

/// nanoGPT's configuration for a CPU.
pub struct CharModel;

impl Arch for CharModel {
    type NumHeads = NumHeads;
    type QKDim = Quotient<EmbedDim, NumHeads>;
    type VODim = Quotient<EmbedDim, NumHeads>;
    type HiddenDim = Product<Const<4>, EmbedDim>;
    type Conventions = NanoGpt;
}

impl SingleStack for CharModel {
    type VocabSize = VocabSize;
    type MaxSeqLen = Block;
    type EmbedDim = EmbedDim;
    type NumLayers = NumLayers;
}

pub type Model<D> = DecoderOnly<CharModel, f32, D>;

// 804,096 with the 65 characters of nanoGPT's text.
const _: () = assert!(Model::<Cpu>::NUM_PARAMS == 804_096 + (VocabSize::SIZE - 65) * EmbedDim::SIZE);

/// A new model; as in nanoGPT, what is added to the residual begins smaller, by the root of how many
/// such maps there are.
pub fn new<D: Backend<f32>>(device: &D) -> Result<Model<D>, D::Err> {
    let mut model = Model::try_build(device)?;
    let factor = 1.0 / (2.0 * NumLayers::SIZE as f32).sqrt();
    for block in &mut model.decoder.layers {
        let of_attention = &mut block.self_attention.attention.output_proj.weight;
        *of_attention = of_attention.clone() * factor;
        let of_feed_forward = &mut block.feed_forward.output.weight;
        *of_feed_forward = of_feed_forward.clone() * factor;
    }
    Ok(model)
}
