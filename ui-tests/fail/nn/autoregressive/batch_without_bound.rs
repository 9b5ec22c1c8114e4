//! A model is `Autoregressive` for a batch that is a dimension.
//! Right with `Rows` for `Sized` in line 7.
use typed_transformer::{dims::DataDim, models::published::gpt2, nn::CacheOf};

trait Rows: DataDim {}

struct Session<Batch: Sized> {
    cache: CacheOf<gpt2::Model, Batch>,
}

fn main() {}
