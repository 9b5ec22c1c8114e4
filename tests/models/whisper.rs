//! Whisper computes what HuggingFace's `transformers` computes, as the models of `hugging_face.rs` do.

use crate::hugging_face::{
    Batch, compare_both, compare_gradients_with_reference, compare_targets, ids, load, reference,
};
use crate::numbers::device;
use crate::parity::{as_f64, assert_close};
use crate::recorded::OwnTape;
use crate::small_models::{VocabSize, small_whisper};
use dfdx::tensor::AutoDevice;
use typed_transformer::models::whisper::{Features, Whisper};
use typed_transformer::nn::Autoregressive;
use typed_transformer::ops::slice;
use typed_transformer::prelude::*;
use typed_transformer::ranks::Element;

dims! { Tgt = 7; Step = 1; }

compare_both!(whisper_agrees);

fn whisper_agrees<E: Element>()
where
    AutoDevice: Backend<E>,
{
    use small_whisper::Config;
    let (reference, batch) = (reference("whisper"), Batch::new(3));
    let model: Whisper<Config, E, AutoDevice> = load("whisper");
    let features: Features<Batch, Config, E, AutoDevice> =
        device().tensor((reference.elements("input.features"), (batch, small_whisper::NumMelBins, Product::default())));
    let encoded = model.encoder(features.clone(), NoneTape).unwrap();
    assert_close("encoder", &as_f64(&encoded), reference.numbers("output.encoder"), 1e-5);

    let target = reference.ids("input.decoder_ids");
    let logits = model.forward(features.clone(), &ids(&target, (batch, Tgt)), OwnTape::default()).unwrap();
    assert_close("logits", &as_f64(&logits), reference.numbers("output.logit"), 1e-5);
    // The label of the last position is the first token.
    let labels: Vec<usize> = target.chunks(7).flat_map(|row| row[1..].iter().chain(&row[..1])).copied().collect();
    let labels = LabelIds::from(ids(&labels, (batch, Tgt)));
    let loss = cross_entropy(logits.clone(), &labels, Reduction::MeanAll).unwrap();
    compare_gradients_with_reference(&model, loss, &reference);

    let encoded = model.encode(features).unwrap();
    let mut cache = encoded.cache(batch).unwrap();
    for position in 0..7 {
        let read: Vec<usize> = target.chunks(7).map(|row| row[position]).collect();
        let step = encoded.next_logits(&ids(&read, (batch, Step)), &mut cache).unwrap();
        let whole: Tensor<(Batch, Step, VocabSize), E, AutoDevice, _> =
            slice(logits.clone(), axis::<Tgt>(), position, Step).unwrap();
        assert_close("step", &as_f64(&step), &as_f64(&whole), 1e-5);
    }
    compare_targets(&encoded, batch, &reference.ids("output.greedy_without_repeats"), false);
}
