//! Two run-time lengths are different dimensions, whatever their values.
//! Right with `word` for `next` in line 18.
use typed_transformer::prelude::*;

dims! { EmbedDim = 16; }

fn read<S: Dim>(_: Tensor<(S, EmbedDim), f32, Cpu>, _: &PaddingMask<Const<1>, S>) {}

fn chain(word: &str, next: &str) {
    local_dims! {
        let word_len: FirstLen = word.len();
        let next_len: NextLen = next.len();
    }
    let word = PaddingMask::without_padding((Const::<1>, word_len));
    let next = PaddingMask::without_padding((Const::<1>, next_len));
    let states: Tensor<(FirstLen, EmbedDim), f32, Cpu> =
        Cpu::default().zeros_like(&(word_len, EmbedDim));
    read(states, &next);
}

fn main() {}
