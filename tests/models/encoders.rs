//! CLIP and ModernBERT compute what HuggingFace's `transformers` computes, as the models of `hugging_face.rs` do.

use crate::hugging_face::{Batch, compare_both, compare_gradients_with_reference, ids, load, reference};
use crate::numbers::device;
use crate::parity::{as_f64, assert_close};
use crate::recorded::OwnTape;
use crate::small_models::{VocabSize, small_clip, small_modern_bert};
use dfdx::tensor::{AutoDevice, PutTape};
use typed_transformer::models::clip::Clip;
use typed_transformer::models::modern_bert::ModernBert;
use typed_transformer::models::vit::Images;
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
