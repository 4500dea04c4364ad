//! Values that the program encrypts: LangGraph's `EncryptedSerializer` with AES. The key is what the person gives to this
//! process, as the program is given it; it is neither stored nor shown.
//!
//! Rows are decrypted as they are read, so that nothing behind them need know of it. What no key opens stays as it is stored,
//! and says so in its place.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use aes::{Aes128, Aes192, Aes256};
use eax::aead::{AeadInPlace, KeyInit};
use eax::{Eax, Nonce, Tag};
use superstep::checkpoint::Sealed;

use super::rows::{Blob, CheckpointRow, Fault, ItemRow, RowReader, Wanted, WriteRow};

/// The environment variable that LangGraph itself takes the key from, and the secret that holds it here.
pub const KEY_VARIABLE: &str = "LANGGRAPH_AES_KEY";
/// The name that LangGraph gives the cipher, behind the encoding: `msgpack+aes`.
const AES: &str = "aes";
/// Bytes of the nonce and of the tag, which stand before what is encrypted.
const PREFIX: usize = 16;

/// Key of a LangGraph program's encrypted values: 16, 24 or 32 bytes.
#[derive(Clone, PartialEq, Eq)]
pub struct AesKey(KeyBytes);

#[derive(Clone, PartialEq, Eq)]
enum KeyBytes {
    Of128([u8; 16]),
    Of192([u8; 24]),
    Of256([u8; 32]),
    /// No key: bytes of another length.
    Wrong(usize),
}

impl AesKey {
    /// Creates the key from its bytes. With bytes of another length than 16, 24 or 32 nothing is decrypted, and each value
    /// says why.
    pub fn new(bytes: &[u8]) -> Self {
        let of_128 = bytes.try_into().map(KeyBytes::Of128);
        let of_192 = bytes.try_into().map(KeyBytes::Of192);
        let of_256 = bytes.try_into().map(KeyBytes::Of256);
        let found = of_128.or(of_192).or(of_256);
        Self(found.unwrap_or(KeyBytes::Wrong(bytes.len())))
    }

    /// Takes the key from the environment of this process, `LANGGRAPH_AES_KEY`; `None` when it is not set.
    pub fn from_environment() -> Option<Self> {
        let text = std::env::var_os(KEY_VARIABLE).filter(|text| !text.is_empty())?;
        Some(Self::new(text.to_string_lossy().as_bytes()))
    }

    /// Decrypts in place: nonce, tag, and what they are of.
    fn open(&self, bytes: &[u8]) -> Result<Vec<u8>, String> {
        let (Some(nonce), Some(tag), Some(rest)) = (
            bytes.get(..PREFIX),
            bytes.get(PREFIX..2 * PREFIX),
            bytes.get(2 * PREFIX..),
        ) else {
            return Err(format!(
                "it is encrypted ({AES}) and ends early: {} bytes",
                bytes.len()
            ));
        };
        let (nonce, tag, mut text) = (Nonce::from_slice(nonce), Tag::from_slice(tag), rest.to_vec());
        let opened = match &self.0 {
            KeyBytes::Of128(key) => {
                Eax::<Aes128>::new(key.into()).decrypt_in_place_detached(nonce, b"", &mut text, tag)
            }
            KeyBytes::Of192(key) => {
                Eax::<Aes192>::new(key.into()).decrypt_in_place_detached(nonce, b"", &mut text, tag)
            }
            KeyBytes::Of256(key) => {
                Eax::<Aes256>::new(key.into()).decrypt_in_place_detached(nonce, b"", &mut text, tag)
            }
            KeyBytes::Wrong(length) => {
                return Err(format!(
                    "it is encrypted ({AES}), and the key that was given has {length} bytes, where 16, 24 or 32 are needed: \
                     give {KEY_VARIABLE} the key that the program has, without quotes or spaces around it"
                ));
            }
        };
        match opened {
            Ok(()) => Ok(text),
            Err(_) => Err(format!(
                "it is encrypted ({AES}), and the key that was given is not its key, or its bytes are damaged: give \
                 {KEY_VARIABLE} the key that the program has"
            )),
        }
    }
}

impl fmt::Debug for AesKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AesKey")
    }
}

/// Says of something encrypted what would open it.
pub(super) fn encrypted(kind: &str) -> String {
    match kind.split_once('+') {
        Some((_, AES)) => format!(
            "it is encrypted ({AES}): give the program's key, in the variable {KEY_VARIABLE} or as a secret of this name"
        ),
        _ => format!("it is encrypted ({kind}), with a cipher that only the program has"),
    }
}

/// The key, and the values that it was tried on.
#[derive(Clone, Debug, Default)]
pub(super) struct Lock {
    pub(super) key: Option<AesKey>,
    tried: Arc<Tried>,
}

/// Numbers of encrypted values that were read.
#[derive(Debug, Default)]
struct Tried {
    opened: AtomicU64,
    closed: AtomicU64,
}

impl Lock {
    pub(super) fn of(key: Option<AesKey>) -> Self {
        Self {
            key,
            tried: Arc::default(),
        }
    }

    /// Returns why values stay closed. A key that opens some is the right one: what it does not open is damaged.
    pub(super) fn sealed(&self) -> Option<Sealed> {
        let count = |of: &AtomicU64| of.load(Ordering::Relaxed);
        if count(&self.tried.closed) == 0 || count(&self.tried.opened) > 0 {
            return None;
        }
        Some(match &self.key {
            None => Sealed::NoKey,
            Some(AesKey(KeyBytes::Wrong(length))) => Sealed::KeyLength(*length),
            Some(_) => Sealed::WrongKey,
        })
    }

    /// Decrypts something that was stored as `kind`. Returns what it is, with its encoding; `None` for what stays as it is
    /// stored: it is not encrypted, or there is no key.
    fn open<'k>(&self, kind: &'k str, bytes: &[u8]) -> Option<(&'k str, Result<Vec<u8>, String>)> {
        let (within, cipher) = kind.split_once('+')?;
        if cipher != AES {
            return None;
        }
        let opened = self.key.as_ref().map(|key| key.open(bytes));
        let tried = match &opened {
            Some(Ok(_)) => &self.tried.opened,
            _ => &self.tried.closed,
        };
        tried.fetch_add(1, Ordering::Relaxed);
        opened.map(|opened| (within, opened))
    }
}

/// The tables of a database whose encrypted values are opened, where there is their key.
pub(super) struct OpenedRows<'a> {
    pub(super) rows: &'a dyn RowReader,
    pub(super) lock: &'a Lock,
}

impl OpenedRows<'_> {
    fn checkpoint_row(&self, mut row: CheckpointRow) -> CheckpointRow {
        if let Ok(bytes) = &row.checkpoint
            && let Some((within, opened)) = self.lock.open(&row.kind, bytes)
        {
            (row.checkpoint, row.kind) = (opened, within.to_owned());
        }
        for blob in row.blobs.iter_mut().chain(&mut row.sends) {
            self.open_blob(blob);
        }
        row
    }

    fn open_blob(&self, blob: &mut Blob) {
        if let Some(Ok(bytes)) = &blob.bytes
            && let Some((within, opened)) = self.lock.open(&blob.kind, bytes)
        {
            (blob.bytes, blob.kind) = (Some(opened.map(Arc::from)), within.into());
        }
    }

    fn write_row(&self, mut row: WriteRow) -> WriteRow {
        if let Some(Ok(bytes)) = &row.value
            && let Some((within, opened)) = self.lock.open(&row.kind, bytes)
        {
            (row.value, row.kind) = (Some(opened), within.to_owned());
        }
        row
    }

    fn checkpoint_rows(&self, rows: Vec<CheckpointRow>) -> Vec<CheckpointRow> {
        rows.into_iter().map(|row| self.checkpoint_row(row)).collect()
    }
}

impl RowReader for OpenedRows<'_> {
    fn threads_after(
        &self,
        thread: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, Option<String>)>, Fault> {
        self.rows.threads_after(thread, limit)
    }

    fn namespaces_after(&self, thread: &str, ns: Option<&str>, limit: usize) -> Result<Vec<String>, Fault> {
        self.rows.namespaces_after(thread, ns, limit)
    }

    fn has_namespace(&self, thread: &str, begins: &str) -> Result<bool, Fault> {
        self.rows.has_namespace(thread, begins)
    }

    fn newest(&self, thread: &str, ns: &str) -> Result<Option<String>, Fault> {
        self.rows.newest(thread, ns)
    }

    fn oldest(&self, thread: &str, ns: &str) -> Result<Option<String>, Fault> {
        self.rows.oldest(thread, ns)
    }

    fn count(&self, thread: &str, ns: &str) -> Result<u64, Fault> {
        self.rows.count(thread, ns)
    }

    fn ids(&self, thread: &str, ns: &str, before: Option<&str>, limit: usize) -> Result<Vec<String>, Fault> {
        self.rows.ids(thread, ns, before, limit)
    }

    fn checkpoints(
        &self,
        thread: &str,
        ns: &str,
        below: Option<&str>,
        limit: usize,
        wanted: Wanted<'_>,
    ) -> Result<Vec<CheckpointRow>, Fault> {
        let rows = self.rows.checkpoints(thread, ns, below, limit, wanted)?;
        Ok(self.checkpoint_rows(rows))
    }

    fn checkpoint(
        &self,
        thread: &str,
        ns: &str,
        id: &str,
        wanted: Wanted<'_>,
    ) -> Result<Option<CheckpointRow>, Fault> {
        let row = self.rows.checkpoint(thread, ns, id, wanted)?;
        Ok(row.map(|row| self.checkpoint_row(row)))
    }

    fn following(&self, thread: &str, ns: &str, id: &str, limit: usize) -> Result<Vec<CheckpointRow>, Fault> {
        let rows = self.rows.following(thread, ns, id, limit)?;
        Ok(self.checkpoint_rows(rows))
    }

    fn writes(
        &self,
        thread: &str,
        ns: &str,
        ids: &[&str],
        with_values: bool,
    ) -> Result<Vec<Vec<WriteRow>>, Fault> {
        let all = self.rows.writes(thread, ns, ids, with_values)?;
        let open = |rows: Vec<WriteRow>| rows.into_iter().map(|row| self.write_row(row)).collect();
        Ok(all.into_iter().map(open).collect())
    }

    fn strange(&self) -> Result<Vec<String>, Fault> {
        self.rows.strange()
    }

    fn asked(&self, thread: &str) -> Result<Vec<String>, Fault> {
        self.rows.asked(thread)
    }

    fn items_after(&self, last: Option<(&str, &str)>) -> Result<Option<Vec<ItemRow>>, Fault> {
        self.rows.items_after(last)
    }
}
