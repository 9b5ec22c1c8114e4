//! Saves on a file system of a few pages, which is really full: a temporary one in a mount namespace of the test's own. It
//! goes with its process. Where the machine allows no mount, a line says that the test is left out.

use crate::support::temp_dir;
use crate::tiny_training::{Tiny, step, steps_in, trainer};
use std::env;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use typed_transformer::prelude::*;
use typed_transformer::train::{Metrics, TrainError};
use typed_transformer::weights::{self, SaveError};

/// The folder of the small disk, in the process that has one.
const DISK: &str = "TYPED_TRANSFORMER_TEST_DISK";

/// Runs a test again in a process with a small disk. Returns its path there, and `None` in the first process.
fn small_disk(test: &str) -> Option<PathBuf> {
    if let Some(disk) = env::var_os(DISK) {
        return Some(disk.into());
    }
    let folder = temp_dir();
    let in_namespace = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount", "sh", "-c", script]).arg(env::current_exe().unwrap()).arg(test);
        command.env(DISK, folder.path()).output()
    };
    // The sizes are for pages of 4 kB.
    let mount = format!("[ \"$(getconf PAGE_SIZE)\" = 4096 ] && mount -t tmpfs -o size=64k none \"${DISK}\"");
    if !in_namespace(&mount).is_ok_and(|output| output.status.success()) {
        println!("left out: this machine allows no mount, or has larger pages");
        return None;
    }
    let output = in_namespace(&format!("{mount} && exec \"$0\" --exact \"$1\" --nocapture")).unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    None
}

/// Takes all the room that is left.
fn fill(disk: &Path) {
    let mut file = File::create(disk.join("filler")).unwrap();
    let error = (0..1_000).find_map(|_| file.write_all(&[1; 512]).err()).expect("the disk is small");
    assert_eq!(error.kind(), ErrorKind::StorageFull);
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_training_outlives_a_full_disk() {
    let Some(disk) = small_disk("small_disks::a_training_outlives_a_full_disk") else {
        return;
    };
    let path = disk.join("ck");
    let (mut trainer, mut model) = (trainer(), Tiny::build(&Cpu::seed_from_u64(1)));
    trainer.checkpoint_every(&path, 1).unwrap();
    trainer.metrics = Some(Metrics::open(disk.join("metrics"), 0).unwrap());
    (0..3).for_each(|_| step(&mut trainer, &mut model));
    assert_eq!(trainer.failures().len(), 0);

    fill(&disk);
    // Enough lines for another page of metrics.
    (0..100).for_each(|_| step(&mut trainer, &mut model));
    let [TrainError::Metrics { source, .. }, TrainError::Save { source: refused, saved_at: Some(place) }] =
        trainer.failures()
    else {
        panic!("{:?}", trainer.failures());
    };
    assert_eq!(source.kind(), ErrorKind::StorageFull);
    let SaveError::Write { source, .. } = refused else { panic!("{refused}") };
    assert_eq!(source.kind(), ErrorKind::StorageFull);
    // The last whole ones are where they were, and the newest is at the second place.
    assert_eq!([&path, &disk.join("ck.previous-1"), place].map(|path| steps_in(path)), [3, 2, 103]);
    fs::remove_dir_all(place.parent().unwrap()).unwrap();
    assert_eq!(names(&disk), ["ck", "ck.best", "ck.lock", "ck.previous-1", "filler", "metrics"]);

    fs::remove_file(disk.join("filler")).unwrap();
    step(&mut trainer, &mut model);
    assert!(matches!(trainer.failures(), [TrainError::Metrics { .. }]), "{:?}", trainer.failures());
    drop(trainer);
    assert_eq!((steps_in(&path), steps_in(&disk.join("ck.previous-1"))), (104, 3));
}

#[test]
fn a_full_disk_is_noticed_before_the_first_step() {
    let Some(disk) = small_disk("small_disks::a_full_disk_is_noticed_before_the_first_step") else {
        return;
    };
    let mut trainer = trainer();
    let mut model = Tiny::build(&Cpu::seed_from_u64(1));
    trainer.checkpoint_every(disk.join("ck"), 1).unwrap();
    fill(&disk);
    let _step = trainer.next_step().unwrap();
    let loss = dfdx::tensor_ops::SumTo::sum::<(), _>(model.bias.clone().put_tape(model.recording()));
    let error = trainer.update(&mut model, loss.backward().unwrap(), 1.0, 1).unwrap_err();
    let TrainError::Save { source: SaveError::Space { free_bytes, .. }, saved_at: None } = error else {
        panic!("{error}");
    };
    assert_eq!((free_bytes, trainer.steps_made()), (0, 0));
}

#[test]
fn weights_on_a_full_disk_stay_as_they_are() {
    let Some(disk) = small_disk("small_disks::weights_on_a_full_disk_stay_as_they_are") else {
        return;
    };
    let path = disk.join("weights");
    weights::save(&Tiny::build(&Cpu::seed_from_u64(1)), &path).unwrap();
    let before = fs::read(&path).unwrap();
    fill(&disk);
    let error = weights::save(&Tiny::build(&Cpu::seed_from_u64(2)), &path).unwrap_err();
    let SaveError::Write { source, .. } = error else { panic!("{error}") };
    assert_eq!(source.kind(), ErrorKind::StorageFull);
    assert!(fs::read(&path).unwrap() == before);
    assert_eq!(names(&disk), ["filler", "weights"]);
}

/// The disk of the file that a link leads to counts.
#[test]
fn the_room_for_a_link_is_that_of_its_file() {
    let Some(disk) = small_disk("small_disks::the_room_for_a_link_is_that_of_its_file") else {
        return;
    };
    let folder = temp_dir();
    let link = folder.path().join("link");
    File::create(disk.join("weights")).unwrap();
    std::os::unix::fs::symlink(disk.join("weights"), &link).unwrap();
    let error = weights::ensure_space(&link, 1 << 17).unwrap_err().to_string();
    assert!(error.starts_with(&format!("cannot write {}: 131072 bytes are needed", link.display())), "{error}");
}
