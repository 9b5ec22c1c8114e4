//! The vectors of sentences, as `sentence-transformers` computes them: the mean of BERT's vectors, scaled to length 1.
//! `sentence-transformers` cuts a sentence at 256 tokens; this program does not.

use std::error::Error;
use typed_transformer::{
    models::published::all_mini_lm_l6_v2::{EmbedDim, MaxSeqLen, Model, TokenTypes, VocabSize},
    nn::Precision,
    ops::{Activation, Sqrt, div, masked_mean, mul, rename, sum_over},
    prelude::*,
    tokens::Tokenizer,
};

dims! {
    pub Sentences;
    pub OtherSentences;
    pub Len <= MaxSeqLen;
}

/// The tokens of sentences. A sentence that has more of them than the model reads is an error.
pub fn tokens(
    tokenizer: &Tokenizer<VocabSize>,
    sentences: &[String],
) -> Result<TokenIds<Sentences, Len, VocabSize>, Box<dyn Error>> {
    let rows: Vec<Vec<Fin<VocabSize>>> = sentences
        .iter()
        .map(|sentence| tokenizer.encode(sentence).map_err(|error| format!("{sentence:?}: {error}")))
        .collect::<Result<_, _>>()?;
    let pad = tokenizer.token("[PAD]").ok_or("the tokenizer has no token [PAD]")?;
    if let Some((sentence, _)) = sentences.iter().zip(&rows).find(|(_, row)| row.contains(&pad)) {
        return Err(format!("{sentence:?} has the token [PAD], which only fills up shorter sentences").into());
    }
    let shape = (Sentences::new(rows.len()), Len::new(rows.iter().map(Vec::len).max().unwrap_or(0))?);
    Ok(TokenIds::padded(&rows, pad, shape)?)
}

/// A vector of length 1 for each sentence.
pub fn embed<D: Backend<f32>, P: Precision>(
    model: &Model<f32, D, P>,
    ids: &TokenIds<Sentences, Len, VocabSize>,
) -> Result<Tensor<(Sentences, EmbedDim), f32, D>, OpError> {
    let types = Indices::<_, TokenTypes>::from_fn(ids.shape(), |_| Fin::literal::<0>());
    let states: Tensor<(Sentences, Len, EmbedDim), f32, D> = model.forward(ids, &types.into(), NoneTape)?;
    let mean = masked_mean(states, &ids.padding_mask())?;
    let squares = sum_over(mul(mean.clone(), &mean)?, axis::<EmbedDim>())?;
    let length: Tensor<(Sentences,), f32, D> = Sqrt::apply(squares)?;
    div(mean, length)
}

/// The cosine of the angle between each two vectors of length 1.
pub fn cosines<D: Backend<f32>>(
    vectors: &Tensor<(Sentences, EmbedDim), f32, D>,
) -> Result<Tensor<(Sentences, OtherSentences), f32, D>, OpError> {
    let others = OtherSentences::new(vectors.shape().0.size());
    let others: Tensor<(OtherSentences, EmbedDim), f32, D> = rename(vectors.clone(), axis::<Sentences>(), others)?;
    einsum!(vectors: (Sentences, EmbedDim), others: (OtherSentences, EmbedDim) -> (Sentences, OtherSentences))
}
