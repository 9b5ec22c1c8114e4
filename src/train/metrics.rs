mod earlier;

use super::tensor_board::EventFile;
use crate::weights::{atomic::with_suffix, has_no_locks, sync_file};
use earlier::{Earlier, MAX_LINE_LEN_BYTES, STEP, earlier_lines};
use std::collections::HashSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A file of metrics in JSON lines: one object of numbers per training step, the first of which is `step`.
/// pandas reads it with `read_json(path, lines=True)`.
///
/// ```
/// use typed_transformer::train::Metrics;
/// let path = std::env::temp_dir().join(format!("metrics-{}.jsonl", std::process::id()));
/// let mut metrics = Metrics::open(&path, 0)?;
/// metrics.write(1, &[("loss", 3.3), ("learning_rate", 1e-3)])?;
/// metrics.log("validation_loss", f64::NAN);
/// metrics.write(2, &[("loss", 3.1), ("learning_rate", 1e-3)])?;
/// # drop(metrics);
/// // A training run that is resumed after the first step repeats the second.
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
    /// The length of the earlier lines that remain, until the lines after them are removed.
    len_bytes: Option<u64>,
    /// The path to which an earlier file was moved, if it was.
    kept: Option<PathBuf>,
    /// The values logged for the next line.
    logged: Vec<(String, f64)>,
    /// The same values for TensorBoard, if they are wanted.
    events: Option<EventFile>,
}

impl Metrics {
    /// The name that marks the first step after a resume: `log(Metrics::RESUMED, 1.0)`. Training curves
    /// draw a vertical line there.
    pub const RESUMED: &str = "resumed";

    /// Opens the file of a training run that has made `steps` steps. The training repeats later steps, so the
    /// first line that is written removes the lines of these, and an incomplete last line too.
    ///
    /// A named pipe must have a reader. [`write`](Self::write) returns an error if the reader falls behind by more than
    /// the pipe holds.
    ///
    /// A file of metrics in which a line is missing or cannot be understood is kept under [another name](Self::kept),
    /// and a new file begins after step `steps`. No other training can write a file of metrics that is open.
    ///
    /// # Errors
    /// If the file cannot be read or written, if another training run writes it, or if there is a file that does not
    /// begin with a line of metrics. That file is unchanged.
    pub fn open(path: impl AsRef<Path>, steps: usize) -> io::Result<Self> {
        Self::open_or_replace(path.as_ref(), steps, false)
    }

    /// [`open`](Self::open), but a file that does not begin with a line of metrics is replaced.
    ///
    /// # Errors
    /// If the file cannot be read or written, or if another training run writes it.
    pub fn overwrite(path: impl AsRef<Path>, steps: usize) -> io::Result<Self> {
        Self::open_or_replace(path.as_ref(), steps, true)
    }

    fn open_or_replace(path: &Path, steps: usize, overwrite: bool) -> io::Result<Self> {
        if path.is_symlink() && !path.exists() {
            return Err(io::Error::new(ErrorKind::InvalidInput, "a link to a file that does not exist"));
        }
        let file = open_locked(path)?;
        // A pipe has no length.
        let len_bytes = (overwrite && file.metadata()?.is_file()).then_some(0);
        let mut metrics = Self { path: path.into(), file, len_bytes, kept: None, logged: Vec::new(), events: None };
        metrics.go_back_to(steps)?;
        Ok(metrics)
    }

    /// Prepares for the repetition of the steps after `steps`, as [`open`](Self::open) does.
    pub(super) fn go_back_to(&mut self, steps: usize) -> io::Result<()> {
        self.logged.clear();
        if let Some(events) = &mut self.events {
            events.is_begun = false;
        }
        // A pipe or a terminal has no earlier lines.
        if self.file.metadata()?.is_file() {
            self.file.rewind()?;
            self.len_bytes = Some(match earlier_lines(&self.file, steps)? {
                Earlier::Lines { len_bytes } => len_bytes,
                // The whole file is to be replaced.
                Earlier::NoMetrics if self.len_bytes == Some(0) => 0,
                Earlier::NoMetrics => return Err(invalid_data("it is not a file of metrics".into())),
                Earlier::Incomplete => {
                    self.kept = Some(move_away(&self.path)?);
                    self.file = open_locked(&self.path)?;
                    0
                }
            });
        }
        Ok(())
    }

    /// The path to which [`open`](Self::open), or a resume, has moved an earlier file that it could not continue.
    pub fn kept(&self) -> Option<&Path> {
        self.kept.as_deref()
    }

    /// Makes the lines written so far survive a power cut.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        if self.file.metadata()?.is_file() { sync_file(&self.file, self.file.sync_all()) } else { Ok(()) }
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes all later values for TensorBoard, too, to a new file of events in `folder`. Where a training that is
    /// resumed repeats steps, TensorBoard shows the later values.
    ///
    /// ```
    /// use typed_transformer::train::Metrics;
    /// let folder = std::env::temp_dir().join(format!("typed-transformer-events-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// let mut metrics = Metrics::open(folder.join("metrics.jsonl"), 0)?;
    /// metrics.tensorboard(folder.join("events"))?; // Read it by `tensorboard --logdir events`.
    /// metrics.write(1, &[("loss", 3.3)])?;
    /// assert_eq!(std::fs::read_dir(folder.join("events"))?.count(), 1);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the file cannot be made.
    pub fn tensorboard(&mut self, folder: impl AsRef<Path>) -> io::Result<()> {
        self.events = Some(EventFile::create(folder.as_ref())?);
        Ok(())
    }

    /// Adds a value to the next line.
    pub fn log(&mut self, name: &str, value: f64) {
        self.logged.push((name.to_string(), value));
    }

    /// [`log`](Self::log), but a value of this name that waits for its line is replaced. A refused step writes no line,
    /// so its repetition logs the value again.
    pub(super) fn log_or_replace(&mut self, name: &str, value: f64) {
        self.logged.retain(|(logged, _)| logged != name);
        self.log(name, value);
    }

    /// Writes the line of the last of `steps_made` steps: `values`, then those that were [logged](Self::log) for it.
    /// NaN and infinity become `null`, because JSON has no other form for them.
    ///
    /// # Errors
    /// If the file cannot be written. If a value is named `step`, if two values have one name, or if the line is longer
    /// than 1 MiB: the line is not written. If the file of TensorBoard cannot be written: later lines are written
    /// without it.
    pub fn write(&mut self, steps_made: usize, values: &[(&str, f64)]) -> io::Result<()> {
        let logged = std::mem::take(&mut self.logged);
        let values = values.iter().copied().chain(logged.iter().map(|(name, value)| (&**name, *value)));
        let mut line = format!("{{\"{STEP}\":{steps_made}");
        for (name, value) in values.clone() {
            let (name, value) = (serde_json::to_string(name)?, serde_json::to_string(&value)?);
            line.push_str(&format!(",{name}:{value}"));
        }
        line.push_str("}\n");
        if values.clone().any(|(name, _)| name == STEP) {
            return Err(invalid_data("a value is named `step`, as the number of the step is".into()));
        }
        let mut names = HashSet::new();
        if let Some((name, _)) = values.clone().find(|(name, _)| !names.insert(*name)) {
            return Err(invalid_data(format!("two values of step {steps_made} are named `{name}`")));
        }
        let (found, max) = (line.len() as u64, MAX_LINE_LEN_BYTES);
        if found > max {
            return Err(invalid_data(format!("its line would have {found} bytes, but {max} are the maximum")));
        }
        // Removes the lines of steps that are repeated.
        if let Some(len_bytes) = self.len_bytes {
            self.file.set_len(len_bytes)?;
            self.file.seek(SeekFrom::End(0))?;
            self.len_bytes = None;
        }
        self.file.write_all(line.as_bytes())?;
        if let Some(events) = &mut self.events
            && let Err(error) = events.write(steps_made, values)
        {
            self.events = None;
            return Err(io::Error::other(format!("its events for TensorBoard: {error}")));
        }
        Ok(())
    }
}

/// Whether a line was refused: nothing of it was written.
pub(super) fn is_invalid_line(error: &io::Error) -> bool {
    error.kind() == ErrorKind::InvalidData
}

/// Opens a file that no other training writes. The lock ends when it is closed.
fn open_locked(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => return Err(ErrorKind::IsADirectory.into()),
        // This process must not be a reader of its own pipe: writing would wait for it for ever.
        Ok(found) if !found.is_file() => without_waiting(options.write(true), &found),
        _ => options.read(true).write(true).create(true).truncate(false),
    };
    let file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Ok(file);
    }
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(io::Error::new(ErrorKind::ResourceBusy, "another training run writes it")),
        Err(TryLockError::Error(error)) if !has_no_locks(&error) => Err(error),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
}

/// Opening a pipe fails if nobody reads it, and writing fails if it is full.
#[cfg(unix)]
fn without_waiting<'a>(options: &'a mut OpenOptions, found: &fs::Metadata) -> &'a mut OpenOptions {
    use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
    if found.file_type().is_fifo() { options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32) } else { options }
}

#[cfg(not(unix))]
fn without_waiting<'a>(options: &'a mut OpenOptions, _: &fs::Metadata) -> &'a mut OpenOptions {
    options
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

fn invalid_data(message: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, message)
}
