use crate::nn::Summary;
use std::{fmt::Write, fs, io, path::Path};

/// A self-contained HTML page: it fetches nothing and has no script. It adapts to narrow screens and to dark
/// mode.
///
/// ```
/// use typed_transformer::plot::HtmlReport;
/// let mut report = HtmlReport::new("rot13");
/// report.heading("Settings");
/// report.table(&["setting", "value"], [["steps", "2,000"], ["seed", "0 < 1"]]);
/// let html = report.html();
/// assert!(html.starts_with("<!DOCTYPE html>") && html.contains("<td>0 &lt; 1</td>"));
/// ```
#[derive(Clone, Debug)]
pub struct HtmlReport {
    title: String,
    body: String,
}

const STYLE: &str = "
:root { color-scheme: light dark; }
body { margin: 0 auto; padding: 1rem; max-width: 60rem; font: 1rem/1.5 system-ui, sans-serif;
  color: #1a1a1a; background: #fff; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.25rem; margin-top: 2.5rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .25rem 1rem .25rem 0;
  border-bottom: 1px solid #ccc; }
pre { font-size: .85rem; line-height: 1.35; white-space: pre-wrap; }
figure { margin: 1.5rem 0; }
figcaption { font-size: .9rem; color: #555; margin-top: .25rem; }
svg { display: block; height: auto; max-width: 100%; }
@media (prefers-color-scheme: dark) {
  body { color: #ddd; background: #111; }
  th, td { border-color: #444; }
  figcaption { color: #aaa; }
  svg { filter: invert(.93) hue-rotate(180deg); }
}
";

impl HtmlReport {
    /// A page with a title and no content.
    #[must_use]
    pub fn new(title: &str) -> Self {
        Self { title: escape(title), body: String::new() }
    }

    /// Adds the heading of a section.
    pub fn heading(&mut self, text: &str) {
        self.add(format_args!("<h2>{}</h2>", escape(text)));
    }

    /// Adds a paragraph.
    pub fn text(&mut self, text: &str) {
        self.add(format_args!("<p>{}</p>", escape(text)));
    }

    /// Adds text that keeps its line breaks, in a monospaced font.
    pub fn preformatted(&mut self, text: &str) {
        self.add(format_args!("<pre>{}</pre>", escape(text)));
    }

    /// Adds a table: the headings of its columns and its rows.
    pub fn table<const N: usize>(&mut self, head: &[&str; N], rows: impl IntoIterator<Item = [impl AsRef<str>; N]>) {
        let row = |tag: &str, cells: &mut dyn Iterator<Item = &str>| {
            let cells: String = cells.map(|cell| format!("<{tag}>{}</{tag}>", escape(cell))).collect();
            format!("<tr>{cells}</tr>\n")
        };
        let head = row("th", &mut head.iter().copied());
        let rows: String = rows.into_iter().map(|cells| row("td", &mut cells.iter().map(AsRef::as_ref))).collect();
        self.add(format_args!("<div class=\"wide\"><table>\n{head}{rows}</table></div>"));
    }

    /// Adds a table of the modules of a model and their parameters.
    pub fn summary(&mut self, summary: &Summary) {
        let rows = summary.rows.iter().map(|row| {
            let name_and_dims = |(name, dims): &(_, _)| format!("{name} {dims}");
            let parameters: Vec<String> = row.parameters.iter().map(name_and_dims).collect();
            let count = match row.count {
                0 => String::new(),
                count => count.to_string(),
            };
            let output = row.output.clone().unwrap_or_default();
            [row.path.clone(), row.module.to_string(), output, parameters.join(", "), count]
        });
        let mut total = <[String; 5]>::default();
        (total[0], total[4]) = ("total".into(), summary.total.to_string());
        let head = ["path", "module", "output", "parameters", "count"];
        self.table(&head, rows.chain([total]));
    }

    /// Adds a picture with a caption. `svg` is the content of an `.svg` file. On a narrow screen the picture
    /// shrinks to about half its width; below that it scrolls sideways.
    pub fn picture(&mut self, svg: &str, caption: &str) {
        let svg = svg.replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1);
        let width: Option<f64> = (svg.split_once("width=\"").and_then(|(_, rest)| rest.split_once('"')))
            .and_then(|(width, _)| width.parse().ok());
        let min_width = width.map_or(0.0, |width| (width * 0.55).round());
        let svg = svg.replacen("<svg", &format!("<svg style=\"min-width:{min_width}px\""), 1);
        let (svg, caption) = (svg.trim_end(), escape(caption));
        self.add(format_args!("<figure><div class=\"wide\">{svg}</div><figcaption>{caption}</figcaption></figure>"));
    }

    /// The page as HTML.
    #[must_use]
    pub fn html(&self) -> String {
        let Self { title, body } = self;
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n\
             {body}</body>\n</html>\n"
        )
    }

    /// Writes the page into a file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        fs::write(path, self.html())
    }

    fn add(&mut self, html: std::fmt::Arguments) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.body, "{html}");
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
