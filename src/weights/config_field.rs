use super::pretrained::lookup;
use crate::dims::ConstDim;
use crate::escape::escape;
use itertools::Itertools;
use serde_json::Value;
use std::fmt;

/// Two numbers are equal if they differ by less than this fraction: some files have the nearest `f32`.
const TOLERANCE: f64 = 1e-6;

/// A field of `config.json`, and the value that a model requires.
///
/// A field of the file that no name leads to is not read, except that `quantization_config` must then be absent: it
/// says that the weights mean something else. A name with dots leads into objects: `rope_parameters.rope_theta`. Each
/// object on the way may have only fields that are compared. An object whose `model_type` is compared is the
/// configuration of a part of the model, and may have any others.
///
/// ```
/// use typed_transformer::{prelude::*, weights::ConfigField};
/// dims! { pub EmbedDim = 768; pub HiddenDim = 3072; pub MaxSeqLen = 2048; }
/// let fields = [
///     ConfigField::dim::<EmbedDim>("n_embd"),
///     ConfigField::dim::<HiddenDim>("n_inner").or_absent(),
///     ConfigField::dim::<MaxSeqLen>("max_position_embeddings").or_more(),
///     ConfigField::text("activation_function", &["gelu_new", "gelu_pytorch_tanh"]),
///     ConfigField::number("layer_norm_epsilon", 1e-5),
///     ConfigField::flag("scale_attn_by_inverse_layer_idx", false).or_absent(),
///     ConfigField::list("layer_types", ["sliding_attention", "full_attention"]),
///     ConfigField::sizes("num_heads", [3, 6, 12]),
///     ConfigField::absent("rope_scaling"),
/// ];
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct ConfigField {
    pub(super) name: &'static str,
    other_name: Option<&'static str>,
    expected: Expected,
    may_be_absent: bool,
    may_be_absent_beside: Option<&'static str>,
}

#[derive(Clone, Debug, PartialEq)]
enum Expected {
    /// The field may also be a list with the size at the place `index`, if there is one.
    Size {
        size: usize,
        dim: String,
        index: Option<usize>,
        or_more: bool,
    },
    Numbers(Vec<f64>),
    Texts(&'static [&'static str]),
    List(Vec<&'static str>),
    Sizes(Vec<usize>),
    Flag(bool),
    /// An object with the fields that are required of this other object.
    Overriding(&'static str),
    /// Null or at least `or_from` in files of this `model_type`, anything in others.
    NullIn {
        model_type: &'static str,
        or_from: usize,
    },
    Absent,
}

impl ConfigField {
    /// The field is the size of the dimension `Size`.
    pub fn dim<Size: ConstDim>(name: &'static str) -> Self {
        let dim = format!("{:?}", Size::default());
        Self::new(name, Expected::Size { size: Size::SIZE, dim, index: None, or_more: false })
    }

    /// The field is this number.
    pub fn number(name: &'static str, number: f64) -> Self {
        Self::one_of(name, [number])
    }

    /// The field is one of these numbers, which mean the same.
    pub fn one_of(name: &'static str, numbers: impl IntoIterator<Item = f64>) -> Self {
        Self::new(name, Expected::Numbers(numbers.into_iter().collect()))
    }

    /// The field is one of these texts, which mean the same.
    pub fn text(name: &'static str, texts: &'static [&'static str]) -> Self {
        Self::new(name, Expected::Texts(texts))
    }

    /// The field is this list of texts, such as the kind of each layer.
    pub fn list(name: &'static str, texts: impl IntoIterator<Item = &'static str>) -> Self {
        Self::new(name, Expected::List(texts.into_iter().collect()))
    }

    /// The field is this list of sizes, such as the number of heads of each stage.
    pub fn sizes(name: &'static str, sizes: impl IntoIterator<Item = usize>) -> Self {
        Self::new(name, Expected::Sizes(sizes.into_iter().collect()))
    }

    /// The field is true or false.
    pub fn flag(name: &'static str, flag: bool) -> Self {
        Self::new(name, Expected::Flag(flag))
    }

    /// The field is missing or null.
    pub fn absent(name: &'static str) -> Self {
        Self::new(name, Expected::Absent).or_absent()
    }

    /// The field is missing, null, or an object that counts in place of the object `other`: it has the fields that are
    /// required of `other`, too.
    pub fn overrides(name: &'static str, other: &'static str) -> Self {
        Self::new(name, Expected::Overriding(other)).or_absent()
    }

    /// The field is null in files of this `model_type`, or a window of at least `MaxLen`, which hides nothing; it is not
    /// missing. Other files may have anything.
    pub fn no_window_in<MaxLen: ConstDim>(model_type: &'static str, name: &'static str) -> Self {
        Self::new(name, Expected::NullIn { model_type, or_from: MaxLen::SIZE })
    }

    /// A missing or null field means this value.
    pub fn or_absent(self) -> Self {
        Self { may_be_absent: true, ..self }
    }

    /// The field may be missing or null if this other one, which means the same, is there.
    pub fn or_absent_beside(self, name: &'static str) -> Self {
        Self { may_be_absent_beside: Some(name), ..self }
    }

    /// A list of several sizes, such as a height and a width, has that of the dimension as its element `index`, from 0.
    pub fn or_element(mut self, index: usize) -> Self {
        if let Expected::Size { index: place, .. } = &mut self.expected {
            *place = Some(index);
        }
        self
    }

    /// The field may also be larger: for a maximum length that no parameter has, of which the model uses a part.
    pub fn or_more(mut self) -> Self {
        if let Expected::Size { or_more, .. } = &mut self.expected {
            *or_more = true;
        }
        self
    }

    /// The field has another name too: in files of other versions of `transformers`, or one that `transformers` takes
    /// for the same. If a file has both, both are compared.
    pub fn also_called(self, name: &'static str) -> Self {
        Self { other_name: Some(name), ..self }
    }

    fn new(name: &'static str, expected: Expected) -> Self {
        Self { name, other_name: None, expected, may_be_absent: false, may_be_absent_beside: None }
    }

    /// The other object, if this field overrides one.
    pub(super) fn overridden(&self) -> Option<&'static str> {
        match self.expected {
            Expected::Overriding(other) => Some(other),
            _ => None,
        }
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        [Some(self.name), self.other_name].into_iter().flatten()
    }

    /// The difference of the configuration, if any: "`n_embd` is 1024, not EmbedDim=768". `renamed` gives its names.
    pub(super) fn difference(&self, config: &Value, renamed: impl Fn(&str) -> String) -> Option<String> {
        if let Expected::NullIn { model_type, .. } = self.expected
            && (config["model_type"] != model_type || config.get(self.name).is_some_and(Value::is_null))
        {
            return None;
        }
        let names: Vec<String> = self.names().map(&renamed).collect();
        let mut found = names.iter().filter_map(|name| Some((name, lookup(config, name)?))).peekable();
        if found.peek().is_none() {
            let is_beside = |name: &str| lookup(config, &renamed(name)).is_some();
            let may_be_absent = self.may_be_absent || self.may_be_absent_beside.is_some_and(is_beside);
            return (!may_be_absent).then(|| format!("`{}` is absent, not {}", names[0], self.expected));
        }
        // A file may have both names. The values may differ.
        let (name, value) = found.find(|(_, value)| !self.expected.is(value))?;
        Some(format!("`{name}` is {}, not {}", escape(&value.to_string()), self.expected))
    }
}

impl Expected {
    fn is(&self, value: &Value) -> bool {
        match self {
            Self::Size { size, index, or_more, .. } => {
                let element = index.and_then(|index| value.get(index)).unwrap_or(value);
                let size = *size as u64;
                element.as_u64().is_some_and(|found| found == size || (*or_more && found > size))
            }
            Self::Numbers(numbers) => {
                let is = |found: f64| numbers.iter().any(|number| (found - number).abs() <= TOLERANCE * number.abs());
                value.as_f64().is_some_and(is)
            }
            Self::Texts(texts) => value.as_str().is_some_and(|found| texts.contains(&found)),
            Self::List(texts) => value
                .as_array()
                .is_some_and(|found| found.iter().map(Value::as_str).eq(texts.iter().copied().map(Some))),
            Self::Sizes(sizes) => *value == Value::from(sizes.as_slice()),
            Self::Flag(flag) => value.as_bool() == Some(*flag),
            Self::Overriding(_) => value.is_object(),
            Self::NullIn { or_from, .. } => value.as_u64().is_some_and(|found| found >= *or_from as u64),
            Self::Absent => false,
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size { dim, or_more, .. } => write!(f, "{dim}{}", if *or_more { " or more" } else { "" }),
            Self::Numbers(numbers) => write!(f, "{}", numbers.iter().map(|number| format!("{number:?}")).join(" or ")),
            Self::Texts(texts) => write!(f, "{}", texts.iter().map(|text| format!("{text:?}")).join(" or ")),
            Self::List(texts) => write!(f, "[{}]", texts.iter().map(|text| format!("{text:?}")).join(",")),
            Self::Sizes(sizes) => write!(f, "{sizes:?}"),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Overriding(other) => write!(f, "an object like `{other}`"),
            Self::NullIn { or_from, .. } => write!(f, "null or at least {or_from}"),
            Self::Absent => f.write_str("absent"),
        }
    }
}
