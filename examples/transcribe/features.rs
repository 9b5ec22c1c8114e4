//! The features of a sound, as `WhisperFeatureExtractor` of HuggingFace computes them: the logarithm of the power of its
//! frequencies, in bands of the mel scale.

use std::f64::consts::TAU;
use typed_transformer::{
    models::whisper::{Features, WhisperConfig},
    ops::{add, linear, mul, tensor},
    prelude::*,
};

/// The samples in a second of the sound that a Whisper reads.
pub const SAMPLES_PER_SECOND: usize = 16_000;
/// The samples from one frame to the next.
const SAMPLES_PER_FRAME: usize = 160;

dims! {
    /// The samples under the window of a frame.
    Window = 400;
    /// The frequencies from 0 to half of the samples in a second, both included.
    Frequencies = 201;
    /// The sounds that are read at once.
    pub Sound = 1;
}

/// Two frames make a position of the model.
type Frames<Config> = Product<<Config as WhisperConfig>::SrcLen, Const<2>>;

/// The samples that a model reads at once; a shorter sound ends in silence.
pub fn max_samples<Config: WhisperConfig>() -> usize {
    Frames::<Config>::SIZE * SAMPLES_PER_FRAME
}

/// `max(log₁₀ power, largest - 8) / 4 + 1` of each band and frame: `-> (Sound, NumMelBins, NumFrames)`, for at most
/// [`max_samples`] from -1 to 1.
pub fn features<Config: WhisperConfig, D: Backend<f32>>(
    device: &D,
    samples: &[f32],
) -> Result<Features<Sound, Config, f32, D>, OpError> {
    let (frames, window, frequencies) = (Frames::<Config>::default(), Window, Frequencies);
    let windows: Tensor<(Frames<Config>, Window), f32, D> =
        tensor(device, windows(samples, Frames::<Config>::SIZE), (frames, window))?;
    // The discrete Fourier transform is two products with matrices, whose elements are waves under a Hann window.
    let wave = |phase: f64| {
        let element = move |i: usize| {
            let (frequency, sample) = ((i / Window::SIZE) as f64, (i % Window::SIZE) as f64);
            let turn = TAU * sample / Window::SIZE as f64;
            ((0.5 - 0.5 * turn.cos()) * (frequency * turn + phase).cos()) as f32
        };
        tensor(device, (0..Frequencies::SIZE * Window::SIZE).map(element).collect::<Vec<_>>(), (frequencies, window))
    };
    let cosines: Tensor<(Frequencies, Window), f32, D> = wave(0.0)?;
    let sines: Tensor<(Frequencies, Window), f32, D> = wave(TAU / 4.0)?;
    let (real, imaginary) = (linear(windows.clone(), &cosines, None)?, linear(windows, &sines, None)?);
    let power: Tensor<(Frames<Config>, Frequencies), f32, D> =
        add(mul(real.clone(), real)?, mul(imaginary.clone(), imaginary)?)?;
    let bands: Tensor<(Config::NumMelBins, Frequencies), f32, D> =
        tensor(device, mel_bands(Config::NumMelBins::SIZE), (Default::default(), frequencies))?;
    let power = einsum!(
        bands: (Config::NumMelBins, Frequencies), power: (Frames<Config>, Frequencies) -> (Config::NumMelBins, Frames<Config>)
    )?;

    let logarithms: Vec<f32> = power.as_vec().into_iter().map(|power| power.max(1e-10).log10()).collect();
    let floor = logarithms.iter().copied().fold(f32::NEG_INFINITY, f32::max) - 8.0;
    let features = logarithms.into_iter().map(|logarithm| logarithm.max(floor) / 4.0 + 1.0).collect::<Vec<_>>();
    tensor(device, features, (Sound, Default::default(), frames))
}

/// The samples around the first one of each frame, row by row. The sound is mirrored before its start and after its
/// end.
fn windows(samples: &[f32], num_frames: usize) -> Vec<f32> {
    let last = (num_frames * SAMPLES_PER_FRAME) as isize - 1;
    let sample = |position: isize| {
        let position = if position > last { 2 * last - position } else { position.abs() };
        samples.get(position as usize).copied().unwrap_or(0.0)
    };
    let start = |frame: usize| (frame * SAMPLES_PER_FRAME) as isize - Window::SIZE as isize / 2;
    (0..num_frames).flat_map(|frame| (0..Window::SIZE as isize).map(move |i| start(frame) + i)).map(sample).collect()
}

/// The weights of the frequencies in each band, row by row: a triangle from the middle of the band before to that of the
/// band behind, of area 1. The middles are evenly spaced on Slaney's mel scale.
fn mel_bands(num_bands: usize) -> Vec<f32> {
    // Linear up to 1000 Hz, which is 15 mel. Above, 27 mel more multiply a frequency by 6.4.
    let hertz = |mel: f64| if mel < 15.0 { mel * 200.0 / 3.0 } else { 1000.0 * 6.4f64.powf((mel - 15.0) / 27.0) };
    let nyquist = SAMPLES_PER_SECOND as f64 / 2.0;
    let highest = 15.0 + 27.0 * (nyquist / 1000.0).ln() / 6.4f64.ln();
    let middle = |band: usize| hertz(highest * band as f64 / (num_bands + 1) as f64);
    let weight = |band: usize, frequency: usize| {
        let frequency = nyquist * frequency as f64 / (Frequencies::SIZE - 1) as f64;
        let [left, center, right] = [0, 1, 2].map(|offset| middle(band + offset));
        let height = ((frequency - left) / (center - left)).min((right - frequency) / (right - center)).max(0.0);
        (2.0 / (right - left) * height) as f32
    };
    (0..num_bands).flat_map(|band| (0..Frequencies::SIZE).map(move |f| (band, f))).map(|(b, f)| weight(b, f)).collect()
}
