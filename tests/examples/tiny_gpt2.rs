//! The examples that run or train a published GPT-2, with one of two columns and random weights.

use crate::program::{Run, built, end, start};
use crate::support::temp_dir;
use rand::{Rng, SeedableRng, rngs::StdRng};
use safetensors::{Dtype, tensor::TensorView};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use tempfile::TempDir;

static GENERATE: LazyLock<PathBuf> = LazyLock::new(|| built("generate"));
static TRAIN: LazyLock<PathBuf> = LazyLock::new(|| built("train_shakespeare"));

fn run(program: &Path, folder: &TempDir, args: &str) -> Run {
    end(start(program, folder, args.split_whitespace()))
}

/// The shapes of the parameters of `sshleifer/tiny-gpt2`, and their names in its file.
fn shapes() -> Vec<(String, Vec<usize>)> {
    let mut shapes = vec![("wte.weight".to_string(), vec![50_257, 2]), ("wpe.weight".to_string(), vec![1024, 2])];
    for layer in 0..2 {
        for (name, inputs, outputs) in
            [("attn.c_attn", 2, 6), ("attn.c_proj", 2, 2), ("mlp.c_fc", 2, 8), ("mlp.c_proj", 8, 2)]
        {
            shapes.push((format!("h.{layer}.{name}.weight"), vec![inputs, outputs]));
            shapes.push((format!("h.{layer}.{name}.bias"), vec![outputs]));
        }
        for norm in ["ln_1", "ln_2"] {
            shapes.push((format!("h.{layer}.{norm}.weight"), vec![2]));
            shapes.push((format!("h.{layer}.{norm}.bias"), vec![2]));
        }
    }
    shapes.push(("ln_f.weight".to_string(), vec![2]));
    shapes.push(("ln_f.bias".to_string(), vec![2]));
    shapes
}

/// A folder with the model as `model`, and a text that can be learned as `text`.
fn folder_of_a_model() -> TempDir {
    let folder = temp_dir();
    let model = folder.path().join("model");
    fs::create_dir(&model).unwrap();
    let mut rng = StdRng::seed_from_u64(1);
    let mut bytes_of = |shape: &[usize]| -> Vec<u8> {
        (0..shape.iter().product()).flat_map(|_| rng.gen_range(-0.5f32..0.5).to_le_bytes()).collect()
    };
    let tensors: Vec<_> =
        shapes().into_iter().map(|(name, shape)| (format!("transformer.{name}"), bytes_of(&shape), shape)).collect();
    let views =
        tensors.iter().map(|(name, bytes, shape)| (name, TensorView::new(Dtype::F32, shape.clone(), bytes).unwrap()));
    fs::write(model.join("model.safetensors"), safetensors::serialize(views, None).unwrap()).unwrap();

    let fixtures = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures"));
    let json =
        |path: &str| -> serde_json::Value { serde_json::from_slice(&fs::read(fixtures.join(path)).unwrap()).unwrap() };
    // The model writes tokens that the tokenizer of 300 tokens has not.
    let mut tokenizer = json("tokenizers/bpe.json");
    let vocabulary = tokenizer["model"]["vocab"].as_object_mut().unwrap();
    vocabulary.extend((vocabulary.len()..50_257).map(|id| (format!("<{id}>"), id.into())));
    fs::write(model.join("tokenizer.json"), tokenizer.to_string()).unwrap();
    let mut config = json("hugging_face/gpt2/config.json");
    for (setting, value) in [("vocab_size", 50_257), ("n_positions", 1024), ("n_embd", 2), ("n_head", 2)] {
        config[setting] = value.into();
    }
    fs::write(model.join("config.json"), config.to_string()).unwrap();
    let text: String = "to be or not to be.\n".chars().cycle().take(4_000).collect();
    fs::write(folder.path().join("text"), text).unwrap();
    folder
}

#[test]
fn a_published_model_writes_a_text() {
    let folder = folder_of_a_model();
    let greedy = run(&GENERATE, &folder, "model --model tiny-gpt2 --prompt Speak --tokens 30");
    greedy.assert_ended_with(0);
    assert!(greedy.stdout.starts_with("Speak") && greedy.stdout.len() >= 5 + 30, "{}", greedy.stdout);
    let log: Vec<&str> = greedy.stderr.lines().collect();
    assert!(log[0].starts_with("102714 parameters in "), "{log:?}");
    assert!(log[2].starts_with("30 tokens, ") && log[2].ends_with(" tokens/s after the first"), "{log:?}");

    let draw = |seed: usize| {
        let options = format!("--temperature 1 --top-k 40 --seed {seed} --tokens 30");
        let drawn = run(&GENERATE, &folder, &format!("model --model tiny-gpt2 --prompt Speak {options}"));
        drawn.assert_ended_with(0);
        drawn.stdout
    };
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));

    for weights in ["bf16", "q8"] {
        let stored = run(&GENERATE, &folder, &format!("model --model tiny-gpt2 --prompt Speak --weights {weights}"));
        stored.assert_ended_with(0);
        assert!(stored.stdout.starts_with("Speak"), "{weights}: {}", stored.stdout);
    }
}

#[test]
fn texts_are_written_together_searched_and_proposed() {
    let folder = folder_of_a_model();
    let write = |options: &str| {
        let written = run(&GENERATE, &folder, &format!("model --model tiny-gpt2 --tokens 12 {options}"));
        written.assert_ended_with(0);
        written.stdout
    };
    let [one, other] = ["--prompt Speak", "--prompt We"].map(write);
    assert_eq!(write("--prompt Speak --prompt We"), format!("{one}{other}"));
    // The model proposes to itself.
    assert_eq!(write("--prompt Speak --draft model --draft-tokens 3"), one);
    // The last five bytes of the text, which are a stop string only once.
    let stop = &one[one.len() - 6..one.len() - 1];
    let stopped = write(&format!("--prompt Speak --stop {stop}"));
    assert_eq!(stopped.trim_end(), &one[..one["Speak".len()..].find(stop).unwrap() + "Speak".len()]);
    assert!(write("--prompt Speak --num-beams 3 --length-penalty -1 --early-stopping never").starts_with("Speak"));

    let template = "{% for message in messages %}<{{ message.role }}>{{ message.content }}{% endfor %}\
                    {% if enable_thinking is false %}<thought>{% endif %}";
    fs::write(folder.path().join("model/tokenizer_config.json"), "{}").unwrap();
    fs::write(folder.path().join("model/chat_template.jinja"), template).unwrap();
    let answer = write("--chat --system Hush --prompt Speak");
    assert_eq!(answer, write("--prompt <system>Hush<user>Speak").replacen("<system>Hush<user>Speak", "", 1));
    let answer = write("--chat --no-thinking --prompt Speak");
    assert_eq!(answer, write("--prompt <user>Speak<thought>").replacen("<user>Speak<thought>", "", 1));
}

/// The weights of a large model take minutes to read.
#[test]
fn wrong_prompts_and_stop_strings_are_refused_before_the_weights_are_read() {
    let folder = folder_of_a_model();
    fs::write(folder.path().join("model/model.safetensors"), "abc").unwrap();
    let long = "x".repeat(1_025);
    for (args, error) in [
        (&["--prompt", ""][..], "--prompt: it has no token"),
        (&["--prompt", &long], "--prompt: it has 1025 tokens, but the model reads at most 1024"),
        (&["--prompt", "Speak", "--stop", ""], "--stop: a stop string is empty"),
        (&["--draft", "model", "--prompt", "Speak", "--prompt", "We"], "--draft: there is more than one prompt"),
    ] {
        let args = ["model", "--model", "tiny-gpt2"].iter().chain(args);
        end(start(&GENERATE, &folder, args)).assert_refused(error);
    }
    let damaged = run(&GENERATE, &folder, "model --model tiny-gpt2 --prompt Speak");
    assert!(damaged.stderr.contains("model.safetensors is damaged"), "{}", damaged.stderr);
    let tokenizer = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/tokenizers/wordpiece.json");
    fs::copy(tokenizer, folder.path().join("model/tokenizer.json")).unwrap();
    let unknown = end(start(&GENERATE, &folder, ["model", "--model", "tiny-gpt2", "--prompt", "é 🦀 e"]));
    unknown.assert_refused("--prompt: `🦀` at byte 3 of the text has no token; leave it out");
}

#[test]
fn a_prompt_that_is_too_long_is_refused_before_the_training() {
    let folder = folder_of_a_model();
    let prompt = "x".repeat(1_025);
    let args = format!("--from model --model tiny-gpt2 --data text --steps 1 --save weights --prompt {prompt}");
    let refused = run(&TRAIN, &folder, &args);
    refused.assert_refused("--prompt: it has 1025 tokens, but the model reads at most 1024");
    assert!(!folder.path().join("weights").exists());
}

#[test]
fn a_training_goes_on_from_published_weights() {
    let folder = folder_of_a_model();
    let options = "--data text --steps 20 --batch 2 --interval 10 --learning-rate 0.05 --sample 10 --prompt to";
    let trained =
        run(&TRAIN, &folder, &format!("--from model --model tiny-gpt2 {options} --save weights --metrics metrics"));
    trained.assert_ended_with(0);
    let losses: Vec<f64> = trained
        .stderr
        .lines()
        .filter(|line| line.starts_with("after step "))
        .map(|line| line.rsplit(' ').next().unwrap().parse().unwrap())
        .collect();
    // The logits of two columns are nearly equal at first.
    assert!((losses[0] - 50_257f64.ln()).abs() < 1.0, "{losses:?}");
    assert!(losses[2] < losses[1] && losses[1] < losses[0], "{losses:?}");
    let (result, sample) = trained.stdout.split_once("\n\n").unwrap();
    assert!(result.starts_with("validation loss ") && result.ends_with(" tokens"), "{result}");
    assert!(sample.starts_with("to"), "{sample}");

    let loaded = run(&TRAIN, &folder, "--from model --model tiny-gpt2 --load weights --sample 10 --prompt to");
    loaded.assert_ended_with(0);
    assert_eq!(loaded.stdout, sample);
    let without_from = run(&TRAIN, &folder, "--load weights");
    let advice = "weights trained with --from are loaded with it\n";
    assert!(without_from.stderr.ends_with(advice), "{}", without_from.stderr);
    let other_size = run(&TRAIN, &folder, "--from model --data text --steps 1");
    assert!(other_size.stderr.contains("`n_embd` is 2, not EmbedDim=768"), "{}", other_size.stderr);
    other_size.assert_ended_with(1);
}
