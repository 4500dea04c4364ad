//! Where logins to servers are kept: outside of every project, by the program that runs graphs.

use std::fmt;

/// A place for logins. A login is a text that nobody is to read, under a name that says nothing of it.
pub trait Logins: fmt::Debug + Send + Sync {
    /// Returns the reason why no login can be kept here.
    fn problem(&self) -> Option<String>;
    /// Reads the login of this name, if there is one.
    fn get(&self, name: &str) -> Result<Option<String>, String>;
    /// Keeps a login in place of an earlier one.
    fn set(&self, name: &str, login: &str) -> Result<(), String>;
    /// Forgets a login; one that is not there is forgotten already.
    fn remove(&self, name: &str) -> Result<(), String>;
    /// Waits until nobody changes logins, in this program or in another, and keeps all others waiting until the answer is
    /// dropped. A server takes a refresh token once.
    fn hold(&self) -> Result<Box<dyn Send>, String>;
}
