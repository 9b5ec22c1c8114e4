//! The pixels that CLIP reads, as `CLIPImageProcessor` of HuggingFace prepares them.

use super::picture::Picture;
use resize::{Pixel, Type};
use rgb::RGB8;
use std::error::Error;
use typed_transformer::{
    models::published::clip_vit_base_patch32::{Channels, Config, Height, Width},
    models::vit::Images,
    ops::tensor,
    prelude::*,
};

dims! {
    /// The images that are read at once.
    pub Image = 1;
}

/// The mean of red, green and blue in the images that the model was trained on.
const MEANS: [f32; 3] = [0.481_454_66, 0.457_827_5, 0.408_210_73];
/// Their standard deviations.
const DEVIATIONS: [f32; 3] = [0.268_629_54, 0.261_302_6, 0.275_777_1];

/// The middle of a picture, whose shorter side becomes that of the model: `-> (Image, Channels, Height, Width)`. A color
/// has mean 0 and variance 1 over the images that the model was trained on.
pub fn pixels<D: Backend<f32>>(device: &D, picture: &Picture) -> Result<Images<Image, Config, f32, D>, Box<dyn Error>> {
    let side = Height::SIZE;
    let scaled = |len: usize| side * len / picture.width.min(picture.height);
    let (width, height) = (scaled(picture.width), scaled(picture.height));
    let mut resized = vec![RGB8::default(); width * height];
    resize::new(picture.width, picture.height, width, height, Pixel::RGB8, Type::Catrom)?
        .resize(&picture.pixels, &mut resized)?;
    let rows = resized.chunks(width).skip((height - side) / 2).take(side);
    let cropped: Vec<RGB8> = rows.flat_map(|row| row[(width - side) / 2..][..side].to_vec()).collect();
    let colors = (0..3).flat_map(|color| cropped.iter().map(move |pixel| (color, <[u8; 3]>::from(*pixel)[color])));
    let elements = colors.map(|(color, value)| (f32::from(value) / 255.0 - MEANS[color]) / DEVIATIONS[color]);
    Ok(tensor(device, elements.collect::<Vec<_>>(), (Image, Channels, Height, Width))?)
}
