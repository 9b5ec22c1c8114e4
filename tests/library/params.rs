//! The parameter counts printed in the posts, checked at compile time.

use crate::numbers::device;
use dfdx::{nn::NumParams, tensor::AutoDevice};
use typed_transformer::models::another_annotated::Annotated;
use typed_transformer::nn::{Linear, Module};
use typed_transformer::prelude::*;

dims! {
    Vocab28 = 28;
    Len15 = 15;
    One = 1;
    Two = 2;
    Three = 3;
    Four = 4;
    Five = 5;
    Seven = 7;
    Eight = 8;
    Hidden13 = 13;
    Head17 = 17;
    Len16 = 16;
    Embed28 = 28;
    Embed30 = 30;
    Head64 = 64;
    Embed128 = 128;
    Vocab128 = 128;
    Hidden512 = 512;
}

/// An [`Arch`]; with a vocabulary, a length and layers also a [`Seq2Seq`].
macro_rules! arch {
    ($name:ident: $style:ty, $heads:ty, $head:ty, $hidden:ty $(, $vocab:ty, $len:ty, $embed:ty, $layers:ty)?) => {
        struct $name;
        impl Arch for $name {
            type NumHeads = $heads;
            type QKDim = $head;
            type VODim = $head;
            type HiddenDim = $hidden;
            type Conventions = $style;
        }
        $(impl Seq2Seq for $name {
            type SrcVocab = $vocab;
            type TgtVocab = $vocab;
            type MaxSrcLen = $len;
            type MaxTgtLen = $len;
            type EmbedDim = $embed;
            type NumEncoderLayers = $layers;
            type NumDecoderLayers = $layers;
        })?
    };
}

arch!(TwoHeads: Annotated, Two, Two, One);
arch!(SevenHeadsOf17: Annotated, Seven, Head17, Hidden13);
arch!(SevenHeadsOf3: Annotated, Seven, Three, Hidden13, Vocab28, Len15, Embed30, Three);
arch!(Rot13: Annotated, Seven, Five, Five, Vocab28, Len15, Eight, One);
arch!(Tiny: TypedTransformer, Two, Head64, Hidden512, Vocab128, Len16, Embed128, Four);

type Attention = MHAttention<Three, Three, Three, Three, TwoHeads, f32, AutoDevice>;
type ThreeLayerEncoder = EmbeddingEncoder<Vocab28, Len15, Embed30, Three, SevenHeadsOf17, f32, AutoDevice>;
type ThreeLayerDecoder = EmbeddingDecoder<Vocab28, Len15, Embed30, Embed28, Three, SevenHeadsOf17, f32, AutoDevice>;
type Logit = Linear<Embed30, Vocab28, f32, AutoDevice>;

// *Another annotated transformer*, in the order of the post. Its decoder includes the logits.
const _: () = assert!(Attention::NUM_PARAMS == 63);
const _: () = assert!(ThreeLayerEncoder::NUM_PARAMS == 47_670);
const _: () = assert!(ThreeLayerDecoder::NUM_PARAMS + Logit::NUM_PARAMS == 91_291);
const _: () = assert!(LM::<SevenHeadsOf3, f32, AutoDevice>::NUM_PARAMS == 31_903);
const _: () = assert!(LM::<Rot13, f32, AutoDevice>::NUM_PARAMS == 4_665);
// The tiny configuration of *The Typed Transformer*.
const _: () = assert!(LM::<Tiny, f32, AutoDevice>::NUM_PARAMS == 1_899_136);

#[test]
fn num_params_equals_the_built_parameter_count() {
    let device = device();
    assert_eq!(Attention::build(&device).num_trainable_params(), 63);
    assert_eq!(LM::<Rot13, f32, AutoDevice>::build(&device).num_trainable_params(), 4_665);
    assert_eq!(LM::<Tiny, f64, AutoDevice>::build(&device).num_trainable_params(), 1_899_136);
}

#[test]
fn the_summary_has_one_row_per_module() {
    let model = LM::<Rot13, f32, AutoDevice>::build(&device());
    let summary = model.summary();
    assert_eq!(summary.total, 4_665);
    let counts = summary.rows.iter().map(|row| row.count);
    assert_eq!(counts.sum::<usize>(), 4_665);
    let (whole, below) = summary.rows.split_first().unwrap();
    assert_eq!((whole.path.as_str(), whole.module), ("", "LM"));
    assert!(
        below
            .iter()
            .all(|row| row.path.starts_with("encoder") || row.path.starts_with("decoder") || row.path == "logit")
    );
    let path = "encoder.encoder.layers.0.self_attention.attention.query_proj";
    let query = below.iter().find(|row| row.path == path).unwrap();
    assert_eq!(query.module, "Projection");
    assert_eq!(query.output.as_deref(), Some("Product<Seven, Five>=35"));
    assert_eq!(
        query.parameters,
        [
            ("weight", "(Product<Seven, Five>=35, Eight=8)".to_string()),
            ("bias", "(Product<Seven, Five>=35,)".to_string()),
        ],
    );
}
