//! Measures the debugger and the canvas in the desktop window, on made threads and graphs, and prints one JSON object a line,
//! as the other benchmarks do. Scrolling is compared with an empty list of the same length in the same place, our canvas with
//! plain React Flow on the same graph, the rest with a frame of a display of 60 Hz. It never fails on a figure.
//!
//! Needs a display, a built interface and the app: `./dev bench window`.

use serde_json::{Value, json};
use superstep_window_test::App;

/// Milliseconds of a frame of a display of 60 Hz.
const FRAME: f64 = 1000.0 / 60.0;
/// What a window may take for a frame, 95 times of 100.
const TARGET: f64 = 34.0;
const ROUNDS: usize = 3;
const PARTS: [&str; 3] = ["p50", "p95", "max"];

fn main() {
    let data = std::env::temp_dir().join(format!("superstep-window-bench-{}", std::process::id()));
    std::fs::create_dir_all(&data).expect("a data folder");
    let app = App::start(&data);
    debugger(&app);
    canvas(&app);
    drop(app);
    let _ = std::fs::remove_dir_all(&data);
}

fn print(workload: &str, params: &Value, value: f64, limit: f64) {
    let round = |x: f64| (x * 100.0).round() / 100.0;
    let line = json!({
        "bench": "window", "workload": workload, "params": params, "value": round(value), "unit": "ms/frame",
        "limit": round(limit), "ratio": round(value / limit),
    });
    println!("{line}");
}

fn part(figures: &Value, name: &str) -> f64 {
    figures[name].as_f64().unwrap_or(f64::NAN)
}

/// Measures several times, each in a page of its own; each part of the result is the middle one.
fn middle(mut once: impl FnMut() -> Value) -> Value {
    let all: Vec<Value> = (0..ROUNDS).map(|_| once()).collect();
    let of = |name: &str| {
        let mut values: Vec<f64> = all.iter().map(|figures| part(figures, name)).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    json!({"p50": of("p50"), "p95": of("p95"), "max": of("max")})
}

fn debugger(app: &App) {
    const SIZES: &str = "checkpoints=10000&forks=500&spans=10000";
    let measured = |name: &str| {
        middle(|| {
            app.open_page(&format!("?bench=debugger&{SIZES}"));
            app.wait_for(
                "the page",
                "return window.superstepDebuggerBench !== undefined",
                json!([]),
            );
            let script = "const done = arguments[1]; \
                window.superstepDebuggerBench(arguments[0]).then(done, (thrown) => done({ thrown: String(thrown) }))";
            let figures = app.script_async(script, json!([name]));
            assert!(figures["thrown"].is_null(), "{name}: {figures}");
            figures
        })
    };
    for (list, params) in [
        ("trace", json!({"spans": 10_000})),
        ("fork map", json!({"checkpoints": 10_000, "forks": 500})),
    ] {
        let ours = measured(&format!("{list} scroll"));
        let empty = measured(&format!("{list} empty"));
        for name in PARTS {
            print(
                &format!("{list} scroll {name}"),
                &params,
                part(&ours, name),
                part(&empty, name),
            );
        }
        print(
            &format!("{list} scroll p95, target"),
            &params,
            part(&ours, "p95"),
            TARGET,
        );
    }
    for (what, params) in [
        ("held key in timeline", json!({"checkpoints": 10_000})),
        ("held key in fork map", json!({"checkpoints": 10_000})),
        ("200 parallel tasks", json!({"tasks": 200})),
    ] {
        let figures = measured(what);
        for name in PARTS {
            print(&format!("{what} {name}"), &params, part(&figures, name), FRAME);
        }
    }
}

fn canvas(app: &App) {
    let measured = |page: &str, zoom: bool| {
        middle(|| {
            app.open_page(page);
            app.wait_for(
                "the first cards",
                "return window.superstepFirstPaint !== undefined",
                json!([]),
            );
            app.frames(|| {
                for turn in 0..4 {
                    let back = if turn % 2 == 0 { 1.0 } else { -1.0 };
                    app.wheel(
                        (720.0, 450.0),
                        30,
                        if zoom {
                            (0.0, 60.0 * back)
                        } else {
                            (24.0 * back, 8.0 * back)
                        },
                        zoom,
                    );
                }
            })
        })
    };
    for nodes in [2_000, 10_000] {
        let params = json!({"nodes": nodes});
        for (what, zoom) in [("pan", false), ("zoom across the drawings", true)] {
            let ours = measured(&format!("?bench={nodes}"), zoom);
            for name in PARTS {
                print(&format!("{what} {name}"), &params, part(&ours, name), FRAME);
            }
            if nodes == 2_000 {
                let plain = measured(&format!("?bench={nodes}&plain"), zoom);
                print(
                    &format!("{what} p95, beside React Flow"),
                    &params,
                    part(&ours, "p95"),
                    part(&plain, "p95"),
                );
            }
        }
    }
}
