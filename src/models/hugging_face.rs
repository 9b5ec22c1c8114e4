//! The names of parameters in the files of HuggingFace's `transformers`, and the fields of `config.json`, of each
//! model.

mod decoders;
mod encoder_decoders;
mod encoders;

use crate::dims::ConstDim;
use crate::weights::ConfigField;

/// A number, which may be absent if it is the default of `transformers`.
fn number_or_default(name: &'static str, number: f64, default: f64) -> ConfigField {
    or_absent_if(number == default, ConfigField::number(name, number))
}

/// A size, which may be absent if it is the default of `transformers`.
fn dim_or_default<Size: ConstDim>(name: &'static str, default: usize) -> ConfigField {
    or_absent_if(Size::SIZE == default, ConfigField::dim::<Size>(name))
}

/// A field that may be absent if the default of `transformers` is the value of the model.
fn or_absent_if(is_default: bool, field: ConfigField) -> ConfigField {
    if is_default { field.or_absent() } else { field }
}
