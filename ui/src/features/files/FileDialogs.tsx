/** Choosing a file inside the window, for hosts without dialogs of their own; and the way back to the saved file. */
import { ArrowUp, File, Folder, Workflow } from "lucide-react";
import { useCallback, useEffect, useRef, useState, type KeyboardEvent } from "react";
import { Badge } from "../../components/Badge";
import { Button } from "../../components/Button";
import { ConfirmDialog, Dialog } from "../../components/Dialog";
import { EmptyState } from "../../components/EmptyState";
import { Field } from "../../components/Field";
import { IconButton } from "../../components/IconButton";
import { Spinner } from "../../components/Spinner";
import { TextField } from "../../components/TextField";
import type { FileEntry } from "../../ipc/bindings/FileEntry";
import type { FileList } from "../../ipc/bindings/FileList";
import { rpc, RpcProblem } from "../../ipc/client";
import { day } from "../../lib/intl";
import { isAddress, splitAddress } from "../../lib/address";
import { formsIds, shellIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import {
  useFileQuestion,
  type Closing,
  type FileEnding,
  type FileQuestion,
  type Side,
} from "../../state/file-dialogs";
import { registerRevert } from "./unsaved";
import { crumbsOf, hasEnding, isAbsolute, joinPath, splitPath, withEnding } from "../../lib/path";

/** Endings of files that a LangGraph program keeps its threads in; others are typed. */
const DATABASES = ["sqlite", "sqlite3", "db"] as const;

export function FileDialogs() {
  const question = useFileQuestion((state) => state.question);
  useEffect(registerRevert, []);
  if (question === null) return null;
  const done = (run: () => void) => {
    useFileQuestion.setState({ question: null });
    run();
  };
  if (question.kind === "elsewhere") {
    const choose = (side: Side | null) => done(() => question.answer(side));
    return (
      <Dialog
        open
        onClose={() => choose(null)}
        title={t("shell.elsewhere.ask")}
        description={
          <>
            <p>{question.records}</p>
            <p>{t("shell.elsewhere.askText")}</p>
          </>
        }
        data-testid={shellIds.elsewhere}
        actions={
          <>
            <Button onClick={() => choose("theirs")} data-testid={shellIds.elsewhereTheirs}>
              {t("shell.elsewhere.theirs")}
            </Button>
            <Button variant="primary" onClick={() => choose("mine")} data-testid={shellIds.elsewhereMine}>
              {t("shell.elsewhere.mine")}
            </Button>
          </>
        }
      />
    );
  }
  if (question.kind === "close") {
    const close = (what: Closing | null) => done(() => question.answer(what));
    return (
      <Dialog
        open
        onClose={() => close(null)}
        title={t("tabs.ask", { name: question.name })}
        description={t("tabs.askText")}
        data-testid={shellIds.closing}
        actions={
          <>
            <Button variant="danger" onClick={() => close("discard")} data-testid={shellIds.closeDiscard}>
              {t("tabs.ask.discard")}
            </Button>
            <span className="flex-1" />
            <Button onClick={() => close("keep")} data-testid={shellIds.closeKeep}>
              {t("tabs.ask.keep")}
            </Button>
            <Button
              variant="primary"
              autoFocus
              onClick={() => close("save")}
              data-testid={shellIds.closeSave}
            >
              {t("tabs.ask.save")}
            </Button>
          </>
        }
      />
    );
  }
  return (
    <FileDialog
      key={question.kind}
      question={question}
      onDone={(path) => done(() => question.answer(path))}
    />
  );
}

function FileDialog({
  question,
  onDone,
}: {
  question: Exclude<FileQuestion, { kind: "revert" | "close" | "elsewhere" }>;
  onDone(path: string | null): void;
}) {
  const saving = question.kind === "save";
  const ending = question.ending;
  const suggested = saving ? splitPath(question.suggested) : { dir: "", name: "" };
  const [listing, setListing] = useState<FileList | null>(null);
  const [problem, setProblem] = useState<RpcProblem | null>(null);
  const [reading, setReading] = useState(true);
  const [name, setName] = useState(suggested.name);
  const [active, setActive] = useState<string | null>(null);
  const [overwrite, setOverwrite] = useState<string | null>(null);
  const [complaint, setComplaint] = useState("");
  const list = useRef<HTMLDivElement>(null);
  const latest = useRef(0);

  const go = useCallback((dir: string | undefined, fallBack = false) => {
    const turn = (latest.current += 1);
    setReading(true);
    const list = (folder: string | undefined) =>
      rpc("files.list", folder === undefined || folder === "" ? {} : { dir: folder });
    // The suggested folder may not exist yet; the graphs folder always does.
    (fallBack ? list(dir).catch(() => list(undefined)) : list(dir)).then(
      (found) => {
        if (turn !== latest.current) return;
        setListing(found);
        setProblem(null);
        setReading(false);
        setActive(null);
      },
      (thrown: unknown) => {
        if (turn !== latest.current) return;
        setProblem(RpcProblem.from(thrown));
        setReading(false);
      },
    );
  }, []);
  useEffect(() => go(suggested.dir, true), [go, suggested.dir]);

  const entries = (listing?.entries ?? []).filter(
    (entry) =>
      entry.isDir ||
      (ending === "json" && entry.isGraph) ||
      hasEnding(entry.name, ending) ||
      (ending === "json" && !saving && DATABASES.some((kind) => hasEnding(entry.name, kind))),
  );
  const chosen = entries.find((entry) => entry.path === active);
  const target = saving && name.trim() !== "" ? savePath(listing?.dir ?? "", name.trim(), ending) : null;

  const pick = (entry: FileEntry) => {
    setComplaint("");
    if (entry.isDir && !(entry.isGraph && !saving)) go(entry.path);
    else if (saving) setName(entry.name);
    else onDone(entry.path);
  };
  const confirm = () => {
    setComplaint("");
    if (!saving) {
      if (isAddress(name)) onDone(name.trim());
      else if (name.trim() !== "") {
        const path = isAbsolute(name.trim()) ? name.trim() : joinPath(listing?.dir ?? "", name.trim());
        void missing(path, listing).then((gone) =>
          gone ? setComplaint(t("forms.files.notThere")) : onDone(path),
        );
      } else if (chosen !== undefined && (chosen.isGraph || !chosen.isDir)) onDone(chosen.path);
      else if (chosen?.isDir === true) go(chosen.path);
      else setComplaint(t("forms.files.needsFile"));
      return;
    }
    if (target === null) {
      setComplaint(t("forms.files.needsName"));
      return;
    }
    void existsAt(target, listing).then((exists) => (exists ? setOverwrite(target) : onDone(target)));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const at = entries.findIndex((entry) => entry.path === active);
    const move = (to: number) => {
      const entry = entries[Math.max(0, Math.min(entries.length - 1, to))];
      if (!entry) return;
      setActive(entry.path);
      if (saving && !entry.isDir) setName(entry.name);
      list.current
        ?.querySelector(`[data-path="${CSS.escape(entry.path)}"]`)
        ?.scrollIntoView({ block: "nearest" });
    };
    if (event.key === "ArrowDown") move(at + 1);
    else if (event.key === "ArrowUp") move(at < 0 ? entries.length - 1 : at - 1);
    else if (event.key === "Home") move(0);
    else if (event.key === "End") move(entries.length - 1);
    else if (event.key === "Enter" || event.key === "ArrowRight") {
      if (chosen) pick(chosen);
    } else if (event.key === "Backspace" || event.key === "ArrowLeft") {
      if (listing?.parent !== undefined) go(listing.parent);
    } else return;
    event.preventDefault();
  };

  return (
    <>
      <Dialog
        open
        onClose={() => onDone(null)}
        size="large"
        title={saving ? t("forms.files.saveTitle") : t("forms.files.openTitle")}
        data-testid={formsIds.fileDialog}
        actions={
          <>
            <Button onClick={() => onDone(null)}>{t("forms.cancel")}</Button>
            <Button variant="primary" onClick={confirm} data-testid={formsIds.fileConfirm}>
              {saving ? t("forms.files.save") : t("forms.files.open")}
            </Button>
          </>
        }
      >
        <div className="flex flex-col gap-2 min-h-0 h-[min(440px,60vh)]">
          <nav className="flex items-center gap-1.5 shrink-0" aria-label={t("forms.files.breadcrumbs")}>
            <IconButton
              size="small"
              label={t("forms.files.up")}
              disabled={listing?.parent === undefined}
              onClick={() => go(listing?.parent)}
            >
              <ArrowUp size={14} />
            </IconButton>
            <div className="flex flex-1 min-w-0 overflow-x-auto scrollbar-none">
              {crumbsOf(listing?.dir ?? "").map((crumb) => (
                <button
                  key={crumb.path}
                  type="button"
                  className="rounded-sm px-1.5 py-0.5 text-xs/inherit whitespace-nowrap text-text-2 last:font-medium last:text-text hover:bg-surface-3 hover:text-text not-first:before:mr-2 not-first:before:-ml-1 not-first:before:text-text-3 not-first:before:content-['›']"
                  onClick={() => go(crumb.path)}
                >
                  {crumb.name}
                </button>
              ))}
            </div>
            <Button size="small" variant="ghost" onClick={() => go(undefined)}>
              {t("forms.files.home")}
            </Button>
          </nav>
          <div
            className="flex-1 min-h-0 overflow-y-auto p-1 border border-line rounded-md bg-surface-2"
            ref={list}
            role="listbox"
            tabIndex={0}
            aria-label={t("forms.files.list")}
            aria-activedescendant={active === null ? undefined : `file-${active}`}
            aria-busy={reading}
            onKeyDown={onKeyDown}
          >
            {problem !== null ? (
              <EmptyState compact tone="failed" title={problem.message}>
                {problem.remedy}
              </EmptyState>
            ) : listing === null ? (
              <div className="flex justify-center p-8">
                <Spinner label={t("forms.files.loading")} />
              </div>
            ) : entries.length === 0 ? (
              <EmptyState compact title={t("forms.files.empty")}>
                {t("forms.files.emptyHelp")}
              </EmptyState>
            ) : (
              entries.map((entry) => (
                <div
                  key={entry.path}
                  id={`file-${entry.path}`}
                  role="option"
                  aria-selected={entry.path === active}
                  data-path={entry.path}
                  className="flex items-center gap-2 h-7 px-2 rounded-sm [&>svg]:text-text-3 [&>svg]:shrink-0 hover:bg-surface-3 aria-selected:bg-accent-soft"
                  data-testid={formsIds.fileEntry(entry.name)}
                  onClick={() => {
                    setActive(entry.path);
                    setComplaint("");
                    if (saving && !entry.isDir) setName(entry.name);
                    if (!saving) setName("");
                  }}
                  onDoubleClick={() => pick(entry)}
                >
                  {entry.isGraph ? (
                    <Workflow size={15} aria-hidden />
                  ) : entry.isDir ? (
                    <Folder size={15} aria-hidden />
                  ) : (
                    <File size={15} aria-hidden />
                  )}
                  <span className="flex-1 min-w-0 truncate">{entry.name}</span>
                  {entry.isGraph && <Badge tone="accent">{t("forms.files.graph")}</Badge>}
                  <span className="w-22 text-right text-xs/inherit text-text-3 tabular-nums shrink-0">
                    {day(entry.modified)}
                  </span>
                </div>
              ))
            )}
          </div>
          <Field
            label={saving ? t("forms.files.name") : t("forms.files.path")}
            error={complaint}
            description={saving && target !== null ? t("forms.files.willBe", { path: target }) : undefined}
          >
            <TextField
              autoFocus
              mono
              value={name}
              onChange={(next) => {
                // A password goes at once where it is not seen.
                if (!saving && isAddress(next) && splitAddress(next).password !== "") return onDone(next);
                setName(next);
                setComplaint("");
              }}
              onCommit={confirm}
              onFocus={(event) => {
                // The ending stays: only the name is usually changed.
                const end = event.target.value.replace(/\.(jsonl?|csv)$/i, "").length;
                event.target.setSelectionRange(0, end);
              }}
              placeholder={chosen?.path ?? ""}
              data-testid={formsIds.filePath}
            />
          </Field>
        </div>
      </Dialog>
      <ConfirmDialog
        open={overwrite !== null}
        title={t("forms.files.overwrite", { name: splitPath(overwrite ?? "").name })}
        text={t("forms.files.overwriteText")}
        confirm={t("forms.files.overwriteYes")}
        onCancel={() => setOverwrite(null)}
        onConfirm={() => onDone(overwrite)}
      />
    </>
  );
}

/** Where a written name would be saved: a path is taken as it is, a name goes into the shown folder. */
function savePath(dir: string, name: string, ending: FileEnding): string {
  const path = isAbsolute(name) ? name : joinPath(dir, name);
  const split = splitPath(path);
  return joinPath(split.dir, withEnding(split.name, ending));
}

/** Whether a file is certainly not there; the listing has graphs, threads and tables. */
async function missing(path: string, listing: FileList | null): Promise<boolean> {
  const { dir, name } = splitPath(path);
  const wanted = name.toLowerCase();
  if (wanted.startsWith(".") || !/\.(jsonl?|csv)$/.test(wanted)) return false;
  try {
    const folder = listing !== null && listing.dir === dir ? listing : await rpc("files.list", { dir });
    return !folder.entries.some((entry) => entry.name.toLowerCase() === wanted);
  } catch {
    return true;
  }
}

async function existsAt(path: string, listing: FileList | null): Promise<boolean> {
  const { dir, name } = splitPath(path);
  try {
    const folder = listing !== null && listing.dir === dir ? listing : await rpc("files.list", { dir });
    return folder.entries.some((entry) => !entry.isDir && entry.name === name);
  } catch {
    // A folder that cannot be read is the saving's problem, which names it.
    return false;
  }
}
