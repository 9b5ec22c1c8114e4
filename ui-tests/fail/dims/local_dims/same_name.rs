//! Two local dimensions of one name are two dimensions.
//! Right with `first` for `second` in line 16.
use typed_transformer::{local_dims, prelude::*};

type Word<Len> = Tensor<(Const<1>, Len), f32, Cpu>;

fn main() {
    local_dims! { let len: WordLen = 4; }
    let first: Word<WordLen> = Cpu::default().zeros_like(&(Const, len));
    let second = {
        local_dims! { let len: WordLen = 4; }
        let second: Word<WordLen> = Cpu::default().zeros_like(&(Const, len));
        second
    };
    drop(second.clone());
    let _word: Word<WordLen> = second;
}
