use super::{DividesLayersOf, ShardedBlockStack};
use crate::backend::{Backend, Tape};
use crate::dims::{AtMost, MaybeSharded};
use crate::mask::CausalMask;
use crate::module;
use crate::nn::{DecoderOnly, Embedder, LmHead, SingleStack, self_mask, target_padding};
use crate::ops::OpError;
use crate::ranks::{Element, Ranks};
use crate::tensor_parallel::Sharded;
use crate::tensor_parallel::dropout::same_dropout;
use crate::tokens::TokenIds;
use dfdx::tensor::Tensor;

/// [`DecoderOnly`], whose heads and hidden columns are divided among the ranks. All ranks have embeddings, norms
/// and logits.
///
/// ```
/// use typed_transformer::{doctest::*, prelude::*, ranks, ranks::Ranks, tensor_parallel::{Distributed, ShardedDecoderOnly}};
/// ranks! { pub Tp = 1; } // as many as divide `NumHeads` and `HiddenDim`
/// let ranks = Ranks::<Tp>::single()?;
/// let model = Distributed::<ShardedDecoderOnly<Model, Tp, f32, Cpu>, Tp>::build(&Cpu::default(), &ranks)?;
/// let ids = TokenIds::from_ids(&[7, 4, 24, 0], None, (Batch, SeqLen))?;
/// let logits: Tensor<(Batch, SeqLen, VocabSize), f32, Cpu> = model.forward(&ids, NoneTape, &ranks)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[module(output = Config::VocabSize)]
pub struct ShardedDecoderOnly<Config: SingleStack, Axis: DividesLayersOf<Config>, E, D> {
    /// From token ids to vectors.
    pub embedder: Embedder<Config::VocabSize, Config::MaxSeqLen, Config::EmbedDim, Config, E, D>,
    /// The layers; each position attends to itself and earlier ones.
    pub decoder: ShardedBlockStack<Config::EmbedDim, Config::NumLayers, Config, Axis, E, D>,
    /// From vectors to logits.
    pub logit: LmHead<Config::EmbedDim, Config::VocabSize, Config, E, D>,
}

#[diagnostic::do_not_recommend]
impl<Config: SingleStack, Axis: DividesLayersOf<Config>, E: Element, D: Backend<E>> Sharded<Axis, E, D>
    for ShardedDecoderOnly<Config, Axis, E, D>
{
    type Whole = DecoderOnly<Config, E, D>;
}

impl<Config: SingleStack, Axis: DividesLayersOf<Config>, E: Element, D: Backend<E>>
    ShardedDecoderOnly<Config, Axis, E, D>
{
    /// `(B, S) ids of VocabSize -> (B, S, VocabSize)`, the same on all ranks; `tape` records the operations for
    /// gradients.
    pub fn forward<B: MaybeSharded, S: AtMost<Config::MaxSeqLen>, T: Tape<E, D>>(
        &self,
        token_ids: &TokenIds<B, S, Config::VocabSize>,
        tape: T,
        ranks: &Ranks<Axis>,
    ) -> Result<Tensor<(B, S, Config::VocabSize), E, D, T>, OpError> {
        let device = self.embedder.token_embedder.weight.device();
        let _seed = same_dropout::<E, D, T, _>(Config::DROPOUT, device, ranks)?;
        let embeds = self.embedder.forward(token_ids, tape)?;
        let mask = self_mask::<CausalMask, Config, B, S>(&target_padding::<Config, B, S>(token_ids.padding_mask()));
        let output = self.decoder.forward(embeds, &mask, ranks)?;
        self.logit.forward(output, &self.embedder.token_embedder)
    }
}
