//! An editor shows the type of a value after each `let`, with the names of the dimensions.
//!
//! `BLESS=1 cargo test --test library editor` draws `docs/hints.svg` anew.

#[path = "../fixtures/attend.rs"]
mod attend;
use crate::terminal;
use attend::{Batch, EmbedDim, Map, SrcLen, TgtLen};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::{env, fs};
use typed_transformer::prelude::*;

const PROGRAM: &str = include_str!("../fixtures/attend.rs");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().into()
}

/// The statements that have a type.
fn statements() -> Vec<&'static str> {
    PROGRAM.lines().map(str::trim).filter(|line| line.starts_with("let ")).collect()
}

#[test]
fn the_picture_shows_the_types_that_rustc_has_checked() {
    let drawn = terminal::draw_hints("Attention in an editor, with the type of each value", &statements());
    let picture = root().join("docs/hints.svg");
    if env::var_os("BLESS").is_some() {
        fs::write(&picture, &drawn).unwrap();
    }
    let is_same = fs::read_to_string(&picture).unwrap() == drawn;
    assert!(is_same, "docs/hints.svg is out of date; `BLESS=1 cargo test --test library editor` renews it");
    assert!(fs::read_to_string(root().join("docs/editor.md")).unwrap().contains("](hints.svg)"));
}

#[test]
fn the_program_of_the_picture_runs() {
    let device = Cpu::seed_from_u64(0);
    let maps: [Map; 3] = [(); 3].map(|()| Map::build(&device));
    let target: Tensor<(Batch, TgtLen, EmbedDim), f32, Cpu> =
        device.sample_normal_like(&(Batch::new(2), TgtLen::new(3), EmbedDim));
    let source: Tensor<(Batch, SrcLen, EmbedDim), f32, Cpu> =
        device.sample_normal_like(&(Batch::new(2), SrcLen::new(5), EmbedDim));
    let output = attend::attend(target, source, &maps).unwrap();
    assert_eq!(output.shape().concrete(), [2, 3, 64]);
}

/// A language server, which an editor asks for hints.
struct Server(ChildStdin, BufReader<ChildStdout>);

impl Server {
    fn send(&mut self, message: Value) {
        let text = message.to_string();
        write!(self.0, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        self.0.flush().unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut len_bytes = 0;
        loop {
            let mut line = String::new();
            self.1.read_line(&mut line).unwrap();
            match line.trim().strip_prefix("Content-Length: ") {
                Some(len) => len_bytes = len.parse().unwrap(),
                None if line.trim().is_empty() => break,
                None => {}
            }
        }
        let mut text = vec![0; len_bytes];
        self.1.read_exact(&mut text).unwrap();
        serde_json::from_slice(&text).unwrap()
    }
}

#[test]
#[ignore = "takes minutes: rust-analyzer reads the workspace"]
fn rust_analyzer_shows_the_same_types() {
    let mut command = Command::new("rust-analyzer");
    command.current_dir(root()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let Some(mut child) = command.spawn().ok().filter(|_| is_installed()) else {
        return println!("left out: rust-analyzer is not installed (rustup component add rust-analyzer)");
    };
    let mut server = Server(child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    // What the user writes has no types.
    let untyped = |line: &str| match line.trim_start().starts_with("let ") {
        true => format!("{} = {}\n", line.split(": ").next().unwrap(), line.split_once(" = ").unwrap().1),
        false => format!("{line}\n"),
    };
    let text: String = PROGRAM.lines().map(untyped).collect();
    let uri = |path: PathBuf| format!("file://{}", path.display());
    let document = uri(root().join("tests/fixtures/attend.rs"));
    let options = json!({"checkOnSave": false, "inlayHints": {"maxLength": null}, "cargo": {"features": "all"}});
    let options = json!({"processId": null, "rootUri": uri(root()), "initializationOptions": options,
        "capabilities": {"experimental": {"serverStatusNotification": true}}});
    let opened = json!({"textDocument": {"uri": document, "languageId": "rust", "version": 1, "text": text}});
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": text.lines().count(), "character": 0}});
    let asked = json!({"jsonrpc": "2.0", "id": 2, "method": "textDocument/inlayHint",
        "params": {"textDocument": {"uri": document}, "range": range}});
    server.send(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": options}));
    let hints = loop {
        let message = server.receive();
        match (message["id"].as_u64(), message["method"].as_str()) {
            (Some(1), None) => {
                server.send(json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}));
                server.send(json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": opened}));
            }
            (Some(2), None) if message["result"].is_array() => break message["result"].clone(),
            // It has changed its mind meanwhile.
            (Some(2), None) => server.send(asked.clone()),
            (_, Some("experimental/serverStatus")) if message["params"]["quiescent"] == true => {
                server.send(asked.clone());
            }
            (Some(_), Some(_)) => server.send(json!({"jsonrpc": "2.0", "id": message["id"], "result": null})),
            _ => {}
        }
    };
    child.kill().unwrap();
    let _ = child.wait();
    let label = |hint: &Value| match hint["label"].as_array() {
        Some(parts) => parts.iter().filter_map(|part| part["value"].as_str()).collect(),
        None => hint["label"].as_str().unwrap_or_default().to_string(),
    };
    let found: Vec<String> =
        hints.as_array().unwrap().iter().map(label).filter(|label| label.contains("Tensor")).collect();
    let expected = statements().into_iter().map(|line| {
        let (_, rest) = line.split_once(": ").unwrap();
        format!(": {}", rest.split_once(" = ").unwrap().0)
    });
    assert_eq!(found, expected.collect::<Vec<_>>());
}

fn is_installed() -> bool {
    Command::new("rust-analyzer").arg("--version").output().is_ok_and(|output| output.status.success())
}
