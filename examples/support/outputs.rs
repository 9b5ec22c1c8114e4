//! The weights of a training, and checks that no output takes the place of a file that is read, or of another output.

use super::{BoxError, Outcome, Trainable, log};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use typed_transformer::{backend::Backend, weights};

/// Saves a model. If that fails, it is saved in the folder of temporary files.
pub fn save<M: Trainable<D>, D: Backend<f32>>(
    model: &M,
    path: &Path,
    metadata: &HashMap<String, String>,
    overwrite: bool,
) -> Outcome {
    match weights::save_with_metadata(model, path, metadata.clone(), overwrite) {
        Ok(()) => {
            log(&format!("saved {}", path.display()));
            Ok(())
        }
        Err(error) => match weights::save_elsewhere(model, path, metadata.clone()) {
            Ok(elsewhere) => Err(format!("{error}; {}", saved_at(&elsewhere)).into()),
            Err(_) => Err(error.into()),
        },
    }
}

/// Saves a model in the folder of temporary files, instead of at `path`. The error says where, or why not.
pub fn save_elsewhere<M: Trainable<D>, D: Backend<f32>>(
    model: &M,
    path: &Path,
    metadata: &HashMap<String, String>,
) -> BoxError {
    match weights::save_elsewhere(model, path, metadata.clone()) {
        Ok(elsewhere) => saved_at(&elsewhere).into(),
        Err(error) => error.into(),
    }
}

fn saved_at(path: &Path) -> String {
    format!("the weights are saved at {}", path.display())
}

/// Checks that an output is not a file that is read, nor an existing one in a folder that is read.
pub fn ensure_not_input(output: &Path, input: &Path) -> Result<(), BoxError> {
    weights::ensure_distinct([output, input])?;
    let is_inside = |(output, input): (PathBuf, PathBuf)| output != input && output.starts_with(input);
    match output.canonicalize().ok().zip(input.canonicalize().ok()).is_some_and(is_inside) {
        true => Err(format!("{} is a file of {}, which is read", output.display(), input.display()).into()),
        false => Ok(()),
    }
}

/// Checks that a file does not have the name of a picture in the folder of a report: a plot could replace it.
pub fn ensure_not_plot(file: &Path, report: &Path) -> Result<(), BoxError> {
    match location(file).zip(report.canonicalize().ok()) {
        Some((file_at, report_at)) if is_picture(&file_at) && file_at.parent() == Some(&report_at) => {
            Err(format!("{} has the name of a plot of the report {}", file.display(), report.display()).into())
        }
        _ => Ok(()),
    }
}

/// Whether the name is that of a picture that a report may have.
pub fn is_picture(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "svg" || ending == "png")
}

/// The path of a file with all links followed. The file may not exist yet.
fn location(file: &Path) -> Option<PathBuf> {
    let of_new = || Some(Path::new(".").join(file.parent()?).canonicalize().ok()?.join(file.file_name()?));
    file.canonicalize().ok().or_else(of_new)
}
