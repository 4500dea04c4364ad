//! Options of `superstep store`.

use std::num::{NonZeroU32, NonZeroUsize};
use std::str::FromStr;

use clap::{Args, Subcommand};
use superstep::Value;

use super::{Db, Reading, json};

/// A namespace as an argument: labels with slashes between; a slash within a label is written `\/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Namespace(pub(crate) Vec<String>);

impl FromStr for Namespace {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (mut labels, mut label, mut letters) = (Vec::new(), String::new(), text.chars());
        while let Some(letter) = letters.next() {
            match letter {
                '/' => labels.push(std::mem::take(&mut label)),
                '\\' => label.push(letters.next().unwrap_or('\\')),
                other => label.push(other),
            }
        }
        labels.push(label);
        labels.retain(|label| !label.is_empty());
        Ok(Self(labels))
    }
}

impl Namespace {
    /// Writes the namespace as an argument has it.
    pub(crate) fn text(labels: &[String]) -> String {
        let label = |label: &String| label.replace('\\', r"\\").replace('/', r"\/");
        labels.iter().map(label).collect::<Vec<_>>().join("/")
    }

    pub(crate) fn labels(&self) -> Vec<&str> {
        self.0.iter().map(String::as_str).collect()
    }
}

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_long_help = "\
The store is what graphs remember across threads: objects under namespaces and keys. A namespace is written as its labels
with slashes between, people/ada. Reading here does not prolong an item's time to live.

Examples:
  superstep store                               the namespaces that hold items
  superstep store search people --query tea
  superstep store get people/ada likes
  superstep store put people/ada likes '{\"drink\": \"tea\"}'
  superstep store uses people/ada likes
  superstep store delete people/ada likes"
)]
pub(crate) struct StoreArgs {
    #[command(subcommand)]
    pub(crate) action: Option<StoreAction>,
    #[command(flatten)]
    pub(crate) list: NamespacesArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StoreAction {
    /// List the namespaces that hold items.
    List(NamespacesArgs),
    /// Find items, the one that was updated last first.
    Search(SearchArgs),
    /// Print the value of an item.
    Get(ItemArgs),
    /// Show which steps read or wrote an item, in all threads.
    Uses(UsesArgs),
    /// Store an item, in place of what is there.
    Put(PutArgs),
    /// Remove items.
    Delete(RemoveArgs),
    /// Remove items whose time is over; they are not seen any more, but take space.
    Sweep(SweepArgs),
    /// Make the vectors again that items are found by, after another model was chosen for them.
    Embed(EmbedArgs),
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Vectors of different models cannot be compared, so a search by meaning passes over what another one made vectors of, and
says so. What was put not to be found stays so, and no item is taken for changed. Ctrl-C stops it; it goes on when it is
called again.

Examples:
  superstep store embed")]
pub(crate) struct EmbedArgs {
    #[command(flatten)]
    pub(crate) db: Db,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
The app does so every few minutes. How many went goes to stderr.

Examples:
  superstep store sweep")]
pub(crate) struct SweepArgs {
    #[command(flatten)]
    pub(crate) db: Db,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  superstep store list
  superstep store list people --json
  superstep store list --depth 1                what there is, without what is in it
  superstep store list --suffix likes --limit 20 --offset 20")]
#[command(mut_arg("json", |json| json.help("Print JSON: a list of lists of labels")))]
pub(crate) struct NamespacesArgs {
    /// Only those that begin with this one
    #[arg(value_name = "NAMESPACE")]
    pub(crate) under: Option<Namespace>,
    /// Only those that end with this one
    #[arg(long, value_name = "NAMESPACE")]
    pub(crate) suffix: Option<Namespace>,
    /// Only this many labels of each, from the first
    #[arg(long, value_name = "N")]
    pub(crate) depth: Option<NonZeroUsize>,
    /// At most this many
    #[arg(long, value_name = "N", default_value = "1000")]
    pub(crate) limit: NonZeroUsize,
    /// Skip this many
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) offset: usize,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  superstep store search                        everything, the newest first
  superstep store search people --query 'green tea'
  superstep store search people --filter '{\"age\": {\"$gte\": 18}}' --json | jq '.[].value'")]
#[command(mut_arg("json", |json| json.help("Print JSON: a list of items")))]
pub(crate) struct SearchArgs {
    /// Items of this namespace and of those below it [default: all]
    #[arg(value_name = "NAMESPACE")]
    pub(crate) under: Option<Namespace>,
    /// Words to look for
    #[arg(long, short, value_name = "TEXT")]
    pub(crate) query: Option<String>,
    /// What values must hold: an object of fields, each a value or {"$eq" | "$ne" | "$gt" | "$gte" | "$lt" | "$lte": …}
    #[arg(long, value_name = "JSON", value_parser = json)]
    pub(crate) filter: Option<Value>,
    /// At most this many
    #[arg(long, value_name = "N", default_value = "20")]
    pub(crate) limit: NonZeroUsize,
    /// Skip this many
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) offset: usize,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  superstep store get people/ada likes
  superstep store get people/ada likes --json   with its times")]
#[command(mut_arg("json", |json| json.help("Print the whole item: namespace, key, value, created_at, updated_at")))]
pub(crate) struct ItemArgs {
    /// Where it is
    #[arg(value_name = "NAMESPACE")]
    pub(crate) namespace: Namespace,
    /// Its name there
    #[arg(value_name = "KEY")]
    pub(crate) key: String,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Runs record which items their tasks read, found, put and removed, with values of up to 200 bytes; of larger ones the size and a
hash. Edits by hand are not recorded, and neither was anything by earlier versions. FROM is where the step began, as other
commands take it.

Examples:
  superstep store uses people/ada likes
  superstep store uses people/ada likes --at THREAD@4        what it was then, as far as that is known
  superstep store uses people/ada likes --json | jq '.uses[] | select(.action == \"written\")'")]
#[command(mut_arg("json", |json| json.help("Print JSON: the uses, and with --at what was known then")))]
pub(crate) struct UsesArgs {
    /// Where it is
    #[arg(value_name = "NAMESPACE")]
    pub(crate) namespace: Namespace,
    /// Its name there
    #[arg(value_name = "KEY")]
    pub(crate) key: String,
    /// Say what it was at this moment: THREAD@STEP, THREAD@CHECKPOINT, or a link that the app copied
    #[arg(long, value_name = "MOMENT")]
    pub(crate) at: Option<String>,
    /// At most this many, the newest first
    #[arg(long, value_name = "N", default_value = "100")]
    pub(crate) limit: NonZeroU32,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  superstep store put people/ada likes '{\"drink\": \"tea\"}'
  superstep store put people/ada likes @likes.json
  superstep store put sessions now '{\"who\": \"ada\"}' --minutes 30")]
pub(crate) struct PutArgs {
    /// Where it is to be
    #[arg(value_name = "NAMESPACE")]
    pub(crate) namespace: Namespace,
    /// Its name there
    #[arg(value_name = "KEY")]
    pub(crate) key: String,
    /// The value, an object: JSON, @FILE, or - for stdin
    #[arg(value_name = "JSON", value_parser = json)]
    pub(crate) value: Value,
    /// How long it lives [default: until it is removed]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) minutes: Option<u32>,
    #[command(flatten)]
    pub(crate) db: Db,
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
It cannot be undone, so it asks first on a terminal and needs --yes elsewhere.

Examples:
  superstep store delete people/ada likes
  superstep store delete people/ada likes hates --yes")]
pub(crate) struct RemoveArgs {
    /// Where they are
    #[arg(value_name = "NAMESPACE")]
    pub(crate) namespace: Namespace,
    /// Their names there
    #[arg(required = true, value_name = "KEY")]
    pub(crate) keys: Vec<String>,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) db: Db,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_is_read_back_from_its_text() {
        for labels in [vec!["people", "ada"], vec!["a/b", r"c\d"], vec!["one"], vec![]] {
            let labels: Vec<String> = labels.into_iter().map(str::to_owned).collect();
            assert_eq!(Namespace::text(&labels).parse(), Ok(Namespace(labels)));
        }
        assert_eq!(
            "/people//ada/".parse(),
            Ok(Namespace(vec!["people".into(), "ada".into()]))
        );
    }
}
