//! Compares a checkpoint's header with the training that resumes it.

use super::{super::ResumeError, parameter_info::ParameterInfo};
use crate::weights::LoadError;
use std::path::Path;

/// Stands for a dimension or setting that only one side has.
const ABSENT: &str = "absent";

pub(super) fn compare_dimensions(
    path: &Path,
    expected: &[ParameterInfo],
    found: &[(String, Vec<String>)],
) -> Result<(), ResumeError> {
    let load_error = |source| ResumeError::Load { path: path.to_path_buf(), source };
    for parameter in expected {
        let tensor = format!("model.{}", parameter.path);
        let Some((_, found)) = found.iter().find(|(path, _)| *path == parameter.path) else {
            let expected = format!("({})", parameter.dims.join(", "));
            return Err(load_error(LoadError::Missing { tensor, expected }));
        };
        for position in 0..parameter.dims.len().max(found.len()) {
            let dim = |dims: &[String]| dims.get(position).map_or(ABSENT.into(), String::clone);
            let (expected, found) = (dim(&parameter.dims), dim(found));
            if expected != found {
                return Err(ResumeError::Dimension { path: path.to_path_buf(), tensor, position, expected, found });
            }
        }
    }
    let is_expected = |path: &str| expected.iter().any(|parameter| parameter.path == path);
    match found.iter().find(|(path, _)| !is_expected(path)) {
        None => Ok(()),
        Some((path, _)) => Err(load_error(LoadError::Unexpected { tensor: format!("model.{path}") })),
    }
}

pub(super) fn compare_settings(
    path: &Path,
    expected: &[(String, String)],
    found: &[(String, String)],
) -> Result<(), ResumeError> {
    let value = |settings: &[(String, String)], name: &str| {
        let setting = settings.iter().find(|(other, _)| other == name);
        setting.map_or(ABSENT.to_string(), |(_, value)| value.clone())
    };
    for (setting, _) in expected.iter().chain(found) {
        let (expected, found) = (value(expected, setting), value(found, setting));
        if expected != found {
            return Err(ResumeError::Setting { path: path.to_path_buf(), setting: setting.clone(), expected, found });
        }
    }
    Ok(())
}
