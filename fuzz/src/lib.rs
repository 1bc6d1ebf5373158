//! What the fuzz targets share: seeds, made by the product's own encoders so that they follow every change of format.

use std::env;
use std::fs;
use std::path::Path;

/// Writes each seed into the corpus, which is the first directory among the program's arguments. Nothing happens
/// without one, as when a single input is run again.
pub fn plant(seeds: impl IntoIterator<Item = Vec<u8>>) {
    let Some(corpus) = env::args().skip(1).find(|arg| Path::new(arg).is_dir()) else { return };
    for (number, seed) in seeds.into_iter().enumerate() {
        let file = Path::new(&corpus).join(format!("seed-{number:02}"));
        fs::write(file, seed).expect("the corpus can be written");
    }
}
