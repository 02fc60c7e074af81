// SPDX-License-Identifier: MIT OR Apache-2.0
//! Watches a long sort and stops it half-way.
//!
//! Run it with `cargo run --release --example progress -- [KEYS]`.

use gsort::{Error, Order, Sorter, Status};
use std::ops::ControlFlow;

const KEYS_MAX: u64 = 100_000_000;

/// The number of keys that was asked for; `None` if it makes no sense.
fn keys_of(mut arguments: impl Iterator<Item = String>) -> Option<u64> {
    let n = arguments.next().map_or(Some(4_000_000), |text| text.parse().ok());
    n.filter(|n| (1..=KEYS_MAX).contains(n) && arguments.next().is_none())
}

fn main() -> Result<(), Error> {
    let Some(n) = keys_of(std::env::args().skip(1)) else {
        eprintln!("usage: progress [KEYS], KEYS from 1 to {KEYS_MAX}");
        std::process::exit(2);
    };
    let mut keys: Vec<u64> = (0..n).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();

    let sorter = Sorter::new()?;
    sorter.set_progress(|progress| {
        println!("{:5.1} %", progress.fraction() * 100.0);
        if progress.fraction() < 0.5 {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    })?;
    match sorter.sort(&mut keys, Order::ASCENDING) {
        Err(error) if error.status() == Status::Cancelled => println!("stopped: {}", error.message()),
        Err(error) => return Err(error),
        Ok(()) => println!("sorted {n} keys before half of the work was reported"),
    }

    sorter.clear_progress()?;
    sorter.sort(&mut keys, Order::ASCENDING)?;
    assert!(keys.windows(2).all(|pair| pair[0] <= pair[1]));
    println!("sorted {n} keys");
    Ok(())
}
