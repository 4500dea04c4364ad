//! Expressions and templates by what they give, beside plain Jinja and at their limits.

use superstep::json;

use super::uses::is_filter;
use super::*;

fn eval(source: &str, state: Value) -> Result<Value, ExpressionError> {
    Expression::compile(source, "`set` of node a")?.eval(&Scope::new(&state))
}
fn render(source: &str, state: Value) -> Result<String, ExpressionError> {
    Template::compile(source, "`prompt` of node a")?.render(&Scope::new(&state))
}

#[test]
fn results_keep_their_json_type() {
    let state =
        json!({"n": 3, "f": 1.5, "s": "x", "list": [1, 2, 3], "o": {"a": {"b": [true]}}, "none": null});
    for (source, expected) in [
        ("state.n + 1", json!(4)),
        ("state.n / 2", json!(1.5)),
        ("state.n // 2", json!(1)),
        ("state.n * 1.0", json!(3.0)),
        ("state.n > 2 and state.s == 'x'", json!(true)),
        ("state.s ~ '!'", json!("x!")),
        ("state.list", json!([1, 2, 3])),
        ("state.list[-1]", json!(3)),
        ("state.list[1:]", json!([2, 3])),
        ("state.list + [4]", json!([1, 2, 3, 4])),
        ("state.list|length", json!(3)),
        ("state.list|select('odd')|list", json!([1, 3])),
        ("state.list|map('string')|join('-')", json!("1-2-3")),
        ("state.o.a.b[0]", json!(true)),
        ("state.o", json!({"a": {"b": [true]}})),
        (
            "{'k': state.n, 'deep': {'s': state.s}}",
            json!({"k": 3, "deep": {"s": "x"}}),
        ),
        ("state.missing|default('d')", json!("d")),
        ("state.none", json!(null)),
        ("input.n", json!(3)),
        ("'yes' if state.n > 5 else 'no'", json!("no")),
        ("'[1, {\"a\": null}]'|fromjson", json!([1, {"a": null}])),
        ("state.o|tojson", json!("{\"a\":{\"b\":[true]}}")),
        ("state.s in ['x', 'y']", json!(true)),
        (
            "[{'a': 1, 'ok': true}, {'a': 2, 'ok': false}]|selectattr('ok')|map(attribute='a')|list",
            json!([1]),
        ),
    ] {
        let result = eval(source, state.clone()).unwrap_or_else(|e| panic!("{source}: {e}"));
        assert_eq!(result, expected, "{source}");
        assert_eq!(result.type_name(), expected.type_name(), "type of {source}");
    }
}

#[test]
fn a_missing_part_is_not_blamed_on_its_name() {
    let scope = Scope::new(&json!({"n": 1})).with("answer", json!({"body": {}}));
    let fault = |source: &str| {
        let expression = Expression::compile(source, "`take` of node a").unwrap();
        expression.eval(&scope).unwrap_err()
    };
    let part = fault("answer.body.nope.deeper");
    assert_eq!(part.problem, ExpressionProblem::Undefined);
    assert!(part.message.starts_with("it uses a part of a value"), "{part}");
    assert!(
        fault("answer.body.nope")
            .message
            .starts_with("it uses a part of a value")
    );
    assert!(fault("anser.body").message.contains("no `anser`"));
}

#[test]
fn conditions_treat_missing_as_false() {
    let scope = Scope::new(&json!({"zero": 0, "one": 1}));
    for (source, expected) in [
        ("state.zero", false),
        ("state.one", true),
        ("state.missing", false),
        ("not state.missing", true),
    ] {
        assert_eq!(
            Expression::compile(source, "t").unwrap().truth(&scope).unwrap(),
            expected,
            "{source}"
        );
    }
}

#[test]
fn a_missing_key_names_what_is_there() {
    let error = eval("state.categry", json!({"category": "refund", "n": 1})).unwrap_err();
    assert_eq!(error.problem, ExpressionProblem::Undefined);
    let text = error.to_string();
    for part in [
        "`set` of node a",
        "`state.categry` has no value",
        "Did you mean `category`?",
        "`category`, `n`",
        "default(",
    ] {
        assert!(text.contains(part), "{part:?} in {text}");
    }
    let error = eval("category == 'x'", json!({"category": "x"})).unwrap_err();
    assert!(error.to_string().contains("`state.category`"), "{error}");
    let error = render("Hello {{ state.nmae }}", json!({"name": "x"})).unwrap_err();
    assert!(error.to_string().contains("Did you mean `name`?"), "{error}");
    let error = eval("state.o.missing.deeper", json!({"o": {}})).unwrap_err();
    assert_eq!(error.problem, ExpressionProblem::Undefined, "{error}");
}

#[test]
fn syntax_errors_say_where() {
    let error = Expression::compile("state.a +", "`when` of edge a->b").unwrap_err();
    assert_eq!(error.problem, ExpressionProblem::Syntax);
    assert!(error.to_string().starts_with("`when` of edge a->b: "), "{error}");
    let error = Expression::compile("{{ state.a }}", "t").unwrap_err();
    assert!(error.remedy.contains("without them"), "{error}");
    let error = Template::compile("one\n{% if %}\n", "t").unwrap_err();
    assert_eq!(error.line, Some(2), "{error}");
    assert_eq!(
        Expression::compile("  ", "t").unwrap_err().problem,
        ExpressionProblem::Syntax
    );
}

#[test]
fn endless_work_and_endless_text_are_stopped() {
    let work = "{% for a in range(10000) %}{% for b in range(10000) %}{% endfor %}{% endfor %}";
    assert_eq!(
        render(work, json!({})).unwrap_err().problem,
        ExpressionProblem::TooMuchWork
    );
    let text = json!({"t": "x".repeat(100_000)});
    let long = render("{% for a in range(1000) %}{{ state.t }}{% endfor %}", text).unwrap_err();
    assert_eq!(long.problem, ExpressionProblem::TooLong, "{long}");
}

#[test]
fn files_cannot_be_reached() {
    for source in [
        "{% include '/etc/passwd' %}",
        "{% extends 'x' %}",
        "{% import 'x' as y %}{{ y }}",
    ] {
        assert_eq!(
            render(source, json!({})).unwrap_err().problem,
            ExpressionProblem::Evaluation,
            "{source}"
        );
    }
}

#[test]
fn templates_write_values_as_json_and_text_as_it_is() {
    let state =
        json!({"t": "a <b> & 'c'", "n": null, "b": true, "f": 2.0, "l": [1, "x", null], "o": {"k": "v"}});
    assert_eq!(
        render(
            "{{ state.t }}|{{ state.n }}|{{ state.b }}|{{ state.f }}|{{ state.l }}|{{ state.o }}",
            state.clone()
        )
        .unwrap(),
        "a <b> & 'c'|null|true|2.0|[1,\"x\",null]|{\"k\":\"v\"}"
    );
    assert_eq!(
        render("{{ state.o|tojson(2) }}", state.clone()).unwrap(),
        "{\n  \"k\": \"v\"\n}"
    );
    assert_eq!(
        render(
            "{% for k, v in state.o|items %}{{ k }}={{ v }}{% endfor %}",
            state.clone()
        )
        .unwrap(),
        "k=v"
    );
    assert_eq!(
        render("{% if state.later %}x{% else %}-{% endif %}", state).unwrap(),
        "-"
    );
}

#[test]
fn what_is_used_is_known_without_running() {
    let uses = Expression::compile("state.a.b + input.c + d + range(3)|length", "t")
        .unwrap()
        .uses()
        .clone();
    assert_eq!(uses.keys.into_iter().collect::<Vec<_>>(), ["a", "c"]);
    assert_eq!(uses.names.into_iter().collect::<Vec<_>>(), ["d"]);
    let uses = Template::compile(
        "{% for x in state.items %}{{ x.y }}{{ state.z }}{% endfor %}",
        "t",
    )
    .unwrap()
    .uses()
    .clone();
    assert_eq!(uses.keys.into_iter().collect::<Vec<_>>(), ["items", "z"]);
    assert!(
        uses.names.is_empty(),
        "loop variables are no unknown names: {:?}",
        uses.names
    );
}

#[test]
fn unknown_filters_are_known_without_running() {
    let unknown = |uses: &Uses| uses.unknown_filters.iter().cloned().collect::<Vec<_>>();
    let expression = |source: &str| unknown(Expression::compile(source, "t").unwrap().uses());
    let template = |source: &str| unknown(Template::compile(source, "t").unwrap().uses());
    assert_eq!(
        expression("state.a|lenght > 1 and 'x|nope' ~ \"it's|no\"|upper"),
        ["lenght"]
    );
    assert_eq!(
        template("a|b {{ state.a | lowr }} {# |c #} {% if state.b|uper %}|d{% endif %}"),
        ["lowr", "uper"]
    );
    for filter in FILTERS {
        assert!(is_filter(filter), "{filter}");
    }
}

#[test]
fn an_extra_variable_is_seen() {
    let scope = Scope::new(&json!({"n": 2})).with("item", json!({"v": 3}));
    assert_eq!(
        Expression::compile("item.v * state.n", "t")
            .unwrap()
            .eval(&scope)
            .unwrap(),
        json!(6)
    );
}

/// Expressions that Jinja gives the same value for, or refuses as well.
const AS_IN_JINJA: &[&str] = &[
    "1 + 2 * 3 ~ 4 - 5 ~ 6",
    "(1 + 2) * 3 ~ (4 ~ (5 + 1)) ~ 'x' 'y'",
    "-state.n * -(2) + 1",
    "not state.s ~ 'a' in ['xa', state.s]",
    "state.s not in 'axb' and 'a' in state.o",
    "state.s not  in('a') or (1)in(state.list)",
    "state.s~state.s~(state.s~'!')~state.n~state.list[0:2]~state.none",
    "state.list + [4] + [[5, [state.n]]] + [6]*2",
    "{'a': state.s ~ 'b', 'c': [state.n + 1, (1, state.n)]}['c'][0] + 1",
    "state.o['a'].b[0] ~ state.list|join('-') ~ state.list|length",
    "'a' if 'x' ~ 'y' == state.s ~ 'y' else 'b' ~ 'c'",
    "state.list|map('string')|join(d=',' ~ ' ') ~ (state.s is in ['x', state.f ~ ''])",
    "[1, 2] + [3] == [1, 2, 3] and 3 in [1, 2] + [3]",
    "2 ** 3 + 10 // 3 - 7 % 4 + 1.5 * 2",
    "9223372036854775807 + 1",
    "'ab' * 3 ~ 2 * 'c' ~ state.f + 1",
    "true + 1 ~ false * 2",
    "[{'a': 1}, {'a': 2}]|map(attribute='a')|sum + [3, 1]|sort|first",
    "'a,b'|split(',')|list + ['c'|upper ~ 'd'|title] + [(1, 2)|last]",
    "'one\ntwo'|indent(2 + 1) ~ 'a-b'|replace('-', '+' ~ '+') ~ '%s-%d'|format('x' ~ 'y', 1 + 2)",
    "[{'k': 'a'}, {'k': 'b'}]|join('/', attribute='k')",
    "dict(a=1 + 1)|items|list",
    "state.missing ~ 'x'",
    "state.missing + 1",
    "1 + 'x'",
    "'x' in 3",
    "[1] * 'x'",
    "state.n > 2 and state.n >= 3 and 4 > state.n and 3 <= state.n",
    "(1 < state.n < 5) ~ '' == 'true'",
    "1 < state.n <= (3) != 4 == 4",
    "not 5 < state.n < 9 or not (state.n == 3)",
    "(state.n + 1) * 2 > (state.n) - -1",
    "((state.n == 3) == true) != ((1) < (2))",
    "x if false else (state.n == 3) == (state.s == 'x')",
    "-state.n < 0 == true",
    "state.list[state.n - 1] == state.list[-1] == state.list[0:3][2]",
    "(state.list)[state.n - 1] ~ 'abc'[-1] ~ ('a' ~ 'b')[1] ~ state.s[100:]",
    "[1, 2] < [1, 3] and [1] < [1, 2] and ['a'] == ['a'] and {'a': 1} == {'a': 1.0}",
    "state.none < 5 and state.none <= none and state.none == none and state.none != 3",
    "true < 2 and false == 0 and 'a' < 'b' and 'B' < 'a'",
    "state.missing < 3",
    "state.missing == 3",
    "1 < 2 < state.missing",
    "2 < 1 < state.missing.deep.er",
    "state.list|select('gt', 1)|list + state.list|reject('==', 2)|list",
    "state.list is eq [1, 2, 3] and state.n is ge 3 and state.s is ne 'y' and 2 is lessthan 3",
    "['b', 'a']|sort|first ~ [2, 1]|max ~ [3, none, 1]|sort|last ~ ['b', 'A']|min",
    "'abc'|length + [1, 2]|count + 'Ab'|first|length + '12'|int + -2|abs",
    "[{'n': 2}, {'n': 1}]|sort(attribute='n')|map(attribute='n')|list",
    "[[3, 'a'], [1, 'b']]|sort|first|last",
    "'abc' is startingwith 'a' and 'abc' is endingwith('c') and 'a' is lower and 'A' is upper",
    "state.o['a']['b'][0] and state.o.a['b'][state.n - 3]",
    "'\u{e9}\u{1f44d}x'[1] ~ '\u{e9}\u{1f44d}x'[1:2] ~ 'abc'[-2:]",
];

/// Templates that Jinja writes the same text for, or refuses as well.
const TEMPLATES_AS_IN_JINJA: &[&str] = &[
    "{% set a = state.s ~ 'y' %}{% set ns = namespace(n=1) %}{% for i in state.list %}{% set ns.n = ns.n + i %}{% endfor %}{{ a }}{{ ns.n }}",
    "{%- set a,b = 1, state.n -%}  {{ a+b }} {% set c=[a]+[b] %}{{ c|join(',') }}",
    "{% macro m(x, y='d' ~ 'e') %}[{{ x ~ y }}]{% endmacro %}{{ m(1) ~ m('a', y=2) }}",
    "{% set t %}one {{ state.n + 1 }}{% endset %}{{ t ~ t }}{% filter upper %}a{{ 'b' ~ 'c' }}{% endfilter %}",
    "{% with x = 'a' ~ state.s, y = [state.n] %}{{ x }}{{ y[0] + 1 }}{% endwith %}",
    "{% for a, b in [(1, state.n), (3, 4)] if a + b > 3 %}{{ a * b }};{% else %}none{% endfor %}",
    "{% if 1 in state.list and 'q' not in state.s ~ 'r' %}yes{% elif state.n * 2 > 3 %}no{% endif %}",
    "{% for x in [[1, [2]], [3]] recursive %}{{ loop(x) if x is iterable else x * 2 }} {% endfor %}",
    "{% set ns = namespace(l=[]) %}{% for i in range(3) %}{% set ns.l = ns.l + [i * i] %}{% endfor %}{{ ns.l|join(' ') }}",
    "{% call(x) wrap() %}{{ x ~ 1 }}{% endcall %}",
    "{% if 1 < state.n < 4 and state.s == 'x' %}in{% endif %}{% for x in state.list if x >= 2 %}{{ x }}{% endfor %}",
    "{% for i in range(3) %}{{ state.list[i] }}{{ 1 if loop.index0 == i }}{{ state.s[:i] }}{% endfor %}",
];

#[test]
fn operators_mean_what_they_mean_in_jinja() {
    let plain = {
        let mut env = minijinja::Environment::new();
        env.set_undefined_behavior(minijinja::UndefinedBehavior::SemiStrict);
        env
    };
    let state =
        json!({"n": 3, "f": 1.5, "s": "x", "list": [1, 2, 3], "o": {"a": {"b": [true]}}, "none": null});
    for source in AS_IN_JINJA {
        let jinja = plain
            .compile_expression(source)
            .unwrap()
            .eval(minijinja::context!(state => super::jinja_value::to_jinja(&state)));
        match (jinja, eval(source, state.clone())) {
            (Ok(expected), Ok(found)) => {
                let expected =
                    super::jinja_value::from_jinja(&expected).unwrap_or_else(|e| panic!("{source}: {e}"));
                assert_eq!(found, expected, "{source}");
            }
            (Err(_), Err(_)) => {}
            (jinja, ours) => panic!("{source}: Jinja {jinja:?}, here {ours:?}"),
        }
    }
    for source in TEMPLATES_AS_IN_JINJA {
        let expected = plain.render_str(
            source,
            minijinja::context!(state => super::jinja_value::to_jinja(&state)),
        );
        let found = render(source, state.clone());
        match (expected, found) {
            (Ok(expected), Ok(found)) => assert_eq!(found, expected, "{source}"),
            (Err(_), Err(_)) => {}
            (jinja, ours) => panic!("{source}: Jinja {jinja:?}, here {ours:?}"),
        }
    }
    let sum = ["1"; 300].join(" + ");
    assert_eq!(
        eval(&sum, json!({})).unwrap(),
        json!(300),
        "a long chain is one call"
    );
}

/// Reads sources on a stack as small as those of the threads that a host opens documents on.
fn on_a_small_stack(work: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(512 << 10);
        builder.spawn_scoped(scope, work).unwrap().join().unwrap();
    });
}

#[test]
fn long_chains_of_anything_are_refused_and_shorter_ones_fit_any_stack() {
    let links = [
        "[0]",
        "()",
        "[:]",
        ".a",
        "|d",
        "+1",
        " if 1 else 0",
        " is x",
        " not in x",
        "(0)[1]",
    ];
    on_a_small_stack(|| {
        for link in links {
            for count in [300, 500, 8_000] {
                let source = format!("state{}", link.repeat(count));
                let compiled = Expression::compile(&source, "x");
                if count > 400 {
                    let error = compiled.unwrap_err();
                    assert_eq!(error.problem, ExpressionProblem::Syntax, "{link} {count}");
                }
                let template = Template::compile(&format!("{{{{ {source} }}}}"), "x");
                assert!(template.is_err() || count < 400, "{link} {count}");
            }
        }
        for count in [300, 500, 20_000] {
            let source = format!("{{% if 0 %}}{}{{% endif %}}", "{%elif(0)%}".repeat(count));
            let found = Template::compile(&source, "x").and_then(|t| t.render(&Scope::new(&json!({}))));
            assert_eq!(found.is_ok(), count < 400, "{count}: {:?}", found.err());
        }
        let deep = Expression::compile(&format!("state{}", "[0]".repeat(300)), "x").unwrap();
        assert!(deep.eval(&Scope::new(&json!([1]))).is_err());
    });
    // A quoted text holds no chain; what follows it is one.
    let links = "+1".repeat(500);
    Expression::compile(&format!("'{links}' ~ \"{links}\""), "x").unwrap();
    for text in ["'a'", "\"a\"", "'\\''"] {
        let source = format!("{text} ~ state{links}");
        assert!(Expression::compile(&source, "x").is_err(), "{text}");
    }
    // What is far apart is no chain.
    let sums: Vec<String> = (0..2000).map(|n| format!("[state[{n}]]")).collect();
    Expression::compile(&format!("[{}]", sums.join(",")), "x").unwrap();
}

#[test]
fn sources_have_a_largest_size() {
    let error = Expression::compile(&format!("'{}'", "x".repeat(70_000)), "x").unwrap_err();
    assert!(error.message.contains("64 KB"), "{error}");
    Template::compile(&"x".repeat(100_000), "x").unwrap();
    assert!(Template::compile(&"x".repeat(5 << 20), "x").is_err());
    // Jinja's reader counts columns in 16 bits, and means to begin with zero again.
    let long = format!("{}{{{{ 1 }}}}", "{# #}".repeat(20_000));
    assert_eq!(render(&long, json!({})).unwrap(), "1");
}

#[test]
fn slices_with_a_step_are_those_of_python() {
    let state = json!({"l": [0, 1, 2, 3, 4], "t": "abcde", "e": [], "s": -1});
    for (source, expected) in [
        ("state.l[::-1]", json!([4, 3, 2, 1, 0])),
        ("state.l[3:0:-1]", json!([3, 2, 1])),
        ("state.l[1:4:-1]", json!([])),
        ("state.l[-2::-2]", json!([3, 1])),
        ("state.l[ 1 : (4) : 2 ]", json!([1, 3])),
        ("state.l[:-9:state.s]", json!([4, 3, 2, 1, 0])),
        ("(state.l + [5])[::2][::-1]", json!([4, 2, 0])),
        ("state.l[::2][1:]", json!([2, 4])),
        ("state.l[state.l[1]:state.l[4]:state.l[1:][0]]", json!([1, 2, 3])),
        ("(state.l)[1:][0] in (state.l)[:2][1:]", json!(true)),
        ("state.t[::-1]", json!("edcba")),
        ("'a' ~ state.t[::-2] ~ 'z'", json!("aecaz")),
        ("state.t|upper|list", json!(["A", "B", "C", "D", "E"])),
        ("(state.t|upper)[::-1]", json!("EDCBA")),
        ("''[::-1]", json!("")),
        ("state.e[::-1]", json!([])),
        ("state.e[-1::-1]", json!([])),
        (
            "state.t[9223372036854775807:-9223372036854775808:-9223372036854775808]",
            json!("e"),
        ),
        (
            "state.l[-9223372036854775808:9223372036854775807:9223372036854775807]",
            json!([0]),
        ),
    ] {
        assert_eq!(eval(source, state.clone()).unwrap(), expected, "{source}");
    }
    for source in ["state.l[::0]", "state[::-1]", "7[::-1]"] {
        assert!(eval(source, state.clone()).is_err(), "{source}");
    }
}

#[test]
fn ranges_are_bounded_at_the_ends_of_numbers() {
    for (source, expected) in [
        ("range(4)|list", json!([0, 1, 2, 3])),
        ("range(2, 4)|list", json!([2, 3])),
        ("range(4, 2)|list", json!([])),
        ("range(10, 0, -4)|list", json!([10, 6, 2])),
        ("range(0, 10, 4)|list", json!([0, 4, 8])),
        ("range(-3)|list", json!([])),
        (
            "range(-9223372036854775807, 9223372036854775807, 9223372036854775807)|list",
            json!([-9223372036854775807_i64, 0]),
        ),
    ] {
        assert_eq!(eval(source, json!({})).unwrap(), expected, "{source}");
    }
    for source in [
        "range(10, -9223372036854775807, -1)|list",
        "range(-9223372036854775807, 9223372036854775807)|list",
        "range(100001)|list",
        "range(1, 2, 0)",
    ] {
        assert!(eval(source, json!({})).is_err(), "{source}");
    }
}

#[test]
fn nothing_multiplies_without_an_end() {
    let text = Value::from("x".repeat(1_000_000));
    let state = json!({"t": text, "l": (0..1000).collect::<Vec<i32>>(), "texts": vec![text; 70]});
    let looped = |step: &str| {
        format!(
            "{{% set ns = namespace(v='x', l=[1]) %}}{{% for i in range(200) %}}{{% set {step} %}}{{% endfor %}}{{{{ ns.v|length }}}}"
        )
    };
    for source in [
        looped("ns.v = ns.v ~ ns.v"),
        looped("ns.v = ns.v + ns.v"),
        looped("ns.v = ns.v * 2"),
        looped("ns.v = [ns.v, ns.v]|join"),
        looped("ns.v = ns.v|replace('x', 'x' * 4096)"),
        looped("ns.v = '%s%s'|format(ns.v, ns.v)"),
        looped("ns.v = (ns.v ~ '\n' ~ ns.v)|indent(1000000)"),
        looped("ns.l = ns.l + ns.l"),
        looped("ns.l = [ns.l, ns.l]"),
        looped("ns.l = {'a': ns.l, 'b': ns.l}"),
        looped("ns.l = dict(a=ns.l, b=ns.l)"),
        looped("ns.l = [ns.l]"),
        looped("ns.l = [[ns.l]|batch(1)|list]"),
        looped("ns.l = ns"),
        looped("ns.l = [ns]"),
        looped("ns.l = namespace(a=ns)"),
        looped("ns.l = ns.l + [state.t ~ i]"),
        "{% set x = [state.t] * 50 %}{% set y = [x, x, x] %}".to_owned(),
        "{{ 'a'|indent(4000000000) }}".to_owned(),
        "{{ ([state.t] * 100)|join }}".to_owned(),
        "{{ ([state.t] * 50 ~ '') in state.t ~ state.t }}{{ ([state.t] * 1000) in 'x' }}".to_owned(),
        "{{ [1]|slice(1000000000)|list|length }}{{ [1]|batch(1000000000, 0)|list|length }}".to_owned(),
        "{{ ('%s' * 1000)|format(state.t) }}".to_owned(),
        "{{ (state.texts ~ '')|length }}".to_owned(),
        "{{ ([[[]] * 1000] * 1000)|tojson(8) }}{{ ([[[]] * 1000] * 1000)|tojson(8)|length }}".to_owned(),
        "{% set a %}{% for i in range(100000) %}{{ state.t }}{% endfor %}{% endset %}{{ a|length }}"
            .to_owned(),
        format!(
            "{{% set a %}}{{% for i in range(100000) %}}{}{{% endfor %}}{{% endset %}}",
            "y".repeat(100_000)
        ),
        "{% macro m(n) %}{{ m(n - 1) ~ m(n - 1) if n > 0 else state.t }}{% endmacro %}{{ m(60)|length }}"
            .to_owned(),
        format!("{{{{ [{}]|length }}}}", vec!["'x' * 60000000"; 100].join(", ")),
        format!("{{{{ {} }}}}", vec!["(state.t * 60)"; 100].join(" ~ ")),
        "{{ state.l|map('string')|map('replace', '', state.t)|list|length }}".to_owned(),
        "{% for i in range(100000) %}{% set x = state.l|sort|join %}{% endfor %}".to_owned(),
    ] {
        let began = std::time::Instant::now();
        let error = render(&source, state.clone()).expect_err(&source[..source.len().min(200)]);
        assert!(
            matches!(
                error.problem,
                ExpressionProblem::TooLong
                    | ExpressionProblem::TooMuchWork
                    | ExpressionProblem::Evaluation
                    | ExpressionProblem::NotJson
            ),
            "{error}"
        );
        println!("{:?} {}", began.elapsed(), error.message);
    }
}

#[test]
fn a_text_has_no_order_beside_anything_but_a_text() {
    let state = || json!({"t": "7", "n": 7, "none": null, "list": [1, "2"], "o": [{"s": "7"}, {"s": 8}], "yes": true});
    for source in [
        "state.t >= 50",
        "50 > state.t",
        "state.t < 50",
        "state.n <= 'x'",
        "1 < state.t",
        "0 < state.n < state.t",
        "0 < state.t < 9",
        "'pass' if state.t >= 50 else 'fail'",
        "not state.t < 50",
        "[state.t] < [3]",
        "state.list < 3",
        "state.t < state.yes",
        "state.t is gt 50",
        "state.t is ge(50)",
        "[1, '2']|select('>', 1)|list",
        "state.o|selectattr('s', 'ge', 5)|list",
        "state.list|max",
        "state.list|min",
        "state.list|sort",
        "state.o|sort(attribute='s')",
        "state.o|max(attribute='s')",
        "state.o|sort(attribute='x,s')",
    ] {
        let error = eval(source, state()).expect_err(source);
        assert_eq!(error.problem, ExpressionProblem::Evaluation, "{source}: {error}");
        assert!(error.message.contains("no order"), "{source}: {error}");
        let template = format!("{{% if {source} %}}yes{{% endif %}}");
        assert!(render(&template, state()).is_err(), "{template}");
    }
    for source in [
        "state.t == 7 or true",
        "state.t|int >= 5",
        "state.t|float > 5.5",
        "state.none < 5",
        "state.none < 'a'",
        "none|default(0, true) < 5",
        "[none, 'a']|max == 'a'",
        "state.yes < 2",
        "'7' >= '50'",
    ] {
        assert_eq!(eval(source, state()), Ok(json!(true)), "{source}");
    }
}

#[test]
fn work_on_texts_is_counted_by_their_length() {
    let state = || json!({"t": "x".repeat(1 << 20), "u": "x".repeat(1 << 20), "l": vec!["y"; 100_000], "m": vec!["y"; 100_000]});
    for work in [
        "state.t[i * 1000]",
        "state.t[-1]",
        "state.t[i:]",
        "state.t[:]|first",
        "state.t == state.u",
        "state.t < state.u",
        "state.t is eq state.u",
        "state.t|length",
        "state.t|count",
        "state.t|int(0)",
        "state.t is startingwith state.u",
        "state.t is lower",
        "range(99999)[i]",
        "state.l == state.m",
        "state.l|select('eq', state.t)|first|default('')",
        "'y' in state.l",
    ] {
        let template = format!("{{% for i in range(90000) %}}{{% set x = {work} %}}{{% endfor %}}");
        let clock = crate::base::processor::ThreadClock::start();
        let error = render(&template, state()).expect_err(work);
        assert!(
            matches!(
                error.problem,
                ExpressionProblem::TooLong | ExpressionProblem::TooMuchWork
            ),
            "{work}: {error}"
        );
        assert!(clock.elapsed().as_secs() < 30, "{work}: {:?}", clock.elapsed());
    }
    // What is near the beginning of a text, and what graphs do, is no matter.
    let ordinary =
        "{% for i in range(500) %}{{ state.t[0] }}{{ state.t[i * 1000:(i + 1) * 1000]|length }}{% endfor %}";
    render(ordinary, state()).unwrap();
    let lists = "{% for x in state.l %}{% if state.l|length == 100000 and state.l[loop.index0] == x %}{% endif %}{% endfor %}";
    render(lists, state()).unwrap();
}

#[test]
fn chains_of_comparisons_stand_in_no_other() {
    let error = Expression::compile("1 < (2 < 3 < 4) < 5", "x").unwrap_err();
    assert_eq!(error.problem, ExpressionProblem::Syntax, "{error}");
    // In the middle of a chain a text stands twice, and nothing more often.
    let deep = format!("{}1{}", "0 < (".repeat(30), " == 1) < 2".repeat(30));
    assert!(Expression::compile(&deep, "x").is_err());
}
