//! The numbers of the reference implementations, in `f32` by the kernels and in `f64` by the definitions.
//! Tolerances: 1e-5 for outputs and loss, 1e-4 of a tensor's largest entry for gradients.

use crate::as_published::forward_as_published;
use crate::numbers::device;
use crate::recorded::{OwnTape, of_model};
use crate::support::temp_dir;
use dfdx::nn::TensorCollection;
use dfdx::shapes::Shape;
use dfdx::tensor::{AutoDevice, Tensor};
use dfdx::tensor_ops::Device;
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use std::{collections::BTreeMap, fs};
use typed_transformer::models::another_annotated::Annotated;
use typed_transformer::models::learning_the_transformer::Learning;
use typed_transformer::models::transformer_from_scratch::FromScratch;
use typed_transformer::nn::Module;
use typed_transformer::prelude::*;
use typed_transformer::ranks::Element;
use typed_transformer::train;
use typed_transformer::weights::{self, Loadable};

/// The tensors of a fixture file: sizes and elements by key.
pub struct Fixture {
    path: String,
    tensors: BTreeMap<String, (Vec<usize>, Vec<f64>)>,
    /// Whether the tensors differ from those of the file.
    is_changed: bool,
}

impl Fixture {
    pub fn read(name: &str) -> Self {
        let path = format!("{}/fixtures/{name}.safetensors", env!("CARGO_MANIFEST_DIR"));
        let bytes = fs::read(&path).unwrap();
        let file = SafeTensors::deserialize(&bytes).unwrap();
        let tensors = file.iter().map(|(key, view)| {
            let elements = match view.dtype() {
                Dtype::F32 => numbers(view.data(), |b| f64::from(f32::from_le_bytes(b))),
                Dtype::I64 => numbers(view.data(), |b| i64::from_le_bytes(b) as f64),
                dtype => panic!("{key} holds {dtype:?}"),
            };
            (key.to_string(), (view.shape().to_vec(), elements))
        });
        let tensors = tensors.collect();
        Self { path, tensors, is_changed: false }
    }

    pub fn numbers(&self, key: &str) -> &[f64] {
        &self.tensors[key].1
    }

    /// The numbers as elements.
    pub fn elements<E: Element>(&self, key: &str) -> Vec<E> {
        self.numbers(key).iter().map(|&number| E::from_f64(number).unwrap()).collect()
    }

    pub fn ids(&self, key: &str) -> Vec<usize> {
        self.numbers(key).iter().map(|&id| id as usize).collect()
    }

    /// A model of the tensors under a prefix: the weights, or their gradients.
    fn model<Model, E>(&self, prefix: &str, names: &str) -> Model
    where
        Model: Module + Loadable<E, AutoDevice>,
        E: Element,
        AutoDevice: Device<E>,
    {
        let mut names = names.replace("PREFIX", prefix);
        for other in ["weights", "grads", "input", "output"] {
            if other != prefix {
                names += &format!("\nignore {other}.*");
            }
        }
        self.load(&names)
    }

    /// A model of the tensors that `names` maps.
    pub fn load<Model, E>(&self, names: &str) -> Model
    where
        Model: Module + Loadable<E, AutoDevice>,
        E: Element,
        AutoDevice: Device<E>,
    {
        let names = names.parse().unwrap();
        if E::DTYPE == Dtype::F32 && !self.is_changed {
            return weights::load_mapped(&self.path, &names, &device()).unwrap();
        }
        let folder = temp_dir();
        let path = folder.path().join("widened");
        fs::write(&path, self.widened::<E>()).unwrap();
        weights::load_mapped(&path, &names, &device()).unwrap()
    }

    /// Adds a tensor.
    pub fn insert(&mut self, key: String, sizes: &[usize], elements: Vec<f64>) {
        self.is_changed = true;
        self.tensors.insert(key, (sizes.to_vec(), elements));
    }

    /// The fixture file with elements of another type.
    fn widened<E: Element>(&self) -> Vec<u8> {
        let tensors = self.tensors.iter().map(|(key, (shape, elements))| {
            let elements: Vec<E> = elements.iter().map(|x| num_traits::NumCast::from(*x).unwrap()).collect();
            (key, shape.clone(), E::to_bytes(&elements))
        });
        let tensors: Vec<_> = tensors.collect();
        let views = tensors.iter().map(|(key, shape, bytes)| {
            let view = TensorView::new(E::DTYPE, shape.clone(), bytes);
            (key, view.unwrap())
        });
        safetensors::serialize(views, None).unwrap()
    }
}

fn numbers<const N: usize>(bytes: &[u8], read: fn([u8; N]) -> f64) -> Vec<f64> {
    bytes.as_chunks().0.iter().map(|&bytes| read(bytes)).collect()
}

pub fn as_f64<S: Shape, E: Element, T>(tensor: &Tensor<S, E, AutoDevice, T>) -> Vec<f64>
where
    AutoDevice: Device<E>,
{
    exact(tensor.as_vec())
}

// This function is not generic in shapes, so it is compiled once for each dtype.
fn exact<E: Element>(elements: Vec<E>) -> Vec<f64> {
    elements.into_iter().map(|x| num_traits::ToPrimitive::to_f64(&x).unwrap()).collect()
}

#[track_caller]
pub fn assert_close(what: &str, ours: &[f64], theirs: &[f64], tolerance: f64) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    for (i, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
        let difference = (ours - theirs).abs();
        assert!(difference <= tolerance, "{what}[{i}]: {ours} and {theirs}");
    }
}

/// Compares the gradient of every parameter with a model that holds the expected gradients as parameters.
pub fn compare_gradients<Model, E>(model: &Model, loss: Tensor<(), E, AutoDevice, OwnTape<E>>, expected: &Model)
where
    Model: TensorCollection<E, AutoDevice>,
    E: Element,
    AutoDevice: Device<E>,
{
    let mut gradients = of_model(loss, model).backward().unwrap();
    let differences = train::compare_gradients(model, &mut gradients, expected).unwrap();
    assert!(differences.largest() < 1e-4, "{differences}");
}

mod typed_transformer_fixture {
    use super::*;

    dims! {
        VocabSize = 11; MaxSeqLen = 7; EmbedDim = 6; NumHeads = 2; HeadDim = 3; HiddenDim = 10;
        NumLayers = 2; SrcLen = 5; TgtLen = 4; Batch;
    }

    struct Model;
    impl Arch for Model {
        type NumHeads = NumHeads;
        type QKDim = HeadDim;
        type VODim = HeadDim;
        type HiddenDim = HiddenDim;
        type Conventions = TypedTransformer;
    }
    impl Seq2Seq for Model {
        type SrcVocab = VocabSize;
        type TgtVocab = VocabSize;
        type MaxSrcLen = MaxSeqLen;
        type MaxTgtLen = MaxSeqLen;
        type EmbedDim = EmbedDim;
        type NumEncoderLayers = NumLayers;
        type NumDecoderLayers = NumLayers;
    }

    const NAMES: &str = "* = PREFIX.*";

    fn compare<E: Element>()
    where
        AutoDevice: Backend<E>,
    {
        let fixture = Fixture::read("typed_transformer");
        let model: LM<Model, E, AutoDevice> = fixture.model("weights", NAMES);
        let pad = Some(Fin::literal::<10>());
        let batch = Batch::new(3);
        let source = TokenIds::from_ids(&fixture.ids("input.encoder_ids"), pad, (batch, SrcLen)).unwrap();
        let target = TokenIds::from_ids(&fixture.ids("input.decoder_ids"), pad, (batch, TgtLen)).unwrap();
        let labels = LabelIds::from_ids(&fixture.ids("input.label_ids"), pad, (batch, TgtLen)).unwrap();

        let output = model.forward(&source, &target, OwnTape::default()).unwrap();
        let theirs = |key: &str| fixture.numbers(key);
        assert_close("encoder", &as_f64(&output.encoder_output), theirs("output.encoder"), 1e-5);
        assert_close("decoder", &as_f64(&output.decoder_output), theirs("output.decoder"), 1e-5);
        assert_close("logit", &as_f64(&output.logit_output), theirs("output.logit"), 1e-5);
        let loss = cross_entropy(output.logit_output, &labels, Reduction::MeanPerSequence).unwrap();
        assert_close("loss", &as_f64(&loss), theirs("output.loss"), 1e-5);
        let expected = fixture.model("grads", NAMES);
        compare_gradients(&model, loss, &expected);
    }

    crate::hugging_face::compare_both!(compare);
}

mod annotated_flax_fixture {
    use super::*;

    dims! {
        SrcVocab = 7; TgtVocab = 9; MaxSrcLen = 6; MaxTgtLen = 8; EmbedDim = 4; NumHeads = 2;
        HeadDim = 3; HiddenDim = 5; NumLayers = 2; SrcLen = 5; TgtLen = 4; Batch;
    }

    struct Model;
    impl Arch for Model {
        type NumHeads = NumHeads;
        type QKDim = HeadDim;
        type VODim = HeadDim;
        type HiddenDim = HiddenDim;
        type Conventions = Annotated;
    }
    impl Seq2Seq for Model {
        type SrcVocab = SrcVocab;
        type TgtVocab = TgtVocab;
        type MaxSrcLen = MaxSrcLen;
        type MaxTgtLen = MaxTgtLen;
        type EmbedDim = EmbedDim;
        type NumEncoderLayers = NumLayers;
        type NumDecoderLayers = NumLayers;
    }

    const NAMES: &str = "
        {side}.embedder.token_embedder.weight = PREFIX.{side}.embed.embedding
        logit.weight = PREFIX.decoder.final.kernel [in out -> out in]
        logit.bias = PREFIX.decoder.final.bias

        encoder.encoder.layers.{n}.self_attention.attention.{role}_proj.weight = PREFIX.encoder_{n}.attn.{role}_linear.kernel [in out -> out in]
        encoder.encoder.layers.{n}.self_attention.attention.{role}_proj.bias = PREFIX.encoder_{n}.attn.{role}_linear.bias
        encoder.encoder.layers.{n}.self_attention.norm.weight = PREFIX.encoder_{n}.aan_0.LayerNorm_0.scale
        encoder.encoder.layers.{n}.self_attention.norm.bias = PREFIX.encoder_{n}.aan_0.LayerNorm_0.bias
        encoder.encoder.layers.{n}.feed_forward.hidden.weight = PREFIX.encoder_{n}.ff.Dense_0.kernel [in out -> out in]
        encoder.encoder.layers.{n}.feed_forward.hidden.bias = PREFIX.encoder_{n}.ff.Dense_0.bias
        encoder.encoder.layers.{n}.feed_forward.output.weight = PREFIX.encoder_{n}.ff.Dense_1.kernel [in out -> out in]
        encoder.encoder.layers.{n}.feed_forward.output.bias = PREFIX.encoder_{n}.ff.Dense_1.bias
        encoder.encoder.layers.{n}.feed_forward.norm.weight = PREFIX.encoder_{n}.aan_1.LayerNorm_0.scale
        encoder.encoder.layers.{n}.feed_forward.norm.bias = PREFIX.encoder_{n}.aan_1.LayerNorm_0.bias

        decoder.decoder.layers.{n}.self_attention.attention.{role}_proj.weight = PREFIX.decoder_{n}.self_attn.{role}_linear.kernel [in out -> out in]
        decoder.decoder.layers.{n}.self_attention.attention.{role}_proj.bias = PREFIX.decoder_{n}.self_attn.{role}_linear.bias
        decoder.decoder.layers.{n}.self_attention.norm.weight = PREFIX.decoder_{n}.self_addnorm.LayerNorm_0.scale
        decoder.decoder.layers.{n}.self_attention.norm.bias = PREFIX.decoder_{n}.self_addnorm.LayerNorm_0.bias
        decoder.decoder.layers.{n}.cross_attention.attention.{role}_proj.weight = PREFIX.decoder_{n}.src_attn.{role}_linear.kernel [in out -> out in]
        decoder.decoder.layers.{n}.cross_attention.attention.{role}_proj.bias = PREFIX.decoder_{n}.src_attn.{role}_linear.bias
        decoder.decoder.layers.{n}.cross_attention.norm.weight = PREFIX.decoder_{n}.src_addnorm.LayerNorm_0.scale
        decoder.decoder.layers.{n}.cross_attention.norm.bias = PREFIX.decoder_{n}.src_addnorm.LayerNorm_0.bias
        decoder.decoder.layers.{n}.feed_forward.hidden.weight = PREFIX.decoder_{n}.FeedForward_0.Dense_0.kernel [in out -> out in]
        decoder.decoder.layers.{n}.feed_forward.hidden.bias = PREFIX.decoder_{n}.FeedForward_0.Dense_0.bias
        decoder.decoder.layers.{n}.feed_forward.output.weight = PREFIX.decoder_{n}.FeedForward_0.Dense_1.kernel [in out -> out in]
        decoder.decoder.layers.{n}.feed_forward.output.bias = PREFIX.decoder_{n}.FeedForward_0.Dense_1.bias
        decoder.decoder.layers.{n}.feed_forward.norm.weight = PREFIX.decoder_{n}.AddAndNorm_0.LayerNorm_0.scale
        decoder.decoder.layers.{n}.feed_forward.norm.bias = PREFIX.decoder_{n}.AddAndNorm_0.LayerNorm_0.bias
    ";

    fn compare<E: Element>()
    where
        AutoDevice: Backend<E>,
    {
        let fixture = Fixture::read("annotated_flax");
        let model: LM<Model, E, AutoDevice> = fixture.model("weights", NAMES);
        let batch = Batch::new(3);
        let src_pad = Some(Fin::literal::<6>());
        let tgt_pad = Some(Fin::literal::<8>());
        let source = TokenIds::from_ids(&fixture.ids("input.source_ids"), src_pad, (batch, SrcLen)).unwrap();
        let target = TokenIds::from_ids(&fixture.ids("input.target_ids"), tgt_pad, (batch, TgtLen)).unwrap();
        let (inputs, labels) = target.teacher_forcing(Fin::literal::<7>());
        assert_eq!(inputs.as_slice(), fixture.ids("input.target_in_ids"));

        let output = model.forward(&source, &inputs, OwnTape::default()).unwrap();
        let theirs = |key: &str| fixture.numbers(key);
        assert_close("encoder", &as_f64(&output.encoder_output), theirs("output.encoder"), 1e-5);
        assert_close("logit", &as_f64(&output.logit_output), theirs("output.logit"), 1e-5);
        let loss = cross_entropy(output.logit_output, &labels, Reduction::MeanAll).unwrap();
        assert_close("loss", &as_f64(&loss), theirs("output.loss"), 1e-5);
        let expected = fixture.model("grads", NAMES);
        compare_gradients(&model, loss, &expected);
    }

    crate::hugging_face::compare_both!(compare);
}

mod from_scratch_torch_fixture {
    use super::*;

    dims! {
        SrcVocab = 11; TgtVocab = 7; MaxLen = 8; EmbedDim = 4; NumHeads = 2; NumLayers = 2;
        SrcLen = 5; TgtLen = 4; Batch;
    }

    struct Model;
    impl Arch for Model {
        type NumHeads = NumHeads;
        type QKDim = Quotient<EmbedDim, NumHeads>;
        type VODim = Quotient<EmbedDim, NumHeads>;
        type HiddenDim = Product<Const<4>, EmbedDim>;
        type Conventions = FromScratch;
    }
    impl Seq2Seq for Model {
        type SrcVocab = SrcVocab;
        type TgtVocab = TgtVocab;
        type MaxSrcLen = MaxLen;
        type MaxTgtLen = MaxLen;
        type EmbedDim = EmbedDim;
        type NumEncoderLayers = NumLayers;
        type NumDecoderLayers = NumLayers;
    }

    // In the decoder's inner encoder block, queries attend to the source.
    const NAMES: &str = "
        {side}.embedder.token_embedder.weight = PREFIX.{side}.embed.weight
        logit.{p} = PREFIX.decoder.fc.{p}

        encoder.encoder.layers.{n}.self_attention.attention.query_proj.weight = PREFIX.encoder.encoder_layers.{n}.attention.queries.weight
        encoder.encoder.layers.{n}.self_attention.attention.key_proj.weight = PREFIX.encoder.encoder_layers.{n}.attention.keys.weight
        encoder.encoder.layers.{n}.self_attention.attention.value_proj.weight = PREFIX.encoder.encoder_layers.{n}.attention.values.weight
        encoder.encoder.layers.{n}.self_attention.attention.output_proj.weight = PREFIX.encoder.encoder_layers.{n}.attention.fc.weight
        encoder.encoder.layers.{n}.self_attention.norm.{p} = PREFIX.encoder.encoder_layers.{n}.layer_norm1.{p}
        decoder.decoder.layers.{n}.self_attention.attention.query_proj.weight = PREFIX.decoder.decoder_layer.{n}.attention.queries.weight
        decoder.decoder.layers.{n}.self_attention.attention.key_proj.weight = PREFIX.decoder.decoder_layer.{n}.attention.keys.weight
        decoder.decoder.layers.{n}.self_attention.attention.value_proj.weight = PREFIX.decoder.decoder_layer.{n}.attention.values.weight
        decoder.decoder.layers.{n}.self_attention.attention.output_proj.weight = PREFIX.decoder.decoder_layer.{n}.attention.fc.weight
        decoder.decoder.layers.{n}.self_attention.norm.{p} = PREFIX.decoder.decoder_layer.{n}.layer_norm.{p}
        decoder.decoder.layers.{n}.cross_attention.attention.query_proj.weight = PREFIX.decoder.decoder_layer.{n}.encoder_block.attention.queries.weight
        decoder.decoder.layers.{n}.cross_attention.attention.key_proj.weight = PREFIX.decoder.decoder_layer.{n}.encoder_block.attention.keys.weight
        decoder.decoder.layers.{n}.cross_attention.attention.value_proj.weight = PREFIX.decoder.decoder_layer.{n}.encoder_block.attention.values.weight
        decoder.decoder.layers.{n}.cross_attention.attention.output_proj.weight = PREFIX.decoder.decoder_layer.{n}.encoder_block.attention.fc.weight
        decoder.decoder.layers.{n}.cross_attention.norm.{p} = PREFIX.decoder.decoder_layer.{n}.encoder_block.layer_norm1.{p}
        encoder.encoder.layers.{n}.feed_forward.hidden.{p} = PREFIX.encoder.encoder_layers.{n}.feed_forward.0.{p}
        encoder.encoder.layers.{n}.feed_forward.output.{p} = PREFIX.encoder.encoder_layers.{n}.feed_forward.2.{p}
        encoder.encoder.layers.{n}.feed_forward.norm.{p} = PREFIX.encoder.encoder_layers.{n}.layer_norm2.{p}
        decoder.decoder.layers.{n}.feed_forward.hidden.{p} = PREFIX.decoder.decoder_layer.{n}.encoder_block.feed_forward.0.{p}
        decoder.decoder.layers.{n}.feed_forward.output.{p} = PREFIX.decoder.decoder_layer.{n}.encoder_block.feed_forward.2.{p}
        decoder.decoder.layers.{n}.feed_forward.norm.{p} = PREFIX.decoder.decoder_layer.{n}.encoder_block.layer_norm2.{p}
    ";

    fn compare<E: Element>()
    where
        AutoDevice: Backend<E>,
    {
        let fixture = Fixture::read("from_scratch_torch");
        let model: LM<Model, E, AutoDevice> = fixture.model("weights", NAMES);
        let batch = Batch::new(3);
        let (source, inputs, labels) =
            (fixture.ids("input.source_ids"), fixture.ids("input.target_in_ids"), fixture.ids("input.target_ids"));
        let pad = Some(Fin::literal::<10>());
        let source = TokenIds::from_ids(&source, pad, (batch, SrcLen)).unwrap();
        let inputs = TokenIds::from_ids(&inputs, None, (batch, TgtLen)).unwrap();
        let labels = LabelIds::from_ids(&labels, None, (batch, TgtLen)).unwrap();

        let output = forward_as_published(&model, &source, &inputs, OwnTape::default()).unwrap();
        let theirs = |key: &str| fixture.numbers(key);
        assert_close("encoder", &as_f64(&output.encoder_output), theirs("output.encoder"), 1e-5);
        assert_close("logit", &as_f64(&output.logit_output), theirs("output.logit"), 1e-5);
        let loss = cross_entropy(output.logit_output, &labels, Reduction::MeanAll).unwrap();
        assert_close("loss", &as_f64(&loss), theirs("output.loss"), 1e-5);
        let expected = fixture.model("grads", NAMES);
        compare_gradients(&model, loss, &expected);
    }

    crate::hugging_face::compare_both!(compare);
}

mod learning_equinox_fixture {
    use super::*;

    dims! {
        VocabSize = 7; MaxSeqLen = 5; EmbedDim = 4; NumHeads = 2; Width = 6; NumLayers = 1;
        SeqLen = 5; Batch;
    }

    struct Model;
    impl Arch for Model {
        type NumHeads = NumHeads;
        type QKDim = Quotient<EmbedDim, NumHeads>;
        type VODim = Quotient<EmbedDim, NumHeads>;
        type HiddenDim = Width;
        type Conventions = Learning;
        const FEED_FORWARD_EXTRA_LAYERS: usize = 1;
    }
    impl SingleStack for Model {
        type VocabSize = VocabSize;
        type MaxSeqLen = MaxSeqLen;
        type EmbedDim = EmbedDim;
        type NumLayers = NumLayers;
    }

    const NAMES: &str = "
        embedder.token_embedder.weight = PREFIX.input_embedding.weight
        decoder.layers.0.self_attention.attention.output_proj.weight = PREFIX.attention_output.weight
        decoder.layers.0.self_attention.attention.{role}_proj.weight = PREFIX.{role}.weight
        decoder.layers.0.norm.weight = PREFIX.rms_norm
        decoder.layers.0.feed_forward.hidden.{p} = PREFIX.feedforward.layers.0.{p}
        decoder.layers.0.feed_forward.inner.0.{p} = PREFIX.feedforward.layers.1.{p}
        decoder.layers.0.feed_forward.output.{p} = PREFIX.feedforward.layers.2.{p}
        logit.weight = PREFIX.output.weight
    ";

    fn compare<E: Element>()
    where
        AutoDevice: Backend<E>,
    {
        let fixture = Fixture::read("learning_equinox");
        let model: DecoderOnly<Model, E, AutoDevice> = fixture.model("weights", NAMES);
        let shape = (Batch::new(3), SeqLen);
        let ids = TokenIds::from_ids(&fixture.ids("input.ids"), None, shape).unwrap();
        let labels = LabelIds::from_ids(&fixture.ids("input.target_ids"), None, shape).unwrap();

        let logits = model.forward(&ids, OwnTape::default()).unwrap();
        let theirs = |key: &str| fixture.numbers(key);
        assert_close("logit", &as_f64(&logits), theirs("output.logit"), 1e-5);
        let loss = cross_entropy(logits, &labels, Reduction::MeanAll).unwrap();
        assert_close("loss", &as_f64(&loss), theirs("output.loss"), 1e-5);
        let expected = fixture.model("grads", NAMES);
        compare_gradients(&model, loss, &expected);
    }

    crate::hugging_face::compare_both!(compare);
}
