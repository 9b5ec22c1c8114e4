//! The reference systems' numbers: outputs and loss within 1e-5, gradients within 1e-4 of each
//! tensor's largest entry, in `f32` by the kernels and in `f64` by the definitions.

use dfdx::{
    nn::{
        RecursiveWalker, TensorCollection, TensorOptions, TensorVisitor, ViewTensorName,
        ViewTensorRef,
    },
    shapes::Shape,
    tensor::{Cpu, Gradients, OwnedTape, Tensor},
    tensor_ops::{Backward, Device},
};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use std::{collections::BTreeMap, fs};
use typed_transformer::{
    io::{self, Stored},
    models::{
        another_annotated::Annotated, learning_the_transformer::Learning,
        transformer_from_scratch::AsPublished,
    },
    nn::Module,
    prelude::*,
};

/// A fixture's tensors: sizes and elements by key.
struct Fixture(BTreeMap<String, (Vec<usize>, Vec<f64>)>);

impl Fixture {
    fn read(name: &str) -> Self {
        let path = format!(
            "{}/tests/fixtures/{name}.safetensors",
            env!("CARGO_MANIFEST_DIR")
        );
        let bytes = fs::read(path).unwrap();
        let file = SafeTensors::deserialize(&bytes).unwrap();
        let tensors = file.iter().map(|(key, view)| {
            let elements = match view.dtype() {
                Dtype::F32 => numbers(view.data(), |b| f64::from(f32::from_le_bytes(b))),
                Dtype::I64 => numbers(view.data(), |b| i64::from_le_bytes(b) as f64),
                dtype => panic!("{key} holds {dtype:?}"),
            };
            (key.to_string(), (view.shape().to_vec(), elements))
        });
        Self(tensors.collect())
    }

    fn ids(&self, key: &str) -> Vec<usize> {
        self.0[key].1.iter().map(|&id| id as usize).collect()
    }

    /// The tensors under a prefix, by the paths of this crate.
    fn under(
        &self,
        prefix: &str,
        rename: fn(&str) -> (String, bool),
    ) -> BTreeMap<String, (Vec<usize>, Vec<f64>)> {
        let tensors = self.0.iter().filter_map(|(key, (shape, elements))| {
            let (path, transposed) = rename(key.strip_prefix(prefix)?);
            if !transposed {
                return Some((path, (shape.clone(), elements.clone())));
            }
            let (rows, columns) = (shape[0], shape[1]);
            let turned = (0..rows * columns).map(|i| elements[i % rows * columns + i / rows]);
            Some((path, (vec![columns, rows], turned.collect())))
        });
        tensors.collect()
    }

    /// A model of the fixture's weights, through a file.
    fn model<Model, E>(&self, name: &str, rename: fn(&str) -> (String, bool)) -> Model
    where
        Model: Module + TensorCollection<E, Cpu, To<E, Cpu> = Model>,
        E: Stored,
        Cpu: Device<E>,
    {
        let weights =
            self.under("weights.", rename)
                .into_iter()
                .map(|(path, (shape, elements))| {
                    let mut bytes = Vec::new();
                    for element in elements {
                        <E as num_traits::NumCast>::from(element)
                            .unwrap()
                            .write(&mut bytes);
                    }
                    (path, shape, bytes)
                });
        let weights: Vec<_> = weights.collect();
        let views = weights.iter().map(|(path, shape, bytes)| {
            (
                path,
                TensorView::new(E::DTYPE, shape.clone(), bytes).unwrap(),
            )
        });
        let file = format!(
            "typed-transformer-{name}-{:?}-{}",
            E::DTYPE,
            std::process::id()
        );
        let file = std::env::temp_dir().join(file);
        fs::write(&file, safetensors::serialize(views, None).unwrap()).unwrap();
        let model = io::load(&file, &Cpu::default());
        fs::remove_file(&file).unwrap();
        model.unwrap()
    }
}

fn numbers<const N: usize>(bytes: &[u8], read: fn([u8; N]) -> f64) -> Vec<f64> {
    bytes
        .as_chunks()
        .0
        .iter()
        .map(|&bytes| read(bytes))
        .collect()
}

fn as_f64<S: Shape, E: Stored, T>(tensor: &Tensor<S, E, Cpu, T>) -> Vec<f64>
where
    Cpu: Device<E>,
{
    tensor
        .as_vec()
        .into_iter()
        .map(|x| num_traits::ToPrimitive::to_f64(&x).unwrap())
        .collect()
}

#[track_caller]
fn assert_close(what: &str, ours: &[f64], theirs: &[f64], tolerance: f64) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    for (i, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
        let difference = (ours - theirs).abs();
        assert!(difference <= tolerance, "{what}[{i}]: {ours} and {theirs}");
    }
}

/// Compares every parameter's gradient with the fixture's.
struct CompareGradients<'a, E: Stored>
where
    Cpu: Device<E>,
{
    expected: BTreeMap<String, (Vec<usize>, Vec<f64>)>,
    gradients: &'a Gradients<E, Cpu>,
}

impl<E: Stored> TensorVisitor<E, Cpu> for CompareGradients<'_, E>
where
    Cpu: Device<E>,
{
    type Viewer = (ViewTensorRef, ViewTensorName);
    type Err = ();
    type E2 = E;
    type D2 = Cpu;

    fn visit<S: Shape>(
        &mut self,
        _: TensorOptions<S, E, Cpu>,
        (parameter, path): (&Tensor<S, E, Cpu>, String),
    ) -> Result<Option<Tensor<S, E, Cpu>>, ()> {
        let (_, expected) = self.expected.remove(&path).unwrap();
        let largest = expected
            .iter()
            .fold(0f64, |largest, g| largest.max(g.abs()));
        let gradient = as_f64(&self.gradients.get(parameter));
        // The gradient of a key's bias is zero, since a softmax does not change when all its logits
        // do; what the reference has there is rounding.
        let tolerance = (1e-4 * largest).max(1e-7);
        assert_close(&path, &gradient, &expected, tolerance);
        Ok(None)
    }
}

fn compare_gradients<Model, E>(
    model: &Model,
    gradients: &Gradients<E, Cpu>,
    expected: BTreeMap<String, (Vec<usize>, Vec<f64>)>,
) where
    Model: TensorCollection<E, Cpu>,
    E: Stored,
    Cpu: Device<E>,
{
    let mut compare = CompareGradients {
        expected,
        gradients,
    };
    Model::iter_tensors(&mut RecursiveWalker {
        m: (model, String::new()),
        f: &mut compare,
    })
    .unwrap();
    assert!(
        compare.expected.is_empty(),
        "not in the model: {:?}",
        compare.expected.keys()
    );
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
        type Style = TypedTransformer;
    }
    impl Seq2Seq for Model {
        type SrcVocab = VocabSize;
        type TgtVocab = VocabSize;
        type MaxSrcLen = MaxSeqLen;
        type MaxTgtLen = MaxSeqLen;
        type EmbedDim = EmbedDim;
        type EncoderLayers = NumLayers;
        type DecoderLayers = NumLayers;
    }

    fn same_path(path: &str) -> (String, bool) {
        (path.to_string(), false)
    }

    fn compare<E: Stored>()
    where
        Cpu: Backend<E>,
    {
        let fixture = Fixture::read("typed_transformer");
        let model: LM<Model, E, Cpu> = fixture.model("typed", same_path);
        let pad = Some(Fin::literal::<10>());
        let batch = Batch::new(3);
        let source =
            TokenIds::from_ids(&fixture.ids("input.encoder_ids"), pad, (batch, SrcLen)).unwrap();
        let target =
            TokenIds::from_ids(&fixture.ids("input.decoder_ids"), pad, (batch, TgtLen)).unwrap();
        let labels =
            TokenIds::from_ids(&fixture.ids("input.label_ids"), pad, (batch, TgtLen)).unwrap();

        let output = model.forward(&source, &target, OwnedTape::default());
        let theirs = |key: &str| &fixture.0[key].1;
        assert_close(
            "encoder",
            &as_f64(&output.encoder_output),
            theirs("output.encoder"),
            1e-5,
        );
        assert_close(
            "decoder",
            &as_f64(&output.decoder_output),
            theirs("output.decoder"),
            1e-5,
        );
        assert_close(
            "logit",
            &as_f64(&output.logit_output),
            theirs("output.logit"),
            1e-5,
        );
        let loss = cross_entropy(
            output.logit_output,
            &labels,
            Average::RealLabelsOfEachSequence,
        );
        assert_close("loss", &as_f64(&loss), theirs("output.loss"), 1e-5);
        compare_gradients(&model, &loss.backward(), fixture.under("grads.", same_path));
    }

    #[test]
    fn by_the_kernels() {
        compare::<f32>();
    }

    #[test]
    fn by_the_definitions() {
        compare::<f64>();
    }
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
        type Style = Annotated;
    }
    impl Seq2Seq for Model {
        type SrcVocab = SrcVocab;
        type TgtVocab = TgtVocab;
        type MaxSrcLen = MaxSrcLen;
        type MaxTgtLen = MaxTgtLen;
        type EmbedDim = EmbedDim;
        type EncoderLayers = NumLayers;
        type DecoderLayers = NumLayers;
    }

    /// Flax's path as ours, and whether its kernel lies the other way round.
    fn from_flax(path: &str) -> (String, bool) {
        let layers = [
            ("encoder_", "encoder.encoder.layers."),
            ("decoder_", "decoder.decoder.layers."),
        ];
        let mut path = path.to_string();
        for (theirs, ours) in layers {
            if let Some(rest) = path.strip_prefix(theirs) {
                path = format!("{ours}{rest}");
            }
        }
        let decoder = path.starts_with("decoder");
        for (theirs, ours) in [
            ("embed.embedding", "embedder.token_embedder.weight"),
            ("decoder.final", "logit"),
            ("self_attn", "self_attention.attention"),
            ("src_attn", "cross_attention.attention"),
            (".attn.", ".self_attention.attention."),
            ("self_addnorm.LayerNorm_0", "self_attention.norm"),
            ("src_addnorm.LayerNorm_0", "cross_attention.norm"),
            ("aan_0.LayerNorm_0", "self_attention.norm"),
            ("aan_1.LayerNorm_0", "feed_forward.norm"),
            ("AddAndNorm_0.LayerNorm_0", "feed_forward.norm"),
            (".ff.Dense_0", ".feed_forward.hidden"),
            (".ff.Dense_1", ".feed_forward.output"),
            ("FeedForward_0.Dense_0", "feed_forward.hidden"),
            ("FeedForward_0.Dense_1", "feed_forward.output"),
            ("_linear", "_proj"),
            (".scale", ".weight"),
        ] {
            path = path.replace(theirs, ours);
        }
        assert!(decoder || path.starts_with("encoder"));
        let kernel = path.ends_with(".kernel");
        (path.replace(".kernel", ".weight"), kernel)
    }

    fn compare<E: Stored>()
    where
        Cpu: Backend<E>,
    {
        let fixture = Fixture::read("annotated_flax");
        let model: LM<Model, E, Cpu> = fixture.model("flax", from_flax);
        let batch = Batch::new(3);
        let src_pad = Some(Fin::literal::<6>());
        let tgt_pad = Some(Fin::literal::<8>());
        let source =
            TokenIds::from_ids(&fixture.ids("input.source_ids"), src_pad, (batch, SrcLen)).unwrap();
        let labels =
            TokenIds::from_ids(&fixture.ids("input.target_ids"), tgt_pad, (batch, TgtLen)).unwrap();
        let inputs = labels.shifted_right(Fin::literal::<7>());
        assert_eq!(inputs.as_slice(), fixture.ids("input.target_in_ids"));

        let output = model.forward(&source, &inputs, OwnedTape::default());
        let theirs = |key: &str| &fixture.0[key].1;
        assert_close(
            "encoder",
            &as_f64(&output.encoder_output),
            theirs("output.encoder"),
            1e-5,
        );
        assert_close(
            "logit",
            &as_f64(&output.logit_output),
            theirs("output.logit"),
            1e-5,
        );
        let loss = cross_entropy(output.logit_output, &labels, Average::EveryPosition);
        assert_close("loss", &as_f64(&loss), theirs("output.loss"), 1e-5);
        compare_gradients(&model, &loss.backward(), fixture.under("grads.", from_flax));
    }

    #[test]
    fn by_the_kernels() {
        compare::<f32>();
    }

    #[test]
    fn by_the_definitions() {
        compare::<f64>();
    }
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
        type Style = AsPublished;
    }
    impl Seq2Seq for Model {
        type SrcVocab = SrcVocab;
        type TgtVocab = TgtVocab;
        type MaxSrcLen = MaxLen;
        type MaxTgtLen = MaxLen;
        type EmbedDim = EmbedDim;
        type EncoderLayers = NumLayers;
        type DecoderLayers = NumLayers;
    }

    fn from_torch(path: &str) -> (String, bool) {
        let mut path = path.to_string();
        for (theirs, ours) in [
            ("encoder.encoder_layers", "encoder.encoder.layers"),
            ("decoder.decoder_layer", "decoder.decoder.layers"),
            ("coder.embed.", "coder.embedder.token_embedder."),
            ("decoder.fc", "logit"),
            (".attention", ".self_attention.attention"),
            (".layer_norm1", ".self_attention.norm"),
            (".layer_norm2", ".feed_forward.norm"),
            (".layer_norm", ".self_attention.norm"),
            // What the decoder's inner encoder block attends to is the source.
            ("encoder_block.self_attention", "cross_attention"),
            ("encoder_block.", ""),
            (".queries", ".query_proj"),
            (".keys", ".key_proj"),
            (".values", ".value_proj"),
            (".fc", ".output_proj"),
            ("feed_forward.0", "feed_forward.hidden"),
            ("feed_forward.2", "feed_forward.output"),
        ] {
            path = path.replace(theirs, ours);
        }
        (path, false)
    }

    fn compare<E: Stored>()
    where
        Cpu: Backend<E>,
    {
        let fixture = Fixture::read("from_scratch_torch");
        let model: LM<Model, E, Cpu> = fixture.model("torch", from_torch);
        let batch = Batch::new(3);
        let (source, inputs, labels) = (
            fixture.ids("input.source_ids"),
            fixture.ids("input.target_in_ids"),
            fixture.ids("input.target_ids"),
        );
        let pad = Some(Fin::literal::<10>());
        let source = TokenIds::from_ids(&source, pad, (batch, SrcLen)).unwrap();
        let inputs = TokenIds::from_ids(&inputs, None, (batch, TgtLen)).unwrap();
        let labels = TokenIds::from_ids(&labels, None, (batch, TgtLen)).unwrap();

        let output = model.forward(&source, &inputs, OwnedTape::default());
        let theirs = |key: &str| &fixture.0[key].1;
        assert_close(
            "encoder",
            &as_f64(&output.encoder_output),
            theirs("output.encoder"),
            1e-5,
        );
        assert_close(
            "logit",
            &as_f64(&output.logit_output),
            theirs("output.logit"),
            1e-5,
        );
        let loss = cross_entropy(output.logit_output, &labels, Average::EveryPosition);
        assert_close("loss", &as_f64(&loss), theirs("output.loss"), 1e-5);
        let expected = fixture.under("grads.", from_torch);
        compare_gradients(&model, &loss.backward(), expected);
    }

    #[test]
    fn by_the_kernels() {
        compare::<f32>();
    }

    #[test]
    fn by_the_definitions() {
        compare::<f64>();
    }
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
        type Style = Learning;
        const EXTRA_HIDDEN_LAYERS: usize = 1;
    }
    impl OneStack for Model {
        type VocabSize = VocabSize;
        type MaxSeqLen = MaxSeqLen;
        type EmbedDim = EmbedDim;
        type NumLayers = NumLayers;
    }

    fn from_equinox(path: &str) -> (String, bool) {
        let block = "decoder.layers.0";
        let path = match path.split_once(".weight").unwrap_or((path, "")).0 {
            "input_embedding" => "embedder.token_embedder.weight".to_string(),
            "output" => "logit.weight".to_string(),
            "rms_norm" => format!("{block}.norm.weight"),
            "attention_output" => format!("{block}.self_attention.attention.output_proj.weight"),
            name @ ("query" | "key" | "value") => {
                format!("{block}.self_attention.attention.{name}_proj.weight")
            }
            _ => path
                .replace(
                    "feedforward.layers.0",
                    &format!("{block}.feed_forward.hidden"),
                )
                .replace(
                    "feedforward.layers.1",
                    &format!("{block}.feed_forward.inner.0"),
                )
                .replace(
                    "feedforward.layers.2",
                    &format!("{block}.feed_forward.output"),
                ),
        };
        (path, false)
    }

    fn compare<E: Stored>()
    where
        Cpu: Backend<E>,
    {
        let fixture = Fixture::read("learning_equinox");
        let model: DecoderOnly<Model, E, Cpu> = fixture.model("equinox", from_equinox);
        let shape = (Batch::new(3), SeqLen);
        let ids = TokenIds::from_ids(&fixture.ids("input.ids"), None, shape).unwrap();
        let labels = TokenIds::from_ids(&fixture.ids("input.target_ids"), None, shape).unwrap();

        let logits = model.forward(&ids, OwnedTape::default());
        let theirs = |key: &str| &fixture.0[key].1;
        assert_close("logit", &as_f64(&logits), theirs("output.logit"), 1e-5);
        let loss = cross_entropy(logits, &labels, Average::EveryPosition);
        assert_close("loss", &as_f64(&loss), theirs("output.loss"), 1e-5);
        let expected = fixture.under("grads.", from_equinox);
        compare_gradients(&model, &loss.backward(), expected);
    }

    #[test]
    fn by_the_kernels() {
        compare::<f32>();
    }

    #[test]
    fn by_the_definitions() {
        compare::<f64>();
    }
}
