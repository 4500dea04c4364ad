//! Logins of the person to MCP servers: in the keychain, as secrets are, and until the program is closed where there is
//! none. A file in the data folder holds names that say nothing, and another is locked while a login is changed.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use superstep_nodes::Logins;

use super::named::NamedSecrets;
use super::secrets::Secrets;
use crate::base::files;
use crate::wire::KeptSecret;

/// Longest login in bytes.
const MAX_LOGIN: usize = 64 * 1024;

/// The logins of a data folder.
#[derive(Debug)]
pub struct KeptLogins {
    secrets: NamedSecrets,
    lock: PathBuf,
    /// Without a keychain, a login is kept until the program is closed.
    in_memory: bool,
}

impl KeptLogins {
    /// Opens the logins of a data folder, for a program that stays.
    pub fn of(data_dir: &Path, keychain: Arc<dyn Secrets>) -> Self {
        Self {
            secrets: NamedSecrets::logins(data_dir, keychain),
            lock: data_dir.join("logins.lock"),
            in_memory: true,
        }
    }

    /// Returns the same for a program that ends with its command: what it would keep in memory would be lost.
    #[must_use]
    pub fn lasting(mut self) -> Self {
        self.in_memory = false;
        self
    }
}

impl Logins for KeptLogins {
    fn problem(&self) -> Option<String> {
        (!self.in_memory)
            .then(|| self.secrets.keychain().problem())
            .flatten()
    }

    fn get(&self, name: &str) -> Result<Option<String>, String> {
        self.secrets.kept(name)
    }

    fn set(&self, name: &str, login: &str) -> Result<(), String> {
        if login.len() > MAX_LOGIN {
            return Err(format!("it is longer than {} KiB", MAX_LOGIN >> 10));
        }
        let place = match self.secrets.keychain().problem() {
            Some(_) if self.in_memory => KeptSecret::UntilClosed,
            _ => KeptSecret::Keychain,
        };
        self.secrets
            .keep(name, login, place)
            .map_err(|problem| problem.to_string())
    }

    fn remove(&self, name: &str) -> Result<(), String> {
        self.secrets.remove(name).map_err(|problem| problem.to_string())
    }

    fn hold(&self) -> Result<Box<dyn Send>, String> {
        let held = || -> std::io::Result<File> {
            if let Some(folder) = self.lock.parent() {
                files::make_data_dir(folder)?;
            }
            let file = File::options()
                .create(true)
                .truncate(false)
                .write(true)
                .open(&self.lock)?;
            file.lock()?;
            Ok(file)
        };
        match held() {
            Ok(file) => Ok(Box::new(file)),
            Err(error) => Err(format!("{} cannot be locked: {error}", self.lock.display())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use parking_lot::Mutex;

    use super::*;

    /// A keychain with small entries, or none at all.
    #[derive(Debug, Default)]
    struct Keys {
        entries: Mutex<BTreeMap<String, String>>,
        is_gone: bool,
    }

    impl Secrets for Keys {
        fn problem(&self) -> Option<String> {
            self.is_gone.then(|| "there is none".to_owned())
        }
        fn longest(&self) -> usize {
            10
        }
        fn get(&self, name: &str) -> Result<Option<String>, String> {
            Ok(self.entries.lock().get(name).cloned())
        }
        fn set(&self, name: &str, secret: &str) -> Result<(), String> {
            self.entries.lock().insert(name.to_owned(), secret.to_owned());
            Ok(())
        }
        fn remove(&self, name: &str) -> Result<(), String> {
            self.entries.lock().remove(name);
            Ok(())
        }
    }

    const LOGIN: &str = r#"{"access_token": "one-4711-two-4711"}"#;

    #[test]
    fn logins_are_in_the_keychain_and_in_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let keys = Arc::new(Keys::default());
        let logins = KeptLogins::of(folder.path(), keys.clone());
        assert_eq!(logins.get("abc"), Ok(None));
        logins.set("abc", LOGIN).unwrap();
        assert!(
            keys.entries
                .lock()
                .keys()
                .all(|name| name.starts_with("login:abc"))
        );
        // Another program of the same folder, and this one after that has changed it.
        let other = KeptLogins::of(folder.path(), keys.clone()).lasting();
        assert_eq!(other.problem(), None);
        assert_eq!(other.get("abc").unwrap().as_deref(), Some(LOGIN));
        other.set("abc", "{}").unwrap();
        assert_eq!(logins.get("abc").unwrap().as_deref(), Some("{}"));
        for file in std::fs::read_dir(folder.path()).unwrap() {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            assert!(!text.contains("4711"), "{text}");
        }
        logins.remove("abc").unwrap();
        assert_eq!(other.get("abc"), Ok(None));
        assert!(keys.entries.lock().is_empty());
        assert!(logins.set("abc", &"x".repeat(MAX_LOGIN + 1)).is_err());
    }

    #[test]
    fn without_a_keychain_a_login_lasts_as_long_as_its_program() {
        let folder = tempfile::tempdir().unwrap();
        let keys = Arc::new(Keys {
            is_gone: true,
            ..Keys::default()
        });
        let logins = KeptLogins::of(folder.path(), keys.clone());
        assert_eq!(logins.problem(), None);
        logins.set("abc", LOGIN).unwrap();
        assert_eq!(logins.get("abc").unwrap().as_deref(), Some(LOGIN));
        assert!(keys.entries.lock().is_empty());
        let ends = KeptLogins::of(folder.path(), keys).lasting();
        assert_eq!(ends.problem().as_deref(), Some("there is none"));
        assert_eq!(ends.get("abc"), Ok(None));
    }

    #[test]
    fn one_at_a_time_changes_logins() {
        let folder = tempfile::tempdir().unwrap();
        let logins = Arc::new(KeptLogins::of(folder.path(), Arc::new(Keys::default())));
        let inside = Arc::new(Mutex::new(()));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..25 {
                        let _held = logins.hold().unwrap();
                        let _inside = inside.try_lock().expect("nobody else holds them");
                    }
                });
            }
        });
    }
}
