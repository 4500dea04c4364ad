//! Secrets that a person named: one more place where a variable that a graph was granted has its value. The environment
//! of the process comes first, because who starts a program with a value means that start; then a value that was
//! entered until the program ends; then the system's keychain.
//!
//! A file in the data folder holds the names of those in the keychain, which cannot be asked for a list, and when each was
//! changed; values are in no file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use serde::{Deserialize, Serialize};
use superstep_document::text;
use superstep_nodes::models::Variables;

use crate::base::files;
use crate::models::secrets::Secrets;
use crate::wire::{KeptSecret, Problem, SecretList, SecretPlace, SecretView};

const MAX_NAME: usize = 128;
/// Longest value in bytes: four times the PEM text of an RSA key of 4,096 bits.
const MAX_VALUE: usize = 16 * 1024;

#[derive(Debug, Default, Serialize, Deserialize)]
struct NamesFile {
    /// By name.
    #[serde(default)]
    secrets: BTreeMap<String, StoredSecret>,
}

/// A secret in the keychain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct StoredSecret {
    /// When it was changed last.
    at: String,
    /// Number of entries that its value is in, when one entry of the keychain is too small for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parts: Option<usize>,
}

impl StoredSecret {
    /// Returns the accounts of its entries in the keychain, in their order.
    fn accounts(&self, account: &str) -> Vec<String> {
        match self.parts {
            None => vec![account.to_owned()],
            Some(parts) => (1..=parts).map(|part| format!("{account}:{part}")).collect(),
        }
    }

    /// Reads the value from the keychain; `None` when an entry is missing.
    fn read(&self, account: &str, keychain: &dyn Secrets) -> Result<Option<String>, String> {
        let accounts = self.accounts(account);
        let parts = accounts.iter().map(|account| keychain.get(account));
        parts.collect()
    }
}

/// Values that were read from the keychain, each with the time of the change that it is of.
type ReadValues = BTreeMap<String, (StoredSecret, Option<String>)>;

/// The named secrets of a data folder.
pub struct NamedSecrets {
    file: PathBuf,
    /// Begins the names of their accounts in the keychain.
    sort: &'static str,
    keychain: Arc<dyn Secrets>,
    /// Entered until the program ends.
    entered: RwLock<BTreeMap<String, String>>,
    read: Mutex<ReadValues>,
    writing: Mutex<()>,
}

impl fmt::Debug for NamedSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NamedSecrets")
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}

fn of_process(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

impl NamedSecrets {
    /// Name of the file in the data folder.
    pub const FILE: &'static str = "secrets.json";

    /// Opens the secrets of a data folder.
    pub fn of(data_dir: &Path, keychain: Arc<dyn Secrets>) -> Self {
        Self::new(data_dir.join(Self::FILE), "secret", keychain)
    }

    /// Opens the logins of a data folder, which are kept in the same way, and are no variables.
    pub(crate) fn logins(data_dir: &Path, keychain: Arc<dyn Secrets>) -> Self {
        Self::new(data_dir.join("logins.json"), "login", keychain)
    }

    fn new(file: PathBuf, sort: &'static str, keychain: Arc<dyn Secrets>) -> Self {
        Self {
            file,
            sort,
            keychain,
            entered: RwLock::default(),
            read: Mutex::default(),
            writing: Mutex::default(),
        }
    }

    fn account(&self, name: &str) -> String {
        format!("{}:{name}", self.sort)
    }

    /// Returns where keys are kept.
    pub fn keychain(&self) -> &Arc<dyn Secrets> {
        &self.keychain
    }

    /// Returns the value of a variable: that of the process, or of the secret with this name.
    pub fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name)
            .ok()
            .filter(|value| !value.is_empty())
            .or_else(|| self.value(name))
            // A variable that is set to nothing is set.
            .or_else(|| std::env::var(name).ok())
    }

    /// Returns what finds secrets by their names, for the environments of graphs.
    pub fn lookup(self: &Arc<Self>) -> Variables {
        let secrets = self.clone();
        Arc::new(move |name| secrets.value(name))
    }

    /// Returns the value of a secret, noted so that it is never shown.
    fn value(&self, name: &str) -> Option<String> {
        let entered = self.entered.read().get(name).cloned();
        let value = entered.or_else(|| self.stored(name))?;
        superstep_nodes::secrets::note(&value);
        Some(value)
    }

    fn stored(&self, name: &str) -> Option<String> {
        self.read_stored(name).unwrap_or_else(|cause| {
            tracing::warn!(name, "the secret was not read: {cause}");
            None
        })
    }

    fn read_stored(&self, name: &str) -> Result<Option<String>, String> {
        let names = self.names().map_err(|problem| problem.to_string())?;
        let Some(stored) = names.secrets.get(name) else {
            return Ok(None);
        };
        if let Some((of, value)) = self.read.lock().get(name)
            && of == stored
        {
            return Ok(value.clone());
        }
        let value = stored.read(&self.account(name), &*self.keychain)?;
        let read = (stored.clone(), value.clone());
        self.read.lock().insert(name.to_owned(), read);
        Ok(value)
    }

    /// Returns what is kept under a name, or why it cannot be read.
    pub(crate) fn kept(&self, name: &str) -> Result<Option<String>, String> {
        let entered = self.entered.read().get(name).cloned();
        match entered {
            Some(value) => Ok(Some(value)),
            None => self.read_stored(name),
        }
    }

    fn names(&self) -> Result<NamesFile, Problem> {
        let remedy = text!("Correct the file, or delete it and enter the secrets again.");
        files::read_json(&self.file, remedy)
    }

    fn change_names(&self, change: impl FnOnce(&mut BTreeMap<String, StoredSecret>)) -> Result<(), Problem> {
        let mut names = self.names()?;
        change(&mut names.secrets);
        let text = files::json_bytes(&names)?;
        files::write_private(&self.file, &text).map_err(|e| Problem::file(text!("write"), &self.file, &e))
    }

    /// Keeps a secret. It takes the place of one that was kept elsewhere, so that no old value comes back.
    pub(crate) fn set(&self, name: &str, value: &str, kept: KeptSecret) -> Result<(), Problem> {
        checked(name, value)?;
        superstep_nodes::secrets::note(value);
        self.keep(name, value, kept)
    }

    /// Keeps a value in place of an earlier one.
    pub(crate) fn keep(&self, name: &str, value: &str, kept: KeptSecret) -> Result<(), Problem> {
        let _writing = self.writing.lock();
        match kept {
            KeptSecret::Keychain => {
                self.store(name, value)?;
                self.read.lock().remove(name);
                self.entered.write().remove(name);
            }
            KeptSecret::UntilClosed => drop(self.entered.write().insert(name.to_owned(), value.to_owned())),
        }
        Ok(())
    }

    /// Puts a secret into the keychain, in several entries where one is too small, and its name into the file.
    fn store(&self, name: &str, value: &str) -> Result<(), Problem> {
        // A file that cannot be read must not leave a value behind that nobody finds.
        let before = self.names()?.secrets.remove(name);
        let parts = cut(value, self.keychain.longest());
        let stored = StoredSecret {
            at: files::now(),
            parts: (parts.len() > 1).then_some(parts.len()),
        };
        let accounts = stored.accounts(&self.account(name));
        let put = |(account, part): (&String, &&str)| self.keychain.set(account, part).map_err(no_keychain);
        let named = accounts
            .iter()
            .zip(&parts)
            .try_for_each(put)
            .and_then(|()| self.change_names(|names| drop(names.insert(name.to_owned(), stored))));
        // Nobody would find what is left of the old value, nor the new one without its name. Of entries that both have, a
        // part may be of either.
        let kept = before.map_or_else(Vec::new, |before| before.accounts(&self.account(name)));
        let (unused, but) = match named {
            Ok(()) => (kept, accounts),
            Err(_) if accounts.len() > 1 => (accounts, Vec::new()),
            Err(_) => (accounts, kept),
        };
        for account in unused.iter().filter(|account| !but.contains(account)) {
            let _ = self.keychain.remove(account);
        }
        named
    }

    /// Forgets a secret wherever it is kept.
    pub(crate) fn remove(&self, name: &str) -> Result<(), Problem> {
        let _writing = self.writing.lock();
        self.entered.write().remove(name);
        let Some(stored) = self.names()?.secrets.remove(name) else {
            return Ok(());
        };
        for account in stored.accounts(&self.account(name)) {
            self.keychain.remove(&account).map_err(|cause| {
                Problem::new("keychain", text!("The secret was not removed: {cause}.", cause)).remedy(text!(
                    "Unlock the keychain and try again, or remove the entry there."
                ))
            })?;
        }
        self.change_names(|names| drop(names.remove(name)))?;
        self.read.lock().remove(name);
        Ok(())
    }

    /// Lists the secrets, and with them other names that are asked about.
    pub(crate) fn list(&self, others: BTreeSet<String>) -> Result<SecretList, Problem> {
        let stored = self.names()?.secrets;
        let entered: BTreeSet<String> = self.entered.read().keys().cloned().collect();
        let mut names = others;
        names.extend(stored.keys().cloned());
        names.extend(entered.iter().cloned());
        let view = |name: String| {
            let here = match (entered.contains(&name), stored.contains_key(&name)) {
                (true, _) => Some(SecretPlace::UntilClosed),
                (false, true) => Some(SecretPlace::Keychain),
                (false, false) => None,
            };
            let found = match here {
                Some(SecretPlace::Keychain) => self.stored(&name).is_some(),
                here => here.is_some(),
            };
            SecretView {
                from: match of_process(&name) {
                    Some(_) => Some(SecretPlace::Environment),
                    None => here.filter(|_| found),
                },
                kept: here.is_some(),
                name,
            }
        };
        Ok(SecretList {
            secrets: names.into_iter().map(view).collect(),
            keychain_problem: self.keychain.problem(),
            file: self.file.to_string_lossy().into_owned(),
        })
    }
}

fn no_keychain(cause: String) -> Problem {
    Problem::new("keychain", text!("The secret was not stored: {cause}.", cause)).remedy(text!(
        "Keep it until Superstep is closed, or set an environment variable of this name before Superstep is started."
    ))
}

/// Returns a value as it is kept: without space around it, and with `\n` for every line break. A text that ends in the
/// armour of a key ends in a line break, because OpenSSH reads no key without one.
pub(crate) fn as_kept(value: &str) -> String {
    let mut value = value.trim().replace("\r\n", "\n").replace('\r', "\n");
    let last = value.rsplit('\n').next().unwrap_or_default();
    if value.len() > last.len() && last.starts_with("-----END ") && last.ends_with("-----") {
        value.push('\n');
    }
    value
}

/// Cuts a text into pieces of at most `longest` bytes.
fn cut(text: &str, longest: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while rest.len() > longest {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(longest));
        pieces.push(piece);
        rest = after;
    }
    pieces.push(rest);
    pieces
}

/// Refuses what cannot be a secret.
pub(crate) fn checked(name: &str, value: &str) -> Result<(), Problem> {
    let mut letters = name.chars();
    let first = letters
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    if !first || name.len() > MAX_NAME || !letters.all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Err(Problem::invalid(text!(
            "{name} cannot be the name of a secret.",
            name = format!("{name:?}")
        ))
        .remedy(text!("Write a name such as STRIPE_KEY: letters, digits and `_`.")));
    }
    if value.is_empty() || value.len() > MAX_VALUE || value.contains('\0') {
        return Err(
            Problem::invalid(text!("This value cannot be stored.")).remedy(text!(
                "Enter a value of at most {count} bytes.",
                count = MAX_VALUE
            )),
        );
    }
    Ok(())
}
