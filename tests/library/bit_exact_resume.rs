//! A training run that was stopped and resumed is bit-exact, however it was stopped, and a checkpoint of
//! another training run is refused.

use crate::support::{Tensors, file_names, sealed_file, temp_dir, tensors_of};
use dfdx::nn::BuildModule;
use dfdx::tensor::{AsArray, Cpu};
use rand::{Rng, RngCore, SeedableRng, rngs::StdRng};
use safetensors::Dtype;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::Duration;
use std::{fs, thread};
use tempfile::TempDir;
use typed_transformer::nn::Linear;
use typed_transformer::ops::{mean, sub};
use typed_transformer::prelude::*;
use typed_transformer::ranks::Element;
use typed_transformer::train::{
    Adam, AdamW, Batches, GroupRates, InverseSqrt, Metrics, MovingAverage, Optimizer, ResumeError, Schedule, Sgd,
    TrainError, Trainer,
};
use typed_transformer::weights;

// Every dimension has its own size, so that confusing two of them fails.
dims! {
    SrcVocab = 7; TgtVocab = 9; MaxSrcLen = 5; MaxTgtLen = 6; EmbedDim = 4; NumHeads = 3;
    QKDim = 8; VODim = 10; HiddenDim = 11; NumLayers = 1; Batch = 2; OtherVocab = 9; LongTgtLen = 12;
    MoreLayers = 2; NoLayers = 0;
}

macro_rules! model {
    ($name:ident: $vocab:ty, $len:ty, $layers:ty) => {
        struct $name;
        impl Arch for $name {
            type NumHeads = NumHeads;
            type QKDim = QKDim;
            type VODim = VODim;
            type HiddenDim = HiddenDim;
            type Conventions = TypedTransformer;
            const DROPOUT: f64 = 0.2;
            const ATTENTION_DROPOUT: f64 = 0.1;
        }
        impl Seq2Seq for $name {
            type SrcVocab = SrcVocab;
            type TgtVocab = $vocab;
            type MaxSrcLen = MaxSrcLen;
            type MaxTgtLen = $len;
            type EmbedDim = EmbedDim;
            type NumEncoderLayers = $layers;
            type NumDecoderLayers = NumLayers;
        }
    };
}
model!(Small: TgtVocab, MaxTgtLen, NumLayers);
model!(Renamed: OtherVocab, MaxTgtLen, NumLayers);
model!(Longer: TgtVocab, LongTgtLen, NumLayers);
model!(Deeper: TgtVocab, MaxTgtLen, MoreLayers);
model!(Shallower: TgtVocab, MaxTgtLen, NoLayers);
model!(Twin: TgtVocab, MaxTgtLen, NumLayers);

type Model<E = f32> = LM<Small, E, Cpu>;

const RATE: f64 = 0.01;
const SEED: u64 = 5;

fn trainer<O, S: Schedule>(optimizer: O, schedule: S) -> Trainer<O, S> {
    let mut trainer = Trainer::new(optimizer, schedule, usize::MAX, SEED);
    trainer.clip_norm = 1.0;
    trainer.require_same("the batch", Batch::SIZE);
    trainer
}

/// One step on random tokens.
fn step<O: Optimizer<Model<E>, E>, S: Schedule, E: Element>(
    trainer: &mut Trainer<O, S>,
    model: &mut Model<E>,
) -> Result<(), TrainError>
where
    Cpu: Backend<E>,
{
    let mut step = trainer.next_step().expect("not at its end");
    let mut ids = |vocab, count| -> Vec<usize> { (0..count).map(|_| step.rng.gen_range(0..vocab)).collect() };
    let source = ids(SrcVocab::SIZE, Batch::SIZE * MaxSrcLen::SIZE);
    let source = TokenIds::from_ids(&source, None, (Batch, MaxSrcLen)).unwrap();
    let target = ids(TgtVocab::SIZE, Batch::SIZE * MaxTgtLen::SIZE);
    let target = TokenIds::from_ids(&target, None, (Batch, MaxTgtLen)).unwrap();
    let (inputs, labels) = target.teacher_forcing(Fin::literal::<0>());
    let output = model.forward(&source, &inputs, model.recording()).unwrap();
    let loss = cross_entropy(output.logit_output, &labels, Reduction::MeanAll).unwrap();
    let value = loss.array().to_f64().unwrap();
    trainer.record_best(value);
    let tokens = inputs.as_slice().len();
    trainer.update(model, loss.backward().unwrap(), value, tokens).map(drop)
}

/// A new model, trained without a stop until `steps` steps are done.
fn train_until<O: Optimizer<Model<E>, E>, S: Schedule, E: Element>(
    trainer: &mut Trainer<O, S>,
    steps: usize,
) -> Model<E>
where
    Cpu: Backend<E>,
{
    let mut model = Model::build(&Cpu::seed_from_u64(1));
    while trainer.steps_made() < steps {
        step(trainer, &mut model).unwrap();
    }
    model
}

/// Saves a training run after 3 steps and returns the file's bytes.
fn saved(folder: &TempDir) -> Vec<u8> {
    let path = folder.path().join("checkpoint");
    let mut trainer = trainer(Adam::default(), RATE);
    let model: Model = train_until(&mut trainer, 3);
    trainer.save(&model, &path).unwrap();
    fs::read(path).unwrap()
}

// ---- Resuming ----

/// Trains 12 steps without a stop, and 12 steps with stops after some of them. The checkpoints, and with
/// them model, optimizer and best loss, are equal bit by bit.
#[track_caller]
fn assert_resume_is_bit_exact<O: Optimizer<Model<E>, E>, S: Schedule + Copy, E: Element>(
    optimizer: impl Fn() -> O,
    schedule: S,
) where
    Cpu: Backend<E>,
{
    let folder = temp_dir();
    let (uninterrupted_path, resumed_path) = (folder.path().join("uninterrupted"), folder.path().join("resumed"));
    let mut uninterrupted = trainer(optimizer(), schedule);
    let model = train_until(&mut uninterrupted, 12);
    uninterrupted.save(&model, &uninterrupted_path).unwrap();

    let mut first = trainer(optimizer(), schedule);
    let model = train_until(&mut first, 0);
    first.save(&model, &resumed_path).unwrap();
    for (stop, from) in [(1, 0), (5, 1), (12, 5)] {
        let mut resumed = trainer(optimizer(), schedule);
        // Earlier random numbers of the device and earlier steps of the trainer have no effect.
        let device = Cpu::seed_from_u64(100 + stop as u64);
        let _: Model<E> = train_until(&mut resumed, 2);
        let mut model: Model<E> = resumed.resume(&resumed_path, &device).unwrap();
        assert_eq!(resumed.steps_made(), from);
        while resumed.steps_made() < stop {
            step(&mut resumed, &mut model).unwrap();
        }
        resumed.save(&model, &resumed_path).unwrap();
    }
    assert!(fs::read(uninterrupted_path).unwrap() == fs::read(resumed_path).unwrap());
}

#[test]
fn a_resumed_training_is_bit_exact() {
    let schedule = InverseSqrt { width: EmbedDim::SIZE, warmup_steps: 8 };
    assert_resume_is_bit_exact::<Sgd<Model, f32>, _, f32>(Sgd::default, RATE);
    let momentum = || Sgd { momentum: 0.9, ..Sgd::default() };
    assert_resume_is_bit_exact::<Sgd<Model, f32>, _, f32>(momentum, schedule);
    assert_resume_is_bit_exact::<Adam<Model, f32>, _, f32>(Adam::default, schedule);
    assert_resume_is_bit_exact::<AdamW<Model, f32>, _, f32>(AdamW::default, schedule);
    assert_resume_is_bit_exact::<AdamW<Model<f64>, f64>, _, f64>(AdamW::default, schedule);
}

/// Otherwise the test above would not cover dropout and batches.
#[test]
fn randomness_depends_only_on_seed_and_step() {
    let weights = |seed, device| {
        let mut trainer = Trainer::new(Sgd::default(), RATE, 3, seed);
        let mut model: Model = Model::build(&Cpu::seed_from_u64(device));
        // The same parameters on a device with another random state.
        let start: Model = Model::build(&Cpu::seed_from_u64(1));
        let folder = temp_dir();
        weights::save(&start, folder.path().join("start")).unwrap();
        model =
            weights::load(folder.path().join("start"), model.encoder.embedder.token_embedder.weight.device()).unwrap();
        while trainer.steps_made() < 3 {
            step(&mut trainer, &mut model).unwrap();
        }
        model.encoder.embedder.token_embedder.weight.as_vec()
    };
    assert_eq!(weights(1, 2), weights(1, 3));
    assert_ne!(weights(1, 2), weights(2, 2));

    let mut trainer = trainer(Sgd::<Model, f32>::default(), RATE);
    let first = trainer.next_step().unwrap().rng.next_u64();
    assert_eq!(trainer.next_step().unwrap().rng.next_u64(), first, "the same step");
    train_until(&mut trainer, 1);
    assert_ne!(trainer.next_step().unwrap().rng.next_u64(), first, "the next one");
}

#[module(output = HiddenDim)]
struct Byol<E, D> {
    online: Linear<EmbedDim, HiddenDim, E, D>,
    target: Linear<EmbedDim, HiddenDim, E, D>,
}

/// A training that reads an average of its parameters, stopped after some of its steps.
fn trained_on_an_average(stops: &[usize]) -> Vec<u8> {
    let folder = temp_dir();
    let (path, device) = (folder.path().join("checkpoint"), Cpu::default());
    for &stop in stops {
        let optimizer = GroupRates::new(Adam::default(), |p| if p.path.starts_with("target") { 0.0 } else { 1.0 });
        let mut trainer = Trainer::new(optimizer, RATE, stop, SEED);
        let mut model: Byol<f32, Cpu> = match path.exists() {
            true => trainer.resume(&path, &device).unwrap(),
            false => Byol::build(&Cpu::seed_from_u64(1)),
        };
        trainer.checkpoint_every(&path, 1).unwrap();
        while let Some(mut step) = trainer.next_step() {
            if step.number > 0 {
                let mut average = MovingAverage::new(&model.target, 0.9);
                average.add(&model.online).unwrap();
                model.target = average.model().clone();
            }
            let x: Vec<f32> = (0..Batch::SIZE * EmbedDim::SIZE).map(|_| step.rng.r#gen()).collect();
            let x: Tensor<(Batch, EmbedDim), f32, Cpu> = tensor(&device, x, (Batch, EmbedDim)).unwrap();
            let target = model.target.forward(x.clone()).unwrap();
            let online = model.online.forward(x.put_tape(model.recording())).unwrap();
            let difference = sub(online, target).unwrap();
            let loss = mean(mul(difference.clone(), difference).unwrap()).unwrap();
            trainer.learn(&mut model, loss, Batch::SIZE).unwrap();
        }
    }
    fs::read(path).unwrap()
}

#[test]
fn an_average_that_the_training_reads_is_a_field_of_its_model() {
    assert!(trained_on_an_average(&[3, 4, 6]) == trained_on_an_average(&[6]));
}

#[module(output = OtherVocab)]
struct Classifier<E, D> {
    encoder: Linear<EmbedDim, HiddenDim, E, D>,
    head: Linear<HiddenDim, OtherVocab, E, D>,
}

/// A training of a published encoder below a new head, stopped after some of its steps. Each start loads the encoder if
/// `reloads` is true; otherwise only the first one does.
fn fine_tuned(stops: &[usize], reloads: bool) -> Vec<u8> {
    let folder = temp_dir();
    let [path, published] = ["checkpoint", "published"].map(|name| folder.path().join(name));
    let device = Cpu::default();
    weights::save(&Linear::<EmbedDim, HiddenDim, f32, Cpu>::build(&Cpu::seed_from_u64(2)), &published).unwrap();
    for &stop in stops {
        let mut trainer = Trainer::new(Adam::default(), RATE, stop, SEED);
        let new = || Classifier::<f32, Cpu>::build(&Cpu::seed_from_u64(1));
        let mut model = trainer.resume_or(&path, &device, new).unwrap();
        if trainer.steps_made() == 0 || reloads {
            model.encoder = weights::load(&published, &device).unwrap();
        }
        trainer.checkpoint_every(&path, 1).unwrap();
        while let Some(mut step) = trainer.next_step() {
            let x: Vec<f32> = (0..Batch::SIZE * EmbedDim::SIZE).map(|_| step.rng.r#gen()).collect();
            let x: Tensor<(Batch, EmbedDim), f32, Cpu> = tensor(&device, x, (Batch, EmbedDim)).unwrap();
            let states = model.encoder.forward(x.put_tape(model.recording())).unwrap();
            let logits = model.head.forward(states).unwrap();
            let labels = Indices::new(&[0, 1], (Batch,), OtherVocab).unwrap();
            let loss = cross_entropy(logits, &labels, Reduction::MeanAll).unwrap();
            trainer.learn(&mut model, loss, Batch::SIZE).unwrap();
        }
    }
    fs::read(path).unwrap()
}

/// As the documentation of `resume_or` says.
#[test]
fn published_weights_are_loaded_into_a_new_model_alone() {
    let uninterrupted = fine_tuned(&[6], false);
    assert!(fine_tuned(&[3, 4, 6], false) == uninterrupted);
    assert!(fine_tuned(&[3, 4, 6], true) != uninterrupted);
}

// ---- Killed processes ----

const TARGET: &str = "TYPED_TRANSFORMER_TEST_TARGET";

fn adamw() -> Trainer<AdamW<Model, f32>, InverseSqrt> {
    trainer(AdamW::default(), InverseSqrt { width: EmbedDim::SIZE, warmup_steps: 8 })
}

/// This test again, in a process of its own.
fn rerun(test: &str, target: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test]).env(TARGET, target);
    command
}

#[test]
fn a_training_killed_fifty_times_is_bit_exact() {
    const TEST: &str = "bit_exact_resume::a_training_killed_fifty_times_is_bit_exact";
    if let Some(target) = std::env::var_os(TARGET) {
        let mut trainer = adamw();
        let mut model: Model = match Path::new(&target).exists() {
            true => trainer.resume(&target, &Cpu::default()).unwrap(),
            false => train_until(&mut trainer, 0),
        };
        trainer.checkpoint_every(&target, 1).unwrap();
        loop {
            step(&mut trainer, &mut model).unwrap();
        }
    }

    let folder = temp_dir();
    let path = folder.path().join("checkpoint");
    let mut rng = StdRng::seed_from_u64(1);
    let mut seen = 0;
    for _ in 0..50 {
        // After some more steps, however long they take, and then at any moment.
        let enough = seen + rng.gen_range(0..4);
        let mut child = rerun(TEST, &path).stdout(Stdio::null()).spawn().unwrap();
        loop {
            if path.exists() {
                let mut reader = adamw();
                let _: Model = reader.resume(&path, &Cpu::default()).unwrap();
                assert!(reader.steps_made() >= seen, "a step that was saved is lost");
                seen = reader.steps_made();
            }
            if seen >= enough {
                break;
            }
            assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
            thread::sleep(Duration::from_millis(7));
        }
        thread::sleep(Duration::from_millis(rng.gen_range(0..100)));
        child.kill().unwrap();
        child.wait().unwrap();
    }

    let mut trainer = adamw();
    let mut model: Model = trainer.resume(&path, &Cpu::default()).unwrap();
    trainer.checkpoint_every(&path, 1).unwrap();
    step(&mut trainer, &mut model).unwrap();
    let kept = ["checkpoint", "checkpoint.best", "checkpoint.lock", "checkpoint.previous-1"];
    assert_eq!(file_names(&folder), kept, "files are left over");
    let mut uninterrupted = adamw();
    let model = train_until(&mut uninterrupted, trainer.steps_made());
    uninterrupted.save(&model, folder.path().join("uninterrupted")).unwrap();
    assert!(fs::read(path).unwrap() == fs::read(folder.path().join("uninterrupted")).unwrap());
}

// ---- Failed writes ----

/// Runs this test again in a process that may write only a few hundred bytes per file, as on a full
/// disk.
#[cfg(unix)]
#[test]
fn a_full_disk_keeps_the_older_checkpoint() {
    const TEST: &str = "bit_exact_resume::a_full_disk_keeps_the_older_checkpoint";
    if let Some(target) = std::env::var_os(TARGET) {
        let mut trainer = trainer(Adam::default(), RATE);
        let mut model: Model = trainer.resume(&target, &Cpu::default()).unwrap();
        trainer.checkpoint_every(&target, 1).unwrap();
        // The steps are made nevertheless, and the training can continue.
        for made in [4, 5] {
            step(&mut trainer, &mut model).unwrap();
            assert_eq!(trainer.steps_made(), made);
            let [error @ TrainError::Save { saved_at: None, .. }] = trainer.failures() else {
                panic!("{:?}", trainer.failures());
            };
            let expected =
                format!("cannot write {}: File too large", Path::new(&target).canonicalize().unwrap().display());
            assert!(error.to_string().starts_with(&expected), "{error}");
        }
        assert!(matches!(trainer.finish(), Err(TrainError::Save { .. })));
        return;
    }
    let folder = temp_dir();
    let (before, path) = (saved(&folder), folder.path().join("checkpoint"));
    let child = rerun(TEST, &path);
    let output = Command::new("sh")
        // With the signal ignored, exceeding the limit is an error of the write.
        .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\""])
        .arg(child.get_program())
        .args(child.get_args())
        .env(TARGET, &path)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    assert!(fs::read(&path).unwrap() == before);
    // The only one is the best one.
    assert_eq!(file_names(&folder), ["checkpoint", "checkpoint.best"], "files are left over");
}

#[test]
fn a_model_with_nan_is_not_saved() {
    let folder = temp_dir();
    let (before, path) = (saved(&folder), folder.path().join("checkpoint"));
    let mut trainer = trainer(Adam::default(), RATE);
    let mut model: Model = train_until(&mut trainer, 1);
    model.logit.bias = Some(Cpu::default().tensor(vec![f32::NAN; TgtVocab::SIZE]));
    let error = trainer.save(&model, &path).unwrap_err();
    let text = "`model.logit.bias` holds NaN at position 0";
    assert_eq!(error.to_string(), format!("cannot write {}: {text}", path.display()));
    // A step with such a loss is refused too.
    let error = step(&mut trainer, &mut model).unwrap_err();
    assert_eq!(error.to_string(), "the loss is NaN at step 1");
    assert_eq!(trainer.steps_made(), 1);
    assert!(fs::read(&path).unwrap() == before);
}

#[test]
fn non_finite_gradients_leave_the_model_unchanged() {
    let mut trainer = trainer(Adam::default(), RATE);
    let mut model: Model = train_until(&mut trainer, 1);
    let before = model.logit.bias.as_ref().unwrap().as_vec();
    let step = trainer.next_step();
    let loss = model.logit.bias.clone().unwrap().put_tape(model.recording()) * f32::INFINITY;
    let gradients = dfdx::tensor_ops::SumTo::sum::<(), _>(loss).backward().unwrap();
    let error = trainer.update(&mut model, gradients, 1.0, 1).unwrap_err();
    assert_eq!(error.to_string(), "the gradients are not finite (norm inf) at step 1");
    assert_eq!(model.logit.bias.as_ref().unwrap().as_vec(), before);
    assert_eq!((trainer.steps_made(), step.unwrap().number), (1, 1));
}

#[test]
fn an_unwritable_checkpoint_path_is_an_error_before_training() {
    let folder = temp_dir();
    let mut trainer = trainer(Sgd::<Model, f32>::default(), RATE);
    let path = folder.path().join("no/folder");
    let error = trainer.checkpoint_every(&path, 1).unwrap_err().to_string();
    assert!(error.starts_with(&format!("cannot write {}: ", path.display())), "{error}");
}

#[test]
fn only_partial_checkpoints_are_removed() {
    let folder = temp_dir();
    let others = ["checkpoint..partial", "checkpoint.1.partial.bak", "checkpoint.x.partial", "my.checkpoint.0.partial"];
    for name in others.iter().chain(&["checkpoint.0.partial", "checkpoint.17.partial"]) {
        fs::write(folder.path().join(name), "").unwrap();
    }
    let mut trainer = trainer(Sgd::<Model, f32>::default(), RATE);
    trainer.checkpoint_every(folder.path().join("checkpoint"), 1).unwrap();
    let lock = folder.path().join("checkpoint.lock");
    assert_eq!(fs::read_to_string(&lock).unwrap(), std::process::id().to_string());
    drop(trainer);
    assert_eq!(file_names(&folder), others);
}

// ---- When a training run is saved and when it ends ----

#[test]
fn a_checkpoint_is_saved_at_every_interval_and_at_the_end() {
    let folder = temp_dir();
    let path = folder.path().join("checkpoint");
    let mut trainer = Trainer::new(Sgd::default(), RATE, 5, SEED);
    trainer.checkpoint_every(&path, 2).unwrap();
    let mut model: Model = train_until(&mut trainer, 0);
    let step_in_file = || {
        let mut reader = Trainer::new(Sgd::default(), RATE, 5, SEED);
        let _: Model = reader.resume(&path, &Cpu::default()).ok()?;
        Some(reader.steps_made())
    };
    let mut seen = Vec::new();
    while trainer.steps_made() < 5 {
        step(&mut trainer, &mut model).unwrap();
        seen.push(step_in_file());
    }
    assert_eq!(seen, [None, Some(2), Some(2), Some(4), Some(5)]);
    assert!(trainer.next_step().is_none() && !trainer.stopped());
}

#[test]
fn a_stopped_training_finishes_its_step_and_saves() {
    let folder = temp_dir();
    let path = folder.path().join("checkpoint");
    let mut trainer = trainer(Sgd::default(), RATE);
    trainer.checkpoint_every(&path, 0).unwrap();
    let mut model: Model = train_until(&mut trainer, 2);
    assert!(!path.exists());
    trainer.stop.store(true, Ordering::Relaxed);
    step(&mut trainer, &mut model).unwrap();
    assert_eq!((trainer.steps_made(), trainer.stopped()), (3, true));
    assert!(trainer.next_step().is_none());
    let mut other = self::trainer(Sgd::default(), RATE);
    let _: Model = other.resume(&path, &Cpu::default()).unwrap();
    assert_eq!((other.steps_made(), other.stopped()), (3, false));
}

#[test]
fn the_best_loss_is_remembered() {
    let folder = temp_dir();
    let path = folder.path().join("checkpoint");
    let mut trainer = trainer(Sgd::default(), RATE);
    assert_eq!(trainer.best_loss(), f64::INFINITY);
    assert!(!trainer.record_best(f64::NAN));
    for (loss, improves) in [(0.3, true), (0.4, false), (0.3, false), (0.1 + 0.2 - 0.1, true)] {
        assert_eq!(trainer.record_best(loss), improves, "{loss}");
    }
    let model: Model = Model::build(&Cpu::default());
    trainer.save(&model, &path).unwrap();
    let mut other = self::trainer(Sgd::default(), RATE);
    let _: Model = other.resume(&path, &Cpu::default()).unwrap();
    assert_eq!(other.best_loss().to_bits(), (0.1 + 0.2 - 0.1f64).to_bits());
}

// ---- Metrics ----

#[test]
fn resumed_metrics_have_one_line_per_step() {
    let folder = temp_dir();
    let (path, checkpoint) = (folder.path().join("metrics"), folder.path().join("checkpoint"));
    let mut first = trainer(Adam::default(), RATE);
    first.metrics = Some(Metrics::open(&path, 0).unwrap());
    let mut model: Model = train_until(&mut first, 4);
    first.save(&model, &checkpoint).unwrap();
    // Two steps after the checkpoint; the last line is cut off.
    step(&mut first, &mut model).unwrap();
    first.metrics.as_mut().unwrap().log("validation_loss", 1.5);
    step(&mut first, &mut model).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, &text[..text.len() - 5]).unwrap();
    drop(first);

    let mut second = trainer(Adam::default(), RATE);
    let mut model: Model = second.resume(&checkpoint, &Cpu::default()).unwrap();
    second.metrics = Some(Metrics::open(&path, second.steps_made()).unwrap());
    while second.steps_made() < 7 {
        step(&mut second, &mut model).unwrap();
    }
    let lines = |text: &str| -> Vec<serde_json::Value> {
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let (before, after) = (lines(&text), lines(&fs::read_to_string(&path).unwrap()));
    assert_eq!(after.len(), 7);
    for (number, line) in after.iter().enumerate() {
        assert_eq!(line["step"], number + 1);
        assert_eq!(line["learning_rate"], 0.01);
        for name in ["loss", "gradient_norm"] {
            assert!(line[name].as_f64().unwrap() > 0.0, "{line}");
        }
        if let Some(before) = before.get(number) {
            assert_eq!((&line["loss"], &line["gradient_norm"]), (&before["loss"], &before["gradient_norm"]));
        }
    }
    assert_eq!(before[5]["validation_loss"], 1.5);
    assert_eq!(before[4].get("validation_loss"), None);
}

#[cfg(target_os = "linux")]
#[test]
fn an_unwritable_metrics_file_is_named_in_the_error() {
    let mut trainer = trainer(Adam::default(), RATE);
    let mut model: Model = train_until(&mut trainer, 1);
    let folder = temp_dir();
    assert!(Metrics::open(folder.path(), 0).is_err());
    trainer.metrics = Some(Metrics::open("/dev/full", 0).unwrap());
    trainer.checkpoint_every(folder.path().join("checkpoint"), 1).unwrap();
    step(&mut trainer, &mut model).unwrap();
    // The step is done and saved nevertheless, and so are the next ones.
    step(&mut trainer, &mut model).unwrap();
    assert_eq!(trainer.steps_made(), 3);
    assert!(folder.path().join("checkpoint.previous-1").exists());
    assert_eq!(trainer.failures().len(), 1);
    let error = trainer.finish().unwrap_err().to_string();
    assert!(error.starts_with("cannot write /dev/full: No space left"), "{error}");
}

#[test]
fn a_line_of_metrics_that_is_refused_costs_no_other() {
    let mut trainer = trainer(Adam::default(), RATE);
    let mut model: Model = train_until(&mut trainer, 1);
    let folder = temp_dir();
    let path = folder.path().join("metrics");
    trainer.metrics = Some(Metrics::open(&path, 1).unwrap());
    for _ in 2..=5 {
        step(&mut trainer, &mut model).unwrap();
        let metrics = trainer.metrics.as_mut().unwrap();
        metrics.log("loss", 1.0);
        metrics.log("accuracy", 0.5);
    }
    // The lines are those of the training alone, and a resumed training goes on with them.
    let lines = fs::read_to_string(&path).unwrap();
    assert_eq!((lines.lines().count(), lines.contains("accuracy")), (4, false), "{lines}");
    drop(trainer.metrics.take());
    assert_eq!(Metrics::open(&path, 5).unwrap().kept(), None);
    let errors: Vec<String> = trainer.failures().iter().map(ToString::to_string).collect();
    assert!(errors.len() == 1 && errors[0].ends_with("two values of step 3 are named `loss`"), "{errors:?}");
}

#[test]
fn a_step_report_has_progress_and_throughput() {
    let mut trainer = Trainer::new(Sgd::default(), RATE, 10, SEED);
    let mut model: Model = train_until(&mut trainer, 3);
    let begun = trainer.next_step().unwrap();
    thread::sleep(Duration::from_millis(20));
    let loss = cross_entropy(
        Cpu::default().zeros::<(Batch, MaxTgtLen, TgtVocab)>().put_tape(model.recording()),
        &LabelIds::from_ids(&[0; 12], None, (Batch, MaxTgtLen)).unwrap(),
        Reduction::MeanAll,
    )
    .unwrap();
    let gradients = loss.backward().unwrap().allow_unused(&model);
    let report = trainer.update(&mut model, gradients, 2.5, 12).unwrap();
    drop(begun);
    assert_eq!((report.steps_made, report.steps), (4, 10));
    assert_eq!((report.loss, report.learning_rate, report.gradient_norm), (2.5, 0.01, 0.0));
    // Four steps of 12 tokens each in at least 20 ms.
    assert!((1.0..2_400.0).contains(&report.tokens_per_second), "{report:?}");
    let seconds = 48.0 / report.tokens_per_second;
    assert!((report.time_left.as_secs_f64() - seconds * 6.0 / 4.0).abs() < 1e-6);
}

// ---- Files that are not a checkpoint of this training run ----

/// The error of resuming from these bytes. The trainer must be unchanged.
fn error_of(bytes: &[u8]) -> (ResumeError, String) {
    let folder = temp_dir();
    let path = folder.path().join("checkpoint");
    fs::write(&path, bytes).unwrap();
    let mut trainer = trainer(Adam::<Model, f32>::default(), RATE);
    let error = trainer.resume(&path, &Cpu::default()).map(drop).unwrap_err();
    assert_eq!((trainer.steps_made(), trainer.optimizer.state().steps()), (0, 0));
    let text = error.to_string();
    // Every message names the file.
    let text = text.replace(&path.display().to_string(), "FILE");
    assert!(text.contains("FILE"), "{text}");
    (error, text)
}

/// The error of resuming after a change to tensors and header. The checksums fit the change.
fn error_after(change: impl FnOnce(&mut Tensors, &mut String)) -> String {
    let (mut tensors, mut metadata) = tensors_of(&saved(&temp_dir()));
    change(&mut tensors, metadata.get_mut("training").unwrap());
    error_of(&sealed_file(&tensors, &metadata)).1
}

#[test]
fn a_checkpoint_of_another_model_names_the_dimension() {
    fn error<A>(folder: &TempDir) -> String
    where
        A: Seq2Seq,
    {
        let mut trainer = trainer(Adam::<LM<A, f32, Cpu>, f32>::default(), RATE);
        let resumed = trainer.resume(folder.path().join("checkpoint"), &Cpu::default());
        let text = resumed.map(drop).unwrap_err().to_string();
        text.replace(&folder.path().display().to_string(), "")
    }
    let folder = temp_dir();
    saved(&folder);
    assert_eq!(
        error::<Renamed>(&folder),
        "/checkpoint: dimension 0 of `model.decoder.embedder.token_embedder.weight` should be OtherVocab=9 but is TgtVocab=9"
    );
    assert_eq!(
        error::<Longer>(&folder),
        "/checkpoint: dimension 0 of `model.decoder.embedder.position_embedder.weight` should be LongTgtLen=12 but is MaxTgtLen=6"
    );
    assert_eq!(
        error::<Deeper>(&folder),
        "/checkpoint: `model.encoder.encoder.layers.1.self_attention.attention.query_proj.weight` (Product<NumHeads, QKDim>=24, EmbedDim=4) is missing"
    );
    assert_eq!(
        error::<Shallower>(&folder),
        "/checkpoint: `model.encoder.encoder.layers.0.self_attention.attention.query_proj.weight` is in the file but not in the model"
    );
    // All dimensions agree, but the type differs.
    assert_eq!(error::<Twin>(&folder), "/checkpoint: the model should be LM<Twin> but is LM<Small>");
}

#[test]
fn a_checkpoint_of_another_training_names_the_setting() {
    fn error<O: Optimizer<Model, f32>, S: Schedule>(mut trainer: Trainer<O, S>) -> String {
        let folder = temp_dir();
        saved(&folder);
        let resumed: Result<Model, _> = trainer.resume(folder.path().join("checkpoint"), &Cpu::default());
        assert_eq!(trainer.steps_made(), 0);
        let text = resumed.unwrap_err().to_string();
        text.replace(&folder.path().join("checkpoint").display().to_string(), "FILE")
    }
    const ADAM: &str = "Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8 }";
    assert_eq!(
        error(trainer(AdamW::default(), RATE)),
        format!("FILE: the optimizer should be AdamW {{ weight_decay: 0.01, adam: {ADAM} }} but is {ADAM}")
    );
    assert_eq!(
        error(trainer(Sgd::default(), RATE)),
        format!("FILE: the optimizer should be Sgd {{ momentum: 0.0 }} but is {ADAM}")
    );
    assert_eq!(error(trainer(Adam::default(), 0.02)), "FILE: the schedule should be 0.02 but is 0.01");
    let mut unclipped = trainer(Adam::default(), RATE);
    unclipped.clip_norm = f64::INFINITY;
    assert_eq!(error(unclipped), "FILE: the clip norm should be inf but is 1");
    let mut other = Trainer::new(Adam::default(), RATE, 9, 6);
    other.clip_norm = 1.0;
    other.require_same("the batch", 2);
    assert_eq!(error(other), "FILE: the random generator should be ChaCha8 with seed 6 but is ChaCha8 with seed 5");
    let mut other = Trainer::new(Adam::default(), RATE, 9, SEED);
    other.clip_norm = 1.0;
    assert_eq!(error(other), "FILE: the batch should be absent but is 2");
    let mut other = trainer(Adam::default(), RATE);
    other.require_same("the data", "shakespeare");
    assert_eq!(error(other), "FILE: the data should be shakespeare but is absent");
    let mut other = trainer(Adam::default(), RATE);
    other.require_same("the batches", Batches::new(5, 2, 1).unwrap());
    let batches = "5 examples in batches of 2, in the order of seed 1";
    assert_eq!(error(other), format!("FILE: the batches should be {batches} but is absent"));
}

#[test]
fn every_value_of_a_setting_is_compared() {
    let folder = temp_dir();
    let path = folder.path().join("checkpoint");
    let trainer_on = |texts: [&str; 2]| {
        let mut trainer = trainer(Adam::default(), RATE);
        texts.iter().for_each(|text| trainer.require_same("the text", text));
        trainer
    };
    let mut first = trainer_on(["a", "c"]);
    let model: Model = train_until(&mut first, 1);
    first.save(&model, &path).unwrap();
    let other: Result<Model, _> = trainer_on(["b", "c"]).resume(&path, &Cpu::default());
    let error = other.unwrap_err().to_string();
    assert_eq!(error, format!("{}: the text should be b and c but is a and c", path.display()));
    let _: Model = trainer_on(["a", "c"]).resume(&path, &Cpu::default()).unwrap();
}

#[test]
fn a_wrong_tensor_in_a_checkpoint_is_named_in_the_error() {
    const BIAS: &str = "optimizer.exp_avg_sq.logit.bias";
    for (error, text) in [
        (
            error_after(|tensors, _| drop(tensors.remove(BIAS))),
            "FILE: `optimizer.exp_avg_sq.logit.bias` (TgtVocab=9,) is missing",
        ),
        (
            error_after(|tensors, _| drop(tensors.remove("model.logit.bias"))),
            "FILE: `model.logit.bias` (TgtVocab=9,) is missing",
        ),
        (
            error_after(|tensors, _| {
                let tensor = tensors[BIAS].clone();
                tensors.insert("optimizer.velocity.logit.bias".into(), tensor);
            }),
            "FILE: `optimizer.velocity.logit.bias` is in the file but not in the model",
        ),
        (
            error_after(|tensors, _| tensors.get_mut(BIAS).unwrap().1 = vec![3, 3]),
            "FILE: `optimizer.exp_avg_sq.logit.bias` should be (TgtVocab=9,) but is [3, 3]",
        ),
        (
            error_after(|tensors, _| tensors.get_mut(BIAS).unwrap().0 = Dtype::I32),
            "FILE: `optimizer.exp_avg_sq.logit.bias` should hold F32 but holds I32",
        ),
        (
            error_after(|tensors, _| {
                tensors.get_mut(BIAS).unwrap().2[4..8].copy_from_slice(&f32::NAN.to_le_bytes());
            }),
            "FILE: `optimizer.exp_avg_sq.logit.bias` holds NaN at position 1",
        ),
    ] {
        assert_eq!(error, text);
    }
}

#[test]
fn a_file_without_a_training_is_not_a_checkpoint() {
    let folder = temp_dir();
    let whole = saved(&folder);
    let model: Model = Model::build(&Cpu::default());
    weights::save(&model, folder.path().join("weights")).unwrap();
    let (error, text) = error_of(&fs::read(folder.path().join("weights")).unwrap());
    assert!(matches!(error, ResumeError::NotACheckpoint { .. }));
    assert_eq!(text, "FILE is not a training checkpoint: its metadata lack the key `training`");
    for length in [0, 7, 100, whole.len() / 2, whole.len() - 1] {
        let (_, text) = error_of(&whole[..length]);
        assert!(text.starts_with("FILE is damaged or not a safetensors file: "), "{text}");
    }

    let no_checkpoint = |text: String| {
        let reason = text.strip_prefix("FILE is not a training checkpoint: ");
        reason.unwrap_or_else(|| panic!("{text}")).to_string()
    };
    for header in ["", "{}", "[1]", "null"] {
        no_checkpoint(error_after(|_, old| *old = header.into()));
    }
    let replaced = |from: &str, to: &str| {
        no_checkpoint(error_after(|_, header| {
            assert!(header.contains(from), "{header}");
            *header = header.replace(from, to);
        }))
    };
    assert_eq!(replaced("\"format\":2", "\"format\":1"), "its format version is 1, but only 2 is supported");
    replaced("\"step\":3", "\"step\":-3");
    replaced("\"best_loss\":\"", "\"best_loss\":\"x");
    let no_number = error_after(|_, header| {
        let (before, after) = header.split_once("\"best_loss\":\"").unwrap();
        let (_, after) = after.split_once('"').unwrap();
        *header = format!("{before}\"best_loss\":\"NaN\"{after}");
    });
    assert!(no_checkpoint(no_number).starts_with("a loss is NaN"));
    for loss in ["first_loss", "last_loss", "mean_loss"] {
        let infinite = error_after(|_, header| {
            let (before, after) = header.split_once(&format!("\"{loss}\":\"")).unwrap();
            let (_, after) = after.split_once('"').unwrap();
            *header = format!("{before}\"{loss}\":\"-inf\"{after}");
        });
        assert_eq!(no_checkpoint(infinite), "a loss of its 3 steps is infinite");
    }
    assert_eq!(replaced("\"step\":3", "\"step\":2"), "it has made 2 steps, but its optimizer 3");
    let negative = error_after(|tensors, _| {
        let bytes = &mut tensors.get_mut("optimizer.exp_avg_sq.logit.bias").unwrap().2;
        bytes[..4].copy_from_slice(&(-1_f32).to_le_bytes());
    });
    assert_eq!(no_checkpoint(negative), "`optimizer.exp_avg_sq` holds squares, but one is negative");
    let (tensors, metadata) = tensors_of(&whole);
    let unsealed = safetensors::serialize(
        tensors.iter().map(|(path, (dtype, sizes, bytes))| {
            (path, safetensors::tensor::TensorView::new(*dtype, sizes.clone(), bytes).unwrap())
        }),
        Some(metadata.into_iter().collect()),
    );
    assert_eq!(no_checkpoint(error_of(&unsealed.unwrap()).1), "it has no checksums");
}

/// Changes single bytes: resuming fails, or the file says the same.
#[test]
fn a_changed_byte_is_refused() {
    let folder = temp_dir();
    let (whole, path) = (saved(&folder), folder.path().join("checkpoint"));
    let header = 8 + u64::from_le_bytes(whole[..8].try_into().unwrap()) as usize;
    let mut rng = StdRng::seed_from_u64(2);
    let mut refused = 0;
    for turn in 0..600 {
        let mut bytes = whole.clone();
        let end = if turn % 3 == 0 { bytes.len() } else { header };
        let at = rng.gen_range(0..end);
        // In the header often a digit, which keeps the JSON valid.
        bytes[at] = match bytes[at].is_ascii_digit() {
            true => b"0987654321"[usize::from(bytes[at] - b'0')],
            false => rng.r#gen(),
        };
        fs::write(&path, &bytes).unwrap();
        let mut trainer = trainer(Adam::default(), RATE);
        match trainer.resume(&path, &Cpu::default()) {
            Ok::<Model, _>(model) => {
                trainer.save(&model, &path).unwrap();
                assert!(fs::read(&path).unwrap() == whole, "byte {at}");
            }
            Err::<Model, _>(error) => {
                assert!(error.to_string().contains(&path.display().to_string()), "{error}");
                assert_eq!((trainer.steps_made(), trainer.optimizer.state().steps()), (0, 0));
                refused += 1;
            }
        }
    }
    assert!(refused > 550, "{refused}");
}

#[test]
fn step_counts_do_not_overflow() {
    let (tensors, mut metadata) = tensors_of(&saved(&temp_dir()));
    let header = metadata.get_mut("training").unwrap();
    *header = header
        .replace("\"step\":3", &format!("\"step\":{}", usize::MAX - 1))
        .replace("\"optimizer_steps\":3", &format!("\"optimizer_steps\":{}", usize::MAX - 1));
    let folder = temp_dir();
    let path = folder.path().join("checkpoint");
    fs::write(&path, sealed_file(&tensors, &metadata)).unwrap();
    let mut trainer = trainer(Adam::default(), RATE);
    let mut model: Model = trainer.resume(&path, &Cpu::default()).unwrap();
    step(&mut trainer, &mut model).unwrap();
    assert_eq!((trainer.steps_made(), trainer.optimizer.state().steps()), (usize::MAX, u64::MAX));
    assert!(trainer.next_step().is_none());
}

#[test]
fn a_checkpoint_beyond_the_last_step_is_refused() {
    let folder = temp_dir();
    saved(&folder);
    let mut trainer = Trainer::new(Adam::default(), RATE, 2, SEED);
    trainer.clip_norm = 1.0;
    trainer.require_same("the batch", Batch::SIZE);
    let path = folder.path().join("checkpoint");
    let error = trainer.resume(&path, &Cpu::default()).map(|_: Model| ()).unwrap_err();
    assert!(matches!(error, ResumeError::BeyondEnd { steps_made: 3, steps: 2, .. }));
    assert_eq!(error.to_string(), format!("{}: 3 steps are made, but the training has only 2", path.display()));
}
