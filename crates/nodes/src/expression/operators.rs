//! Jinja's own operators multiply texts and lists without asking anybody. Here they are replaced, before anything is compiled
//! or folded, by functions that take what they make from the budget (`a ~ b` becomes a call that joins `a` and `b`); lists and
//! what `set` keeps are weighed. Lines stay where they are, so errors point at the text that a person wrote.

use std::borrow::Cow;
use std::panic::{self, AssertUnwindSafe};

use minijinja::machinery::ast::{
    BinOp, BinOpKind, CallArg, Compare, CompareOpKind, Expr, Slice, Spanned, Stmt,
};
use minijinja::machinery::{parse, parse_expr};
use minijinja::value::Value as Jinja;
use minijinja::{Error as JinjaError, ErrorKind};

use super::compared::Comparison;
use super::uses::code_of;

/// The functions that compare.
pub(super) const LESS: &str = "__less";
pub(super) const AT_MOST: &str = "__at_most";
pub(super) const GREATER: &str = "__greater";
pub(super) const AT_LEAST: &str = "__at_least";
pub(super) const EQUAL: &str = "__equal";
pub(super) const UNEQUAL: &str = "__unequal";
/// The function that weighs what a subscript reads.
pub(super) const SUBSCRIPTED: &str = "__subscripted";
/// The function that joins texts.
pub(super) const JOINED: &str = "__joined";
/// The function that adds.
pub(super) const SUM: &str = "__sum";
/// The function that multiplies.
pub(super) const PRODUCT: &str = "__product";
/// The function that looks for a part.
pub(super) const WITHIN: &str = "__within";
/// Its opposite.
pub(super) const NOT_WITHIN: &str = "__not_within";
/// The function that weighs what is made.
pub(super) const WEIGHED: &str = "__weighed";
/// The function that weighs what a namespace is to hold.
pub(super) const HELD: &str = "__held";

/// The function for slices with a step.
pub(super) const STEPPED: &str = "__stepped";

/// A source whose operators are bounded.
pub(super) struct BoundedSource {
    pub(super) source: String,
    /// The longest text between code, when there is something that collects output in memory.
    pub(super) collects: Option<usize>,
    pub(super) comparisons: Vec<Comparison>,
}

/// Parses an expression and bounds its operators.
pub(super) fn expression(source: &str) -> Result<BoundedSource, JinjaError> {
    let parsed = parse_expr(source)?;
    let mut edits = Edits::new(source);
    edits.expression(&parsed)?;
    Ok(edits.done())
}

/// Parses a template and bounds its operators.
pub(super) fn template(source: &str) -> Result<BoundedSource, JinjaError> {
    let parsed = parse(source, "text", Default::default())?;
    let mut edits = Edits::new(source);
    edits.statement(&parsed)?;
    Ok(edits.done())
}

/// Places of a text that are found at once.
const NEAR: usize = 64;

/// Chain of operators behind which code is deep enough for a stack of its own.
const DEEP: usize = 32;
/// Bytes of that stack: enough for the longest chain in a debug build, several times over.
const STACK: usize = 64 << 20;

/// Runs work that recurses as deep as a chain is long, on a stack that is large enough for it. A panic is nevertheless
/// returned as an error.
pub(super) fn on_own_stack<T>(
    chain: usize,
    work: impl FnOnce() -> Result<T, JinjaError>,
) -> Result<T, JinjaError> {
    let work = || {
        panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
            let cause = "it is too much for the reader of Jinja";
            Err(JinjaError::new(ErrorKind::SyntaxError, cause))
        })
    };
    match chain > DEEP {
        true => stacker::grow(STACK, work),
        false => work(),
    }
}

/// Returns the length of the longest chain in a template: of operators in its code, or of consecutive conditions.
/// Jinja's reader goes one call deeper for each `elif`, wherever it is.
pub(super) fn template_chain(template: &str) -> usize {
    let code = code_of(template).map(chain).max().unwrap_or_default();
    code.max(template.matches("elif").count())
}

/// Returns the length of the longest chain of operators in code, including those around enclosing brackets. A call or a
/// subscript is a link after its value.
pub(super) fn chain(code: &str) -> usize {
    let (mut longest, mut open, mut all, mut quote) = (0, vec![0_usize], 0, None);
    // The character before, but for blanks: does a bracket stand behind a value?
    let (mut before, mut last_char) = (None, None);
    let mut rest = code.char_indices();
    while let Some((at, c)) = rest.next() {
        if !c.is_whitespace() {
            before = last_char.replace(c);
        }
        if let Some(end) = quote {
            match c {
                '\\' => drop(rest.next()),
                c if c == end => quote = None,
                _ => {}
            }
            continue;
        }
        let mut link = 0;
        match c {
            '"' | '\'' => quote = Some(c),
            '(' | '[' | '{' => {
                let behind_value = |c: char| c.is_alphanumeric() || "_)]}\"'".contains(c);
                if let Some(last) = open.last_mut()
                    && before.is_some_and(behind_value)
                {
                    *last += 1;
                    all += 1;
                }
                open.push(1);
                all += 1;
            }
            ')' | ']' | '}' if open.len() > 1 => all -= open.pop().unwrap_or_default(),
            ',' => {
                if let Some(last) = open.last_mut() {
                    all = all - *last + 1;
                    *last = 1;
                }
            }
            '+' | '-' | '*' | '/' | '%' | '~' | '|' | '.' | '<' | '>' | '=' => link = 1,
            c if c.is_alphabetic() && !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_') => {
                let word = code[at..]
                    .split(|c: char| !c.is_alphanumeric() && c != '_')
                    .next();
                link = usize::from(matches!(word, Some("not" | "and" | "or" | "if" | "in" | "is")));
            }
            _ => {}
        }
        if let Some(last) = open.last_mut() {
            *last += link;
            all += link;
        }
        longest = longest.max(all);
    }
    longest
}

struct Edits<'s> {
    source: &'s str,
    /// From, to, and what stands there instead.
    edits: Vec<(usize, usize, Cow<'static, str>)>,
    longest: usize,
    collects: bool,
    /// The source stands twice in another one: a chain in it would stand there ever more often.
    copied: bool,
    comparisons: Vec<Comparison>,
}

fn ends<T>(node: &Spanned<T>) -> (usize, usize) {
    (node.span().start_offset as usize, node.span().end_offset as usize)
}

/// Returns the operand that an expression is applied to when it follows one: a subscript, a call, a test.
fn applied<'e, 'a>(expression: &'e Expr<'a>) -> Option<&'e Expr<'a>> {
    match expression {
        Expr::GetAttr(node) => Some(&node.expr),
        Expr::GetItem(node) => Some(&node.expr),
        Expr::Slice(node) => Some(&node.expr),
        Expr::Call(node) => Some(&node.expr),
        Expr::Test(node) => Some(&node.expr),
        Expr::Compare(node) => Some(&node.expr),
        Expr::Filter(node) => node.expr.as_ref(),
        Expr::BinOp(node) => Some(&node.left),
        Expr::IfExpr(node) => Some(&node.true_expr),
        // `a not in b` is the negation of `a in b`, and begins where that does.
        Expr::UnaryOp(node) => match &node.expr {
            Expr::BinOp(inner) if inner.span().start_offset == node.span().start_offset => Some(&inner.left),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the function for an operator.
fn function(op: BinOpKind) -> Option<&'static str> {
    match op {
        BinOpKind::Concat => Some(JOINED),
        BinOpKind::Add => Some(SUM),
        BinOpKind::Mul => Some(PRODUCT),
        _ => None,
    }
}

/// Returns the function for a comparison, and the length of its sign.
fn comparison(op: BinOpKind) -> Option<(&'static str, usize)> {
    match op {
        BinOpKind::Eq => Some((EQUAL, 2)),
        BinOpKind::Ne => Some((UNEQUAL, 2)),
        BinOpKind::Lt => Some((LESS, 1)),
        BinOpKind::Lte => Some((AT_MOST, 2)),
        BinOpKind::Gt => Some((GREATER, 1)),
        BinOpKind::Gte => Some((AT_LEAST, 2)),
        _ => None,
    }
}

/// Returns the same for a link of a chain.
fn link(op: CompareOpKind) -> Option<(&'static str, usize)> {
    comparison(match op {
        CompareOpKind::Eq => BinOpKind::Eq,
        CompareOpKind::Ne => BinOpKind::Ne,
        CompareOpKind::Lt => BinOpKind::Lt,
        CompareOpKind::Lte => BinOpKind::Lte,
        CompareOpKind::Gt => BinOpKind::Gt,
        CompareOpKind::Gte => BinOpKind::Gte,
        CompareOpKind::In | CompareOpKind::NotIn => return None,
    })
}

impl<'s> Edits<'s> {
    fn new(source: &'s str) -> Self {
        Self {
            source,
            edits: Vec::new(),
            longest: 0,
            collects: false,
            copied: false,
            comparisons: Vec::new(),
        }
    }

    fn done(mut self) -> BoundedSource {
        // What closes at a place comes before the operator that begins there; the rest stays in the order of the walk.
        self.edits.sort_by_key(|(from, to, _)| (*from, *to));
        let mut source = String::with_capacity(self.source.len() + self.edits.len() * 8);
        let mut at = 0;
        for (from, to, text) in &self.edits {
            source.push_str(self.source.get(at..*from).unwrap_or_default());
            source.push_str(text);
            at = *to;
        }
        source.push_str(self.source.get(at..).unwrap_or_default());
        BoundedSource {
            source,
            collects: self.collects.then_some(self.longest),
            comparisons: self.comparisons,
        }
    }

    fn around(
        &mut self,
        (from, to): (usize, usize),
        before: impl Into<Cow<'static, str>>,
        after: &'static str,
    ) {
        self.edits.push((from, from, before.into()));
        self.edits.push((to, to, after.into()));
    }

    fn all<'e, 'a: 'e>(&mut self, parts: impl IntoIterator<Item = &'e Expr<'a>>) -> Result<(), JinjaError> {
        parts.into_iter().try_for_each(|part| self.expression(part))
    }

    fn arguments(&mut self, args: &[CallArg<'_>]) -> Result<(), JinjaError> {
        self.all(args.iter().map(|arg| match arg {
            CallArg::Pos(value)
            | CallArg::Kwarg(_, value)
            | CallArg::PosSplat(value)
            | CallArg::KwargSplat(value) => value,
        }))
    }

    /// Returns where the operator after an operand begins: brackets around the operand are not part of it.
    fn operator(&self, after: usize) -> usize {
        let rest = self.source.get(after..).unwrap_or_default();
        let skipped = rest
            .find(|c: char| !c.is_whitespace() && c != ')')
            .unwrap_or(rest.len());
        after + skipped
    }

    /// Returns where an operand before the operator at `operator` begins, with the brackets around it.
    fn begins(&self, operand: &Expr<'_>, operator: usize) -> usize {
        let after = operand.span().end_offset as usize;
        let closed = self
            .source
            .get(after..operator)
            .unwrap_or_default()
            .matches(')')
            .count();
        let mut from = match applied(operand) {
            Some(inner) => self.begins(inner, self.operator(inner.span().end_offset as usize)),
            None => operand.span().start_offset as usize,
        };
        for _ in 0..closed {
            let before = self.source.get(..from).unwrap_or_default();
            from = before.rfind('(').unwrap_or(from);
        }
        from
    }

    /// Converts `a[start:stop:step]` to a call: backwards, Jinja's own slice reads past the end of what is empty.
    fn stepped(&mut self, slice: &Slice<'_>, step: &Expr<'_>) -> Result<(), JinjaError> {
        let end = |part: &Expr<'_>| part.span().end_offset as usize;
        let open = self.operator(end(&slice.expr));
        let place = |from: usize, part: &Option<Expr<'_>>| self.operator(part.as_ref().map_or(from + 1, end));
        let first = place(open, &slice.start);
        let second = place(first, &slice.stop);
        let close = self.operator(end(step));
        let signs = [(open, "["), (first, ":"), (second, ":"), (close, "]")];
        if signs
            .iter()
            .any(|(at, sign)| self.source.get(*at..*at + 1) != Some(*sign))
        {
            let cause = "this slice cannot be read; put what is sliced into brackets";
            return Err(JinjaError::new(ErrorKind::SyntaxError, cause));
        }
        let from = self.begins(&slice.expr, open);
        let comma = |part: &Option<Expr<'_>>| match part {
            Some(_) => ",",
            None => "none,",
        };
        self.edits.push((from, from, format!("{STEPPED}(").into()));
        self.edits.push((open, open + 1, ",".into()));
        self.edits.push((first, first + 1, comma(&slice.start).into()));
        self.edits.push((second, second + 1, comma(&slice.stop).into()));
        self.edits.push((close, close + 1, ")".into()));
        Ok(())
    }

    /// Converts a chain `a < b < c` to `(less(a, b) and less(b, c))`; what stands in the middle is read twice.
    fn chained(&mut self, node: &Spanned<Compare<'_>>) -> Result<(), JinjaError> {
        let wrong = |text| Err(JinjaError::new(ErrorKind::SyntaxError, text));
        if self.copied {
            return wrong(
                "a chain of comparisons cannot stand in the middle of another; join them with `and`",
            );
        }
        let mut before = &node.expr;
        let mut links = Vec::new();
        for next in &node.ops {
            let Some((name, length)) = link(next.op) else {
                return wrong("`in` cannot stand in a chain of comparisons; join two comparisons with `and`");
            };
            let at = self.operator(before.span().end_offset as usize);
            links.push((name, at, length));
            before = &next.expr;
        }
        let [(first, begins, _), .., (_, _, _)] = links[..] else {
            return wrong("this comparison cannot be read; put it into brackets");
        };
        let from = self.begins(&node.expr, begins);
        self.edits.push((from, from, format!("({first}(").into()));
        self.edits.push((ends(node).1, ends(node).1, "))".into()));
        self.expression(&node.expr)?;
        for (index, next) in node.ops.iter().enumerate() {
            let (name, at, length) = links[index];
            let left = index.checked_sub(1).and_then(|last| node.ops.get(last));
            self.compares(
                left.map_or(&node.expr, |left| &left.expr),
                name,
                &next.expr,
                (from, ends(node).1),
            );
            self.edits.push((at, at + length, ",".into()));
            self.expression(&next.expr)?;
            if let Some((name, then, _)) = links.get(index + 1) {
                let middle = self.source.get(at + length..*then).unwrap_or_default().trim();
                let parsed = parse_expr(middle)?;
                let mut edits = Edits::new(middle);
                edits.copied = true;
                edits.expression(&parsed)?;
                let middle = edits.done().source;
                self.edits
                    .push((*then, *then, format!(") and {name}({middle}").into()));
            }
        }
        Ok(())
    }

    /// Converts `a < b` to a call.
    fn compared(&mut self, node: &Spanned<BinOp<'_>>) {
        let Some((name, length)) = comparison(node.op) else {
            return;
        };
        let at = self.operator(node.left.span().end_offset as usize);
        let place = (self.begins(&node.left, at), ends(node).1);
        self.around(place, format!("{name}("), ")");
        self.edits.push((at, at + length, ",".into()));
        self.compares(&node.left, name, &node.right, place);
    }

    fn compares(&mut self, left: &Expr<'_>, name: &str, right: &Expr<'_>, place: (usize, usize)) {
        let is_order = !matches!(name, EQUAL | UNEQUAL);
        let source = self.source.get(place.0..place.1).unwrap_or_default();
        self.comparisons
            .push(Comparison::new(left, right, is_order, source));
    }

    /// Weighs what a subscript reads: a place in a text is found by going there from its beginning.
    fn subscripted(&mut self, base: &Expr<'_>) {
        let open = self.operator(base.span().end_offset as usize);
        let from = self.begins(base, open);
        self.edits.push((from, from, format!("{SUBSCRIPTED}(").into()));
        self.edits.push((open, open, ")".into()));
    }

    /// Edits an expression.
    fn expression(&mut self, expression: &Expr<'_>) -> Result<(), JinjaError> {
        self.edit(expression, false)
    }

    /// Edits an expression whose result something around it weighs already.
    fn weighed(&mut self, expression: &Expr<'_>) -> Result<(), JinjaError> {
        self.edit(expression, true)
    }

    fn edit(&mut self, expression: &Expr<'_>, inside: bool) -> Result<(), JinjaError> {
        match expression {
            Expr::Var(_) | Expr::Const(_) => Ok(()),
            Expr::BinOp(node) => {
                if let Some(name) = function(node.op) {
                    self.around(ends(node), format!("{name}("), ")");
                    // A chain of one operator is one call, or it would be as deep as it is long.
                    let mut left = &node.left;
                    let mut right = &node.right;
                    loop {
                        let at = self.operator(left.span().end_offset as usize);
                        self.edits.push((at, at + 1, ",".into()));
                        self.edit(right, inside)?;
                        let bracketed = at != left.span().end_offset as usize
                            && self.source[left.span().end_offset as usize..at].contains(')');
                        match left {
                            Expr::BinOp(next) if function(next.op) == Some(name) && !bracketed => {
                                (left, right) = (&next.left, &next.right);
                            }
                            last => return self.edit(last, inside),
                        }
                    }
                }
                if matches!(node.op, BinOpKind::In) {
                    let at = self.operator(node.left.span().end_offset as usize);
                    let rest = self.source.get(at..).unwrap_or_default();
                    let negated = rest.starts_with("not");
                    let length = match negated {
                        true => rest.find("in").unwrap_or_default() + 2,
                        false => 2,
                    };
                    let name = if negated { NOT_WITHIN } else { WITHIN };
                    let from = self.begins(&node.left, at);
                    self.around((from, ends(node).1), format!("{name}("), ")");
                    self.edits.push((at, at + length, ",".into()));
                }
                self.compared(node);
                self.all([&node.left, &node.right])
            }
            Expr::UnaryOp(node) => self.expression(&node.expr),
            Expr::Compare(node) => self.chained(node),
            Expr::IfExpr(node) => {
                self.all([&node.test_expr, &node.true_expr])?;
                self.all(&node.false_expr)
            }
            Expr::Filter(node) => {
                self.all(&node.expr)?;
                self.arguments(&node.args)
            }
            Expr::Test(node) => {
                self.expression(&node.expr)?;
                self.arguments(&node.args)
            }
            Expr::GetAttr(node) => self.expression(&node.expr),
            Expr::GetItem(node) => {
                // A name reads nothing, and says which key of the state is used; the first places are found at once.
                let is_near =
                    |place: &Jinja| place.as_str().is_some() || place.as_usize().is_some_and(|at| at < NEAR);
                if !matches!(&node.subscript_expr, Expr::Const(place) if is_near(&place.value)) {
                    self.subscripted(&node.expr);
                }
                self.all([&node.expr, &node.subscript_expr])
            }
            Expr::Slice(node) => {
                match &node.step {
                    Some(step) => self.stepped(node, step)?,
                    None => self.subscripted(&node.expr),
                }
                self.expression(&node.expr)?;
                self.all([&node.start, &node.stop, &node.step].into_iter().flatten())
            }
            Expr::Call(node) => {
                self.expression(&node.expr)?;
                self.arguments(&node.args)
            }
            Expr::List(node) => self.literal(ends(node), node.items.iter(), inside),
            Expr::Tuple(node) => self.literal(ends(node), node.items.iter(), inside),
            Expr::Map(node) => self.literal(ends(node), node.keys.iter().chain(&node.values), inside),
        }
    }

    fn literal<'e, 'a: 'e>(
        &mut self,
        ends: (usize, usize),
        parts: impl Iterator<Item = &'e Expr<'a>> + Clone,
        inside: bool,
    ) -> Result<(), JinjaError> {
        // A tuple without brackets is where a list of arguments would be another thing; what keeps it weighs it.
        let bracketed = self
            .source
            .get(ends.0..)
            .is_some_and(|rest| rest.starts_with(['[', '(', '{']));
        let weighed = bracketed && parts.clone().any(|part| !matches!(part, Expr::Const(_)));
        if weighed && !inside {
            self.around(ends, format!("{WEIGHED}("), ")");
        }
        parts.into_iter().try_for_each(|part| {
            let plain = matches!(part, Expr::List(_) | Expr::Tuple(_) | Expr::Map(_));
            self.edit(part, plain && (inside || weighed))
        })
    }

    fn body(&mut self, body: &[Stmt<'_>]) -> Result<(), JinjaError> {
        body.iter().try_for_each(|statement| self.statement(statement))
    }

    fn collecting(&mut self, body: &[Stmt<'_>]) -> Result<(), JinjaError> {
        self.collects = true;
        self.body(body)
    }

    fn statement(&mut self, statement: &Stmt<'_>) -> Result<(), JinjaError> {
        match statement {
            Stmt::Template(node) => self.body(&node.children),
            Stmt::EmitExpr(node) => self.expression(&node.expr),
            Stmt::EmitRaw(node) => {
                self.longest = self.longest.max(node.raw.len());
                Ok(())
            }
            Stmt::ForLoop(node) => {
                self.collects |= node.recursive;
                self.expression(&node.iter)?;
                self.all(&node.filter_expr)?;
                self.body(&node.body)?;
                self.body(&node.else_body)
            }
            Stmt::IfCond(node) => {
                self.expression(&node.expr)?;
                self.body(&node.true_body)?;
                self.body(&node.false_body)
            }
            Stmt::WithBlock(node) => {
                self.all(node.assignments.iter().map(|(_, value)| value))?;
                self.body(&node.body)
            }
            Stmt::Set(node) => {
                let target = node.target.span().end_offset as usize;
                let rest = self.source.get(target..).unwrap_or_default();
                let from = target + rest.find('=').map_or(0, |at| at + 1);
                let name = match node.target {
                    Expr::GetAttr(_) => HELD,
                    _ => WEIGHED,
                };
                self.around((from, ends(node).1), format!("{name}(("), "))");
                self.weighed(&node.expr)
            }
            Stmt::SetBlock(node) => {
                self.all(&node.filter)?;
                self.collecting(&node.body)
            }
            Stmt::AutoEscape(node) => {
                self.expression(&node.enabled)?;
                self.body(&node.body)
            }
            Stmt::FilterBlock(node) => {
                self.expression(&node.filter)?;
                self.collecting(&node.body)
            }
            Stmt::Macro(node) => {
                self.all(&node.defaults)?;
                self.collecting(&node.body)
            }
            Stmt::CallBlock(node) => {
                self.expression(&node.call.expr)?;
                self.arguments(&node.call.args)?;
                self.all(&node.macro_decl.defaults)?;
                self.collecting(&node.macro_decl.body)
            }
            Stmt::Do(node) => {
                self.expression(&node.call.expr)?;
                self.arguments(&node.call.args)
            }
            Stmt::Block(node) => self.collecting(&node.body),
            // There are no other templates; what names one fails when it gets there.
            Stmt::Import(_) | Stmt::FromImport(_) | Stmt::Extends(_) | Stmt::Include(_) => Ok(()),
        }
    }
}
