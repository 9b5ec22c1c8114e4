//! A table of positions is that of the lengths that are declared with its maximum, not of any maximum of its size.
//! Right with `target` for `source` in line 10.
use typed_transformer::prelude::*;

dims! { MaxSrcLen = 64; MaxTgtLen = 64; TgtLen <= MaxTgtLen; EmbedDim = 8; }

type Table<MaxLen> = Tensor<(MaxLen, EmbedDim), f32, Cpu>;

fn positions(source: &Table<MaxSrcLen>, target: &Table<MaxTgtLen>, len: TgtLen) -> Result<Vec<f32>, OpError> {
    let rows: Tensor<(TgtLen, EmbedDim), f32, Cpu> = learned_positions(source, len)?;
    Ok(rows.as_vec())
}

fn main() {}
