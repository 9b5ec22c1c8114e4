//! A user's own relation has an error message of its own.
//! Right with `Bottleneck` for `HiddenDim` in line 23.
use typed_transformer::{nn::Linear, prelude::*};

dims! { EmbedDim = 16; Bottleneck = 8; HiddenDim = 32; }

#[diagnostic::on_unimplemented(
    message = "`{Self}` is not narrower than `{Wide}`",
    label = "`{Self}` is no bottleneck for `{Wide}`",
    note = "choose `{Self}` smaller than `{Wide}`"
)]
trait NarrowerThan<Wide: ConstDim>: ConstDim {}

#[diagnostic::do_not_recommend]
impl<Narrow: LessThan<Wide>, Wide: ConstDim> NarrowerThan<Wide> for Narrow {}

#[module]
struct Pool<Width: ConstDim, Narrow: NarrowerThan<Width>, E, D> {
    squeeze: Linear<Width, Narrow, E, D>,
}

struct Reader {
    pool: Pool<EmbedDim, HiddenDim, f32, Cpu>,
}

fn main() {}
