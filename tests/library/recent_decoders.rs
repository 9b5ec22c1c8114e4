//! Qwen3 and Gemma 3 compute what HuggingFace's `transformers` computes, as the models of `hugging_face.rs` do.

use crate::hugging_face::{Batch, compare_both, compare_writer, ids, load, reference};
use crate::small_models::{NumLayers, VocabSize};
use typed_transformer::models::gemma3::{Gemma3, Gemma3Config};
use typed_transformer::models::llama::LlamaConfig;
use typed_transformer::models::qwen3::Qwen3;
use typed_transformer::ops::Rotary;
use typed_transformer::prelude::*;
use typed_transformer::weights::SafetensorsDtype;

compare_both!(qwen3_agrees, gemma3_agrees);

fn qwen3_agrees<E: SafetensorsDtype>()
where
    Cpu: Backend<E>,
{
    let reference = reference("qwen3");
    let model: Qwen3<small_qwen3::Config, E, Cpu> = load("qwen3");
    let inputs = reference.ids("input.ids");
    let read = ids(&inputs, (Batch::new(3), small_qwen3::SeqLen::new(13).unwrap()));
    compare_writer(&model, model.forward(&read, model.recording()).unwrap(), &inputs, &reference);
}

pub mod small_qwen3 {
    use super::*;

    dims! {
        pub EmbedDim = 36; pub NumHeads = 6; pub NumKeyValueHeads = 2; pub HeadDim = 8; pub HiddenDim = 52;
        pub MaxSeqLen = 40; pub SeqLen <= MaxSeqLen;
    }

    pub struct Config;
    impl LlamaConfig for Config {
        type VocabSize = VocabSize;
        type MaxSeqLen = MaxSeqLen;
        type EmbedDim = EmbedDim;
        type HiddenDim = HiddenDim;
        type NumLayers = NumLayers;
        type NumHeads = NumHeads;
        type NumKeyValueHeads = NumKeyValueHeads;
        type HeadDim = HeadDim;
        const NORM_EPSILON: f64 = 1e-6;
        const ROTARY: Rotary = Rotary::halves(1_000_000.0);
        const TIED_LOGITS: bool = true;
        const HEAD_NORMS: bool = true;
    }
}

fn gemma3_agrees<E: SafetensorsDtype>()
where
    Cpu: Backend<E>,
{
    let reference = reference("gemma3");
    let model: Gemma3<small_gemma3::Config, E, Cpu> = load("gemma3");
    let inputs = reference.ids("input.ids");
    let read = ids(&inputs, (Batch::new(2), small_gemma3::SeqLen::new(11).unwrap()));
    compare_writer(&model, model.forward(&read, model.recording()).unwrap(), &inputs, &reference);
}

pub mod small_gemma3 {
    use super::*;

    dims! {
        pub NumMixedLayers = 4; pub EmbedDim = 36; pub NumHeads = 4; pub NumKeyValueHeads = 2; pub HeadDim = 6;
        pub HiddenDim = 28; pub WindowLen = 5; pub MaxSeqLen = 40; pub SeqLen <= MaxSeqLen;
    }

    pub struct Config;
    impl Gemma3Config for Config {
        type VocabSize = VocabSize;
        type MaxSeqLen = MaxSeqLen;
        type EmbedDim = EmbedDim;
        type HiddenDim = HiddenDim;
        type NumLayers = NumMixedLayers;
        type NumHeads = NumHeads;
        type NumKeyValueHeads = NumKeyValueHeads;
        type HeadDim = HeadDim;
        type WindowLen = WindowLen;
        const LAYERS_PER_GLOBAL: usize = 3;
        const NORM_EPSILON: f64 = 1e-6;
        const QUERY_SIZE: f64 = 10.0;
    }
}

/// Local layers keep fewer than two windows of positions, so a long text takes little more memory than a short one.
#[test]
fn local_layers_of_gemma3_keep_their_window() {
    use small_gemma3::WindowLen;
    use typed_transformer::nn::Autoregressive;
    let model: Gemma3<small_gemma3::Config, f32, Cpu> = load("gemma3");
    let mut cache = model.cache(Batch::new(1)).unwrap();
    for id in 0..30 {
        model.next_logits(&ids(&[id], (Batch::new(1), Const::<1>)), &mut cache).unwrap();
    }
    let held: Vec<usize> = cache.layers.iter().map(|layer| layer.keys().shape().1.size()).collect();
    assert!(held[0] <= 2 * WindowLen::SIZE, "{held:?}");
    assert!(held[2] >= 30, "{held:?}");
    assert_eq!((cache.len(), cache.layers[0].len()), (30, 30));
}
