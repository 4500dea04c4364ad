//! A program as the machine reads it: a module, or the body of a function with `import`s in front.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use rquickjs::module::Declared;
use rquickjs::{Ctx, Module};
use superstep_bytecode::Bytecode;

use super::FILE;

/// A program that is called many times. Clones share what was read.
#[derive(Clone, Debug)]
pub struct JavaScriptSource {
    /// Number by which a worker process knows it again.
    number: u64,
    /// A module with a default export, or the body of a function.
    text: Arc<str>,
    /// Its parameters, when it is a body.
    parameters: Arc<str>,
    /// None when it imports others: these may change between two calls.
    read: Arc<OnceLock<Option<Bytecode>>>,
}

impl JavaScriptSource {
    pub(crate) fn new(text: impl Into<Arc<str>>, parameters: impl Into<Arc<str>>) -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self {
            number: LAST.fetch_add(1, Ordering::Relaxed),
            text: text.into(),
            parameters: parameters.into(),
            read: Arc::default(),
        }
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Returns the text, and its parameters if it is the body of a function.
    pub(super) fn parts(&self) -> (&str, &str) {
        (&self.text, &self.parameters)
    }

    /// Declares the source as a module of a machine.
    pub(super) fn declare<'js>(&self, ctx: &Ctx<'js>) -> rquickjs::Result<Module<'js, Declared>> {
        let text = || module(&self.text, &self.parameters);
        match self.read.get_or_init(|| Bytecode::of(FILE, &text()).ok()) {
            Some(read) => read.declare(ctx),
            // What cannot be read at all is an error that says where.
            None => Module::declare(ctx.clone(), FILE, text()),
        }
    }
}

/// Returns whether the source is a module of its own, rather than the body of a function.
pub(super) fn is_module(source: &str) -> bool {
    source.lines().any(|line| {
        line.strip_prefix("export")
            .is_some_and(|rest| rest.starts_with([' ', '{', '\t']))
    })
}

/// Converts the program to a module whose default export is the function. Lines keep their numbers.
pub(super) fn module(source: &str, parameters: &str) -> String {
    if is_module(source) {
        return source.to_owned();
    }
    let (imports, body) = source.split_at(imports_end(source));
    // The closing brace is on a line of its own, so that a comment cannot swallow it.
    format!("{imports};export default async function node({parameters}) {{{body}\n}}\n")
}

/// Returns the end of the `import` declarations at the beginning of the source.
fn imports_end(source: &str) -> usize {
    let mut end = 0;
    loop {
        let at = end + blank(&source[end..]);
        let Some(rest) = source[at..].strip_prefix("import") else {
            return end;
        };
        // `import(…)` and `import.meta` are expressions.
        if !rest.starts_with([' ', '\t', '\n', '{', '*', '"', '\''])
            || rest.trim_start().starts_with(['(', '.'])
        {
            return end;
        }
        let Some(quote) = rest.find(['"', '\'']) else {
            return end;
        };
        let text = &rest[quote + 1..];
        let Some(close) = text.find(&rest[quote..=quote]) else {
            return end;
        };
        end = source.len() - text.len() + close + 1;
    }
}

/// Returns the length of the spaces, semicolons and comments at the beginning of the text.
fn blank(text: &str) -> usize {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ';');
        let comment = if rest.starts_with("//") {
            rest.find('\n')
        } else if rest.starts_with("/*") {
            rest.find("*/").map(|at| at + 2)
        } else {
            None
        };
        match comment {
            Some(length) => rest = &rest[length..],
            None => return text.len() - rest.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_stay_in_front_and_lines_keep_their_numbers() {
        let source = "// tools\nimport { a } from './a.js'; import \"./b.js\"\nimport c\n  from './c.js';\nreturn a // 'x'";
        let text = module(source, "state, ctx");
        assert!(text.starts_with(
            "// tools\nimport { a } from './a.js'; import \"./b.js\"\nimport c\n  from './c.js';export"
        ));
        assert_eq!(
            text.lines().position(|line| line == "return a // 'x'"),
            Some(4),
            "{text}"
        );
        for body in [
            "return import('./a.js')",
            "import('x').then(() => 1)",
            "important()",
            "",
            "// import 'x'",
        ] {
            assert!(
                module(body, "s").starts_with(";export default async function node(s) {"),
                "{body}"
            );
        }
        assert_eq!(
            module("import\n'x", "s").lines().count(),
            3,
            "what cannot be read is left to the machine"
        );
        let whole = "import './a.js'\nexport default (state) => state";
        assert_eq!(module(whole, "s"), whole);
        assert!(!is_module("const exported = 1\nexports.a = 2"));
    }
}
