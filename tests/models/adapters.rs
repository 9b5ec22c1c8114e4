//! LoRA adapters beside a Llama whose weights stay in 8 bits: a pass of a program's own over the public fields of a
//! published model.

use crate::hugging_face::load;
use crate::parity::{as_f64, assert_close};
use crate::small_models::{NumLayers, VocabSize, small_llama::*};
use dfdx::tensor::AutoDevice;
use typed_transformer::generate::{Generation, Sampler};
use typed_transformer::models::llama::{Llama, LlamaConfig};
use typed_transformer::nn::{Autoregressive, Cache, CacheUpdate, Heads, Lora, Precision, Q8, WithPrecision};
use typed_transformer::ops::{Activation, Silu, grouped_query_attention, rotary_positions, slice_last};
use typed_transformer::prelude::*;
use typed_transformer::train::{Adam, update};

dims! { Rank = 2; Text = 8; }

const ALPHA: f64 = 16.0;
type D = AutoDevice;
type Logits<B, S, T> = Tensor<(B, S, VocabSize), f32, D, T>;
type Vectors<B, S, T, M = EmbedDim> = Tensor<(B, S, M), f32, D, T>;
type QueryDim = Product<Product<NumKeyValueHeads, Quotient<NumHeads, NumKeyValueHeads>>, HeadDim>;
type KeyValueDim = Product<NumKeyValueHeads, HeadDim>;
type CachedHeads = Heads<NumKeyValueHeads, HeadDim, HeadDim, Config>;

/// The adapters are a module of their own, so they train alone.
#[module]
struct Adapters<E, D> {
    layers: Layers<NumLayers, Adapter<E, D>>,
}
#[module]
struct Adapter<E, D> {
    query: Lora<EmbedDim, QueryDim, Rank, E, D>,
    value: Lora<EmbedDim, KeyValueDim, Rank, E, D>,
}

struct Adapted<'a, P: Precision> {
    base: &'a Llama<Config, f32, D, P>,
    adapters: &'a Adapters<f32, D>,
}

impl<P: Precision> Adapted<'_, P> {
    fn forward<B: Dim, S: AtMost<MaxSeqLen>, T: Tape<f32, D>>(
        &self,
        ids: &TokenIds<B, S, VocabSize>,
        tape: T,
    ) -> Result<Logits<B, S, T>, OpError> {
        let mask = mk_mask::<CausalMask, PadSourceKeys, B, S>(&ids.padding_mask());
        let mut x = P::embed(&self.base.token_embedder, ids, tape)?;
        for layer in 0..NumLayers::SIZE {
            x = self.layer(layer, x, 0, &mask, Ok)?;
        }
        self.logits(x)
    }

    fn layer<B: Dim, Q: Dim, K: Dim, T: Tape<f32, D>>(
        &self,
        layer: usize,
        x: Vectors<B, Q, T>,
        start: usize,
        mask: &AttentionMask<B, Q, K>,
        update_cache: impl CacheUpdate<B, Q, K, CachedHeads, f32, D, T>,
    ) -> Result<Vectors<B, Q, T>, OpError> {
        let (layer, adapter) = (&self.base.layers[layer], &self.adapters.layers[layer]);
        let (attention, feed_forward) = (&layer.attention, &layer.feed_forward);
        let input = rms_norm(x.clone(), &layer.attention_norm, Config::NORM_EPSILON)?;
        let query = P::linear(input.clone(), &attention.query, None)?;
        let query = rotate(residual(query, adapter.query.change(input.clone(), ALPHA)?)?, start)?;
        let key = rotate(P::linear(input.clone(), &attention.key, None)?, start)?;
        let value = P::linear(input.clone(), &attention.value, None)?;
        let (key, value) = update_cache((key, residual(value, adapter.value.change(input, ALPHA)?)?))?;
        let attended = grouped_query_attention(query, key, value, mask, AttentionOptions::default())?;
        let x = residual(x, P::linear(attended, &attention.output, None)?)?;
        let input = rms_norm(x.clone(), &layer.feed_forward_norm, Config::NORM_EPSILON)?;
        let gate = Silu::apply(P::linear(input.clone(), &feed_forward.gate, None)?)?;
        let hidden = mul(gate, P::linear(input, &feed_forward.hidden, None)?)?;
        residual(x, P::linear(hidden, &feed_forward.output, None)?)
    }

    fn logits<B: Dim, S: Dim, T: Tape<f32, D>>(&self, x: Vectors<B, S, T>) -> Result<Logits<B, S, T>, OpError> {
        let weight = self.base.logit.as_ref().unwrap_or(&self.base.token_embedder);
        P::linear(rms_norm(x, &self.base.norm, Config::NORM_EPSILON)?, weight, None)
    }
}

/// The heads, rotated by their positions. Those of a Qwen3 are first normalized by its `query_norm` or `key_norm`.
fn rotate<B: Dim, S: Dim, H: ConstDim, T: Tape<f32, D>>(
    x: Vectors<B, S, T, Product<H, HeadDim>>,
    start: usize,
) -> Result<Vectors<B, S, T, Product<H, HeadDim>>, OpError> {
    let heads = rearrange!(x: (B, S, Product<H, HeadDim>) -> (B, S, H, HeadDim))?;
    let heads = rotary_positions(heads, axis::<S>(), start, Config::ROTARY)?;
    rearrange!(heads: (B, S, H, HeadDim) -> (B, S, Product<H, HeadDim>))
}

impl<P: Precision, B: Dim> Autoregressive<B, f32, D> for Adapted<'_, P> {
    type VocabSize = VocabSize;
    type MaxSeqLen = MaxSeqLen;
    type Cache = Cache<B, MaxSeqLen, NumLayers, CachedHeads, f32, D>;

    fn cache(&self, batch: B) -> Result<Self::Cache, OpError> {
        Cache::new(&self.base.norm, batch)
    }

    fn last_logits<S: Dim, Last: Dim>(
        &self,
        ids: &TokenIds<B, S, VocabSize>,
        cache: &mut Self::Cache,
        last: Last,
    ) -> Result<Logits<B, Last, NoneTape>, OpError> {
        let (start, mask) = cache.advance(&self.base.norm, ids.shape())?;
        let mut x = P::embed(&self.base.token_embedder, ids, NoneTape)?;
        for (layer, cache) in cache.layers.iter_mut().enumerate() {
            x = self.layer(layer, x, start, &mask, |new| cache.update(new))?;
        }
        self.logits(slice_last(x, axis::<S>(), last)?)
    }
}

#[test]
fn adapters_beside_a_llama_in_8_bits() {
    let base: Llama<Config, f32, D> = load("llama");
    let (stored, mut adapters) = (base.with_precision::<Q8>().unwrap(), Adapters::build(base.norm.device()));
    let ids = TokenIds::from_ids(&[7, 4, 24, 0, 3, 9, 61, 5], None, (Const::<1>, Text)).unwrap();
    let (inputs, labels) = ids.teacher_forcing(Fin::literal::<96>());
    let (mut adam, mut losses) = (Adam::default(), Vec::new());
    for _ in 0..30 {
        let logits = Adapted { base: &stored, adapters: &adapters }.forward(&inputs, adapters.recording()).unwrap();
        let loss = cross_entropy(logits, &labels, Reduction::MeanAll).unwrap();
        losses.push(loss.array());
        update(&mut adapters, loss.backward().unwrap(), &mut adam, 1e-2, 1.0).unwrap();
    }
    assert!(losses[29] < 0.8 * losses[0], "{losses:?}");

    let mut merged = base.clone();
    for (layer, adapter) in merged.layers.iter_mut().zip(&adapters.layers) {
        layer.attention.query = adapter.query.merged(&layer.attention.query, ALPHA, NoneTape).unwrap();
        layer.attention.value = adapter.value.merged(&layer.attention.value, ALPHA, NoneTape).unwrap();
    }
    let adapted = Adapted { base: &base, adapters: &adapters }.forward(&inputs, NoneTape).unwrap();
    assert_close("logits", &as_f64(&adapted), &as_f64(&merged.forward(&inputs, NoneTape).unwrap()), 1e-5);
    let adapted = greedy_text(&Adapted { base: &stored, adapters: &adapters });
    assert_eq!(adapted, greedy_text(&merged.with_precision::<Q8>().unwrap()));
    assert_ne!(adapted, greedy_text(&stored));
}

fn greedy_text(model: &impl Autoregressive<Const<1>, f32, D, VocabSize = VocabSize>) -> Vec<Fin<VocabSize>> {
    let start = TokenIds::from_ids(&[96], None, (Const, Const::<1>)).unwrap();
    let text = Generation::with_own_sampler(model, &start, None, Sampler::greedy()).unwrap();
    text.map(|tokens| tokens.unwrap()[0].unwrap()).collect()
}
