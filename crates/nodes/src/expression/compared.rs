//! What an expression compares with what, as far as its text and the types of the state's keys say.

use std::collections::BTreeSet;

use minijinja::machinery::ast::{BinOpKind, CallArg, Expr, UnaryOpKind};
use minijinja::value::{Value as Jinja, ValueKind};
use serde_json::Value as Json;

/// A type of JSON, as comparisons see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Null,
    Truth,
    Number,
    Text,
    List,
    Object,
}

impl Kind {
    fn of(value: &Json) -> Self {
        match value {
            Json::Null => Kind::Null,
            Json::Bool(_) => Kind::Truth,
            Json::Number(_) => Kind::Number,
            Json::String(_) => Kind::Text,
            Json::Array(_) => Kind::List,
            Json::Object(_) => Kind::Object,
        }
    }

    fn of_jinja(value: &Jinja) -> Option<Self> {
        Some(match value.kind() {
            ValueKind::None => Kind::Null,
            ValueKind::Bool => Kind::Truth,
            ValueKind::Number => Kind::Number,
            ValueKind::String => Kind::Text,
            ValueKind::Seq => Kind::List,
            ValueKind::Map => Kind::Object,
            _ => return None,
        })
    }

    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "null" => Kind::Null,
            "boolean" => Kind::Truth,
            "integer" | "number" => Kind::Number,
            "string" => Kind::Text,
            "array" => Kind::List,
            "object" => Kind::Object,
            _ => return None,
        })
    }

    /// Returns the name of the type in JSON Schema.
    fn name(self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::Truth => "boolean",
            Kind::Number => "number",
            Kind::Text => "string",
            Kind::List => "array",
            Kind::Object => "object",
        }
    }

    /// Returns whether values of the two types have no order; see [`super::compare`].
    fn has_no_order(self, other: Self) -> bool {
        let stands_alone = |kind: Kind| matches!(kind, Kind::Text | Kind::List);
        self != other
            && self != Kind::Null
            && other != Kind::Null
            && (stands_alone(self) || stands_alone(other))
    }
}

/// A side of a comparison, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ComparedValue {
    Nothing,
    Of(BTreeSet<Kind>),
    /// A part of the state.
    State(Vec<String>),
    /// One or the other.
    Either(Box<ComparedValue>, Box<ComparedValue>),
    /// The first, or the second where the first has no value.
    Default(Box<ComparedValue>, Box<ComparedValue>),
}

/// A comparison of two values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    left: ComparedValue,
    right: ComparedValue,
    /// By `<`, `<=`, `>` or `>=`; else whether they are equal.
    is_order: bool,
    /// As the expression has it.
    source: String,
}

/// A mistake in a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Miscompared {
    /// The values have never an order: names of their types.
    NoOrder(String, String),
    /// They are never equal: names of their types.
    NeverEqual(String, String),
    /// One may be null, which Jinja puts before all others: the path in the state.
    MaybeNull(String),
}

impl Comparison {
    pub(super) fn new(left: &Expr<'_>, right: &Expr<'_>, is_order: bool, source: &str) -> Self {
        Self {
            left: known(left),
            right: known(right),
            is_order,
            source: source.trim().to_owned(),
        }
    }

    /// Returns the comparison as the expression has it.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// Returns what is wrong, where the types of both sides are known. `schema` gives the schema of a state key.
    pub(crate) fn mistake<'s>(
        &self,
        whole: &str,
        schema: &dyn Fn(&str) -> Option<&'s Json>,
    ) -> Option<Miscompared> {
        let names = |kinds: &BTreeSet<Kind>| {
            let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
            names.join(" or ")
        };
        let (left, right) = (
            self.left.kinds(self.is_order, schema)?,
            self.right.kinds(self.is_order, schema)?,
        );
        let null = BTreeSet::from([Kind::Null]);
        if left.is_empty() || right.is_empty() || left == null || right == null {
            return None;
        }
        if !self.is_order {
            let loose = |kinds: &BTreeSet<Kind>| -> BTreeSet<Kind> {
                // Jinja takes true for one.
                let kinds = kinds
                    .iter()
                    .map(|kind| if *kind == Kind::Truth { Kind::Number } else { *kind });
                kinds.collect()
            };
            return loose(&left)
                .is_disjoint(&loose(&right))
                .then(|| Miscompared::NeverEqual(names(&left), names(&right)));
        }
        let (firm_left, firm_right) = (&left - &null, &right - &null);
        let mut pairs = firm_left
            .iter()
            .flat_map(|left| firm_right.iter().map(move |right| (*left, *right)));
        if pairs.all(|(left, right)| left.has_no_order(right)) {
            return Some(Miscompared::NoOrder(names(&firm_left), names(&firm_right)));
        }
        // Where the expression speaks of the value or of null elsewhere, it may have looked before.
        let looks = |path: &str| whole.matches(path).count() > 1 || whole.contains("none");
        let sides = [(&self.left, &left), (&self.right, &right)];
        sides.into_iter().find_map(|(side, kinds)| match side {
            ComparedValue::State(path) if kinds.contains(&Kind::Null) => {
                let path = format!("state.{}", path.join("."));
                (!looks(&path)).then_some(Miscompared::MaybeNull(path))
            }
            _ => None,
        })
    }
}

impl ComparedValue {
    fn of(kind: Kind) -> Self {
        ComparedValue::Of(BTreeSet::from([kind]))
    }

    /// Returns the types that the value may have; `None` where that is not known. In an order what has a value counts,
    /// not its default.
    fn kinds<'s>(&self, is_order: bool, schema: &dyn Fn(&str) -> Option<&'s Json>) -> Option<BTreeSet<Kind>> {
        match self {
            ComparedValue::Nothing => None,
            ComparedValue::Of(kinds) => Some(kinds.clone()),
            ComparedValue::State(path) => {
                let (key, inside) = path.split_first()?;
                kinds_within(schema(key)?, inside)
            }
            ComparedValue::Default(value, _) if is_order => {
                let mut kinds = value.kinds(is_order, schema)?;
                kinds.remove(&Kind::Null);
                Some(kinds)
            }
            ComparedValue::Either(one, other) | ComparedValue::Default(one, other) => {
                let mut kinds = one.kinds(is_order, schema)?;
                kinds.extend(other.kinds(is_order, schema)?);
                Some(kinds)
            }
        }
    }
}

/// Returns the types that a schema allows for a part of its values.
fn kinds_within(schema: &Json, path: &[String]) -> Option<BTreeSet<Kind>> {
    let Some((field, rest)) = path.split_first() else {
        return kinds_of(schema);
    };
    kinds_within(schema.get("properties")?.get(field)?, rest)
}

fn kinds_of(schema: &Json) -> Option<BTreeSet<Kind>> {
    if let Some(values) = schema.get("enum").and_then(Json::as_array) {
        return Some(values.iter().map(Kind::of).collect());
    }
    if let Some(value) = schema.get("const") {
        return Some(BTreeSet::from([Kind::of(value)]));
    }
    match schema.get("type") {
        Some(Json::String(name)) => Some(BTreeSet::from([Kind::named(name)?])),
        Some(Json::Array(names)) => names.iter().map(|name| Kind::named(name.as_str()?)).collect(),
        Some(_) => None,
        None => {
            let ways = schema.get("anyOf").or_else(|| schema.get("oneOf"))?.as_array()?;
            let mut kinds = BTreeSet::new();
            for way in ways {
                kinds.extend(kinds_of(way)?);
            }
            Some(kinds)
        }
    }
}

/// Returns the path of a part of the state.
fn path(expression: &Expr<'_>) -> Option<Vec<String>> {
    let (inner, name) = match expression {
        Expr::GetAttr(node) => (&node.expr, node.name.to_owned()),
        Expr::GetItem(node) => match &node.subscript_expr {
            Expr::Const(name) => (&node.expr, name.value.as_str()?.to_owned()),
            _ => return None,
        },
        _ => return None,
    };
    let mut parts = match inner {
        Expr::Var(root) if matches!(root.id, "state" | "input") => Vec::new(),
        inner => path(inner)?,
    };
    parts.push(name);
    Some(parts)
}

fn known(expression: &Expr<'_>) -> ComparedValue {
    match expression {
        Expr::Const(node) => Kind::of_jinja(&node.value).map_or(ComparedValue::Nothing, ComparedValue::of),
        Expr::GetAttr(_) | Expr::GetItem(_) => {
            path(expression).map_or(ComparedValue::Nothing, ComparedValue::State)
        }
        Expr::Filter(node) => filtered(node.name, node.expr.as_ref(), &node.args),
        Expr::BinOp(node) => match node.op {
            BinOpKind::Concat => ComparedValue::of(Kind::Text),
            BinOpKind::Sub | BinOpKind::Div | BinOpKind::FloorDiv | BinOpKind::Rem | BinOpKind::Pow => {
                ComparedValue::of(Kind::Number)
            }
            BinOpKind::ScAnd | BinOpKind::ScOr | BinOpKind::Add | BinOpKind::Mul => ComparedValue::Nothing,
            _ => ComparedValue::of(Kind::Truth),
        },
        Expr::UnaryOp(node) => match node.op {
            UnaryOpKind::Not => ComparedValue::of(Kind::Truth),
            UnaryOpKind::Neg => ComparedValue::of(Kind::Number),
        },
        Expr::IfExpr(node) => match &node.false_expr {
            Some(other) => ComparedValue::Either(Box::new(known(&node.true_expr)), Box::new(known(other))),
            None => ComparedValue::Nothing,
        },
        Expr::Compare(_) | Expr::Test(_) => ComparedValue::of(Kind::Truth),
        Expr::List(_) | Expr::Tuple(_) => ComparedValue::of(Kind::List),
        Expr::Map(_) => ComparedValue::of(Kind::Object),
        _ => ComparedValue::Nothing,
    }
}

fn filtered(name: &str, value: Option<&Expr<'_>>, args: &[CallArg<'_>]) -> ComparedValue {
    match (name, value, args.first()) {
        ("int" | "float" | "round" | "abs" | "length" | "count", ..) => ComparedValue::of(Kind::Number),
        (
            "string" | "lower" | "upper" | "title" | "trim" | "join" | "replace" | "indent" | "format"
            | "tojson",
            ..,
        ) => ComparedValue::of(Kind::Text),
        ("default" | "d", Some(value), Some(CallArg::Pos(other))) => {
            ComparedValue::Default(Box::new(known(value)), Box::new(known(other)))
        }
        _ => ComparedValue::Nothing,
    }
}
