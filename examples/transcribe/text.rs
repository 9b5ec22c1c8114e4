//! The text of a sound, as `WhisperForConditionalGeneration.generate` of HuggingFace writes it without timestamps.

use super::features::Sound;
use serde::Deserialize;
use std::{collections::BTreeMap, error::Error, fs::File, io::Read, path::Path};
use typed_transformer::{
    dims::DfdxDim,
    generate::Sampler,
    models::whisper::{EncodedWhisper, WhisperConfig},
    nn::Autoregressive,
    prelude::*,
    tokens::Tokenizer,
    weights::eos_token_ids,
};

/// The longest `generation_config.json` that is read.
const MAX_LEN_BYTES: u64 = 4_000_000;

dims! { Prompt; }

/// What `generation_config.json` says of the tokens.
#[derive(Deserialize)]
#[serde(expecting = "the settings of a generation")]
struct Settings {
    /// The token of each language, by its text.
    lang_to_id: Option<BTreeMap<String, usize>>,
    /// The language of a model that was tuned for one.
    language: Option<String>,
    /// `translate` asks for a text in English.
    task: Option<String>,
    /// The tokens that no text has.
    suppress_tokens: Option<Vec<usize>>,
    /// The tokens that no text begins with.
    begin_suppress_tokens: Option<Vec<usize>>,
}

/// Which tokens a text is made of.
pub struct Rules<V> {
    /// Chooses the first token of a text.
    pub first: Sampler<V>,
    /// Chooses the other ones.
    pub others: Sampler<V>,
    pub ends: Vec<Fin<V>>,
    /// The token of each language, by its text, such as `<|en|>`.
    pub languages: BTreeMap<String, Fin<V>>,
    /// The language that the folder names.
    pub spoken: Option<String>,
    /// Whether the folder asks for English.
    pub translates: bool,
}

impl<V: ConstDim> Rules<V> {
    /// Reads the rules from a folder of HuggingFace.
    pub fn from_folder(folder: &Path, tokenizer: &Tokenizer<V>) -> Result<Self, Box<dyn Error>> {
        let path = folder.join("generation_config.json");
        let mut bytes = Vec::new();
        let read = File::open(&path).and_then(|file| file.take(MAX_LEN_BYTES + 1).read_to_end(&mut bytes));
        if bytes.len() as u64 > MAX_LEN_BYTES {
            return Err(format!("{} has more than {MAX_LEN_BYTES} bytes", path.display()).into());
        }
        let settings: Settings = read
            .map_err(Box::<dyn Error>::from)
            .and_then(|_| Ok(serde_json::from_slice(&bytes)?))
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let suppressed = settings.suppress_tokens.unwrap_or_default();
        let without = |suppressed: &[usize]| {
            Sampler::greedy().restrict_to(tokenizer.tokens().filter(|token| !suppressed.contains(&token.value())))
        };
        let language = |(text, id)| {
            let error =
                |_| format!("{}: `lang_to_id` has {id}, which is no token of {:?}", path.display(), V::default());
            Fin::new(id).map(|token| (text, token)).map_err(error)
        };
        let languages = settings.lang_to_id.unwrap_or_default().into_iter().map(language);
        Ok(Self {
            first: without(&[suppressed.clone(), settings.begin_suppress_tokens.unwrap_or_default()].concat()),
            others: without(&suppressed),
            ends: eos_token_ids(folder)?,
            languages: languages.collect::<Result<_, String>>()?,
            spoken: settings.language,
            translates: settings.task.as_deref() == Some("translate"),
        })
    }

    /// The language of a sound: the most likely one behind the start.
    pub fn language<Config: WhisperConfig<VocabSize = V>, D: Backend<f32>>(
        &self,
        sound: &EncodedWhisper<'_, Sound, Config, f32, D>,
        start: Fin<V>,
    ) -> Result<Fin<V>, Box<dyn Error>> {
        let start = TokenIds::from_rows(&[[start]], (Sound, Const::<1>))?;
        let logits = sound.next_logits(&start, &mut sound.cache(Sound)?)?;
        Ok(Sampler::greedy().restrict_to(self.languages.values().copied()).choose_each(&logits)?[0])
    }

    /// The tokens that the model writes behind the prompt: the most likely one each time.
    pub fn write<Config: WhisperConfig<VocabSize = V>, D: Backend<f32>>(
        &mut self,
        sound: &EncodedWhisper<'_, Sound, Config, f32, D>,
        prompt: &[Fin<V>],
    ) -> Result<Vec<Fin<V>>, Box<dyn Error>> {
        let max_new_tokens = DfdxDim::size(&Config::MaxTgtLen::default()).saturating_sub(prompt.len());
        let mut cache = sound.cache(Sound)?;
        let prompt = TokenIds::from_rows(&[prompt], (Sound, Prompt::new(prompt.len())))?;
        let mut token = self.first.choose_each(&sound.next_logits(&prompt, &mut cache)?)?[0];
        let mut text = Vec::new();
        while !self.ends.contains(&token) && text.len() < max_new_tokens {
            text.push(token);
            let token_ids = TokenIds::from_rows(&[[token]], (Sound, Const::<1>))?;
            token = self.others.choose_each(&sound.next_logits(&token_ids, &mut cache)?)?[0];
        }
        Ok(text)
    }
}
