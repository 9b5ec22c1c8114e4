//! Starts examples under `mpirun`.

use crate::{profile, support::signal};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{env, fs, mem};
use tempfile::TempDir;

/// Longer than any run takes on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(300);

/// The variable that names the folder of a test to its ranks.
const FOLDER: &str = "TYPED_TRANSFORMER_TEST_FOLDER";

/// The folder of the examples, built with the features and in the profile of this test. `cargo test` has built them.
static EXAMPLES: LazyLock<TempDir> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let (profile, profile_name) = profile::folder_and_name();
    let names = ["train_on_ranks", "train_sequences", "train_shakespeare"];
    // With others Cargo would build dfdx and the library once more.
    let features = [("mpi", true), ("f16", cfg!(feature = "f16")), ("tokenizers", cfg!(feature = "tokenizers"))];
    let features: Vec<_> = features.into_iter().filter(|(_, is_on)| *is_on).map(|(name, _)| name).collect();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--profile", &profile_name, "--features", &features.join(","), "--target-dir"]);
    cargo.arg(profile.parent().unwrap()).env_remove("CARGO_BUILD_TARGET");
    cargo.args(names.iter().flat_map(|name| ["--example", name])).current_dir(root);
    assert!(cargo.status().unwrap().success(), "the examples do not build with the feature `mpi`");
    // Copies, because a build without the feature replaces the programs.
    let copies = crate::support::temp_dir();
    for name in names {
        fs::copy(profile.join("examples").join(name), copies.path().join(name)).unwrap();
    }
    copies
});

/// A program that runs on several ranks.
pub struct Job {
    mpirun: Child,
    stdout: JoinHandle<String>,
    stderr: JoinHandle<String>,
    until: Instant,
}

/// The outcome of a run.
pub struct Run {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// Starts an example on `ranks` ranks of one thread each, in `folder`.
pub fn start(example: &str, ranks: usize, folder: &TempDir, args: &[&str]) -> Job {
    start_with(mpirun(ranks), example, folder, args)
}

/// [`start`], but the launcher gives the ranks this time to end after a signal or after the failure of one of them.
/// [`start`] gives them one second, twice.
pub fn start_with_grace(seconds: u32, example: &str, ranks: usize, folder: &TempDir, args: &[&str]) -> Job {
    let mut mpirun = mpirun(ranks);
    mpirun.args(["--mca", "odls_base_sigkill_timeout", &seconds.to_string()]);
    start_with(mpirun, example, folder, args)
}

fn start_with(mut mpirun: Command, example: &str, folder: &TempDir, args: &[&str]) -> Job {
    // If a file becomes too long for `Job::fill_disk`, that is an error of the write, not a signal.
    mpirun.args(["sh", "-c", "trap '' XFSZ; exec \"$0\" \"$@\""]);
    mpirun.arg(EXAMPLES.path().join(example)).args(args).current_dir(folder.path());
    Job::start(mpirun)
}

/// Runs one rank of each of these examples, with its arguments, to their end.
pub fn run_each(programs: &[(&str, &str)], folder: &TempDir) -> Run {
    let mut mpirun = mpirun(1);
    for (index, (example, args)) in programs.iter().enumerate() {
        if index > 0 {
            mpirun.args([":", "-n", "1"]);
        }
        mpirun.arg(EXAMPLES.path().join(example)).args(args.split_whitespace());
    }
    mpirun.current_dir(folder.path());
    Job::start(mpirun).end()
}

/// Starts an example on two ranks, of which the second begins some seconds after the first.
pub fn start_late(seconds: u32, example: &str, folder: &TempDir, args: &[&str]) -> Job {
    let (mut mpirun, program) = (mpirun(1), EXAMPLES.path().join(example));
    mpirun.arg(&program).args(args).args([":", "-n", "1", "sh", "-c"]);
    mpirun.arg(format!("sleep {seconds}; exec \"$0\" \"$@\"")).arg(program).args(args).current_dir(folder.path());
    Job::start(mpirun)
}

fn mpirun(ranks: usize) -> Command {
    let mut mpirun = Command::new("mpirun");
    // More ranks than processors are allowed.
    mpirun.args(["--oversubscribe", "-n", &ranks.to_string()]);
    mpirun.env("RAYON_NUM_THREADS", "1").env("OMPI_ALLOW_RUN_AS_ROOT", "1");
    mpirun.env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    // On one machine UCX and OFI are not needed, and opening them takes a third of a start.
    mpirun.env("OMPI_MCA_pml", "ob1");
    mpirun
}

/// Runs `body` of the test `test` on each of some numbers of ranks: every rank is this test again, under `mpirun`.
/// `prepare` writes to the folder that all share.
pub fn on_ranks(test: &str, counts: &[usize], prepare: impl Fn(&Path), body: impl FnOnce(&Path)) {
    if let Some(folder) = env::var_os(FOLDER) {
        return body(Path::new(&folder));
    }
    let folder = crate::support::temp_dir();
    prepare(folder.path());
    for &ranks in counts {
        let mut mpirun = mpirun(ranks);
        mpirun.arg(env::current_exe().unwrap()).args(["--exact", test, "--nocapture"]).env(FOLDER, folder.path());
        let run = Job::start(mpirun).end();
        assert_eq!(run.code, Some(0), "{ranks} ranks: {}{}", run.stdout, run.stderr);
        assert_eq!(run.stdout.matches("1 passed").count(), ranks, "{}", run.stdout);
    }
}

fn read(mut stream: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    })
}

/// Runs an example to its end.
pub fn run(example: &str, ranks: usize, folder: &TempDir, args: &[&str]) -> Run {
    start(example, ranks, folder, args).end()
}

impl Job {
    fn start(mut mpirun: Command) -> Self {
        mpirun.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut mpirun = mpirun.spawn().expect("`apt-get install openmpi-bin` installs mpirun");
        let (stdout, stderr) = (mpirun.stdout.take().unwrap(), mpirun.stderr.take().unwrap());
        Self { mpirun, stdout: read(stdout), stderr: read(stderr), until: Instant::now() + TIMEOUT }
    }

    /// Waits until all ranks have ended.
    pub fn end(mut self) -> Run {
        let code = loop {
            if let Some(status) = self.mpirun.try_wait().unwrap() {
                break status.code();
            }
            if Instant::now() > self.until {
                self.kill_all();
                panic!("timed out: {}", self.stderr.join().unwrap());
            }
            thread::sleep(Duration::from_millis(5));
        };
        Run { code, stdout: self.stdout.join().unwrap(), stderr: self.stderr.join().unwrap() }
    }

    fn kill_all(&mut self) {
        for &pid in self.ranks().values() {
            // It may be gone.
            signal("KILL", pid);
        }
        self.mpirun.kill().unwrap();
    }

    /// The process of each rank.
    pub fn ranks(&self) -> std::collections::BTreeMap<usize, u32> {
        let parent = self.mpirun.id();
        let processes =
            fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        let rank_of = |pid: u32| -> Option<usize> {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
            if fields.nth(1)?.parse() != Ok(parent) {
                return None;
            }
            let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
            let name = b"OMPI_COMM_WORLD_RANK=";
            let value = environment.split(|&byte| byte == 0).find_map(|variable| variable.strip_prefix(name))?;
            str::from_utf8(value).ok()?.parse().ok()
        };
        processes.filter_map(|pid| Some((rank_of(pid)?, pid))).collect()
    }

    /// The process that started the ranks.
    pub fn launcher(&self) -> u32 {
        self.mpirun.id()
    }

    /// From now on, a rank can write no file beyond this length, as on a full disk.
    pub fn fill_disk(&self, rank: usize, max_len_bytes: usize) {
        let (pid, limit) = (self.ranks()[&rank].to_string(), format!("--fsize={max_len_bytes}"));
        assert!(Command::new("prlimit").args(["--pid", &pid, &limit]).status().unwrap().success());
    }

    /// Waits until the metrics file has this many lines.
    pub fn wait_for_lines(&mut self, metrics: &Path, lines: usize) {
        while metrics_of(metrics).len() < lines {
            assert!(Instant::now() < self.until, "no steps within the time limit");
            if self.mpirun.try_wait().unwrap().is_some() {
                let stderr = mem::replace(&mut self.stderr, thread::spawn(String::new));
                panic!("it ended early: {}", stderr.join().unwrap());
            }
            thread::sleep(Duration::from_millis(2));
        }
    }
}

/// The complete lines of a metrics file.
pub fn metrics_of(path: &Path) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The losses in a metrics file.
pub fn losses(folder: &TempDir, name: &str) -> Vec<f64> {
    let path: PathBuf = folder.path().join(name);
    metrics_of(&path).iter().map(|line| line["loss"].as_f64().unwrap()).collect()
}
