// SPDX-License-Identifier: MIT OR Apache-2.0
//! Making, sharing, watching, cancelling and dropping sorters.

mod common;

use common::{cpu, sorters, Random};
use gsort::{Backend, Canceller, Error, Order, Sorter, Status};
use std::ops::ControlFlow;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// Keys enough for a sort to come to several chunks.
fn many_keys() -> Vec<u64> {
    let mut random = Random(1);
    (0..4_000_000).map(|_| random.next()).collect()
}

fn is_permutation(keys: &[u64]) -> bool {
    let (mut a, mut b) = (keys.to_vec(), many_keys());
    a.sort_unstable();
    b.sort_unstable();
    a == b
}

#[test]
fn types_may_cross_threads() {
    fn assert_send_sync<T: Send + Sync>() {}
    assert_send_sync::<Sorter>();
    assert_send_sync::<Canceller>();
    assert_send_sync::<Error>();
}

#[test]
fn info_and_versions_tell_what_is_there() {
    let sorter = Sorter::builder().backend(Backend::Cpu).threads(3).build().unwrap();
    let info = sorter.info().unwrap();
    assert_eq!((sorter.backend(), info.backend, info.threads), (Backend::Cpu, Backend::Cpu, 3));
    assert_eq!((info.device, info.compute_capability, info.device_memory_bytes), (None, None, 0));
    assert!(!info.reason.is_empty() && !info.device_name.is_empty(), "{info:?}");
    assert!(!sorter.as_ptr().is_null());

    assert_eq!(gsort::version().major, gsort::header_version().major);
    assert!(gsort::version() >= gsort::header_version());

    let automatic = Sorter::new().unwrap();
    assert!(automatic.info().unwrap().threads >= 1);
    assert!(format!("{automatic:?}").starts_with("Sorter { backend: C"));
}

#[test]
fn one_sorter_serves_many_threads() {
    for sorter in sorters() {
        std::thread::scope(|scope| {
            for seed in 0..8 {
                let sorter = &sorter;
                scope.spawn(move || {
                    let mut random = Random(seed);
                    for n in [10, 1000, 20_000] {
                        let mut keys: Vec<u32> = (0..n).map(|_| random.next() as u32).collect();
                        let mut expected = keys.clone();
                        expected.sort_unstable();
                        sorter.sort(&mut keys, Order::ASCENDING).unwrap();
                        assert!(keys == expected);
                        // The message of a failure is the failing thread's own.
                        let error = sorter.sort_segments(&mut keys, &[0, n + seed + 1], Order::ASCENDING).unwrap_err();
                        assert!(error.message().contains(&(n + seed + 1).to_string()), "{error}");
                    }
                });
            }
        });
    }
}

#[test]
fn a_sorter_may_move_to_and_end_in_another_thread() {
    let sorter = cpu();
    let mut keys = [2_i8, -1];
    sorter.sort(&mut keys, Order::ASCENDING).unwrap();
    let sum = std::thread::spawn(move || sorter.sum(&keys)).join().unwrap();
    assert_eq!(sum, Ok(1));
}

#[test]
fn progress_counts_up_to_the_whole() {
    for sorter in sorters() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&seen);
        let caller = std::thread::current().id();
        sorter
            .set_progress(move |progress| {
                assert_eq!(std::thread::current().id(), caller);
                sink.lock().unwrap().push(progress);
                ControlFlow::Continue(())
            })
            .unwrap();
        let mut keys = many_keys();
        sorter.sort(&mut keys, Order::ASCENDING).unwrap();
        assert!(keys.windows(2).all(|pair| pair[0] <= pair[1]));
        let seen = seen.lock().unwrap();
        assert!(!seen.is_empty(), "no progress was reported");
        assert!(seen.iter().all(|progress| progress.done <= progress.total && progress.total > 0), "{seen:?}");
        assert!(seen.windows(2).all(|pair| pair[0].done <= pair[1].done), "{seen:?}");
    }
}

#[test]
fn a_progress_function_cancels() {
    for sorter in sorters() {
        let sinks: [fn(&Canceller) -> ControlFlow<()>; 2] = [
            |_| ControlFlow::Break(()),
            |canceller| {
                canceller.cancel().unwrap();
                ControlFlow::Continue(())
            },
        ];
        for stop in sinks {
            let canceller = sorter.canceller();
            sorter.set_progress(move |_| stop(&canceller)).unwrap();
            let mut keys = many_keys();
            let error = sorter.sort(&mut keys, Order::ASCENDING).expect_err("it was cancelled");
            assert_eq!(error.status(), Status::Cancelled, "{error}");
            assert!(is_permutation(&keys));

            // Outputs of any type stay values of it.
            let (keys_in, values_in) = (many_keys(), vec!['x'; keys.len()]);
            let mut values_out = vec!['y'; keys.len()];
            let error = sorter.sort_pairs_into(&keys_in, &values_in, &mut keys, &mut values_out, Order::ASCENDING);
            assert_eq!(error.expect_err("it was cancelled").status(), Status::Cancelled);
            assert!(values_out.iter().all(|&value| value == 'x'));

            sorter.clear_progress().unwrap();
            sorter.sort(&mut keys, Order::DESCENDING).unwrap();
            assert!(keys.windows(2).all(|pair| pair[0] >= pair[1]));
        }
    }
}

#[test]
fn a_progress_function_cannot_use_its_sorter() {
    let sorter = Arc::new(cpu());
    let other = cpu();
    let calls = Arc::new(AtomicU64::new(0));
    // Weak: a function that owns its sorter would keep it for ever.
    let (inside, count) = (Arc::downgrade(&sorter), Arc::clone(&calls));
    sorter
        .set_progress(move |_| {
            let sorter = inside.upgrade().expect("the sorter is at work");
            let refused = [
                sorter.sum(&[1_u8]).map(drop),
                sorter.info().map(drop),
                sorter.clear_progress(),
                sorter.raw().synchronize(),
            ];
            for result in refused {
                assert_eq!(result.map_err(|error| error.status()), Err(Status::NotSupported));
            }
            assert_eq!(other.sum(&[1_u8, 2]), Ok(3));
            count.fetch_add(1, Relaxed);
            ControlFlow::Continue(())
        })
        .unwrap();
    sorter.sort(&mut many_keys(), Order::ASCENDING).unwrap();
    assert!(calls.load(Relaxed) > 0);
    assert_eq!(sorter.sum(&[1_u8]), Ok(1));
}

#[test]
fn a_panic_reaches_the_caller_and_the_sorter_goes_on() {
    for sorter in sorters() {
        sorter.set_progress(|_| panic!("enough")).unwrap();
        let mut keys = many_keys();
        let panic = catch_unwind(AssertUnwindSafe(|| sorter.sort(&mut keys, Order::ASCENDING))).unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"enough"));
        assert!(is_permutation(&keys));
        sorter.clear_progress().unwrap();
        sorter.sort(&mut keys, Order::ASCENDING).unwrap();
    }
}

#[test]
fn another_thread_cancels() {
    let sorter = cpu();
    let canceller = sorter.canceller();
    // Cancels until the sort has ended: the first attempts may come before it begins.
    let mut keys = many_keys();
    let result = std::thread::scope(|scope| {
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        scope.spawn(move || {
            while let Err(std::sync::mpsc::TryRecvError::Empty) = stopped.try_recv() {
                canceller.cancel().unwrap();
                std::thread::sleep(std::time::Duration::from_micros(200));
            }
        });
        let result = (0..200).map(|_| sorter.sort(&mut keys, Order::ASCENDING)).find(Result::is_err);
        drop(stop);
        result
    });
    let error = result.expect("one of 200 sorts was cancelled").unwrap_err();
    assert_eq!(error.status(), Status::Cancelled);
    assert!(is_permutation(&keys));
    assert_eq!(sorter.sum(&[5_u8]), Ok(5));
}

#[test]
fn a_canceller_may_outlive_its_sorter() {
    let sorter = cpu();
    let canceller = sorter.canceller();
    canceller.cancel().unwrap();
    assert_eq!(sorter.sum(&[5_u8]), Ok(5));
    drop(sorter);
    canceller.clone().cancel().unwrap();
    assert_eq!(format!("{canceller:?}"), "Canceller { sorter_alive: false }");
}

#[test]
fn the_log_tells_what_was_decided() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&lines);
    let log = move |line: &str| sink.lock().unwrap().push(line.to_owned());
    let sorter = Sorter::builder().backend(Backend::Cpu).log(log).build().unwrap();
    let mut keys: Vec<u32> = (0..100_000).rev().collect();
    sorter.sort(&mut keys, Order::ASCENDING).unwrap();
    drop(sorter);
    let lines = lines.lock().unwrap();
    assert!(!lines.is_empty(), "nothing was logged");
    assert!(lines.iter().all(|line| !line.is_empty() && !line.contains('\n')), "{lines:?}");
}

#[test]
fn empty_slices_succeed() {
    for sorter in sorters() {
        let (mut none, no_values): ([f64; 0], [u8; 0]) = ([], []);
        sorter.sort(&mut none, Order::ASCENDING).unwrap();
        sorter.sort_pairs(&mut none, &mut { no_values }, Order::ASCENDING).unwrap();
        assert_eq!(sorter.argsort::<f64, usize>(&none, Order::DESCENDING), Ok(vec![]));
        assert_eq!(sorter.merge(&none, &[1.0], Order::ASCENDING), Ok(vec![1.0]));
        assert_eq!(sorter.sum(&none), Ok(0.0));
        assert_eq!(sorter.min(&none, gsort::Nans::Last), Ok(None));
        assert_eq!(sorter.argmax(&none, gsort::Nans::Ordered), Ok(None));
    }
}
