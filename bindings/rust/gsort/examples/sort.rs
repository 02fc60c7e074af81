// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sorts, ranks, selects and adds up the sizes of the files below a folder.
//!
//! Run it with `cargo run --release --example sort -- [FOLDER]`.

use gsort::{Error, Nans, Order, Pick, Sorter};
use std::path::{Path, PathBuf};

fn collect(folder: &Path, files: &mut Vec<(PathBuf, u64)>) {
    // Folders that may not be read have no files for us.
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => collect(&entry.path(), files),
            Ok(metadata) if metadata.is_file() => files.push((entry.path(), metadata.len())),
            _ => {}
        }
    }
}

fn main() -> Result<(), Error> {
    let folder = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("."), PathBuf::from);
    if std::env::args_os().len() > 2 {
        eprintln!("usage: sort [FOLDER]");
        std::process::exit(2);
    }
    if let Err(error) = std::fs::read_dir(&folder) {
        eprintln!("sort: {}: {error}", folder.display());
        std::process::exit(1);
    }
    let mut files = Vec::new();
    collect(&folder, &mut files);
    let sizes: Vec<u64> = files.iter().map(|(_, size)| *size).collect();

    let sorter = Sorter::new()?;
    let info = sorter.info()?;
    println!("gsort {} on {} ({})", gsort::version(), info.device_name, info.reason);
    println!("{} files below {}, {} bytes", sizes.len(), folder.display(), sorter.sum(&sizes)?);
    if let (Some(least), Some(greatest)) = (sorter.min(&sizes, Nans::Ordered)?, sorter.max(&sizes, Nans::Ordered)?) {
        println!("from {least} to {greatest} bytes, {:.1} on average", sorter.mean(&sizes)?);
    }

    println!("the largest:");
    let largest: Vec<usize> = sorter.topk_indices(&sizes, sizes.len().min(10), Pick::GREATEST)?;
    for file in largest {
        println!("  {:>14}  {}", files[file].1, files[file].0.display());
    }

    // The file in the middle of the order, by two ways that must agree.
    let places: Vec<u32> = sorter.argsort(&sizes, Order::ASCENDING)?;
    let mut sorted = sizes.clone();
    sorter.sort(&mut sorted, Order::ASCENDING)?;
    if let Some(&middle) = places.get(places.len() / 2) {
        println!("median: {} bytes, {}", sorted[places.len() / 2], files[middle as usize].0.display());
        assert_eq!(sorted[places.len() / 2], sizes[middle as usize]);
    }
    Ok(())
}
