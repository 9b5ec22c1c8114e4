use std::{
    fs::{File, OpenOptions},
    io::{self, BufRead, BufReader, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

/// A file of metrics in JSON lines: one object of numbers per training step, the first of which is `step`.
/// pandas reads it with `read_json(path, lines=True)`.
///
/// ```
/// use typed_transformer::train::Metrics;
/// let path = std::env::temp_dir().join("typed-transformer-metrics.jsonl");
/// let mut metrics = Metrics::open(&path, 0)?;
/// metrics.write(1, &[("loss", 3.3), ("learning_rate", 1e-3)])?;
/// metrics.log("validation_loss", f64::NAN);
/// metrics.write(2, &[("loss", 3.1), ("learning_rate", 1e-3)])?;
/// // A training that is resumed after the first step repeats the second.
/// let mut metrics = Metrics::open(&path, 1)?;
/// metrics.write(2, &[("loss", 3.2), ("learning_rate", 1e-3)])?;
/// assert_eq!(std::fs::read_to_string(&path)?, r#"
/// {"step":1,"loss":3.3,"learning_rate":0.001}
/// {"step":2,"loss":3.2,"learning_rate":0.001}
/// "#.trim_start());
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Metrics {
    path: PathBuf,
    file: File,
    /// The values logged for the next line.
    logged: Vec<(String, f64)>,
}

impl Metrics {
    /// The name that marks the first step after a resume: `log(Metrics::RESUMED, 1.0)`. Training curves
    /// draw a vertical line there.
    pub const RESUMED: &str = "resumed";

    /// Opens the file of a training that has made `steps` steps. Lines of later steps are removed,
    /// because the training repeats those steps; so is an incomplete last line.
    ///
    /// # Errors
    /// If the file cannot be read or written.
    pub fn open(path: impl AsRef<Path>, steps: usize) -> io::Result<Self> {
        let path = path.as_ref().to_path_buf();
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(&path)?;
        // A pipe or a terminal has no earlier lines.
        if file.metadata()?.is_file() {
            file.set_len(bytes_up_to_step(steps, &file)?)?;
            file.seek(SeekFrom::End(0))?;
        }
        Ok(Self { path, file, logged: Vec::new() })
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds a value to the next line.
    pub fn log(&mut self, name: &str, value: f64) {
        self.logged.push((name.to_string(), value));
    }

    /// Writes the line of a step: `values`, then those that were [logged](Self::log) for it. NaN and
    /// infinity become `null`, because JSON has no other form for them.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&mut self, step: usize, values: &[(&str, f64)]) -> io::Result<()> {
        let logged = std::mem::take(&mut self.logged);
        let logged = logged.iter().map(|(name, value)| (&**name, *value));
        let mut line = format!("{{\"step\":{step}");
        for (name, value) in values.iter().copied().chain(logged) {
            let (name, value) = (serde_json::to_string(name)?, serde_json::to_string(&value)?);
            line.push_str(&format!(",{name}:{value}"));
        }
        line.push_str("}\n");
        self.file.write_all(line.as_bytes())
    }
}

/// The length of the file in bytes up to and including the line of step `last_step`.
fn bytes_up_to_step(last_step: usize, file: &File) -> io::Result<u64> {
    #[derive(serde::Deserialize)]
    struct Line {
        step: usize,
    }
    let mut reader = BufReader::new(file);
    let (mut length, mut line) = (0, Vec::new());
    loop {
        line.clear();
        let read = reader.read_until(b'\n', &mut line)?;
        let is_complete = line.ends_with(b"\n");
        match serde_json::from_slice(&line) {
            Ok(Line { step }) if is_complete && step <= last_step => length += read as u64,
            _ => return Ok(length),
        }
    }
}
