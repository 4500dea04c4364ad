//! The way to a PostgreSQL server: where it is, and whether it is to be trusted.

use std::sync::Arc;
use std::time::Duration;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use superstep::checkpoint::StorageError;
use tokio::runtime::Handle;
use tokio_postgres::config::SslMode;
use tokio_postgres::{Client, Config};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Address of a database, and the means to connect to it.
pub(crate) struct ServerAddress {
    config: Config,
    tls: MakeRustlsConnect,
    /// The schema that the URL names.
    pub(crate) schema: Option<String>,
    /// The address as people may see it: without the password.
    pub(crate) shown: String,
}

fn refused(shown: &str, cause: String, remedy: &str) -> StorageError {
    StorageError::Backend {
        what: format!("opening {shown}"),
        cause,
        remedy: remedy.to_owned(),
    }
}

impl ServerAddress {
    /// Reads a URL, `postgres://user:password@host:port/database?schema=…&sslmode=…`.
    pub(crate) fn read(url: &str) -> Result<Self, StorageError> {
        let (shown, rest, own) = split(url);
        let mut config: Config = rest.parse().map_err(|error: tokio_postgres::Error| {
            let remedy = "Give a URL such as postgres://user:password@host:5432/database";
            refused(&shown, super::fault::cause(&error), remedy)
        })?;
        if config.get_application_name().is_none() {
            config.application_name("superstep");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(Duration::from_secs(10));
        }
        // A connection that died without a word is noticed within half a minute.
        config
            .keepalives_idle(Duration::from_secs(15))
            .keepalives_interval(Duration::from_secs(5))
            .tcp_user_timeout(Duration::from_secs(30));
        let verify = match own.sslmode.as_deref() {
            Some("verify-ca" | "verify-full") => true,
            _ => own.sslrootcert.is_some(),
        };
        if verify {
            config.ssl_mode(SslMode::Require);
        }
        let tls = tls(verify, own.sslrootcert.as_deref())
            .map_err(|cause| refused(&shown, cause, "Check sslmode and sslrootcert in the URL"))?;
        Ok(Self {
            config,
            tls: MakeRustlsConnect::new(tls),
            schema: own.schema,
            shown,
        })
    }

    /// Creates the error of an address that cannot be used.
    pub(crate) fn refused(&self, cause: String, remedy: &str) -> StorageError {
        refused(&self.shown, cause, remedy)
    }

    /// Creates a connection, which the runtime looks after.
    pub(crate) async fn connect(&self, runtime: &Handle) -> Result<Client, tokio_postgres::Error> {
        let (client, connection) = self.config.connect(self.tls.clone()).await?;
        runtime.spawn(async move {
            // The client's own calls say what went wrong.
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection to PostgreSQL ended");
            }
        });
        Ok(client)
    }
}

/// Options of a URL that the client library does not understand.
#[derive(Default)]
struct Own {
    schema: Option<String>,
    sslmode: Option<String>,
    sslrootcert: Option<String>,
}

/// Splits a URL into the URL as it may be shown, the URL for the client library, and the options that only we
/// understand.
fn split(url: &str) -> (String, String, Own) {
    let (address, query) = url.split_once('?').unwrap_or((url, ""));
    let shown = match address.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
            let (login, host) = authority.rsplit_once('@').unwrap_or(("", authority));
            let user = login.split_once(':').map_or(login, |(user, _)| user);
            let at = if user.is_empty() { "" } else { "@" };
            format!("{scheme}://{user}{at}{host}/{path}")
        }
        None => "the database".to_owned(),
    };
    let (mut own, mut rest) = (Own::default(), Vec::new());
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        match key {
            "schema" => own.schema = Some(unescape(value)),
            "sslrootcert" => own.sslrootcert = Some(unescape(value)),
            "sslmode" if value.starts_with("verify") => own.sslmode = Some(value.to_owned()),
            _ => rest.push(pair),
        }
    }
    let shown = match &own.schema {
        Some(schema) => format!("{shown}?schema={schema}"),
        None => shown,
    };
    let rest = match rest.is_empty() {
        true => address.to_owned(),
        false => format!("{address}?{}", rest.join("&")),
    };
    (shown, rest, own)
}

fn unescape(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(&byte) = bytes.get(at) {
        let code = text.get(at + 1..at + 3).filter(|_| byte == b'%');
        match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(decoded) => {
                out.push(decoded);
                at += 3;
            }
            None => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Creates the TLS configuration. As with libpq, a connection is encrypted when the server offers it, and the server's
/// certificate is verified only when the URL asks for it: most servers have one that nobody signed.
fn tls(verify: bool, roots: Option<&str>) -> Result<ClientConfig, String> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let config = match roots {
        Some(file) => {
            let mut store = RootCertStore::empty();
            let certificates =
                CertificateDer::pem_file_iter(file).map_err(|error| format!("{file}: {error}"))?;
            for certificate in certificates {
                let certificate = certificate.map_err(|error| format!("{file}: {error}"))?;
                store
                    .add(certificate)
                    .map_err(|error| format!("{file}: {error}"))?;
            }
            builder.with_root_certificates(store).with_no_client_auth()
        }
        None => {
            let verifier: Arc<dyn ServerCertVerifier> = match verify {
                true => Arc::new(
                    rustls_platform_verifier::Verifier::new(provider).map_err(|error| error.to_string())?,
                ),
                false => Arc::new(AnyServer(provider)),
            };
            builder
                .dangerous()
                .with_custom_certificate_verifier(verifier)
                .with_no_client_auth()
        }
    };
    Ok(config)
}

/// Accepts every certificate: the connection is encrypted, and nobody says with whom.
#[derive(Debug)]
struct AnyServer(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyServer {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(
            message,
            certificate,
            signature,
            &self.0.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(
            message,
            certificate,
            signature,
            &self.0.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_shown_without_its_password() {
        for (url, shown, rest) in [
            (
                "postgres://a:secret@h:1/d",
                "postgres://a@h:1/d",
                "postgres://a:secret@h:1/d",
            ),
            ("postgresql://h/d", "postgresql://h/d", "postgresql://h/d"),
            (
                "postgres://a:se@cret@h/d?sslmode=require&schema=mine",
                "postgres://a@h/d?schema=mine",
                "postgres://a:se@cret@h/d?sslmode=require",
            ),
        ] {
            let (without, address, _) = split(url);
            assert_eq!((&*without, &*address), (shown, rest));
            assert!(
                !without.contains("secret") && !without.contains("cret@"),
                "{without}"
            );
        }
        let (_, rest, own) = split("postgres://h/d?sslmode=verify-full&sslrootcert=%2Ftmp%2Fca.pem");
        assert_eq!(rest, "postgres://h/d");
        assert_eq!(own.sslmode.as_deref(), Some("verify-full"));
        assert_eq!(own.sslrootcert.as_deref(), Some("/tmp/ca.pem"));
    }
}
