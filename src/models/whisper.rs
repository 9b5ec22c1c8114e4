//! Whisper ([Radford et al., 2022](https://arxiv.org/abs/2212.04356)): an encoder-decoder that writes what is spoken. The
//! encoder reads 30 seconds of sound as frames of log-mel features, and two convolutions make a position of each two
//! frames.
//!
//! | in the paper, 2.2 | in `modeling_whisper.py` | here |
//! | --- | --- | --- |
//! | 80-channel log-magnitude Mel spectrogram | `input_features` | [`Features`] |
//! | two convolution layers with GELU, the second with a stride of two | `WhisperEncoder.conv1`, `conv2` | [`Convolution`], [`Gelu`] |
//! | sinusoidal position embeddings | `sinusoids` | [`Whisper::encoder`], which computes them: those of a file are not read |
//! | pre-activation residual blocks | `WhisperEncoderLayer`, `WhisperDecoderLayer` | [`EncoderLayer`], [`DecoderLayer`] |
//! | attention, no bias for the keys | `WhisperAttention` | [`Attention`] |
//! | learned positions, tied input-output token representations | `WhisperDecoder`, `proj_out` | [`Whisper`] |
//! | | `past_key_values` | [`EncodedWhisper`], [`DecoderCache`] |

mod layers;

pub use layers::{Attention, Convolution, DecoderLayer, EncoderLayer, FeedForward};

use crate::dims::NamedShape;
use crate::nn::{Autoregressive, Cache, DecoderCache, FullPrecision, Heads, LayerNorm, Precision, Weight, init};
use crate::ops::{Activation, Gelu, learned_positions_from, slice_last};
use crate::prelude::*;
use std::fmt;

/// The dimensions and the constants of a [`Whisper`]: `WhisperConfig` of HuggingFace.
///
/// ```
/// use typed_transformer::{doctest::*, models::whisper::{Whisper, WhisperConfig}, prelude::*};
/// pub struct Tiny;
/// impl WhisperConfig for Tiny {
///     type NumMelBins = Channels;
///     type SrcLen = SrcLen;
///     type VocabSize = VocabSize;
///     type MaxTgtLen = MaxSeqLen;
///     type EmbedDim = EmbedDim;
///     type NumHeads = EvenHeads;
///     type HiddenDim = HiddenDim;
///     type NumEncoderLayers = NumLayers;
///     type NumDecoderLayers = NumLayers;
/// }
/// let model = Whisper::<Tiny, f32, Cpu>::build(&Cpu::default());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the configuration of a Whisper",
    label = "`{Self}` does not implement `WhisperConfig`",
    note = "implement `WhisperConfig` for an empty struct of your own, with one line per dimension"
)]
pub trait WhisperConfig: 'static {
    /// The number of features of a frame.
    type NumMelBins: ConstDim;
    /// The positions of the encoder: one for each two frames.
    type SrcLen: ConstDim;
    /// The tokens that the model writes.
    type VocabSize: ConstDim;
    /// The longest text.
    type MaxTgtLen: ConstDim;
    /// The width of the vector of a position. The heads divide it among themselves.
    type EmbedDim: Even;
    /// The number of heads.
    type NumHeads: Divides<Self::EmbedDim>;
    /// The width inside the feed-forward layers.
    type HiddenDim: ConstDim;
    /// The layers of the encoder.
    type NumEncoderLayers: ConstDim;
    /// The layers of the decoder.
    type NumDecoderLayers: ConstDim;
    /// The number that a norm adds to the variance.
    const NORM_EPSILON: f64 = 1e-5;

    /// The constants that saved parameters do not show, as names and values; files of weights store them.
    fn conventions() -> Vec<(&'static str, String)> {
        vec![("norm epsilon", Self::NORM_EPSILON.to_string())]
    }
}

type HeadDim<Config> = Quotient<<Config as WhisperConfig>::EmbedDim, <Config as WhisperConfig>::NumHeads>;
/// The columns of all heads.
type Columns<Config> = Product<<Config as WhisperConfig>::NumHeads, HeadDim<Config>>;
/// The heads whose keys and values a cache holds.
type CachedHeadsOf<Config> = Heads<<Config as WhisperConfig>::NumHeads, HeadDim<Config>, HeadDim<Config>, Config>;
/// The frames that a model reads.
type NumFrames<Config> = Product<<Config as WhisperConfig>::SrcLen, Const<2>>;

/// Log-mel features of a batch of sounds, 100 frames a second: what `WhisperFeatureExtractor` of HuggingFace computes.
///
/// ```
/// use typed_transformer::{doctest::*, models::whisper::{Features, Whisper}, prelude::*};
/// let features: Features<Batch, Small, f32, Cpu> = Cpu::default().zeros();
/// let encoded = Whisper::<Small, f32, Cpu>::build(&Cpu::default()).encode(features)?;
/// # Ok::<(), OpError>(())
/// ```
pub type Features<B, Config, E = f32, D = Cpu> =
    Tensor<(B, <Config as WhisperConfig>::NumMelBins, NumFrames<Config>), E, D>;

/// A Whisper: the logits of each token of a text from the ones before it and from a sound.
///
/// ```
/// use typed_transformer::{doctest::*, models::whisper::{Features, Whisper}, prelude::*};
/// let model = Whisper::<Small, f32, Cpu>::build(&Cpu::default());
/// let features: Features<Batch, Small, f32, Cpu> = Cpu::default().zeros();
/// let target = TokenIds::from_ids(&[26, 7, 4], None, (Batch, TgtLen))?;
/// let logits: Tensor<(Batch, TgtLen, VocabSize), f32, Cpu> = model.forward(features, &target, NoneTape)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[module(conventions = Config, output = Config::VocabSize)]
pub struct Whisper<Config: WhisperConfig, E, D, P: Precision> {
    /// From frames to vectors.
    pub first_convolution: Convolution<Config::NumMelBins, Config::EmbedDim, E, D>,
    /// From the vectors of frames to those of positions, with a stride of two.
    pub second_convolution: Convolution<Config::EmbedDim, Config::EmbedDim, E, D>,
    /// The layers of the encoder.
    pub encoder: Layers<Config::NumEncoderLayers, EncoderLayer<Config, E, D, P>>,
    /// The norm after the last layer of the encoder.
    pub encoder_norm: LayerNorm<Config::EmbedDim, E, D>,
    /// A vector for each token; also the weight of the logits.
    #[param(|table| init::normal(table, 0.02))]
    pub token_embedder: Weight<(Config::VocabSize, Config::EmbedDim), E, D, P>,
    /// A vector for each position of a text.
    #[param(|table| init::normal(table, 0.02))]
    pub position_embedder: Tensor<(Config::MaxTgtLen, Config::EmbedDim), E, D>,
    /// The layers of the decoder.
    pub decoder: Layers<Config::NumDecoderLayers, DecoderLayer<Config, E, D, P>>,
    /// The norm after the last layer of the decoder.
    pub decoder_norm: LayerNorm<Config::EmbedDim, E, D>,
}

impl<Config: WhisperConfig, E: Real, D: Backend<E>, P: Precision> Whisper<Config, E, D, P> {
    /// `(B, NumMelBins, NumFrames), (B, Tgt) ids of VocabSize -> (B, Tgt, VocabSize)`; `tape` records the operations for
    /// gradients. No token counts as padding.
    pub fn forward<B: DataDim, Tgt: AtMost<Config::MaxTgtLen>, T: Tape<E, D>>(
        &self,
        features: Features<B, Config, E, D>,
        target: &TokenIds<B, Tgt, Config::VocabSize>,
        tape: T,
    ) -> Result<Tensor<(B, Tgt, Config::VocabSize), E, D, T>, OpError> {
        let encoded = self.encoder(features, tape.clone())?;
        let mask = mk_mask::<CausalMask, PadSourceKeys, B, Tgt>(&PaddingMask::without_padding(target.shape()));
        let mut x = self.embed(target, 0, tape)?;
        for layer in &self.decoder {
            let source = layer.cross_attention.keys_and_values(encoded.clone())?;
            x = layer.forward(x, Ok, &mask, source)?;
        }
        self.logits(x)
    }

    /// The output of the encoder: `(B, NumMelBins, NumFrames) -> (B, SrcLen, EmbedDim)`.
    pub fn encoder<B: DataDim, T: Tape<E, D>>(
        &self,
        features: Features<B, Config, E, D>,
        tape: T,
    ) -> Result<Tensor<(B, Config::SrcLen, Config::EmbedDim), E, D, T>, OpError> {
        let (batch, len) = (features.shape().0, Config::SrcLen::default());
        let features = features.put_tape(tape);
        let frames = rearrange!(features: (B, Config::NumMelBins, NumFrames<Config>) -> (B, NumFrames<Config>, Config::NumMelBins))?;
        let frames =
            Gelu::apply(self.first_convolution.forward(frames, Const::<1>, NumFrames::<Config>::default())?)?;
        let x = Gelu::apply(self.second_convolution.forward(frames, Const::<2>, len)?)?;
        let positions = sinusoids(x.device(), len, Config::EmbedDim::default())?;
        let x = add(x, &positions)?;
        let mask = AttentionMask::all_visible((batch, len, len));
        let x = self.encoder.iter().try_fold(x, |x, layer| layer.forward(x, &mask))?;
        self.encoder_norm.forward(x, Config::NORM_EPSILON)
    }

    /// The sum of the vectors of tokens and of their positions, which begin at `start`.
    fn embed<B: DataDim, S: Dim, T: Tape<E, D>>(
        &self,
        token_ids: &TokenIds<B, S, Config::VocabSize>,
        start: usize,
        tape: T,
    ) -> Result<Tensor<(B, S, Config::EmbedDim), E, D, T>, OpError> {
        let positions = learned_positions_from(&self.position_embedder, start, token_ids.shape().1)?;
        add_positions(P::embed(&self.token_embedder, token_ids, tape)?, positions)
    }

    /// The logits of the decoder's last layer: `(B, S, EmbedDim) -> (B, S, VocabSize)`.
    fn logits<B: DataDim, S: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, S, Config::EmbedDim), E, D, T>,
    ) -> Result<Tensor<(B, S, Config::VocabSize), E, D, T>, OpError> {
        P::linear(self.decoder_norm.forward(x, Config::NORM_EPSILON)?, &self.token_embedder, None)
    }

    /// Encodes the sounds `(B, NumMelBins, NumFrames)`. The result is [`Autoregressive`]: it writes a text for each.
    pub fn encode<B: DataDim>(
        &self,
        features: Features<B, Config, E, D>,
    ) -> Result<EncodedWhisper<'_, B, Config, E, D, P>, OpError> {
        Ok(EncodedWhisper { model: self, output: self.encoder(features, NoneTape)? })
    }
}

/// For each position, the sines of all wavelengths and then their cosines: `-> (S, M)`. The wavelengths grow from `2π`
/// to `10000 · 2π`, both included.
fn sinusoids<S: ConstDim, M: Even, E: Real, D: Backend<E>>(
    device: &D,
    len: S,
    width: M,
) -> Result<Tensor<(S, M), E, D>, OpError> {
    let half = M::SIZE / 2;
    let element = |i: usize| {
        let (position, column) = (i / M::SIZE, i % M::SIZE);
        let wavelength = 10_000f64.powf((column % half) as f64 / half.saturating_sub(1).max(1) as f64);
        let angle = position as f64 / wavelength;
        E::from_f64(if column < half { angle.sin() } else { angle.cos() }).unwrap_or(E::nan())
    };
    tensor(device, (0..S::SIZE * M::SIZE).map(element).collect::<Vec<_>>(), (len, width))
}

/// A Whisper that has encoded a batch of sounds, and writes a text for each. [`Whisper::encode`] makes it.
///
/// ```
/// use typed_transformer::{doctest::*, models::whisper::{EncodedWhisper, Features, Whisper}, nn::Autoregressive, prelude::*};
/// let model = Whisper::<Small, f32, Cpu>::build(&Cpu::default());
/// let features: Features<Batch, Small, f32, Cpu> = Cpu::default().zeros();
/// let encoded: EncodedWhisper<Batch, Small, f32, Cpu> = model.encode(features)?;
/// let start = TokenIds::from_ids(&[26], None, (Batch, Const::<1>))?;
/// let logits: Tensor<(Batch, VocabSize), f32, Cpu> = encoded.next_logits(&start, &mut encoded.cache(Batch)?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct EncodedWhisper<
    'a,
    B: DataDim,
    Config: WhisperConfig,
    E: Real = f32,
    D: Backend<E> = Cpu,
    P: Precision = FullPrecision,
> {
    model: &'a Whisper<Config, E, D, P>,
    /// The output of the encoder.
    output: Tensor<(B, Config::SrcLen, Config::EmbedDim), E, D>,
}

#[diagnostic::do_not_recommend]
impl<B: DataDim, Config: WhisperConfig, E: Real, D: Backend<E>, P: Precision> Autoregressive<B, E, D>
    for EncodedWhisper<'_, B, Config, E, D, P>
{
    type VocabSize = Config::VocabSize;
    type MaxSeqLen = Config::MaxTgtLen;
    type Cache =
        DecoderCache<B, Config::SrcLen, Config::MaxTgtLen, Config::NumDecoderLayers, CachedHeadsOf<Config>, E, D>;

    fn cache(&self, batch: B) -> Result<Self::Cache, OpError> {
        let (sounds, len, _) = *self.output.shape();
        (sounds,).check_same_sizes("the sounds", (batch,), "the texts")?;
        Ok(DecoderCache {
            self_attention: Cache::new(&self.model.position_embedder, batch)?,
            cross_attention: Layers::try_from_fn(|i| {
                self.model.decoder[i].cross_attention.keys_and_values(self.output.clone())
            })?,
            source_padding: PaddingMask::without_padding((batch, len)),
        })
    }

    fn last_logits<S: Dim, Last: Dim>(
        &self,
        tokens: &TokenIds<B, S, Config::VocabSize>,
        cache: &mut Self::Cache,
        last: Last,
    ) -> Result<Tensor<(B, Last, Config::VocabSize), E, D>, OpError> {
        let (start, mask) = cache.self_attention.advance(&self.model.position_embedder, tokens.shape())?;
        let mut x = self.model.embed(tokens, start, NoneTape)?;
        let caches = cache.self_attention.layers.iter_mut().zip(&cache.cross_attention);
        for (layer, (target, source)) in self.model.decoder.iter().zip(caches) {
            x = layer.forward(x, |new| target.update(new), &mask, source.clone())?;
        }
        self.model.logits(slice_last(x, axis::<S>(), last)?)
    }
}

impl<B: DataDim, Config: WhisperConfig, E: Real, D: Backend<E>, P: Precision> fmt::Debug
    for EncodedWhisper<'_, B, Config, E, D, P>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (batch, len, _) = self.output.shape();
        write!(f, "EncodedWhisper ({batch:?}, {len:?})")
    }
}
