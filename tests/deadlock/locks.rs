// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Locks of Rust's std: no owner is to be read from them.
use std::sync::{Arc, Barrier, Condvar, Mutex, RwLock};
use std::thread;

extern "C" {
    fn alarm(seconds: u32) -> u32;
}

#[inline(never)]
fn takes(mutex: &Mutex<u32>) -> u32 {
    *mutex.lock().unwrap()
}

fn start<F: FnOnce() + Send + 'static>(name: &str, f: F) -> thread::JoinHandle<()> {
    thread::Builder::new().name(name.to_string()).spawn(f).unwrap()
}

fn mutex() {
    let locks = Arc::new((Mutex::new(1), Mutex::new(2), Barrier::new(2)));
    let other = locks.clone();
    let ant = start("ant", move || {
        let first = locks.0.lock().unwrap();
        locks.2.wait();
        println!("{}", *first + takes(&locks.1));
    });
    start("bee", move || {
        let first = other.1.lock().unwrap();
        other.2.wait();
        println!("{}", *first + takes(&other.0));
    });
    ant.join().unwrap();
}

#[inline(never)]
fn waits(mutex: &Mutex<u32>, news: &Condvar) -> u32 {
    *news.wait(mutex.lock().unwrap()).unwrap()
}

fn condvar() {
    let consumer = start("consumer", || {
        let mutex = Mutex::new(1);
        let news = Condvar::new();
        println!("{}", waits(&mutex, &news));
    });
    consumer.join().unwrap();
}

#[inline(never)]
fn writes(lock: &RwLock<u32>) -> u32 {
    *lock.write().unwrap()
}

fn rwlock() {
    let alone = start("alone", || {
        let lock = RwLock::new(1);
        let first = lock.read().unwrap();
        println!("{}", *first + writes(&lock));
    });
    alone.join().unwrap();
}

#[inline(never)]
fn parks() {
    thread::park();
}

fn park() {
    start("parked", parks).join().unwrap();
}

fn main() {
    unsafe { alarm(120) };
    match std::env::args().nth(1).as_deref() {
        Some("mutex") => mutex(),
        Some("condvar") => condvar(),
        Some("rwlock") => rwlock(),
        Some("park") => park(),
        _ => std::process::exit(2),
    }
}
