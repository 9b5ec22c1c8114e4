//! The work that a step cannot do without. With the rates of a machine it gives a lower bound of the time.

use dfdx::tensor::*;
use serde::{Deserialize, Serialize};
use std::{env, hint::black_box, ops::Add, thread, time::Instant};
use typed_transformer::{dims::ConstDim, ops::linear, prelude::*};

/// The work of a forward pass.
#[derive(Clone, Copy)]
pub struct Forward {
    /// Multiply-adds of linear layers.
    pub linear: f64,
    /// Multiply-adds of one product of attention, over the scores that the mask leaves. A forward pass has two.
    pub attention: f64,
}

impl Forward {
    /// A linear layer for `rows` vectors.
    pub fn linear(rows: usize, inputs: usize, outputs: usize) -> Self {
        Self { linear: (rows * inputs * outputs) as f64, attention: 0.0 }
    }

    /// Attention with `scores` scores in each head. `width` is the number of heads times the size of a head.
    pub fn attention(scores: usize, width: usize) -> Self {
        Self { linear: 0.0, attention: (scores * width) as f64 }
    }

    /// Layers as this one, `layers` in all.
    pub fn repeated(self, layers: usize) -> Self {
        Self { linear: self.linear * layers as f64, attention: self.attention * layers as f64 }
    }

    /// An attention layer and a feed-forward layer of the configuration `Config`, for `rows` vectors.
    pub fn layer<Config: Arch, EmbedDim: ConstDim>(rows: usize, scores: usize) -> Self {
        let width = Config::NumHeads::SIZE * Config::QKDim::SIZE;
        Self::linear(rows, EmbedDim::SIZE, 4 * width + 2 * Config::HiddenDim::SIZE) + Self::attention(scores, width)
    }

    /// The work of this forward pass alone.
    pub fn alone(self) -> Work {
        Work { multiply_adds: self.linear + 2.0 * self.attention, ..Work::default() }
    }

    /// The work of a training step: backward, each linear layer has two products. Attention has four, and computes its
    /// scores again. If the optimizer has two averages, it reads four numbers of a parameter and writes three.
    pub fn training(self, params: usize) -> Work {
        // 16 bytes a parameter that stay in a cache cost less than memory does.
        let updated_bytes = if 16 * params > CACHE_BYTES { (28 * params) as f64 } else { 0.0 };
        Work { multiply_adds: 3.0 * self.linear + 7.0 * self.attention, updated_bytes, ..Work::default() }
    }
}

impl Add for Forward {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { linear: self.linear + other.linear, attention: self.attention + other.attention }
    }
}

/// More than the caches of a processor hold for two cores.
const CACHE_BYTES: usize = 1 << 26;

/// Scores of `batch` sequences of `len` positions, each of which attends to itself and the ones before it.
pub fn causal(batch: usize, len: usize) -> usize {
    batch * len * (len + 1) / 2
}

/// Multiply-adds, and bytes that come from memory or go there.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub struct Work {
    pub multiply_adds: f64,
    /// Bytes that are only read.
    pub read_bytes: f64,
    /// Bytes that are read and written, as numbers are updated.
    pub updated_bytes: f64,
}

impl Work {
    /// Decoding: each of `tokens` tokens multiplies by each parameter once.
    pub fn decoding(params: usize, bytes_per_param: f64, tokens: usize) -> Self {
        let multiply_adds = (params * tokens) as f64;
        match params as f64 * bytes_per_param > CACHE_BYTES as f64 {
            true => Self { read_bytes: bytes_per_param * multiply_adds, ..Self::default() },
            false => Self { multiply_adds, ..Self::default() },
        }
    }
}

/// What this machine does in a second on all threads.
#[derive(Clone, Copy)]
pub struct Rates(Work);

impl Rates {
    /// Measures the rates: of a matrix product, and of memory.
    pub fn measure() -> Self {
        Self(Work {
            multiply_adds: multiply_adds_a_second(),
            read_bytes: read_bytes_a_second(),
            updated_bytes: updated_bytes_a_second(),
        })
    }

    /// The faster rates of two measurements.
    pub fn or_faster(self, Self(other): Self) -> Self {
        Self(Work {
            multiply_adds: self.0.multiply_adds.max(other.multiply_adds),
            read_bytes: self.0.read_bytes.max(other.read_bytes),
            updated_bytes: self.0.updated_bytes.max(other.updated_bytes),
        })
    }

    /// The time that the work takes at these rates.
    pub fn bound_ms(&self, work: Work) -> f64 {
        let seconds = work.multiply_adds / self.0.multiply_adds
            + work.read_bytes / self.0.read_bytes
            + work.updated_bytes / self.0.updated_bytes;
        1e3 * seconds
    }
}

impl std::fmt::Display for Rates {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let Work { multiply_adds, read_bytes, updated_bytes } = self.0;
        write!(f, "{:.0} billion multiply-adds, ", multiply_adds / 1e9)?;
        write!(f, "{:.1} GB read and {:.1} GB updated in a second", read_bytes / 1e9, updated_bytes / 1e9)
    }
}

fn multiply_adds_a_second() -> f64 {
    dims! { Rows = 2048; Inner = 1024; Outer = 1024; }
    let device = Cpu::default();
    let x: Tensor<(Const<1>, Rows, Inner), f32, Cpu> = device.sample_normal();
    let weight: Tensor<(Outer, Inner), f32, Cpu> = device.sample_normal();
    let seconds = fastest_seconds(|| drop(black_box(linear(x.clone(), &weight, None).unwrap())));
    (Rows::SIZE * Inner::SIZE * Outer::SIZE) as f64 / seconds
}

/// The numbers that a thread reads. They are far more than the caches hold.
const NUMBERS_PER_THREAD: usize = 1 << 25;

fn read_bytes_a_second() -> f64 {
    // Zeros would be one page, which stays in a cache.
    let arrays: Vec<Vec<u64>> = (0..threads()).map(|_| vec![1; NUMBERS_PER_THREAD]).collect();
    let seconds = fastest_seconds(|| {
        thread::scope(|scope| {
            for array in &arrays {
                scope.spawn(|| black_box(array.iter().fold(0, |all, number| all ^ number)));
            }
        });
    });
    (threads() * size_of::<u64>() * NUMBERS_PER_THREAD) as f64 / seconds
}

/// Two numbers read and one written.
fn updated_bytes_a_second() -> f64 {
    let new = || [vec![1.0; NUMBERS_PER_THREAD], vec![2.0; NUMBERS_PER_THREAD]];
    let mut arrays: Vec<[Vec<f32>; 2]> = (0..threads()).map(|_| new()).collect();
    let seconds = fastest_seconds(|| {
        thread::scope(|scope| {
            for [to, from] in &mut arrays {
                scope.spawn(|| to.iter_mut().zip(from).for_each(|(to, from)| *to = 0.5 * *to + *from));
            }
        });
    });
    (threads() * 3 * size_of::<f32>() * NUMBERS_PER_THREAD) as f64 / seconds
}

/// The threads that the kernels use.
pub fn threads() -> usize {
    let asked = env::var("RAYON_NUM_THREADS").ok().and_then(|threads| threads.parse().ok());
    asked.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from))
}

fn fastest_seconds(mut run: impl FnMut()) -> f64 {
    let seconds = (0..10).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    });
    seconds.fold(f64::INFINITY, f64::min)
}
