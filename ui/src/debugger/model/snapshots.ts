/**
 * Loads the snapshot of the moment under the cursor. Holding an arrow key asks for thirty moments a second: at most one
 * request is under way, the newest wish wins, a request that nobody waits for any more is cancelled when it is slow,
 * and the past is cached. Knows neither React nor the store; the fetch and the clock come in.
 */
import type { SnapshotView } from "../../ipc/bindings/SnapshotView";

export interface Place {
  readonly threadId: string;
  /** null is now. */
  readonly checkpointId: string | null;
}

export interface Loaded {
  readonly place: Place;
  readonly era: number;
  readonly view: SnapshotView;
}

export interface SnapshotHost {
  fetch(place: Place, signal: AbortSignal): Promise<SnapshotView>;
  /** The present `LiveThread.era` of a thread. */
  era(threadId: string): number;
  shown(loaded: Loaded | undefined): void;
  loading(loading: boolean): void;
  failed(place: Place, problem: unknown): void;
  now(): number;
  later(run: () => void, millis: number): unknown;
}

const CACHE = 300;
/**
 * A request older than this that is no longer wanted is cancelled. A younger one is left alone: it fills the cache, and
 * cancelling each one for the next would show nothing as long as the key is held.
 */
const PATIENCE_MS = 600;
/** While a run is live the moment "now" is loaded again, at most this often. */
const REFRESH_MS = 180;
/** It is at least this often, however long the load before took: one that met a busy moment says nothing of the next. */
const LONGEST_MS = 1000;

const keyOf = (place: Place): string => `${place.threadId}/${place.checkpointId ?? ""}`;

export class SnapshotLoader {
  readonly #host: SnapshotHost;
  readonly #cache = new Map<string, Loaded>();
  #wanted: Place | undefined;
  #inFlight: { key: string; abort: AbortController; since: number } | undefined;
  #shownKey: string | undefined;
  #stale = false;
  /** What is stale will stay as it is now: its run has ended. */
  #ended = false;
  #lastLoad = Number.NEGATIVE_INFINITY;
  #lastCost = 0;
  #timer = false;

  constructor(host: SnapshotHost) {
    this.#host = host;
  }

  /** The cursor moved. */
  want(place: Place | undefined): void {
    if (place && this.#wanted && keyOf(place) === keyOf(this.#wanted)) return;
    this.#wanted = place;
    this.#stale = this.#ended = false;
    if (!place) {
      this.#inFlight?.abort.abort();
      this.#inFlight = undefined;
      this.#show(undefined);
      this.#host.loading(false);
      return;
    }
    const cached = this.#cache.get(keyOf(place));
    if (cached) {
      this.#cache.delete(keyOf(place));
      this.#cache.set(keyOf(place), cached);
      this.#show(cached);
      this.#host.loading(false);
      this.#cancelIfSlow();
      return;
    }
    this.#next();
  }

  /** Something happened on a thread: what is shown of its newest moment is out of date. The end of a run is shown at once. */
  touch(threadId: string, ended = false): void {
    if (this.#wanted?.threadId !== threadId) return;
    if (this.#wanted.checkpointId !== null && this.#cache.has(keyOf(this.#wanted))) return;
    this.#stale = true;
    this.#ended ||= ended;
    this.#schedule();
  }

  /** Events were lost, or history was changed: nothing cached can be trusted. */
  reset(threadId?: string): void {
    for (const key of this.#cache.keys()) {
      if (threadId === undefined || key.startsWith(`${threadId}/`)) this.#cache.delete(key);
    }
    if (this.#wanted && (threadId === undefined || this.#wanted.threadId === threadId)) {
      this.#stale = true;
      this.#next();
    }
  }

  /** A neighbour of the cursor, loaded only when nothing else is under way. */
  prefetch(place: Place): void {
    if (this.#inFlight || this.#cache.has(keyOf(place))) return;
    void this.#load(place);
  }

  #schedule(): void {
    if (this.#inFlight) return;
    if (this.#ended) {
      this.#next();
      return;
    }
    if (this.#timer) return;
    // A busy machine or a very long thread must not be kept busy by looking at it.
    const wait =
      this.#lastLoad + Math.min(LONGEST_MS, Math.max(REFRESH_MS, 3 * this.#lastCost)) - this.#host.now();
    if (wait <= 0) {
      this.#next();
      return;
    }
    this.#timer = true;
    this.#host.later(() => {
      this.#timer = false;
      if (this.#stale) this.#next();
    }, wait);
  }

  #next(): void {
    const wanted = this.#wanted;
    if (!wanted) return;
    if (this.#inFlight) {
      this.#cancelIfSlow();
      this.#host.loading(true);
      return;
    }
    const key = keyOf(wanted);
    if (!this.#stale && this.#shownKey === key) return;
    const cached = this.#cache.get(key);
    if (cached && !this.#stale) {
      this.#show(cached);
      this.#host.loading(false);
      return;
    }
    this.#host.loading(this.#shownKey !== key);
    void this.#load(wanted);
  }

  #cancelIfSlow(): void {
    const flight = this.#inFlight;
    if (!flight || (this.#wanted && flight.key === keyOf(this.#wanted))) return;
    if (this.#host.now() - flight.since > PATIENCE_MS) flight.abort.abort();
  }

  async #load(place: Place): Promise<void> {
    const key = keyOf(place);
    const abort = new AbortController();
    const flight = { key, abort, since: this.#host.now() };
    const era = this.#host.era(place.threadId);
    this.#inFlight = flight;
    const isWanted = () => this.#wanted !== undefined && keyOf(this.#wanted) === key;
    if (isWanted()) this.#stale = this.#ended = false;
    try {
      const view = await this.#host.fetch(place, abort.signal);
      const loaded: Loaded = { place, era, view };
      // Only what can not change any more is kept: the newest checkpoint still gains finished tasks.
      if (place.checkpointId !== null && !view.isHead) this.#remember(key, loaded);
      if (isWanted()) {
        this.#show(loaded);
        this.#host.loading(false);
      } else if (this.#wanted?.threadId === place.threadId && this.#wanted.checkpointId !== null) {
        // The key is still held: what has arrived is shown on the way, so that the view moves along.
        if (place.checkpointId !== null) this.#show(loaded);
      }
    } catch (problem) {
      if (!abort.signal.aborted && isWanted()) {
        this.#host.loading(false);
        this.#host.failed(place, problem);
        this.#shownKey = key;
      }
    } finally {
      if (this.#inFlight === flight) {
        this.#inFlight = undefined;
        this.#lastLoad = this.#host.now();
        this.#lastCost = this.#lastLoad - flight.since;
        const wanted = this.#wanted;
        if (wanted && keyOf(wanted) !== this.#shownKey) this.#next();
        else if (this.#stale) this.#schedule();
      }
    }
  }

  #show(loaded: Loaded | undefined): void {
    this.#shownKey = loaded ? keyOf(loaded.place) : undefined;
    this.#host.shown(loaded);
  }

  #remember(key: string, loaded: Loaded): void {
    this.#cache.delete(key);
    this.#cache.set(key, loaded);
    while (this.#cache.size > CACHE) {
      const oldest = this.#cache.keys().next().value;
      if (oldest === undefined) break;
      this.#cache.delete(oldest);
    }
  }
}
