//! Modules of one's own on ranks: written once, they compute what they compute in one process.

use crate::finite_differences::random;
use crate::numbers::F64;
use crate::recorded::{OwnTape, Recorded};
use crate::tensor_parallel_models::{Compared, Loss, assert_close, check};
use std::ops::Range;
use typed_transformer::dims::Factor;
use typed_transformer::nn::{Linear, init};
use typed_transformer::ops::{Activation, DropoutSeed, GeluTanh, linear, scale};
use typed_transformer::prelude::*;
use typed_transformer::ranks;
use typed_transformer::ranks::{ConstRankAxis, Element, Partial, Ranks, Shard};
use typed_transformer::tensor_parallel::{
    Distributed, Sharded, all_gather, all_reduce, enter, grouped_query_attention, linear_column, linear_row,
    reduce_scatter, shard,
};
use typed_transformer::train::GradientsOf;

ranks! { One = 1; Two = 2; Four = 4; }
dims! {
    Batch = 2; SeqLen = 3; EmbedDim = 6; HiddenDim = 8; NumKeyValueHeads = 4; GroupSize = 3; HeadDim = 2;
    VocabSize = 7; NumLayers = 2; Rows;
}

/// A feed-forward layer for one process, and for ranks that divide its hidden columns.
#[module(output = EmbedDim)]
struct FeedForward<Columns: Factor, E, D> {
    #[param(init::uniform::<EmbedDim, _, _, _>)]
    first: Tensor<(Columns, EmbedDim), E, D>,
    #[param(init::zeros)]
    bias: Tensor<(Columns,), E, D>,
    #[param(init::uniform::<HiddenDim, _, _, _>)]
    second: Tensor<(EmbedDim, Columns), E, D>,
}

impl<Columns: Factor> FeedForward<Columns, f64, Cpu> {
    fn forward<T: Tape<f64, Cpu>>(
        &self,
        x: F64<(Batch, SeqLen, EmbedDim), T>,
        ranks: &Ranks<Columns::Axis>,
    ) -> Result<F64<(Batch, SeqLen, EmbedDim), T>, OpError> {
        let hidden = linear_column(enter(x, ranks)?, &self.first, Some(&self.bias))?;
        all_reduce(linear_row(GeluTanh::apply(hidden)?, &self.second)?, ranks)
    }

    fn loss(&self, ranks: &Ranks<Columns::Axis>) -> Loss<f64> {
        let x = random(1).put_tape(OwnTape::default());
        let labels: LabelIds<_, _, EmbedDim> = LabelIds::from_ids(&[3, 1, 4, 1, 5, 2], None, (Batch, SeqLen)).unwrap();
        cross_entropy(self.forward(x, ranks).unwrap(), &labels, Reduction::Sum).unwrap()
    }
}

impl<Tp: ConstRankAxis + Divides<HiddenDim>> Sharded<Tp, f64, Cpu> for FeedForward<Shard<HiddenDim, Tp>, f64, Cpu> {
    type Whole = FeedForward<HiddenDim, f64, Cpu>;
}

impl<Tp: ConstRankAxis + Divides<HiddenDim>> Compared<Tp, f64> for FeedForward<Shard<HiddenDim, Tp>, f64, Cpu> {
    fn loss(&self, ranks: &Ranks<Tp>) -> Loss<f64> {
        self.loss(ranks)
    }
    fn loss_of_whole(whole: &Self::Whole) -> Loss<f64> {
        whole.loss(&Ranks::<()>::single().unwrap())
    }
}

#[test]
fn a_layer_that_is_written_once_trains_on_ranks_as_in_one_process() {
    check::<FeedForward<Shard<HiddenDim, One>, f64, Cpu>, One, f64>(1e-10);
    check::<FeedForward<Shard<HiddenDim, Two>, f64, Cpu>, Two, f64>(1e-10);
    check::<FeedForward<Shard<HiddenDim, Four>, f64, Cpu>, Four, f64>(1e-10);
}

/// A rank's part of `x`, which is joined, summed over the two ranks, and divided twice.
fn twice<E: Real, D: Backend<E>, T: Tape<E, D>>(
    x: Tensor<(SeqLen, Shard<HiddenDim, Two>), E, D, T>,
    ranks: &Ranks<Two>,
) -> Result<Tensor<(SeqLen, Shard<HiddenDim, Two>), E, D, T>, OpError> {
    let terms = Partial::term(all_gather(x, axis::<HiddenDim>(), ranks)?);
    let sum = all_gather(reduce_scatter(terms, axis::<HiddenDim>(), ranks)?, axis::<HiddenDim>(), ranks)?;
    shard(enter(sum, ranks)?, axis::<HiddenDim>(), ranks)
}

#[test]
fn columns_are_joined_and_divided_in_any_dtype() {
    fn check<E: Real>(ranks: &Ranks<Two>)
    where
        Cpu: Backend<E>,
    {
        let numbers: Vec<E> = (0..12).map(|i| E::from(i + 12 * ranks.rank()).unwrap()).collect();
        let x: Tensor<(SeqLen, Shard<HiddenDim, Two>), E, Cpu> = Cpu::default().tensor(numbers.clone());
        let doubled: Vec<E> = numbers.iter().map(|&number| number + number).collect();
        assert_eq!(twice(x, ranks).unwrap().as_vec(), doubled);
    }
    Ranks::<Two>::in_threads(2, |ranks| {
        check::<f32>(ranks);
        check::<f64>(ranks);
        #[cfg(feature = "f16")]
        check::<dfdx::dtypes::AMP<dfdx::dtypes::f16>>(ranks);
    });
}

#[module(output = EmbedDim)]
struct Gated<E, D> {
    #[param(init::ones)]
    gate: Tensor<(HiddenDim, EmbedDim), E, D>,
    #[param(init::zeros)]
    up: Tensor<(HiddenDim, EmbedDim), E, D>,
}

/// A part of [`Gated`] whose fields stand in another order.
#[module(output = EmbedDim)]
struct Reordered<E, D> {
    #[param(init::zeros)]
    up: Tensor<(Shard<HiddenDim, One>, EmbedDim), E, D>,
    #[param(init::ones)]
    gate: Tensor<(Shard<HiddenDim, One>, EmbedDim), E, D>,
}

impl<E: Element, D: Backend<E>> Sharded<One, E, D> for Reordered<E, D> {
    type Whole = Gated<E, D>;
}

#[test]
#[should_panic(expected = "`Reordered` has other parameters than its `Whole`, or in another order\n  \
                           left: [\"up\", \"gate\"]\n right: [\"gate\", \"up\"]")]
fn fields_of_a_part_in_another_order_are_refused() {
    let _ = Distributed::<Reordered<f32, Cpu>, One>::build(&Cpu::default(), &Ranks::<One>::single().unwrap());
}

type KeyDim<NumKeyValueHeads> = Product<NumKeyValueHeads, HeadDim>;
type QueryDim<NumKeyValueHeads> = Product<Product<NumKeyValueHeads, GroupSize>, HeadDim>;

/// Attention with dropout by a seed, in the heads whose columns begin at `part` of all that all ranks have.
fn attend<H: Factor>(_seed: DropoutSeed, part: usize, ranks: &Ranks<H::Axis>) -> Vec<f64> {
    let own = |all: Vec<f64>| -> Vec<f64> {
        all.chunks(all.len() / (Batch::SIZE * SeqLen::SIZE))
            .flat_map(|row| row.chunks(row.len() / NumKeyValueHeads::SIZE * H::SIZE).nth(part).unwrap().to_vec())
            .collect()
    };
    let query = own(random::<(Batch, SeqLen, QueryDim<NumKeyValueHeads>)>(1).as_vec());
    let query: F64<(Batch, SeqLen, QueryDim<H>)> = Cpu::default().tensor(query);
    let [key, value] = [2, 3].map(|seed| -> F64<(Batch, SeqLen, KeyDim<H>)> {
        Cpu::default().tensor(own(random::<(Batch, SeqLen, KeyDim<NumKeyValueHeads>)>(seed).as_vec()))
    });
    let mask = AttentionMask::all_visible((Batch, SeqLen, SeqLen));
    let options = AttentionOptions { dropout: 0.5, ..AttentionOptions::default() };
    let (query, key, value) = (query.recorded(), key.recorded(), value.recorded());
    grouped_query_attention(query, key, value, &mask, options, ranks).unwrap().as_vec()
}

#[test]
fn grouped_heads_on_ranks_drop_what_one_process_drops() {
    let wholes = [|| DropoutSeed::new(3), DropoutSeed::none].map(|seed: fn() -> DropoutSeed| {
        let whole = attend::<NumKeyValueHeads>(seed(), 0, &Ranks::<()>::single().unwrap());
        let parts =
            Ranks::<Two>::in_threads(2, |ranks| attend::<Shard<NumKeyValueHeads, Two>>(seed(), ranks.rank(), ranks));
        let half = QueryDim::<NumKeyValueHeads>::SIZE / 2;
        for (rank, part) in parts.iter().enumerate() {
            let expected: Vec<f64> = whole.chunks(half).skip(rank).step_by(2).flatten().copied().collect();
            assert_close(part, &expected, 1e-12, "the heads of a rank");
        }
        whole
    });
    assert_ne!(wholes[0], wholes[1]);
}

#[module(output = VocabSize)]
struct Stack<E, D> {
    #[param(init::uniform::<EmbedDim, _, _, _>)]
    embedding: Tensor<(VocabSize, EmbedDim), E, D>,
    layers: Layers<NumLayers, Linear<EmbedDim, EmbedDim, E, D>>,
}

type Hidden<B, T = NoneTape> = F64<(B, SeqLen, EmbedDim), T>;

fn layer<B: Dim, T: Tape<f64, Cpu>>(
    map: &Linear<EmbedDim, EmbedDim, f64, Cpu>,
    x: Hidden<B, T>,
) -> Result<Hidden<B, T>, OpError> {
    residual(x.clone(), GeluTanh::apply(map.forward(x)?)?)
}

impl Stack<f64, Cpu> {
    fn loss<B: Dim, T: Tape<f64, Cpu>>(
        &self,
        x: Hidden<B, T>,
        labels: &LabelIds<B, SeqLen, VocabSize>,
    ) -> Result<F64<(), T>, OpError> {
        scale(cross_entropy(linear(x, &self.embedding, None)?, labels, Reduction::Sum)?, 1.0 / 12.0)
    }

    /// As `docs/porting.md` has it.
    fn recomputed<B: Dim>(&self, ids: &Ids<B>) -> Result<GradientsOf<Self, f64, Cpu>, OpError> {
        let mut x = embed(&self.embedding, ids, NoneTape)?;
        let inputs = Layers::<NumLayers, _>::try_from_fn(|n| {
            let input = x.clone();
            x = layer(&self.layers[n], x.clone())?;
            Ok::<_, OpError>(input)
        })?;
        let mut gradients = self.loss(x.clone().put_tape(self.recording()), &ids.clone().into())?.backward()?;
        for (map, input) in self.layers.iter().zip(&inputs).rev() {
            let gradient = gradients.of(&x)?;
            x = input.clone();
            let y = layer(map, x.clone().put_tape(gradients.into_recording()))?;
            gradients = einsum!(y: (B, SeqLen, EmbedDim), &gradient: (B, SeqLen, EmbedDim) -> ())?.backward()?;
        }
        let gradient = gradients.of(&x)?;
        let y = embed(&self.embedding, ids, gradients.into_recording())?;
        einsum!(y: (B, SeqLen, EmbedDim), &gradient: (B, SeqLen, EmbedDim) -> ())?.backward()
    }

    fn recorded<B: Dim>(&self, ids: &Ids<B>) -> Result<GradientsOf<Self, f64, Cpu>, OpError> {
        let x = embed(&self.embedding, ids, self.recording())?;
        let x = self.layers.iter().try_fold(x, |x, map| layer(map, x))?;
        self.loss(x, &ids.clone().into())?.backward()
    }

    fn some_of(&self, mut gradients: GradientsOf<Self, f64, Cpu>) -> [Vec<f64>; 2] {
        [gradients.of(&self.embedding).unwrap().as_vec(), gradients.of(&self.layers[0].weight).unwrap().as_vec()]
    }
}

type Ids<B> = TokenIds<B, SeqLen, VocabSize>;

#[test]
fn activations_that_ranks_compute_again_give_the_gradients_of_the_whole_batch() {
    let ids: Vec<usize> = (0..12).map(|i| i * i % 7).collect();
    let of_rows = |rows: Range<usize>| -> Ids<Rows> {
        TokenIds::from_ids(&ids[3 * rows.start..3 * rows.end], None, (Rows::new(rows.len()), SeqLen)).unwrap()
    };
    let whole = Stack::build(&Cpu::seed_from_u64(0));
    let expected = whole.some_of(whole.recorded(&of_rows(0..4)).unwrap());
    Ranks::<Two>::in_threads(2, |ranks| {
        let model = ranks.replicate(whole.clone()).unwrap();
        let rows = ranks.shard(Rows::new(4)).range().unwrap();
        let sum = Partial::term(model.recomputed(&of_rows(rows)).unwrap()).all_reduce(ranks, &model).unwrap();
        for (found, expected) in model.some_of(sum.into_inner()).iter().zip(&expected) {
            assert_close(found, expected, 1e-12, "the gradient");
        }
    });
}
