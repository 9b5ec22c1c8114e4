use std::{
    fs::{File, OpenOptions},
    io::{self, BufRead, BufReader, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

/// A file with a line for each step, a JSON object of numbers, the first being `step`: JSON lines,
/// as pandas' `read_json(path, lines=True)` and other tools read them.
///
/// ```
/// use typed_transformer::train::Metrics;
/// let path = std::env::temp_dir().join("typed-transformer-metrics.jsonl");
/// let mut metrics = Metrics::open(&path, 0)?;
/// metrics.write(1, &[("loss", 3.3), ("learning_rate", 1e-3)])?;
/// metrics.log("validation_loss", f64::NAN);
/// metrics.write(2, &[("loss", 3.1), ("learning_rate", 1e-3)])?;
/// // A training that goes on after the first step.
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
    notes: Vec<(String, f64)>,
}

impl Metrics {
    /// What may be noted of the first step after a training was resumed, by `note(Metrics::RESUMED, 1.0)`:
    /// pictures mark it.
    pub const RESUMED: &str = "resumed";

    /// Opens the file of a training that has made `steps` steps. What is in it of later ones is
    /// removed, as is a line that is not whole: they come again.
    ///
    /// # Errors
    /// If the file cannot be read or written.
    pub fn open(path: impl AsRef<Path>, steps: usize) -> io::Result<Self> {
        let path = path.as_ref().to_path_buf();
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(&path)?;
        // A pipe or a terminal holds nothing of earlier steps.
        if file.metadata()?.is_file() {
            file.set_len(length_of(steps, &file)?)?;
            file.seek(SeekFrom::End(0))?;
        }
        let notes = Vec::new();
        Ok(Self { path, file, notes })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts a number into the next line.
    pub fn log(&mut self, name: &str, number: f64) {
        self.notes.push((name.to_string(), number));
    }

    /// Writes the line of a step: its numbers and those that were noted for it. What is no number
    /// becomes `null`, which is what JSON has for it.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&mut self, step: usize, numbers: &[(&str, f64)]) -> io::Result<()> {
        let notes = std::mem::take(&mut self.notes);
        let notes = notes.iter().map(|(name, number)| (&**name, *number));
        let mut line = format!("{{\"step\":{step}");
        for (name, number) in numbers.iter().copied().chain(notes) {
            let (name, number) = (serde_json::to_string(name)?, serde_json::to_string(&number)?);
            line.push_str(&format!(",{name}:{number}"));
        }
        line.push_str("}\n");
        self.file.write_all(line.as_bytes())
    }
}

/// How many bytes the lines of the first `steps` steps take.
fn length_of(steps: usize, file: &File) -> io::Result<u64> {
    #[derive(serde::Deserialize)]
    struct Line {
        step: usize,
    }
    let mut reader = BufReader::new(file);
    let (mut length, mut line) = (0, Vec::new());
    loop {
        line.clear();
        let read = reader.read_until(b'\n', &mut line)?;
        let whole = line.ends_with(b"\n");
        match serde_json::from_slice(&line) {
            Ok(Line { step }) if whole && step <= steps => length += read as u64,
            _ => return Ok(length),
        }
    }
}
