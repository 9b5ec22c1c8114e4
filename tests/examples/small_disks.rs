//! Trainings whose disk becomes full: a temporary file system in a mount namespace of its own. Where the machine allows no
//! mount, a line says that the test is left out.

use crate::program::built;
use crate::support::{file_names, temp_dir};
use std::process::{Command, Output};
use std::{fs, path::Path};

/// Mounts a disk of 480 kB, room for four checkpoints of 92 kB, starts the training, fills the disk when there is a
/// checkpoint, and copies what the disk has at the end: it goes with its processes.
const SCRIPT: &str = r#"
mount -t tmpfs -o size=480k none disk || exit 77
"$0" --steps 400 --batch 2 --checkpoint disk/ck --metrics disk/metrics --save disk/weights --report disk/report &
until [ -s disk/ck ]; do kill -0 $! || break; done
cat /dev/zero >disk/filler 2>/dev/null
wait $!
status=$?
rm disk/filler
cp -r disk/. copy
exit $status
"#;

/// The same for `training_run`, which has its files in one folder.
const SCRIPT_OF_TRAINING_RUN: &str = r#"
mount -t tmpfs -o size=8m none training_run || exit 77
"$0" &
until [ -s training_run/checkpoint ]; do kill -0 $! || break; done
cat /dev/zero >training_run/filler 2>/dev/null
wait $!
"#;

/// Runs a script as root of a mount namespace; `None` if the machine allows none.
fn run(script: &str, example: &str, folder: &Path, temporary: &Path) -> Option<Output> {
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", script]).arg(built(example));
    let run = command.current_dir(folder).env("TMPDIR", temporary).output().ok();
    let run = run.filter(|run| run.status.code() != Some(77) && !run.stderr.starts_with(b"unshare: "));
    if run.is_none() {
        println!("left out: this machine allows no mount");
    }
    run
}

#[test]
fn a_failed_last_file_does_not_hide_where_the_training_is_saved() {
    let (folder, temporary) = (temp_dir(), temp_dir());
    fs::create_dir(folder.path().join("training_run")).unwrap();
    let Some(run) = run(SCRIPT_OF_TRAINING_RUN, "training_run", folder.path(), temporary.path()) else { return };
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(!run.status.success() && said.lines().last().unwrap().contains("model.safetensors"), "{said}");
    let (_, path) = said.split_once("; the training is saved at ").expect(&said);
    assert!(Path::new(path.lines().next().unwrap()).is_file(), "{said}");
}

#[test]
fn a_full_disk_costs_no_result() {
    let (folder, temporary) = (temp_dir(), temp_dir());
    for name in ["disk", "copy"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    let Some(run) = run(SCRIPT, "train_rot13", folder.path(), temporary.path()) else { return };
    let (said, shown) = (String::from_utf8_lossy(&run.stderr), String::from_utf8_lossy(&run.stdout));
    assert_eq!(run.status.code(), Some(1), "{said}");
    assert!(shown.contains(" of 1000 fresh random words decoded exactly"), "{said}");
    let last = said.lines().last().unwrap();
    for failed in
        ["; the training is saved at ", "; the weights are saved at ", "cannot write disk/metrics: No space left"]
    {
        assert!(last.contains(failed), "{failed}: {said}");
    }
    // Weights and checkpoint are at the second place.
    let rescued = |what: &str| {
        let (_, path) = last.split_once(what).unwrap();
        Path::new(path.split("; ").next().unwrap()).to_path_buf()
    };
    let copy = |name: &str| folder.path().join("copy").join(name);
    let [training, weights] = ["; the training is saved at ", "; the weights are saved at "].map(rescued);
    // The checkpoint on the disk is whole: the training goes on from it and from the rescued one.
    for (checkpoint, step) in [(copy("ck"), None), (training, Some(400))] {
        let mut resume = Command::new(built("train_rot13"));
        resume.args(["--steps", "400", "--batch", "2", "--metrics", "metrics", "--checkpoint-every", "0", "--resume"]);
        let resumed = resume.arg(checkpoint).current_dir(temporary.path()).output().unwrap();
        let said = String::from_utf8_lossy(&resumed.stderr).into_owned();
        assert!(!said.contains("goes on from") && !said.contains("cannot"), "{said}");
        assert_eq!(step.is_none(), said.contains("step 400/400"), "{said}");
    }
    let loaded = Command::new(built("train_rot13")).arg("--load").arg(weights).arg("hey").output().unwrap();
    assert!(String::from_utf8_lossy(&loaded.stdout).starts_with("given plain"));
    let left: Vec<String> = file_names(&temporary).into_iter().filter(|name| name.ends_with(".partial")).collect();
    assert_eq!(left, [""; 0]);
}
