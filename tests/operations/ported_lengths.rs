//! Lengths that grow, shrink and turn around, as the tables of `docs/porting.md` write them, against plain loops.

use crate::finite_differences::{check, weighted_sum};
use crate::numbers::{assert_close, device, random_like as random};
use typed_transformer::backend::Tape;
use typed_transformer::ops::{Abs, Activation, flatten, gather, offset, select, slice, stack, sub, unflatten, zeros};
use typed_transformer::prelude::*;

dims! {
    Batch = 2; SeqLen = 5; InDim = 2; OutDim = 3; Kernel = 4; Stride = 2; Before; Spread; Places; Long; One = 1;
    Height = 3; Width = 4; Rows; Columns; NumPoints = 3; Two = 2;
}

/// `nn.Conv1d(I, O, W, dilation=dilation)`, causal.
fn dilated<B: Dim, S: Dim, W: ConstDim, I: ConstDim, O: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    x: Tensor<(B, S, I), E, D, T>,
    kernel: &Tensor<(O, I, W), E, D>,
    dilation: usize,
) -> Result<Tensor<(B, S, O), E, D, T>, OpError> {
    let (batch, len, width) = *x.shape();
    let before = Before::new((W::SIZE - 1) * dilation);
    let none: Tensor<(B, Before, I), E, D, T> = zeros(x.device(), (batch, before, width))?.retaped::<T>();
    let x: Tensor<(B, Sum<Before, S>, I), E, D, T> = concat(none, x, along::<Before, S>())?;
    let shifted = (0..W::SIZE).map(|w| slice(x.clone(), axis::<Sum<Before, S>>(), w * dilation, len));
    let x: Tensor<(B, S, W, I), E, D, T> = stack(shifted.collect::<Result<_, _>>()?, W::default())?;
    einsum!(x: (B, S, W, I), kernel: (O, I, W) -> (B, S, O))
}

#[test]
fn a_dilated_convolution() {
    let (x, kernel) = (random(1, (Batch, SeqLen, InDim)), random(2, (OutDim, InDim, Kernel)));
    let found = dilated(x.clone(), &kernel, 2).unwrap();
    let (numbers, kernel_numbers) = (x.as_vec(), kernel.as_vec());
    let expected = (0..2 * 5 * 3).map(|i| {
        let (b, s, o) = (i / 15, i / 3 % 5, i % 3);
        let at = |w: usize, i: usize| match (s + 2 * w).checked_sub(6) {
            Some(place) => numbers[(b * 5 + place) * 2 + i] * kernel_numbers[(o * 2 + i) * 4 + w],
            None => 0.0,
        };
        (0..8).map(|j| at(j / 2, j % 2)).sum()
    });
    assert_close(&found.as_vec(), &Vec::from_iter(expected), 1e-9);
    check(x, |x| weighted_sum(dilated(x, &kernel, 2).unwrap()));
}

/// `nn.ConvTranspose1d(I, O, W, stride=R)`: zeros between the places and around them, and a kernel from behind.
fn transposed<
    R: ConstDim,
    B: Dim,
    S: Dim,
    W: ConstDim,
    I: ConstDim,
    O: ConstDim,
    E: Real,
    D: Backend<E>,
    T: Tape<E, D>,
>(
    x: Tensor<(B, S, I), E, D, T>,
    kernel: &Tensor<(I, O, W), E, D>,
) -> Result<Tensor<(B, Long, O), E, D, T>, OpError> {
    let (batch, len, width) = *x.shape();
    let mut places = vec![x.clone()];
    places.resize(R::SIZE, zeros(x.device(), *x.shape())?.retaped::<T>());
    let x: Tensor<(B, S, R, I), E, D, T> = stack(places, R::default())?;
    let spread = Spread::new(len.size() * R::SIZE);
    let x = flatten(x, Places::new(batch.size() * spread.size()))?;
    let x: Tensor<(B, Spread, I), E, D, T> = unflatten(x, (batch, spread, width))?;
    let none = zeros(x.device(), (batch, Before::new(W::SIZE - 1), width))?.retaped::<T>();
    let x: Tensor<(B, Sum<Before, Spread>, I), E, D, T> = concat(none.clone(), x, along::<Before, Spread>())?;
    let x: Tensor<(B, Sum<Sum<Before, Spread>, Before>, I), E, D, T> =
        concat(x, none, along::<Sum<Before, Spread>, Before>())?;
    let long = Long::new((len.size() - 1) * R::SIZE + W::SIZE);
    let shifted = (0..W::SIZE).rev().map(|w| slice(x.clone(), axis::<Sum<Sum<Before, Spread>, Before>>(), w, long));
    let x: Tensor<(B, Long, W, I), E, D, T> = stack(shifted.collect::<Result<_, _>>()?, W::default())?;
    einsum!(x: (B, Long, W, I), kernel: (I, O, W) -> (B, Long, O))
}

#[test]
fn a_transposed_convolution() {
    let (x, kernel) = (random(3, (Batch, SeqLen, InDim)), random(4, (InDim, OutDim, Kernel)));
    let found = transposed::<Stride, _, _, _, _, _, _, _, _>(x.clone(), &kernel).unwrap();
    let (numbers, kernel_numbers) = (x.as_vec(), kernel.as_vec());
    let mut expected = vec![0.0; 2 * 12 * 3];
    for i in 0..2 * 5 * 2 * 3 * 4 {
        let (b, s, m, o, w) = (i / 120, i / 24 % 5, i / 12 % 2, i / 4 % 3, i % 4);
        expected[(b * 12 + 2 * s + w) * 3 + o] += numbers[(b * 5 + s) * 2 + m] * kernel_numbers[(m * 3 + o) * 4 + w];
    }
    assert_close(&found.as_vec(), &expected, 1e-9);
    // Each place has its own part of the result if the stride is the width of the kernel.
    let parts = einsum!(x.clone(): (Batch, SeqLen, InDim), &kernel: (InDim, OutDim, Kernel)
        -> (Batch, SeqLen, Kernel, OutDim))
    .unwrap();
    let found = transposed::<Kernel, _, _, _, _, _, _, _, _>(x.clone(), &kernel).unwrap();
    assert_close(&found.as_vec(), &parts.as_vec(), 1e-9);
    check(x, |x| weighted_sum(transposed::<Stride, _, _, _, _, _, _, _, _>(x, &kernel).unwrap()));
}

/// `x.flatten(1)`.
fn flat<B: Dim, S: Dim, M: Dim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    x: Tensor<(B, S, M), E, D, T>,
) -> Result<Tensor<(B, Long), E, D, T>, OpError> {
    let (batch, len, width) = *x.shape();
    let long = Long::new(len.size() * width.size());
    let x: Tensor<(B, S, M, One), E, D, T> = broadcast(x, (batch, len, width, One), axis::<One>())?;
    let x = flatten(x, Places::new(batch.size() * long.size()))?;
    select(unflatten(x, (batch, long, One))?, axis::<One>(), 0)
}

/// `x.flip(1)` of each sequence, which has its own of the `lengths`. Its padding stays.
fn flipped<B: Dim, S: Dim, M: Dim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    x: Tensor<(B, S, M), E, D, T>,
    lengths: &[usize],
) -> Result<Tensor<(B, S, M), E, D, T>, OpError> {
    let (batch, len, _) = *x.shape();
    let places = lengths.iter().flat_map(|&n| (0..len.size()).map(move |s| if s < n { n - 1 - s } else { s }));
    gather(x, axis::<S>(), &Indices::new(&Vec::from_iter(places), (batch, len), len)?)
}

#[test]
fn other_orders_of_places() {
    let x = random(5, (Batch, SeqLen, InDim));
    assert_eq!(flat(x.clone()).unwrap().as_vec(), x.as_vec());
    check(x.clone(), |x| weighted_sum(flat(x).unwrap()));
    let rows = x.as_vec();
    let expected = [4, 3, 2, 1, 0, 7, 6, 5, 8, 9].into_iter().flat_map(|row| rows[2 * row..][..2].to_vec());
    assert_eq!(flipped(x.clone(), &[5, 3]).unwrap().as_vec(), Vec::from_iter(expected));
}

/// The matrix with which `F.interpolate(mode="bicubic", align_corners=False)` multiplies an axis.
fn bicubic<To: Dim, From: Dim, E: Real, D: Backend<E>>(
    device: &D,
    to: To,
    from: From,
) -> Result<Tensor<(To, From), E, D>, OpError> {
    let weight = |distance: f64| match distance.abs() {
        x if x <= 1.0 => (1.25 * x - 2.25) * x * x + 1.0,
        x if x < 2.0 => ((-0.75 * x + 3.75) * x - 6.0) * x + 3.0,
        _ => 0.0,
    };
    let mut weights = vec![E::zero(); to.size() * from.size()];
    for (place, row) in weights.chunks_mut(from.size()).enumerate() {
        let at = (place as f64 + 0.5) * from.size() as f64 / to.size() as f64 - 0.5;
        for near in at.floor() as isize - 1..=at.floor() as isize + 2 {
            // Places beyond the ends are the last ones.
            let column = near.clamp(0, row.len() as isize - 1) as usize;
            row[column] += E::from_f64(weight(at - near as f64)).unwrap();
        }
    }
    tensor(device, weights, (to, from))
}

/// A table of positions for images of another size (`interpolate_pos_encoding`).
fn resized<Y: Dim, X: Dim, H: Dim, W: Dim, M: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    table: Tensor<(Y, X, M), E, D, T>,
    (rows, columns): (H, W),
) -> Result<Tensor<(H, W, M), E, D, T>, OpError> {
    let (y, x, _) = *table.shape();
    let (of_rows, of_columns) = (bicubic(table.device(), rows, y)?, bicubic(table.device(), columns, x)?);
    einsum!(table: (Y, X, M), &of_rows: (H, Y), &of_columns: (W, X) -> (H, W, M))
}

#[test]
fn positions_of_larger_images() {
    let table = random(6, (Height, Width, InDim));
    let same = resized(table.clone(), (Rows::new(3), Columns::new(4))).unwrap();
    assert_close(&same.as_vec(), &table.as_vec(), 1e-12);
    // `F.interpolate` of PyTorch 2.15.
    let ramp: Tensor<(Const<1>, Width, Const<1>), f64, _> =
        tensor(&device(), [0.0, 1.0, 4.0, 9.0], Default::default()).unwrap();
    let larger = resized(ramp, (Rows::new(1), Columns::new(6))).unwrap();
    let expected = [-0.086805556, 0.21875, 1.430555556, 3.152777778, 6.78125, 9.434027778];
    assert_close(&larger.as_vec(), &expected, 1e-6);
    check(table, |table| weighted_sum(resized(table, (Rows::new(5), Columns::new(6))).unwrap()));
}

/// `F.grid_sample`, where a point is a column and a row in pixels, `((p + 1) * size - 1) / 2` of PyTorch's `p`, and the
/// image is 0 outside.
fn sampled<B: Dim, Y: Dim, X: Dim, M: ConstDim, Q: Dim, C: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    image: Tensor<(B, Y, X, M), E, D, T>,
    points: Tensor<(B, Q, C), E, D, T>,
) -> Result<Tensor<(B, Q, M), E, D, T>, OpError> {
    let ((batch, rows, columns, width), (_, queries, _)) = (*image.shape(), *points.shape());
    let places = Places::new(rows.size() * columns.size());
    let image = flatten(image, Rows::new(batch.size() * places.size()))?;
    let image: Tensor<(B, Places, M), E, D, T> = unflatten(image, (batch, places, width))?;
    let floors = Vec::from_iter(points.as_vec().into_iter().map(|x| x.floor().to_f64().unwrap()));
    let mut sum: Tensor<(B, Q, M), E, D, T> = zeros(image.device(), (batch, queries, width))?.retaped::<T>();
    for [right, down] in [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]] {
        let corners = Vec::from_iter(floors.chunks(2).map(|floor| [floor[0] + right, floor[1] + down]));
        let place = |&[x, y]: &[f64; 2]| {
            let is_inside = x >= 0.0 && y >= 0.0 && x < columns.size() as f64 && y < rows.size() as f64;
            is_inside.then(|| y as usize * columns.size() + x as usize)
        };
        let inside = Vec::from_iter(corners.iter().map(|at| if place(at).is_some() { E::one() } else { E::zero() }));
        let inside: Tensor<(B, Q), E, D> = tensor(points.device(), inside, (batch, queries))?;
        // Outside, any place will do.
        let at = Vec::from_iter(corners.iter().map(|at| place(at).unwrap_or(0)));
        let found: Tensor<(B, Q, M), E, D, T> =
            gather(image.clone(), axis::<Places>(), &Indices::new(&at, (batch, queries), places)?)?;
        let corners = Vec::from_iter(corners.into_iter().flatten().map(|x| E::from_f64(x).unwrap()));
        let far = sub(points.clone(), &tensor(points.device(), corners, *points.shape())?)?;
        let near = offset(scale(Abs::apply(far)?, -1.0)?, 1.0)?;
        let (of_columns, of_rows) = (select(near.clone(), axis::<C>(), 0)?, select(near, axis::<C>(), 1)?);
        sum = add(sum, mul(found, mul(mul(of_columns, of_rows)?, &inside)?)?)?;
    }
    Ok(sum)
}

#[test]
fn points_between_pixels() {
    let image = random(7, (Batch, Height, Width, InDim));
    let at = [0.25, 1.5, 2.75, 0.5, -0.5, 1.25, 3.5, 2.25, 1.125, 0.75, 2.5, -0.25];
    let points = tensor(&device(), at, (Batch, NumPoints, Two)).unwrap();
    let found = sampled(image.clone(), points.clone()).unwrap();
    let pixels = image.as_vec();
    let expected = (0..2 * 3 * 2).map(|i| {
        let (b, m, point) = (i / 6, i % 2, &at[i / 2 * 2..][..2]);
        let near = |x: f64, at: usize| (1.0 - (x - at as f64).abs()).max(0.0);
        (0..12).map(|j| near(point[0], j % 4) * near(point[1], j / 4) * pixels[(b * 12 + j) * 2 + m]).sum()
    });
    assert_close(&found.as_vec(), &Vec::from_iter(expected), 1e-9);
    check(image.clone(), |x| weighted_sum(sampled(x, points.retaped()).unwrap()));
    check(points, |points| weighted_sum(sampled(image.retaped(), points).unwrap()));
}
