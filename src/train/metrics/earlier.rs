//! The lines that a file of metrics has already.

use serde_json::Value;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

/// A longer line is not one of metrics.
pub const MAX_LINE_LEN_BYTES: u64 = 1 << 20;
/// The first name of a line.
pub const STEP: &str = "step";

/// The content of a file that is to be continued after some step.
pub enum Earlier {
    /// Lines of consecutive steps up to that step, or none, with their total length.
    Lines { len_bytes: u64 },
    /// Metrics, but a line up to that step is missing or cannot be understood.
    Incomplete,
    /// Anything else.
    NoMetrics,
}

/// What a file has of the steps up to `last_step`.
pub fn earlier_lines(file: &File, last_step: usize) -> io::Result<Earlier> {
    let mut reader = BufReader::new(file);
    let (mut len_bytes, mut line, mut before) = (0, Vec::new(), None);
    // The lines that remain. The loop ends with the first line of a later step, or at the end of the file.
    let step = loop {
        let read = read_line(&mut reader, &mut line)?;
        let step = step_of(&line);
        let is_next = |step: usize| before.is_none_or(|before: usize| before.checked_add(1) == Some(step));
        match (step, before) {
            (Some(step), _) if is_next(step) && step <= last_step => {
                before = Some(step);
                len_bytes += read as u64;
            }
            (None, None) if read > 0 && !is_cut_off(&line) => return Ok(Earlier::NoMetrics),
            _ => break step,
        }
    };
    let is_complete = match before {
        Some(before) => before == last_step,
        None => last_step == 0 || line.is_empty() || step.is_some_and(|step| step == last_step + 1),
    };
    if is_complete && are_metrics(reader, line)? { Ok(Earlier::Lines { len_bytes }) } else { Ok(Earlier::Incomplete) }
}

/// Whether a line is the beginning of one of metrics, which a full disk or a kill has cut off.
fn is_cut_off(line: &[u8]) -> bool {
    let start = format!("{{\"{STEP}\":");
    let len = line.len().min(start.len());
    let is_incomplete = || serde_json::from_slice::<Value>(line).is_err_and(|error| error.is_eof());
    is_unterminated(line)
        && line[..len] == start.as_bytes()[..len]
        && (is_incomplete() || step_of(&[line, b"\n"].concat()).is_some())
}

/// Whether the file ends before the line does.
fn is_unterminated(line: &[u8]) -> bool {
    !line.ends_with(b"\n") && (line.len() as u64) < MAX_LINE_LEN_BYTES
}

/// Whether `line` and all lines after it are metrics. The last line may be cut off.
fn are_metrics(mut reader: impl BufRead, mut line: Vec<u8>) -> io::Result<bool> {
    while !line.is_empty() {
        if step_of(&line).is_none() && !is_unterminated(&line) {
            return Ok(false);
        }
        read_line(&mut reader, &mut line)?;
    }
    Ok(true)
}

/// Reads the next line, or the beginning of a longer one than [`MAX_LINE_LEN_BYTES`]. Returns its length, 0 at the end.
fn read_line(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<usize> {
    line.clear();
    reader.by_ref().take(MAX_LINE_LEN_BYTES).read_until(b'\n', line)
}

/// The step of a complete line of metrics: an object of numbers, the first of which is `step`.
fn step_of(line: &[u8]) -> Option<usize> {
    let line = line.strip_suffix(b"\n")?;
    let metrics: serde_json::Map<String, Value> = serde_json::from_slice(line).ok()?;
    let is_number = |value: &Value| value.is_number() || value.is_null();
    let step = metrics.get(STEP)?.as_u64()?;
    metrics.values().all(is_number).then(|| usize::try_from(step).ok())?
}
