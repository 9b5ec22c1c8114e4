//! Words from the command line or from standard input.

use crate::support::{BoxError, log};
use std::{
    io::{self, BufRead, IsTerminal, Read, stdin},
    panic::resume_unwind,
    sync::mpsc,
    thread,
    time::Duration,
};

/// An open standard input that stays silent for this long counts as empty.
const TIMEOUT: Duration = Duration::from_secs(1);

/// The most bytes of standard input.
const MAX_LEN_BYTES: u64 = 1_000_000;

/// The most characters that are shown of a word.
const MAX_SHOWN_CHARS: usize = 40;

/// A word in a form that is safe to print: control characters are escaped, and a long word is cut.
pub fn escape(word: &str) -> String {
    let is_long = word.chars().nth(MAX_SHOWN_CHARS).is_some();
    let shown: String = word.chars().take(MAX_SHOWN_CHARS).collect();
    let shown: String =
        shown.chars().flat_map(|c| if "\"'\\".contains(c) { vec![c] } else { c.escape_debug().collect() }).collect();
    if is_long { shown + "…" } else { shown }
}

/// The words of `args`, with `-` replaced by those of standard input. Without `args`, the words of
/// standard input unless it is a terminal. Without any words, `default`.
pub fn args_or_stdin(args: &[String], default: &[&str]) -> Result<Vec<String>, BoxError> {
    let mut words = Vec::new();
    if args.is_empty() && !stdin().is_terminal() {
        words = read_words(Some(TIMEOUT))?;
    }
    for arg in args {
        match arg.as_str() {
            "-" => words.extend(read_words(None)?),
            word => words.push(word.to_string()),
        }
    }
    if words.is_empty() {
        words = default.iter().map(|word| word.to_string()).collect();
    }
    Ok(words)
}

/// Reads standard input to its end or to its maximum. The timeout limits the wait for the first byte: a parent process
/// may leave the input open without ever writing to it.
fn read_words(timeout: Option<Duration>) -> Result<Vec<String>, BoxError> {
    let (sender, first_byte) = mpsc::channel();
    let reader = thread::spawn(move || {
        let mut input = stdin().lock();
        // Returns at the first byte, at the end or on an error, which `read_to_end` repeats.
        let _ = input.fill_buf();
        // Fails after the timeout, when nobody receives any more.
        let _ = sender.send(());
        let mut bytes = Vec::new();
        input.take(MAX_LEN_BYTES + 1).read_to_end(&mut bytes).map(|_| bytes)
    });
    if timeout.is_some_and(|timeout| first_byte.recv_timeout(timeout).is_err()) {
        log("nothing comes from standard input, so its words are not waited for");
        return Ok(Vec::new());
    }
    let bytes: io::Result<Vec<u8>> = reader.join().unwrap_or_else(|panic| resume_unwind(panic));
    let bytes = bytes.map_err(|error| format!("cannot read standard input: {error}"))?;
    if bytes.len() as u64 > MAX_LEN_BYTES {
        return Err(format!("standard input has more than {MAX_LEN_BYTES} bytes").into());
    }
    Ok(String::from_utf8_lossy(&bytes).split_whitespace().map(String::from).collect())
}
