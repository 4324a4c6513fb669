//! TLS 1.3 between two parties that know each other by their Ed25519 keys.
//!
//! Raw public keys (RFC 7250) take the place of certificates: a key is compared with the trusted ones, and there is no chain, name or date
//! to parse. No early data, no tickets, no resumption: every connection proves both keys again.

use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use privet::privacy::signature::PublicKey;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{AlwaysResolvesClientRawPublicKeys, Resumption};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms, ring, verify_tls13_signature_with_raw_key};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{AlwaysResolvesServerRawPublicKeys, NoServerSessionStorage};
use rustls::sign::CertifiedKey;
use rustls::{
    CertificateError, ClientConfig, ClientConnection, Connection, DigitallySignedStruct, DistinguishedName,
    ServerConfig, ServerConnection, SignatureScheme, version,
};
use zeroize::Zeroizing;

use super::Identity;
use super::trust::Distrust;

/// What both sides must say that they speak.
const PROTOCOL: &[u8] = b"privet/1";
/// An Ed25519 public key as a SubjectPublicKeyInfo (RFC 8410): this, and 32 bytes.
const PUBLIC: [u8; 12] = [
    0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
];
/// An Ed25519 private key as PKCS #8 (RFC 8410): this, and 32 bytes.
const PRIVATE: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];
/// Bytes read from a socket at a time.
const CHUNK: usize = 1 << 16;

/// Which keys are taken.
pub(super) type Check = Arc<dyn Fn(&PublicKey) -> Result<(), Distrust> + Send + Sync>;

/// The key in a SubjectPublicKeyInfo.
fn key_in(encoded: &[u8]) -> Option<PublicKey> {
    let key = encoded.strip_prefix(&PUBLIC)?.try_into().ok()?;
    Some(PublicKey::from_bytes(key))
}

/// Compares the other's key with the trusted ones.
struct Pinned {
    check: Check,
    algorithms: WebPkiSupportedAlgorithms,
}

impl std::fmt::Debug for Pinned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Pinned")
    }
}

impl Pinned {
    fn check(&self, encoded: &[u8]) -> Result<(), rustls::Error> {
        let key = key_in(encoded).ok_or(CertificateError::BadEncoding)?;
        (self.check)(&key).map_err(|why| {
            rustls::Error::from(match why {
                Distrust::Stranger => CertificateError::ApplicationVerificationFailure,
                Distrust::Expired => CertificateError::Expired,
                Distrust::Revoked => CertificateError::Revoked,
            })
        })
    }

    fn signature(
        &self,
        message: &[u8],
        key: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let key = SubjectPublicKeyInfoDer::from(key.as_ref());
        verify_tls13_signature_with_raw_key(message, &key, signature, &self.algorithms)
    }
}

/// There is no TLS 1.2 here.
fn not_tls13() -> rustls::Error {
    rustls::Error::General("only TLS 1.3 is spoken".into())
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        self.check(end_entity).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(not_tls13())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        self.check(end_entity).map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(not_tls13())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

/// The side of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Dials,
    Listens,
}

/// How this party makes connections.
pub(super) struct Tls {
    key: Arc<CertifiedKey>,
    provider: Arc<CryptoProvider>,
}

impl Tls {
    pub(super) fn new(identity: &Identity) -> io::Result<Self> {
        let private = Zeroizing::new([&PRIVATE[..], identity.seed()].concat());
        let signing = ring::sign::any_eddsa_type(&PrivatePkcs8KeyDer::from(&private[..]));
        let signing = signing.map_err(io::Error::other)?;
        let public = [&PUBLIC[..], &identity.public().to_bytes()].concat();
        Ok(Self {
            key: Arc::new(CertifiedKey::new(vec![CertificateDer::from(public)], signing)),
            provider: Arc::new(ring::default_provider()),
        })
    }

    /// A new connection, on which the other's key must pass this check.
    fn connection(&self, side: Side, check: Check) -> Result<Connection, rustls::Error> {
        let pinned = Arc::new(Pinned {
            check,
            algorithms: self.provider.signature_verification_algorithms,
        });
        Ok(match side {
            Side::Dials => {
                let config = ClientConfig::builder_with_provider(self.provider.clone())
                    .with_protocol_versions(&[&version::TLS13])?;
                let own = Arc::new(AlwaysResolvesClientRawPublicKeys::new(self.key.clone()));
                let mut config = config
                    .dangerous()
                    .with_custom_certificate_verifier(pinned)
                    .with_client_cert_resolver(own);
                config.alpn_protocols = vec![PROTOCOL.to_vec()];
                config.resumption = Resumption::disabled();
                config.enable_sni = false;
                // Unwrap safety: a constant that is a name. Keys are compared, not names.
                let name = ServerName::try_from("privet").expect("a name");
                ClientConnection::new(Arc::new(config), name)?.into()
            }
            Side::Listens => {
                let config = ServerConfig::builder_with_provider(self.provider.clone())
                    .with_protocol_versions(&[&version::TLS13])?;
                let own = Arc::new(AlwaysResolvesServerRawPublicKeys::new(self.key.clone()));
                let mut config = config.with_client_cert_verifier(pinned).with_cert_resolver(own);
                config.alpn_protocols = vec![PROTOCOL.to_vec()];
                config.send_tls13_tickets = 0;
                config.session_storage = Arc::new(NoServerSessionStorage {});
                ServerConnection::new(Arc::new(config))?.into()
            }
        })
    }

    /// Makes a connection over these two halves, and gives the other's key.
    pub(super) fn secure(
        &self,
        side: Side,
        check: Check,
        (mut from, mut to): (Box<dyn Read + Send>, Box<dyn Write + Send>),
    ) -> io::Result<Secured> {
        let mut connection = self.connection(side, check).map_err(io::Error::other)?;
        connection.set_buffer_limit(None);
        while connection.is_handshaking() {
            while connection.wants_write() {
                connection.write_tls(&mut to)?;
            }
            to.flush()?;
            if !connection.is_handshaking() {
                break;
            }
            if connection.read_tls(&mut from)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if let Err(e) = connection.process_new_packets() {
                // The other is told why, as far as an alert says it.
                let _ = connection.write_tls(&mut to).and_then(|_| to.flush());
                return Err(io::Error::other(e));
            }
        }
        while connection.wants_write() {
            connection.write_tls(&mut to)?;
        }
        to.flush()?;
        if connection.alpn_protocol() != Some(PROTOCOL) {
            return Err(io::Error::other("the other side does not speak privet/1"));
        }
        let certificates = connection.peer_certificates().unwrap_or_default();
        let key = certificates.first().and_then(|key| key_in(key));
        let key = key.ok_or_else(|| io::Error::other("the other side showed no key"))?;
        let suite = connection.negotiated_cipher_suite();
        let cipher = suite.map_or_else(String::new, |suite| format!("{:?}", suite.suite()));
        let session = Arc::new(Session(Mutex::new(connection)));
        Ok(Secured {
            key,
            cipher,
            reader: TlsReader {
                session: session.clone(),
                from,
                pending: Vec::new(),
                at: 0,
            },
            writer: TlsWriter {
                session,
                to,
                out: Vec::new(),
            },
        })
    }
}

/// A connection whose other end is known.
pub(super) struct Secured {
    pub(super) key: PublicKey,
    pub(super) cipher: String,
    pub(super) reader: TlsReader,
    pub(super) writer: TlsWriter,
}

struct Session(Mutex<Connection>);

impl Session {
    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What comes over a connection. The lock is never held while a socket is waited for.
pub(super) struct TlsReader {
    session: Arc<Session>,
    from: Box<dyn Read + Send>,
    /// Sealed bytes that were read and not opened yet.
    pending: Vec<u8>,
    at: usize,
}

impl Read for TlsReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if self.at == self.pending.len() {
                match self.session.lock().reader().read(buffer) {
                    Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                    other => return other,
                }
                self.pending.resize(CHUNK, 0);
                let read = self.from.read(&mut self.pending)?;
                self.pending.truncate(read);
                self.at = 0;
                if read == 0 {
                    // An end that the other did not announce: the connection was cut.
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            let mut connection = self.session.lock();
            match connection.reader().read(buffer) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                other => return other,
            }
            let mut rest = &self.pending[self.at..];
            let before = rest.len();
            connection.read_tls(&mut rest)?;
            self.at += before - rest.len();
            connection.process_new_packets().map_err(io::Error::other)?;
            match connection.reader().read(buffer) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                other => return other,
            }
        }
    }
}

/// What goes over a connection.
pub(super) struct TlsWriter {
    session: Arc<Session>,
    to: Box<dyn Write + Send>,
    out: Vec<u8>,
}

impl Write for TlsWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let piece = &bytes[..bytes.len().min(4 * CHUNK)];
        {
            let mut connection = self.session.lock();
            connection.writer().write_all(piece)?;
            while connection.wants_write() {
                connection.write_tls(&mut self.out)?;
            }
        }
        let written = self.to.write_all(&self.out);
        self.out.clear();
        written.map(|()| piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

impl Drop for TlsWriter {
    /// Says that nothing more comes, if somebody still listens.
    fn drop(&mut self) {
        {
            let mut connection = self.session.lock();
            connection.send_close_notify();
            while connection.wants_write() && connection.write_tls(&mut self.out).is_ok() {}
        }
        let _ = self.to.write_all(&self.out).and_then(|()| self.to.flush());
    }
}

/// Why a connection was refused, from the alert that the other sent, if it was about our key.
pub(super) fn refused(e: &io::Error) -> Option<Distrust> {
    use rustls::AlertDescription as Alert;
    let tls = e.get_ref()?.downcast_ref::<rustls::Error>()?;
    match tls {
        rustls::Error::AlertReceived(Alert::CertificateExpired) => Some(Distrust::Expired),
        rustls::Error::AlertReceived(Alert::CertificateRevoked) => Some(Distrust::Revoked),
        rustls::Error::AlertReceived(
            Alert::AccessDenied | Alert::CertificateUnknown | Alert::BadCertificate,
        ) => Some(Distrust::Stranger),
        _ => None,
    }
}

/// Whether a connection failed because the other's key is not one that is expected.
pub(super) fn is_wrong_key(e: &io::Error) -> bool {
    let tls = e.get_ref().and_then(|e| e.downcast_ref::<rustls::Error>());
    matches!(tls, Some(rustls::Error::InvalidCertificate(_)))
}
