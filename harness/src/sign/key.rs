//! Ed25519 keys and their files: PKCS #8 and `SubjectPublicKeyInfo` in PEM (RFC 8410), as other tools read and write them.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bench_protocol::digest::Digest;
use ed25519_dalek::{Signer as _, SigningKey, VerifyingKey};
use thiserror::Error;

/// DER before the 32 bytes of a secret key: version 0, algorithm 1.3.101.112, an octet string in an octet string.
const SECRET_DER: [u8; 16] =
    [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];
/// DER before the 32 bytes of a public key: algorithm 1.3.101.112, a bit string without unused bits.
const PUBLIC_DER: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

const SECRET_LABEL: &str = "PRIVATE KEY";
const PUBLIC_LABEL: &str = "PUBLIC KEY";

/// Bytes of a key file at most; a key takes little more than a hundred.
const LARGEST: u64 = 1 << 14;

/// What can go wrong with keys.
#[derive(Debug, Error)]
pub enum KeyError {
    /// The file could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// There is a file already; a key is never overwritten.
    #[error("{path}: there is a file already, and a key is never overwritten; name another with -o")]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// Not a key of this kind.
    #[error("{path}: no Ed25519 {what} in PEM (`-----BEGIN {label}-----`){hint}")]
    Format {
        /// The file.
        path: PathBuf,
        /// What was expected.
        what: &'static str,
        /// The label that it would have.
        label: &'static str,
        /// What it may be instead.
        hint: &'static str,
    },
    /// Others may read the secret key.
    #[error("{path}: others may read this secret key; `chmod 600` it, or make a new one if they have")]
    Exposed {
        /// The file.
        path: PathBuf,
    },
    /// No file of the size of a key.
    #[error("{path}: {what}, and no key file")]
    Other {
        /// The path.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// The system gives no randomness.
    #[error("no randomness for a key: {0}")]
    Random(getrandom::Error),
}

/// A secret key. It has no `Debug` output, and is wiped when it is dropped.
pub struct SecretKey(SigningKey);

/// A public key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl SecretKey {
    /// The key of a seed.
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(seed))
    }

    /// A new key from the system's randomness.
    ///
    /// # Errors
    /// The system gives none.
    pub fn random() -> Result<Self, KeyError> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(KeyError::Random)?;
        Ok(Self::from_seed(&seed))
    }

    /// Its public key.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// Signs a message.
    pub fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.0.sign(message).to_bytes()
    }

    /// Writes the secret key for its owner alone, and the public key beside it as `<path>.pub`. Neither replaces a file.
    ///
    /// # Errors
    /// Either file is there already or cannot be written.
    pub fn write(&self, path: &Path) -> Result<PathBuf, KeyError> {
        let mut public = path.as_os_str().to_owned();
        public.push(".pub");
        let public = PathBuf::from(public);
        if public.exists() {
            return Err(KeyError::Exists { path: public });
        }
        write_new(path, &pem(SECRET_LABEL, &[&SECRET_DER, self.0.as_bytes().as_slice()].concat()), 0o600)?;
        write_new(&public, &self.public().pem(), 0o644)?;
        Ok(public)
    }

    /// Reads a secret key that nobody else may read.
    ///
    /// # Errors
    /// Not one, or others may read it.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        let file = key_file(path)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            if file.permissions().mode() & 0o077 != 0 {
                return Err(KeyError::Exposed { path: path.to_owned() });
            }
        }
        let text = fs::read_to_string(path).map_err(|source| KeyError::Io { path: path.to_owned(), source })?;
        let hint = if text.contains(PUBLIC_LABEL) { "; this is a public key" } else { "" };
        let seed = unpem(&text, SECRET_LABEL, &SECRET_DER).ok_or_else(|| KeyError::Format {
            path: path.to_owned(),
            what: "secret key",
            label: SECRET_LABEL,
            hint,
        })?;
        Ok(Self::from_seed(&seed))
    }
}

impl PublicKey {
    /// Reads a public key.
    ///
    /// # Errors
    /// Not one, or one that anybody can sign for.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        key_file(path)?;
        let text = fs::read_to_string(path).map_err(|source| KeyError::Io { path: path.to_owned(), source })?;
        let hint =
            if text.contains(SECRET_LABEL) { "; this is a secret key, give the file that ends in .pub" } else { "" };
        unpem(&text, PUBLIC_LABEL, &PUBLIC_DER)
            .and_then(|bytes| VerifyingKey::from_bytes(&bytes).ok())
            .filter(|key| !key.is_weak())
            .map(Self)
            .ok_or_else(|| KeyError::Format { path: path.to_owned(), what: "public key", label: PUBLIC_LABEL, hint })
    }

    /// Its name: SHA-256 of its 32 bytes, in hex.
    pub fn id(&self) -> String {
        Digest::of(self.0.as_bytes()).hex().to_owned()
    }

    /// As it is written to a file.
    pub fn pem(&self) -> String {
        pem(PUBLIC_LABEL, &[&PUBLIC_DER, self.0.as_bytes().as_slice()].concat())
    }

    /// Whether a signature on a message is this key's. Strict: signatures that only some programs accept are refused.
    pub fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        ed25519_dalek::Signature::from_slice(signature)
            .is_ok_and(|signature| self.0.verify_strict(message, &signature).is_ok())
    }
}

/// A file that may hold a key: neither a folder nor a device, and no more than a key can be.
fn key_file(path: &Path) -> Result<fs::Metadata, KeyError> {
    let file = fs::metadata(path).map_err(|source| KeyError::Io { path: path.to_owned(), source })?;
    let other = |what| Err(KeyError::Other { path: path.to_owned(), what });
    match (file.is_dir(), file.is_file(), file.len()) {
        (true, ..) => other("a folder"),
        (_, false, _) => other("no plain file"),
        (_, _, length) if length > LARGEST => other("a file of more than 16 KiB"),
        _ => Ok(file),
    }
}

fn pem(label: &str, der: &[u8]) -> String {
    // At most 48 bytes: one line of 64 letters.
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", STANDARD.encode(der))
}

fn unpem(text: &str, label: &str, prefix: &[u8]) -> Option<[u8; 32]> {
    let body = text.trim().strip_prefix(&format!("-----BEGIN {label}-----"))?;
    let body = body.strip_suffix(&format!("-----END {label}-----"))?;
    let letters: String = body.split_whitespace().collect();
    STANDARD.decode(letters).ok()?.strip_prefix(prefix)?.try_into().ok()
}

/// Writes a file beside its place, on disk before it takes it; never in the place of another.
fn write_new(path: &Path, text: &str, mode: u32) -> Result<(), KeyError> {
    let io = |source| KeyError::Io { path: path.to_owned(), source };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(fs::Permissions::from_mode(mode));
    }
    let mut file = builder.prefix(".key-").tempfile_in(folder).map_err(io)?;
    file.write_all(text.as_bytes()).and_then(|()| file.as_file().sync_all()).map_err(io)?;
    file.persist_noclobber(path).map_err(|error| match error.error.kind() {
        std::io::ErrorKind::AlreadyExists => KeyError::Exists { path: path.to_owned() },
        _ => io(error.error),
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes<const N: usize>(hex: &str) -> [u8; N] {
        let pairs = hex.as_bytes().chunks(2);
        let all: Vec<u8> =
            pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect();
        all.try_into().unwrap()
    }

    /// RFC 8032, section 7.1, tests 1 and 2.
    #[test]
    fn the_vectors_of_the_standard_come_out() {
        let vectors = [
            (
                "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
                "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
                b"".as_slice(),
                "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b\
                 d25bf5f0595bbe24655141438e7a100b",
            ),
            (
                "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
                "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
                b"\x72".as_slice(),
                "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c\
                 387b2eaeb4302aeeb00d291612bb0c00",
            ),
        ];
        for (secret, public, message, signature) in vectors {
            let key = SecretKey::from_seed(&bytes(secret));
            assert_eq!(key.public().0.to_bytes(), bytes::<32>(public));
            assert_eq!(key.sign(message), bytes::<64>(signature));
            assert!(key.public().verifies(message, &bytes::<64>(signature)));
            assert!(!key.public().verifies(b"other", &bytes::<64>(signature)));
        }
    }

    #[test]
    fn a_key_is_written_once_read_back_and_kept_from_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bench.key");
        let key = SecretKey::random().unwrap();
        let public = key.write(&path).unwrap();
        assert!(PublicKey::read(&public).unwrap() == key.public());
        assert!(SecretKey::read(&path).unwrap().public() == key.public());
        assert!(matches!(SecretKey::random().unwrap().write(&path), Err(KeyError::Exists { .. })));
        assert!(SecretKey::read(&path).unwrap().public() == key.public(), "the first key is still there");
        let swapped = PublicKey::read(&path).unwrap_err().to_string();
        assert!(swapped.contains("give the file that ends in .pub"), "{swapped}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
            assert!(matches!(SecretKey::read(&path), Err(KeyError::Exposed { .. })));
        }
    }

    /// The key pair of RFC 8410, section 10.
    #[test]
    fn what_is_no_file_of_a_key_is_named_and_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let large = folder.path().join("large");
        fs::write(&large, vec![b'-'; 20_000]).unwrap();
        for (path, what) in [(folder.path(), "a folder"), (&large, "more than 16 KiB")] {
            for error in [PublicKey::read(path).unwrap_err(), SecretKey::read(path).err().unwrap()] {
                assert!(error.to_string().contains(what), "{error}");
            }
        }
        #[cfg(unix)]
        assert!(PublicKey::read(Path::new("/dev/zero")).unwrap_err().to_string().contains("no plain file"));
    }

    #[test]
    fn files_are_those_of_other_tools() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rfc8410.pub");
        let text = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n\
                    -----END PUBLIC KEY-----\n";
        fs::write(&path, text).unwrap();
        let public = PublicKey::read(&path).unwrap();
        assert_eq!(public.pem(), text);
        let secret = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n\
                      -----END PRIVATE KEY-----\n";
        let seed = unpem(secret, SECRET_LABEL, &SECRET_DER).unwrap();
        assert!(SecretKey::from_seed(&seed).public() == public);
    }

    #[test]
    fn a_key_that_anybody_can_sign_for_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("weak.pub");
        let mut point = [0; 32];
        point[0] = 1;
        fs::write(&path, pem(PUBLIC_LABEL, &[&PUBLIC_DER, point.as_slice()].concat())).unwrap();
        assert!(matches!(PublicKey::read(&path), Err(KeyError::Format { .. })));
    }
}
