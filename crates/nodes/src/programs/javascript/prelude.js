// What a program finds around it. `send(id, scope, json)` leaves the sandbox, `wait(id)` waits for the answer;
// everything else is made of these two.
export default (send, wait, given) => {
  'use strict';
  const { parse, stringify } = JSON;
  const { freeze, defineProperty, hasOwn } = Object;
  const { defineProperty: define } = Reflect;
  const waiting = new Map();
  const works = new Map();
  const working = new Set();
  let last = 0;
  let sleeping = 0;

  const text = (value) => {
    const json = stringify(value === undefined ? null : value);
    if (json === undefined) throw new TypeError(`a ${typeof value} cannot leave the program: it is not JSON`);
    return json;
  };
  const path = (labels) => (Array.isArray(labels) ? labels : labels === undefined ? [] : [labels]).map(String);
  const tell = (scope, op, json) => send(0, scope, `{"${op}":${json}}`);
  // The error is made where the question is, so that its stack leads to the place that asked.
  const refused = (error, fault) => {
    error.name = fault.class;
    error.message = fault.message;
    return error;
  };
  const now = (scope, op, json) => {
    const place = new Error();
    const id = ++last;
    send(id, scope, `{"${op}":${json}}`);
    const reply = parse(wait(id));
    if (reply !== 'stop') {
      if (reply.error) throw refused(place, reply.error);
      return reply.ok;
    }
    working.delete(scope);
    for (;;); // The machine stops the program here, and nothing can catch that.
  };
  const ask = (scope, op, json, id = ++last) => {
    const place = new Error();
    return new Promise((resolve, reject) => {
      if (op === 'sleep') sleeping += 1;
      waiting.set(id, { op, place, resolve, reject });
      send(id, scope, `{"${op}":${json}}`);
    });
  };
  const store = (scope) => {
    const call = (op, request) => ask(scope, 'store', `{"${op}":${text(request)}}`);
    return freeze({
      get: (namespace, key, options) => call('get', { ...options, namespace: path(namespace), key: String(key) }),
      put: (namespace, key, value, options) => call('put',
        { ...options, namespace: path(namespace), key: String(key), value: value === undefined ? null : value }),
      delete: (namespace, key) => call('delete', { namespace: path(namespace), key: String(key) }),
      search: (prefix, options) => call('search', { ...options, prefix: path(prefix) }),
      listNamespaces: (options = {}) => call('listNamespaces',
        { ...options, prefix: path(options.prefix), suffix: path(options.suffix) }),
    });
  };
  const api = (scope) => {
    const functions = {
      interrupt: (question) => now(scope, 'interrupt', text(question)),
      emit: (value) => tell(scope, 'emit', text(value)),
      message: (value) => tell(scope, 'message', text(value)),
      progress: (done, total, note) => tell(scope, 'progress', text({
        done: Number(done),
        total: total === undefined || total === null ? undefined : Number(total),
        text: note === undefined || note === null ? undefined : String(note),
      })),
      sleep: (ms) => ask(scope, 'sleep', text(Number(ms) || 0)),
      task: (name, args, work) => {
        const [shown, run] = typeof args === 'function' && work === undefined ? [null, args] : [args, work];
        if (typeof run !== 'function') throw new TypeError('task(name, args, function): there is no function');
        const id = ++last;
        works.set(id, () => run(shown, freeze({ ...given.context, ...api(id) })));
        return ask(scope, 'task', `{"name":${text(String(name))},"args":${text(shown)}}`, id);
      },
    };
    if (given.store) functions.store = store(scope);
    return functions;
  };

  class Send {
    constructor(node, arg) {
      this.node = node;
      this.arg = arg;
    }
  }
  class Command {
    constructor({ update, goto, graph } = {}) {
      this.update = update;
      this.goto = goto;
      this.graph = graph;
    }
  }
  defineProperty(Command, 'PARENT', { value: '__parent__' });
  const target = (to) => to instanceof Send ? `{"send":[${text(String(to.node))},${text(to.arg)}]}` : `{"node":${text(String(to))}}`;
  const output = (value) => {
    if (value instanceof Command) {
      const { update, goto, graph } = value;
      if (graph !== undefined && graph !== null && graph !== Command.PARENT) {
        throw new TypeError('graph of a Command is Command.PARENT, or left out');
      }
      const targets = (Array.isArray(goto) ? goto : goto === undefined || goto === null ? [] : [goto]).map(target);
      return `{"command":{"update":${text(update)},"goto":[${targets.join()}],"parent":${graph === Command.PARENT}}}`;
    }
    if (value instanceof Send) throw new TypeError('a Send is part of a Command: return new Command({goto: [new Send(…)]})');
    if (Array.isArray(value) && value.some((one) => one instanceof Command)) {
      return `{"many":[${value.map(output).join()}]}`;
    }
    const json = stringify(value === undefined ? null : value);
    return json === undefined ? undefined : `{"update":${json}}`;
  };

  // A state that notes which of its fields are looked at, for runs that record it.
  const noted = new Set();
  let whole = false;
  const note = (target, name) => {
    if (typeof name !== 'string') return;
    // Printing, awaiting or inspecting any object looks for these names.
    if (!hasOwn(target, name) && (name in Object.prototype || name === 'then' || name === 'toJSON')) return;
    if (noted.size < 1000) noted.add(name);
    else whole = true;
  };
  const watched = (state) => new Proxy(state, {
    get: (target, name) => (note(target, name), target[name]),
    set: (target, name, value) => Reflect.set(target, name, value),
    has: (target, name) => (note(target, name), name in target),
    getOwnPropertyDescriptor: (target, name) => (note(target, name), Reflect.getOwnPropertyDescriptor(target, name)),
    ownKeys: (target) => ((whole = true), Reflect.ownKeys(target)),
  });

  const own = api(0);
  const context = freeze(given.context);
  for (const [name, value] of Object.entries({ ...own, context: freeze(given.read), config: given.config, Send, Command })) {
    defineProperty(globalThis, name, { value, writable: true, configurable: true });
  }
  return {
    output,
    // A property that is made when somebody looks at it, and then is like any other.
    later: (object, name, make) => {
      let made = false;
      let value;
      const settle = (target, value) => define(target, name,
        { value, writable: true, enumerable: true, configurable: true });
      defineProperty(object, name, {
        enumerable: true,
        configurable: true,
        get() {
          if (!made) {
            value = make();
            made = true;
            settle(object, value);
          }
          return value;
        },
        set(value) {
          if (!settle(this, value)) throw new TypeError(`'${name}' is read-only`);
        },
      });
    },
    watch: (state) => (given.record && state && typeof state === 'object' && !Array.isArray(state) ? watched(state) : state),
    // Says what was looked at.
    reads: () => {
      if (given.record) tell(0, 'reads', text({ all: whole, keys: [...noted] }));
    },
    ctx: freeze({ ...context, config: given.config, ...own }),
    // What has to end before the program has ended.
    busy: () => waiting.size - sleeping + working.size,
    answer: (id, json) => {
      const asked = waiting.get(id);
      if (!asked) return;
      waiting.delete(id);
      if (asked.op === 'sleep') sleeping -= 1;
      const reply = parse(json);
      if (reply === 'stop') return; // What waits for it waits for good.
      if (reply.error) asked.reject(refused(asked.place, reply.error));
      else asked.resolve(reply.ok);
    },
    work: (id) => {
      working.add(id);
      const done = (end) => {
        working.delete(id);
        tell(0, 'done', `{"task":${id},"end":${end}}`);
      };
      const failed = (error) => done(`{"error":${text(error instanceof Error
        ? { class: String(error.name), message: String(error.message) }
        : { class: 'Error', message: String(stringify(error)) })}}`);
      const run = works.get(id);
      works.delete(id);
      (async () => run())().then((value) => done(`{"ok":${text(value)}}`)).catch(failed);
    },
  };
}
