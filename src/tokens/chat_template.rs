use super::chat_template_values::{Refusal, environment, without_generation_tags};
use crate::escape::escape;
use crate::files::{is_there, read_bounded};
use minijinja::{Environment, ErrorKind, Value, context, value::Serde};
use serde::{Serialize, de::DeserializeOwned};
use std::path::{Path, PathBuf};
use std::{collections::BTreeMap, error, fmt::Display, io};

/// The longest file. The settings of a tokenizer with 262,144 tokens have 1.2 MB.
const MAX_LEN_BYTES: u64 = 16_000_000;
/// The most steps of a template: instructions, and one for each 64 bytes of text. So its texts take at most 64 MB.
/// Lists that are added up are not counted.
pub(super) const MAX_STEPS: u64 = 1_000_000;
/// How deep statements, macros and expressions may be nested.
pub(super) const MAX_DEPTH: usize = 200;
/// The names of the templates, in lists and in the environment, and their files. The second template is for chats with
/// tools.
const TEMPLATES: [(&str, &str); 2] =
    [(DEFAULT, "chat_template.jinja"), (TOOL_USE, "additional_chat_templates/tool_use.jinja")];
const DEFAULT: &str = "default";
const TOOL_USE: &str = "tool_use";

/// The error of a chat template.
///
/// ```
/// use typed_transformer::tokens::ChatTemplate;
/// let error = ChatTemplate::from_folder("no-such-folder").unwrap_err().to_string();
/// assert!(error.starts_with("cannot read no-such-folder/tokenizer_config.json"), "{error}");
/// ```
#[derive(thiserror::Error)]
#[allow(missing_docs, reason = "the fields of a variant are the words of its sentence")]
pub enum ChatTemplateError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// The file is not JSON, or its template is not valid.
    #[error("{}: {}", path.display(), escape(message))]
    Format { path: PathBuf, message: String },
    /// The tokenizer has no chat template: its model does not chat.
    #[error("{} has no `chat_template`, alone or named `default`", path.display())]
    Missing { path: PathBuf },
    /// The template refuses the messages, by `raise_exception`.
    #[error("the chat template refuses the messages: {}", escape(message))]
    Refused { message: String },
    /// The template takes too long, or makes too long a text.
    #[error("the chat template takes more than {max_steps} steps, where 64 bytes of text are one step")]
    TooLong { max_steps: u64 },
    /// Statements, macros and expressions of the template are nested too deep.
    #[error("the chat template is more than {max_depth} levels deep")]
    TooDeep { max_depth: usize },
    /// The template fails.
    #[error("the chat template failed: {}", escape(message))]
    Failed { message: String },
}
crate::error::debug_by_sentence!(ChatTemplateError);

/// A message of a chat.
///
/// ```
/// use typed_transformer::tokens::ChatMessage;
/// let message = ChatMessage::new("user", "How many legs has a spider?");
/// assert_eq!((&*message.role, &*message.content), ("user", "How many legs has a spider?"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatMessage {
    /// Who says it: `system`, `user`, `assistant`, or another role that the template knows.
    pub role: String,
    /// The text.
    pub content: String,
}

impl ChatMessage {
    /// A message.
    pub fn new(role: impl Into<String>, content: impl Into<String>) -> Self {
        Self { role: role.into(), content: content.into() }
    }
}

/// The template by which a published model writes a chat as one text (feature `tokenizers`): the `chat_template` of
/// `tokenizer_config.json`, rendered as `apply_chat_template` of `transformers` does, by the crate [`minijinja`].
///
/// ```
/// use typed_transformer::tokens::{ChatMessage, ChatTemplate};
/// # let folder = std::env::temp_dir().join(format!("typed-transformer-chat-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// std::fs::write(folder.join("tokenizer_config.json"), r#"{"bos_token": "<s>"}"#)?;
/// std::fs::write(
///     folder.join("chat_template.jinja"),
///     "{{ bos_token }}{% for message in messages %}[{{ message.role }}] {{ message['content'].strip() }}\n{% endfor %}\
///      {% if add_generation_prompt %}[assistant] {% endif %}",
/// )?;
/// let template = ChatTemplate::from_folder(&folder)?;
/// let messages = [ChatMessage::new("system", "Be brief. "), ChatMessage::new("user", "How many legs has a spider?")];
/// assert_eq!(
///     template.render(&messages, true)?,
///     "<s>[system] Be brief.\n[user] How many legs has a spider?\n[assistant] ",
/// );
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ChatTemplate {
    environment: Environment<'static>,
    /// Why the template for chats with tools cannot be read.
    broken_tool_use: Option<String>,
    /// The values that a template knows beside the messages, such as `bos_token`.
    values: BTreeMap<String, Value>,
}

impl ChatTemplate {
    /// Reads the template and the special tokens from the folder of a model: from `tokenizer_config.json`, which a
    /// folder with `chat_template.jinja` may lack. That file replaces all templates of the settings. A template
    /// `tool_use`, in a list of the settings or in `additional_chat_templates/tool_use.jinja`, writes each chat that
    /// has a [value](Self::with_value) `tools`, even an empty list. In folders of `transformers` before 4.34, which
    /// have no `added_tokens_decoder`, the special tokens of `special_tokens_map.json` replace those of the settings.
    ///
    /// # Errors
    /// [`ChatTemplateError::Read`], [`ChatTemplateError::Format`], or [`ChatTemplateError::Missing`] if there is no
    /// template.
    pub fn from_folder(folder: impl AsRef<Path>) -> Result<Self, ChatTemplateError> {
        let folder = folder.as_ref();
        let files = TEMPLATES.map(|(name, file)| (name, folder.join(file)));
        let has_file = is_there(&files[0].1);
        let mut path = folder.join("tokenizer_config.json");
        let mut settings: serde_json::Value = match has_file && !is_there(&path) {
            true => serde_json::json!({}),
            false => read_json(&path)?,
        };
        let tokens = folder.join("special_tokens_map.json");
        if let Some(fields) = settings.as_object_mut()
            && !fields.contains_key("added_tokens_decoder")
            && is_there(&tokens)
        {
            fields.extend(read_json::<serde_json::Map<_, _>>(&tokens)?);
        }
        let (mut environment, mut broken_tool_use) = (environment(), None);
        for (name, file) in files {
            let source = if is_there(&file) {
                path = file;
                Some(String::from_utf8(read(&path)?).map_err(|error| format_error(&path, error))?)
            } else {
                named_template(&settings["chat_template"], name).filter(|_| !has_file).map(String::from)
            };
            let Some(source) = source else { continue };
            // Jinja reads each kind of line break as `\n`.
            let source = source.replace("\r\n", "\n").replace('\r', "\n");
            match environment.add_template_owned(name, without_generation_tags(&source)) {
                // A chat without tools does not need it.
                Err(error) if name == TOOL_USE => broken_tool_use = Some(error.to_string()),
                added => added.map_err(|error| format_error(&path, format_args!("the chat template: {error}")))?,
            }
        }
        if environment.get_template(DEFAULT).is_err() {
            return Err(ChatTemplateError::Missing { path: folder.join("tokenizer_config.json") });
        }
        let fields = settings.as_object().into_iter().flatten();
        let token = |(name, value): (&String, &serde_json::Value)| {
            let text = value.as_str().or_else(|| value["content"].as_str()).filter(|_| name.ends_with("_token"))?;
            Some((name.clone(), text.into()))
        };
        let template = Self { environment, broken_tool_use, values: fields.filter_map(token).collect() };
        // Templates test whether these two are there, so each has a value: none.
        Ok(template.with_value("tools", ()).with_value("documents", ()))
    }

    /// Gives the template one more value, as a further argument of `apply_chat_template` does. It replaces an earlier
    /// value of this name, also a special token. [`render`](Self::render) sets `messages` and `add_generation_prompt`.
    ///
    /// ```
    /// # use typed_transformer::tokens::ChatTemplate;
    /// # let folder = std::env::temp_dir().join(format!("typed-transformer-chat-value-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # std::fs::write(folder.join("tokenizer_config.json"), "{}")?;
    /// let source = "{% if enable_thinking is false %}<think></think>{% endif %}";
    /// std::fs::write(folder.join("chat_template.jinja"), source)?;
    /// let template = ChatTemplate::from_folder(&folder)?;
    /// assert_eq!(template.render(&[], true)?, "");
    /// assert_eq!(template.with_value("enable_thinking", false).render(&[], true)?, "<think></think>");
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_value(mut self, name: impl Into<String>, value: impl Serialize) -> Self {
        self.values.insert(name.into(), Serde(value).into());
        self
    }

    /// The text of a chat. With `add_generation_prompt` it ends with the beginning of an answer. The text has its
    /// special tokens: [`Tokenizer::encode_verbatim`](super::Tokenizer::encode_verbatim) adds none. Such tokens in a
    /// message count as if the template had written them.
    ///
    /// # Errors
    /// [`ChatTemplateError::Refused`] if the template does not take these messages, [`ChatTemplateError::TooLong`] if
    /// it takes too long, [`ChatTemplateError::TooDeep`], and [`ChatTemplateError::Failed`].
    pub fn render(&self, messages: &[ChatMessage], add_generation_prompt: bool) -> Result<String, ChatTemplateError> {
        let message = |ChatMessage { role, content }: &ChatMessage| {
            Value::from_pairs([("role", Value::from(role)), ("content", Value::from(content))])
        };
        let messages: Vec<Value> = messages.iter().map(message).collect();
        let values = context! { messages, add_generation_prompt, ..Value::from_pairs(&self.values) };
        let has_tools = self.values.get("tools").is_some_and(|tools| !tools.is_none());
        if let Some(message) = self.broken_tool_use.clone().filter(|_| has_tools) {
            return Err(ChatTemplateError::Failed { message });
        }
        let tool_use = self.environment.get_template(TOOL_USE).ok().filter(|_| has_tools);
        let template = tool_use.map_or_else(|| self.environment.get_template(DEFAULT), Ok);
        template.and_then(|template| template.render(values)).map_err(|error| render_error(&error))
    }
}

fn read(path: &Path) -> Result<Vec<u8>, ChatTemplateError> {
    read_bounded(path, MAX_LEN_BYTES).map_err(|source| ChatTemplateError::Read { path: path.into(), source })
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, ChatTemplateError> {
    serde_json::from_slice(&read(path)?).map_err(|error| format_error(path, error))
}

fn format_error(path: &Path, message: impl Display) -> ChatTemplateError {
    ChatTemplateError::Format { path: path.into(), message: message.to_string() }
}

/// The template of this name in a list, or the only template, which is the default.
fn named_template<'a>(value: &'a serde_json::Value, name: &str) -> Option<&'a str> {
    let named = || value.as_array()?.iter().find(|template| template["name"] == name)?["template"].as_str();
    value.as_str().filter(|_| name == DEFAULT).or_else(named)
}

fn render_error(error: &minijinja::Error) -> ChatTemplateError {
    let mut source: Option<&dyn error::Error> = Some(error);
    while let Some(cause) = source {
        if let Some(Refusal(message)) = cause.downcast_ref() {
            return ChatTemplateError::Refused { message: message.clone() };
        }
        match cause.downcast_ref::<minijinja::Error>() {
            Some(cause) if cause.kind() == ErrorKind::OutOfFuel => {
                return ChatTemplateError::TooLong { max_steps: MAX_STEPS };
            }
            Some(cause) if cause.detail() == Some("recursion limit exceeded") => {
                return ChatTemplateError::TooDeep { max_depth: MAX_DEPTH };
            }
            _ => {}
        }
        source = cause.source();
    }
    ChatTemplateError::Failed { message: error.to_string() }
}
