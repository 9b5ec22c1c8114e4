//! A picture from a PNG or JPEG file.

use png::Transformations;
use rgb::RGB8;
use std::{error::Error, fs::File, io::BufReader, path::Path};
use zune_jpeg::{JpegDecoder, zune_core::options::DecoderOptions};

/// The most pixels of a picture: a decoder holds up to 4 bytes of each, 1 GB.
const MAX_PIXELS: u64 = 1 << 28;
/// The largest ratio of the longer side to the shorter one.
const MAX_RATIO: u64 = 1_000;

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
        let picture = match &ending[..] {
            "png" => Self::read_png(file),
            "jpg" | "jpeg" => Self::read_jpeg(file),
            _ => Err("the name of a picture ends in .png, .jpg or .jpeg".into()),
        };
        // A decoder may end its text with a line break.
        picture.map_err(|error| error.to_string().trim_end().into())
    }

    fn read_png(file: BufReader<File>) -> Result<Self, Box<dyn Error>> {
        let mut decoder = png::Decoder::new(file);
        decoder.set_transformations(Transformations::normalize_to_color8());
        let mut reader = decoder.read_info()?;
        ensure_small(reader.info().width as usize, reader.info().height as usize)?;
        let mut bytes = vec![0; reader.output_buffer_size().ok_or("the picture is too large")?];
        let info = reader.next_frame(&mut bytes)?;
        Self::new(info.width as usize, info.height as usize, &bytes[..info.buffer_size()])
    }

    fn read_jpeg(file: BufReader<File>) -> Result<Self, Box<dyn Error>> {
        let options = DecoderOptions::default().set_max_width(usize::MAX).set_max_height(usize::MAX);
        let mut decoder = JpegDecoder::new_with_options(file, options);
        decoder.decode_headers()?;
        let (width, height) = decoder.dimensions().ok_or("the picture has no size")?;
        ensure_small(width, height)?;
        Self::new(width, height, &decoder.decode()?)
    }

    /// A pixel is a gray value or three colors, and maybe its opacity.
    fn new(width: usize, height: usize, bytes: &[u8]) -> Result<Self, Box<dyn Error>> {
        let bytes_per_pixel = bytes.len().checked_div(width * height).ok_or("the picture has no pixel")?;
        let pixel = |bytes: &[u8]| match *bytes {
            [gray] | [gray, _] => RGB8::new(gray, gray, gray),
            [red, green, blue] | [red, green, blue, _] => RGB8::new(red, green, blue),
            _ => RGB8::default(),
        };
        Ok(Self { width, height, pixels: bytes.chunks_exact(bytes_per_pixel.max(1)).map(pixel).collect() })
    }
}

/// Refuses a picture that takes too much memory, itself or scaled to the model's height.
fn ensure_small(width: usize, height: usize) -> Result<(), Box<dyn Error>> {
    let (long, short) = (width.max(height) as u64, width.min(height) as u64);
    match long.saturating_mul(short) <= MAX_PIXELS && long <= short.saturating_mul(MAX_RATIO) {
        true => Ok(()),
        false => Err(format!(
            "a picture of {width} by {height} pixels; it may have {MAX_PIXELS}, and one side {MAX_RATIO} times the other"
        )
        .into()),
    }
}
