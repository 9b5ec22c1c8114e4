use super::{LoadError, TensorFile, index::Index};
use safetensors::tensor::TensorInfo;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The names of a folder's file of weights, and of its index.
const FILE: &str = "model.safetensors";
const INDEX: &str = "model.safetensors.index.json";
/// The endings of files of weights in other formats, or under other names.
const OTHER_ENDINGS: [&str; 9] = [".bin", ".pt", ".pth", ".ckpt", ".gguf", ".h5", ".msgpack", ".onnx", ".safetensors"];
/// The most files that an error names.
const MAX_SHOWN_FILES: usize = 3;

/// The safetensors files of one model: a single file, or those that an index names. Each tensor is in one of them.
pub(crate) struct WeightFiles {
    path: PathBuf,
    pub files: Vec<TensorFile>,
}

impl WeightFiles {
    /// Opens a safetensors file, the files of an index, or what a folder has of the two.
    pub fn open(path: &Path) -> Result<Self, LoadError> {
        let path = if path.is_dir() { &in_folder(path)? } else { path };
        if path.extension().is_none_or(|ending| ending != "json") {
            return Ok(Self { path: path.into(), files: vec![TensorFile::open(path)?] });
        }
        let index = Index::read(path)?;
        let opened: Result<Vec<_>, _> =
            index.files().into_iter().map(|name| TensorFile::open(&path.with_file_name(name))).collect();
        let files = Self { path: path.into(), files: opened? };
        files.compare(&index)?;
        Ok(files)
    }

    /// Compares the tensors of the files with the index.
    fn compare(&self, index: &Index) -> Result<(), LoadError> {
        let error = |message| LoadError::Index { path: self.path.clone(), message };
        let names = index.files();
        let mut num_tensors = 0;
        for (&name, file) in names.iter().zip(&self.files) {
            for tensor in file.names() {
                match index.files_by_tensor.get(&tensor) {
                    Some(expected) if expected == name => num_tensors += 1,
                    Some(expected) => {
                        return Err(error(format!("it says that `{tensor}` is in {expected}, but {name} has it")));
                    }
                    None => return Err(error(format!("it lacks `{tensor}`, which {name} has"))),
                }
            }
        }
        if num_tensors == index.files_by_tensor.len() {
            return Ok(());
        }
        let missing = index.files_by_tensor.iter().find(|(tensor, _)| self.tensor(tensor).is_none());
        missing.map_or(Ok(()), |(tensor, file)| {
            Err(error(format!("it says that `{tensor}` is in {file}, which does not have it")))
        })
    }

    pub fn tensor(&self, name: &str) -> Option<TensorInfo> {
        self.files.iter().find_map(|file| file.tensor(name))
    }

    pub fn file_of(&mut self, name: &str) -> Option<&mut TensorFile> {
        self.files.iter_mut().find(|file| file.tensor(name).is_some())
    }

    pub fn unread(&self) -> Vec<String> {
        self.files.iter().flat_map(TensorFile::unread).collect()
    }

    /// [`TensorFile::ensure_all_read`] of each file.
    pub fn ensure_all_read(&self, ignored: impl Fn(&str) -> bool) -> Result<(), LoadError> {
        self.files.iter().try_for_each(|file| file.ensure_all_read(&ignored))
    }
}

/// The file of weights or the index in a folder.
fn in_folder(folder: &Path) -> Result<PathBuf, LoadError> {
    if let Some(path) = [FILE, INDEX].map(|name| folder.join(name)).into_iter().find(|path| path.exists()) {
        return Ok(path);
    }
    let names = || -> io::Result<Vec<String>> {
        fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
    };
    let mut found = names().map_err(|source| LoadError::Read { path: folder.into(), source })?;
    found.retain(|name| OTHER_ENDINGS.iter().any(|ending| name.ends_with(ending)));
    found.sort_unstable();
    found.truncate(MAX_SHOWN_FILES);
    Err(LoadError::NoWeights { path: folder.into(), found })
}
