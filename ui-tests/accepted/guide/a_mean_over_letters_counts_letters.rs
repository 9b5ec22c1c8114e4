//! A marker keeps a function that takes any two dimensions from taking them in the wrong order.
use typed_transformer::prelude::*;

dims! { WordLen; Batch; EmbedDim = 16; }

#[diagnostic::on_unimplemented(
    message = "`{Self}` does not count letters",
    label = "`{Self}` stands where letters should",
    note = "a dimension counts letters if it says so: `impl CountsLetters for {Self} {{}}`"
)]
trait CountsLetters: Dim {}

impl CountsLetters for WordLen {}

fn pool<B: Dim, S: CountsLetters>(
    states: Tensor<(B, S, EmbedDim), f32, Cpu>,
) -> Tensor<(B, EmbedDim), f32, Cpu> {
    mean_over(states, axis::<S>())
}

fn pooled(
    batch_first: Tensor<(Batch, WordLen, EmbedDim), f32, Cpu>,
    letters_first: Tensor<(WordLen, Batch, EmbedDim), f32, Cpu>,
) {
    let _pooled = pool(batch_first);
}

fn main() {}
