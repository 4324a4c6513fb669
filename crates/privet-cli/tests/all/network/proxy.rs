//! A proxy of our own between dialling parties and the listener: it delays, stalls, resets in the middle of a frame and swallows; it can ask for
//! CONNECT first; and it keeps what it carries.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What goes wrong, in a thousand pieces of at most 16 KiB.
#[derive(Clone, Copy, Default)]
pub(crate) struct Faults {
    pub(crate) delay: Duration,
    pub(crate) stalls: u64,
    pub(crate) resets: u64,
    /// From then on nothing comes through, and the connection stays open.
    pub(crate) swallows: u64,
    pub(crate) asks_connect: bool,
}

pub(crate) struct Proxy {
    pub(crate) port: u16,
    /// Everything that was carried.
    pub(crate) seen: Arc<Mutex<Vec<u8>>>,
    /// How often something went wrong.
    pub(crate) faults: Arc<AtomicU64>,
}

/// A coin that depends on a counter only, so that no two pieces fall alike.
fn coin(counter: &AtomicU64) -> u64 {
    let mut x = counter.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (x ^ (x >> 31)) % 1000
}

impl Proxy {
    pub(crate) fn start(to: u16, faults: Faults, seed: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = Self {
            port: listener.local_addr().unwrap().port(),
            seen: Arc::default(),
            faults: Arc::default(),
        };
        let (seen, count) = (proxy.seen.clone(), proxy.faults.clone());
        let coins = Arc::new(AtomicU64::new(seed));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { continue };
                let (seen, count, coins) = (seen.clone(), count.clone(), coins.clone());
                thread::spawn(move || {
                    if faults.asks_connect && !connected(&mut stream) {
                        return;
                    }
                    let Ok(other) = TcpStream::connect(("127.0.0.1", to)) else {
                        return;
                    };
                    let _ = (stream.set_nodelay(true), other.set_nodelay(true));
                    let back = (other.try_clone().unwrap(), stream.try_clone().unwrap());
                    let both = (seen.clone(), count.clone(), coins.clone());
                    thread::spawn(move || carry(back, faults, both));
                    carry((stream, other), faults, (seen, count, coins));
                });
            }
        });
        proxy
    }
}

/// Answers CONNECT, as a proxy does.
fn connected(stream: &mut TcpStream) -> bool {
    let (mut asked, mut byte) = (Vec::new(), [0]);
    while !asked.ends_with(b"\r\n\r\n") {
        if stream.read_exact(&mut byte).is_err() || asked.len() > 1000 {
            return false;
        }
        asked.push(byte[0]);
    }
    asked.starts_with(b"CONNECT 127.0.0.1:")
        && stream
            .write_all(b"HTTP/1.1 200 Connected\r\nVia: test\r\n\r\n")
            .is_ok()
}

type Shared = (Arc<Mutex<Vec<u8>>>, Arc<AtomicU64>, Arc<AtomicU64>);

fn carry((mut from, mut to): (TcpStream, TcpStream), faults: Faults, (seen, count, coins): Shared) {
    let mut buffer = vec![0; 1 << 14];
    let mut swallowing = false;
    while let Ok(read @ 1..) = from.read(&mut buffer) {
        if swallowing {
            continue;
        }
        thread::sleep(faults.delay);
        let fallen = coin(&coins);
        let piece = &buffer[..read];
        if fallen < faults.resets {
            count.fetch_add(1, Ordering::Relaxed);
            let _ = to.write_all(&piece[..read / 2]);
            break;
        }
        if fallen < faults.resets + faults.stalls {
            count.fetch_add(1, Ordering::Relaxed);
            thread::sleep(Duration::from_millis(700));
        } else if fallen < faults.resets + faults.stalls + faults.swallows {
            count.fetch_add(1, Ordering::Relaxed);
            swallowing = true;
            continue;
        }
        seen.lock().unwrap().extend_from_slice(piece);
        if to.write_all(piece).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}
