//! What a model reads, and how its texts are shown.

use crate::cli::Cli;
use crate::support::{BoxError, stream};
use typed_transformer::{
    prelude::*,
    tokens::{ChatMessage, ChatTemplate, TextStream, Tokenizer, TokenizerError},
    weights::eos_token_ids,
};

/// The prompts as tokens, and the tokens that end a text.
pub struct Inputs<V> {
    pub tokenizer: Tokenizer<V>,
    pub prompts: Vec<Vec<Fin<V>>>,
    pub ends: Vec<Fin<V>>,
}

impl<V: ConstDim> Inputs<V> {
    /// Reads and checks all that needs no weights, before them: the weights of a large model take minutes to read.
    pub fn read(cli: &Cli, max_len: usize) -> Result<Self, BoxError> {
        let tokenizer = Tokenizer::from_file_of_fewer_tokens(cli.folder.join("tokenizer.json"))?;
        let mut template = cli.chat.then(|| ChatTemplate::from_folder(&cli.folder)).transpose()?;
        if cli.no_thinking {
            template = template.map(|template| template.with_value("enable_thinking", false));
        }
        let encode = |prompt: &String| -> Result<Vec<Fin<V>>, BoxError> {
            let Some(template) = &template else { return Ok(tokenizer.encode(prompt).map_err(of_prompt)?) };
            let system = cli.system.iter().map(|text| ChatMessage::new("system", text));
            let messages: Vec<_> = system.chain([ChatMessage::new("user", prompt)]).collect();
            Ok(tokenizer.encode_verbatim(&template.render(&messages, true)?).map_err(of_prompt)?)
        };
        let prompts: Vec<_> =
            cli.prompts.iter().map(encode).collect::<Result<_, _>>().map_err(|error| format!("--prompt: {error}"))?;
        if prompts.iter().any(Vec::is_empty) {
            return Err("--prompt: it has no token".into());
        }
        if let Some(found) = prompts.iter().map(Vec::len).find(|len| *len > max_len) {
            return Err(format!("--prompt: it has {found} tokens, but the model reads at most {max_len}").into());
        }
        tokenizer.stream().stop_at(&cli.stops).map_err(|error| format!("--stop: {error}"))?;
        let ends = eos_token_ids(&cli.folder)?;
        Ok(Self { tokenizer, prompts, ends })
    }

    /// A text for each prompt.
    pub fn texts<'a>(&'a self, cli: &'a Cli) -> Result<Vec<Text<'a, V>>, BoxError> {
        let is_only = self.prompts.len() == 1;
        self.prompts
            .iter()
            .zip(&cli.prompts)
            .map(|(tokens, prompt)| Text::new(self, cli, tokens, prompt, is_only))
            .collect()
    }
}

/// The error of a prompt. The library's advice is a method, which a command line does not have.
fn of_prompt(error: TokenizerError) -> TokenizerError {
    match error {
        TokenizerError::Unknown { text, index, .. } => {
            TokenizerError::Unknown { text, index, advice: "; leave it out" }
        }
        error => error,
    }
}

/// The text after a prompt. A single text streams to standard output; several are shown at the end, each as a whole.
pub struct Text<'a, V> {
    text: TextStream<'a, V>,
    shown_later: String,
    streams: bool,
    /// Whether somebody reads the output.
    is_read: bool,
}

impl<'a, V: ConstDim> Text<'a, V> {
    fn new(inputs: &'a Inputs<V>, cli: &Cli, tokens: &[Fin<V>], prompt: &str, streams: bool) -> Result<Self, BoxError> {
        // The text of a token depends on the one before it: some tokenizers write a space only between two words.
        let mut text = inputs.tokenizer.stream();
        for &token in tokens {
            text.push(token)?;
        }
        let text = text.stop_at(&cli.stops)?;
        let mut text = Self { text, shown_later: String::new(), streams, is_read: true };
        if !cli.chat {
            text.show(prompt)?;
        }
        Ok(text)
    }

    /// Adds a token. Returns whether the text goes on.
    pub fn push(&mut self, token: Fin<V>) -> Result<bool, BoxError> {
        let part = self.text.push(token)?;
        self.show(&part)?;
        Ok(self.is_read && !self.text.has_stopped())
    }

    pub fn finish(mut self) -> Result<(), BoxError> {
        let rest = std::mem::take(&mut self.shown_later) + &self.text.finish()? + "\n";
        stream(&rest).map(drop)
    }

    fn show(&mut self, part: &str) -> Result<(), BoxError> {
        match self.streams {
            true => self.is_read &= stream(part)?,
            false => self.shown_later += part,
        }
        Ok(())
    }
}
