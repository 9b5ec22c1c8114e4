//! The examples read from sounds and images what HuggingFace's `transformers` reads from them, and write the same texts.
//! `tests/fixtures/features/features.py` made the features, `hugging_face/models.py` the texts.

use crate::hugging_face::{load, reference};
use crate::numbers::{assert_close, device};
use crate::parity::{self, Fixture};
use crate::small_models::{VocabSize, small_whisper};
use crate::support::temp_dir;
use dfdx::tensor::AutoDevice;
use png::{ColorType, Encoder};
use rgb::RGB8;
use std::f64::consts::TAU;
use std::fs::{self, File};
use std::path::Path;
use typed_transformer::generate::Sampler;
use typed_transformer::models::published::{clip_vit_base_patch32, whisper_tiny};
use typed_transformer::models::whisper::{Features, Whisper};
use typed_transformer::prelude::*;
use typed_transformer::tokens::Tokenizer;

#[path = "../../examples/transcribe/features.rs"]
mod features;
#[path = "../../examples/classify_image/picture.rs"]
mod picture;
#[path = "../../examples/classify_image/pixels.rs"]
mod pixels;
#[path = "../../examples/transcribe/text.rs"]
mod text;

use features::Sound;
use picture::Picture;
use text::Rules;

/// Numbers from -1 to 1, of a linear congruential generator.
fn noise() -> impl Iterator<Item = f64> {
    let next = |state: &u32| Some(state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    std::iter::successors(next(&1), next).map(|state| f64::from(state) / 2f64.powi(31) - 1.0)
}

/// A tone that rises from 100 Hz by 200 Hz a second, and noise.
fn sound(count: usize) -> Vec<f32> {
    let tone = |n: usize| (TAU * (100.0 + 100.0 * n as f64 / 16_000.0) * n as f64 / 16_000.0).sin();
    (0..count).zip(noise()).map(|(n, noise)| (0.3 * tone(n) + 0.01 * noise) as f32).collect()
}

/// Waves of three colours, and noise.
fn picture(width: usize, height: usize) -> Picture {
    let mut noise = noise();
    let mut color = |x: usize, y: usize, channel: usize| {
        let wave = (x as f64 / (7 + channel) as f64).sin() * (y as f64 / (11 - channel) as f64).cos();
        (128.0 + 100.0 * wave + 20.0 * noise.next().unwrap_or_default()) as u8
    };
    let mut pixel = |i: usize| {
        let [red, green, blue] = [0, 1, 2].map(|channel| color(i % width, i / width, channel));
        RGB8::new(red, green, blue)
    };
    Picture { width, height, pixels: (0..width * height).map(&mut pixel).collect() }
}

#[test]
fn features_of_sounds_are_those_of_transformers() {
    let reference = Fixture::read("features/features");
    let frames: Vec<usize> = (0..3000).step_by(100).chain([2998, 2999]).collect();
    for (name, num_samples) in [("short", 20_000), ("long", 480_000)] {
        let sound = sound(num_samples);
        let features = features::features::<whisper_tiny::Config, _>(&device(), &sound).unwrap().as_vec();
        let bands = features.chunks(3000);
        let found: Vec<f64> = bands.flat_map(|band| frames.iter().map(|&frame| f64::from(band[frame]))).collect();
        assert_close(&found, reference.numbers(&format!("sound.{name}")), 1e-4);
    }
    assert_eq!(features::max_samples::<whisper_tiny::Config>(), 480_000);
}

#[test]
fn pixels_of_images_are_those_of_transformers() {
    let reference = Fixture::read("features/features");
    for (name, width, height) in [("wide", 300, 230), ("high", 180, 260)] {
        let pixels = pixels::pixels(&device(), &picture(width, height)).unwrap().as_vec();
        let every_32nd = |range: usize| (0..range).step_by(32);
        let found: Vec<f64> = pixels
            .chunks(clip_vit_base_patch32::Width::SIZE)
            .enumerate()
            .filter(|(row, _)| (row % clip_vit_base_patch32::Height::SIZE).is_multiple_of(32))
            .flat_map(|(_, row)| every_32nd(row.len()).map(|column| f64::from(row[column])))
            .collect();
        // A color is one of 256; both round, one of them twice.
        assert_close(&found, reference.numbers(&format!("image.{name}")), 2.5 / 255.0 / 0.26);
    }
}

#[test]
fn pictures_are_read_from_files_as_pillow_reads_them() {
    let reference = Fixture::read("features/features");
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/features");
    let numbers = |picture: &Picture| -> Vec<f64> {
        picture.pixels.iter().flat_map(|pixel| <[u8; 3]>::from(*pixel).map(f64::from)).collect()
    };
    for (name, width, height) in [("color.jpg", 20, 13), ("gray.jpg", 9, 14)] {
        let picture = Picture::read(&files.join(name)).unwrap();
        assert_eq!((picture.width, picture.height), (width, height));
        parity::assert_close(name, &numbers(&picture), reference.numbers(&format!("file.{name}")), 3.0);
    }

    let folder = temp_dir();
    for (color, bytes_per_pixel) in [(ColorType::Grayscale, 1), (ColorType::Rgb, 3), (ColorType::Rgba, 4)] {
        let path = folder.path().join("picture.PNG");
        let mut encoder = Encoder::new(File::create(&path).unwrap(), 3, 2);
        encoder.set_color(color);
        let bytes: Vec<u8> = (0..6 * bytes_per_pixel).collect();
        encoder.write_header().unwrap().write_image_data(&bytes).unwrap();
        let picture = Picture::read(&path).unwrap();
        assert_eq!((picture.width, picture.height), (3, 2));
        let channel = |pixel: usize, channel: usize| match bytes_per_pixel {
            1 => pixel as f64,
            bytes => (pixel * usize::from(bytes) + channel) as f64,
        };
        let expected: Vec<f64> = (0..6).flat_map(|pixel| [0, 1, 2].map(|color| channel(pixel, color))).collect();
        assert_eq!(numbers(&picture), expected);
    }
    let damaged = fs::read(files.join("color.jpg")).unwrap();
    fs::write(folder.path().join("damaged.jpg"), &damaged[..600]).unwrap();
    for (name, width, height) in [("large.png", 20_000_000, 2_147_483_647), ("long.png", 1, 16_000)] {
        Encoder::new(File::create(folder.path().join(name)).unwrap(), width, height).write_header().unwrap();
    }
    for name in ["damaged.jpg", "large.png", "long.png", "missing.png", "picture.PNG.txt"] {
        let error = Picture::read(&folder.path().join(name)).err().unwrap().to_string();
        assert_eq!(error.lines().count(), 1, "{name}: {error}");
    }
}

#[test]
fn rules_of_texts_come_from_the_folder() {
    dims! { pub Vocab = 300; }
    let tokenizer =
        Tokenizer::<Vocab>::from_file(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/tokenizers/bpe.json")).unwrap();
    let folder = temp_dir();
    let path = folder.path().join("generation_config.json");
    let read = || Rules::from_folder(folder.path(), &tokenizer);
    let missing = read().err().unwrap().to_string();
    assert!(missing.starts_with(&format!("{}: ", path.display())), "{missing}");
    fs::write(folder.path().join("config.json"), r#"{"eos_token_id": 7}"#).unwrap();
    let settings = r#"{"lang_to_id": {"<|en|>": 4, "<|de|>": 6}, "suppress_tokens": [299], "begin_suppress_tokens": [298], "eos_token_id": 5}"#;
    fs::write(&path, settings).unwrap();
    let mut rules = read().unwrap();
    assert_eq!(rules.ends, [Fin::literal::<5>()]);
    let logits: Tensor<(Vocab,), f32, AutoDevice> = device().tensor((0..300).map(|id| id as f32).collect::<Vec<_>>());
    let chosen = [&mut rules.first, &mut rules.others].map(|rule| rule.choose(&logits).unwrap());
    assert_eq!(chosen.map(Fin::value), [297, 298]);
    assert_eq!(rules.languages["<|de|>"].value(), 6);
    assert!(rules.spoken.is_none() && !rules.translates);
    let tuned = r#"{"language": "de", "task": "translate", "eos_token_id": 5}"#;
    fs::write(&path, tuned).unwrap();
    let rules = read().unwrap();
    assert!(rules.spoken.as_deref() == Some("de") && rules.translates && rules.languages.is_empty());
    fs::write(&path, settings.replace("299", "-1")).unwrap();
    assert!(read().err().unwrap().to_string().contains("invalid value: integer `-1`"));
    for (settings, error) in [
        (&*settings.replace('4', "300"), "`lang_to_id` has 300, which is no token of Vocab=300"),
        ("[]", "invalid length 0, expected the settings of a generation"),
    ] {
        fs::write(&path, settings).unwrap();
        let found = read().err().unwrap().to_string();
        assert!(found.starts_with(&format!("{}: {error}", path.display())), "{found}");
    }
}

#[test]
fn texts_of_sounds_are_those_of_transformers() {
    use small_whisper::{Config, NumMelBins};
    let reference = reference("whisper");
    let model: Whisper<Config, f32, AutoDevice> = load("whisper");
    let token = |id: usize| Fin::<VocabSize>::new(id).unwrap();
    let without = |suppressed: &'static [usize]| {
        Sampler::greedy().restrict_to(Fin::all().filter(|token| !suppressed.contains(&token.value())))
    };
    let mut rules = Rules {
        first: without(&[90, 36, 40]),
        others: without(&[90]),
        ends: vec![token(40)],
        languages: [7, 8, 12].map(|id| (format!("<|{id}|>"), token(id))).into(),
        spoken: None,
        translates: false,
    };
    let elements: Vec<f32> = reference.elements("input.features");
    let sounds = elements.chunks(elements.len() / 3);
    let texts = reference.ids("output.texts");
    for ((sound, expected), language) in sounds.zip(texts.chunks(20)).zip(reference.ids("output.languages")) {
        let features: Features<Sound, Config, f32, AutoDevice> =
            device().tensor((sound.to_vec(), (Sound, NumMelBins, Product::default())));
        let sound = model.encode(features).unwrap();
        assert_eq!(rules.language(&sound, token(3)).unwrap().value(), language);
        let prompt = [3, language, 20, 11].map(token);
        let found = rules.write(&sound, &prompt).unwrap();
        let found: Vec<usize> = found.iter().map(|token| token.value()).take(20).collect();
        let end = expected.iter().position(|&id| id == 40).unwrap_or(20);
        assert_eq!(found, expected[..end]);
    }
}
