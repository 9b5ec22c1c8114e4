use crate::weights::atomic::with_suffix;
use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

/// A longer line is not one of metrics.
const MAX_LINE_LEN_BYTES: u64 = 1 << 20;

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
/// # drop(metrics);
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
    /// Where an earlier file was moved to, if it was.
    kept: Option<PathBuf>,
    /// The values logged for the next line.
    logged: Vec<(String, f64)>,
}

impl Metrics {
    /// The name that marks the first step after a resume: `log(Metrics::RESUMED, 1.0)`. Training curves
    /// draw a vertical line there.
    pub const RESUMED: &str = "resumed";

    /// Opens the file of a training that has made `steps` steps. Lines of later steps are removed,
    /// because the training repeats those steps; so is an incomplete last line of such a step.
    ///
    /// A file of metrics in which a line is missing or cannot be understood is kept under
    /// [another name](Self::kept), and a new file begins after step `steps`. While it is open, no other training
    /// can write it.
    ///
    /// # Errors
    /// If the file cannot be read or written, if another training writes it, or if there is a file that does not
    /// begin with a line of metrics. That file is unchanged.
    pub fn open(path: impl AsRef<Path>, steps: usize) -> io::Result<Self> {
        Self::open_or_replace(path.as_ref(), steps, false)
    }

    /// [`open`](Self::open), but a file that does not begin with a line of metrics is replaced.
    ///
    /// # Errors
    /// If the file cannot be read or written, or if another training writes it.
    pub fn overwrite(path: impl AsRef<Path>, steps: usize) -> io::Result<Self> {
        Self::open_or_replace(path.as_ref(), steps, true)
    }

    fn open_or_replace(path: &Path, steps: usize, overwrite: bool) -> io::Result<Self> {
        if path.is_symlink() && !path.exists() {
            return Err(io::Error::new(ErrorKind::InvalidInput, "a link to a file that does not exist"));
        }
        let mut file = open_locked(path)?;
        let mut kept = None;
        // A pipe or a terminal has no earlier lines.
        if file.metadata()?.is_file() {
            let len_bytes = match earlier_lines(&file, steps)? {
                Earlier::Lines { len_bytes } => len_bytes,
                Earlier::NoMetrics if overwrite => 0,
                Earlier::NoMetrics => {
                    return Err(io::Error::new(ErrorKind::InvalidData, "it is not a file of metrics"));
                }
                Earlier::Incomplete => {
                    kept = Some(move_away(path)?);
                    file = open_locked(path)?;
                    0
                }
            };
            file.set_len(len_bytes)?;
            file.seek(SeekFrom::End(0))?;
        }
        Ok(Self { path: path.into(), file, kept, logged: Vec::new() })
    }

    /// The path to which [`open`](Self::open) has moved an earlier file that it could not continue.
    pub fn kept(&self) -> Option<&Path> {
        self.kept.as_deref()
    }

    /// Makes the lines written so far survive a power cut.
    pub(super) fn sync(&self) -> io::Result<()> {
        match self.file.metadata()?.is_file() {
            true => self.file.sync_all(),
            false => Ok(()),
        }
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

/// Opens a file that no other training writes. The lock ends when it is closed.
fn open_locked(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
    if !file.metadata()?.is_file() {
        return Ok(file);
    }
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(io::Error::new(ErrorKind::ResourceBusy, "another training writes it")),
        Err(TryLockError::Error(error)) if error.kind() != ErrorKind::Unsupported => Err(error),
        _ => Ok(file),
    }
}

/// Gives a file the first free name after its own, such as `metrics.jsonl.kept-1`.
fn move_away(path: &Path) -> io::Result<PathBuf> {
    let mut number = 1;
    loop {
        let kept = with_suffix(path, &format!(".kept-{number}"));
        if !kept.try_exists()? && !kept.is_symlink() {
            return fs::rename(path, &kept).map(|()| kept);
        }
        number += 1;
    }
}

/// The content of a file that is to be continued after some step.
enum Earlier {
    /// Lines of consecutive steps up to that step, of this length together, or nothing.
    Lines { len_bytes: u64 },
    /// Metrics, but a line up to that step is missing or cannot be understood.
    Incomplete,
    /// Anything else.
    NoMetrics,
}

fn earlier_lines(file: &File, last_step: usize) -> io::Result<Earlier> {
    let mut reader = BufReader::new(file);
    let (mut len_bytes, mut line, mut before) = (0, Vec::new(), None);
    loop {
        line.clear();
        let read = reader.by_ref().take(MAX_LINE_LEN_BYTES).read_until(b'\n', &mut line)?;
        let step = step_of(&line);
        let is_next = |step: usize| before.is_none_or(|before: usize| before.checked_add(1) == Some(step));
        match (step, before) {
            (Some(step), _) if is_next(step) && step <= last_step => {
                before = Some(step);
                len_bytes += read as u64;
            }
            (None, None) if read > 0 => return Ok(Earlier::NoMetrics),
            // Here a later step begins, or the file ends.
            _ => {
                let is_complete = match before {
                    Some(before) => before == last_step,
                    None => last_step == 0 || read == 0 || step.is_some_and(|step| step == last_step + 1),
                };
                return Ok(if is_complete { Earlier::Lines { len_bytes } } else { Earlier::Incomplete });
            }
        }
    }
}

/// The step of a complete line of metrics.
fn step_of(line: &[u8]) -> Option<usize> {
    #[derive(serde::Deserialize)]
    struct Line {
        step: usize,
    }
    let line = line.strip_suffix(b"\n")?;
    let Line { step } = serde_json::from_slice(line).ok()?;
    Some(step)
}
