//! The bound of a local dimension is a dimension.
//! Right with `MaxLen` for `15` in line 8.
use typed_transformer::{local_dims, prelude::*};

dims! { MaxLen = 16; }

fn main() {
    local_dims! { let _len: WordLen <= 15 = 4; }
}
