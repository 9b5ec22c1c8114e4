//! Without CUDA, every example refuses `--device cuda`.
use crate::program::{built, end, start};
use crate::support::temp_dir;
use std::{fs, path::Path};

#[test]
fn every_example_reports_a_missing_cuda_build_in_one_line() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("examples");
    let names = fs::read_dir(examples).unwrap().map(|entry| {
        let path = entry.unwrap().path();
        path.file_stem().unwrap().to_str().unwrap().to_string()
    });
    // `training_run` has no options: it is read from top to bottom.
    let mut names: Vec<_> =
        names.filter(|name| !["support", "README", "training_run"].contains(&name.as_str())).collect();
    if !cfg!(feature = "tokenizers") {
        let with_texts = ["classify_image", "fill_mask", "generate", "similar_sentences", "transcribe"];
        names.retain(|name| !with_texts.contains(&name.as_str()));
    }
    assert!(names.len() >= 6, "{names:?}");
    for name in names {
        let run = end(start(&built(&name), &temp_dir(), ["--device", "cuda"]));
        run.assert_refused("--device cuda: this program was built without CUDA; build it with --features cuda");
    }
}
