//! A picture from a PNG or JPEG file.

use png::Transformations;
use rgb::RGB8;
use std::{error::Error, fs::File, io::BufReader, path::Path};
use zune_jpeg::JpegDecoder;

/// The pixels of a picture, row by row.
pub struct Picture {
    pub width: usize,
    pub height: usize,
    pub pixels: Vec<RGB8>,
}

impl Picture {
    /// Reads a file whose name ends in `.png`, `.jpg` or `.jpeg`. What is transparent keeps its color.
    pub fn read(path: &Path) -> Result<Self, Box<dyn Error>> {
        let file = BufReader::new(File::open(path)?);
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
        match &ending[..] {
            "png" => Self::read_png(file),
            "jpg" | "jpeg" => Self::read_jpeg(file),
            _ => Err("the name of a picture ends in .png, .jpg or .jpeg".into()),
        }
    }

    fn read_png(file: BufReader<File>) -> Result<Self, Box<dyn Error>> {
        let mut decoder = png::Decoder::new(file);
        decoder.set_transformations(Transformations::normalize_to_color8());
        let mut reader = decoder.read_info()?;
        let mut bytes = vec![0; reader.output_buffer_size().ok_or("the picture is too large")?];
        let info = reader.next_frame(&mut bytes)?;
        Self::new(info.width as usize, info.height as usize, &bytes[..info.buffer_size()])
    }

    fn read_jpeg(file: BufReader<File>) -> Result<Self, Box<dyn Error>> {
        let mut decoder = JpegDecoder::new(file);
        let bytes = decoder.decode()?;
        let (width, height) = decoder.dimensions().ok_or("it has no size")?;
        Self::new(width, height, &bytes)
    }

    /// A pixel is a gray value or three colors, and maybe its opacity.
    fn new(width: usize, height: usize, bytes: &[u8]) -> Result<Self, Box<dyn Error>> {
        let bytes_per_pixel = bytes.len().checked_div(width * height).ok_or("it has no pixel")?;
        let pixel = |bytes: &[u8]| match *bytes {
            [gray] | [gray, _] => RGB8::new(gray, gray, gray),
            [red, green, blue] | [red, green, blue, _] => RGB8::new(red, green, blue),
            _ => RGB8::default(),
        };
        Ok(Self { width, height, pixels: bytes.chunks_exact(bytes_per_pixel.max(1)).map(pixel).collect() })
    }
}
