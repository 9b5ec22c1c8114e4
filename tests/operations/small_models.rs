//! Small models that the crate does not have: a mixer, a codebook, and a reader of a grid. They are generic, with batches
//! whose size is known at run time, and learn or give the numbers of plain loops.

use crate::numbers::{F64, assert_close, random_like, softmax};
use dfdx::tensor::*;
use std::error::Error;
use typed_transformer::backend::Tape;
use typed_transformer::dims::Windows;
use typed_transformer::nn::{LayerNorm, Linear, init};
use typed_transformer::ops::{
    Activation, GeluTanh, add, argmax, detach, gather, log_softmax_over, mean, mean_squared_error, mul, one_hot, scale,
    select, softmax_over, sub, take, windows,
};
use typed_transformer::prelude::*;
use typed_transformer::tokens::Indices;
use typed_transformer::train::{Adam, update};

dims! {
    Places = 4; EmbedDim = 6; TokensDim = 5; NumClasses = 3; NumCodes = 5; Height = 3; Width = 4; Kernel = 2;
    Batch; Len;
}

/// One block of an MLP-Mixer (Tolstikhin et al., 2021, arXiv:2105.01601) and a classifier.
#[module(output = C)]
struct Mixer<S: ConstDim, M: ConstDim, Hidden: ConstDim, C: ConstDim, E, D> {
    norm: LayerNorm<M, E, D>,
    places_in: Linear<S, Hidden, E, D>,
    places_out: Linear<Hidden, S, E, D>,
    head_norm: LayerNorm<M, E, D>,
    head: Linear<M, C, E, D>,
}

impl<S: ConstDim, M: ConstDim, Hidden: ConstDim, C: ConstDim, E: Real, D: Backend<E>> Mixer<S, M, Hidden, C, E, D> {
    fn forward<B: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, S, M), E, D, T>,
    ) -> Result<Tensor<(B, C), E, D, T>, OpError> {
        let columns: Tensor<(B, M, S), E, D, T> = permute(self.norm.forward(x.clone(), 1e-5)?)?;
        let hidden = GeluTanh::apply(self.places_in.forward(columns)?)?;
        let mixed: Tensor<(B, S, M), E, D, T> = permute(self.places_out.forward(hidden)?)?;
        let pooled = mean_over(add(x, mixed)?, axis::<S>())?;
        self.head.forward(self.head_norm.forward(pooled, 1e-5)?)
    }
}

#[test]
fn a_mixer_learns_to_classify() {
    let mut model =
        Mixer::<Places, EmbedDim, TokensDim, NumClasses, f64, AutoDevice>::build(&AutoDevice::seed_from_u64(0));
    let batch = Batch::new(9);
    let x = random_like(1, (batch, Places, EmbedDim));
    let labels = Indices::new(&[0, 1, 2, 2, 1, 0, 0, 2, 1], (batch,), NumClasses).unwrap();
    let mut adam = Adam::default();
    for _ in 0..150 {
        let logits = model.forward(x.clone().put_tape(model.recording())).unwrap();
        let gradients = cross_entropy(logits, &labels, Reduction::MeanAll).unwrap().backward().unwrap();
        update(&mut model, gradients, &mut adam, 0.02, 1.0).unwrap();
    }
    assert_eq!(argmax(&model.forward(x).unwrap(), axis::<NumClasses>()).unwrap(), labels);
}

/// The nearest code of each vector, and the vectors replaced by their codes (van den Oord et al., 2017,
/// arXiv:1711.00937, 3.1). The squared distance without `x²`, which is the same for all codes, is `c² - 2 x c`.
fn quantize<B: Dim, S: Dim, C: ConstDim, M: ConstDim, E: Real, D: Backend<E>>(
    x: &Tensor<(B, S, M), E, D>,
    codes: &Tensor<(C, M), E, D>,
) -> Result<(Indices<(B, S), C>, Tensor<(B, S, M), E, D>), OpError> {
    let squares = sum_over(mul(codes, codes)?, axis::<M>())?;
    let products = einsum!(x: (B, S, M), codes: (C, M) -> (B, S, C))?;
    let nearest = argmax(&sub(scale(products, 2.0)?, &squares)?, axis::<C>())?;
    let is_nearest: Tensor<(B, S, C), E, D> = one_hot(x.device(), &nearest)?;
    Ok((nearest, einsum!(is_nearest: (B, S, C), codes: (C, M) -> (B, S, M))?))
}

#[test]
fn a_codebook_gives_the_nearest_code() {
    let x = random_like(2, (Batch::new(2), Len::new(5), EmbedDim));
    let codes: F64<(NumCodes, EmbedDim)> = random_like(3, (NumCodes, EmbedDim));
    let (nearest, quantized) = quantize(&x, &codes).unwrap();
    let (rows, codes_of) = (x.as_vec(), codes.as_vec());
    let distance = |x: &[f64], c: &[f64]| -> f64 { x.iter().zip(c).map(|(x, c)| (x - c) * (x - c)).sum() };
    for (i, row) in rows.chunks(6).enumerate() {
        let found = nearest.as_slice()[i];
        let of_found = distance(row, &codes_of[found * 6..][..6]);
        assert!(codes_of.chunks(6).all(|code| of_found <= distance(row, code) + 1e-12));
        assert_close(&quantized.as_vec()[i * 6..][..6], &codes_of[found * 6..][..6], 1e-12);
    }
    // A list of indices takes the rows of the codebook themselves.
    let first = Indices::new(&nearest.as_slice()[..5], (Len::new(5),), NumCodes).unwrap();
    let rows: F64<(Len, EmbedDim)> = take(codes, axis::<NumCodes>(), &first).unwrap();
    assert_close(&rows.as_vec(), &quantized.as_vec()[..30], 1e-12);
}

/// Codes that are learned in the middle of a pass.
#[module(output = M)]
struct Codebook<C: ConstDim, M: ConstDim, E, D> {
    #[param(init::uniform::<M, _, _, _>)]
    codes: Tensor<(C, M), E, D>,
}

impl<C: ConstDim, M: ConstDim, E: Real, D: Backend<E>> Codebook<C, M, E, D> {
    /// The codes, whose gradient goes straight through to `x`, and the mean squared distance that they learn by.
    fn forward<B: Dim, S: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, S, M), E, D, T>,
    ) -> Result<(Tensor<(B, S, M), E, D, T>, Tensor<(), E, D, T>), OpError> {
        let constant = detach(&x)?;
        let (nearest, _) = quantize(&constant, &self.codes)?;
        let code = embed(&self.codes, &TokenIds::from(nearest), T::default())?;
        let straight = add(x, &sub(&detach(&code)?, &constant)?)?;
        Ok((straight, mean_squared_error(code, &constant)?))
    }
}

#[test]
fn a_codebook_learns_and_the_gradient_goes_past_it() {
    let mut model = Codebook::<NumCodes, EmbedDim, f64, AutoDevice>::build(&AutoDevice::seed_from_u64(11));
    let x = random_like(12, (Batch::new(2), Len::new(5), EmbedDim));
    let (straight, distance) = model.forward(x.clone().put_tape(model.recording())).unwrap();
    let (nearest, quantized) = quantize(&x, &model.codes).unwrap();
    assert_close(&straight.as_vec(), &quantized.as_vec(), 1e-12);
    let mut gradients = add(mean(straight).unwrap(), distance).unwrap().backward().unwrap();
    assert_close(&gradients.of(&x).unwrap().as_vec(), &[1.0 / 60.0; 60], 1e-12);
    let mut expected = [0.0; 30];
    for (i, (code, x)) in quantized.as_vec().into_iter().zip(x.as_vec()).enumerate() {
        expected[nearest.as_slice()[i / 6] * 6 + i % 6] += 2.0 * (code - x) / 60.0;
    }
    assert_close(&gradients.of(&model.codes).unwrap().as_vec(), &expected, 1e-12);
    update(&mut model, gradients, &mut Adam::default(), 0.02, 1.0).unwrap();
}

/// Points at a place of a grid and reads what is there.
#[module(output = M)]
struct Pointer<H: ConstDim, W: ConstDim, M: ConstDim, E, D> {
    #[param(init::uniform::<M, _, _, _>)]
    query: Tensor<(M,), E, D>,
    value: Linear<M, M, E, D>,
}

/// The output of a [`Pointer`]: the probabilities, and the vector and the place of the highest one.
struct Reading<B, H, W, M, E: Real, D: Backend<E>>
where
    B: Dim,
    H: ConstDim,
    W: ConstDim,
    M: ConstDim,
{
    weights: Tensor<(B, Product<H, W>), E, D>,
    vector: Tensor<(B, M), E, D>,
    highest: Indices<(B,), Product<H, W>>,
}

impl<H: ConstDim, W: ConstDim, M: ConstDim, E: Real, D: Backend<E>> Pointer<H, W, M, E, D> {
    fn forward<B: Dim>(&self, grid: &Tensor<(B, H, W, M), E, D>) -> Result<Reading<B, H, W, M, E, D>, Box<dyn Error>> {
        let scores = einsum!(grid: (B, H, W, M), &self.query: (M) -> (B, H, W))?;
        let weights = softmax_over(rearrange!(scores: (B, H, W) -> (B, Product<H, W>))?, axis::<Product<H, W>>())?;
        let highest = argmax(&weights, axis::<Product<H, W>>())?;
        let values = self.value.forward(rearrange!(grid: (B, H, W, M) -> (B, Product<H, W>, M))?)?;
        let place = Indices::new(highest.as_slice(), (highest.shape().0, Const::<1>), Product::default())?;
        let vector: Tensor<(B, Const<1>, M), E, D> = gather(values, axis::<Product<H, W>>(), &place)?;
        Ok(Reading { weights, vector: select(vector, axis::<Const<1>>(), 0)?, highest })
    }
}

#[test]
fn a_pointer_reads_a_grid() {
    let model = Pointer::<Height, Width, EmbedDim, f64, AutoDevice>::build(&AutoDevice::seed_from_u64(4));
    let grid = random_like(5, (Batch::new(3), Height, Width, EmbedDim));
    let reading = model.forward(&grid).unwrap();
    let (query, vectors) = (model.query.as_vec(), grid.as_vec());
    let values = model.value.forward(grid).unwrap().as_vec();
    for (b, grid) in vectors.chunks(72).enumerate() {
        let scores: Vec<f64> = grid.chunks(6).map(|x| x.iter().zip(&query).map(|(x, q)| x * q).sum()).collect();
        let weights = softmax(&scores);
        assert_close(&reading.weights.as_vec()[b * 12..][..12], &weights, 1e-12);
        let place = reading.highest.as_slice()[b];
        assert!(weights.iter().all(|weight| *weight <= weights[place]));
        assert_close(&reading.vector.as_vec()[b * 6..][..6], &values[(b * 12 + place) * 6..][..6], 1e-12);
    }
}

#[test]
fn an_operand_says_where_its_windows_are() {
    let (x, kernel) = (random_like(6, (Len::new(6), EmbedDim)), random_like(7, (Kernel, EmbedDim)));
    let windows = windows(x.clone(), axis::<Len>(), Kernel).unwrap();
    let sums = einsum!(
        windows: (Windows<Len, Kernel>, EmbedDim, Kernel), &kernel: (Kernel, EmbedDim)
        -> (Windows<Len, Kernel>, EmbedDim)
    )
    .unwrap();
    let (x, kernel) = (x.as_vec(), kernel.as_vec());
    let expected = (0..30).map(|i| x[i] * kernel[i % 6] + x[i + 6] * kernel[6 + i % 6]);
    assert_close(&sums.as_vec(), &expected.collect::<Vec<_>>(), 1e-12);
}

/// The student's distribution over classes is drawn to the teacher's, row by row, without a mask.
#[test]
fn a_student_follows_its_teacher() {
    let mut student = Linear::<EmbedDim, NumClasses, f64, AutoDevice>::build(&AutoDevice::seed_from_u64(8));
    let teacher = Linear::<EmbedDim, NumClasses, f64, AutoDevice>::build(&AutoDevice::seed_from_u64(9));
    let x = random_like(10, (Batch::new(8), EmbedDim));
    let target = log_softmax_over(teacher.forward(x.clone()).unwrap(), axis::<NumClasses>()).unwrap();
    let loss = |student: &Linear<_, _, _, _>| {
        let logits = student.forward(x.clone().put_tape(student.recording())).unwrap();
        mean_squared_error(log_softmax_over(logits, axis::<NumClasses>()).unwrap(), &target).unwrap()
    };
    let before = loss(&student).array();
    let mut adam = Adam::default();
    for _ in 0..100 {
        let gradients = loss(&student).backward().unwrap();
        update(&mut student, gradients, &mut adam, 0.05, 1.0).unwrap();
    }
    assert!(loss(&student).array() < before / 100.0);
}
