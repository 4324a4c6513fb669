//! Addresses, connections to them, and proxies.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use privet::Error;

use super::HANDSHAKE;

/// The most bytes of a proxy's answer.
const MOST_ANSWER: usize = 8192;

/// A name or an address, and a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    host: String,
    port: u16,
}

impl FromStr for Address {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let bad = || {
            let why = format!(
                "{text:?} is no address: write a name or an IP address and a port, such as miner.example.org:7443, 192.0.2.1:7443 or [2001:db8::1]:7443"
            );
            Error::parameter("address", why)
        };
        let (host, port) = text.rsplit_once(':').ok_or_else(bad)?;
        let port = port.parse().map_err(|_| bad())?;
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        let fits = match bare {
            Some(host) => host.parse::<std::net::Ipv6Addr>().is_ok(),
            None => !host.is_empty() && host.len() < 254 && host.chars().all(is_plain),
        };
        let host = bare.unwrap_or(host).to_owned();
        if fits { Ok(Self { host, port }) } else { Err(bad()) }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

impl Address {
    /// The port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// A connection to any of the addresses that the name stands for.
    fn connect(&self, until: Instant) -> io::Result<TcpStream> {
        let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
        for address in (self.host.as_str(), self.port).to_socket_addrs()? {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            match TcpStream::connect_timeout(&address, left) {
                Ok(stream) => return Ok(stream),
                Err(e) => last = e,
            }
        }
        Err(last)
    }
}

/// An HTTP proxy that connects by CONNECT.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proxy(pub Address);

impl FromStr for Proxy {
    type Err = Error;

    /// An address, perhaps behind `http://`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let text = text.strip_prefix("http://").unwrap_or(text);
        Ok(Self(text.strip_suffix('/').unwrap_or(text).parse()?))
    }
}

/// Where the listener is, and how it is reached.
#[derive(Debug, Clone)]
pub struct Dial {
    /// Its address.
    pub address: Address,
    /// A proxy on the way, if there is one.
    pub proxy: Option<Proxy>,
}

impl Dial {
    /// A connection to the listener, not secured yet; to be secured within this time.
    pub(super) fn connect(&self, within: Duration) -> io::Result<Socket> {
        let until = Instant::now() + within;
        let stream = match &self.proxy {
            None => self.address.connect(until)?,
            Some(Proxy(proxy)) => proxy.connect(until)?,
        };
        let mut socket = Socket::new(stream, until)?;
        if self.proxy.is_some() {
            let address = &self.address;
            let asked = format!("CONNECT {address} HTTP/1.1\r\nHost: {address}\r\n\r\n");
            socket.write_all(asked.as_bytes())?;
            // One byte at a time: what follows the answer is not the proxy's.
            let (mut answer, mut byte) = (Vec::new(), [0]);
            while !answer.ends_with(b"\r\n\r\n") {
                if answer.len() >= MOST_ANSWER {
                    return Err(io::Error::other("the proxy's answer does not end"));
                }
                socket.read_exact(&mut byte)?;
                answer.push(byte[0]);
            }
            if !is_connected(&answer) {
                return Err(io::Error::new(
                    io::ErrorKind::ConnectionRefused,
                    "the proxy does not connect to the listener",
                ));
            }
        }
        Ok(socket)
    }
}

/// Whether a proxy's answer says that it has connected: HTTP/1.0 or 1.1 and a status of 200 to 299.
fn is_connected(answer: &[u8]) -> bool {
    let rest = answer.strip_prefix(b"HTTP/1.").unwrap_or_default();
    matches!(
        rest,
        [
            b'0' | b'1',
            b' ',
            b'2',
            b'0'..=b'9',
            b'0'..=b'9',
            b' ' | b'\r',
            ..
        ]
    )
}

/// How many bytes went over the connections with one party.
#[derive(Debug, Default)]
pub(super) struct Bytes {
    pub(super) read: AtomicU64,
    pub(super) written: AtomicU64,
}

/// A TCP connection. Until it is secured, all reads together have one deadline; then each has some time of its own.
pub(super) struct Socket {
    stream: Arc<TcpStream>,
    until: Arc<Mutex<Option<Instant>>>,
    bytes: Arc<Bytes>,
}

impl Socket {
    pub(super) fn new(stream: TcpStream, until: Instant) -> io::Result<Self> {
        // Without this a small frame waits for the acknowledgement of the one before.
        stream.set_nodelay(true)?;
        stream.set_write_timeout(Some(HANDSHAKE))?;
        Ok(Self {
            stream: Arc::new(stream),
            until: Arc::new(Mutex::new(Some(until))),
            bytes: Arc::default(),
        })
    }

    /// Another handle of the same connection.
    pub(super) fn copy(&self) -> Self {
        Self {
            stream: self.stream.clone(),
            until: self.until.clone(),
            bytes: self.bytes.clone(),
        }
    }

    /// The other side is known: it may be silent for some time, and read slowly.
    pub(super) fn wait(&self, silence: Duration) -> io::Result<()> {
        *self.until.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.stream.set_read_timeout(Some(silence))?;
        self.stream.set_write_timeout(None)
    }

    pub(super) fn bytes(&self) -> Arc<Bytes> {
        self.bytes.clone()
    }

    pub(super) fn peer(&self) -> String {
        let peer = self.stream.peer_addr();
        peer.map_or_else(|_| "an unknown address".into(), |peer| peer.to_string())
    }

    /// Ends the connection at once, also for whoever waits on it.
    pub(super) fn cut(&self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let until = *self.until.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(until) = until {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.stream.set_read_timeout(Some(left))?;
        }
        let read = (&*self.stream).read(buffer)?;
        self.bytes.read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = (&*self.stream).write(bytes)?;
        self.bytes.written.fetch_add(written as u64, Ordering::Relaxed);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        (&*self.stream).flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_they_are_shown() {
        for text in [
            "localhost:1",
            "192.0.2.1:7443",
            "[2001:db8::1]:7443",
            "a-b.example.org:65535",
        ] {
            assert_eq!(
                text.parse::<Address>().map(|a| a.to_string()).ok().as_deref(),
                Some(text)
            );
        }
        for bad in [
            "",
            "localhost",
            "localhost:",
            "localhost:65536",
            ":1",
            "2001:db8::1:7443",
            "[1]:1",
            "a b:1",
            "a\r\nb:1",
            "[::1:1",
        ] {
            assert!(bad.parse::<Address>().is_err(), "{bad:?}");
        }
        assert!("http://proxy:3128/".parse::<Proxy>().is_ok());
    }

    #[test]
    fn a_proxy_connects_with_two_hundred() {
        for (answer, connects) in [
            ("HTTP/1.1 200 OK\r\n\r\n", true),
            ("HTTP/1.0 204\r\n\r\n", true),
            ("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", false),
            ("HTTP/1.1 2000 x\r\n\r\n", false),
            ("\r\n\r\n", false),
        ] {
            assert_eq!(is_connected(answer.as_bytes()), connects, "{answer}");
        }
    }
}
