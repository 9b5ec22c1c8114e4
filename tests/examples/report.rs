//! The page that `--report` writes is self-contained, and a browser renders it.

use crate::outputs::run;
use crate::program::{Run, built, end, interrupt, start};
use crate::support::temp_dir;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};
use tempfile::TempDir;

/// The HTML page of a short training run, in the folder `report`.
fn report_html(example: &str, folder: &TempDir, args: &str) -> String {
    let args = format!("{args} --report report");
    // So short a training run may miss its goal; other tests check that.
    let Run { stderr, .. } = run(folder, example, &args);
    let page = Path::new("report").join("index.html");
    assert!(stderr.contains(&format!("wrote {}", page.display())), "{stderr}");
    fs::read_to_string(folder.path().join("report").join("index.html")).unwrap()
}

/// Asserts that the page refers to nothing outside it.
#[track_caller]
fn assert_self_contained(html: &str) {
    let outside = ["http:", "https:", "src=", "href", "url(", "@import", "<script", "<link", "<iframe"];
    let found: Vec<_> = outside.iter().filter(|word| html.contains(**word)).collect();
    assert!(found.is_empty(), "{found:?}");
}

/// The report of a browser, by a script: the resources it fetched, the pictures it shows, and whether the page is wider
/// than a narrow screen.
fn rendered_in_browser(folder: &TempDir, html: &str) -> Option<String> {
    let find_browser = find_browser()?;
    let probe = "<script>
        const seen = [
            'fetched ' + performance.getEntriesByType('resource').length,
            'pictures ' + [...document.querySelectorAll('svg')].filter(p => p.getBoundingClientRect().width > 50 && p.querySelector('text')).length,
            'sideways ' + (document.documentElement.scrollWidth > innerWidth),
            'dark ' + matchMedia('(prefers-color-scheme: dark)').matches,
        ];
        parent.document.title = seen.join(', ');
        </script></body>";
    let page = html.replace("</body>", probe);
    let quoted = page.replace('&', "&amp;").replace('"', "&quot;");
    // A browser window cannot be as narrow as a phone, but a frame can.
    let frame =
        format!("<!DOCTYPE html><body><iframe srcdoc=\"{quoted}\" style=\"width:360px;height:640px\"></iframe></body>");
    let file = folder.path().join("frame.html");
    fs::write(&file, frame).unwrap();
    let output = Command::new(find_browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"])
        .args(["--dump-dom", "--virtual-time-budget=5000"])
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(format!("file://{}", file.display()))
        .stderr(Stdio::null())
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    let title = dom.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
    Some(title.map_or_else(|| panic!("no title in {dom}"), |(title, _)| title.to_string()))
}

/// The path of Chromium, under any of its names.
fn find_browser() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
    let path = env::var_os("PATH")?;
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    let found = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    found.into_iter().find(|program| program.is_file())
}

#[track_caller]
fn assert_renders(folder: &TempDir, html: &str) {
    let pictures = html.matches("<svg").count();
    match rendered_in_browser(folder, html) {
        Some(seen) => assert_eq!(seen, format!("fetched 0, pictures {pictures}, sideways false, dark false")),
        None => eprintln!("skipped: there is no Chromium to open the page in"),
    }
}

/// Asserts that every picture of the page is also an SVG file and a PNG file.
#[track_caller]
fn assert_pictures(folder: &TempDir, html: &str, expected: &[&str]) {
    assert_eq!(html.matches("<svg").count(), expected.len());
    for name in expected {
        let file = folder.path().join("report").join(name);
        assert!(file.with_extension("svg").is_file(), "{name}");
        let png = fs::read(file.with_extension("png")).unwrap();
        assert!(png.starts_with(b"\x89PNG"), "{name}");
    }
}

#[test]
fn the_rot13_report_shows_training_attention_and_embeddings() {
    let folder = temp_dir();
    let html = report_html("train_rot13", &folder, "--steps 4 --batch 2 --seed 3 hey you");
    assert_self_contained(&html);
    let training = ["loss", "learning_rate", "gradient_norm"];
    let model = ["cross_attention", "encoder_attention", "decoder_attention", "letters"];
    let positions = ["position_curves", "position_matrix"];
    assert_pictures(&folder, &html, &[&training[..], &model, &positions].concat());
    for text in [
        "fresh random words decoded exactly",
        "<td>steps</td><td>4</td>",
        "<td>seed</td><td>3</td>",
        "layer 0, head 6",
        "principal component 2",
        ">encoder.encoder.layers.0.self_attention.attention.query_proj</td>",
        ">4665</td>",
    ] {
        assert!(html.contains(text), "{text}");
    }
    assert_renders(&folder, &html);
}

#[cfg(unix)]
#[test]
fn the_report_marks_where_a_training_was_resumed() {
    let folder = temp_dir();
    let args = "--steps 30 --batch 2";
    let program = built("train_sequences");
    let first = format!("{args} --report report");
    let child = start(&program, &folder, first.split_whitespace());
    interrupt(&child, &folder.path().join("report").join("metrics.jsonl"), 2);
    assert_eq!(end(child).status.code(), Some(130));
    let args = format!("{args} --resume train_sequences.checkpoint");
    let html = report_html("train_sequences", &folder, &args);
    // Once in the legend of each of the three plots.
    assert_eq!(html.matches("\nresumed\n").count(), 3);
}

#[cfg(unix)]
#[test]
fn a_checkpoint_in_the_folder_of_the_report_is_resumed() {
    let folder = temp_dir();
    let args = "--steps 30 --batch 2";
    let first = format!("{args} --report report --checkpoint report/ck");
    let child = start(&built("train_sequences"), &folder, first.split_whitespace());
    interrupt(&child, &folder.path().join("report").join("metrics.jsonl"), 2);
    let stopped = end(child);
    stopped.assert_ended_with(130);
    assert!(stopped.stderr.contains("--resume report/ck"), "{}", stopped.stderr);
    report_html("train_sequences", &folder, &format!("{args} --resume report/ck"));

    // A checkpoint is not what tells a report.
    fs::create_dir(folder.path().join("other")).unwrap();
    fs::copy(folder.path().join("report/ck"), folder.path().join("other/ck")).unwrap();
    let refused = run(&folder, "train_sequences", &format!("{args} --report other"));
    refused.assert_refused("other has files that are not of a report; --overwrite replaces them");
}

#[test]
fn the_sequences_report_shows_attention() {
    let folder = temp_dir();
    let html = report_html("train_sequences", &folder, "--steps 2 --batch 2");
    assert_self_contained(&html);
    assert!(html.contains("layer 3, head 1"));
    assert_renders(&folder, &html);
}

#[test]
fn the_shakespeare_report_shows_attention_and_validation_loss() {
    let folder = temp_dir();
    let args = "--steps 2 --batch 2 --interval 1 --sample 9";
    let html = report_html("train_shakespeare", &folder, args);
    assert_self_contained(&html);
    for text in ["layer 3, head 3", "validation loss", "plays.txt</td>"] {
        assert!(html.contains(text), "{text}");
    }
    assert_renders(&folder, &html);
}

#[test]
fn the_report_of_a_training_on_ranks_shows_attention() {
    let folder = temp_dir();
    let html = report_html("train_on_ranks", &folder, "--steps 2 --batch 2");
    assert_self_contained(&html);
    for text in ["layer 0, head 1", "of the repeated digits predicted", "<td>sequences per step</td><td>2</td>"] {
        assert!(html.contains(text), "{text}");
    }
    assert_renders(&folder, &html);
}

/// A model in training may write an empty cipher, which has no attention to draw.
#[test]
fn a_report_is_drawn_however_short_the_training() {
    for steps in [20, 30, 60] {
        let folder = temp_dir();
        let html = report_html("train_rot13", &folder, &format!("--steps {steps} --batch 50"));
        assert!(html.matches("<svg").count() >= 9);
    }
}

/// A plot would replace what another option writes or reads in the folder.
#[test]
fn a_file_with_the_name_of_a_plot_is_refused() {
    let folder = temp_dir();
    fs::create_dir(folder.path().join("report")).unwrap();
    for (example, file) in [
        ("train_rot13", "--save report/loss.svg"),
        ("train_sequences", "--metrics ./report/../report/gradient_norm.png"),
        ("train_shakespeare", "--checkpoint report/attention.svg"),
    ] {
        let args = format!("--steps 3 --batch 2 --report report {file}");
        let run = end(start(&built(example), &folder, args.split_whitespace()));
        let (_, path) = file.split_once(' ').unwrap();
        run.assert_refused(&format!("{path} has the name of a plot of the report report"));
    }
    assert_eq!(fs::read_dir(folder.path().join("report")).unwrap().count(), 0);
}

#[test]
fn an_unwritable_report_folder_is_an_error_before_training() {
    let folder = temp_dir();
    fs::write(folder.path().join("file"), "").unwrap();
    for example in ["train_rot13", "train_sequences", "train_shakespeare"] {
        let run = end(start(&built(example), &folder, ["--report", "file/report"]));
        assert!(run.stderr.starts_with("error: cannot make file/report: "), "{}", run.stderr);
        assert_eq!(run.status.code(), Some(1));
    }
}
