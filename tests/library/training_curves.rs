//! Curves of a training run from its metrics, and the page that shows them.

use crate::support::temp_dir;
use std::fs;
use typed_transformer::plot::{HtmlReport, training_curves};

#[test]
fn an_invalid_metrics_file_is_an_error_with_its_line() {
    let folder = temp_dir();
    let file = folder.path().join("metrics");
    let error = |text: &str| {
        fs::write(&file, text).unwrap();
        let error = training_curves(&file).unwrap_err().to_string();
        error.replace(&file.display().to_string(), "metrics")
    };
    assert_eq!(error("{\"loss\":1.0}\n"), "metrics: line 1: `step` is missing");
    assert!(error("{\"step\":1}\nx\n").starts_with("metrics: line 2: "));
    assert!(training_curves(&folder.path().join("missing")).is_err());
    fs::write(&file, "").unwrap();
    assert_eq!(training_curves(&file).unwrap(), []);
}

#[test]
fn a_last_line_that_was_cut_off_is_left_out() {
    let folder = temp_dir();
    let file = folder.path().join("metrics");
    let text = "{\"step\":1,\"loss\":3.5}\n{\"step\":2,\"loss\":-1.5e-3,\"naïve_loss\":3.0}";
    // One of the ends is within a letter.
    for end in text.find('\n').unwrap() + 1..text.len() {
        fs::write(&file, &text.as_bytes()[..end]).unwrap();
        let [plot] = &training_curves(&file).unwrap()[..] else { panic!("{end}") };
        assert_eq!(plot.lines[0].points, [(1.0, 3.5)]);
    }
}

#[test]
fn losses_that_fall_to_a_hundredth_are_logarithmic_and_learning_rates_are_not() {
    let folder = temp_dir();
    let file = folder.path().join("metrics");
    let is_log = |last: f64| {
        let line = |step: u32, value: f64| {
            format!("{{\"step\":{step},\"loss\":{value},\"learning_rate\":{}}}\n", value / 100.0)
        };
        fs::write(&file, line(1, 3.0) + &line(2, last)).unwrap();
        training_curves(&file).unwrap().iter().map(|plot| plot.is_log).collect::<Vec<_>>()
    };
    assert_eq!([is_log(0.02), is_log(0.04)], [[true, false], [false, false]]);
}

#[test]
fn a_page_shows_curves_side_by_side_and_rows_of_a_wide_table_as_paragraphs() {
    let folder = temp_dir();
    let file = folder.path().join("metrics");
    fs::write(&file, "{\"step\":1,\"loss\":3.5,\"learning_rate\":0.1}\n").unwrap();
    let mut page = HtmlReport::new("a page");
    page.training_curves(&file).unwrap();
    page.table(&["a", "b"], [["1", "2"]]);
    page.table(&["path", "module", "count"], [["x", "", "3"]]);
    let html = page.html();
    assert_eq!(html.matches("<figure class=\"half\">").count(), 2);
    assert!(html.contains("<td>1</td><td>2</td>"));
    assert!(html.contains("<td data-head=\"path\">x</td><td data-head=\"module\"></td><td data-head=\"count\">3</td>"));
    assert!(page.training_curves(&folder.path().join("missing")).is_err());
    page.table(&["a \"b\"", "c", "d"], [["1", "2", "3"]]);
    assert!(page.html().contains("<td data-head=\"a &quot;b&quot;\">1</td>"));
}

#[test]
fn a_long_training_is_downsampled_by_averaging() {
    let folder = temp_dir();
    let file = folder.path().join("metrics");
    let line = |step| format!("{{\"step\":{step},\"loss\":{}.0}}\n", step % 2);
    fs::write(&file, (1..=1600).map(line).collect::<String>()).unwrap();
    let points = &training_curves(&file).unwrap()[0].lines[0].points;
    assert_eq!((points.len(), points[0]), (800, (1.5, 0.5)));
}
