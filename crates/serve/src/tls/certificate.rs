//! The files of a certificate.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// The files of a certificate, in PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate of the server, then those that signed it, but for the root.
    pub certificate: PathBuf,
    /// Its private key: PKCS #8, PKCS #1 or SEC1, without a password.
    pub key: PathBuf,
}

/// A certificate that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// Where it is.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A file is not in PEM, or has something else.
    #[error("{} has no {what} in PEM", path.display())]
    Missing {
        /// Where it is.
        path: PathBuf,
        /// What is looked for.
        what: &'static str,
        /// What was found wrong.
        source: pem::Error,
    },
    /// The two do not belong together, or are of a kind that is not known.
    #[error("the certificate of {} and the key of {} cannot be used together", certificate.display(), key.display())]
    Unusable {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of the key.
        key: PathBuf,
        /// What rustls says.
        source: rustls::Error,
    },
}

/// What the files have.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct TlsFileContents {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl std::fmt::Debug for TlsFileContents {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("TlsFileContents").finish_non_exhaustive()
    }
}

impl TlsFiles {
    /// What they have now, before anything is served.
    pub(super) fn open(&self) -> Result<TlsFileContents, TlsError> {
        let read = |path: &Path| std::fs::read(path).map_err(unreadable(path));
        Ok(TlsFileContents { certificate: read(&self.certificate)?, key: read(&self.key)? })
    }

    /// What they have now.
    pub(super) async fn read(&self) -> Result<TlsFileContents, TlsError> {
        let read = async |path: &Path| tokio::fs::read(path).await.map_err(unreadable(path));
        Ok(TlsFileContents { certificate: read(&self.certificate).await?, key: read(&self.key).await? })
    }
}

fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> TlsError {
    move |source| TlsError::Unreadable { path: path.into(), source }
}

impl TlsFileContents {
    /// The settings of a server with this certificate, for HTTP/1.1.
    pub fn config(&self, files: &TlsFiles) -> Result<Arc<ServerConfig>, TlsError> {
        let missing = |path: &PathBuf, what| {
            let path = path.clone();
            move |source| TlsError::Missing { path, what, source }
        };
        let no_certificate = missing(&files.certificate, "certificate");
        let chain: Vec<CertificateDer<'static>> =
            CertificateDer::pem_slice_iter(&self.certificate).collect::<Result<_, _>>().map_err(no_certificate)?;
        if chain.is_empty() {
            return Err(missing(&files.certificate, "certificate")(pem::Error::NoItemsFound));
        }
        let key = PrivateKeyDer::from_pem_slice(&self.key).map_err(missing(&files.key, "private key"))?;
        let unusable =
            |source| TlsError::Unusable { certificate: files.certificate.clone(), key: files.key.clone(), source };
        let mut config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(unusable)?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(unusable)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}
