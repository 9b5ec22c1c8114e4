//! A Llama whose heads and hidden columns are divided among the ranks, written with public items alone: its logits, loss,
//! gradients and cached steps are those of `models::llama::Llama`.

use crate::numbers::random_like;
use crate::recorded::{OwnTape, Recorded};
use crate::tensor_parallel_models::{Compared, Loss, assert_close, build_whole, check};
use std::ops::Range;
use typed_transformer::dims::Factor;
use typed_transformer::models::llama::{Llama, LlamaConfig};
use typed_transformer::nn::{Autoregressive, Cache, CacheUpdate, Heads, init};
use typed_transformer::ops::{Activation, Rotary, Silu, grouped_query_attention, linear, rotary_positions};
use typed_transformer::prelude::*;
use typed_transformer::ranks;
use typed_transformer::ranks::{ConstRankAxis, Element, Ranks, Shard};
use typed_transformer::tensor_parallel::{Distributed, Sharded, all_reduce, enter, linear_column, linear_row};

/// The ranks divide the key and value heads and the hidden columns of a configuration.
trait DividesLlama<Config: LlamaConfig>:
    ConstRankAxis + Divides<Config::NumKeyValueHeads> + Divides<Config::HiddenDim>
{
}
impl<Config: LlamaConfig, Tp> DividesLlama<Config> for Tp where
    Tp: ConstRankAxis + Divides<Config::NumKeyValueHeads> + Divides<Config::HiddenDim>
{
}

/// The key and value heads of a rank.
type KeyValueHeads<Config, Tp> = Shard<<Config as LlamaConfig>::NumKeyValueHeads, Tp>;
/// The query heads of a rank, in groups that share a head of the keys.
type QueryHeads<Config, Tp> = Product<
    KeyValueHeads<Config, Tp>,
    Quotient<<Config as LlamaConfig>::NumHeads, <Config as LlamaConfig>::NumKeyValueHeads>,
>;
type QueryDim<Config, Tp> = Product<QueryHeads<Config, Tp>, <Config as LlamaConfig>::HeadDim>;
type KeyValueDim<Config, Tp> = Product<KeyValueHeads<Config, Tp>, <Config as LlamaConfig>::HeadDim>;
/// The heads whose keys and values a rank keeps.
type CachedHeadsOf<Config, Tp> =
    Heads<KeyValueHeads<Config, Tp>, <Config as LlamaConfig>::HeadDim, <Config as LlamaConfig>::HeadDim, Config>;

#[module(output = Config::EmbedDim)]
struct Attention<Config: LlamaConfig, Tp: DividesLlama<Config>, E, D> {
    #[param(init::zeros)]
    query: Tensor<(QueryDim<Config, Tp>, Config::EmbedDim), E, D>,
    #[param(init::zeros)]
    key: Tensor<(KeyValueDim<Config, Tp>, Config::EmbedDim), E, D>,
    #[param(init::zeros)]
    value: Tensor<(KeyValueDim<Config, Tp>, Config::EmbedDim), E, D>,
    #[param(init::zeros)]
    output: Tensor<(Config::EmbedDim, QueryDim<Config, Tp>), E, D>,
}

impl<Config: LlamaConfig, Tp: DividesLlama<Config>, E: Element, D: Backend<E>> Attention<Config, Tp, E, D> {
    fn forward<B: DataDim, Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, Q, Config::EmbedDim), E, D, T>,
        start: usize,
        mask: &AttentionMask<B, Q, K>,
        update_cache: impl CacheUpdate<B, Q, K, CachedHeadsOf<Config, Tp>, E, D, T>,
        tp: &Ranks<Tp>,
    ) -> Result<Tensor<(B, Q, Config::EmbedDim), E, D, T>, OpError> {
        let x = enter(x, tp)?;
        let query = rotate(linear_column(x.clone(), &self.query, None)?, start, Config::ROTARY)?;
        let key = rotate(linear_column(x.clone(), &self.key, None)?, start, Config::ROTARY)?;
        let (key, value) = update_cache((key, linear_column(x, &self.value, None)?))?;
        let attended = grouped_query_attention(query, key, value, mask, AttentionOptions::default())?;
        all_reduce(linear_row(attended, &self.output)?, tp)
    }
}

/// Each head, rotated by its position.
fn rotate<B: DataDim, S: Dim, H: Factor, HeadDim: Even, E: Real, D: Backend<E>, T: Tape<E, D>>(
    heads: Tensor<(B, S, Product<H, HeadDim>), E, D, T>,
    start: usize,
    rotary: Rotary,
) -> Result<Tensor<(B, S, Product<H, HeadDim>), E, D, T>, OpError> {
    let heads = rearrange!(heads: (B, S, Product<H, HeadDim>) -> (B, S, H, HeadDim))?;
    let rotated = rotary_positions(heads, axis::<S>(), start, rotary)?;
    rearrange!(rotated: (B, S, H, HeadDim) -> (B, S, Product<H, HeadDim>))
}

/// `output(silu(gate(x)) · hidden(x))`
#[module(output = Config::EmbedDim)]
struct FeedForward<Config: LlamaConfig, Tp: DividesLlama<Config>, E, D> {
    #[param(init::zeros)]
    gate: Tensor<(Shard<Config::HiddenDim, Tp>, Config::EmbedDim), E, D>,
    #[param(init::zeros)]
    hidden: Tensor<(Shard<Config::HiddenDim, Tp>, Config::EmbedDim), E, D>,
    #[param(init::zeros)]
    output: Tensor<(Config::EmbedDim, Shard<Config::HiddenDim, Tp>), E, D>,
}

impl<Config: LlamaConfig, Tp: DividesLlama<Config>, E: Element, D: Backend<E>> FeedForward<Config, Tp, E, D> {
    fn forward<B: DataDim, S: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, S, Config::EmbedDim), E, D, T>,
        tp: &Ranks<Tp>,
    ) -> Result<Tensor<(B, S, Config::EmbedDim), E, D, T>, OpError> {
        let x = enter(x, tp)?;
        let gate = Silu::apply(linear_column(x.clone(), &self.gate, None)?)?;
        let hidden = linear_column(x, &self.hidden, None)?;
        all_reduce(linear_row(mul(gate, hidden)?, &self.output)?, tp)
    }
}

#[module(output = Config::EmbedDim)]
struct Block<Config: LlamaConfig, Tp: DividesLlama<Config>, E, D> {
    #[param(init::ones)]
    attention_norm: Tensor<(Config::EmbedDim,), E, D>,
    attention: Attention<Config, Tp, E, D>,
    #[param(init::ones)]
    feed_forward_norm: Tensor<(Config::EmbedDim,), E, D>,
    feed_forward: FeedForward<Config, Tp, E, D>,
}

impl<Config: LlamaConfig, Tp: DividesLlama<Config>, E: Element, D: Backend<E>> Block<Config, Tp, E, D> {
    fn forward<B: DataDim, Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, Q, Config::EmbedDim), E, D, T>,
        start: usize,
        mask: &AttentionMask<B, Q, K>,
        update_cache: impl CacheUpdate<B, Q, K, CachedHeadsOf<Config, Tp>, E, D, T>,
        tp: &Ranks<Tp>,
    ) -> Result<Tensor<(B, Q, Config::EmbedDim), E, D, T>, OpError> {
        let read = rms_norm(x.clone(), &self.attention_norm, Config::NORM_EPSILON)?;
        let x = residual(x, self.attention.forward(read, start, mask, update_cache, tp)?)?;
        let read = rms_norm(x.clone(), &self.feed_forward_norm, Config::NORM_EPSILON)?;
        residual(x, self.feed_forward.forward(read, tp)?)
    }
}

/// A [`Llama`] with the names of its parameters, whose `NORMS` are `Norms::Before`.
#[module(output = Config::VocabSize)]
struct ParallelLlama<Config: LlamaConfig, Tp: DividesLlama<Config>, E, D> {
    #[param(init::zeros)]
    token_embedder: Tensor<(Config::VocabSize, Config::EmbedDim), E, D>,
    layers: Layers<Config::NumLayers, Block<Config, Tp, E, D>>,
    #[param(init::ones)]
    norm: Tensor<(Config::EmbedDim,), E, D>,
    #[some_if(!Config::TIED_LOGITS)]
    #[param(init::zeros)]
    logit: Option<Tensor<(Config::VocabSize, Config::EmbedDim), E, D>>,
}

impl<Config: LlamaConfig, Tp: DividesLlama<Config>, E: Element, D: Backend<E>> Sharded<Tp, E, D>
    for ParallelLlama<Config, Tp, E, D>
{
    type Whole = Llama<Config, E, D>;
}

/// What a rank keeps of a sequence.
type ParallelCache<B, Config, Tp, E> =
    Cache<B, <Config as LlamaConfig>::MaxSeqLen, <Config as LlamaConfig>::NumLayers, CachedHeadsOf<Config, Tp>, E, Cpu>;

impl<Config: LlamaConfig, Tp: DividesLlama<Config>, E: Element> ParallelLlama<Config, Tp, E, Cpu>
where
    Cpu: Backend<E>,
{
    fn logits<B: DataDim, S: Dim, T: Tape<E, Cpu>>(
        &self,
        x: Tensor<(B, S, Config::EmbedDim), E, Cpu, T>,
    ) -> Result<Tensor<(B, S, Config::VocabSize), E, Cpu, T>, OpError> {
        let x = rms_norm(x, &self.norm, Config::NORM_EPSILON)?;
        linear(x, self.logit.as_ref().unwrap_or(&self.token_embedder), None)
    }

    fn forward<B: DataDim, S: Dim, T: Tape<E, Cpu>>(
        &self,
        ids: &TokenIds<B, S, Config::VocabSize>,
        tape: T,
        tp: &Ranks<Tp>,
    ) -> Result<Tensor<(B, S, Config::VocabSize), E, Cpu, T>, OpError> {
        let mask = mk_mask::<CausalMask, PadSourceKeys, B, S>(&ids.padding_mask());
        let mut x = embed(&self.token_embedder, ids, tape)?;
        for block in &self.layers {
            x = block.forward(x, 0, &mask, Ok, tp)?;
        }
        self.logits(x)
    }

    fn decode<B: DataDim, S: Dim>(
        &self,
        ids: &TokenIds<B, S, Config::VocabSize>,
        cache: &mut ParallelCache<B, Config, Tp, E>,
        tp: &Ranks<Tp>,
    ) -> Result<Tensor<(B, S, Config::VocabSize), E, Cpu>, OpError> {
        let (start, mask) = cache.advance(&self.norm, ids.shape())?;
        let mut x = embed(&self.token_embedder, ids, NoneTape)?;
        for (block, cache) in self.layers.iter().zip(&mut cache.layers) {
            x = block.forward(x, start, &mask, |new| cache.update(new), tp)?;
        }
        self.logits(x)
    }
}

ranks! { One = 1; Two = 2; Four = 4; }
dims! {
    VocabSize = 13; MaxSeqLen = 9; EmbedDim = 10; HiddenDim = 12; NumLayers = 2; NumHeads = 12; NumKeyValueHeads = 4;
    HeadDim = 6; Batch; SeqLen <= MaxSeqLen;
}

/// Three query heads share a head of the keys.
struct Small<const TIED: bool>;
impl<const TIED: bool> LlamaConfig for Small<TIED> {
    type VocabSize = VocabSize;
    type MaxSeqLen = MaxSeqLen;
    type EmbedDim = EmbedDim;
    type HiddenDim = HiddenDim;
    type NumLayers = NumLayers;
    type NumHeads = NumHeads;
    type NumKeyValueHeads = NumKeyValueHeads;
    type HeadDim = HeadDim;
    const NORM_EPSILON: f64 = 1e-5;
    const ROTARY: Rotary = Rotary::halves(100.0);
    const TIED_LOGITS: bool = TIED;
}

/// What a decoder reads first.
const START: Fin<VocabSize> = Fin::literal::<1>();

/// Two sequences. The second ends in padding.
fn ids(len: usize) -> TokenIds<Batch, SeqLen, VocabSize> {
    let mut ids: Vec<usize> = (0..2 * len).map(|i| 1 + (i * 5 + 3) % 12).collect();
    ids[2 * len - 1] = 0;
    TokenIds::from_ids(&ids, Some(Fin::literal::<0>()), (Batch::new(2), SeqLen::new(len).unwrap())).unwrap()
}

impl<Tp: DividesLlama<Small<TIED>>, E: Element, const TIED: bool> Compared<Tp, E>
    for ParallelLlama<Small<TIED>, Tp, E, Cpu>
where
    Cpu: Backend<E>,
{
    fn loss(&self, ranks: &Ranks<Tp>) -> Loss<E> {
        let (inputs, labels) = ids(7).teacher_forcing(START);
        let logits = self.forward(&inputs, OwnTape::default(), ranks).unwrap();
        cross_entropy(logits, &labels, Reduction::MeanAll).unwrap()
    }

    fn loss_of_whole(whole: &Self::Whole) -> Loss<E> {
        let (inputs, labels) = ids(7).teacher_forcing(START);
        let logits = whole.forward(&inputs, OwnTape::default()).unwrap();
        cross_entropy(logits, &labels, Reduction::MeanAll).unwrap()
    }
}

/// Compares the logits of a pass, and those of cached steps of 3, 1, 2 and 1 tokens, with those of one rank.
fn check_logits<Tp: DividesLlama<Small<true>>, E: Element>(tolerance: f64)
where
    Cpu: Backend<E>,
{
    type Part<Tp, E> = ParallelLlama<Small<true>, Tp, E, Cpu>;
    let whole = build_whole::<Part<Tp, E>, Tp, E>();
    let tokens = |range: Range<usize>| {
        let all: Vec<usize> = (0..2 * 7).map(|i| 1 + (i * 5 + 3) % 12).collect();
        let rows: Vec<usize> = all.chunks(7).flat_map(|row| row[range.clone()].to_vec()).collect();
        TokenIds::<_, _, VocabSize>::from_ids(&rows, None, (Batch::new(2), SeqLen::new(range.len()).unwrap())).unwrap()
    };
    const STEPS: [Range<usize>; 4] = [0..3, 3..4, 4..6, 6..7];
    let expected = whole.forward(&ids(7), NoneTape).unwrap().as_vec();
    let mut cache = whole.cache(Batch::new(2)).unwrap();
    let expected_steps = STEPS.map(|step| whole.all_logits(&tokens(step), &mut cache).unwrap().as_vec());

    Ranks::<Tp>::in_threads(Tp::EXPECTED_SIZE.unwrap(), |ranks| {
        let model = Distributed::<Part<Tp, E>, Tp>::from_whole(&whole, &Cpu::default(), ranks).unwrap();
        let logits = model.forward(&ids(7), NoneTape, ranks).unwrap();
        assert_close(&logits.as_vec(), &expected, tolerance, "the logits");
        let mut cache = Cache::new(&model.norm, Batch::new(2)).unwrap();
        for (step, expected) in STEPS.into_iter().zip(&expected_steps) {
            let logits = model.decode(&tokens(step.clone()), &mut cache, ranks).unwrap();
            assert_close(&logits.as_vec(), expected, tolerance, &format!("the logits of the cached step {step:?}"));
        }
        // A rank keeps the keys of its heads alone.
        let [_, _, columns] = cache.layers[0].keys().shape().concrete();
        assert_eq!(columns * ranks.size(), NumKeyValueHeads::SIZE * HeadDim::SIZE);
    });
}

/// Runs a check on 1, 2 and 4 ranks.
macro_rules! on_ranks {
    ($check:ident::<$($ranks:ident)*>($element:ty, $tolerance:expr)) => {
        $($check::<$ranks, $element>($tolerance);)*
    };
}

/// The loss, the gradients of all parameters, and two updates.
fn check_training<Tp: DividesLlama<Small<true>> + DividesLlama<Small<false>>, E>(tolerance: f64)
where
    E: Element + std::fmt::Display,
    Cpu: Backend<E>,
{
    check::<ParallelLlama<Small<true>, Tp, E, Cpu>, Tp, E>(tolerance);
    check::<ParallelLlama<Small<false>, Tp, E, Cpu>, Tp, E>(tolerance);
}

#[test]
fn a_llama_of_shards_computes_the_logits_of_one_rank_with_and_without_a_cache() {
    on_ranks!(check_logits::<One Two Four>(f32, 1e-5));
    on_ranks!(check_logits::<One Two Four>(f64, 1e-10));
}

#[test]
fn a_llama_of_shards_trains_as_that_of_one_rank() {
    on_ranks!(check_training::<One Two Four>(f32, 1e-5));
    on_ranks!(check_training::<One Two Four>(f64, 1e-10));
}

#[test]
fn dropout_of_sharded_heads_is_refused_where_their_place_is_not_known() {
    fn attend<Tp: ConstRankAxis + Divides<NumHeads>>() -> Option<OpError> {
        type Heads<Tp> = Tensor<(Const<1>, Const<2>, Product<Shard<NumHeads, Tp>, HeadDim>), f64, Cpu>;
        let heads: Heads<Tp> = Cpu::default().zeros();
        let mask = AttentionMask::all_visible((Const, Const, Const));
        let options = AttentionOptions { dropout: 0.5, ..AttentionOptions::default() };
        multi_head_attention(heads.recorded(), heads.recorded(), heads.recorded(), &mask, options).err()
    }
    assert_eq!(attend::<One>(), None);
    assert_eq!(
        attend::<Two>().unwrap().to_string(),
        "attention: dropout does not know which heads `Shard<NumHeads, Two>` are; `multi_head_attention` and \
         `grouped_query_attention` of `tensor_parallel` take the ranks, and drop what one rank would drop",
    );
}

#[test]
fn a_scale_by_the_width_counts_the_heads_of_all_ranks() {
    fn attend<Heads: Factor>(x: &[f64]) -> Vec<f64> {
        let heads = |x: &[f64]| -> Tensor<(Const<1>, Const<2>, Product<Heads, HeadDim>), f64, Cpu> {
            Cpu::default().tensor(x.to_vec())
        };
        let mask = AttentionMask::all_visible((Const, Const, Const));
        let options = AttentionOptions { scale: AttentionScale::EmbedDim, ..AttentionOptions::default() };
        multi_head_attention(heads(x), heads(x), heads(x), &mask, options).unwrap().as_vec()
    }
    // Of 12 heads, each of two ranks has 6, here with the same numbers.
    let row = |seed: u64| random_like(seed, (Const::<36>,)).as_vec();
    let (first, second) = (row(1), row(2));
    let part = attend::<Shard<NumHeads, Two>>(&[&first[..], &second].concat());
    let whole = attend::<NumHeads>(&[&first[..], &first, &second, &second].concat());
    let columns: Vec<f64> = whole.chunks(72).flat_map(|row| row[..36].to_vec()).collect();
    assert_close(&part, &columns, 1e-12, "a part of the heads");
}
