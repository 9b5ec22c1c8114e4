//! Kernels and methods of dfdx in every order.

use super::*;
use crate::numbers::device;

/// An operation from squares to squares.
#[derive(Clone, Copy, Debug)]
enum Step {
    Linear,
    Gelu,
    Norm,
    ResidualWithItself,
    Einsum,
    Sin,
    Permute,
    Broadcast,
    MulByItself,
}

const STEPS: [Step; 9] = [
    Step::Linear,
    Step::Gelu,
    Step::Norm,
    Step::ResidualWithItself,
    Step::Einsum,
    Step::Sin,
    Step::Permute,
    Step::Broadcast,
    Step::MulByItself,
];

impl Step {
    fn apply<E: Real>(self, x: Taped<E>, weight: &Leaf<E>) -> Taped<E>
    where
        AutoDevice: Backend<E>,
    {
        match self {
            Self::Linear => linear(x, weight, None).unwrap(),
            Self::Gelu => GeluTanh::apply(x).unwrap(),
            Self::Norm => {
                let row: Tensor<(EmbedDim,), E, AutoDevice> = device().ones();
                ops::layer_norm(x, &row, None, 0.1).unwrap()
            }
            Self::ResidualWithItself => residual(x.clone(), x).unwrap(),
            Self::Einsum => {
                let (x, weight): (Taped<E, (Rows, EmbedDim)>, Tensor<_, E, AutoDevice>) =
                    (x.reshape(), weight.clone().reshape());
                let product: Taped<E, (Columns, Rows)> =
                    einsum!(x: (Rows, EmbedDim), &weight: (EmbedDim, Columns) -> (Columns, Rows)).unwrap();
                product.reshape()
            }
            Self::Sin => x.sin(),
            Self::Permute => x.permute::<Square, Axes2<1, 0>>(),
            Self::Broadcast => x.mean::<(EmbedDim,), Axis<0>>().broadcast::<Square, Axis<0>>(),
            // dfdx cannot multiply a tensor by itself.
            Self::MulByItself => x.clone() * ops::scale(x, 1.0).unwrap(),
        }
    }
}

/// The gradients of three steps in a row, each of whose inputs is also used by the last one.
fn gradients_of_steps<E: Real>(steps: [Step; 3], loss: fn(Taped<E>) -> Loss<E>) -> [Vec<f64>; 2]
where
    AutoDevice: Backend<E>,
{
    let (x, weight): (Leaf<E>, Leaf<E>) = (leaf(3), leaf(4));
    let first = steps[0].apply(x.recorded(), &weight);
    let second = steps[1].apply(first.clone(), &weight);
    let third = steps[2].apply(second.clone(), &weight);
    let all = residual(residual(third, ops::scale(second, 0.5).unwrap()).unwrap(), first.sin()).unwrap();
    gradients(&x, &weight, loss(linear(all, &weight, None).unwrap()))
}

#[test]
fn kernels_and_methods_of_dfdx_take_turns_in_every_order() {
    for first in STEPS {
        for second in STEPS {
            for third in STEPS {
                let steps = [first, second, third];
                let (found, expected) = (
                    gradients_of_steps::<f32>(steps, sum_of_squares),
                    gradients_of_steps::<f64>(steps, sum_of_squares),
                );
                assert_close(&format!("{steps:?}"), &found, &expected);
                let (found, expected) = (
                    gradients_of_steps::<f32>(steps, cross_entropy_of_rows),
                    gradients_of_steps::<f64>(steps, cross_entropy_of_rows),
                );
                assert_close(&format!("{steps:?}"), &found, &expected);
            }
        }
    }
}
