//! From what somebody uploads to the small squares that are kept: decoded within bounds, turned upright, scaled, and written
//! anew, so that nothing of the file itself stays: no place where it was taken, no text, no second file behind the first.

use std::io::Cursor;

use bytes::Bytes;
use image::codecs::jpeg::JpegEncoder;
use image::imageops::{FilterType, overlay};
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits, Rgba, RgbaImage};
use tillkeep_http::error::{Error, Result};
use tillkeep_http::pictures::{LARGE, SMALL, hash_of};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

/// Pixels that a picture may have, and those of a side: cameras of phones have up to 50 million, few of 2 MiB.
const MOST_PIXELS: u64 = 40_000_000;
const LONGEST_SIDE: u32 = 10_000;
/// Bytes of memory for a picture while it is decoded.
const MOST_MEMORY: u64 = 192 << 20;
/// How well it is written: beyond it grows and looks the same.
const QUALITY: u8 = 85;

/// One at a time: what decodes takes memory, and nobody uploads many at once.
static TURN: Semaphore = Semaphore::const_new(1);

/// A picture in both sizes.
#[derive(Debug)]
pub(super) struct Scaled {
    pub hash: String,
    pub large: Vec<u8>,
    pub small: Vec<u8>,
}

pub(super) async fn scaled(upload: Bytes) -> Result<Scaled> {
    let turn = TURN.acquire().await.map_err(Error::internal)?;
    let work = spawn_blocking(move || {
        // Until the work is done, whether or not somebody waits for it.
        let _turn = turn;
        scale(&upload)
    });
    work.await.map_err(|error| unreadable().because(error))?
}

fn refused(text: impl Into<String>) -> Error {
    Error::field("picture", text)
}

fn unreadable() -> Error {
    refused("cannot be read: the file is damaged, or of a kind that is not supported")
}

/// By how it begins, whatever the request says of it.
fn format_of(upload: &[u8]) -> Option<ImageFormat> {
    match upload {
        [0xff, 0xd8, 0xff, ..] => Some(ImageFormat::Jpeg),
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(ImageFormat::Png),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(ImageFormat::WebP),
        _ => None,
    }
}

fn scale(upload: &[u8]) -> Result<Scaled> {
    let (picture, orientation) = decoded(upload)?;
    let mut large = fitted(&picture, LARGE.unsigned_abs());
    // Not before: turned as a whole it would take its memory twice.
    drop(picture);
    large.apply_orientation(orientation);
    let small = fitted(&large, SMALL.unsigned_abs());
    let large = jpeg(&large, LARGE.unsigned_abs()).map_err(Error::internal)?;
    let small = jpeg(&small, SMALL.unsigned_abs()).map_err(Error::internal)?;
    Ok(Scaled { hash: hash_of(&[&large, &small]), large, small })
}

/// What it shows, and how that is turned upright. How large it becomes is known before the first pixel is unpacked.
fn decoded(upload: &[u8]) -> Result<(DynamicImage, Orientation)> {
    let format = format_of(upload).ok_or_else(|| refused("must be a JPEG, PNG or WebP file"))?;
    let mut reader = ImageReader::with_format(Cursor::new(upload), format);
    let mut limits = Limits::no_limits();
    limits.max_image_width = Some(LONGEST_SIDE);
    limits.max_image_height = Some(LONGEST_SIDE);
    limits.max_alloc = Some(MOST_MEMORY);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(why)?;
    let (width, height) = decoder.dimensions();
    if u64::from(width) * u64::from(height) > MOST_PIXELS || decoder.total_bytes() > MOST_MEMORY {
        return Err(too_many());
    }
    // What says nothing of it that can be read is as it is.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    Ok((DynamicImage::from_decoder(decoder).map_err(why)?, orientation))
}

fn too_many() -> Error {
    refused(format!("has more than {} million pixels; send a smaller one", MOST_PIXELS / 1_000_000))
}

fn why(error: ImageError) -> Error {
    if matches!(error, ImageError::Limits(_)) { too_many() } else { unreadable().because(error) }
}

/// The whole of it within a square of `side`; a smaller one stays as it is.
fn fitted(picture: &DynamicImage, side: u32) -> DynamicImage {
    if picture.width() <= side && picture.height() <= side {
        return picture.clone();
    }
    picture.resize(side, side, FilterType::Triangle)
}

/// In the middle of a white square, where nothing is see-through any more.
fn jpeg(picture: &DynamicImage, side: u32) -> std::result::Result<Vec<u8>, ImageError> {
    let mut square = RgbaImage::from_pixel(side, side, Rgba([u8::MAX; 4]));
    let middle = |length: u32| i64::from(side.saturating_sub(length) / 2);
    overlay(&mut square, &picture.to_rgba8(), middle(picture.width()), middle(picture.height()));
    let mut file = Vec::new();
    JpegEncoder::new_with_quality(&mut file, QUALITY).encode_image(&DynamicImage::ImageRgba8(square).into_rgb8())?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(format: ImageFormat, width: u32, height: u32) -> Vec<u8> {
        let picture = RgbaImage::from_fn(width, height, |x, y| Rgba([x.to_le_bytes()[0], y.to_le_bytes()[0], 9, 128]));
        let mut file = Cursor::new(Vec::new());
        let picture = DynamicImage::ImageRgba8(picture);
        let picture = if format == ImageFormat::Jpeg { picture.into_rgb8().into() } else { picture };
        picture.write_to(&mut file, format).expect("a file");
        file.into_inner()
    }

    fn text(error: &Error) -> String {
        format!("{} {:?}", error.code().as_str(), error.details().first().map(|detail| &detail.field))
    }

    #[test]
    fn every_kind_becomes_two_white_squares_and_the_same_file_the_same_hash() {
        for format in [ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::WebP] {
            for (width, height) in [(1, 1), (20, 700), (900, 500), (320, 320)] {
                let file = written(format, width, height);
                let (one, two) = (scale(&file).expect("a picture"), scale(&file).expect("a picture"));
                assert_eq!((&one.hash, &one.large), (&two.hash, &two.large));
                for (jpeg, side) in [(&one.large, 320), (&one.small, 96)] {
                    let read = image::load_from_memory_with_format(jpeg, ImageFormat::Jpeg).expect("a JPEG");
                    assert_eq!((read.width(), read.height()), (side, side), "{format:?} {width} x {height}");
                    assert!(jpeg.len() < 128 << 10, "{}", jpeg.len());
                }
            }
        }
    }

    /// A JPEG, red on the left and blue on the right, which says of itself that its left is up.
    fn sideways(width: u32, height: u32) -> Vec<u8> {
        let half = |x| if x < width / 2 { Rgba([220, 0, 0, 255]) } else { Rgba([0, 0, 220, 255]) };
        let picture = RgbaImage::from_fn(width, height, |x, _| half(x));
        let mut file = Cursor::new(Vec::new());
        let picture = DynamicImage::ImageRgba8(picture).into_rgb8();
        picture.write_to(&mut file, ImageFormat::Jpeg).expect("a file");
        let file = file.into_inner();
        let said = b"\xff\xe1\x00\x22Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";
        [&file[..2], said, &file[2..]].concat()
    }

    #[test]
    fn what_a_camera_held_sideways_stands_upright_in_both_sizes() {
        let made = scale(&sideways(1000, 500)).expect("a picture");
        for (jpeg, side) in [(&made.large, 320), (&made.small, 96)] {
            let read = image::load_from_memory_with_format(jpeg, ImageFormat::Jpeg).expect("a JPEG").into_rgb8();
            let [top, bottom, edge] = [(side / 2, side / 8), (side / 2, side - side / 8), (side / 16, side / 2)]
                .map(|(x, y)| read.get_pixel(x, y).0);
            assert!(top[0] > 180 && top[2] < 60, "{side}: {top:?}");
            assert!(bottom[2] > 180 && bottom[0] < 60, "{side}: {bottom:?}");
            assert!(edge.iter().all(|part| *part > 240), "{side}: {edge:?}");
        }
    }

    #[test]
    fn what_is_no_picture_is_refused_at_its_field() {
        let png = written(ImageFormat::Png, 40, 40);
        let mut changed = png.clone();
        changed[40..60].fill(0);
        for file in
            [&b""[..], b"GIF89a", b"<svg/>", &[0xff, 0xd8, 0xff], &png[..60], &changed[..], b"RIFF\0\0\0\0WEBPVP8 "]
        {
            let refused = scale(file).expect_err("a refusal");
            assert_eq!(text(&refused), "validation Some(\"picture\")", "{}", refused.text());
        }
    }

    /// The header of a PNG that says how large it is, and nothing of it.
    fn promise(width: u32, height: u32) -> Vec<u8> {
        let mut png = written(ImageFormat::Png, 1, 1);
        png[16..20].copy_from_slice(&width.to_be_bytes());
        png[20..24].copy_from_slice(&height.to_be_bytes());
        let sum = crc(&png[12..29]);
        png[29..33].copy_from_slice(&sum.to_be_bytes());
        png
    }

    /// As PNG sums its parts up.
    fn crc(bytes: &[u8]) -> u32 {
        let step = |sum: u32, _: u32| if sum & 1 == 1 { 0xedb8_8320 ^ (sum >> 1) } else { sum >> 1 };
        !bytes.iter().fold(u32::MAX, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), step))
    }

    #[test]
    fn a_bomb_is_refused_before_it_is_unpacked() {
        for (width, height) in [(60_000, 60_000), (9_999, 9_999), (1, u32::from(u16::MAX)), (8_000, 5_001)] {
            let refused = scale(&promise(width, height)).expect_err("a refusal");
            assert!(refused.text().contains("pixels"), "{width} x {height}: {}", refused.text());
        }
    }
}
