//! The cells of the notebook `docs/rot13.ipynb`, compiled and run as one program.
//!
//! `BLESS=1 cargo test --test library notebook` copies the cells into the program.

use serde_json::Value;
use std::error::Error;
use std::fs;
use std::path::PathBuf;

fn path(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(file)
}

/// The code of all cells, without the commands of the kernel, as a block.
fn program() -> String {
    let notebook = fs::read_to_string(path("../docs/rot13.ipynb")).unwrap();
    let notebook: Value = serde_json::from_str(&notebook).unwrap();
    assert_eq!(notebook["nbformat"], 4);
    let cells = notebook["cells"].as_array().unwrap();
    let code = cells.iter().filter(|cell| cell["cell_type"] == "code");
    let lines = code.flat_map(|cell| cell["source"].as_array().unwrap().iter().chain([&Value::Null]));
    let lines = lines.map(|line| line.as_str().unwrap_or("\n\n")).filter(|line| !line.starts_with(':'));
    format!("{{\n{}\nheads(&model, &plain)\n}}\n", lines.collect::<String>().trim())
}

#[test]
fn the_program_has_the_cells_of_the_notebook() {
    const PROGRAM: &str = "fixtures/notebook.rs";
    if std::env::var_os("BLESS").is_some() {
        fs::write(path(PROGRAM), program()).unwrap();
    }
    let is_same = fs::read_to_string(path(PROGRAM)).unwrap() == program();
    assert!(is_same, "{PROGRAM} is out of date; `BLESS=1 cargo test --test library notebook` renews it");
}

#[test]
fn the_notebook_trains_rot13_and_shows_the_heads() {
    #[rustfmt::skip]
    fn run() -> Result<String, Box<dyn Error>> {
        include!("../fixtures/notebook.rs")
    }
    let svg = run().unwrap();
    // Some of the seven heads attend to the letter that they encrypt, nearly alone.
    assert_eq!(svg.matches("layer 0, head").count(), 7);
    assert!(svg.matches("\n1.00\n").count() >= 6, "{svg}");
}
