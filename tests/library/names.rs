//! Weights of other systems: a name map loads exactly the numbers that were written, or the error says
//! what differs.

use crate::support::temp_dir;
use dfdx::nn::{BuildModule, TensorCollection};
use dfdx::tensor::Cpu;
use proptest::{prelude::ProptestConfig, proptest};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use std::{collections::BTreeMap, fs};
use typed_transformer::models::another_annotated::Annotated;
use typed_transformer::models::nano_gpt::NanoGpt;
use typed_transformer::nn::{Conventions, Embedding, FeedForward, LayerNorm, Learned, Linear, MHAttention, Module};
use typed_transformer::ops::{Relu, Rotary};
use typed_transformer::prelude::*;
use typed_transformer::weights::{self, LoadError, Loadable, NameMap};

// Every dimension has its own size, so that confusing two of them fails.
dims! {
    VocabSize = 13; MaxSeqLen = 5; EmbedDim = 6; NumHeads = 2; HeadDim = 3; HiddenDim = 11;
    NumLayers = 11; QKDim = 4; VODim = 7;
}

/// PyTorch's `TransformerEncoderLayer`: post-norm, with biases.
struct Torch;
impl Conventions for Torch {
    type Activation = Relu;
    type Positions = Learned;
    type PaddingRule = PadSourceKeys;
    const ATTENTION_BIAS: bool = true;
}

/// The same with rotated queries and keys.
struct Rotated;
impl Conventions for Rotated {
    type Activation = Relu;
    type Positions = Learned;
    type PaddingRule = PadSourceKeys;
    const ATTENTION_BIAS: bool = true;
    const ROTARY: Option<Rotary> = Some(Rotary::ROFORMER);
}

macro_rules! model {
    ($name:ident: $style:ty, $qk:ty, $vo:ty) => {
        struct $name;
        impl Arch for $name {
            type NumHeads = NumHeads;
            type QKDim = $qk;
            type VODim = $vo;
            type HiddenDim = HiddenDim;
            type Conventions = $style;
        }
        impl SingleStack for $name {
            type VocabSize = VocabSize;
            type MaxSeqLen = MaxSeqLen;
            type EmbedDim = EmbedDim;
            type NumLayers = NumLayers;
        }
    };
}
model!(Gpt: NanoGpt, HeadDim, HeadDim);
model!(Encoding: Torch, HeadDim, HeadDim);
model!(Rotating: Rotated, HeadDim, HeadDim);
model!(Attending: Annotated, QKDim, VODim);

type Attention = MHAttention<EmbedDim, EmbedDim, EmbedDim, EmbedDim, Attending, f32, Cpu>;

/// Sizes and elements of each tensor by name.
type Tensors = BTreeMap<String, (Vec<usize>, Vec<f32>)>;

fn built<Model: BuildModule<Cpu, f32>>() -> Model {
    Model::build(&Cpu::seed_from_u64(1))
}

/// A model's parameters, read from a file saved under its own names.
fn parameters<Model>(model: &Model) -> Tensors
where
    Model: Module + TensorCollection<f32, Cpu>,
{
    let folder = temp_dir();
    weights::save(model, folder.path().join("weights")).unwrap();
    let bytes = fs::read(folder.path().join("weights")).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let tensors = file.iter().map(|(name, view)| {
        let elements = view.data().as_chunks().0.iter();
        let elements = elements.map(|&bytes| f32::from_le_bytes(bytes)).collect();
        (name.to_string(), (view.shape().to_vec(), elements))
    });
    tensors.collect()
}

fn load<Model>(tensors: &Tensors, names: &str) -> Result<Model, LoadError>
where
    Model: Module + Loadable<f32, Cpu>,
{
    let tensors = tensors.iter().map(|(name, (sizes, elements))| {
        let bytes: Vec<u8> = elements.iter().flat_map(|x| x.to_le_bytes()).collect();
        (name, sizes, bytes)
    });
    let tensors: Vec<_> = tensors.collect();
    let views = tensors.iter().map(|(name, sizes, bytes)| {
        let view = TensorView::new(Dtype::F32, sizes.to_vec(), bytes);
        (name, view.unwrap())
    });
    let folder = temp_dir();
    let path = folder.path().join("theirs");
    fs::write(&path, safetensors::serialize(views, None).unwrap()).unwrap();
    weights::load_mapped(path, &names.parse().unwrap(), &Cpu::default())
}

/// Converts a model to foreign names and layout, loads it by the name map, and compares.
fn assert_round_trip<Model>(names: &str, to_foreign: fn(&mut Tensors))
where
    Model: Module + TensorCollection<f32, Cpu, To<f32, Cpu> = Model> + Loadable<f32, Cpu> + BuildModule<Cpu, f32>,
{
    let model: Model = built();
    let mut foreign = parameters(&model);
    let paths: Vec<_> = foreign.keys().cloned().collect();
    to_foreign(&mut foreign);
    assert!(foreign.keys().all(|name| !paths.contains(name)));
    match load::<Model>(&foreign, names) {
        Ok(loaded) => assert_eq!(parameters(&loaded), parameters(&model)),
        Err(error) => panic!("{error}"),
    }
}

// ---- The layouts of other systems, written independently of the library ----

/// Renames tensors. `from` and `to` may contain one `#`, the layer number.
fn rename(tensors: &mut Tensors, from: &str, to: &str) {
    for layer in 0..NumLayers::SIZE {
        let at = |name: &str| name.replace('#', &layer.to_string());
        if let Some(tensor) = tensors.remove(&at(from)) {
            tensors.insert(at(to), tensor);
        }
    }
}

fn transpose((sizes, elements): &mut (Vec<usize>, Vec<f32>)) {
    let [rows, columns] = sizes[..] else {
        panic!("{sizes:?}");
    };
    let old = elements.clone();
    for row in 0..rows {
        for column in 0..columns {
            elements[column * rows + row] = old[row * columns + column];
        }
    }
    sizes.swap(0, 1);
}

/// Concatenates three tensors along their first dimension.
fn fuse(tensors: &mut Tensors, from: [&str; 3], to: &str) {
    for layer in 0..NumLayers::SIZE {
        let at = |name: &str| name.replace('#', &layer.to_string());
        let three = from.map(|name| tensors.remove(&at(name)));
        let [Some(mut first), Some(second), Some(third)] = three else {
            continue;
        };
        first.0[0] *= 3;
        first.1.extend(second.1.iter().chain(&third.1));
        tensors.insert(at(to), first);
    }
}

fn nano_gpt(tensors: &mut Tensors) {
    let attention = "decoder.layers.#.self_attention.attention";
    let qkv = ["query", "key", "value"].map(|role| format!("{attention}.{role}_proj.weight"));
    let qkv = qkv.each_ref().map(String::as_str);
    fuse(tensors, qkv, "transformer.h.#.attn.c_attn.weight");
    for (from, to) in [
        ("embedder.token_embedder.weight", "transformer.wte.weight"),
        ("embedder.position_embedder.weight", "transformer.wpe.weight"),
        ("decoder.layers.#.self_attention.attention.output_proj.weight", "transformer.h.#.attn.c_proj.weight"),
        ("decoder.layers.#.self_attention.norm.weight", "transformer.h.#.ln_1.weight"),
        ("decoder.layers.#.feed_forward.norm.weight", "transformer.h.#.ln_2.weight"),
        ("decoder.layers.#.feed_forward.hidden.weight", "transformer.h.#.mlp.c_fc.weight"),
        ("decoder.layers.#.feed_forward.output.weight", "transformer.h.#.mlp.c_proj.weight"),
        ("decoder.norm.weight", "transformer.ln_f.weight"),
    ] {
        rename(tensors, from, to);
    }
    // PyTorch also stores the tied table a second time, and masks.
    tensors.insert("lm_head.weight".into(), tensors["transformer.wte.weight"].clone());
    for layer in 0..NumLayers::SIZE {
        let mask = (vec![1, 1, 5, 5], vec![1.0; 25]);
        tensors.insert(format!("transformer.h.{layer}.attn.bias"), mask);
    }
}

const NANO_GPT: &str = "
    # GPT of nanoGPT's model.py
    embedder.token_embedder.weight = transformer.wte.weight
    embedder.position_embedder.weight = transformer.wpe.weight
    decoder.layers.{n}.self_attention.attention.query_proj.weight = transformer.h.{n}.attn.c_attn.weight part 1 of 3
    decoder.layers.{n}.self_attention.attention.key_proj.weight = transformer.h.{n}.attn.c_attn.weight part 2 of 3
    decoder.layers.{n}.self_attention.attention.value_proj.weight = transformer.h.{n}.attn.c_attn.weight part 3 of 3
    decoder.layers.{n}.self_attention.attention.output_proj.weight = transformer.h.{n}.attn.c_proj.weight
    decoder.layers.{n}.self_attention.norm.weight = transformer.h.{n}.ln_1.weight
    decoder.layers.{n}.feed_forward.hidden.weight = transformer.h.{n}.mlp.c_fc.weight
    decoder.layers.{n}.feed_forward.output.weight = transformer.h.{n}.mlp.c_proj.weight
    decoder.layers.{n}.feed_forward.norm.weight = transformer.h.{n}.ln_2.weight
    decoder.norm.weight = transformer.ln_f.weight
    ignore lm_head.weight
    ignore *.attn.bias
";

#[test]
fn nano_gpt_weights_load() {
    assert_round_trip::<DecoderOnly<Gpt, f32, Cpu>>(NANO_GPT, nano_gpt);
}

/// GPT-2 in Hugging Face's layout: linear weights are transposed.
#[test]
fn hugging_face_gpt_2_weights_load() {
    let turned = NANO_GPT
        .replace("attn.c_attn.weight", "attn.c_attn.weight [in out -> out in]")
        .replace("attn.c_proj.weight", "attn.c_proj.weight [in out -> out in]")
        .replace("mlp.c_fc.weight", "mlp.c_fc.weight [in out -> out in]")
        .replace("mlp.c_proj.weight", "mlp.c_proj.weight [in out -> out in]");
    assert_round_trip::<DecoderOnly<Gpt, f32, Cpu>>(&turned, |tensors| {
        nano_gpt(tensors);
        for (name, tensor) in tensors {
            if name.contains(".c_") {
                transpose(tensor);
            }
        }
    });
}

#[test]
fn pytorch_encoder_weights_load() {
    let names = "
        embedder.token_embedder.weight = embedding.weight
        embedder.position_embedder.weight = position
        embedder.norm.{p} = norm.{p}
        encoder.layers.{n}.self_attention.attention.query_proj.{p} = encoder.layers.{n}.self_attn.in_proj_{p} part 1 of 3
        encoder.layers.{n}.self_attention.attention.key_proj.{p} = encoder.layers.{n}.self_attn.in_proj_{p} part 2 of 3
        encoder.layers.{n}.self_attention.attention.value_proj.{p} = encoder.layers.{n}.self_attn.in_proj_{p} part 3 of 3
        encoder.layers.{n}.self_attention.attention.output_proj.{p} = encoder.layers.{n}.self_attn.out_proj.{p}
        encoder.layers.{n}.self_attention.norm.{p} = encoder.layers.{n}.norm1.{p}
        encoder.layers.{n}.feed_forward.hidden.{p} = encoder.layers.{n}.linear1.{p}
        encoder.layers.{n}.feed_forward.output.{p} = encoder.layers.{n}.linear2.{p}
        encoder.layers.{n}.feed_forward.norm.{p} = encoder.layers.{n}.norm2.{p}
    ";
    assert_round_trip::<EncoderOnly<Encoding, f32, Cpu>>(names, |tensors| {
        rename(tensors, "embedder.token_embedder.weight", "embedding.weight");
        rename(tensors, "embedder.position_embedder.weight", "position");
        for p in ["weight", "bias"] {
            let ours = |rest: &str| format!("encoder.layers.#.{rest}.{p}");
            let qkv = ["query", "key", "value"].map(|role| ours(&format!("self_attention.attention.{role}_proj")));
            let fused = format!("encoder.layers.#.self_attn.in_proj_{p}");
            fuse(tensors, qkv.each_ref().map(String::as_str), &fused);
            rename(tensors, &format!("embedder.norm.{p}"), &format!("norm.{p}"));
            for (from, to) in [
                ("self_attention.attention.output_proj", "self_attn.out_proj"),
                ("self_attention.norm", "norm1"),
                ("feed_forward.hidden", "linear1"),
                ("feed_forward.output", "linear2"),
                ("feed_forward.norm", "norm2"),
            ] {
                rename(tensors, &ours(from), &ours(to));
            }
        }
    });
}

const FLAX: &str = "
    output_proj.weight = out.kernel [head size out -> out (head size)]
    output_proj.bias = out.bias
    {role}_proj.weight = {role}.kernel [in head size -> (head size) in]
    {role}_proj.bias = {role}.bias [head size -> (head size)]
";

/// Flax's `MultiHeadDotProductAttention` has a separate axis for heads.
fn flax(tensors: &mut Tensors) {
    for (role, size) in [("query", 4), ("key", 4), ("value", 7)] {
        let mut kernel = tensors.remove(&format!("{role}_proj.weight")).unwrap();
        transpose(&mut kernel);
        kernel.0 = vec![6, 2, size];
        tensors.insert(format!("{role}.kernel"), kernel);
        let mut bias = tensors.remove(&format!("{role}_proj.bias")).unwrap();
        bias.0 = vec![2, size];
        tensors.insert(format!("{role}.bias"), bias);
    }
    let mut kernel = tensors.remove("output_proj.weight").unwrap();
    transpose(&mut kernel);
    kernel.0 = vec![2, 7, 6];
    tensors.insert("out.kernel".into(), kernel);
    rename(tensors, "output_proj.bias", "out.bias");
}

#[test]
fn flax_attention_weights_load() {
    assert_round_trip::<Attention>(FLAX, flax);
}

// ---- Mismatches ----

/// The error of loading the attention after a change to Flax's tensors or to the name map.
fn error_after(change: impl FnOnce(&mut Tensors, &mut String)) -> String {
    let (mut tensors, mut names) = (parameters(&built::<Attention>()), FLAX.to_string());
    flax(&mut tensors);
    change(&mut tensors, &mut names);
    load::<Attention>(&tensors, &names).unwrap_err().to_string()
}

#[test]
fn a_mismatch_names_the_tensor_and_its_source() {
    let sizes = |name: &'static str, sizes: &'static [usize]| {
        error_after(move |tensors, _| {
            let elements = vec![0.5; sizes.iter().product()];
            tensors.insert(name.into(), (sizes.to_vec(), elements));
        })
    };
    let expected = "`query_proj.weight` should be (NumHeads=2 * QKDim=4, EmbedDim=6)";
    let read_as = "read as `query.kernel [in head size -> (head size) in]`";
    // Heads and head width swapped; other widths; the same number of elements; other ranks.
    for found in [&[6, 4, 2][..], &[5, 2, 4], &[6, 1, 8], &[6, 8, 1], &[8, 6], &[6, 8], &[48], &[6, 2, 2, 2], &[]] {
        assert_eq!(sizes("query.kernel", found), format!("{expected} but is {found:?}, {read_as}"));
    }
    assert_eq!(
        sizes("key.bias", &[4, 2]),
        "`key_proj.bias` should be (NumHeads=2 * QKDim=4,) but is [4, 2], \
         read as `key.bias [head size -> (head size)]`"
    );
    // A rule without axes for a tensor of more dimensions.
    assert_eq!(
        error_after(|_, names| *names = names.replace(" [head size -> (head size)]", "")),
        "`query_proj.bias` should be (NumHeads=2 * QKDim=4,) but is [2, 4], read as `query.bias`"
    );
    assert_eq!(
        error_after(|tensors, _| drop(tensors.remove("value.kernel"))),
        "`value_proj.weight` (Product<NumHeads, VODim>=14, EmbedDim=6) is missing, \
         read as `value.kernel [in head size -> (head size) in]`"
    );
    assert_eq!(
        error_after(|_, names| *names = names.replace("output_proj.bias", "output_proj.offset")),
        // The next rule that matches.
        "`output_proj.bias` (EmbedDim=6,) is missing, \
         read as `output.bias [head size -> (head size)]`"
    );
    assert_eq!(
        error_after(|_, names| *names = names.replace("{role}_proj.bias", "{role}_prj.bias")),
        "the name map has no rule for `query_proj.bias` (Product<NumHeads, QKDim>=8,)"
    );
    // Several names, and a layout behind them.
    assert_eq!(
        error_after(|_, names| *names = names.replace("= {role}.kernel", "= {role}.w or {role}.v")),
        "`query_proj.weight` (Product<NumHeads, QKDim>=8, EmbedDim=6) is missing, \
         read as `query.w or query.v [in head size -> (head size) in]`"
    );
    // The position in the model's tensor, not in the file's.
    assert_eq!(
        error_after(|tensors, _| tensors.get_mut("query.kernel").unwrap().1[1] = f32::NAN),
        "`query_proj.weight` holds NaN at position 6, \
         read as `query.kernel [in head size -> (head size) in]`"
    );
    assert_eq!(
        error_after(|tensors, _| {
            tensors.insert("scale".into(), (vec![1], vec![1.0]));
        }),
        "`scale` is in the file but not in the model"
    );
}

#[test]
fn an_unread_part_is_named_in_the_error() {
    let mut tensors = parameters(&built::<DecoderOnly<Gpt, f32, Cpu>>());
    nano_gpt(&mut tensors);
    let error = |from: &str, to: &str| {
        let loaded = load::<DecoderOnly<Gpt, f32, Cpu>>(&tensors, &NANO_GPT.replace(from, to));
        loaded.map(drop).unwrap_err().to_string()
    };
    assert_eq!(
        error("part 2 of 3", "part 1 of 3"),
        "`transformer.h.0.attn.c_attn.weight part 2 of 3` is in the file but not in the model"
    );
    assert_eq!(
        error("part 3 of 3", "part 3 of 4"),
        "`decoder.layers.0.self_attention.attention.value_proj.weight` should be \
         (NumHeads=2 * HeadDim=3, EmbedDim=6) but is [18, 6], \
         read as `transformer.h.0.attn.c_attn.weight part 3 of 4`"
    );
    assert_eq!(error("ignore lm_head.weight", ""), "`lm_head.weight` is in the file but not in the model");
    assert_eq!(error("ignore *.attn.bias", ""), "`transformer.h.0.attn.bias` is in the file but not in the model");
}

#[test]
fn a_wrong_dtype_is_named_in_the_error() {
    let folder = temp_dir();
    weights::save(&built::<Attention>(), folder.path().join("f32")).unwrap();
    type Wide = MHAttention<EmbedDim, EmbedDim, EmbedDim, EmbedDim, Attending, f64, Cpu>;
    let names = "* = *".parse().unwrap();
    let error = weights::load_mapped::<Wide, _, _>(folder.path().join("f32"), &names, &Cpu::default());
    assert_eq!(
        error.unwrap_err().to_string(),
        "`query_proj.weight` should hold F64 but holds F32, read as `query_proj.weight`"
    );
}

#[test]
fn a_part_of_a_saved_model_loads_without_the_conventions_of_the_rest() {
    let (folder, model) = (temp_dir(), built::<DecoderOnly<Gpt, f32, Cpu>>());
    let path = folder.path().join("weights");
    weights::save(&model, &path).unwrap();
    let (device, names) = (Cpu::default(), "weight = embedder.token_embedder.weight\nignore *".parse().unwrap());
    let table: Embedding<VocabSize, EmbedDim, Gpt, f32, Cpu> = weights::load_mapped(&path, &names, &device).unwrap();
    assert_eq!(table.weight.as_vec(), model.embedder.token_embedder.weight.as_vec());
    // What the part has must be as in the saved model.
    let names = "* = decoder.layers.0.feed_forward.*\nignore *".parse().unwrap();
    weights::load_mapped::<FeedForward<EmbedDim, Gpt, f32, Cpu>, _, _>(&path, &names, &device).unwrap();
    let error = weights::load_mapped::<FeedForward<EmbedDim, Encoding, f32, Cpu>, _, _>(&path, &names, &device);
    assert_eq!(error.unwrap_err().to_string(), "the model's activation is Relu, but the file was saved with Gelu");
    // An attention that rotates nothing says so by having no convention of it.
    type HeadsOf<A> = MHAttention<EmbedDim, EmbedDim, EmbedDim, EmbedDim, A, f32, Cpu>;
    weights::save(&built::<EncoderOnly<Rotating, f32, Cpu>>(), &path).unwrap();
    let names = "* = encoder.layers.0.self_attention.attention.*\nignore *".parse().unwrap();
    weights::load_mapped::<HeadsOf<Rotating>, _, _>(&path, &names, &device).unwrap();
    let error = weights::load_mapped::<HeadsOf<Encoding>, _, _>(&path, &names, &device).unwrap_err().to_string();
    assert!(error.starts_with("the model's rotary positions is none, but the file was saved with "), "{error}");
}

#[test]
fn an_invalid_rule_is_reported_with_its_line() {
    for (text, why) in [
        ("a", "`a` is neither `PATH = NAME`, `ignore NAME` nor `copy NAME of NAME`"),
        ("a = b or", "`or` is not `part I of N`"),
        ("a = b or {m}", "`{m}` is on the right side but not on the left"),
        ("a = ", "`a =` is neither `PATH = NAME`, `ignore NAME` nor `copy NAME of NAME`"),
        ("ignore", "`ignore` is neither `PATH = NAME`, `ignore NAME` nor `copy NAME of NAME`"),
        ("copy a.{n} of b.{m}", "`{m}` is on the right side but not on the left"),
        ("ignore a b", "`ignore a b` is neither `PATH = NAME`, `ignore NAME` nor `copy NAME of NAME`"),
        ("a.{n} = b.{m}", "`{m}` is on the right side but not on the left"),
        ("a = *", "`*` is on the right side but not on the left"),
        ("{n}.{n} = a", "`{n}` appears twice in `{n}.{n}`"),
        ("*.* = a", "`*` appears twice in `*.*`"),
        ("a.{n = a", "`a.{n` has empty or unmatched braces"),
        ("a.{} = a", "`a.{}` has empty or unmatched braces"),
        ("a} = a", "`a}` has empty or unmatched braces"),
        ("a.{+1} = a", "`a.{+1}` computes a number, which only a name on the right side does"),
        ("ignore a.{2n}", "`a.{2n}` computes a number, which only a name on the right side does"),
        ("copy a.{n+1} of b", "`a.{n+1}` computes a number, which only a name on the right side does"),
        ("a.{n+1} = a", "`a.{n+1}` computes a number, which only a name on the right side does"),
        ("a.{2n} = a", "`a.{2n}` computes a number, which only a name on the right side does"),
        ("a.{n} = a.{m+1}", "`{m}` is on the right side but not on the left"),
        ("a.{n} = a.{2m}", "`{m}` is on the right side but not on the left"),
        ("a.{n} = a.{2}", "`{2}` is on the right side but not on the left"),
        ("a = b [i o -> o i", "a `]` is missing"),
        ("a = b [i o]", "`[i o]` has no `->`"),
        ("a = b [i o -> o x]", "`x` is not on the left side of the `->`"),
        ("a = b [i o -> o]", "`[i o -> o]` does not have each axis exactly once on each side"),
        ("a = b [i i -> i]", "`[i i -> i]` does not have each axis exactly once on each side"),
        ("a = b [i -> i i]", "`[i -> i i]` does not have each axis exactly once on each side"),
        ("a = b [i -> i ()]", "`[i -> i ()]` does not have each axis exactly once on each side"),
        ("a = b [i o -> (o i]", "`[i o -> (o i]` does not have each axis exactly once on each side"),
        ("a = b [i o -> ((o) i)]", "`[i o -> ((o) i)]` has nested or unmatched parentheses"),
        ("a = b [i -> i)]", "`[i -> i)]` has nested or unmatched parentheses"),
        ("a = b transposed", "`transposed` is not `part I of N`"),
        ("a = b part 0 of 3", "`part 0 of 3` is not `part I of N`"),
        ("a = b part 4 of 3", "`part 4 of 3` is not `part I of N`"),
        ("a = b part -1 of 3", "`part -1 of 3` is not `part I of N`"),
        ("a = b part 1 of 3 [i -> i]", "`part 1 of 3 [i -> i]` is not `part I of N`"),
    ] {
        let error = format!("\n# the second line\n  {text}\n").parse::<NameMap>().unwrap_err();
        assert_eq!(error.to_string(), format!("line 3: {why}"));
    }
}

proptest! {
    // Failures are printed with their input, so no file records them.
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Arbitrary text parses or is an error, and arbitrary rules load or are an error; nothing panics.
    #[test]
    fn no_text_makes_the_name_map_panic(
        text in "\\PC{0,40}",
        layout in "(\\[[aé ()>-]{0,12}(->)?[aé ()]{0,8}\\])? ?(part [0-9]{1,20} of [0-9]{1,20})?",
        hole in "[*{}aé.]{0,8}",
    ) {
        let _ = text.parse::<NameMap>();
        let names = format!("{hole}* = bias {layout}\n* = weight {layout}\n* = *");
        if names.parse::<NameMap>().is_ok() {
            let tensors = Tensors::from([
                ("bias".into(), (vec![4], vec![1.0; 4])),
                ("weight".into(), (vec![4, 3], vec![1.0; 12])),
            ]);
            let _ = load::<Linear<HeadDim, QKDim, f32, Cpu>>(&tensors, &names);
        }
    }
}

#[test]
fn a_name_may_have_the_number_after_that_of_the_parameter() {
    dims! { Width = 2; NumNorms = 11; }
    #[module]
    struct Norms<E, D> {
        norms: Layers<NumNorms, LayerNorm<Width, E, D>>,
    }
    let tensors = (1..=11).flat_map(|layer: u8| {
        let tensor = |role: &str| (format!("layers.{layer}.{role}"), (vec![2], vec![f32::from(layer); 2]));
        ["weight", "bias"].map(tensor)
    });
    let loaded = load::<Norms<f32, Cpu>>(&tensors.collect(), "norms.{n}.{p} = layers.{n+1}.{p}").unwrap();
    let first: Vec<f32> = loaded.norms.iter().map(|norm| norm.weight.as_vec()[0]).collect();
    assert_eq!(first, (1..=11u8).map(f32::from).collect::<Vec<_>>());
}

#[test]
fn layers_of_two_kinds_have_every_second_number() {
    dims! { Width = 2; NumPairs = 3; }
    #[module]
    struct Norms<E, D> {
        even: Layers<NumPairs, LayerNorm<Width, E, D>>,
        odd: Layers<NumPairs, LayerNorm<Width, E, D>>,
    }
    let tensors = (0..6).flat_map(|layer: u8| {
        let tensor = |role: &str| (format!("layers.{layer}.{role}"), (vec![2], vec![f32::from(layer); 2]));
        ["weight", "bias"].map(tensor)
    });
    let names = "even.{n}.* = layers.{2n}.*\nodd.{n}.* = layers.{2n+1}.*";
    let loaded = load::<Norms<f32, Cpu>>(&tensors.collect(), names).unwrap();
    let weights = |norms: &Layers<NumPairs, LayerNorm<Width, f32, Cpu>>| -> Vec<f32> {
        norms.iter().map(|norm| norm.weight.as_vec()[0]).collect()
    };
    assert_eq!([weights(&loaded.even), weights(&loaded.odd)], [[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]]);
}

#[test]
fn axes_merge_into_products_of_several_factors() {
    dims! { Out = 2; Channels = 3; Rows = 4; Columns = 5; }
    type Patch = Linear<Product<Channels, Product<Rows, Columns>>, Out, f32, Cpu>;
    let names = "weight = kernel [out channels rows columns -> out (channels rows columns)]\nbias = bias [one out -> (one out)]";
    let kernel: Vec<f32> = (0..120u8).map(f32::from).collect();
    let loaded = |sizes: &[usize]| {
        let kernel = ("kernel".to_string(), (sizes.to_vec(), kernel.clone()));
        let bias = ("bias".to_string(), (vec![1, 2], vec![7.0, 8.0]));
        load::<Patch>(&Tensors::from([kernel, bias]), names)
    };
    let patch = loaded(&[2, 3, 4, 5]).unwrap();
    assert_eq!((patch.weight.as_vec(), patch.bias.as_vec()), (kernel.clone(), vec![7.0, 8.0]));
    for other in [[2, 4, 3, 5], [2, 3, 5, 4], [2, 5, 4, 3], [2, 6, 2, 5], [2, 1, 3, 20], [2, 1, 1, 60]] {
        let error = loaded(&other).unwrap_err().to_string();
        let expected = "`weight` should be (Out=2, Channels=3 * Rows=4 * Columns=5) but is ";
        assert!(error.starts_with(expected), "{error}");
    }
}
