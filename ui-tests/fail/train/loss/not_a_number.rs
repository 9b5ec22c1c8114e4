//! A backward pass begins at one number.
//! Right with `Number` for `Losses` in line 9.
use typed_transformer::{prelude::*, train::Recording};

dims! { SeqLen; Batch; }

type Losses = (Batch, SeqLen);
type Number = ();
type Loss<Model> = Tensor<Losses, f32, Cpu, Recording<Model>>;
fn gradients<Model>(loss: Loss<Model>) {
    let _gradients = loss.backward();
}

fn main() {}
