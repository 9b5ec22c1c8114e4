//! A cache is copied, truncated, reordered, and slid along with a window: decoding then goes on as a fresh cache would.

use crate::fixture::{self, TypedModel};
use crate::numbers::device;
use dfdx::tensor::AutoDevice;
use rand::{Rng, SeedableRng, rngs::StdRng};
use typed_transformer::mask::SlidingWindow;
use typed_transformer::models::llama::{Llama, LlamaConfig};
use typed_transformer::models::t5::{T5, T5Config};
use typed_transformer::nn::{Autoregressive, Block, EditableCache, Heads, KeyValueCache};
use typed_transformer::ops::{RelativeBuckets, Rotary, relative_position_bias, slice};
use typed_transformer::prelude::*;
use typed_transformer::tokens::Indices;

dims! {
    Batch; Len; Src; VocabSize = 11; EmbedDim = 12; HiddenDim = 10; NumLayers = 2; NumHeads = 6; NumKeyValueHeads = 2;
    HeadDim = 4; MaxLen = 60; Width = 5; NumBuckets = 8;
}

struct Config;

impl LlamaConfig for Config {
    type VocabSize = VocabSize;
    type MaxSeqLen = MaxLen;
    type EmbedDim = EmbedDim;
    type HiddenDim = HiddenDim;
    type NumLayers = NumLayers;
    type NumHeads = NumHeads;
    type NumKeyValueHeads = NumKeyValueHeads;
    type HeadDim = HeadDim;
    const NORM_EPSILON: f64 = 1e-5;
    const ROTARY: Rotary = Rotary::halves(10_000.0);
    const TIED_LOGITS: bool = true;
}

impl T5Config for Config {
    type VocabSize = VocabSize;
    type MaxTgtLen = MaxLen;
    type EmbedDim = EmbedDim;
    type NumHeads = NumHeads;
    type HeadDim = HeadDim;
    type HiddenDim = HiddenDim;
    type NumEncoderLayers = NumLayers;
    type NumDecoderLayers = NumLayers;
    type NumBuckets = NumBuckets;
    const MAX_DISTANCE: usize = 20;
    const NORM_EPSILON: f64 = 1e-6;
}

/// The rows of a batch. A token may be any of 9.
type Rows = [Vec<usize>; 3];

/// The rows that reordering takes.
const ORDER: [usize; 3] = [2, 0, 0];

fn draw(rng: &mut StdRng, len: usize) -> Rows {
    [(); 3].map(|()| (0..len).map(|_| rng.gen_range(0..9)).collect())
}

fn reordered(rows: &Rows) -> Rows {
    ORDER.map(|row| rows[row].clone())
}

fn ids<Size: Dim, V: ConstDim>(rows: &Rows, len: Size) -> TokenIds<Batch, Size, V> {
    TokenIds::from_ids(&rows.concat(), None, (Batch::new(3), len)).unwrap()
}

/// The logits after the pieces.
fn read<M: Autoregressive<Batch, f32, AutoDevice>>(model: &M, cache: &mut M::Cache, pieces: &[&Rows]) -> Vec<f32> {
    let read = |piece: &&Rows| model.next_logits(&ids(piece, Len::new(piece[0].len())), cache).unwrap().as_vec();
    pieces.iter().map(read).last().unwrap()
}

fn read_afresh<M: Autoregressive<Batch, f32, AutoDevice>>(model: &M, pieces: &[&Rows]) -> Vec<f32> {
    read(model, &mut model.cache(Batch::new(3)).unwrap(), pieces)
}

fn assert_close(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-5, "{found}, {expected}");
    }
}

/// Compares edited caches of `$model` with fresh ones. `$reordered` is the model with its sources in `ORDER`.
macro_rules! check_edits {
    ($model:expr, $reordered:expr, $rng:expr) => {
        let [prompt, rejected, next] = [6, 4, 2].map(|len| draw($rng, len));
        let (model, batch) = ($model, Batch::new(3));
        let mut cache = Autoregressive::<Batch, f32, AutoDevice>::cache(model, batch).unwrap();
        read(model, &mut cache, &[&prompt]);
        let copy = cache.clone();

        read(model, &mut cache, &[&rejected]);
        cache.truncate(100).unwrap();
        assert_eq!((cache.len(), copy.len()), (10, 6));
        cache.truncate(6).unwrap();
        let expected = read_afresh(model, &[&prompt, &next]);
        assert_close(&read(model, &mut cache, &[&next]), &expected);
        assert_close(&read(model, &mut copy.clone(), &[&next]), &expected);

        let mut cache = copy.clone();
        cache.reorder(&Indices::new(&ORDER, (batch,), batch).unwrap()).unwrap();
        assert_close(&read(model, &mut cache, &[&next]), &read_afresh($reordered, &[&reordered(&prompt), &next]));

        let two = Indices::new(&[0, 1], (Batch::new(2),), Batch::new(2)).unwrap();
        let error = cache.reorder(&two).unwrap_err().to_string();
        assert_eq!(error, "cache: `Batch` is 3 in the cache and 2 in the rows");
    };
}

#[test]
fn a_decoder_goes_on_from_an_edited_cache() {
    let rng = &mut StdRng::seed_from_u64(4);
    let model = &Llama::<Config, f32, AutoDevice>::build(&AutoDevice::seed_from_u64(1));
    check_edits!(model, model, rng);
}

#[test]
fn an_encoder_decoder_goes_on_from_an_edited_cache() {
    let rng = &mut StdRng::seed_from_u64(5);
    let sources = draw(rng, 5);
    let len = fixture::SrcLen::new(5).unwrap();
    let model = LM::<TypedModel, f32, AutoDevice>::build(&AutoDevice::seed_from_u64(2));
    let [encoded, other] = [&sources, &reordered(&sources)].map(|rows| {
        let batch: TokenIds<Batch, fixture::SrcLen, fixture::SrcVocab> = ids(rows, len);
        model.encode(&batch).unwrap()
    });
    check_edits!(&encoded, &other, rng);

    // Rows of T5's sources have padding of their own.
    let sources = sources.map(|row| [row, vec![9; 2]].concat());
    let model = T5::<Config, f32, AutoDevice>::build(&AutoDevice::seed_from_u64(3));
    let [encoded, other] = [&sources, &reordered(&sources)].map(|rows| {
        let pad = Some(Fin::literal::<9>());
        let shape = (Batch::new(3), Src::new(7));
        model.encode(&TokenIds::from_ids(&rows.concat(), pad, shape).unwrap()).unwrap()
    });
    check_edits!(&encoded, &other, rng);
}

#[test]
fn a_sliding_window_keeps_less_than_two_windows() {
    type Layer = Block<fixture::EmbedDim, SlidingWindow<Width>, TypedModel, f32, AutoDevice>;
    let device = AutoDevice::seed_from_u64(6);
    let (layer, batch) = (Layer::build(&device), Batch::new(2));
    let mut cache = KeyValueCache::<Batch, MaxLen, TypedModel, f32, AutoDevice>::new(&device, batch).unwrap();
    let x: Tensor<(Batch, Len, fixture::EmbedDim), f32, AutoDevice> =
        device.sample_like(&(batch, Len::new(50), Default::default()), rand_distr::StandardNormal);
    let whole = layer.forward(x.clone(), &PaddingMask::without_padding((batch, Len::new(50)))).unwrap().as_vec();
    let (mut start, mut sizes) = (0, (1..=4).cycle());
    while start < 50 {
        let len = sizes.next().unwrap().min(50 - start);
        let part = slice(x.clone(), axis::<Len>(), start, Src::new(len)).unwrap();
        let found = layer.forward_cached(part, &mut cache).unwrap().as_vec();
        for row in 0..2 {
            let expected = &whole[(row * 50 + start) * fixture::EmbedDim::SIZE..][..len * fixture::EmbedDim::SIZE];
            assert_close(&found[row * expected.len()..][..expected.len()], expected);
        }
        start += len;
        assert_eq!(cache.len(), start);
        assert!(cache.keys().shape().1.size() <= (2 * Width::SIZE + 4) * 5 / 4, "{cache:?}");
    }
    // Positions at the end are taken back, but not those that the window has dropped.
    cache.truncate(48).unwrap();
    assert_eq!(cache.len(), 48);
    let error = cache.truncate(20).unwrap_err().to_string();
    assert!(error.starts_with("cache: a window of 5 positions from 16 on is not inside the kept positions"), "{error}");
    // An empty cache needs nothing of what was dropped.
    cache.truncate(0).unwrap();
    let part = slice(x, axis::<Len>(), 0, Src::new(7)).unwrap();
    let found = layer.forward_cached(part, &mut cache).unwrap().as_vec();
    assert_close(&found[..7 * fixture::EmbedDim::SIZE], &whole[..7 * fixture::EmbedDim::SIZE]);
}

/// The keys of the tensors are those that the window kept, so a bias by position does not begin at the first position.
#[test]
fn a_position_bias_follows_a_sliding_window() {
    type Columns = Product<NumHeads, HeadDim>;
    type Held = KeyValueCache<Batch, MaxLen, Heads<NumHeads, HeadDim, HeadDim>, f32, AutoDevice>;
    let (device, batch) = (AutoDevice::seed_from_u64(9), Batch::new(2));
    let mut cache = Held::new(&device, batch).unwrap();
    let x: Tensor<(Batch, Len, Columns), f32, AutoDevice> =
        device.sample_normal_like(&(batch, Len::new(50), Columns::default()));
    let table: Tensor<(NumBuckets, NumHeads), f32, AutoDevice> = device.sample_normal();
    let buckets = RelativeBuckets { bidirectional: false, max_distance: 8 };
    let padding = PaddingMask::without_padding((batch, Len::new(50)));
    let mask = mk_mask::<SlidingWindow<Width>, PadSourceKeys, _, _>(&padding);
    let bias = relative_position_bias(&table, buckets, 0, (Len::new(50), Len::new(50)), NoneTape).unwrap();
    let options = AttentionOptions { bias: Some(bias), ..AttentionOptions::default() };
    let whole = multi_head_attention(x.clone(), x.clone(), x.clone(), &mask, options).unwrap().as_vec();

    let (mut start, mut sizes) = (0, (1..=4).cycle());
    while start < 50 {
        let len = Src::new(sizes.next().unwrap().min(50 - start));
        let part = slice(x.clone(), axis::<Len>(), start, len).unwrap();
        cache.slide::<SlidingWindow<Width>>().unwrap();
        let mask = cache.mask_of_kind::<SlidingWindow<Width>, _>(len);
        let lengths = (len, mask.shape().2);
        let bias = relative_position_bias(&table, buckets, cache.num_held(), lengths, NoneTape).unwrap();
        let (keys, values) = cache.update((part.clone(), part.clone())).unwrap();
        let options = AttentionOptions { bias: Some(bias), ..AttentionOptions::default() };
        let found = multi_head_attention(part, keys, values, &mask, options).unwrap().as_vec();
        for (found, whole) in found.chunks(found.len() / 2).zip(whole.chunks(whole.len() / 2)) {
            assert_close(found, &whole[start * Columns::SIZE..][..found.len()]);
        }
        start += len.size();
    }
    assert!(cache.num_held() < 2 * Width::SIZE + 4 && cache.len() == 50, "{cache:?}");
}

#[test]
fn a_batch_of_no_rows_is_reordered() {
    let (device, batch) = (device(), Batch::new(0));
    let mut cache = KeyValueCache::<Batch, MaxLen, TypedModel, f32, AutoDevice>::new(&device, batch).unwrap();
    cache.reorder(&Indices::new(&[], (batch,), batch).unwrap()).unwrap();
    assert!(cache.is_empty());
}

#[test]
fn rows_of_another_batch_are_refused() {
    let mask = PaddingMask::from_lengths(&[1, 2], (Batch::new(2), Len::new(2))).unwrap();
    let rows = Indices::new(&[1], (Batch::new(1),), Batch::new(2)).unwrap();
    let error = mask.take_rows(&rows).unwrap_err();
    assert_eq!(error.to_string(), "`Batch` is 2 in the mask and 1 in the rows");
}

/// A cache of one model is refused by another model of the same type, and serves a copy of its own.
fn check_owner<M: Autoregressive<Batch, f32, AutoDevice>>(model: &M, copy: &M, other: &M, rng: &mut StdRng)
where
    M::Cache: Clone,
{
    let next: TokenIds<Batch, Len, M::VocabSize> = ids(&draw(rng, 2), Len::new(2));
    let mut cache = model.cache(Batch::new(3)).unwrap();
    assert_eq!(other.next_logits(&next, &mut cache).unwrap_err(), OpError::OtherCache);
    let expected = model.next_logits(&next, &mut cache.clone()).unwrap().as_vec();
    assert_eq!(copy.next_logits(&next, &mut cache).unwrap().as_vec(), expected);
}

#[test]
fn a_cache_serves_the_model_that_made_it() {
    let (rng, device) = (&mut StdRng::seed_from_u64(7), AutoDevice::seed_from_u64(8));
    let [model, other] = [(); 2].map(|()| Llama::<Config, f32, AutoDevice>::build(&device));
    let copy = Box::new(model.clone());
    check_owner(&model, &copy, &other, rng);

    let [model, other] = [(); 2].map(|()| LM::<TypedModel, f32, AutoDevice>::build(&device));
    let copy = Box::new(model.clone());
    let sources: TokenIds<Batch, fixture::SrcLen, fixture::SrcVocab> =
        ids(&draw(rng, 5), fixture::SrcLen::new(5).unwrap());
    let [encoded, of_copy, of_other] = [&model, &copy, &other].map(|model| model.encode(&sources).unwrap());
    check_owner(&encoded, &of_copy, &of_other, rng);
}
