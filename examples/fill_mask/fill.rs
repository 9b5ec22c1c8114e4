//! The tokens that a ModernBERT puts in place of `[MASK]`, as the pipeline `fill-mask` of `transformers` does.

use std::error::Error;
use typed_transformer::{
    models::modern_bert::{ModernBert, ModernBertConfig},
    ops::{take, top_k},
    prelude::*,
    tokens::{Tokenizer, TokenizerError},
};

dims! {
    pub Masks;
    pub Choices = 5;
}

/// A token in place of a mask.
pub struct Choice {
    pub text: String,
    pub probability: f32,
}

/// A text as tokens, and where its masks are.
pub struct Masked<Len, V> {
    ids: TokenIds<Const<1>, Len, V>,
    places: Indices<(Masks,), Len>,
}

/// Finds the masks of a text. A text without one, or of more tokens than the model reads, is an error.
pub fn find_masks<Len: AtMost<MaxLen>, MaxLen: ConstDim, V: ConstDim>(
    tokenizer: &Tokenizer<V>,
    text: &str,
) -> Result<Masked<Len, V>, Box<dyn Error>> {
    let mask = tokenizer.token("[MASK]").ok_or("the tokenizer has no token [MASK]")?;
    let tokens = tokenizer.encode(text)?;
    let max_len = MaxLen::SIZE;
    let len = Len::from_size(tokens.len())
        .ok_or_else(|| format!("the text has {} tokens, but the model reads at most {max_len}", tokens.len()))?;
    let places: Vec<usize> = (0..tokens.len()).filter(|&place| tokens[place] == mask).collect();
    if places.is_empty() {
        return Err(format!("{text:?} has no [MASK]").into());
    }
    let places = Indices::new(&places, (Masks::new(places.len()),), len)?;
    Ok(Masked { ids: TokenIds::from_rows(&[tokens], (Const::<1>, len))?, places })
}

/// The most likely tokens in place of each mask of a text, the most likely one first.
pub fn fill<Len, Config, D>(
    model: &ModernBert<Config, f32, D>,
    tokenizer: &Tokenizer<Config::VocabSize>,
    text: &Masked<Len, Config::VocabSize>,
) -> Result<Vec<Vec<Choice>>, Box<dyn Error>>
where
    Len: AtMost<Config::MaxSeqLen>,
    Choices: AtMost<Config::VocabSize>,
    Config: ModernBertConfig,
    D: Backend<f32>,
{
    let states = model.forward(&text.ids, NoneTape)?;
    let states: Tensor<(Const<1>, Masks, Config::EmbedDim), f32, D> = take(states, axis::<Len>(), &text.places)?;
    let logits: Tensor<(Const<1>, Masks, Config::VocabSize), f32, D> = model.logits(states)?;
    let probabilities = softmax_over(logits, axis::<Config::VocabSize>())?;
    let (probabilities, tokens) = top_k(probabilities, axis::<Config::VocabSize>(), Choices)?;

    let (probabilities, tokens) = (probabilities.as_vec(), tokens.to_vec());
    let of_masks = probabilities.chunks(Choices::SIZE).zip(tokens.chunks(Choices::SIZE));
    let choices = |(&probability, &token): (&f32, &Fin<Config::VocabSize>)| {
        Ok(Choice { text: tokenizer.decode(&[token])?, probability })
    };
    let choices = of_masks.map(|(probabilities, tokens)| probabilities.iter().zip(tokens).map(choices).collect());
    Ok(choices.collect::<Result<_, TokenizerError>>()?)
}
