/** Which database threads are kept in; another one is tried before it is taken. */
import { useState } from "react";
import { Badge } from "../../components/Badge";
import { Button } from "../../components/Button";
import { Field } from "../../components/Field";
import { Select } from "../../components/Select";
import { Spinner } from "../../components/Spinner";
import { Switch } from "../../components/Switch";
import { TextField } from "../../components/TextField";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { asProblem, type ShownProblem } from "../../debugger/parts/problem";
import type { StorageBackend } from "../../ipc/bindings/StorageBackend";
import type { StorageTested } from "../../ipc/bindings/StorageTested";
import { rpc } from "../../ipc/client";
import { storageIds } from "../../lib/testIds";
import { backendWords, t, tn } from "../../lib/texts";
import { showToast } from "../../state/toasts";
import { useAnswer } from "../../debugger/model/useAnswer";
import { hintClass, storageActionsClass, storageFormClass } from "../../components/recipes";

type Backend = Pick<StorageBackend, "kind" | "location" | "example">;

/** Whether what is typed is a path, and not the whole address. */
const takesPath = ({ location }: Backend) => location === "file" || location === "folder";

/** The address that the fields stand for. */
export function urlOf(backend: Backend, place: string, waits = true): string {
  if (backend.location === "process") return backend.example;
  const text = place.trim();
  if (!takesPath(backend)) return text;
  return `${backend.kind}:${text}${waits ? "" : "?synchronous=normal"}`;
}

/** What may be typed for a backend. */
export function exampleOf(backend: Backend): string {
  return takesPath(backend) ? backend.example.slice(backend.kind.length + 1) : backend.example;
}

export function DatabaseTab() {
  const info = useAnswer("info", (signal) => rpc("storage.info", {}, signal));
  const [kind, setKind] = useState("");
  const [place, setPlace] = useState("");
  const [waits, setWaits] = useState(true);
  const [tested, setTested] = useState<StorageTested | null>(null);
  const [problem, setProblem] = useState<ShownProblem | null>(null);
  const [busy, setBusy] = useState<"test" | "use" | null>(null);

  const attempt = async (what: "test" | "use", run: () => Promise<void>) => {
    setBusy(what);
    setProblem(null);
    setTested(null);
    try {
      await run();
    } catch (thrown) {
      setProblem(asProblem(thrown));
    } finally {
      setBusy(null);
    }
  };
  const test = (url: string) => attempt("test", async () => setTested(await rpc("storage.test", { url })));
  const use = (url: string | null) =>
    attempt("use", async () => {
      const used = await rpc("storage.use", url === null ? {} : { url });
      showToast({ tone: "done", text: t("storage.database.used", { url: used.url }) });
      info.again();
    });

  if (info.problem) return <ProblemNote problem={info.problem} onRetry={info.again} />;
  if (!info.value) return <Spinner label={t("storage.loading")} />;
  const { chosenBy, backends, kind: kindInUse } = info.value;
  const inUse = backends.find((each) => each.kind === kindInUse);
  // The usual one is the first.
  const backend = backends.find((each) => each.kind === kind) ?? backends[0]!;
  const isPath = takesPath(backend);
  const needsPlace = backend.location !== "process";
  const complete = !needsPlace || place.trim() !== "";
  const address = urlOf(backend, place, waits);
  return (
    <div className={storageFormClass}>
      <section>
        <h3>{t("storage.database.now")}</h3>
        <p className="flex items-baseline gap-2 wrap-anywhere select-text" data-testid={storageIds.inUse}>
          {inUse && <Badge>{backendWords(inUse).title}</Badge>}
          <code>{info.value.url}</code>
        </p>
        <p className={hintClass}>{t(`storage.database.${chosenBy}`)}</p>
        {info.value.problem && <ProblemNote problem={info.value.problem} onRetry={info.again} />}
        {chosenBy === "settings" && (
          <Button size="small" onClick={() => void use(null)} data-testid={storageIds.back}>
            {t("storage.database.back")}
          </Button>
        )}
      </section>
      {chosenBy === "program" ? (
        <p className={hintClass}>{t("storage.database.locked")}</p>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (complete) void test(address);
          }}
        >
          <h3>{t("storage.database.other")}</h3>
          <p className={hintClass}>{t("storage.database.stays")}</p>
          <Field label={t("storage.database.kind")} description={backendWords(backend).summary}>
            <Select
              value={backend.kind}
              onChange={(next) => {
                setKind(next);
                setTested(null);
                setProblem(null);
              }}
              options={backends.map((each) => ({ value: each.kind, label: backendWords(each).title }))}
            />
          </Field>
          {needsPlace && (
            <Field
              label={isPath ? t("storage.database.path") : t("storage.database.url")}
              {...(!isPath && { description: t("storage.database.private") })}
            >
              <TextField
                mono
                value={place}
                onChange={(next) => {
                  setPlace(next);
                  setTested(null);
                }}
                placeholder={exampleOf(backend)}
                data-testid={storageIds.path}
              />
            </Field>
          )}
          {isPath && (
            <Field
              label={t("storage.database.waits")}
              description={t("storage.database.waitsHelp")}
              layout="switch"
            >
              <Switch checked={waits} onChange={setWaits} data-testid={storageIds.waits} />
            </Field>
          )}
          {problem && <ProblemNote problem={problem} />}
          {tested && (
            <p className="py-2 px-3 rounded-md bg-done-soft text-done text-sm/inherit" role="status">
              {tested.isNew
                ? t("storage.database.new")
                : tn("storage.database.okOne", "storage.database.ok", tested.threads, {
                    millis: tested.millis,
                  })}
            </p>
          )}
          <div className={storageActionsClass}>
            <Button type="submit" disabled={!complete} busy={busy === "test"} data-testid={storageIds.test}>
              {t("storage.database.test")}
            </Button>
            <Button
              variant="primary"
              disabled={!complete}
              busy={busy === "use"}
              onClick={() => void use(address)}
              data-testid={storageIds.use}
            >
              {t("storage.database.use")}
            </Button>
          </div>
        </form>
      )}
    </div>
  );
}
