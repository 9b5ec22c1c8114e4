//! A cache of keys and values grows with the positions that it holds, and takes no memory for the others.

use crate::fixture::TypedModel;
use crate::numbers::device;
use dfdx::tensor::AutoDevice;
use proptest::prelude::*;
use rand::{Rng, SeedableRng, rngs::StdRng};
use std::marker::PhantomData;
use typed_transformer::models::llama::{Llama, LlamaConfig};
use typed_transformer::nn::{Autoregressive, Heads, KeyValueCache, Keys, Values};
use typed_transformer::ops::Rotary;
use typed_transformer::prelude::*;

dims! {
    Batch; Len; VocabSize = 11; EmbedDim = 12; HiddenDim = 10; NumLayers = 2; NumHeads = 6; NumKeyValueHeads = 2;
    HeadDim = 4; VODim = 3; Tiny = 1; Short = 8; MaxLen = 150; Large = 131_072;
}

/// A configuration of any maximum length. The parameters do not depend on it.
struct Config<MaxSeqLen>(PhantomData<fn() -> MaxSeqLen>);

impl<MaxSeqLen: ConstDim> LlamaConfig for Config<MaxSeqLen> {
    type VocabSize = VocabSize;
    type MaxSeqLen = MaxSeqLen;
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
type Model<MaxSeqLen, E> = Llama<Config<MaxSeqLen>, E, AutoDevice>;

fn random_ids(rng: &mut StdRng, rows: usize, len: usize) -> TokenIds<Batch, Len, VocabSize> {
    let ids: Vec<usize> = (0..rows * len).map(|_| rng.gen_range(0..VocabSize::SIZE)).collect();
    TokenIds::from_ids(&ids, None, (Batch::new(rows), Len::new(len))).unwrap()
}

/// The bytes that a cache and the reading of tokens allocate, token after token: those of each step.
fn bytes_of_steps<MaxSeqLen: ConstDim, E: Real>(steps: usize) -> Vec<u64>
where
    AutoDevice: Backend<E>,
{
    let model = Model::<MaxSeqLen, E>::build(&AutoDevice::seed_from_u64(1));
    let token = TokenIds::from_ids(&[7], None, (Const::<1>, Const::<1>)).unwrap();
    let run = || {
        let mut cache = None;
        let new = allocation_counter::measure(|| cache = Some(model.cache(Const::<1>).unwrap()));
        let mut cache = cache.unwrap();
        let step = |_| allocation_counter::measure(|| drop(model.next_logits(&token, &mut cache).unwrap()));
        let mut bytes = vec![new.bytes_total];
        bytes.extend((0..steps).map(step).map(|memory| memory.bytes_total));
        bytes
    };
    // The first run fills the pool of scratch memory.
    run();
    run()
}

#[test]
fn decoding_takes_nothing_for_positions_that_were_not_read() {
    // The names are equally long, because some operations format them. Handing work to other threads allocates a little
    // now and then.
    let differ = |(small, large): (u64, u64)| small.abs_diff(large) > 1_000;
    let steps_of = |[small, large]: [Vec<u64>; 2]| small.into_iter().zip(large);
    assert!(!steps_of([bytes_of_steps::<Short, f32>(8), bytes_of_steps::<Large, f32>(8)]).any(differ));
    // In f64 the definition runs, whose operations allocate what they compute.
    assert!(!steps_of([bytes_of_steps::<Short, f64>(8), bytes_of_steps::<Large, f64>(8)]).any(differ));
}

#[test]
fn all_steps_together_take_little_more_than_the_positions_that_they_read() {
    let bytes = bytes_of_steps::<Large, f64>(512);
    let of = |steps: std::ops::Range<usize>| bytes[1..][steps].iter().sum::<u64>();
    // Twice as many steps read three times as many positions as the first ones. Growth adds at most a quarter.
    assert!(of(256..512) < 4 * of(0..256), "{} and {} bytes", of(0..256), of(256..512));
}

#[test]
fn the_maximum_is_the_last_size_of_a_cache() {
    type Cache = KeyValueCache<Batch, MaxLen, Heads<NumKeyValueHeads, HeadDim, VODim>, f32, AutoDevice>;
    let (device, batch) = (device(), Batch::new(2));
    let mut cache = Cache::new(&device, batch).unwrap();
    let mut sizes = vec![cache.keys().shape().1.size()];
    for len in 1..=MaxLen::SIZE {
        let next = (batch, Len::new(1), Product::default());
        let (keys, values) = (device.zeros_like(&next), device.zeros_like(&(batch, Len::new(1), Product::default())));
        cache.append(&keys, &values).unwrap();
        let size = cache.keys().shape().1.size();
        assert!(len <= size && 4 * size <= 5 * len + 3, "room for {size} at {len}");
        assert_eq!(cache.values().shape().1.size(), size);
        sizes.push(size);
    }
    sizes.dedup();
    assert_eq!(sizes.last(), Some(&MaxLen::SIZE));
    assert!(sizes.len() < 30, "{sizes:?}");
    let next = (device.zeros_like(&(batch, Len::new(1), Product::default())), Product::default());
    let values = device.zeros_like(&(batch, Len::new(1), next.1));
    let error = cache.append(&next.0, &values).unwrap_err();
    assert_eq!(error.to_string(), "cache: Len=1 from 150 on is not inside MaxLen=150");
}

/// Appends drawn keys and values, piece by piece, and compares the cache with all of them.
fn check_appended<E: Real>(seed: u64, rows: usize, pieces: &[usize])
where
    AutoDevice: Backend<E>,
{
    type Cached = Heads<NumKeyValueHeads, HeadDim, VODim>;
    let (device, batch, mut rng) = (device(), Batch::new(rows), StdRng::seed_from_u64(seed));
    let mut cache = KeyValueCache::<Batch, MaxLen, Cached, E, AutoDevice>::new(&device, batch).unwrap();
    let mut appended = vec![(Vec::new(), Vec::new()); rows];
    for &len in pieces {
        let mut numbers =
            |count: usize| -> Vec<E> { (0..count).map(|_| E::from_f64(rng.gen_range(-1.0..1.0)).unwrap()).collect() };
        let (keys, values) = (numbers(rows * len * 8), numbers(rows * len * 6));
        let keys: Keys<_, _, Cached, E, AutoDevice> = device.tensor((keys, (batch, Len::new(len), Product::default())));
        let values: Values<_, _, Cached, E, AutoDevice> =
            device.tensor((values, (batch, Len::new(len), Product::default())));
        cache.append(&keys, &values).unwrap();
        for (row, (all_keys, all_values)) in appended.iter_mut().enumerate() {
            all_keys.extend_from_slice(&keys.as_vec()[row * len * 8..][..len * 8]);
            all_values.extend_from_slice(&values.as_vec()[row * len * 6..][..len * 6]);
        }
    }
    let (keys, values, room) = (cache.keys().as_vec(), cache.values().as_vec(), cache.keys().shape().1.size());
    for (row, (all_keys, all_values)) in appended.iter().enumerate() {
        assert_eq!(keys[row * room * 8..][..all_keys.len()], all_keys[..]);
        assert_eq!(values[row * room * 6..][..all_values.len()], all_values[..]);
    }
}

/// Reads drawn tokens, piece by piece, and compares the logits with those of one pass.
fn check_logits<E: Real>(seed: u64, rows: usize, pieces: &[usize], tolerance: f64)
where
    AutoDevice: Backend<E>,
{
    let model = Model::<MaxLen, E>::build(&AutoDevice::seed_from_u64(seed));
    let rng = &mut StdRng::seed_from_u64(seed);
    let mut cache = Autoregressive::<Batch, E, AutoDevice>::cache(&model, Batch::new(rows)).unwrap();
    let mut read = vec![Vec::new(); rows];
    for &len in pieces {
        let next = random_ids(rng, rows, len);
        for (row, read) in read.iter_mut().enumerate() {
            read.extend_from_slice(&next.as_slice()[row * len..][..len]);
        }
        let found = model.next_logits(&next, &mut cache).unwrap().as_vec();
        dims! { Read <= MaxLen; }
        let shape = (Batch::new(rows), Read::new(read[0].len()).unwrap());
        let all = TokenIds::from_ids(&read.concat(), None, shape).unwrap();
        let logits = model.forward(&all, NoneTape).unwrap().as_vec();
        let last = |row: usize| &logits[((row + 1) * read[0].len() - 1) * VocabSize::SIZE..][..VocabSize::SIZE];
        for (found, expected) in found.iter().zip((0..rows).flat_map(last)) {
            let difference = (*found - *expected).to_f64().unwrap().abs();
            assert!(difference < tolerance, "{found:?}, {expected:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn a_cache_holds_what_was_appended(
        seed in any::<u64>(), rows in 1usize..4, pieces in prop::collection::vec(1usize..30, 1..6),
    ) {
        check_appended::<f32>(seed, rows, &pieces);
        check_appended::<f64>(seed, rows, &pieces);
    }

    #[test]
    fn a_growing_cache_gives_the_logits_of_one_pass(
        seed in any::<u64>(), rows in 1usize..3, pieces in prop::collection::vec(1usize..25, 1..6),
    ) {
        check_logits::<f32>(seed, rows, &pieces, 1e-4);
        check_logits::<f64>(seed, rows, &pieces, 1e-9);
    }
}

#[test]
fn a_mask_is_for_the_positions_that_it_was_made_for() {
    let cache = KeyValueCache::<Batch, Short, TypedModel, f32, AutoDevice>::new(&device(), Batch::new(1)).unwrap();
    let mask = cache.mask(Len::new(3));
    assert_eq!(mask.as_slice(), [true, false, false, true, true, false, true, true, true]);
    // No cache has more positions than the maximum.
    assert_eq!(cache.mask(Len::new(20)).shape().2.size(), 8);
    assert_eq!(format!("{:?}", mask.shape().2), "CacheCapacity<Short>=3");
}

#[test]
fn a_cache_of_one_position_grows_no_further() {
    let model = Model::<Tiny, f32>::build(&device());
    let mut cache = model.cache(Const::<1>).unwrap();
    let token = TokenIds::from_ids(&[7], None, (Const::<1>, Const::<1>)).unwrap();
    model.next_logits(&token, &mut cache).unwrap();
    let error = model.next_logits(&token, &mut cache).unwrap_err();
    assert_eq!(error.to_string(), "cache: Const from 1 on is not inside Tiny=1");
}
