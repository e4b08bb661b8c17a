//! TLS over a TCP connection.

use super::{Deadline, is_late, set_timeouts};
use crate::core::dsn::Tls;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{CertificateError, ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use socket2::SockRef;
use std::io::{self, Read};
use std::net::TcpStream;
use std::sync::Arc;

pub type TlsStream = StreamOwned<ClientConnection, TcpStream>;

pub(super) fn handshake(tls: &Tls, host: &str, stream: TcpStream, deadline: &Deadline) -> io::Result<TlsStream> {
    let (mut client, socket) = (client(tls, host)?, SockRef::from(&stream));
    let shake = |client: &mut ClientConnection| loop {
        set_timeouts(&socket, deadline.left()?)?;
        send(client, &stream)?;
        if !client.is_handshaking() {
            return Ok(());
        }
        match receive(client, &stream) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => result?,
        }
    };
    const HINT: &str = "the server did not finish the TLS handshake; if it does not speak TLS, use redis:// in the DSN";
    match shake(&mut client) {
        Ok(()) => Ok(StreamOwned::new(client, stream)),
        Err(error) if is_late(&error) => Err(deadline.missed(HINT)),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(error),
        Err(error) => Err(io::Error::other(format!("{error}: {HINT}"))),
    }
}

/// Reads from the socket once at most, so that the caller can look at its deadline: `WouldBlock` when that did not complete a record.
pub(super) fn read(stream: &mut TlsStream, room: &mut [u8]) -> io::Result<usize> {
    match stream.conn.reader().read(room) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
        result => return result,
    }
    send(&mut stream.conn, &stream.sock)?;
    receive(&mut stream.conn, &stream.sock)?;
    stream.conn.reader().read(room)
}

fn send(client: &mut ClientConnection, mut socket: &TcpStream) -> io::Result<()> {
    while client.wants_write() {
        client.write_tls(&mut socket)?;
    }
    Ok(())
}

fn receive(client: &mut ClientConnection, mut socket: &TcpStream) -> io::Result<()> {
    if client.read_tls(&mut socket)? == 0 && client.is_handshaking() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    client.process_new_packets().map(drop).map_err(|error| {
        let _ = client.write_tls(&mut socket); // tells the server why
        explain(&error)
    })
}

fn client(tls: &Tls, host: &str) -> io::Result<ClientConnection> {
    let mut roots = RootCertStore::empty();
    match &tls.ca {
        Some(path) => {
            for certificate in certificates(path)? {
                roots.add(certificate).map_err(tls_error)?;
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(tls_error)?
        .with_root_certificates(roots);
    let config = match (&tls.cert, &tls.key) {
        (Some(cert), Some(key)) => {
            let private = PrivateKeyDer::from_pem_file(key).map_err(|error| file_error(key, &error))?;
            builder.with_client_auth_cert(certificates(cert)?, private).map_err(tls_error)?
        }
        _ => builder.with_no_client_auth(),
    };
    let name = ServerName::try_from(host.to_owned()).map_err(tls_error)?;
    ClientConnection::new(Arc::new(config), name).map_err(tls_error)
}

fn certificates(path: &str) -> io::Result<Vec<CertificateDer<'static>>> {
    CertificateDer::pem_file_iter(path).and_then(Iterator::collect).map_err(|error| file_error(path, &error))
}

/// The error, with advice.
fn explain(error: &rustls::Error) -> io::Error {
    use CertificateError as Cert;
    let advice = match error {
        rustls::Error::InvalidMessage(_) => "the server does not speak TLS, use redis:// in the DSN",
        rustls::Error::InvalidCertificate(error) => match error {
            Cert::UnknownIssuer => "name the file of the CA that signed the server's certificate: ca= in the DSN",
            Cert::Expired | Cert::ExpiredContext { .. } => "the server needs a new certificate",
            Cert::NotValidForName | Cert::NotValidForNameContext { .. } => "use a host name that the certificate lists",
            // All that openssl req -x509 makes unless told otherwise.
            Cert::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => {
                "the server's certificate is that of a CA: sign one for the server with it, and name the CA: ca= in the DSN"
            }
            _ => "check the server's certificate, and ca= in the DSN",
        },
        rustls::Error::AlertReceived(_) => "if the server asks for a client certificate, see cert= and key= in the DSN",
        _ => return tls_error(error),
    };
    tls_error(format!("{error}: {advice}"))
}

fn tls_error(error: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("TLS: {error}"))
}

fn file_error(path: &str, error: &impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("TLS: cannot read '{path}': {error}"))
}
