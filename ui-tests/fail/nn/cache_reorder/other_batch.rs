//! The new rows of a cache are rows of its own batch.
//! Right with `kept` for `prompts` in line 12.
use typed_transformer::{nn::{Cache, EditableCache}, prelude::*};

dims! { MaxLen = 16; NumLayers = 2; Prompts; Beams; }

fn reorder<A: Arch>(
    cache: &mut Cache<Beams, MaxLen, NumLayers, A, f32, Cpu>,
    prompts: &Indices<(Prompts,), Prompts>,
    kept: &Indices<(Beams,), Beams>,
) -> Result<(), OpError> {
    cache.reorder(prompts)
}

fn main() {}
