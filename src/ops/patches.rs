use super::{OpError, Real, device_error, unnamed::reshape_to};
use crate::backend::{Backend, Tape};
use crate::dims::{ConstDim, Divides, MaybeSharded, Product, Quotient};
use dfdx::shapes::{Axes6, HasShape};
use dfdx::{tensor::Tensor, tensor_ops::PermuteTo};

/// The patches that tile a `Height` by `Width` image, row by row from the top left ([Dosovitskiy et al.,
/// 2020](https://arxiv.org/abs/2010.11929), 3.1).
///
/// `(B, Channels, Height, Width) -> (B, PatchGrid<Height, Width, PatchHeight, PatchWidth>, Product<Channels,
/// Product<PatchHeight, PatchWidth>>)`, for patches that divide the image by type. A linear map of the result is a
/// convolution whose stride is the size of its kernel.
///
/// ```
/// use typed_transformer::{ops::{PatchGrid, patches}, prelude::*};
/// dims! { pub Channels = 1; pub Height = 2; pub Width = 4; pub PatchHeight = 2; pub PatchWidth = 2; pub Batch = 1; }
/// let image: Tensor<(Batch, Channels, Height, Width), f32, Cpu> =
///     Cpu::default().tensor(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
/// let patches: Tensor<
///     (Batch, PatchGrid<Height, Width, PatchHeight, PatchWidth>, Product<Channels, Product<PatchHeight, PatchWidth>>),
///     f32,
///     Cpu,
/// > = patches(image)?;
/// assert_eq!(patches.as_vec(), [1.0, 2.0, 5.0, 6.0, 3.0, 4.0, 7.0, 8.0]);
/// # Ok::<(), OpError>(())
/// ```
pub fn patches<
    B: MaybeSharded,
    Channels: ConstDim,
    Height: ConstDim,
    Width: ConstDim,
    PatchHeight: Divides<Height>,
    PatchWidth: Divides<Width>,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
    image: Tensor<(B, Channels, Height, Width), E, D, T>,
) -> Result<
    Tensor<
        (B, PatchGrid<Height, Width, PatchHeight, PatchWidth>, Product<Channels, Product<PatchHeight, PatchWidth>>),
        E,
        D,
        T,
    >,
    OpError,
> {
    const OP: &str = "patches";
    let (batch, channels, _, _) = *image.shape();
    let (rows, columns) = (Quotient::<Height, PatchHeight>::default(), Quotient::<Width, PatchWidth>::default());
    let (height, width) = (PatchHeight::default(), PatchWidth::default());
    let tiles = reshape_to(OP, image, (batch, channels, rows, height, columns, width))?;
    let tiles = tiles.try_permute::<_, Axes6<0, 2, 4, 1, 3, 5>>().map_err(device_error(OP))?;
    reshape_to(OP, tiles, (batch, Product::default(), Product::default()))
}

/// The patches of `PatchHeight` by `PatchWidth` in an image of `Height` by `Width`: its rows of patches by its columns.
///
/// ```
/// use typed_transformer::{ops::PatchGrid, prelude::*};
/// dims! { pub Height = 4; pub Width = 6; pub PatchHeight = 2; pub PatchWidth = 3; }
/// assert_eq!(PatchGrid::<Height, Width, PatchHeight, PatchWidth>::SIZE, 4);
/// ```
pub type PatchGrid<Height, Width, PatchHeight, PatchWidth> =
    Product<Quotient<Height, PatchHeight>, Quotient<Width, PatchWidth>>;
