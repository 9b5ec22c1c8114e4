use super::Sharded;
use crate::backend::Backend;
use crate::dims::{AnyDim, ConstDim, Dim, Divides, Factor};
use crate::nn::{Arch, DecoderOnly, EncoderOnly, GroupedHeads, GroupedQuery, LM, Seq2Seq, SingleStack};
use crate::ops::{AttentionOptions, Real};
use crate::ranks::{ConstRankAxis, Element, Shard};
use dfdx::tensor::Storage;
use std::marker::PhantomData;

/// The configuration `Config` of a model whose heads and hidden columns the ranks of `Axis` divide. Every rank has the
/// embeddings, the norms and the logits.
///
/// `DecoderOnly<OnRanks<Config, Tp>>` is a rank's part of `DecoderOnly<Config>`, and so with `EncoderOnly` and `LM`:
/// the same layers, of which each rank computes its part. [`Distributed`](super::Distributed) makes them.
///
/// ```
/// use typed_transformer::{doctest::*, prelude::*, ranks, ranks::Ranks, tensor_parallel::{Distributed, OnRanks}};
/// ranks! { pub Tp = 1; } // as many as divide `NumHeads` and `HiddenDim`
/// let ranks = Ranks::<Tp>::single()?;
/// let model = Distributed::<LM<OnRanks<Model, Tp>>, Tp>::build(&Cpu::default(), &ranks)?;
/// let source = TokenIds::from_ids(&[7, 4, 24, 0], None, (Batch, SrcLen))?;
/// let target = TokenIds::from_ids(&[26, 20, 17], None, (Batch, TgtLen))?;
/// let output = model.forward(&source, &target, NoneTape)?;
/// let logits: Tensor<(Batch, TgtLen, VocabSize), f32, Cpu> = output.logit_output;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct OnRanks<Config: Arch, Axis: DividesLayersOf<Config>>(PhantomData<fn() -> (Config, Axis)>);

/// The dimension that ranks divide.
type WholeOf<Columns> = <Columns as Factor>::Whole;

/// The number of ranks divides `NumHeads` and `HiddenDim` of `A`. Then [`OnRanks<A, Self>`](OnRanks) is an [`Arch`].
///
/// ```
/// use typed_transformer::{doctest::*, prelude::*, ranks, tensor_parallel::{DividesLayersOf, OnRanks}};
/// ranks! { pub Tp = 1; }
/// fn parts<Axis: DividesLayersOf<Model>>() -> DecoderOnly<OnRanks<Model, Axis>> {
///     DecoderOnly::build(&Cpu::default())
/// }
/// parts::<Tp>();
/// ```
#[diagnostic::on_unimplemented(
    message = "the ranks of `{Self}` do not divide the heads or the hidden columns of `{A}`",
    label = "`{Self}` does not divide the layers of `{A}`",
    note = "`NumHeads` and `HiddenDim` of the architecture are multiples of the number of ranks"
)]
pub trait DividesLayersOf<A: Arch>:
    ConstRankAxis + Divides<WholeOf<A::NumHeads>> + Divides<WholeOf<A::HiddenDim>>
{
}
#[diagnostic::do_not_recommend]
impl<A, Axis> DividesLayersOf<A> for Axis
where
    A: Arch,
    Axis: ConstRankAxis + Divides<WholeOf<A::NumHeads>> + Divides<WholeOf<A::HiddenDim>>,
{
}

#[diagnostic::do_not_recommend]
impl<Config: Arch, Axis: DividesLayersOf<Config>> Arch for OnRanks<Config, Axis> {
    type NumHeads = Shard<WholeOf<Config::NumHeads>, Axis>;
    type QKDim = Config::QKDim;
    type VODim = Config::VODim;
    type HiddenDim = Shard<WholeOf<Config::HiddenDim>, Axis>;
    type Conventions = Config::Conventions;
    const ATTENTION_DROPOUT: f64 = Config::ATTENTION_DROPOUT;
    const DROPOUT: f64 = Config::DROPOUT;
    const FEED_FORWARD_DROPOUT: f64 = Config::FEED_FORWARD_DROPOUT;
    const FEED_FORWARD_EXTRA_LAYERS: usize = Config::FEED_FORWARD_EXTRA_LAYERS;

    fn attention_options<H: AnyDim, Q: Dim, K: Dim, E: Real, D: Storage<E>, T>() -> AttentionOptions<H, Q, K, E, D, T> {
        Config::attention_options()
    }
}

#[diagnostic::do_not_recommend]
impl<Config: SingleStack, Axis: DividesLayersOf<Config>> SingleStack for OnRanks<Config, Axis> {
    type VocabSize = Config::VocabSize;
    type MaxSeqLen = Config::MaxSeqLen;
    type EmbedDim = Config::EmbedDim;
    type NumLayers = Config::NumLayers;
}

#[diagnostic::do_not_recommend]
impl<Config: Seq2Seq, Axis: DividesLayersOf<Config>> Seq2Seq for OnRanks<Config, Axis> {
    type SrcVocab = Config::SrcVocab;
    type TgtVocab = Config::TgtVocab;
    type MaxSrcLen = Config::MaxSrcLen;
    type MaxTgtLen = Config::MaxTgtLen;
    type EmbedDim = Config::EmbedDim;
    type NumEncoderLayers = Config::NumEncoderLayers;
    type NumDecoderLayers = Config::NumDecoderLayers;
}

#[diagnostic::do_not_recommend]
impl<Config: GroupedQuery, Axis> GroupedQuery for OnRanks<Config, Axis>
where
    Axis: DividesLayersOf<Config> + Divides<WholeOf<Config::NumKeyValueHeads>>,
    Shard<WholeOf<Config::NumHeads>, Axis>:
        GroupedHeads<Shard<WholeOf<Config::NumKeyValueHeads>, Axis>, Config::GroupSize> + Factor<Axis = Axis>,
{
    type NumKeyValueHeads = Shard<WholeOf<Config::NumKeyValueHeads>, Axis>;
    type GroupSize = Config::GroupSize;
}

/// A `$Model` of `OnRanks<Config, Axis>` is a rank's part of a `$Model` of `Config`. `Config` has whole dimensions:
/// parts of parts are refused.
macro_rules! sharded {
    ($($Model:ident of $Config:ident),*) => {$(
        #[diagnostic::do_not_recommend]
        impl<Config, Axis, E: Element, D: Backend<E>> Sharded<Axis, E, D> for $Model<OnRanks<Config, Axis>, E, D>
        where
            Config: $Config<NumHeads: ConstDim, HiddenDim: ConstDim>,
            Axis: DividesLayersOf<Config>,
        {
            type Whole = $Model<Config, E, D>;
        }
    )*};
}
sharded!(DecoderOnly of SingleStack, EncoderOnly of SingleStack, LM of Seq2Seq);
