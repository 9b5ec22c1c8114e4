//! The width of a window is known at compile time.
//! Right with `Width` for `Length` in line 8.
use typed_transformer::{mask::SlidingWindow, prelude::*};

dims! { Batch; SeqLen; Length; Width = 4; }

fn mask(padding: &PaddingMask<Batch, SeqLen>) -> AttentionMask<Batch, SeqLen, SeqLen> {
    mk_mask::<SlidingWindow<Length>, PadSourceKeys, _, _>(padding)
}

fn main() {}
