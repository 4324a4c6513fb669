//! Images of handwritten digits and of clothes, in files of the idx format; shifted and turned copies of them.

use std::io::Read;
use std::path::Path;

use privet::Error;
use privet::privacy::Coins;

/// Pixels on each side.
pub(super) const SIDE: usize = 28;
/// Pixels of an image.
pub(super) const PIXELS: usize = SIDE * SIDE;

/// Images and what they show.
pub(super) struct Images {
    pixels: Vec<u8>,
    labels: Vec<u8>,
}

impl Images {
    /// Reads `<part>-images-idx3-ubyte.gz` and the labels beside it.
    pub(super) fn read(folder: &Path, part: &str) -> Result<Self, Error> {
        let images = folder.join(format!("{part}-images-idx3-ubyte.gz"));
        let labels = folder.join(format!("{part}-labels-idx1-ubyte.gz"));
        let images = Self {
            pixels: idx(&images, 3)?,
            labels: idx(&labels, 1)?,
        };
        if images.pixels.len() != PIXELS * images.labels.len() {
            return Err(Error::data_in(
                folder.display(),
                "there are not as many images as labels",
            ));
        }
        Ok(images)
    }

    /// All images with a label, their brightness from 0 to 1.
    pub(super) fn of(&self, label: u8) -> Vec<Vec<f32>> {
        let all = self.labels.iter().zip(self.pixels.chunks_exact(PIXELS));
        all.filter(|(own, _)| **own == label)
            .map(|(_, pixels)| pixels.iter().map(|p| f32::from(*p) / 255.0).collect())
            .collect()
    }
}

/// The bytes of an idx file behind its header.
fn idx(path: &Path, dimensions: usize) -> Result<Vec<u8>, Error> {
    let bad = |why: String| {
        Error::data_in(
            path.display(),
            format!("{why}; the folder that PRIVET_DATA names needs the idx files of the data set"),
        )
    };
    let file = std::fs::File::open(path).map_err(|e| bad(format!("it cannot be read ({e})")))?;
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(file)
        .read_to_end(&mut bytes)
        .map_err(|e| bad(format!("it is not a gzip file ({e})")))?;
    let header = 4 + 4 * dimensions;
    if bytes.len() < header || usize::from(bytes[3]) != dimensions {
        return Err(bad(format!("it is not an idx file of {dimensions} dimensions")));
    }
    Ok(bytes.split_off(header))
}

/// A copy that is turned by up to 10 degrees and shifted by up to 2 pixels, between pixels by their distance, black outside.
pub(super) fn moved(image: &[f32], coins: &mut Coins) -> Vec<f32> {
    let spread = |most: f64, coins: &mut Coins| most * (2.0 * coins.unit() - 1.0);
    let angle = spread(10f64.to_radians(), coins);
    let (down, right) = (spread(2.0, coins), spread(2.0, coins));
    let (sin, cos) = angle.sin_cos();
    let middle = (SIDE as f64 - 1.0) / 2.0;
    let at = |y: i64, x: i64| {
        let inside = |i: i64| usize::try_from(i).ok().filter(|i| *i < SIDE);
        match (inside(y), inside(x)) {
            (Some(y), Some(x)) => f64::from(image[y * SIDE + x]),
            _ => 0.0,
        }
    };
    let mut copy = Vec::with_capacity(PIXELS);
    for row in 0..SIDE {
        for column in 0..SIDE {
            let (y, x) = (row as f64 - middle, column as f64 - middle);
            let from_y = cos * y - sin * x + middle + down;
            let from_x = sin * y + cos * x + middle + right;
            let (top, left) = (from_y.floor(), from_x.floor());
            let (fy, fx) = (from_y - top, from_x - left);
            let (top, left) = (top as i64, left as i64);
            let upper = (1.0 - fx) * at(top, left) + fx * at(top, left + 1);
            let lower = (1.0 - fx) * at(top + 1, left) + fx * at(top + 1, left + 1);
            copy.push(((1.0 - fy) * upper + fy * lower) as f32);
        }
    }
    copy
}
