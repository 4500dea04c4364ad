//! The files of a crate, what each declares and what it names.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

/// Segments of a path from the root of the crate; the last may be `*`.
type Route = Vec<String>;

/// What a file says of names, its tests apart.
#[derive(Default)]
struct Module {
    /// Relative to the source folder.
    file: String,
    /// Names of what it declares.
    items: BTreeSet<String>,
    /// Names that `use` brings in; None for those of other crates.
    bound: BTreeMap<String, Option<Route>>,
    /// Where `use …::*` leads.
    globs: Vec<Route>,
    named: Vec<Named>,
    /// Methods that it adds to types of the root.
    methods: BTreeSet<String>,
    /// Calls of methods of those types that the text shows: line and name.
    calls: Vec<(usize, String)>,
}

impl Module {
    fn is_root(&self) -> bool {
        matches!(&*self.file, "lib.rs" | "main.rs")
    }

    /// The folder of the source that it is in; the name of a file beside the root.
    fn folder(&self) -> &str {
        let first = self.file.split('/').next().unwrap_or_default();
        first.strip_suffix(".rs").unwrap_or(first)
    }
}

/// A path of this crate that a file names.
struct Named {
    line: usize,
    route: Route,
    /// A `pub use` hands a name on and uses nothing of it.
    handed_on: bool,
}

/// All files of a crate by their module path; the root has an empty one.
pub(crate) struct Source(BTreeMap<Route, Module>);

/// One file names another.
#[derive(Debug, PartialEq)]
pub(crate) struct Arrow {
    pub(crate) file: String,
    pub(crate) line: usize,
    /// The path as it is written, from the root.
    pub(crate) route: String,
}

impl Source {
    /// Reads a crate whose root declares the types `root`, for every layer to add methods to.
    pub(crate) fn read(source: &Path, root: &[&str]) -> Self {
        let mut files = BTreeMap::new();
        let mut folders = vec![source.to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|e| e == "rs") {
                    let inside = path.strip_prefix(source).unwrap().with_extension("");
                    let mut route: Route = inside
                        .iter()
                        .map(|part| part.to_string_lossy().into_owned())
                        .collect();
                    route.pop_if(|last| last == "mod" || last == "lib" || last == "main");
                    files.insert(route, path);
                }
            }
        }
        let routes: BTreeSet<Route> = files.keys().cloned().collect();
        let read = |(route, path): (Route, std::path::PathBuf)| {
            let text = fs::read_to_string(&path).unwrap();
            let parsed = syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let mut reader = Reader {
                routes: &routes,
                inside: route.clone(),
                depth: route.len(),
                found: Module::default(),
                root,
                holders: Vec::new(),
            };
            reader.found.file = path.strip_prefix(source).unwrap().to_string_lossy().into_owned();
            reader.visit_file(&parsed);
            (route, reader.found)
        };
        Self(files.into_iter().map(read).collect())
    }

    /// The module whose file declares what a path names; None where the root does not know the name.
    fn resolve(&self, route: &[String]) -> Option<&Module> {
        let mut route = route.to_vec();
        // A name may be handed on several times.
        for _ in 0..8 {
            let own = (0..=route.len())
                .rev()
                .find(|end| self.0.contains_key(&route[..*end]))?;
            let module = &self.0[&route[..own]];
            let Some(item) = route.get(own) else {
                return Some(module);
            };
            let rest = &route[own + 1..];
            let lies_at_root = own == 0;
            route = match module.bound.get(item) {
                Some(Some(target)) => target.iter().chain(rest).cloned().collect(),
                Some(None) => return Some(module),
                None if module.items.contains(item) => return Some(module),
                None => {
                    let declares =
                        |glob: &&Route| self.0.get(*glob).is_some_and(|of| of.items.contains(item));
                    match module.globs.iter().find(declares) {
                        Some(glob) => glob.iter().chain(&route[own..]).cloned().collect(),
                        // Of a macro, or what a macro made.
                        None if lies_at_root => {
                            let exports = |of: &&Module| of.items.contains(&format!("{item}!"));
                            return self.0.values().find(exports);
                        }
                        None => return Some(module),
                    }
                }
            };
        }
        None
    }

    /// The folder (or file beside the root) that a path names; for a name of the root, the one that declares it.
    fn folder(&self, route: &[String]) -> Option<String> {
        let first = route.first()?;
        if self.has(first) {
            return Some(first.clone());
        }
        let module = self.resolve(route)?;
        (!module.is_root()).then(|| module.folder().to_owned())
    }

    /// Does a folder hold a module?
    pub(crate) fn has(&self, folder: &str) -> bool {
        self.0
            .keys()
            .any(|module| module.first().is_some_and(|first| first == folder))
    }

    /// Arrows that lead up, and what could not be judged. Names in `root` are of the root itself, for every layer.
    pub(crate) fn upward(&self, layers: &[&str], root: &[&str]) -> Vec<Arrow> {
        let layer = |folder: &str| layers.iter().position(|layer| *layer == folder);
        let mut found = Vec::new();
        for module in self.0.values().filter(|module| !module.is_root()) {
            let Some(own) = layer(module.folder()) else {
                panic!("{} is in no layer: put its folder into the list", module.file);
            };
            let of_root = |named: &&Named| named.route.first().is_some_and(|name| root.contains(&&**name));
            for named in module.named.iter().filter(|named| !of_root(named)) {
                let target = self.folder(&named.route).and_then(|folder| layer(&folder));
                if target.is_none_or(|target| target > own) {
                    found.push(Arrow {
                        file: module.file.clone(),
                        line: named.line,
                        route: named.route.join("::"),
                    });
                }
            }
        }
        found
    }

    /// Calls of methods that a layer above adds to a type of the root.
    pub(crate) fn upward_calls(&self, layers: &[&str]) -> Vec<Arrow> {
        let layer = |module: &Module| layers.iter().position(|layer| *layer == module.folder());
        let mut homes: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for module in self.0.values() {
            for method in &module.methods {
                // What the root itself adds lies below everything.
                let place = if module.is_root() { Some(0) } else { layer(module) };
                homes.entry(method).or_default().extend(place);
            }
        }
        let mut found = Vec::new();
        for module in self.0.values().filter(|module| !module.is_root()) {
            let own = layer(module).unwrap_or_default();
            for (line, name) in &module.calls {
                let lowest = homes.get(&**name).and_then(|homes| homes.iter().min());
                if lowest.is_some_and(|lowest| *lowest > own) {
                    found.push(Arrow {
                        file: module.file.clone(),
                        line: *line,
                        route: format!("{name}()"),
                    });
                }
            }
        }
        found
    }

    /// The largest set of files that all lead to each other.
    pub(crate) fn largest_circle(&self) -> Vec<&str> {
        let mut next: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for module in self.0.values() {
            let used = module.named.iter().filter(|named| !named.handed_on);
            let used = used.filter_map(|named| self.resolve(&named.route));
            let others = used.filter(|used| used.file != module.file && !used.is_root());
            next.insert(&module.file, others.map(|used| &*used.file).collect());
        }
        let reach = |from: &'_ str| {
            let mut seen: BTreeSet<&str> = BTreeSet::new();
            let mut open: Vec<&str> = next[from].iter().copied().collect();
            while let Some(file) = open.pop() {
                if seen.insert(file) {
                    open.extend(&next[file]);
                }
            }
            seen
        };
        let reached: BTreeMap<&str, BTreeSet<&str>> = next.keys().map(|file| (*file, reach(file))).collect();
        let circle = |from: &&str| -> Vec<&str> {
            let both = |to: &&&str| reached[*to].contains(*from);
            reached[*from].iter().filter(both).copied().collect()
        };
        next.keys().map(circle).max_by_key(Vec::len).unwrap_or_default()
    }
}

/// Collects what a file names and declares.
struct Reader<'a> {
    routes: &'a BTreeSet<Route>,
    /// The module that is read: the file's own, or one written inside it.
    inside: Route,
    /// Length of the path of the file's own module.
    depth: usize,
    found: Module,
    /// Types that the root declares.
    root: &'a [&'a str],
    /// Names that hold a value of such a type where the reader is.
    holders: Vec<String>,
}

/// Returns whether this is left out of the library.
pub(crate) fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    let is_test = |token: TokenTree| matches!(token, TokenTree::Ident(ident) if ident == "test");
    attributes.iter().any(|attribute| {
        let list = attribute.meta.require_list();
        attribute.path().is_ident("cfg")
            && list.is_ok_and(|list| list.tokens.clone().into_iter().any(is_test))
    })
}

impl Reader<'_> {
    /// The path from the root; None for one of another crate, or of this file.
    fn route_of(&self, segments: &[String]) -> Option<Route> {
        let (first, rest) = segments.split_first()?;
        match &**first {
            "crate" => Some(rest.to_vec()),
            "self" => Some(self.inside.iter().chain(rest).cloned().collect()),
            "super" => {
                let ups = segments.iter().take_while(|segment| *segment == "super").count();
                let around = self.inside.len().checked_sub(ups)?;
                Some(
                    self.inside[..around]
                        .iter()
                        .chain(&segments[ups..])
                        .cloned()
                        .collect(),
                )
            }
            _ => {
                let child: Route = self.inside.iter().chain([first]).cloned().collect();
                let known = !rest.is_empty() && self.routes.contains(&child);
                known.then(|| self.inside.iter().chain(segments).cloned().collect())
            }
        }
    }

    /// Returns whether a type is one of the root's, or holds one: `Workbench`, `&Arc<Workbench>`.
    fn is_of_root(&self, ty: &syn::Type) -> bool {
        let argument = |argument: &syn::GenericArgument| matches!(argument, syn::GenericArgument::Type(ty) if self.is_of_root(ty));
        match ty {
            syn::Type::Reference(reference) => self.is_of_root(&reference.elem),
            syn::Type::Path(path) => path.path.segments.last().is_some_and(|last| {
                self.root.iter().any(|root| last.ident == root)
                    || matches!(&last.arguments, syn::PathArguments::AngleBracketed(list) if list.args.iter().any(argument))
            }),
            _ => false,
        }
    }

    /// Returns whether an expression is a value of a type of the root, by its name.
    fn holds_root(&self, receiver: &syn::Expr) -> bool {
        match receiver {
            syn::Expr::Path(path) => path
                .path
                .get_ident()
                .is_some_and(|name| self.is_holder(&name.to_string())),
            syn::Expr::Field(field) => {
                matches!(&field.member, syn::Member::Named(name) if !self.root.is_empty() && name == "workbench")
            }
            _ => false,
        }
    }

    fn is_holder(&self, name: &str) -> bool {
        self.holders.iter().any(|holder| holder == name)
    }

    /// Reads something in which more names hold a value of a type of the root.
    fn within(&mut self, holders: impl IntoIterator<Item = String>, read: impl FnOnce(&mut Self)) {
        let before = self.holders.len();
        self.holders.extend(holders);
        read(self);
        self.holders.truncate(before);
    }

    fn note(&mut self, line: usize, route: Route, handed_on: bool) {
        // What the file says about itself is no arrow.
        let own =
            route.len() > self.depth && self.inside.len() > self.depth && route.starts_with(&self.inside);
        if !route.is_empty() && !own {
            let named = Named {
                line,
                route,
                handed_on,
            };
            self.found.named.push(named);
        }
    }

    fn note_tree(&mut self, tree: &syn::UseTree, mut before: Vec<String>, handed_on: bool) {
        let (line, name, glob) = match tree {
            syn::UseTree::Path(path) => {
                before.push(path.ident.to_string());
                return self.note_tree(&path.tree, before, handed_on);
            }
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.note_tree(tree, before.clone(), handed_on);
                }
                return;
            }
            syn::UseTree::Name(name) => {
                let (line, name) = (name.ident.span().start().line, name.ident.to_string());
                if name != "self" {
                    before.push(name.clone());
                }
                let bound = before.last().cloned().unwrap_or(name);
                (line, bound, false)
            }
            syn::UseTree::Rename(rename) => {
                before.push(rename.ident.to_string());
                (rename.ident.span().start().line, rename.rename.to_string(), false)
            }
            syn::UseTree::Glob(glob) => (glob.star_token.spans[0].start().line, String::new(), true),
        };
        let route = self.route_of(&before);
        if self.inside.len() == self.depth {
            match (&route, glob) {
                (Some(route), true) => self.found.globs.push(route.clone()),
                (_, true) => {}
                (route, false) => {
                    self.found.bound.insert(name, route.clone());
                }
            }
        }
        if let Some(route) = route {
            self.note(line, route, handed_on);
        }
    }

    /// Finds paths among tokens, where only their first words mark them.
    fn note_tokens(&mut self, tokens: TokenStream, firsts: &[&str]) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let colon = |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(p)) if p.as_char() == ':');
        let mut at = 0;
        while at < tokens.len() {
            if let [
                TokenTree::Ident(holder),
                TokenTree::Punct(dot),
                TokenTree::Ident(method),
                TokenTree::Group(_),
                ..,
            ] = &tokens[at..]
                && dot.as_char() == '.'
                && self.is_holder(&holder.to_string())
            {
                self.found
                    .calls
                    .push((method.span().start().line, method.to_string()));
            }
            match &tokens[at] {
                TokenTree::Group(group) => self.note_tokens(group.stream(), firsts),
                TokenTree::Ident(ident) if firsts.iter().any(|first| ident == first) => {
                    let line = ident.span().start().line;
                    let mut segments = vec![ident.to_string()];
                    while let (true, true, Some(TokenTree::Ident(next))) =
                        (colon(at + 1), colon(at + 2), tokens.get(at + 3))
                    {
                        segments.push(next.to_string());
                        at += 3;
                    }
                    let calls = matches!(tokens.get(at + 1), Some(TokenTree::Punct(p)) if p.as_char() == '!');
                    // A macro has a name of its own, beside a module that is called the same.
                    if let (Some(route), false) = (self.route_of(&segments), calls) {
                        self.note(line, route, false);
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let (name, attributes) = match item {
            syn::Item::Const(item) => (Some(&item.ident), &item.attrs),
            syn::Item::Enum(item) => (Some(&item.ident), &item.attrs),
            syn::Item::Fn(item) => (Some(&item.sig.ident), &item.attrs),
            syn::Item::Mod(item) => (Some(&item.ident), &item.attrs),
            syn::Item::Static(item) => (Some(&item.ident), &item.attrs),
            syn::Item::Struct(item) => (Some(&item.ident), &item.attrs),
            syn::Item::Trait(item) => (Some(&item.ident), &item.attrs),
            syn::Item::Type(item) => (Some(&item.ident), &item.attrs),
            syn::Item::Union(item) => (Some(&item.ident), &item.attrs),
            syn::Item::Impl(item) => (None, &item.attrs),
            syn::Item::Use(item) => (None, &item.attrs),
            syn::Item::Macro(item) => {
                let exported = item
                    .attrs
                    .iter()
                    .any(|attribute| attribute.path().is_ident("macro_export"));
                if let (Some(name), true) = (&item.ident, exported) {
                    self.found.items.insert(format!("{name}!"));
                }
                if item.ident.is_some() {
                    // What `super` is depends on where the macro is used.
                    self.note_tokens(item.mac.tokens.clone(), &["crate"]);
                    return;
                }
                (None, &item.attrs)
            }
            _ => return visit::visit_item(self, item),
        };
        if is_for_tests(attributes) {
            return;
        }
        // A child module in a file of its own is found there.
        let elsewhere = matches!(item, syn::Item::Mod(module) if module.content.is_none());
        if let (Some(name), true, false) = (name, self.inside.len() == self.depth, elsewhere) {
            self.found.items.insert(name.to_string());
        }
        visit::visit_item(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.inside.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.inside.pop();
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let of_root = self.is_of_root(&item.self_ty);
        if of_root && item.trait_.is_none() {
            let methods = item.items.iter().filter_map(|item| match item {
                syn::ImplItem::Fn(method) => Some(method.sig.ident.to_string()),
                _ => None,
            });
            self.found.methods.extend(methods);
        }
        // In a closure or a task, it is called `this` or by its name.
        let holders = of_root.then_some(["self", "this", "Self"]).into_iter().flatten();
        let holders: Vec<String> = holders.map(str::to_owned).collect();
        self.within(holders, |reader| visit::visit_item_impl(reader, item));
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        let named = signature.inputs.iter().filter_map(|input| match input {
            syn::FnArg::Typed(typed) if self.is_of_root(&typed.ty) => match &*typed.pat {
                syn::Pat::Ident(name) => Some(name.ident.to_string()),
                _ => None,
            },
            _ => None,
        });
        let named: Vec<String> = named.collect();
        self.holders.extend(named);
        visit::visit_signature(self, signature);
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        let holders = (!self.root.is_empty()).then(|| "workbench".to_owned());
        self.within(holders, |reader| visit::visit_item_fn(reader, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        let holders = (!self.root.is_empty()).then(|| "workbench".to_owned());
        self.within(holders, |reader| visit::visit_impl_item_fn(reader, item));
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if self.holds_root(&call.receiver) {
            let method = &call.method;
            self.found
                .calls
                .push((method.span().start().line, method.to_string()));
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let handed_on = !matches!(item.vis, syn::Visibility::Inherited);
        self.note_tree(&item.tree, Vec::new(), handed_on);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<String> = path
            .segments
            .iter()
            .map(|segment| segment.ident.to_string())
            .collect();
        if let [of, name] = &*segments
            && (self.root.contains(&&**of) || (of == "Self" && self.is_holder("Self")))
        {
            let line = path.segments[1].ident.span().start().line;
            self.found.calls.push((line, name.clone()));
        }
        if let Some(route) = self.route_of(&segments).filter(|_| segments[0] != "self") {
            self.note(path.segments[0].ident.span().start().line, route, false);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.note_tokens(mac.tokens.clone(), &["crate", "super"]);
    }

    /// `pub(crate)` and `pub(super)` name nothing.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    /// Documentation may speak of what lies above.
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
}
