//! CLIP and ModernBERT compute what HuggingFace's `transformers` computes, as the models of `hugging_face.rs` do. A
//! Vision Transformer reads some of the patches.

use crate::hugging_face::{Batch, compare_both, compare_gradients_with_reference, ids, load, reference};
use crate::numbers::device;
use crate::parity::{as_f64, assert_close};
use crate::recorded::OwnTape;
use crate::small_models::{VocabSize, small_clip, small_modern_bert, small_vit};
use dfdx::tensor::{AutoDevice, PutTape};
use typed_transformer::models::clip::Clip;
use typed_transformer::models::modern_bert::ModernBert;
use typed_transformer::models::vit::{ClassAndPatches, Images, Vit};
use typed_transformer::ops::{Activation, Exp, PatchGrid, gather, mean};
use typed_transformer::prelude::*;
use typed_transformer::ranks::Element;

compare_both!(clip_agrees, modern_bert_agrees);

fn clip_agrees<E: Element>()
where
    AutoDevice: Backend<E>,
{
    use small_clip::{Channels, Config, Height, SeqLen, Width};
    dims! { Captions; }
    let reference = reference("clip");
    let model: Clip<Config, E, AutoDevice> = load("clip");
    let (captions, len) = (Captions::new(4), SeqLen::new(9).unwrap());
    let images: Images<Batch, Config, E, AutoDevice> =
        device().tensor((reference.elements("input.pixels"), (Batch::new(4), Channels, Height, Width)));

    let read = ids(&reference.ids("input.ids"), (captions, len));
    let texts = model.texts(&read, NoneTape).unwrap();
    let vectors = model.images(images.clone()).unwrap();
    assert_close("texts", &as_f64(&texts), reference.numbers("output.texts"), 1e-5);
    assert_close("images", &as_f64(&vectors), reference.numbers("output.images"), 1e-5);
    let logits: Tensor<(Captions, Batch), E, AutoDevice> = model.logits(texts, vectors).unwrap();
    assert_close("logits", &as_f64(&logits), reference.numbers("output.logit"), 1e-4);

    let read = ids(&reference.ids("input.ids"), (Batch::new(4), len));
    let texts = model.texts(&read, OwnTape::default()).unwrap();
    let vectors = model.images(images.put_tape(OwnTape::default())).unwrap();
    compare_gradients_with_reference(&model, model.loss(texts, vectors).unwrap(), &reference);
}

fn modern_bert_agrees<E: Element>()
where
    AutoDevice: Backend<E>,
{
    use small_modern_bert::{Config, EmbedDim, SeqLen};
    let reference = reference("modern_bert");
    let model: ModernBert<Config, E, AutoDevice> = load("modern_bert");
    let shape = (Batch::new(3), SeqLen::new(11).unwrap());
    let pad: Option<Fin<VocabSize>> = Some(Fin::literal::<0>());
    let read = TokenIds::from_ids(&reference.ids("input.ids"), pad, shape).unwrap();
    // The outputs at padding mean nothing: they depend on the rule for a query without keys.
    let of_tokens = |rows: &[f64], width: usize| -> Vec<f64> {
        let rows = rows.chunks(width).zip(read.as_slice()).filter(|(_, id)| **id != 0);
        rows.flat_map(|(row, _)| row).copied().collect()
    };
    let compare = |what: &str, found: &[f64], expected: &str, width: usize| {
        assert_close(what, &of_tokens(found, width), &of_tokens(reference.numbers(expected), width), 1e-5);
    };
    let states = model.forward(&read, OwnTape::default()).unwrap();
    compare("states", &as_f64(&states), "output.last", EmbedDim::SIZE);
    let logits = model.logits(states).unwrap();
    compare("logits", &as_f64(&logits), "output.logit", VocabSize::SIZE);
    let labels = LabelIds::from_ids(&reference.ids("input.labels"), pad, shape).unwrap();
    let loss = cross_entropy(logits, &labels, Reduction::MeanTokens).unwrap();
    compare_gradients_with_reference(&model, loss, &reference);
}

#[test]
fn a_vit_reads_some_of_the_patches() {
    use small_vit::{Channels, Config, EmbedDim, Height, PatchHeight, PatchWidth, Width};
    dims! { Kept = 2; }
    type Patches = PatchGrid<Height, Width, PatchHeight, PatchWidth>;
    type Embeddings<S> = Tensor<(Batch, S, EmbedDim), f32, AutoDevice, OwnTape<f32>>;
    let model: Vit<Config, f32, AutoDevice> = load("vit");
    let batch = Batch::new(2);
    let images: Images<Batch, Config, f32, AutoDevice> =
        device().tensor((reference("vit").elements("input.pixels"), (batch, Channels, Height, Width)));
    let all = model.embeddings.forward(images.clone()).unwrap();
    assert_eq!(model.vectors_of(all).unwrap().as_vec(), model.forward(images.clone()).unwrap().as_vec());

    let x = model.embeddings.forward(images.put_tape(OwnTape::default())).unwrap();
    let (class, patches) = split(x, Const::<1>, Patches::default(), axis::<ClassAndPatches<Config>>()).unwrap();
    let kept = Indices::new(&[3, 0, 3, 9], (batch, Kept), Patches::default()).unwrap();
    let patches: Embeddings<Kept> = gather(patches, axis::<Patches>(), &kept).unwrap();
    let seen: Embeddings<Sum<Const<1>, Kept>> = concat(class, patches, along::<Const<1>, Kept>()).unwrap();
    let loss = mean(Exp::apply(model.vectors_of(seen).unwrap()).unwrap()).unwrap();
    let gradient = loss.backward().unwrap().of(&model.embeddings.position).unwrap().as_vec();
    let is_seen = gradient.chunks(EmbedDim::SIZE).map(|row| row.iter().any(|gradient| *gradient != 0.0));
    // The class token and the patches 0, 3 and 9.
    let expected: Vec<bool> = (0..17).map(|row| [0, 1, 4, 10].contains(&row)).collect();
    assert_eq!(is_seen.collect::<Vec<_>>(), expected);
}
