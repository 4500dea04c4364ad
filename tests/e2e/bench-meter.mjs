/** Gestures as a person makes them, at the pace of a hand and not of the page, and what the page takes for them. */

/** Events that are timed. */
const TYPES = ["keydown", "input", "pointerdown", "pointerup", "click"];
/** Between two events of a pointer or a wheel. */
const PACE = 16;

/** The page rests by then after what was done. */
const RESTS = 250;

const wait = (millis) => new Promise((done) => setTimeout(done, millis));

export function percentile(values, part) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

/** Runs in the page: the length of every frame, and how late an event comes to its first handler. */
function meter() {
  let events = [];
  const frames = { on: false, last: 0, all: [] };
  for (const type of TYPES)
    window.addEventListener(type, (event) => events.push({ type, late: performance.now() - event.timeStamp }), {
      capture: true,
      passive: true,
    });
  const tick = (now) => {
    if (frames.on && frames.last > 0) frames.all.push(now - frames.last);
    frames.last = frames.on ? now : 0;
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
  window.superstepMeter = {
    begin() {
      events = [];
      frames.all = [];
      frames.last = 0;
      frames.on = true;
    },
    end() {
      frames.on = false;
      return { frames: frames.all, events };
    },
  };
}

/**
 * How long the handlers of each event worked, and when the display had what they did: the first frame of the page that ended
 * after them and was presented. From the browser's trace, for Event Timing sometimes gives one presentation, seconds later, to
 * all events before it, while the trace and a recording of the screen show a frame for each.
 */
function timed(trace, events) {
  const frames = new Map();
  for (const { name, ph, ts, args } of trace) {
    if (name === "AnimationFrame" && ph === "b") {
      const { id, animation_frame_timing_info: info } = args;
      frames.set(id ?? info.id, { end: ts + info.duration_ms * 1000, presented: Number.NaN });
    }
    if (name === "AnimationFrame::Presentation" && frames.has(args.id)) frames.get(args.id).presented = ts;
  }
  const presented = [...frames.values()].filter((frame) => frame.presented > 0).sort((a, b) => a.presented - b.presented);
  const dispatched = trace
    .filter(({ name, ph, args }) => name === "EventDispatch" && ph === "X" && TYPES.includes(args.data?.type))
    .sort((a, b) => a.ts - b.ts);
  return TYPES.flatMap((type) => {
    const own = dispatched.filter(({ args }) => args.data.type === type);
    return events
      .filter((each) => each.type === type)
      .map(({ late }, index) => {
        const { ts, dur } = own[index] ?? {};
        const shown = presented.find((frame) => frame.end >= ts + dur);
        const millis = (micros) => micros / 1000;
        return { type, at: millis(ts), handlers: millis(dur), paint: late + millis(shown?.presented - ts) };
      });
  });
}

export class Hand {
  constructor(page, input) {
    this.page = page;
    this.input = input;
  }

  /** A hand on a new page; the page is opened after this. */
  static async on(page) {
    await page.addInitScript(`const TYPES = ${JSON.stringify(TYPES)};\n(${meter})();`);
    return new Hand(page, await page.context().newCDPSession(page));
  }

  /** The frames of the page while this was done, until it rests. */
  async frames(work) {
    return (await this.#during(work)).frames;
  }

  /** The frames and the events of the page while this was done, until it rests. */
  async events(work) {
    const trace = [];
    const collect = ({ value }) => trace.push(...value);
    this.input.on("Tracing.dataCollected", collect);
    await this.input.send("Tracing.start", { transferMode: "ReportEvents", categories: "devtools.timeline" });
    const { frames, events } = await this.#during(work);
    const complete = new Promise((done) => this.input.once("Tracing.tracingComplete", done));
    await this.input.send("Tracing.end");
    await complete;
    this.input.off("Tracing.dataCollected", collect);
    const all = timed(trace, events);
    return { frames, of: (type) => all.filter((each) => each.type === type) };
  }

  async #during(work) {
    await this.page.evaluate(() => window.superstepMeter.begin());
    await work();
    await wait(RESTS);
    return this.page.evaluate(() => window.superstepMeter.end());
  }

  /** Sends events one after the other without waiting for the page, as a device does. */
  async #stream(count, event) {
    const sent = [];
    let due = performance.now();
    for (let index = 0; index < count; index += 1) {
      sent.push(this.input.send("Input.dispatchMouseEvent", event(index)));
      due += PACE;
      const left = due - performance.now();
      if (left > 0) await wait(left);
      // A page that stands still is not buried under events that no hand would go on to make.
      if (index % 8 === 7) await Promise.race([Promise.all(sent), wait(1_000)]);
    }
    await Promise.all(sent);
  }

  wheel({ x, y }, count, { dx = 0, dy = 0, ctrl = false }) {
    const modifiers = ctrl ? 2 : 0;
    return this.#stream(count, () => ({ type: "mouseWheel", x, y, deltaX: dx, deltaY: dy, modifiers }));
  }

  async drag(from, count, { dx, dy }) {
    const { mouse } = this.page;
    await mouse.move(from.x, from.y);
    await mouse.down();
    await this.#stream(count, (index) => ({
      type: "mouseMoved",
      x: from.x + dx * (index + 1),
      y: from.y + dy * (index + 1),
      button: "left",
      buttons: 1,
    }));
    await mouse.up();
  }

  async centre(selector) {
    const box = await this.page.locator(selector).first().boundingBox();
    if (box === null) throw new Error(`${selector} is not in view`);
    return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  }

  /** Types letters at the pace of a fast typist. */
  async type(text) {
    for (const letter of text) {
      await this.page.keyboard.press(letter === " " ? "Space" : letter);
      await wait(40);
    }
  }
}
