//! `--from`: goes on from the weights of a GPT-2, with its tokenizer.

use crate::{
    SeqLen,
    cli::Cli,
    loss::{TextModel, validation},
    support::{
        self, BoxError, Outcome, load_weights, print,
        ranks::{World, on_first},
    },
    text::Text,
    train,
};
use std::{collections::HashMap, path::Path};
use typed_transformer::{
    dims::AtMost,
    generate::{Generation, Sampler},
    models::gpt2::{Gpt2, Gpt2Config},
    prelude::*,
    ranks::Ranks,
    tokens::Tokenizer,
    weights::{eos_token_ids, load_pretrained},
};

dims! { Texts = 1; Prompt; }

impl<Config: Gpt2Config, D: Backend<f32>> TextModel<D> for Gpt2<Config, f32, D>
where
    SeqLen: AtMost<Config::MaxSeqLen>,
{
    type VocabSize = Config::VocabSize;

    fn logits<B: DataDim, T: Tape<f32, D>>(
        &self,
        ids: &TokenIds<B, SeqLen, Config::VocabSize>,
        tape: T,
    ) -> Result<Tensor<(B, SeqLen, Config::VocabSize), f32, D, T>, OpError> {
        self.forward(ids, tape)
    }
}

/// Trains the GPT-2 of a folder on the text, or loads weights that were trained in this way. Then it samples.
pub fn run<Config: Gpt2Config, D: Backend<f32>>(
    cli: &Cli,
    ranks: &Ranks<World>,
    folder: &Path,
    device: &D,
) -> Result<(), BoxError>
where
    SeqLen: AtMost<Config::MaxSeqLen>,
{
    let sampler = cli.sampler()?;
    #[cfg(feature = "plot")]
    let mut report = on_first(ranks, || cli.files.report("GPT-2 on a text"))?.flatten();
    let tokenizer = Tokenizer::<Config::VocabSize>::from_file(folder.join("tokenizer.json"));
    let tokenizer = ranks.fail_together(tokenizer.map_err(BoxError::from))?;
    let prompt = cli.prompt.as_deref().filter(|text| !text.is_empty()).unwrap_or("\n");
    let tokens = tokenizer.encode(prompt).map_err(|error| format!("--prompt: {error}"))?;
    let (found, max_len) = (tokens.len(), Config::MaxSeqLen::SIZE);
    if found > max_len {
        return Err(format!("--prompt: it has {found} tokens, but the model reads at most {max_len}").into());
    }
    let ends = ranks.fail_together(eos_token_ids(folder).map_err(BoxError::from))?;
    let (mut trained, mut evaluated): (Outcome, Outcome) = (Ok(()), Ok(()));
    let model: Gpt2<Config, f32, D>;
    match &cli.load {
        Some(path) => {
            model = ranks.fail_together(load_weights(path, device))?;
            ranks.end_together();
            // The first rank samples and shows.
            if !ranks.is_first() {
                return Ok(());
            }
        }
        None => {
            let encode = |text: &str| Ok(((), tokenizer.encode(text)?));
            let ((), text) = ranks.fail_together(Text::read(cli.data.as_deref(), "tokens", encode))?;
            let from: Gpt2<Config, f32, D> =
                ranks.fail_together(load_pretrained(folder, device).map_err(BoxError::from))?;
            (model, trained) = train(cli, ranks, &text, device, || Ok(from.clone()), &HashMap::new())?;
            // The first rank samples and shows.
            if !ranks.is_first() {
                return Ok(());
            }
            evaluated = validation(cli, &model, &text, "tokens").and_then(|result| {
                #[cfg(feature = "plot")]
                if let Some(report) = &mut report {
                    cli.files.metrics().iter().for_each(|metrics| report.training_curves(metrics));
                    report.page.text(&result);
                }
                print(&format!("{result}\n\n"))
            });
        }
    }
    let sampler = &mut sampler.restrict_to(tokenizer.tokens());
    let shown = sample(cli, &model, &tokenizer, (prompt, &tokens), ends, sampler).and_then(|sample| {
        let reported: Outcome = Ok(());
        #[cfg(feature = "plot")]
        let reported = report.map_or(reported, |report| crate::plots::finish(report, cli, &model, &sample));
        support::all([print(&format!("{sample}\n")), reported])
    });
    support::all([trained, evaluated, shown])
}

/// The prompt, and the text that goes on from it.
fn sample<Config: Gpt2Config, D: Backend<f32>>(
    cli: &Cli,
    model: &Gpt2<Config, f32, D>,
    tokenizer: &Tokenizer<Config::VocabSize>,
    (prompt, tokens): (&str, &[Fin<Config::VocabSize>]),
    ends: Vec<Fin<Config::VocabSize>>,
    sampler: &mut Sampler<Config::VocabSize>,
) -> Result<String, BoxError> {
    let ids: Vec<usize> = tokens.iter().map(|token| token.value()).collect();
    let ids = TokenIds::from_ids(&ids, None, (Texts, Prompt::new(ids.len())))?;
    let mut text = tokenizer.stream();
    let mut sample = prompt.to_string();
    for tokens in Generation::new(model, &ids, ends, sampler)?.take(cli.sample) {
        for token in tokens?.into_iter().flatten() {
            sample += &text.push(token)?;
        }
    }
    sample += &text.finish()?;
    Ok(sample)
}
