//! Flags of the certificate of `trawl-api`.

use std::path::PathBuf;

use clap::Args;
use trawl_serve::{Tls, TlsError, TlsFiles};

/// The certificate of the server.
#[derive(Debug, Args)]
#[command(next_help_heading = "Server")]
pub struct TlsFlags {
    /// File with the TLS certificate and its chain, in PEM; read again when it changes.
    #[arg(long, env = "TRAWL_API_TLS_CERT", value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// File with the private key of the certificate, in PEM; read again when it changes.
    #[arg(long, env = "TRAWL_API_TLS_KEY", value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
}

impl TlsFlags {
    /// TLS, if there is a certificate.
    ///
    /// # Errors
    ///
    /// If the files cannot be used.
    pub fn open(&self) -> Result<Option<Tls>, TlsError> {
        let files = self.tls_cert.clone().zip(self.tls_key.clone());
        files.map(|(certificate, key)| Tls::open(TlsFiles { certificate, key })).transpose()
    }
}
