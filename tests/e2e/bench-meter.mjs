/** Gestures as a person makes them, at the pace of a hand and not of the page, and what the page takes for them. */

/** Between two events of a pointer or a wheel. */
const PACE = 16;

const wait = (millis) => new Promise((done) => setTimeout(done, millis));

export function percentile(values, part) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

/**
 * Runs in the page: the length of every frame, and of every event how long its handlers worked and when what they did was
 * painted. The browser's own figures (Event Timing) count where it gives some; it leaves out what takes less than 16 ms.
 */
function meter() {
  const events = new Map();
  const frames = { on: false, last: 0, all: [] };
  const after = (then) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => then(performance.now());
    port2.postMessage(null);
  };
  for (const type of ["keydown", "input", "pointerdown", "pointermove", "pointerup", "click", "wheel"])
    window.addEventListener(
      type,
      (event) => {
        const begun = performance.now();
        const entry = { type, at: event.timeStamp, handlers: Number.NaN, paint: Number.NaN };
        events.set(`${type} ${event.timeStamp}`, entry);
        after((now) => (entry.handlers = now - begun));
        requestAnimationFrame(() => after((now) => (entry.paint = now - entry.at)));
      },
      { capture: true, passive: true },
    );
  new PerformanceObserver((list) => {
    for (const each of list.getEntries()) {
      const entry = events.get(`${each.name} ${each.startTime}`);
      if (!entry) continue;
      entry.handlers = each.processingEnd - each.processingStart;
      entry.paint = Math.max(entry.paint || 0, each.duration);
    }
  }).observe({ type: "event", durationThreshold: 16 });
  const tick = (now) => {
    if (frames.on && frames.last > 0) frames.all.push(now - frames.last);
    frames.last = frames.on ? now : 0;
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
  window.superstepMeter = {
    begin() {
      events.clear();
      frames.all = [];
      frames.last = 0;
      frames.on = true;
    },
    end() {
      frames.on = false;
      return { frames: frames.all, events: [...events.values()].map((each) => ({ ...each })) };
    },
  };
}

export class Hand {
  constructor(page, input) {
    this.page = page;
    this.input = input;
  }

  /** A hand on a new page; the page is opened after this. */
  static async on(page) {
    await page.addInitScript(meter);
    return new Hand(page, await page.context().newCDPSession(page));
  }

  /** What the page took while this was done, with the frames until it rests. */
  async measure(work, rest = 250) {
    await this.page.evaluate(() => window.superstepMeter.begin());
    await work();
    await wait(rest);
    const { frames, events } = await this.page.evaluate(() => window.superstepMeter.end());
    return {
      frames,
      /** By the type of the events. */
      of: (type) => events.filter((each) => each.type === type),
    };
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
