//! Draws an error of rustc as it looks in a terminal, and a program as it looks in an editor, as SVG.

use std::fmt::Write;

const BACKGROUND: &str = "#0d1117";
const BORDER: &str = "#30363d";
const PLAIN: &str = "#e6edf3";
const DIM: &str = "#8b949e";
const RED: &str = "#ff7b72";
const BLUE: &str = "#79c0ff";
/// The colour of a type that an editor shows, and that of the box behind it.
const HINT: &str = "#a5d6ff";
const HINT_BOX: &str = "#21304a";

/// Width of a character and distance of two lines, in pixels, at this font size.
const FONT_SIZE: usize = 12;
const CHAR_WIDTH: f64 = 7.2;
const LINE_HEIGHT: usize = 19;
/// Distance of the text from the border, in pixels.
const MARGIN: usize = 16;
/// Longer lines are wrapped, so that the picture is legible on a phone, 390 pixels wide.
const MAX_COLUMNS: usize = 50;

/// A part of a line that has one colour.
struct Span {
    text: String,
    colour: &'static str,
    is_bold: bool,
}

/// The prompt with `command`, and below it the lines of an error: its headline, its place, and the quoted
/// lines with their marks.
pub fn draw(command: &str, error: &[&str]) -> String {
    let mut lines = vec![vec![span("$ ", DIM, false), span(command, PLAIN, false)]];
    lines.extend(error.iter().enumerate().flat_map(|(number, line)| match number {
        0 => wrapped(headline(line)),
        _ => wrapped(body_line(line)),
    }));
    draw_lines(error.first().unwrap_or(&command), &lines)
}

/// Statements of the form `let name: Type = code;`, whose types an editor shows.
pub fn draw_hints(title: &str, statements: &[&str]) -> String {
    let mut lines = Vec::new();
    for statement in statements {
        let (name, rest) = statement.trim().split_once(": ").expect("a type follows the name");
        let (hint, code) = rest.split_once(" = ").expect("a value follows the type");
        let name = name.strip_prefix("let ").expect("the statement is a `let`");
        let (hint, code) = (format!(": {hint}"), format!(" = {code}"));
        let parts = [("let ", RED), (name, PLAIN), (&hint, HINT), (&code, PLAIN)];
        let words = parts.iter().flat_map(|(text, colour)| text.split_inclusive(' ').map(|word| (word, *colour)));
        let mut line: Vec<Span> = Vec::new();
        for (word, colour) in words {
            if columns(&line) + word.trim_end().chars().count() > MAX_COLUMNS {
                lines.push(std::mem::replace(&mut line, vec![span("    ", PLAIN, false)]));
            }
            match line.last_mut().filter(|last| last.colour == colour) {
                Some(last) => last.text += word,
                None => line.push(span(word, colour, false)),
            }
        }
        lines.push(line);
    }
    draw_lines(title, &lines)
}

fn draw_lines(title: &str, lines: &[Vec<Span>]) -> String {
    let columns = lines.iter().map(|spans| columns(spans)).max().unwrap_or(0);
    let width = (columns as f64 * CHAR_WIDTH).ceil() as usize + 2 * MARGIN;
    let height = lines.len() * LINE_HEIGHT + 2 * MARGIN;

    let mut svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">
<title>{}</title>
<rect x="0.5" y="0.5" width="{}" height="{}" rx="6" fill="{BACKGROUND}" stroke="{BORDER}"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="{FONT_SIZE}" xml:space="preserve">
"#,
        escaped(title),
        width - 1,
        height - 1,
    );
    for (row, spans) in lines.iter().enumerate() {
        let y = MARGIN + (row + 1) * LINE_HEIGHT - 6;
        let mut column = 0;
        for Span { text, colour, is_bold } in spans {
            let indent = text.chars().take_while(|c| *c == ' ').count();
            let chars = text.trim().chars().count();
            // Every span has its own place and length, so that columns stay aligned in any font.
            if chars > 0 {
                let x = MARGIN as f64 + (column + indent) as f64 * CHAR_WIDTH;
                let length = chars as f64 * CHAR_WIDTH;
                let weight = if *is_bold { r#" font-weight="bold""# } else { "" };
                let text = escaped(text.trim());
                if *colour == HINT {
                    let (x, y, length) = (x - 2.0, y - 13, length + 4.0);
                    let place = format!(r#"x="{x:.1}" y="{y}" width="{length:.1}" height="17" rx="3""#);
                    writeln!(svg, r#"<rect {place} fill="{HINT_BOX}"/>"#).unwrap();
                }
                writeln!(
                    svg,
                    r#"<text x="{x:.1}" y="{y}" textLength="{length:.1}" fill="{colour}"{weight}>{text}</text>"#
                )
                .unwrap();
            }
            column += text.chars().count();
        }
    }
    svg + "</g>\n</svg>\n"
}

fn span(text: &str, colour: &'static str, is_bold: bool) -> Span {
    Span { text: text.into(), colour, is_bold }
}

fn columns(spans: &[Span]) -> usize {
    spans.iter().map(|span| span.text.chars().count()).sum()
}

/// The line, with the words of its last part on further lines where it is too long.
fn wrapped(mut line: Vec<Span>) -> Vec<Vec<Span>> {
    if columns(&line) <= MAX_COLUMNS {
        return vec![line];
    }
    let Some(Span { text, colour, is_bold }) = line.pop() else {
        return Vec::new();
    };
    let text_start = text.len() - text.trim_start().len();
    let (start, gutter) = (columns(&line) + text_start, columns(&line[..1.min(line.len())]));
    let mut lines = Vec::new();
    let mut part = text[..text_start].to_string();
    for word in text.split_whitespace() {
        let is_full = columns(&line) + part.chars().count() + word.chars().count() > MAX_COLUMNS;
        if is_full && !part.trim().is_empty() {
            let gutter_again = line.first().map(|first| span(&first.text, first.colour, first.is_bold));
            line.push(span(part.trim_end(), colour, is_bold));
            lines.push(std::mem::take(&mut line));
            line.extend(gutter_again);
            // The text after a mark such as `^^^` continues below the words after the mark.
            part = " ".repeat(start - gutter + 4);
        }
        part.push_str(word);
        part.push(' ');
    }
    line.push(span(part.trim_end(), colour, is_bold));
    lines.push(line);
    lines
}

/// `error[E0308]: mismatched types`
fn headline(line: &str) -> Vec<Span> {
    let (code, rest) = line.split_at(line.find(':').unwrap_or(line.len()));
    vec![span(code, RED, true), span(rest, PLAIN, true)]
}

/// The place of the error, a quoted line, or the marks below one.
fn body_line(line: &str) -> Vec<Span> {
    let gutter_end = ["-->", "|"].iter().find_map(|end| Some(line.find(end)? + end.len()));
    let (gutter, rest) = line.split_at(gutter_end.unwrap_or(0));
    let gutter = span(gutter, BLUE, true);
    if gutter.text.trim() == "-->" {
        let file = rest.rsplit('/').next().unwrap_or_default();
        return vec![gutter, span(&format!(" {}", file.trim()), PLAIN, false)];
    }
    if gutter.text.trim() != "|" {
        return vec![gutter, span(rest, PLAIN, false)];
    }
    // Rustc marks the place of the error with `^` in red and related places with `-` in blue. A label
    // has the colour of the mark before it.
    let is_mark = |c: char| matches!(c, '^' | '-' | '|' | ' ');
    let label_start = rest.find(|c| !is_mark(c)).unwrap_or(rest.len());
    let red_start = rest[..label_start].find('^').unwrap_or(rest.len());
    let (blue, red) = rest.split_at(red_start);
    vec![gutter, span(blue, BLUE, true), span(red, RED, true)]
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
