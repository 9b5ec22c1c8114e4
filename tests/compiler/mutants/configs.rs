//! A published model has the dimensions of its configuration: those of its weights, those that the numbers of its
//! heads and patches divide, and those that are known at compile time.

use typed_transformer::models::bert::{Bert, BertConfig};
use typed_transformer::models::clip::{Clip, ClipConfig};
use typed_transformer::models::gemma3::{Gemma3, Gemma3Config};
use typed_transformer::models::gpt2::{Gpt2, Gpt2Config};
use typed_transformer::models::llama::{Llama, LlamaConfig};
use typed_transformer::models::mixtral::{Mixtral, MixtralConfig};
use typed_transformer::models::modern_bert::{ModernBert, ModernBertConfig};
use typed_transformer::models::t5::{T5, T5Config};
use typed_transformer::models::vit::{Vit, VitConfig};
use typed_transformer::models::whisper::{Features, Whisper, WhisperConfig};
use typed_transformer::nn::{LatentArch, LatentAttention};
use typed_transformer::ops::Rotary;
use typed_transformer::prelude::*;

dims! {
    VocabSize = 28; TokenTypes = 5; MaxSeqLen = 16; EmbedDim = 24; HiddenDim = 96; NumLayers = 7; NumHeads = 6; KeyHeads = 2;
    HeadDim = 4; NumBuckets = 32; NumExperts = 10; ExpertsPerToken = 10; Channels = 9; Height = 40; Width = 66;
    PatchHeight = 8; PatchWidth = 11;
    Len;
}

struct Small;
impl BertConfig for Small {
    type VocabSize = VocabSize;
    type TokenTypes = TokenTypes;
    type MaxSeqLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type NumHeads = NumHeads;
    type HiddenDim = HiddenDim;
    type NumLayers = NumLayers; // or another size
    const NORM_EPSILON: f64 = 1e-12;
}
type Columns = Product<NumHeads, Quotient<EmbedDim, NumHeads>>;
fn bert(model: &Bert<Small>) {
    let _token: &Tensor<(VocabSize, EmbedDim), f32, Cpu> = &model.embeddings.token;
    let _token_type: &Tensor<(TokenTypes, EmbedDim), f32, Cpu> = &model.embeddings.token_type;
    let _position: &Tensor<(MaxSeqLen, EmbedDim), f32, Cpu> = &model.embeddings.position;
    let _bias: &Tensor<(HiddenDim,), f32, Cpu> = &model.layers[0].feed_forward.hidden.bias;
    let _query: &Tensor<(Columns,), f32, Cpu> = &model.layers[0].attention.query.bias;
}

impl Gpt2Config for Small {
    type VocabSize = VocabSize;
    type MaxSeqLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type NumHeads = NumHeads;
    type HiddenDim = HiddenDim;
    type NumLayers = NumLayers; // or another size
    const NORM_EPSILON: f64 = 1e-5;
}
fn gpt2(model: &Gpt2<Small>) {
    let _token: &Tensor<(VocabSize, EmbedDim), f32, Cpu> = &model.token_embedder;
    let _position: &Tensor<(MaxSeqLen, EmbedDim), f32, Cpu> = &model.position_embedder;
    let _bias: &Tensor<(HiddenDim,), f32, Cpu> = &model.layers[0].feed_forward.hidden.bias;
    let _query: &Tensor<(Columns,), f32, Cpu> = &model.layers[0].attention.query.bias;
}

impl LlamaConfig for Small {
    type VocabSize = VocabSize;
    type MaxSeqLen = MaxSeqLen; // or another size
    type EmbedDim = EmbedDim;
    type HiddenDim = HiddenDim;
    type NumLayers = NumLayers; // or another size
    type NumHeads = NumHeads;
    type NumKeyValueHeads = KeyHeads;
    type HeadDim = HeadDim;
    const NORM_EPSILON: f64 = 1e-5;
    const ROTARY: Rotary = Rotary::halves(10_000.0);
    const TIED_LOGITS: bool = false;
}
impl MixtralConfig for Small {
    type NumExperts = NumExperts;
    type ExpertsPerToken = ExpertsPerToken; // or a smaller maximum
}
type GroupSize = Quotient<NumHeads, KeyHeads>;
type QueryDim = Product<Product<KeyHeads, GroupSize>, HeadDim>;
fn llama(model: &Llama<Small>, mixtral: &Mixtral<Small>) {
    let _token: &Tensor<(VocabSize, EmbedDim), f32, Cpu> = &model.token_embedder;
    let _query: &Tensor<(QueryDim, EmbedDim), f32, Cpu> = &model.layers[0].attention.query;
    let _key: &Tensor<(Product<KeyHeads, HeadDim>, EmbedDim), f32, Cpu> = &model.layers[0].attention.key;
    let _gate: &Tensor<(HiddenDim, EmbedDim), f32, Cpu> = &model.layers[0].feed_forward.gate;
    let _norm: &Option<Tensor<(QueryDim,), f32, Cpu>> = &model.layers[0].attention.joint_query_norm;
    let _router: &Tensor<(NumExperts, EmbedDim), f32, Cpu> = &mixtral.layers[0].mixture.router;
}

impl Gemma3Config for Small {
    type VocabSize = VocabSize;
    type MaxSeqLen = MaxSeqLen; // or another size
    type EmbedDim = EmbedDim;
    type HiddenDim = HiddenDim;
    type NumLayers = NumLayers; // or another size
    type NumHeads = NumHeads;
    type NumKeyValueHeads = KeyHeads;
    type HeadDim = HeadDim;
    type WindowLen = PatchWidth; // or another size
    const NORM_EPSILON: f64 = 1e-6;
    const QUERY_PRE_ATTN_SCALAR: f64 = 4.0;
}
fn gemma3(model: &Gemma3<Small>) {
    let _token: &Tensor<(VocabSize, EmbedDim), f32, Cpu> = &model.token_embedder;
    let _query: &Tensor<(QueryDim, EmbedDim), f32, Cpu> = &model.layers[0].attention.query;
    let _key: &Tensor<(Product<KeyHeads, HeadDim>, EmbedDim), f32, Cpu> = &model.layers[0].attention.key;
    let _gate: &Tensor<(HiddenDim, EmbedDim), f32, Cpu> = &model.layers[0].feed_forward.gate;
}

impl T5Config for Small {
    type VocabSize = VocabSize;
    type MaxTgtLen = MaxSeqLen; // or another size
    type EmbedDim = EmbedDim;
    type NumHeads = NumHeads;
    type HeadDim = HeadDim;
    type HiddenDim = HiddenDim;
    type NumEncoderLayers = NumLayers; // or another size
    type NumDecoderLayers = NumLayers; // or another size
    type NumBuckets = NumBuckets;
    const MAX_DISTANCE: usize = 128;
    const NORM_EPSILON: f64 = 1e-6;
}
fn t5(model: &T5<Small>) {
    let _token: &Tensor<(VocabSize, EmbedDim), f32, Cpu> = &model.token_embedder;
    let _query: &Tensor<(Product<NumHeads, HeadDim>, EmbedDim), f32, Cpu> = &model.encoder[0].self_attention.query;
    let _hidden: &Tensor<(HiddenDim, EmbedDim), f32, Cpu> = &model.encoder[0].feed_forward.hidden;
    let _bias: &Tensor<(NumBuckets, NumHeads), f32, Cpu> = &model.encoder_position_bias;
}

impl VitConfig for Small {
    type Channels = Channels;
    type Height = Height;
    type Width = Width;
    type PatchHeight = PatchHeight;
    type PatchWidth = PatchWidth;
    type EmbedDim = EmbedDim;
    type NumHeads = NumHeads;
    type HiddenDim = HiddenDim;
    type NumLayers = NumLayers; // or another size
    const NORM_EPSILON: f64 = 1e-12;
}
type PatchDim = Product<Channels, Product<PatchHeight, PatchWidth>>;
fn vit(model: &Vit<Small>, images: Tensor<(Len, Channels, Height, Width), f32, Cpu>) {
    let _states = model.forward::<Len, _>(images).unwrap();
    let _bias: &Tensor<(HiddenDim,), f32, Cpu> = &model.layers[0].feed_forward.hidden.bias;
    let _query: &Tensor<(Columns,), f32, Cpu> = &model.layers[0].attention.query.bias;
    let _patch: &Tensor<(EmbedDim, PatchDim), f32, Cpu> = &model.embeddings.patch;
}

impl ClipConfig for Small {
    type VocabSize = VocabSize;
    type MaxSeqLen = MaxSeqLen;
    type TextEmbedDim = EmbedDim;
    type NumTextHeads = NumHeads;
    type TextHiddenDim = HiddenDim;
    type NumTextLayers = NumLayers; // or another size
    type ProjectionDim = HeadDim;
}
fn clip(model: &Clip<Small>) {
    let _token: &Tensor<(VocabSize, EmbedDim), f32, Cpu> = &model.text.token;
    let _position: &Tensor<(MaxSeqLen, EmbedDim), f32, Cpu> = &model.text.position;
    let _bias: &Tensor<(HiddenDim,), f32, Cpu> = &model.text.layers[0].feed_forward.hidden.bias;
    let _query: &Tensor<(Columns,), f32, Cpu> = &model.text.layers[0].attention.query.bias;
    let _projection: &Tensor<(HeadDim, EmbedDim), f32, Cpu> = &model.text.projection;
}

impl ModernBertConfig for Small {
    type VocabSize = VocabSize;
    type MaxSeqLen = MaxSeqLen; // or another size
    type EmbedDim = EmbedDim;
    type NumHeads = NumHeads;
    type HeadDim = HeadDim;
    type HiddenDim = HiddenDim;
    type NumLayers = NumLayers; // or another size
    type WindowLen = PatchWidth; // or another size
    const NORM_EPSILON: f64 = 1e-5;
}
fn modern_bert(model: &ModernBert<Small>) {
    let _token: &Tensor<(VocabSize, EmbedDim), f32, Cpu> = &model.token_embedder;
    let _query: &Tensor<(Product<NumHeads, HeadDim>, EmbedDim), f32, Cpu> = &model.layers[0].attention.query;
    let _gate: &Tensor<(HiddenDim, EmbedDim), f32, Cpu> = &model.layers[0].feed_forward.gate;
}

impl WhisperConfig for Small {
    type NumMelBins = Channels;
    type SrcLen = Height;
    type VocabSize = VocabSize;
    type MaxTgtLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type NumHeads = NumHeads;
    type HiddenDim = HiddenDim;
    type NumEncoderLayers = NumLayers; // or another size
    type NumDecoderLayers = NumLayers; // or another size
}
fn whisper(model: &Whisper<Small>, features: Features<Len, Small>) {
    let _states: Tensor<(Len, Height, EmbedDim), f32, Cpu> = model.encoder(features, NoneTape).unwrap();
    let _kernel: &Tensor<(EmbedDim, Channels, Const<3>), f32, Cpu> = &model.first_convolution.weight;
    let _token: &Tensor<(VocabSize, EmbedDim), f32, Cpu> = &model.token_embedder;
    let _position: &Tensor<(MaxSeqLen, EmbedDim), f32, Cpu> = &model.position_embedder;
    let _bias: &Tensor<(HiddenDim,), f32, Cpu> = &model.encoder[0].feed_forward.hidden.bias;
    let _query: &Tensor<(Columns,), f32, Cpu> = &model.encoder[0].self_attention.query.bias;
}

impl LatentArch for Small {
    type EmbedDim = EmbedDim;
    type NumHeads = NumHeads;
    type QueryLatentDim = NumExperts;
    type LatentDim = MaxSeqLen;
    type PlainDim = TokenTypes;
    type RotaryDim = HeadDim;
    type ValueDim = KeyHeads;
}
type Queries = Product<NumHeads, Sum<TokenTypes, HeadDim>>;
fn latent_attention(layer: &LatentAttention<Small>) {
    let _query: &Tensor<(Queries, NumExperts), f32, Cpu> = &layer.query_up;
    let _norm: &Tensor<(Product<Const<1>, MaxSeqLen>,), f32, Cpu> = &layer.norm;
    let _output: &Tensor<(EmbedDim, Product<NumHeads, KeyHeads>), f32, Cpu> = &layer.output;
}
