//! Files that come to the paths of a training while it runs, or between its runs.

use crate::support::{file_names, temp_dir};
use crate::tiny_training::{Tiny, saved, step, steps_in, trainer};
use std::fs;
use typed_transformer::{prelude::*, weights, weights::SaveError};

/// A training would replace them at the next save of the checkpoint that they seem to belong to.
#[test]
fn a_checkpoint_has_not_the_name_of_a_file_beside_another() {
    let folder = temp_dir();
    for name in ["ck.best", "ck.previous-1", "ck.damaged", "ck.damaged-2", "ck.lock", "ck.0.partial", "ck.best.damaged"]
    {
        let error = trainer().checkpoint_every(folder.path().join(name), 1).unwrap_err();
        let SaveError::PartOfCheckpoint { checkpoint, .. } = error else { panic!("{name}: {error}") };
        assert!(checkpoint.ends_with("ck"), "{name}: {}", checkpoint.display());
    }
    assert_eq!(file_names(&folder), [""; 0]);
    for name in [".best", "ck.best.safetensors", "ck.previous"] {
        trainer().checkpoint_every(folder.path().join(name), 1).unwrap();
    }
}

#[test]
fn a_file_that_comes_to_the_path_of_a_checkpoint_is_kept() {
    let (folder, model) = (temp_dir(), Tiny::build(&Cpu::seed_from_u64(1)));
    let at = |name: &str| folder.path().join(name);
    weights::save(&model, at("weights")).unwrap();
    for (content, name) in [(b"of great value".to_vec(), "notes"), (fs::read(at("weights")).unwrap(), "other weights")]
    {
        let folder = temp_dir();
        let at = |name: &str| folder.path().join(name);
        let (mut trainer, mut model) = (trainer(), model.clone());
        trainer.checkpoint_every(at("ck"), 1).unwrap();
        // Before the first save, and between two.
        for (saves, kept) in [(1, "ck.damaged"), (3, "ck.damaged-2")] {
            fs::write(at("ck"), &content).unwrap();
            (0..saves).for_each(|_| step(&mut trainer, &mut model));
            assert_eq!(trainer.failures().len(), 0, "{name}: {:?}", trainer.failures());
            assert!(fs::read(at(kept)).unwrap() == content, "{name}");
        }
        drop(trainer);
        assert_eq!(file_names(&folder), ["ck", "ck.best", "ck.damaged", "ck.damaged-2", "ck.previous-1"], "{name}");
        assert_eq!((steps_in(&at("ck")), steps_in(&at("ck.previous-1"))), (4, 3));
    }
}

#[test]
fn a_file_at_the_path_of_an_older_checkpoint_is_kept() {
    for max_to_keep in [1, 2, 4] {
        let folder = temp_dir();
        let path = saved(&folder, 1, 1);
        let others = ["ck.best", "ck.previous-1", "ck.previous-2"];
        // The best is another name of the newest.
        fs::remove_file(folder.path().join("ck.best")).unwrap();
        for name in others {
            fs::write(folder.path().join(name), name).unwrap();
        }
        let mut trainer = trainer();
        trainer.max_to_keep = max_to_keep;
        let mut model: Tiny = trainer.resume(&path, &Cpu::default()).unwrap();
        trainer.checkpoint_every(&path, 1).unwrap();
        (0..4).for_each(|_| step(&mut trainer, &mut model));
        drop(trainer);
        for name in others {
            let kept = folder.path().join(format!("{name}.damaged"));
            assert_eq!(fs::read_to_string(kept).unwrap(), name);
        }
        assert_eq!(steps_in(&path), 5);
    }
}

/// Somebody has removed the lock by hand, and another training has begun.
#[cfg(unix)]
#[test]
fn the_lock_of_another_training_is_not_removed() {
    let folder = temp_dir();
    let (path, lock) = (folder.path().join("ck"), folder.path().join("ck.lock"));
    let (mut first, mut second) = (trainer(), trainer());
    first.checkpoint_every(&path, 1).unwrap();
    fs::remove_file(&lock).unwrap();
    second.checkpoint_every(&path, 1).unwrap();
    drop(first);
    assert!(lock.exists());
    assert!(matches!(trainer().checkpoint_every(&path, 1), Err(SaveError::Locked { .. })));
    drop(second);
    assert!(!lock.exists());
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_to_another_training_later_is_not_followed() {
    let folder = temp_dir();
    let at = |name: &str| folder.path().join(name);
    let link_to = |target: &str| {
        fs::create_dir(at(target)).unwrap();
        std::os::unix::fs::symlink(target, at("latest")).unwrap();
    };
    let mut models = [(); 2].map(|()| Tiny::build(&Cpu::seed_from_u64(1)));
    let (mut first, mut second) = (trainer(), trainer());
    link_to("one");
    first.checkpoint_every(at("latest/ck"), 1).unwrap();
    step(&mut first, &mut models[0]);
    fs::remove_file(at("latest")).unwrap();
    link_to("two");
    second.checkpoint_every(at("latest/ck"), 1).unwrap();
    step(&mut second, &mut models[1]);
    step(&mut first, &mut models[0]);
    assert_eq!((steps_in(&at("one/ck")), steps_in(&at("two/ck"))), (2, 1));
    assert_eq!(first.failures().len(), 0);
}

#[cfg(unix)]
#[test]
fn two_outputs_at_one_path_are_found_through_links() {
    let folder = temp_dir();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("file"), "").unwrap();
    std::os::unix::fs::symlink("file", at("link")).unwrap();
    let distinct = |names: &[&str]| weights::ensure_distinct(names.iter().map(|name| at(name)));
    distinct(&["file", "other", "no/such/folder"]).unwrap();
    fs::hard_link(at("file"), at("hard link")).unwrap();
    for names in [["file", "link"], ["link", "hard link"], ["new", "./new"], ["no/folder", "no/folder"]] {
        assert!(matches!(distinct(&names), Err(SaveError::SamePath { .. })), "{names:?}");
    }
}
