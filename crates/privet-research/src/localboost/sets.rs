//! The data sets: what owners, the data user and the test have.
//!
//! Bounds, vocabulary and thresholds come from the data user's rows; what lies outside its bounds is clipped.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use privet::Error;
use rayon::prelude::*;
use serde::Deserialize;

use super::images::{Images, moved};
use super::rows::{Points, Set, normal, order};
use super::words::{Vocabulary, descriptors};
use crate::{Data, coins};

/// Copies of images for each class.
const COPIES: usize = 20_000;
/// Images of each class that the data user has.
const OWN: usize = 500;

/// Sets that were made already in this process.
static MADE: Mutex<BTreeMap<&'static str, Arc<Set>>> = Mutex::new(BTreeMap::new());

/// A data set by its name.
pub(super) fn set(data: &Data, name: &'static str) -> Result<Arc<Set>, Error> {
    let stopped = || Error::internal("nothing panics while a set is made");
    if let Some(set) = MADE.lock().map_err(|_| stopped())?.get(name) {
        return Ok(Arc::clone(set));
    }
    let made = match name {
        "synthetic-19" => synthetic(data)?,
        "mnist" => images(data, "mnist", [4, 9], 50)?,
        "mnist-3-5" => images(data, "mnist", [3, 5], 50)?,
        "mnist-7-9" => images(data, "mnist", [7, 9], 50)?,
        "fashion-mnist" => images(data, "fashion-mnist", [0, 6], 100)?,
        "adult" => adult(data)?,
        _ => return Err(Error::misuse(format!("no data set '{name}' is known"))),
    };
    let made = Arc::new(made);
    MADE.lock()
        .map_err(|_| stopped())?
        .insert(name, Arc::clone(&made));
    Ok(made)
}

/// The law of the synthetic set: a mixture of normal laws.
#[derive(Deserialize)]
struct Mixture {
    rows: usize,
    flip_y: f64,
    clusters: Vec<Cluster>,
}

#[derive(Deserialize)]
struct Cluster {
    label: u8,
    weight: f64,
    mean: Vec<f64>,
    factor: Vec<Vec<f64>>,
}

fn synthetic(data: &Data) -> Result<Set, Error> {
    let path = data.path("synthetic-19", "mixture.json");
    let text = std::fs::read_to_string(&path)
        .map_err(|e| Error::data_in(path.display(), format!("it cannot be read: {e}")))?;
    let law: Mixture = serde_json::from_str(&text)
        .map_err(|e| Error::data_in(path.display(), format!("it is not a mixture: {e}")))?;
    let width = law.clusters.first().map_or(0, |cluster| cluster.mean.len());
    let mut coins = coins(19);
    let mut all = Points::new(width);
    for _ in 0..law.rows {
        let mut place = coins.unit();
        let cluster = law.clusters.iter().find(|cluster| {
            place -= cluster.weight;
            place < 0.0
        });
        let Some(cluster) = cluster.or(law.clusters.last()) else {
            continue;
        };
        let mut x = cluster.mean.clone();
        for row in &cluster.factor {
            let z = normal(&mut coins);
            x.iter_mut().zip(row).for_each(|(x, f)| *x += z * f);
        }
        let class = match coins.unit() < law.flip_y {
            true => coins.below(2) as u8,
            false => cluster.label,
        };
        let x: Vec<f32> = x.into_iter().map(|x| x as f32).collect();
        all.push(&x, class);
    }
    let part = |from: f64, to: f64| {
        let [from, to] = [from, to].map(|share| (law.rows as f64 * share).round() as usize);
        Points {
            width,
            values: all.values[from * width..to * width].to_vec(),
            classes: all.classes[from..to].to_vec(),
        }
    };
    Ok(scaled([part(0.0, 0.75), part(0.95, 1.0), part(0.75, 0.95)], 0.0))
}

/// Owners', own and test points, with the bounds of the own ones, which lie at least `least` apart.
fn scaled([owners, own, test]: [Points; 3], least: f32) -> Set {
    let (low, mut high) = own.bounds();
    high.iter_mut()
        .zip(&low)
        .for_each(|(high, low)| *high = high.max(low + least.max(f32::MIN_POSITIVE)));
    Set {
        owners: owners.scaled(&low, &high),
        own: own.scaled(&low, &high),
        test: test.scaled(&low, &high),
    }
}

fn images(data: &Data, folder: &str, classes: [u8; 2], words: usize) -> Result<Set, Error> {
    let folder = data.path(folder, "");
    let [train, test] = ["train", "t10k"].map(|part| Images::read(&folder, part));
    let (train, test) = (train?, test?);
    let mut coins = coins(7);
    let (mut own, mut owners, mut tests) = (Vec::new(), Vec::new(), Vec::new());
    for (class, label) in classes.into_iter().enumerate() {
        let class = class as u8;
        let all = train.of(label);
        let mut dealt = order(all.len(), &mut coins);
        let rest = dealt.split_off(OWN.min(dealt.len()));
        own.extend(dealt.iter().map(|&i| (all[i].clone(), class)));
        for _ in 0..COPIES {
            let from = rest[coins.below(rest.len() as u64) as usize];
            owners.push((moved(&all[from], &mut coins), class));
        }
        tests.extend(test.of(label).into_iter().map(|image| (image, class)));
    }
    let described: Vec<Vec<f32>> = own.par_iter().map(|(image, _)| descriptors(image)).collect();
    let vocabulary = Vocabulary::new(&described.concat(), words, &mut coins);
    let counted = |images: &[(Vec<f32>, u8)]| {
        let counts: Vec<Vec<f32>> = images
            .par_iter()
            .map(|(image, _)| vocabulary.counts(image))
            .collect();
        let mut points = Points::new(words);
        for (counts, (_, class)) in counts.iter().zip(images) {
            points.push(counts, *class);
        }
        points
    };
    let dealt = order(owners.len(), &mut coins);
    let owners = counted(&owners).take(&dealt);
    Ok(scaled([owners, counted(&own), counted(&tests)], 1.0))
}

/// Adult: five numbers, two of them logarithms, and a flag for every value of a category but the first.
fn adult(data: &Data) -> Result<Set, Error> {
    const NUMBERS: [(usize, f64, f64); 5] = [
        (0, 17.0, 90.0),
        (4, 1.0, 16.0),
        (10, 0.0, 99_999.0),
        (11, 0.0, 4356.0),
        (12, 1.0, 99.0),
    ];
    const CATEGORIES: [usize; 7] = [1, 3, 5, 6, 7, 8, 9];
    let mut rows: Vec<Vec<String>> = Vec::new();
    for file in ["adult.data", "adult.test"] {
        let path = data.path("adult", file);
        let text = std::fs::read_to_string(&path)
            .map_err(|e| Error::data_in(path.display(), format!("it cannot be read: {e}")))?;
        let cells = |line: &str| -> Vec<String> {
            let line = line.trim().trim_end_matches('.');
            line.split(',').map(|cell| cell.trim().to_owned()).collect()
        };
        rows.extend(text.lines().map(cells).filter(|cells| cells.len() == 15));
    }
    let alphabets = CATEGORIES.map(|place| {
        let texts: std::collections::BTreeSet<&str> = rows.iter().map(|row| &*row[place]).collect();
        texts.into_iter().map(str::to_owned).collect::<Vec<String>>()
    });
    let point = |row: &Vec<String>| -> Vec<f32> {
        let mut point = Vec::new();
        for (place, low, high) in NUMBERS {
            let scale = |x: f64| if low == 0.0 { x.ln_1p() } else { x };
            let x = scale(row[place].parse().unwrap_or(low));
            point.push((2.0 * (x - scale(low)) / (scale(high) - scale(low)) - 1.0) as f32);
        }
        let flag = |is: bool| if is { 1.0 } else { -1.0 };
        for (place, alphabet) in CATEGORIES.iter().zip(&alphabets) {
            point.extend(alphabet.iter().skip(1).map(|text| flag(*text == row[*place])));
        }
        point.push(flag(row[13] == "United-States"));
        point.iter().map(|x| x.clamp(-1.0, 1.0)).collect()
    };
    let mut coins = coins(0);
    let dealt = order(rows.len(), &mut coins);
    let part = |of: &[usize]| {
        let mut points = Points::default();
        for &row in of {
            let own = point(&rows[row]);
            points.width = own.len();
            points.push(&own, u8::from(rows[row][14].starts_with(">50K")));
        }
        points
    };
    if dealt.len() < 10_000 {
        return Err(Error::data("adult has 48,842 rows, and fewer were found"));
    }
    Ok(Set {
        own: part(&dealt[..1000]),
        test: part(&dealt[1000..8842]),
        owners: part(&dealt[8842..]),
    })
}
