//! What is drawn lies in the file, in the format of its name.

#![cfg(feature = "pictures")]

mod support;

use std::{fs, path::Path};
use support::Folder;
use typed_transformer::pictures::{Curve, Curves, PictureError};

fn curves(points: Vec<(f64, f64)>) -> Curves {
    Curves {
        title: "A title".into(),
        x: "across".into(),
        y: "upwards".into(),
        curves: vec![Curve {
            name: "a curve".into(),
            points,
        }],
    }
}

#[test]
fn an_svg_says_what_it_shows() {
    let folder = Folder::new();
    let file = folder.join("curves.svg");
    curves(vec![(0.0, 1.0), (1.0, 2.0)]).draw(&file).unwrap();
    let svg = fs::read_to_string(&file).unwrap();
    for text in ["A title", "across", "upwards", "a curve", "<polyline"] {
        assert!(svg.contains(text), "{text}");
    }
}

#[test]
fn a_png_is_one() {
    let folder = Folder::new();
    let file = folder.join("curves.png");
    curves(vec![(0.0, 1.0), (1.0, 2.0)]).draw(&file).unwrap();
    let bytes = fs::read(&file).unwrap();
    assert!(bytes.starts_with(b"\x89PNG"));
}

#[test]
fn a_curve_breaks_where_it_is_not_finite() {
    let folder = Folder::new();
    let file = folder.join("curves.svg");
    let points = [1.0, 2.0, f64::NAN, 3.0, f64::INFINITY, 4.0, 5.0];
    let points = points.iter().enumerate().map(|(x, y)| (x as f64, *y));
    curves(points.collect()).draw(&file).unwrap();
    let svg = fs::read_to_string(&file).unwrap();
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
}

#[test]
fn what_cannot_be_drawn_is_an_error() {
    let some = curves(vec![(0.0, 1.0)]);
    let gif = some.draw(Path::new("curves.gif")).unwrap_err();
    assert_eq!(
        gif.to_string(),
        "curves.gif: a picture is written as .svg or .png"
    );
    let folder = Folder::new();
    let missing = folder.path().join("missing").join("curves.svg");
    assert!(matches!(
        some.draw(&missing),
        Err(PictureError::Write { .. })
    ));
    let file = folder.join("curves.svg");
    for nothing in [vec![], vec![(0.0, f64::NAN)]] {
        assert!(matches!(
            curves(nothing).draw(&file),
            Err(PictureError::Nothing { .. })
        ));
    }
    assert!(folder.content().is_empty());
    // One point alone, and equal ones, have a range too.
    curves(vec![(3.0, 7.0)]).draw(&file).unwrap();
}
