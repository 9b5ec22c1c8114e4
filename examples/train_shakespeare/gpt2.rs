//! `--from`: goes on from GPT-2's weights, with its tokenizer.

use crate::{
    Batch, SeqLen, TextModel,
    cli::Cli,
    mean_loss,
    support::{self, BoxError, Outcome, load_weights, print},
    text::{Text, Windows},
    train,
};
use std::{collections::HashMap, path::Path};
use typed_transformer::{
    generate::Generation,
    models::published::gpt2::{self, VocabSize},
    prelude::*,
    tokens::Tokenizer,
    weights::{eos_token_ids, load_pretrained},
};

type Model<D> = gpt2::Model<f32, D>;

dims! { Texts = 1; Prompt; }

impl<D: Backend<f32>> TextModel<D> for Model<D> {
    type VocabSize = VocabSize;

    fn try_logits<T: Tape<f32, D>>(
        &self,
        ids: &TokenIds<Batch, SeqLen, VocabSize>,
        tape: T,
    ) -> Result<Tensor<(Batch, SeqLen, VocabSize), f32, D, T>, OpError> {
        self.try_forward(ids, tape)
    }
}

/// Trains GPT-2 on the text, or loads what was trained so; then samples.
pub fn run<D: Backend<f32>>(cli: &Cli, folder: &Path, device: &D) -> Result<(), BoxError> {
    let sampler = cli.sampler()?;
    #[cfg(feature = "plot")]
    let mut report = cli.files.report("GPT-2 on a text")?;
    let tokenizer = Tokenizer::<VocabSize>::from_file(folder.join("tokenizer.json"))?;
    let prompt = cli.prompt.as_deref().filter(|text| !text.is_empty()).unwrap_or("\n");
    let tokens = tokenizer.encode(prompt).map_err(|error| format!("--prompt: {error}"))?;
    let ends = eos_token_ids(folder)?;
    let (mut trained, mut saved, mut printed): (Outcome, Outcome, Outcome) = (Ok(()), Ok(()), Ok(()));
    let model: Model<D>;
    match &cli.load {
        Some(path) => model = load_weights(path, device)?,
        None => {
            let encode = |text: &str| Ok(((), tokenizer.encode(text)?));
            let ((), text) = Text::read(cli.data.as_deref(), "tokens", encode)?;
            let from: Model<D> = load_pretrained(folder, device)?;
            (model, trained) = train(cli, &text, device, || Ok(from))?;
            saved = cli.files.save(&model, &HashMap::new());
            let loss = mean_loss(&model, Windows::all(&text.validation, cli.batch))?;
            let result = format!("validation loss {loss:.4} over all {} tokens", text.validation.len());
            printed = print(&format!("{result}\n\n"));
            #[cfg(feature = "plot")]
            if let Some(report) = &mut report {
                cli.files.metrics().iter().for_each(|metrics| report.training_curves(metrics));
                report.page.text(&result);
            }
        }
    }
    let ids: Vec<usize> = tokens.iter().map(|token| token.value()).collect();
    let ids = TokenIds::from_ids(&ids, None, (Texts, Prompt::new(ids.len())))?;
    let mut sampler = sampler.restrict_to(tokenizer.tokens());
    let mut text = tokenizer.stream();
    let mut sample = prompt.to_string();
    for tokens in Generation::try_new(&model, &ids, ends, &mut sampler)?.take(cli.sample) {
        for token in tokens?.into_iter().flatten() {
            sample += &text.push(token)?;
        }
    }
    sample += &text.finish()?;
    let printed_sample = print(&format!("{sample}\n"));
    let reported: Outcome = Ok(());
    #[cfg(feature = "plot")]
    let reported = report.map_or(reported, |report| crate::plots::finish(report, cli, &model, &sample));
    support::all([trained, saved, printed, printed_sample, reported])
}
