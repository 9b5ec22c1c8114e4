//! A mistake in a declaration is one error, also where a loss depends on it.
//! Right with `;` for `,` in line 5.
use typed_transformer::{prelude::*, train::{Adam, update}};

dims! { EmbedDim = 4, Letters = 2; Batch; }

type Model = Linear<EmbedDim, Letters, f32, Cpu>;

fn learn(x: Tensor<(Batch, EmbedDim), f32, Cpu>, labels: &Indices<(Batch,), Letters>) -> Result<f64, OpError> {
    let mut model = Model::build(&Cpu::default());
    let loss = cross_entropy(model.forward(x.put_tape(model.recording()))?, labels, Reduction::MeanAll)?;
    update(&mut model, loss.backward()?, &mut Adam::default(), 1e-3, 1.0)
}

fn main() {}
