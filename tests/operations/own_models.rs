//! Models that the crate does not have, written in its language as a user writes them: generic, with lengths that are
//! known at run time. Their numbers are compared with those of loops over vectors.

use crate::numbers::{assert_close, positive_like as random, softmax};
use dfdx::tensor::AutoDevice;
use typed_transformer::dims::{WindowOf, Windows};
use typed_transformer::nn::{Layers, Linear, init};
use typed_transformer::ops::{
    add, alibi, broadcast, cumsum, div, iota, le, log_softmax_over, mean, mul, one_hot, rename, scale, select, stack,
    where_, windows, zeros,
};
use typed_transformer::prelude::*;
use typed_transformer::train::{Adam, update};

dims! {
    Latents = 3; LatentDim = 4; InputDim = 5; QKDim = 2; VODim = 3; NumHeads = 4; SharedDim = 6; Width = 3;
    NumLayers = 3; VocabSize = 5; Batch; SeqLen; Images; Texts;
}

/// Learned latents that attend to an input of any length (Jaegle et al., 2021, arXiv:2103.03206).
#[module(output = M)]
struct Perceiver<L: ConstDim, M: ConstDim, I: ConstDim, K: ConstDim, E, D> {
    #[param(init::uniform::<M, _, _, _>)]
    latents: Tensor<(L, M), E, D>,
    query: Linear<M, K, E, D>,
    key: Linear<I, K, E, D>,
    value: Linear<I, M, E, D>,
}

impl<L: ConstDim, M: ConstDim, I: ConstDim, K: ConstDim, E: Real, D: Backend<E>> Perceiver<L, M, I, K, E, D> {
    fn forward<B: Dim, S: Dim, T: Tape<E, D>>(
        &self,
        x: Tensor<(B, S, I), E, D, T>,
        is_real: &Tensor<(B, S), bool, D>,
    ) -> Result<Tensor<(B, L, M), E, D, T>, OpError> {
        let query: Tensor<(L, K), E, D> = self.query.forward(self.latents.clone())?;
        let key = self.key.forward(x.clone())?;
        let value = self.value.forward(x)?;
        let scores = einsum!(key: (B, S, K), query: (L, K) -> (B, L, S))?;
        let unseen: Tensor<(B, S), E, D> = where_(is_real, zeros(scores.device(), *is_real.shape())?, -1e9)?;
        let weights = softmax_over(add(scores, &unseen)?, axis::<S>())?;
        einsum!(weights: (B, L, S), value: (B, S, M) -> (B, L, M))
    }
}

#[test]
fn a_perceiver() {
    let (batch, len, real) = (Batch::new(2), SeqLen::new(7), 5);
    let device = AutoDevice::seed_from_u64(0);
    let model = Perceiver::<Latents, LatentDim, InputDim, QKDim, f64, AutoDevice>::build(&device);
    let x = random(1, (batch, len, InputDim));
    let is_real = device.tensor((Vec::from_iter((0..14).map(|i| i % 7 < real)), (batch, len)));
    let found = model.forward(x.clone(), &is_real).unwrap();

    let map = |x: &[f64], weight: Vec<f64>, bias: Vec<f64>| -> Vec<f64> {
        let row = |(row, bias): (&[f64], f64)| row.iter().zip(x).map(|(w, x)| w * x).sum::<f64>() + bias;
        weight.chunks(x.len()).zip(bias).map(row).collect()
    };
    let mut expected = Vec::new();
    for row in x.as_vec().chunks(7 * 5) {
        for latent in model.latents.as_vec().chunks(4) {
            let query = map(latent, model.query.weight.as_vec(), model.query.bias.as_vec());
            let places: Vec<&[f64]> = row.chunks(5).take(real).collect();
            let key = |place: &&[f64]| map(place, model.key.weight.as_vec(), model.key.bias.as_vec());
            let scores: Vec<f64> = places.iter().map(|x| key(x).iter().zip(&query).map(|(k, q)| k * q).sum()).collect();
            let weights = softmax(&scores);
            let values: Vec<Vec<f64>> =
                places.iter().map(|x| map(x, model.value.weight.as_vec(), model.value.bias.as_vec())).collect();
            expected.extend((0..4).map(|m| weights.iter().zip(&values).map(|(w, v)| w * v[m]).sum::<f64>()));
        }
    }
    assert_close(&found.as_vec(), &expected, 1e-9);
}

/// Attention of many query heads to one head of the keys, causal, with linear biases. The keys need a name of their own,
/// in a function that does not know how `S` is declared.
fn multi_query<B: Dim, H: ConstDim, S: Dim, K: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    query: Tensor<(B, H, S, K), E, D, T>,
    key: &Tensor<(B, S, K), E, D>,
    value: &Tensor<(B, S, K), E, D>,
) -> Result<Tensor<(B, H, S, K), E, D, T>, OpError> {
    let (_, heads, queries, _) = *query.shape();
    local_dims! { let keys: Keys = queries.size(); }
    let key: Tensor<(B, Keys, K), E, D> = rename(key.clone(), axis::<S>(), keys)?;
    let value: Tensor<(B, Keys, K), E, D> = rename(value.clone(), axis::<S>(), keys)?;
    let scores =
        scale(einsum!(query: (B, H, S, K), key: (B, Keys, K) -> (B, H, S, Keys))?, 1.0 / (K::SIZE as f64).sqrt())?;
    let device = scores.device().clone();
    let bias: Tensor<(H, S, Keys), E, D> = alibi(&device, heads, 0, queries, keys)?;
    let place: Tensor<(S, Keys), E, D> = broadcast(iota(&device, queries)?, (queries, keys), axis::<Keys>())?;
    let place_of_key: Tensor<(S, Keys), E, D> = broadcast(iota(&device, keys)?, (queries, keys), axis::<S>())?;
    let later: Tensor<(S, Keys), E, D> = where_(&le(&place_of_key, place)?, zeros(&device, (queries, keys))?, -1e9)?;
    let weights = softmax_over(add(add(scores, &bias)?, &later)?, axis::<Keys>())?;
    einsum!(weights: (B, H, S, Keys), value: (B, Keys, K) -> (B, H, S, K))
}

#[test]
fn multi_query_attention_with_linear_biases() {
    let (batch, len) = (Batch::new(2), SeqLen::new(5));
    let query = random(1, (batch, NumHeads, len, QKDim));
    let (key, value) = (random(2, (batch, len, QKDim)), random(3, (batch, len, QKDim)));
    let found = multi_query(query.clone(), &key, &value).unwrap();

    let (query, key, value) = (query.as_vec(), key.as_vec(), value.as_vec());
    let mut expected = Vec::new();
    for (b, h, i) in (0..2).flat_map(|b| (0..4).flat_map(move |h| (0..5).map(move |i| (b, h, i)))) {
        let slope = 2f64.powf(-8.0 * (h + 1) as f64 / 4.0);
        let product =
            |j: usize| -> f64 { (0..2).map(|k| query[((b * 4 + h) * 5 + i) * 2 + k] * key[(b * 5 + j) * 2 + k]).sum() };
        let scores: Vec<f64> = (0..=i).map(|j| product(j) / 2f64.sqrt() - slope * (i - j) as f64).collect();
        let weights = softmax(&scores);
        expected.extend((0..2).map(|k| (0..=i).map(|j| weights[j] * value[(b * 5 + j) * 2 + k]).sum::<f64>()));
    }
    assert_close(&found.as_vec(), &expected, 1e-9);
}

/// The recurrence `state = gate · state + key ⊗ value` of gated linear attention (Yang et al., 2023, arXiv:2312.06635).
fn gated_linear_attention<B: Dim, S: Dim, K: Dim, V: Dim, E: Real, D: Backend<E>>(
    [query, key, gate]: [Tensor<(B, S, K), E, D>; 3],
    value: &Tensor<(B, S, V), E, D>,
) -> Result<Tensor<(B, S, V), E, D>, OpError> {
    let ((batch, len, width), (.., value_width)) = (*query.shape(), *value.shape());
    let mut state: Tensor<(B, K, V), E, D> = zeros(query.device(), (batch, width, value_width))?;
    let mut outputs = Vec::new();
    for step in 0..len.size() {
        let of_step = |x: &Tensor<(B, S, K), E, D>| select(x.clone(), axis::<S>(), step);
        let value = select(value.clone(), axis::<S>(), step)?;
        state = add(mul(state, of_step(&gate)?)?, einsum!(of_step(&key)?: (B, K), value: (B, V) -> (B, K, V))?)?;
        outputs.push(einsum!(of_step(&query)?: (B, K), &state: (B, K, V) -> (B, V))?);
    }
    stack(outputs, len)
}

/// Linear attention as a quotient of prefix sums (Katharopoulos et al., 2020, arXiv:2006.16236).
fn linear_attention<B: Dim, S: Dim, K: Dim, V: Dim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    query: Tensor<(B, S, K), E, D, T>,
    key: Tensor<(B, S, K), E, D, T>,
    value: Tensor<(B, S, V), E, D, T>,
) -> Result<Tensor<(B, S, V), E, D, T>, OpError> {
    let states = cumsum(einsum!(key.clone(): (B, S, K), value: (B, S, V) -> (B, S, K, V))?, axis::<S>())?;
    let keys = cumsum(key, axis::<S>())?;
    let sums = einsum!(query.clone(): (B, S, K), states: (B, S, K, V) -> (B, S, V))?;
    div(sums, einsum!(query: (B, S, K), keys: (B, S, K) -> (B, S))?)
}

#[test]
fn attention_as_a_recurrence() {
    let (batch, len) = (Batch::new(2), SeqLen::new(6));
    let [query, key, gate] = [1, 2, 3].map(|seed| random(seed, (batch, len, QKDim)));
    let value = random(4, (batch, len, VODim));
    let gated = gated_linear_attention([query.clone(), key.clone(), gate.clone()], &value).unwrap();
    let normalized = linear_attention(query.clone(), key.clone(), value.clone()).unwrap();

    let [query, key, gate, value] = [query.as_vec(), key.as_vec(), gate.as_vec(), value.as_vec()];
    let (mut expected_gated, mut expected) = (Vec::new(), Vec::new());
    for (b, i) in (0..2).flat_map(|b| (0..6).map(move |i| (b, i))) {
        let at = |i: usize, k: usize| (b * 6 + i) * 2 + k;
        let gates = |j: usize, k: usize| (j + 1..=i).map(|l| gate[at(l, k)]).product::<f64>();
        let product = |j: usize| (0..2).map(|k| query[at(i, k)] * key[at(j, k)]).sum::<f64>();
        let gated = |j: usize| (0..2).map(|k| query[at(i, k)] * gates(j, k) * key[at(j, k)]).sum::<f64>();
        let value = |j: usize, v: usize| value[(b * 6 + j) * 3 + v];
        let sum: f64 = (0..=i).map(product).sum();
        expected.extend((0..3).map(|v| (0..=i).map(|j| product(j) / sum * value(j, v)).sum::<f64>()));
        expected_gated.extend((0..3).map(|v| (0..=i).map(|j| gated(j) * value(j, v)).sum::<f64>()));
    }
    assert_close(&normalized.as_vec(), &expected, 1e-9);
    assert_close(&gated.as_vec(), &expected_gated, 1e-9);
}

/// A depthwise convolution: each window times the kernel, channel by channel.
fn depthwise<B: Dim, S: Dim, W: WindowOf<S>, M: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    x: Tensor<(B, S, M), E, D, T>,
    kernel: &Tensor<(W, M), E, D>,
) -> Result<Tensor<(B, Windows<S, W>, M), E, D, T>, OpError> {
    let x: Tensor<(B, Windows<S, W>, W, M), E, D, T> = windows(x, axis::<S>(), W::default())?;
    einsum!(x: (B, Windows<S, W>, W, M), kernel: (W, M) -> (B, Windows<S, W>, M))
}

#[test]
fn a_depthwise_convolution() {
    let (x, kernel) = (random(1, (Batch::new(2), SeqLen::new(6), QKDim)), random(2, (Width, QKDim)));
    let found = depthwise(x.clone(), &kernel).unwrap();
    let (x, kernel) = (x.as_vec(), kernel.as_vec());
    let at = |b: usize, place: usize, m: usize| -> f64 {
        (0..3).map(|j| x[(b * 6 + place + j) * 2 + m] * kernel[j * 2 + m]).sum()
    };
    let places = (0..2).flat_map(|b| (0..4).flat_map(move |place| (0..2).map(move |m| (b, place, m))));
    assert_close(&found.as_vec(), &Vec::from_iter(places.map(|(b, place, m)| at(b, place, m))), 1e-9);
}

/// Two towers that map images and texts to one space (Radford et al., 2021, arXiv:2103.00020).
#[module(output = M)]
struct Clip<I: ConstDim, X: ConstDim, M: ConstDim, E, D> {
    image: Linear<I, M, E, D>,
    text: Linear<X, M, E, D>,
    #[param(init::zeros)]
    log_temperature: Tensor<(), E, D>,
}

impl<I: ConstDim, X: ConstDim, M: ConstDim, E: Real, D: Backend<E>> Clip<I, X, M, E, D> {
    /// The contrastive loss. The counts of images and of texts are equal, and their axes have two names.
    fn loss<A: Dim, B: Dim, T: Tape<E, D>>(
        &self,
        images: Tensor<(A, I), E, D, T>,
        texts: Tensor<(B, X), E, D, T>,
        pairs: &Indices<(A,), B>,
    ) -> Result<Tensor<(), E, D, T>, OpError> {
        let image = unit(self.image.forward(images)?)?;
        let text = unit(self.text.forward(texts)?)?;
        let scores = mul(einsum!(image: (A, M), text: (B, M) -> (A, B))?, self.log_temperature.retaped::<T>().exp())?;
        let pair: Tensor<(A, B), E, D> = one_hot(scores.device(), pairs)?;
        let of_images = log_softmax_over(scores.clone(), axis::<B>())?;
        let of_texts = log_softmax_over(scores, axis::<A>())?;
        let right = einsum!(mul(add(of_images, of_texts)?, &pair)?: (A, B) -> (A))?;
        scale(mean(right)?, -0.5)
    }
}

fn unit<A: Dim, M: Dim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    x: Tensor<(A, M), E, D, T>,
) -> Result<Tensor<(A, M), E, D, T>, OpError> {
    let norm: Tensor<(A,), E, D, T> = sum_over(x.clone().square(), axis::<M>())?.sqrt();
    div(x, norm)
}

#[test]
fn a_contrastive_loss() {
    let device = AutoDevice::seed_from_u64(5);
    let mut model = Clip::<InputDim, LatentDim, SharedDim, f64, AutoDevice>::build(&device);
    let (images, texts) = (random(6, (Images::new(4), InputDim)), random(7, (Texts::new(4), LatentDim)));
    let order = [2, 0, 3, 1];
    let pairs = Indices::new(&order, (Images::new(4),), Texts::new(4)).unwrap();
    let loss = |model: &Clip<_, _, _, _, _>| {
        let (images, texts) = (images.clone().put_tape(model.recording()), texts.clone().put_tape(model.recording()));
        model.loss(images, texts, &pairs).unwrap()
    };

    let image = model.image.forward(images.clone()).and_then(unit).unwrap().as_vec();
    let text = model.text.forward(texts.clone()).and_then(unit).unwrap().as_vec();
    let score = |a: usize, b: usize| -> f64 { (0..6).map(|m| image[a * 6 + m] * text[b * 6 + m]).sum() };
    let right = |a: usize, b: usize| {
        let of_image = softmax(&Vec::from_iter((0..4).map(|b| score(a, b))))[b];
        let of_text = softmax(&Vec::from_iter((0..4).map(|a| score(a, b))))[a];
        of_image.ln() + of_text.ln()
    };
    let expected: f64 = order.iter().enumerate().map(|(a, &b)| right(a, b)).sum::<f64>() / -8.0;
    assert!((loss(&model).array() - expected).abs() < 1e-9);

    let mut adam = Adam::default();
    for _ in 0..40 {
        let gradients = loss(&model).backward().unwrap();
        update(&mut model, gradients, &mut adam, 0.05, 1.0).unwrap();
    }
    assert!(loss(&model).array() < expected / 2.0);
}

#[module]
struct Deep<E, D> {
    #[param(|weight| init::normal(weight, 1.0))]
    token_embedder: Tensor<(VocabSize, Width), E, D>,
    layers: Layers<NumLayers, Linear<Width, Width, E, D>>,
}

/// As `docs/porting.md` shows it.
#[test]
fn layers_that_run_again_in_the_backward_pass_have_their_gradients() -> Result<(), OpError> {
    type Activations<T> = Tensor<(Batch, SeqLen, Width), f32, AutoDevice, T>;
    fn loss<T: Tape<f32, AutoDevice>>(y: Activations<T>) -> Result<Tensor<(), f32, AutoDevice, T>, OpError> {
        mean(mul(y.clone(), y)?)
    }
    let model = Deep::<f32, AutoDevice>::build(&AutoDevice::seed_from_u64(0));
    let ids = TokenIds::from_ids(&[1, 0, 4, 3, 1, 1], None, (Batch::new(2), SeqLen::new(3))).unwrap();
    let recorded = embed(&model.token_embedder, &ids, model.recording())?;
    let mut expected = loss(model.layers.iter().try_fold(recorded, |x, layer| layer.forward(x))?)?.backward()?;
    let mut x: Activations<NoneTape> = embed(&model.token_embedder, &ids, NoneTape)?;
    let inputs = Layers::try_from_fn(|n| {
        let input = x.clone();
        x = model.layers[n].forward(x.clone())?;
        Ok::<_, OpError>(input)
    })?;
    let mut gradients = loss(x.clone().put_tape(model.recording()))?.backward()?;
    for (layer, input) in model.layers.iter().zip(&inputs).rev() {
        let gradient = gradients.of(&x)?;
        x = input.clone();
        let y = layer.forward(x.clone().put_tape(gradients.into_recording()))?;
        gradients = einsum!(y: (Batch, SeqLen, Width), &gradient: (Batch, SeqLen, Width) -> ())?.backward()?;
    }
    let gradient = gradients.of(&x)?;
    let y = embed(&model.token_embedder, &ids, gradients.into_recording())?;
    gradients = einsum!(y: (Batch, SeqLen, Width), &gradient: (Batch, SeqLen, Width) -> ())?.backward()?;
    let check = |found: Vec<f32>, expected: Vec<f32>| {
        assert!(found.iter().zip(&expected).all(|(found, expected)| (found - expected).abs() < 1e-6));
        assert!(expected.iter().any(|gradient| gradient.abs() > 1e-3));
    };
    check(gradients.of(&model.token_embedder)?.as_vec(), expected.of(&model.token_embedder)?.as_vec());
    for layer in &model.layers {
        check(gradients.of(&layer.weight)?.as_vec(), expected.of(&layer.weight)?.as_vec());
    }
    Ok(())
}
