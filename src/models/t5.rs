//! T5 ([Raffel et al., 2019](https://arxiv.org/abs/1910.10683)): an encoder-decoder whose attention adds a learned bias
//! for each bucket of relative positions, without biases in its linear maps.
//!
//! | in the paper | in `modeling_t5.py` | here |
//! | --- | --- | --- |
//! | 2.1, relative position embeddings, shared by all layers | `compute_bias`, `_relative_position_bucket` | [`relative_position_bias`], [`T5::encoder_position_bias`] |
//! | 2.1, attention | `T5Attention` without a scale | [`Attention`], [`AttentionScale::One`](crate::ops::AttentionScale::One) |
//! | 2.1, layer norm without bias, before each sublayer | `T5LayerNorm` | [`rms_norm`] |
//! | 2.1, feed-forward network with ReLU | `T5DenseActDense` | [`FeedForward`], [`Relu`](crate::ops::Relu) |
//! | 2.1, encoder and decoder | `T5Block`, `T5Stack` | [`EncoderLayer`], [`DecoderLayer`] |
//! | | `past_key_values` | [`EncodedT5`], [`DecoderCache`] |
//! | 2.1, shared embeddings | `T5ForConditionalGeneration` | [`T5`] |

mod layers;

pub use layers::{Attention, DecoderLayer, EncoderLayer, FeedForward};

use crate::dims::NamedShape;
use crate::nn::{Autoregressive, Cache, DecoderCache, FullPrecision, Heads, Precision, Weight, init};
use crate::ops::{RelativeBuckets, relative_position_bias, slice_last};
use crate::prelude::*;
use std::fmt;

/// The dimensions and the constants of a [`T5`]: `T5Config` of HuggingFace.
///
/// ```
/// use typed_transformer::{doctest::*, models::t5::{T5, T5Config}, prelude::*};
/// pub struct Tiny;
/// impl T5Config for Tiny {
///     type VocabSize = VocabSize;
///     type MaxTgtLen = MaxSeqLen;
///     type EmbedDim = EmbedDim;
///     type NumHeads = NumHeads;
///     type HeadDim = HeadDim;
///     type HiddenDim = HiddenDim;
///     type NumEncoderLayers = NumLayers;
///     type NumDecoderLayers = NumLayers;
///     type NumBuckets = NumBuckets;
///     const MAX_DISTANCE: usize = 16;
///     const NORM_EPSILON: f64 = 1e-6;
/// }
/// let model = T5::<Tiny, f32, Cpu>::build(&Cpu::default());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the configuration of a T5",
    label = "`{Self}` does not implement `T5Config`",
    note = "implement `T5Config` for an empty struct of your own, with one line per dimension"
)]
pub trait T5Config: 'static {
    /// The tokens that the model reads and writes.
    type VocabSize: ConstDim;
    /// The longest target that the model writes. No parameter depends on it.
    type MaxTgtLen: ConstDim;
    /// The width of the vector of a token.
    type EmbedDim: ConstDim;
    /// The number of heads.
    type NumHeads: ConstDim;
    /// The size of a head, which does not depend on the width.
    type HeadDim: ConstDim;
    /// The width inside the feed-forward layer.
    type HiddenDim: ConstDim;
    /// The layers of the encoder.
    type NumEncoderLayers: ConstDim;
    /// The layers of the decoder.
    type NumDecoderLayers: ConstDim;
    /// The number of buckets of relative positions.
    type NumBuckets: ConstDim;
    /// All keys at this distance, in positions, or beyond are in the last bucket.
    const MAX_DISTANCE: usize;
    /// The number that a norm adds to the mean square.
    const NORM_EPSILON: f64;

    /// The constants that saved parameters do not show, as names and values; files of weights store them.
    fn conventions() -> Vec<(&'static str, String)> {
        let distance = ("largest relative distance", Self::MAX_DISTANCE.to_string());
        vec![("norm epsilon", Self::NORM_EPSILON.to_string()), distance]
    }
}

/// The columns of all heads.
type Columns<Config> = Product<<Config as T5Config>::NumHeads, <Config as T5Config>::HeadDim>;
/// The heads whose keys and values a cache holds.
type CachedHeadsOf<Config> =
    Heads<<Config as T5Config>::NumHeads, <Config as T5Config>::HeadDim, <Config as T5Config>::HeadDim, Config>;

/// The relative position bias: a number for each head, query and key, added to its logit.
type PositionBias<Q, K, Config, E, D, T> = Tensor<(<Config as T5Config>::NumHeads, Q, K), E, D, T>;

/// A T5: the logits of each token of a target from the ones before it and from a source.
///
/// ```
/// use typed_transformer::{doctest::*, models::t5::T5, prelude::*};
/// let model = T5::<Small, f32, Cpu>::build(&Cpu::default());
/// let source = TokenIds::from_ids(&[7, 4, 24, 0], Some(Fin::literal::<0>()), (Batch, SrcLen))?;
/// let target = TokenIds::from_ids(&[0, 7, 4], None, (Batch, TgtLen))?;
/// let logits: Tensor<(Batch, TgtLen, VocabSize), f32, Cpu> = model.forward(&source, &target, NoneTape)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[module(conventions = Config, output = Config::VocabSize)]
pub struct T5<Config: T5Config, E, D, P: Precision> {
    /// A vector for each token, of the source, of the target and of the logits.
    #[param(|table| init::normal(table, 1.0))]
    pub token_embedder: Weight<(Config::VocabSize, Config::EmbedDim), E, D, P>,
    /// The relative position bias of the encoder's layers: a number for each bucket and head.
    #[param(|table| init::normal(table, 1.0 / (Config::EmbedDim::SIZE as f64).sqrt()))]
    pub encoder_position_bias: Tensor<(Config::NumBuckets, Config::NumHeads), E, D>,
    /// The layers of the encoder.
    pub encoder: Layers<Config::NumEncoderLayers, EncoderLayer<Config, E, D, P>>,
    /// The weight of the norm after the last layer of the encoder.
    #[param(init::ones)]
    pub encoder_norm: Tensor<(Config::EmbedDim,), E, D>,
    /// The relative position bias of the decoder's layers: a number for each bucket and head.
    #[param(|table| init::normal(table, 1.0 / (Config::EmbedDim::SIZE as f64).sqrt()))]
    pub decoder_position_bias: Tensor<(Config::NumBuckets, Config::NumHeads), E, D>,
    /// The layers of the decoder.
    pub decoder: Layers<Config::NumDecoderLayers, DecoderLayer<Config, E, D, P>>,
    /// The weight of the norm after the last layer of the decoder.
    #[param(init::ones)]
    pub decoder_norm: Tensor<(Config::EmbedDim,), E, D>,
}

impl<Config: T5Config, E: Real, D: Backend<E>, P: Precision> T5<Config, E, D, P> {
    /// `(B, Src) ids of VocabSize, (B, Tgt) ids of VocabSize -> (B, Tgt, VocabSize)`; `tape` records the operations for
    /// gradients. No token attends to padding of the source. A target begins with the padding token, and none of its
    /// tokens counts as padding.
    pub fn forward<B: DataDim, Src: Dim, Tgt: Dim, T: Tape<E, D>>(
        &self,
        source: &TokenIds<B, Src, Config::VocabSize>,
        target: &TokenIds<B, Tgt, Config::VocabSize>,
        tape: T,
    ) -> Result<Tensor<(B, Tgt, Config::VocabSize), E, D, T>, OpError> {
        let encoded = self.encoder(source, tape.clone())?;
        let lengths = (target.shape().1, target.shape().1);
        let position_bias = self.decoder_position_bias(0, lengths, tape.clone())?;
        let mask = mk_mask::<CausalMask, PadSourceKeys, B, Tgt>(&PaddingMask::without_padding(target.shape()));
        let source_mask = source_mask(target.shape(), &source.padding_mask())?;
        let mut x = P::embed(&self.token_embedder, target, tape)?;
        for layer in &self.decoder {
            let source = layer.cross_attention.keys_and_values(encoded.clone())?;
            x = layer.forward(x, Ok, (position_bias.clone(), &mask), source, &source_mask)?;
        }
        self.logits(x)
    }

    /// The output of the encoder: `(B, Src) ids of VocabSize -> (B, Src, EmbedDim)`. No token attends to padding.
    pub fn encoder<B: DataDim, Src: Dim, T: Tape<E, D>>(
        &self,
        source: &TokenIds<B, Src, Config::VocabSize>,
        tape: T,
    ) -> Result<Tensor<(B, Src, Config::EmbedDim), E, D, T>, OpError> {
        let mask = mk_mask::<NoMask, PadSourceKeys, B, Src>(&source.padding_mask());
        let buckets = RelativeBuckets { bidirectional: true, max_distance: Config::MAX_DISTANCE };
        let lengths = (source.shape().1, source.shape().1);
        let position_bias = relative_position_bias(&self.encoder_position_bias, buckets, 0, lengths, tape.clone())?;
        let mut x = P::embed(&self.token_embedder, source, tape)?;
        for layer in &self.encoder {
            x = layer.forward(x, position_bias.clone(), &mask)?;
        }
        rms_norm(x, &self.encoder_norm, Config::NORM_EPSILON)
    }

    /// The numbers that the decoder's self-attention adds to its scores, for queries from `start` on:
    /// `(NumHeads, Q, K)`.
    fn decoder_position_bias<Q: Dim, K: Dim, T: Tape<E, D>>(
        &self,
        start: usize,
        lengths: (Q, K),
        tape: T,
    ) -> Result<PositionBias<Q, K, Config, E, D, T>, OpError> {
        let buckets = RelativeBuckets { bidirectional: false, max_distance: Config::MAX_DISTANCE };
        relative_position_bias(&self.decoder_position_bias, buckets, start, lengths, tape)
    }

    /// The logits of the decoder's last layer, scaled by `1 / √EmbedDim`: `(B, S, EmbedDim) -> (B, S, VocabSize)`.
    fn logits<B: DataDim, S: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, S, Config::EmbedDim), E, D, T>,
    ) -> Result<Tensor<(B, S, Config::VocabSize), E, D, T>, OpError> {
        let x = rms_norm(x, &self.decoder_norm, Config::NORM_EPSILON)?;
        P::linear(scale(x, 1.0 / (Config::EmbedDim::SIZE as f64).sqrt())?, &self.token_embedder, None)
    }

    /// Encodes the sources `(B, Src)`. The result is [`Autoregressive`]: it generates a target for each.
    pub fn encode<B: DataDim, Src: Dim>(
        &self,
        source: &TokenIds<B, Src, Config::VocabSize>,
    ) -> Result<EncodedT5<'_, B, Src, Config, E, D, P>, OpError> {
        let output = self.encoder(source, NoneTape)?;
        Ok(EncodedT5 { model: self, output, padding: source.padding_mask() })
    }
}

/// The positions of the source that the positions `next` of the target see: all but padding.
fn source_mask<B: DataDim, Q: Dim, Src: Dim>(
    next: (B, Q),
    source_padding: &PaddingMask<B, Src>,
) -> Result<AttentionMask<B, Q, Src>, DimError> {
    mk_cross_mask::<PadSourceKeys, _, _, _>(&PaddingMask::without_padding(next), source_padding)
}

/// A T5 that has encoded its sources `(B, Src)`, and generates a target for each. [`T5::encode`] makes it.
///
/// ```
/// use typed_transformer::{doctest::*, models::t5::{EncodedT5, T5}, nn::Autoregressive, prelude::*};
/// let model = T5::<Small, f32, Cpu>::build(&Cpu::default());
/// let source = TokenIds::from_ids(&[7, 4, 24, 0], Some(Fin::literal::<0>()), (Batch, SrcLen))?;
/// let encoded: EncodedT5<Batch, SrcLen, Small, f32, Cpu> = model.encode(&source)?;
/// let start = TokenIds::from_ids(&[0], None, (Batch, Const::<1>))?;
/// let logits: Tensor<(Batch, VocabSize), f32, Cpu> = encoded.next_logits(&start, &mut encoded.cache(Batch)?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct EncodedT5<
    'a,
    B: DataDim,
    Src: Dim,
    Config: T5Config,
    E: Real = f32,
    D: Backend<E> = Cpu,
    P: Precision = FullPrecision,
> {
    model: &'a T5<Config, E, D, P>,
    /// The output of the encoder.
    output: Tensor<(B, Src, Config::EmbedDim), E, D>,
    padding: PaddingMask<B, Src>,
}

#[diagnostic::do_not_recommend]
impl<B: DataDim, Src: Dim, Config: T5Config, E: Real, D: Backend<E>, P: Precision> Autoregressive<B, E, D>
    for EncodedT5<'_, B, Src, Config, E, D, P>
{
    type VocabSize = Config::VocabSize;
    type MaxSeqLen = Config::MaxTgtLen;
    type Cache = DecoderCache<B, Src, Config::MaxTgtLen, Config::NumDecoderLayers, CachedHeadsOf<Config>, E, D>;

    fn cache(&self, batch: B) -> Result<Self::Cache, OpError> {
        (self.output.shape().0,).check_same_sizes("the sources", (batch,), "the targets")?;
        Ok(DecoderCache {
            self_attention: Cache::new(&self.model.decoder_norm, batch)?,
            cross_attention: Layers::try_from_fn(|i| {
                self.model.decoder[i].cross_attention.keys_and_values(self.output.clone())
            })?,
            source_padding: self.padding.clone(),
        })
    }

    fn last_logits<S: Dim, Last: Dim>(
        &self,
        tokens: &TokenIds<B, S, Config::VocabSize>,
        cache: &mut Self::Cache,
        last: Last,
    ) -> Result<Tensor<(B, Last, Config::VocabSize), E, D>, OpError> {
        let (start, mask) = cache.self_attention.advance(&self.model.decoder_norm, tokens.shape())?;
        let (_, next, max) = mask.shape();
        let position_bias = self.model.decoder_position_bias(start, (next, max), NoneTape)?;
        let source_mask = source_mask(tokens.shape(), &cache.source_padding)?;
        let mut x = P::embed(&self.model.token_embedder, tokens, NoneTape)?;
        let caches = cache.self_attention.layers.iter_mut().zip(&cache.cross_attention);
        for (layer, (target, source)) in self.model.decoder.iter().zip(caches) {
            let update_cache = |new| target.update(new);
            x = layer.forward(x, update_cache, (position_bias.clone(), &mask), source.clone(), &source_mask)?;
        }
        self.model.logits(slice_last(x, axis::<S>(), last)?)
    }
}

impl<B: DataDim, Src: Dim, Config: T5Config, E: Real, D: Backend<E>, P: Precision> fmt::Debug
    for EncodedT5<'_, B, Src, Config, E, D, P>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (batch, len) = self.padding.shape();
        write!(f, "EncodedT5 ({batch:?}, {len:?})")
    }
}
