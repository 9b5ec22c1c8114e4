//! A marker trait keeps two dimensions of a generic function apart.
//! Right with `batch_first` for `letters_first` in line 26.
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
) -> Result<Tensor<(B, EmbedDim), f32, Cpu>, OpError> {
    mean_over(states, axis::<S>())
}

fn pooled(
    batch_first: Tensor<(Batch, WordLen, EmbedDim), f32, Cpu>,
    letters_first: Tensor<(WordLen, Batch, EmbedDim), f32, Cpu>,
) {
    let _pooled = pool(letters_first);
}

fn main() {}
