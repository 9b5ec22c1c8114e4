//! A mixture of experts (Shazeer et al., 2017) learns a function that is another linear map in each quadrant of the
//! plane. A router chooses two experts for each point.
//!
//! ```text
//! cargo run --example mixture_of_experts
//! cargo run --example mixture_of_experts -- --seed 7 --steps 2000
//! ```
//!
//! The indices of the chosen experts are `Indices<_, NumExperts>`. They index nothing but an axis of experts.

#[path = "support/device.rs"]
mod device;

use clap::Parser;
use device::{DeviceName, cuda, end};
use rand::{Rng, SeedableRng, rngs::StdRng};
use std::{
    error::Error,
    io::{Write, stdout},
    process::ExitCode,
};
use typed_transformer::{
    module,
    nn::{Linear, Module},
    ops::{add, mean_squared_error, mul, one_hot, select, top_k},
    prelude::*,
    tokens::Indices,
    train::{Adam, Schedule, WarmupCosine, update},
};

dims! {
    /// Sets of points per step.
    Batch = 4;
    /// Points in a set.
    Points = 64;
    /// Coordinates of a point.
    Plane = 2;
    /// The number of experts of the mixture.
    NumExperts = 4;
    /// The number of experts that each point is given to.
    ExpertsPerToken = 2;
}

/// The mean squared error that a training has to get below. A single linear map has 0.37.
const MAX_ERROR: f32 = 0.2;

/// A vector for each point.
type Each<Width, D, T = NoneTape> = Tensor<(Batch, Points, Width), f32, D, T>;

/// The experts, and the router that chooses among them.
#[module(output = Plane)]
struct Mixture<E, D> {
    router: Linear<Plane, NumExperts, E, D>,
    experts: Layers<NumExperts, Linear<Plane, Plane, E, D>>,
}

/// The mixture's outputs for the points.
struct Mixed<D: Backend<f32>, T> {
    output: Each<Plane, D, T>,
    /// The experts of each point, the one with the largest weight first.
    chosen: Indices<(Batch, Points, ExpertsPerToken), NumExperts>,
}

impl<D: Backend<f32>> Mixture<f32, D> {
    /// The outputs of the two chosen experts, weighted by the softmax of their two logits. Every expert computes every
    /// point, and the weight of those that are not chosen is 0.
    fn forward<T: Tape<f32, D>>(&self, points: &Each<Plane, D>, tape: T) -> Result<Mixed<D, T>, OpError> {
        let points = points.clone().put_tape(tape);
        let logits: Each<NumExperts, D, T> = self.router.forward(points.clone())?;
        let (logits, chosen) = top_k(logits, axis::<NumExperts>(), ExpertsPerToken)?;
        let chosen: Indices<(Batch, Points, ExpertsPerToken), NumExperts> = chosen;
        let weights: Each<ExpertsPerToken, D, T> = softmax_over(logits, axis::<ExpertsPerToken>())?;
        let is_chosen: Tensor<(Batch, Points, ExpertsPerToken, NumExperts), f32, D> =
            one_hot(points.device(), &chosen)?;
        let gates: Each<NumExperts, D, T> = einsum!(
            weights: (Batch, Points, ExpertsPerToken), &is_chosen: (Batch, Points, ExpertsPerToken, NumExperts)
            -> (Batch, Points, NumExperts)
        )?;

        let nothing: Each<Plane, D> = points.device().zeros();
        let mut output: Each<Plane, D, T> = nothing.retaped();
        for (index, expert) in Fin::<NumExperts>::all().zip(&self.experts) {
            let gate: Tensor<(Batch, Points), f32, D, T> = select(gates.clone(), axis::<NumExperts>(), index)?;
            let prediction: Each<Plane, D, T> = expert.forward(points.clone())?;
            output = add(output, mul(prediction, gate)?)?;
        }
        Ok(Mixed { output, chosen })
    }
}

/// Random points of the square from -1 to 1, and the values of the function there.
fn examples<D: Backend<f32>>(device: &D, rng: &mut StdRng) -> (Each<Plane, D>, Each<Plane, D>) {
    let points: Vec<f32> = (0..Batch::SIZE * Points::SIZE * Plane::SIZE).map(|_| rng.gen_range(-1.0..1.0)).collect();
    let values = points.chunks(Plane::SIZE).flat_map(|point| {
        let (x, y) = (point[0], point[1]);
        match (x > 0.0, y > 0.0) {
            (true, true) => [x + y, 1.0 - x],
            (true, false) => [y - 1.0, 2.0 * x],
            (false, true) => [-x, x - y],
            (false, false) => [1.0 + y, -1.0],
        }
    });
    let values: Vec<f32> = values.collect();
    (device.tensor(points), device.tensor(values))
}

/// Train a mixture of experts on a function that is another linear map in each quadrant.
#[derive(Parser)]
struct Cli {
    /// Seed of the parameters and of the points
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Training steps
    #[arg(long, default_value_t = 1500)]
    steps: usize,
    /// Device to run on; cuda needs a build with --features cuda
    #[arg(long, value_enum, default_value_t)]
    device: DeviceName,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    end(match cli.device {
        DeviceName::Cpu => run(&cli, &Cpu::seed_from_u64(cli.seed)),
        DeviceName::Cuda => cuda(cli.seed).and_then(|gpu| run(&cli, &gpu)),
    })
}

/// Trains and evaluates. The mean squared error on new points must be below [`MAX_ERROR`].
fn run<D: Backend<f32>>(cli: &Cli, device: &D) -> Result<(), Box<dyn Error>> {
    let mut rng = StdRng::seed_from_u64(cli.seed);
    let mut model = Mixture::<f32, D>::build(device);
    writeln!(stdout(), "{}\n", model.summary())?;
    let mut adam = Adam::default();
    let schedule = WarmupCosine { peak_value: 0.03, end_value: 0.0, warmup_steps: 20, steps: cli.steps };
    for step in 0..cli.steps {
        let (points, values) = examples(device, &mut rng);
        let mixed = model.forward(&points, model.recording())?;
        let loss = mean_squared_error(mixed.output, &values)?;
        if step % 250 == 0 {
            writeln!(stdout(), "step {step:4}  loss {:.3}", loss.array())?;
        }
        update(&mut model, loss.backward()?, &mut adam, schedule.learning_rate(step), 1.0)?;
    }

    let (points, values) = examples(device, &mut rng);
    let mixed = model.forward(&points, NoneTape)?;
    let loss = mean_squared_error(mixed.output, &values)?.array();
    writeln!(stdout(), "\nquadrant      points whose first expert is 0, 1, 2, 3")?;
    let (points, chosen) = (points.as_vec(), mixed.chosen.to_vec());
    for (right, above) in [(true, true), (true, false), (false, true), (false, false)] {
        let given = points.chunks(Plane::SIZE).zip(chosen.chunks(ExpertsPerToken::SIZE));
        let here = given.filter(|(point, _)| (point[0] > 0.0, point[1] > 0.0) == (right, above));
        let first: Vec<Fin<NumExperts>> = here.map(|(_, experts)| experts[0]).collect();
        let count = |expert| first.iter().filter(|first| **first == expert).count();
        let counts: Vec<usize> = Fin::all().map(count).collect();
        writeln!(stdout(), "x {} 0, y {} 0  {counts:?}", if right { '>' } else { '<' }, if above { '>' } else { '<' })?;
    }
    writeln!(stdout(), "\nmean squared error on new points: {loss:.4}")?;
    match loss < MAX_ERROR {
        true => Ok(()),
        false => Err(format!("a mean squared error of {loss:.3} is not below {MAX_ERROR}; try more `--steps`").into()),
    }
}
