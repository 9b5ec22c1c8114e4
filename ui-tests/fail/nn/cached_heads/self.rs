//! A cache holds the heads of an `Arch`, or of `Heads`.
//! Covers `Self` of `nn::CachedHeads`.
//! Right with `Own` for `NumHeads` in line 13.
use typed_transformer::{nn::{CachedHeads, Heads}, prelude::*};

dims! { NumHeads = 2; HeadDim = 3; }

type Own = Heads<NumHeads, HeadDim, HeadDim>;

fn hold<H: CachedHeads>() {}

fn hold_all() {
    hold::<NumHeads>();
}

fn main() {}
