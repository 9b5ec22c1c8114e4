//! Weights in fewer bits than those that they are multiplied in. A processor that decodes reads each weight once for a
//! token and waits for it, so a weight of half the bytes takes half the time.

mod format;
mod integers;
mod q8;
mod q8_rows;
mod weight;

pub use format::{Bf16Format, F16Format, Format};
pub use q8::Q8Format;
pub use q8_rows::Q8RowsFormat;
pub use weight::PackedWeight;
