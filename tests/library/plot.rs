//! Plots are written to SVG and PNG files, chosen by the file's extension.

use crate::support::{file_names, temp_dir};
use std::{fs, path::Path};
use typed_transformer::plot::{HeatMap, HeatMapGrid, Line, LinePlot, PlotError, ScatterPlot};
use typed_transformer::prelude::*;

fn curves(points: Vec<(f64, f64)>) -> LinePlot {
    LinePlot {
        title: "A title".into(),
        x: "across".into(),
        y: "upwards".into(),
        lines: vec![Line { name: "a curve".into(), points }],
        ..LinePlot::default()
    }
}

/// The drawn file.
fn svg(draw: impl Fn(&Path) -> Result<(), PlotError>) -> String {
    let folder = temp_dir();
    let file = folder.path().join("plot.svg");
    draw(&file).unwrap();
    fs::read_to_string(&file).unwrap()
}

#[test]
fn an_svg_contains_its_labels_and_lines() {
    let mut plot = curves(vec![(0.0, 1.0), (1.0, 2.0)]);
    let one = svg(|file| plot.draw(file));
    for text in ["A title", "across", "upwards", "<polyline"] {
        assert!(one.contains(text), "{text}");
    }
    // One line needs no name beside the label of its axis, and the axis none beside the same title.
    assert!(!one.contains("a curve"));
    plot.lines.push(Line { name: "another".into(), ..plot.lines[0].clone() });
    plot.y = "a TITLE".into();
    let two = svg(|file| plot.draw(file));
    assert!(two.contains("\na curve\n") && two.contains("\nanother\n") && !two.contains("a TITLE"));
}

#[test]
fn a_logarithmic_axis_has_powers_of_ten() {
    let points = [(0.0, 5.0), (1.0, 0.1), (2.0, 0.0), (3.0, 0.001), (4.0, 0.002)];
    let plot = LinePlot { is_log: true, ..curves(points.to_vec()) };
    let svg = svg(|file| plot.draw(file));
    for label in ["1", "0.1", "0.01", "0.001"] {
        assert!(svg.contains(&format!("\n{label}\n")), "{label}");
    }
    // 0 has no place on it.
    assert_eq!(svg.matches("<polyline fill=\"none\" opacity=\"1\" stroke=\"#0072B2\" stroke-width=\"1\"").count(), 2);
}

/// Whatever else a plot has, a mark has the same colour.
#[test]
fn what_is_marked_has_one_colour() {
    for lines in 1..4 {
        let mut plot = curves(vec![(0.0, 1.0), (1.0, 2.0)]);
        plot.lines = vec![plot.lines[0].clone(); lines];
        plot.marks = ("resumed".into(), vec![0.5]);
        let svg = svg(|file| plot.draw(file));
        assert!(svg.contains("\nresumed\n"));
        assert_eq!(svg.matches("stroke=\"#969696\"").count(), 2, "a mark and its sample in the legend");
    }
}

#[test]
fn a_png_has_the_png_signature() {
    let folder = temp_dir();
    let file = folder.path().join("curves.png");
    curves(vec![(0.0, 1.0), (1.0, 2.0)]).draw(&file).unwrap();
    let bytes = fs::read(&file).unwrap();
    assert!(bytes.starts_with(b"\x89PNG"));
}

/// Nothing is drawn below the lowest point of a line, even at sharp corners.
#[test]
fn a_line_stays_within_the_axes() {
    let folder = temp_dir();
    let file = folder.path().join("curves.png");
    // Peaks on a slope, as gradient norms have.
    let height = |i: u32| f64::from(i * i * 37 % 101 * (i % 3) * (i % 7)) + f64::from(i) / 100.0;
    let points = (0..1_000).map(|i| (f64::from(i), height(i)));
    curves(points.collect()).draw(&file).unwrap();
    let reader = std::io::BufReader::new(fs::File::open(&file).unwrap());
    let mut reader = png::Decoder::new(reader).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    let is_blue = |row: &[u8]| row.chunks(3).any(|pixel| i16::from(pixel[2]) > i16::from(pixel[0]) + 60);
    let rows: Vec<_> = pixels.chunks(info.line_size).map(is_blue).collect();
    let lowest = rows.iter().rposition(|&is_blue| is_blue).unwrap();
    // Tick labels and axis title take 56 pixels.
    assert!(lowest + 56 < rows.len(), "{lowest} of {}", rows.len());
    assert!(rows[lowest - 200..=lowest].iter().all(|&is_blue| is_blue));
}

#[test]
fn legend_entries_do_not_overlap() {
    let folder = temp_dir();
    let file = folder.path().join("curves.svg");
    let mut picture = curves(vec![(0.0, 1.0), (1.0, 2.0)]);
    let name = |i: usize| match i % 3 {
        0 => format!("{i} WIDE MEMORY MAXIMUM"),
        1 => format!("curve {i} of a picture"),
        _ => format!("{i}th"),
    };
    picture.lines = (0..12).map(|i| Line { name: name(i), ..picture.lines[0].clone() }).collect();
    picture.draw(&file).unwrap();
    let svg = fs::read_to_string(&file).unwrap();
    let number = |text: &str, key: &str| -> usize {
        let (_, rest) = text.split_once(key).unwrap();
        rest.split('"').next().unwrap().parse().unwrap()
    };
    let places: Vec<_> = (0..12)
        .map(|i| {
            let (before, _) = svg.split_once(&format!("\n{}\n", name(i))).unwrap();
            let text = &before[before.rfind("<text").unwrap()..];
            (number(text, "y=\""), number(text, "x=\""))
        })
        .collect();
    // Estimated for a font of 15 pixels with wide capitals.
    let width = |name: &str| {
        let capitals = name.chars().filter(char::is_ascii_uppercase).count();
        13 * capitals + 7 * (name.len() - capitals)
    };
    let (mut last_y, mut end) = (0, 0);
    for (i, (y, x)) in places.into_iter().enumerate() {
        let name_end = x + width(&name(i));
        assert!(name_end < number(&svg, "width=\""), "{i}: {x}");
        assert!(y >= last_y + 18 || y == last_y && x > end, "{i}: ({x}, {y})");
        (last_y, end) = (y, name_end);
    }
    assert!(last_y < number(&svg, "height=\"") / 2);
}

#[test]
fn a_line_breaks_at_non_finite_values() {
    let folder = temp_dir();
    let file = folder.path().join("curves.svg");
    let points = [1.0, 2.0, f64::NAN, 3.0, f64::INFINITY, 4.0, 5.0];
    let points = points.iter().enumerate().map(|(x, y)| (x as f64, *y));
    curves(points.collect()).draw(&file).unwrap();
    let svg = fs::read_to_string(&file).unwrap();
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
}

#[test]
fn labels_of_small_numbers_differ() {
    let plot = curves(vec![(0.0, 0.0), (1.0, 1e-6)]);
    let svg = svg(|file| plot.draw(file));
    for label in ["0", "0.0000002", "0.0000004", "0.000001"] {
        assert_eq!(svg.matches(&format!("\n{label}\n")).count(), if label == "0" { 2 } else { 1 }, "{label}");
    }
}

#[test]
fn a_line_that_is_constant_but_for_rounding_is_flat() {
    let plot = curves(vec![(0.0, 5e-4), (1.0, 5e-4 * (1.0 + f64::EPSILON))]);
    let svg = svg(|file| plot.draw(file));
    assert_eq!(svg.matches("\n0.0005\n").count(), 1);
    assert!(svg.contains("\n0.0004\n"));
}

#[test]
fn a_control_character_of_a_label_is_replaced() {
    let mut plot = curves(vec![(0.0, 0.0), (1.0, 1.0)]);
    plot.title = "one\u{c}two".into();
    assert!(svg(|file| plot.draw(file)).contains("one\u{fffd}two"));
}

#[test]
fn the_axis_of_a_constant_line_shows_its_value() {
    let folder = temp_dir();
    let file = folder.path().join("curves.svg");
    curves(vec![(0.0, 5e-4), (1.0, 5e-4)]).draw(&file).unwrap();
    let svg = fs::read_to_string(&file).unwrap();
    assert!(svg.contains("\n0.0005\n"));
}

#[test]
fn an_empty_plot_or_unknown_format_is_an_error() {
    let some = curves(vec![(0.0, 1.0)]);
    let gif = some.draw(Path::new("curves.gif")).unwrap_err();
    assert_eq!(gif.to_string(), "curves.gif: the name of a plot must end in .svg or .png");
    let folder = temp_dir();
    let missing = folder.path().join("missing").join("curves.svg");
    assert!(matches!(some.draw(&missing), Err(PlotError::Write { .. })));
    let file = folder.path().join("curves.svg");
    for nothing in [vec![], vec![(0.0, f64::NAN)]] {
        assert!(matches!(curves(nothing).draw(&file), Err(PlotError::Nothing { .. })));
    }
    assert!(file_names(&folder).is_empty());
    // A single point or equal points also have a range.
    curves(vec![(3.0, 7.0)]).draw(&file).unwrap();
}

fn names(letters: &str) -> Vec<String> {
    letters.chars().map(String::from).collect()
}

fn heat(values: Vec<f64>) -> HeatMapGrid {
    HeatMapGrid {
        title: "Heat & < more".into(),
        scale: 0.0..1.0,
        columns_per_row: 2,
        panels: vec![HeatMap { name: "a panel".into(), rows: names("rs"), columns: names("xyz"), values }],
    }
}

#[test]
fn a_heat_map_draws_every_cell_and_label() {
    let folder = temp_dir();
    let file = folder.path().join("heat.svg");
    heat(vec![0.0, 1.0, 0.0, 0.5, f64::NAN, 0.0]).draw(&file).unwrap();
    let svg = fs::read_to_string(&file).unwrap();
    for text in ["Heat &amp; &lt; more", "a panel", "r", "s", "x", "y", "z"] {
        assert!(svg.contains(&format!("\n{text}\n")), "{text}");
    }
    // Each cell is 22 pixels high; four of the six are white or blank.
    assert_eq!(svg.matches("height=\"22\"").count(), 2);
    heat(vec![0.5; 6]).draw(&folder.path().join("heat.png")).unwrap();
}

#[test]
fn a_small_matrix_shows_its_values() {
    let small = svg(|file| heat(vec![0.25, -0.5, 1.0, f64::NAN, 0.125, 0.0]).draw(file));
    for number in ["0.25", "-0.50", "1.00", "0.12", "0.00"] {
        assert!(small.contains(&format!("\n{number}\n")), "{number}");
    }
    assert!(!small.contains("NaN"));
    let mut large = heat(vec![0.25; 18]);
    large.panels[0].columns = names("abcdefghi");
    assert!(!svg(|file| large.draw(file)).contains("\n0.25\n"));
}

#[test]
fn labels_of_narrow_columns_are_rotated() {
    let folder = temp_dir();
    let file = folder.path().join("heat.svg");
    // Columns of 32 pixels, of 16 pixels, and of 16 pixels with labels of one letter.
    for (columns, name, on_end) in [(4, "ab", 0), (16, "ab", 16), (16, "a", 0)] {
        let mut maps = heat(vec![0.5; 2 * columns]);
        maps.panels[0].columns = vec![name.into(); columns];
        maps.draw(&file).unwrap();
        let svg = fs::read_to_string(&file).unwrap();
        assert_eq!(svg.matches("rotate(270").count(), on_end, "{columns} of {name}");
    }
}

#[test]
fn a_heat_map_with_missing_values_is_an_error() {
    let folder = temp_dir();
    let file = folder.path().join("heat.svg");
    let error = heat(vec![0.5; 5]).draw(&file).unwrap_err().to_string();
    let expected = format!("{}: `a panel` should have 6 values but has 5", file.display());
    assert_eq!(error, expected);
    assert!(matches!(heat(vec![f64::NAN; 6]).draw(&file), Err(PlotError::Nothing { .. })));
    assert!(file_names(&folder).is_empty());
}

#[test]
fn attention_heat_maps_have_one_panel_per_head() {
    dims! { Batch = 2; Heads = 2; QLen = 2; KLen = 3; }
    let values: Vec<f32> = (0..24).map(|i| i as f32).collect();
    let weights: Tensor<(Batch, Heads, QLen, KLen), f32, Cpu> = Cpu::default().tensor(values);
    let layers = [weights.clone(), weights];
    let maps = HeatMapGrid::of_attention("", &layers, &names("ab"), &names("xy"));
    assert_eq!((maps.panels.len(), maps.columns_per_row), (4, 2));
    assert_eq!(maps.panels[0].values, [0.0, 1.0, 3.0, 4.0]);
    assert_eq!(maps.panels[3].values, [6.0, 7.0, 9.0, 10.0]);
    assert_eq!(maps.panels[3].name, "layer 1, head 1");
    assert_eq!(maps.panels[3].columns, names("xy"));
}

#[test]
fn pca_projects_rows_on_the_axes_of_largest_variance() {
    dims! { Rows = 5; Columns = 3; }
    // Far apart along (2, 3, 6) / 7, less along (6, 2, -3) / 7, and not in the third direction.
    let [long, short] = [[2.0, 3.0, 6.0], [6.0, 2.0, -3.0]];
    let places = [(-2.0, 0.0), (0.0, 1.0), (0.0, -1.0), (2.0, 0.0)];
    let row = |(a, b): (f64, f64)| [0, 1, 2].map(|i| a * long[i] + b * short[i] + 7.0);
    let mut values: Vec<f64> = places.into_iter().flat_map(row).collect();
    values.extend([1e6; 3]); // without a name
    let matrix: Tensor<(Rows, Columns), f64, Cpu> = Cpu::default().tensor(values);
    let points = ScatterPlot::pca_of_rows("", &matrix, &names("abcd"));
    assert_eq!(points.x, "principal component 1 (80 % of the variance)");
    for ((_, (x, y)), (a, b)) in points.points.iter().zip(places) {
        assert!((x - 7.0 * a).abs() < 1e-9 && (y - 7.0 * b).abs() < 1e-9, "{x} {y}");
    }
    let folder = temp_dir();
    points.draw(&folder.path().join("points.svg")).unwrap();
    points.draw(&folder.path().join("points.png")).unwrap();
}

/// A range that is not finite has no end.
#[test]
fn a_point_too_large_for_an_axis_is_left_out() {
    let folder = temp_dir();
    let file = folder.path().join("plot.svg");
    for far in [1.7e308, -1.7e308, 2e300] {
        let mut plot = curves(vec![(0.0, 1.0), (1.0, far), (2.0, 3.0), (far, 2.0), (3.0, -far)]);
        plot.marks = ("resumed".into(), vec![0.5, far, f64::NAN]);
        plot.draw(&file).unwrap();
        let svg = fs::read_to_string(&file).unwrap();
        assert!(svg.contains("\n2.5\n") && !svg.contains("NaN") && !svg.contains("inf"));
        assert_eq!(svg.matches("stroke=\"#969696\"").count(), 2, "a mark and its sample in the legend");
        let points = vec![("a".into(), (0.0, 1.0)), ("b".into(), (far, 1.0)), ("c".into(), (1.0, -far))];
        let plot = ScatterPlot { title: String::new(), x: "x".into(), y: "y".into(), points };
        plot.draw(&file).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap().matches("<circle").count(), 1);
        assert!(matches!(curves(vec![(0.0, far)]).draw(&file), Err(PlotError::Nothing { .. })));
    }
    // The largest that is drawn.
    curves(vec![(-1e300, 1e300), (1e300, -1e300)]).draw(&file).unwrap();
}

#[test]
fn an_infinity_does_not_stretch_the_scale_of_a_matrix() {
    dims! { Rows = 1; Columns = 3; }
    let matrix: Tensor<(Rows, Columns), f32, Cpu> = Cpu::default().tensor(vec![1.0, f32::NEG_INFINITY, -2.0]);
    assert_eq!(HeatMapGrid::of_matrix("", &matrix).scale, -2.0..2.0);
}
