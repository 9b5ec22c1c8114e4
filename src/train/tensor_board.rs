use std::fs::{self, DirEntry, File};
use std::io::{self, ErrorKind, Write};
use std::time::{SystemTime, UNIX_EPOCH};
use std::{path::Path, process};

/// The beginning of each file's name. A number in ten digits follows it.
const PREFIX: &str = "events.out.tfevents.";

/// A file of TensorBoard events: records of TFRecord, each a message `Event` of
/// [`event.proto`](https://github.com/tensorflow/tensorflow/blob/master/tensorflow/core/util/event.proto).
#[derive(Debug)]
pub struct EventFile {
    file: File,
    /// Whether a step has been written since the training began or was resumed.
    pub is_begun: bool,
}

impl EventFile {
    /// A new file in `folder`, which is made if it is missing. TensorBoard reads the files of a folder in the order of
    /// their names, so the number in the name is the time in seconds, but at least one more than in all other names: a
    /// clock may have gone back.
    pub fn create(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let number_of = |entry: io::Result<DirEntry>| {
            let digits: String = entry.ok()?.file_name().to_str()?.strip_prefix(PREFIX)?.chars().take(10).collect();
            digits.parse::<u64>().ok()
        };
        let latest = fs::read_dir(folder)?.filter_map(number_of).max();
        let mut number = latest.map_or(0, |number| number + 1).max(seconds() as u64);
        let create = |number| File::create_new(folder.join(format!("{PREFIX}{number:010}.{}", process::id())));
        let mut file = create(number);
        // A process of the same ID in another container has begun a file meanwhile.
        while file.as_ref().is_err_and(|error| error.kind() == ErrorKind::AlreadyExists) {
            number += 1;
            file = create(number);
        }
        let mut events = Self { file: file?, is_begun: false };
        events.write_event(0, 3, b"brain.Event:2")?;
        Ok(events)
    }

    /// Writes the values of a step. Values that are not numbers are points that TensorBoard marks.
    pub fn write<'a>(&mut self, step: usize, values: impl Iterator<Item = (&'a str, f64)>) -> io::Result<()> {
        if !self.is_begun {
            // The start of a session. TensorBoard forgets what it has read of this step and of later ones, which a
            // training that was resumed repeats.
            self.write_event(step, 7, &[tag(1, 0), 1])?;
            self.is_begun = true;
        }
        let mut summary = Vec::new();
        for (name, value) in values {
            let mut scalar = Vec::new();
            push_bytes(&mut scalar, 1, name.as_bytes());
            scalar.push(tag(2, 5));
            scalar.extend((value as f32).to_le_bytes());
            push_bytes(&mut summary, 1, &scalar);
        }
        self.write_event(step, 5, &summary)
    }

    /// Writes an event with the time, the step and the field `number`, in one call, so that a reader sees it whole.
    fn write_event(&mut self, step: usize, number: u8, content: &[u8]) -> io::Result<()> {
        let mut event = vec![tag(1, 1)];
        event.extend(seconds().to_le_bytes());
        event.push(tag(2, 0));
        push_varint(&mut event, step as u64);
        push_bytes(&mut event, number, content);

        let len = (event.len() as u64).to_le_bytes();
        let record = [&len[..], &masked_crc(&len), &event, &masked_crc(&event)].concat();
        self.file.write_all(&record)
    }
}

fn seconds() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64())
}

/// The byte before a field of a message of protocol buffers. The wire types are 0 for an integer, 1 for 8 bytes, 2 for
/// bytes with their length, and 5 for 4 bytes.
fn tag(number: u8, wire_type: u8) -> u8 {
    number << 3 | wire_type
}

fn push_varint(message: &mut Vec<u8>, mut value: u64) {
    while value >= 1 << 7 {
        message.push(value as u8 | 1 << 7);
        value >>= 7;
    }
    message.push(value as u8);
}

fn push_bytes(message: &mut Vec<u8>, number: u8, bytes: &[u8]) {
    message.push(tag(number, 2));
    push_varint(message, bytes.len() as u64);
    message.extend(bytes);
}

/// The checksum of TFRecord.
fn masked_crc(bytes: &[u8]) -> [u8; 4] {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes()
}
