//! Events for TensorBoard, read by the definition of their format.

use crate::tiny_training::{Tiny, step, trainer};
use std::{fs, path::Path};
use typed_transformer::prelude::*;
use typed_transformer::train::Metrics;

/// CRC-32C by its definition, a polynomial division bit by bit.
fn crc32c(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}

/// Takes `len` bytes and their checksum.
fn checked<'a>(rest: &mut &'a [u8], len: usize) -> &'a [u8] {
    let (bytes, after) = rest.split_at(len);
    let (found, after) = after.split_first_chunk().unwrap();
    *rest = after;
    let crc = crc32c(bytes);
    assert_eq!(u32::from_le_bytes(*found), crc.rotate_right(15).wrapping_add(0xa282_ead8));
    bytes
}

fn varint(rest: &mut &[u8]) -> u64 {
    let len = rest.iter().position(|byte| *byte < 128).unwrap() + 1;
    let (bytes, after) = rest.split_at(len);
    *rest = after;
    bytes.iter().rev().fold(0, |value, byte| value << 7 | u64::from(byte & 127))
}

/// The number and the content of each field of a message; that of an integer is its 8 bytes.
fn fields(mut message: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let mut fields = Vec::new();
    while !message.is_empty() {
        let tag = varint(&mut message);
        let len = match tag & 7 {
            0 => {
                fields.push((tag >> 3, varint(&mut message).to_le_bytes().to_vec()));
                continue;
            }
            1 => 8,
            2 => varint(&mut message) as usize,
            5 => 4,
            other => panic!("wire type {other}"),
        };
        let (content, after) = message.split_at(len);
        fields.push((tag >> 3, content.to_vec()));
        message = after;
    }
    fields
}

/// The fields of each event of all files of a folder, without the time.
fn events(folder: &Path) -> Vec<Vec<(u64, Vec<u8>)>> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut events = Vec::new();
    for file in files {
        let bytes = fs::read(file).unwrap();
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let len = checked(&mut rest, 8);
            let len = u64::from_le_bytes(len.try_into().unwrap()) as usize;
            let mut event = fields(checked(&mut rest, len));
            let (number, time) = event.remove(0);
            assert_eq!((number, time.len()), (1, 8));
            events.push(event);
        }
    }
    events
}

#[test]
fn each_value_is_an_event() {
    let folder = crate::support::temp_dir();
    let mut metrics = Metrics::open(folder.path().join("metrics.jsonl"), 0).unwrap();
    let long = "validation/loss".repeat(10);
    metrics.tensorboard(folder.path().join("runs/events")).unwrap();
    metrics.write(300, &[("loss", 3.5), ("rate", 1e-3)]).unwrap();
    metrics.log(&long, f64::NAN);
    metrics.write(301, &[]).unwrap();

    let step = |step: u64| (2, step.to_le_bytes().to_vec());
    let scalar = |name: &str, value: f32| {
        let value = [&[0x15], &value.to_le_bytes()[..]].concat();
        let len = name.len() as u8;
        // A length from 128 on takes two bytes.
        let len = if len < 128 { vec![len] } else { vec![len, 1] };
        (1, [&[0x0a], &len[..], name.as_bytes(), &value].concat())
    };
    let events = events(&folder.path().join("runs/events"));
    assert_eq!(events[0], [step(0), (3, b"brain.Event:2".to_vec())]);
    assert_eq!(events[1], [step(300), (7, vec![0x08, 1])]);
    assert_eq!(events[2][0], step(300));
    assert_eq!(fields(&events[2][1].1), [scalar("loss", 3.5), scalar("rate", 1e-3)]);
    assert_eq!(events[3][0], step(301));
    assert_eq!(fields(&events[3][1].1), [scalar(&long, f32::NAN)]);
    assert_eq!(events.len(), 4);
}

/// TensorBoard forgets the steps that are repeated.
#[test]
fn a_resume_begins_a_session() {
    let folder = crate::support::temp_dir();
    let at = |name: &str| folder.path().join(name);
    let (mut trainer, mut model) = (trainer(), Tiny::build(&Cpu::seed_from_u64(1)));
    trainer.checkpoint_every(at("ck"), 2).unwrap();
    let mut metrics = Metrics::open(at("metrics"), 0).unwrap();
    metrics.tensorboard(at("events")).unwrap();
    trainer.metrics = Some(metrics);
    (0..3).for_each(|_| step(&mut trainer, &mut model));
    model = trainer.resume(at("ck"), &Cpu::default()).unwrap();
    step(&mut trainer, &mut model);
    let starts = events(&at("events")).into_iter().filter(|event| event[1].0 == 7);
    assert_eq!(starts.map(|event| event[0].1[0]).collect::<Vec<_>>(), [1, 3]);
}

/// TensorBoard reads them in the order of their names.
#[test]
fn a_new_file_is_behind_those_of_a_later_clock() {
    let folder = crate::support::temp_dir();
    let later = folder.path().join("events.out.tfevents.9000000000.1");
    fs::write(&later, "").unwrap();
    let mut metrics = Metrics::open(folder.path().join("metrics.jsonl"), 0).unwrap();
    metrics.tensorboard(folder.path()).unwrap();
    let names = crate::support::file_names(&folder);
    assert_eq!(names[0], "events.out.tfevents.9000000000.1");
    assert!(names[1].starts_with("events.out.tfevents.9000000001."), "{names:?}");
}

#[test]
fn files_of_one_second_are_two() {
    let folder = crate::support::temp_dir();
    let at = |name: &str| folder.path().join(name);
    for number in 0..3 {
        let mut metrics = Metrics::open(at(&format!("metrics-{number}")), 0).unwrap();
        metrics.tensorboard(at("events")).unwrap();
        metrics.write(1, &[]).unwrap();
    }
    assert_eq!(fs::read_dir(at("events")).unwrap().count(), 3);
    assert_eq!(events(&at("events")).len(), 9);
}
