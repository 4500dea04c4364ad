//! Where keys are kept: in the system's keychain, and never in a file of ours.

use std::fmt;

use keyring::Entry;

/// A place for keys.
pub trait Secrets: fmt::Debug + Send + Sync {
    /// Returns the reason why the keychain cannot be used here.
    fn problem(&self) -> Option<String>;
    /// Returns how many bytes one entry holds.
    fn longest(&self) -> usize {
        usize::MAX
    }
    /// Reads the key of this name, if there is one.
    fn get(&self, name: &str) -> Result<Option<String>, String>;
    /// Keeps a key.
    fn set(&self, name: &str, secret: &str) -> Result<(), String>;
    /// Forgets a key; one that is not there is forgotten already.
    fn remove(&self, name: &str) -> Result<(), String>;
}

/// The keychain of macOS, the credential manager of Windows, the Secret Service (GNOME Keyring, KWallet) elsewhere.
#[derive(Clone, Copy, Debug, Default)]
pub struct Keychain;

/// Under which all keys of this program are found in the keychain.
const SERVICE: &str = "superstep";

/// Runs a keychain request on a thread of its own: keychains wait for other programs, and on some systems for a person.
fn ask<T: Send>(question: impl FnOnce() -> Result<T, keyring::Error> + Send) -> Result<T, String> {
    let answer = std::thread::scope(|scope| scope.spawn(question).join());
    match answer {
        Ok(answer) => answer.map_err(|error| reason(&error)),
        Err(_) => Err("the keychain broke off".to_owned()),
    }
}

fn reason(error: &keyring::Error) -> String {
    match error {
        keyring::Error::NoDefaultStore => status().unwrap_or_else(|| error.to_string()),
        keyring::Error::NoStorageAccess(cause) => {
            format!("the keychain is locked or cannot be reached ({cause})")
        }
        other => format!("the keychain said: {other}"),
    }
}

/// Returns the reason why there is no keychain at all.
fn status() -> Option<String> {
    let error = Entry::store_status().as_ref().err()?;
    Some(format!(
        "no keychain service answers here ({error}). Start one, such as GNOME Keyring or KWallet, and Superstep again, or keep the key in an environment variable"
    ))
}

impl Secrets for Keychain {
    fn problem(&self) -> Option<String> {
        std::thread::scope(|scope| scope.spawn(status).join())
            .unwrap_or_else(|_| Some("the keychain broke off".to_owned()))
    }

    fn longest(&self) -> usize {
        // Windows keeps at most 2,560 bytes, as text of two bytes a character; the others have no limit of this order.
        if cfg!(windows) { 1_280 } else { usize::MAX }
    }

    fn get(&self, name: &str) -> Result<Option<String>, String> {
        ask(|| match Entry::new(SERVICE, name)?.get_password() {
            Ok(secret) => Ok(Some(secret)),
            Err(keyring::Error::NoEntry) => Ok(None),
            Err(error) => Err(error),
        })
    }

    fn set(&self, name: &str, secret: &str) -> Result<(), String> {
        ask(|| Entry::new(SERVICE, name)?.set_password(secret))
    }

    fn remove(&self, name: &str) -> Result<(), String> {
        ask(|| match Entry::new(SERVICE, name)?.delete_credential() {
            Err(keyring::Error::NoEntry) => Ok(()),
            other => other,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_keychain_refuses_is_reported_with_its_reason() {
        let locked = keyring::Error::NoStorageAccess("it is locked".into());
        assert_eq!(
            reason(&locked),
            "the keychain is locked or cannot be reached (it is locked)"
        );
        assert!(reason(&keyring::Error::NoEntry).starts_with("the keychain said: "));
    }
}
