//! Modules of one's own, written in contractions and rearrangements: attention whose heads share keys, a mixture of
//! experts, and the patches of an image.

use typed_transformer::ops::{add, linear, mul, rename, stack};
use typed_transformer::prelude::*;

dims! {
    /// Batch size.
    Batch;
    /// Length of the queries.
    QLen;
    /// Length of the keys.
    KLen;
    /// Width of every embedding.
    EmbedDim = 12;
    /// The number of query heads that share one key head.
    GroupSize = 2;
    /// Key heads.
    KeyHeads = 3;
    /// Size of a head.
    HeadDim = 4;
    /// Width inside an expert.
    HiddenDim = 16;
    /// The number of experts.
    NumExperts = 5;
    /// Rows of patches.
    Rows = 6;
    /// Columns of patches.
    Columns = 7;
    /// Height of a patch.
    Height = 8;
    /// Width of a patch.
    Width = 9;
    /// Colours of a pixel.
    Colours = 10;
}

/// Attention of grouped queries, without a mask.
fn grouped_attention<B: Dim, Q: Dim, K: Dim, G: ConstDim, H: ConstDim, Head: ConstDim, E: Real, D: Backend<E>>(
    query: Tensor<(B, Q, Product<G, Product<H, Head>>), E, D>,
    key: &Tensor<(B, K, Product<H, Head>), E, D>,
    value: &Tensor<(B, K, Product<H, Head>), E, D>,
) -> Tensor<(B, Q, Product<G, Product<H, Head>>), E, D> {
    let query: Tensor<(B, G, H, Q, Head), E, D> =
        rearrange!(query: (B, Q, Product<G, Product<H, Head>>) -> (B, G, H, Q, Head)).unwrap();
    let key: Tensor<(B, H, K, Head), E, D> = rearrange!(key: (B, K, Product<H, Head>) -> (B, H, K, Head)).unwrap();
    let value: Tensor<(B, K, H, Head), E, D> = rearrange!(value: (B, K, Product<H, Head>) -> (B, K, H, Head)).unwrap();
    let scores: Tensor<(B, G, H, Q, K), E, D> =
        einsum!(query: (B, G, H, Q, Head), key: (B, H, K, Head) -> (B, G, H, Q, K)).unwrap();
    let weights: Tensor<(B, G, H, Q, K), E, D> = softmax_over(scores, axis::<K>()).unwrap(); // or over B, G, H, Q
    let attended: Tensor<(B, Q, G, H, Head), E, D> =
        einsum!(weights: (B, G, H, Q, K), value: (B, K, H, Head) -> (B, Q, G, H, Head)).unwrap();
    rearrange!(attended: (B, Q, G, H, Head) -> (B, Q, Product<G, Product<H, Head>>)).unwrap()
}

/// All experts, weighted by a gate.
fn experts<B: Dim, S: Dim, M: ConstDim, Hidden: ConstDim, X: ConstDim, E: Real, D: Backend<E>, T: Tape<E, D>>(
    input: Tensor<(B, S, M), E, D, T>,
    gate: &Tensor<(X, M), E, D>,
    hidden: &Tensor<(X, Hidden, M), E, D>,
    hidden_bias: &Tensor<(Hidden, X), E, D>,
    output: &Tensor<(X, M, Hidden), E, D>,
) -> Tensor<(B, S, M), E, D, T> {
    let logits: Tensor<(B, S, X), E, D, T> = linear(input.clone(), gate, None).unwrap();
    let weights: Tensor<(B, S, X), E, D, T> = softmax_over(logits, axis::<X>()).unwrap(); // or over B, S
    let inner: Tensor<(B, S, X, Hidden), E, D, T> =
        einsum!(input: (B, S, M), hidden: (X, Hidden, M) -> (B, S, X, Hidden)).unwrap();
    let inner: Tensor<(B, S, X, Hidden), E, D, T> = add(inner, hidden_bias).unwrap();
    let inner: Tensor<(B, S, X, Hidden), E, D, T> = mul(inner, weights).unwrap();
    einsum!(inner: (B, S, X, Hidden), output: (X, M, Hidden) -> (B, S, M)).unwrap()
}

type Image = (Batch, Product<Rows, Height>, Product<Columns, Width>, Colours);
type Patches = (Batch, Product<Rows, Columns>, Product<Height, Product<Width, Colours>>);

fn patches(image: &Tensor<Image, f32, Cpu>) -> Tensor<Patches, f32, Cpu> {
    rearrange!(
        image: (Batch, Product<Rows, Height>, Product<Columns, Width>, Colours)
            -> (Batch, Product<Rows, Columns>, Product<Height, Product<Width, Colours>>)
    )
    .unwrap()
}

pub fn main() {
    let device = Cpu::default();
    let (batch, queries, keys) = (Batch::new(2), QLen::new(3), KLen::new(4));
    let query: Tensor<(Batch, QLen, Product<GroupSize, Product<KeyHeads, HeadDim>>), f32, Cpu> =
        device.zeros_like(&(batch, queries, Product::default()));
    let key: Tensor<(Batch, KLen, Product<KeyHeads, HeadDim>), f32, Cpu> =
        device.zeros_like(&(batch, keys, Product::default()));
    let value: Tensor<(Batch, KLen, Product<KeyHeads, HeadDim>), f32, Cpu> =
        device.zeros_like(&(batch, keys, Product::default()));
    let attended: Tensor<(Batch, QLen, Product<GroupSize, Product<KeyHeads, HeadDim>>), f32, Cpu> =
        grouped_attention::<Batch, QLen, KLen, GroupSize, KeyHeads, HeadDim, _, _>(query, &key, &value);
    assert_eq!(attended.as_vec(), [0.0; 2 * 3 * 24]);

    let input: Tensor<(Batch, KLen, EmbedDim), f32, Cpu> = device.zeros_like(&(batch, keys, EmbedDim));
    let gate: Tensor<(NumExperts, EmbedDim), f32, Cpu> = device.zeros();
    let hidden: Tensor<(NumExperts, HiddenDim, EmbedDim), f32, Cpu> = device.zeros();
    let hidden_bias: Tensor<(HiddenDim, NumExperts), f32, Cpu> = device.zeros();
    let output: Tensor<(NumExperts, EmbedDim, HiddenDim), f32, Cpu> = device.zeros();
    let mixed: Tensor<(Batch, KLen, EmbedDim), f32, Cpu> =
        experts::<Batch, KLen, EmbedDim, HiddenDim, NumExperts, _, _, _>(input, &gate, &hidden, &hidden_bias, &output);
    assert_eq!(mixed.as_vec(), [0.0; 2 * 4 * 12]);

    let layers: Tensor<(Batch, GroupSize, KLen, EmbedDim), f32, Cpu> =
        stack(vec![mixed.clone(), mixed], GroupSize).unwrap();
    let sums: Tensor<(Batch, GroupSize, KLen, NumExperts), f32, Cpu> = einsum!(
        layers: (Batch, GroupSize, KLen, EmbedDim), &gate: (NumExperts, EmbedDim)
        -> (Batch, GroupSize, KLen, NumExperts)
    )
    .unwrap();
    let renamed: Tensor<(Batch, GroupSize, QLen, NumExperts), f32, Cpu> =
        rename(sums, axis::<KLen>(), QLen::new(4)).unwrap();
    assert_eq!(renamed.as_vec(), [0.0; 2 * 2 * 4 * 5]);

    let image: Tensor<Image, f32, Cpu> = device.zeros_like(&(batch, Product::default(), Product::default(), Colours));
    let pixels: Tensor<Patches, f32, Cpu> = patches(&image);
    assert_eq!(pixels.as_vec().len(), 2 * 6 * 7 * 8 * 9 * 10);
}
