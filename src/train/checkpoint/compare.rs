//! Compares the metadata of a checkpoint with the training that resumes it.

use super::{super::ResumeError, parameter_info::ParameterInfo};
use crate::ranks::agreement::by_name;
use crate::weights::LoadError;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Stands for a dimension or setting that only one side has.
const ABSENT: &str = "absent";

/// The setting with the type of the model.
pub(super) const MODEL: &str = "the model";

/// Compares the structs of the models, without their type parameters. It runs before [`compare_dimensions`], which
/// would report a parameter of the other model as missing.
pub(super) fn ensure_same_struct(
    path: &Path,
    expected: &[(String, String)],
    found: &[(String, String)],
) -> Result<(), ResumeError> {
    let model = |settings: &[(String, String)]| {
        settings.iter().find(|(setting, _)| setting == MODEL).map(|(_, model)| model.clone())
    };
    let is_same = |a: &str, b: &str| a.split('<').next() == b.split('<').next();
    match (model(expected), model(found)) {
        (Some(expected), Some(found)) if !is_same(&expected, &found) => {
            Err(ResumeError::Setting { path: path.to_path_buf(), setting: MODEL.into(), expected, found })
        }
        _ => Ok(()),
    }
}

pub(super) fn compare_dimensions(
    path: &Path,
    expected: &[ParameterInfo],
    found: &[(String, Vec<String>)],
) -> Result<(), ResumeError> {
    let load_error = |source| ResumeError::Load { path: path.to_path_buf(), source };
    let found_dims: BTreeMap<_, _> = found.iter().map(|(path, dims)| (path, dims)).collect();
    for parameter in expected {
        let tensor = format!("model.{}", parameter.path);
        let Some(found) = found_dims.get(&parameter.path) else {
            let expected = format!("({})", parameter.dims.join(", "));
            return Err(load_error(LoadError::Missing { tensor, expected }));
        };
        for position in 0..parameter.dims.len().max(found.len()) {
            let dim = |dims: &[String]| dims.get(position).map_or(ABSENT.into(), String::clone);
            if parameter.dims.get(position) != found.get(position) {
                let (expected, found) = (dim(&parameter.dims), dim(found));
                return Err(ResumeError::Dimension { path: path.to_path_buf(), tensor, position, expected, found });
            }
        }
    }
    let expected: BTreeSet<_> = expected.iter().map(|parameter| &parameter.path).collect();
    match found.iter().find(|(path, _)| !expected.contains(path)) {
        None => Ok(()),
        Some((path, _)) => Err(load_error(LoadError::Unexpected { tensor: format!("model.{path}") })),
    }
}

/// Compares the settings except `ignored`.
pub(super) fn compare_settings(
    path: &Path,
    expected: &[(String, String)],
    found: &[(String, String)],
    ignored: Option<&str>,
) -> Result<(), ResumeError> {
    let (expected_values, found_values) = (by_name(expected.to_vec()), by_name(found.to_vec()));
    for (setting, _) in expected.iter().chain(found) {
        let (expected, found) = (expected_values.get(setting), found_values.get(setting));
        if expected != found && ignored != Some(setting) {
            let text = |value: Option<&String>| value.map_or(ABSENT, String::as_str).to_string();
            let (expected, found) = (text(expected), text(found));
            return Err(ResumeError::Setting { path: path.to_path_buf(), setting: setting.clone(), expected, found });
        }
    }
    Ok(())
}
