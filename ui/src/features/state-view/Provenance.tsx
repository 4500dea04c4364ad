/** Where a value came from: who wrote it, what that task had read, who wrote that, back to an input or an edit. */
import { ArrowLeft } from "lucide-react";
import { useEffect, useState } from "react";
import { Button } from "../../components/Button";
import type { Place } from "../../debugger/model/snapshots";
import { CopyAnswer } from "../../debugger/parts/CopyAnswer";
import { escapePointer, readablePath } from "../../debugger/parts/diff";
import { plain } from "../../debugger/parts/format";
import { asProblem } from "../../debugger/parts/problem";
import { useRuns } from "../../debugger/model/runStore";
import {
  answerTexts,
  chain,
  givenTexts,
  type Link,
  originText,
  possibleReads,
  provenanceText,
} from "../../debugger/state/provenance";
import type { ProvenanceView } from "../../ipc/bindings/ProvenanceView";
import type { ValueWriteView } from "../../ipc/bindings/ValueWriteView";
import type { ValueView } from "../../ipc/bindings/ValueView";
import { rpc } from "../../ipc/client";
import { fullTime } from "../../lib/intl";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";

const MORE = 50;

/** A value that is asked for: where, and at which checkpoint. */
interface Asked {
  readonly checkpointId: string | null;
  readonly pointer: string;
}

interface ProvenanceProps {
  readonly place: Place;
  readonly pointer: string;
  onClose(): void;
}

export function Provenance({ place, pointer: first, onClose }: ProvenanceProps) {
  const [read, setRead] = useState<ProvenanceView | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [limit, setLimit] = useState(0);
  const [followed, setFollowed] = useState<readonly Asked[]>([]);
  const { threadId } = place;
  const { checkpointId, pointer } = followed.at(-1) ?? { checkpointId: place.checkpointId, pointer: first };
  const follow = (way: readonly Asked[]) => {
    setFollowed(way);
    setRead(null);
    setLimit(0);
  };
  const shown = useRuns((store) => store.shown?.view.checkpoint?.id);
  useEffect(() => {
    const abort = new AbortController();
    const asked = { threadId, pointer, limit, ...(checkpointId !== null && { checkpointId }) };
    rpc("thread.provenance", asked, abort.signal).then(
      (answer) => {
        setRead(answer);
        setProblem(null);
      },
      (thrown: unknown) => {
        if (!abort.signal.aborted) setProblem(asProblem(thrown).message);
      },
    );
    return () => abort.abort();
  }, [threadId, checkpointId, pointer, limit]);
  const links = read ? chain(read.writes) : [];
  const name = readablePath(pointer);
  return (
    <section
      className="flex min-h-0 flex-1 flex-col"
      aria-label={t("debug.provenance.of", { name })}
      data-testid={debugIds.provenance}
    >
      <header className="flex shrink-0 items-center gap-2 px-2 pb-2">
        <Button
          size="small"
          variant="ghost"
          icon={<ArrowLeft size={14} aria-hidden />}
          onClick={() => (followed.length > 0 ? follow(followed.slice(0, -1)) : onClose())}
        >
          {followed.length > 0 ? t("debug.provenance.back") : t("debug.state")}
        </Button>
        <h3 className="min-w-0 truncate text-xs font-semibold">{t("debug.provenance.of", { name })}</h3>
        {links.length > 0 && (
          <span className="ml-auto">
            <CopyAnswer text={() => provenanceText(name, links)} />
          </span>
        )}
      </header>
      {problem !== null && (
        <p className="px-3 pb-2 text-xs text-failed" role="alert">
          {problem}
        </p>
      )}
      <ul className="min-h-0 flex-1 overflow-y-auto pb-4">
        {!read && problem === null && <li className="px-3 text-xs text-text-2">{t("debug.loading")}</li>}
        {links.map((link) => (
          <Row
            key={link.place}
            link={link}
            shown={link.write.checkpoint.id === shown}
            follow={(asked) => follow([...followed, asked])}
          />
        ))}
        {read?.more && (
          <li className="px-2 pt-1">
            <Button size="small" variant="ghost" onClick={() => setLimit(links.length + MORE)}>
              {t("debug.provenance.more")}
            </Button>
          </li>
        )}
      </ul>
    </section>
  );
}

const text = (view: ValueView | undefined): string =>
  view === undefined ? t("debug.state.notSet") : plain(view.value ?? view.head ?? null, 160);

interface RowProps {
  readonly link: Link;
  readonly shown: boolean;
  follow(asked: Asked): void;
}

function Row({ link: { write, depth }, shown, follow }: RowProps) {
  return (
    <li style={{ paddingLeft: Math.min(depth, 6) * 14 }}>
      <button
        type="button"
        aria-current={shown || undefined}
        title={fullTime(write.checkpoint.at)}
        className="flex w-full flex-col gap-0.5 border-t border-l-2 border-line border-l-transparent px-3 py-1.5 text-left text-xs hover:bg-surface-3 aria-current:border-l-accent aria-current:bg-accent-soft"
        onClick={() => useSession.getState().setCursor({ checkpointId: write.checkpoint.id })}
        data-testid={debugIds.provenanceWrite}
        data-depth={depth}
        data-pointer={write.pointer}
        data-origin={write.origin}
      >
        <span className="flex flex-wrap gap-x-2 text-2xs text-text-2">
          <span className="font-mono font-semibold text-text-1">{readablePath(write.pointer)}</span>
          <span className="tabular-nums">{t("debug.stepN", { n: write.checkpoint.step })}</span>
          <span className="min-w-0 font-semibold">{originText(write)}</span>
        </span>
        <span className="line-clamp-3 wrap-anywhere">
          {write.change !== "appended" && (
            <>
              {write.before === undefined ? (
                <span className="text-text-3">{text(write.before)}</span>
              ) : (
                <del className="bg-diff-remove decoration-failed">{text(write.before)}</del>
              )}
              <span className="text-text-3"> → </span>
            </>
          )}
          <ins className="bg-diff-add no-underline">{text(write.after)}</ins>
        </span>
        {givenTexts(write).map((given) => (
          <span key={given} className="text-2xs text-text-2">
            {given}
          </span>
        ))}
        {answerTexts(write).map((answer, place) => (
          <span key={place} className="text-2xs wrap-anywhere text-text-1">
            {answer}
          </span>
        ))}
      </button>
      {write.origin === "older" && (
        <div className="px-2 pb-1">
          <Button
            size="small"
            variant="ghost"
            onClick={() => follow({ checkpointId: write.checkpoint.id, pointer: write.pointer })}
            data-testid={debugIds.provenanceOlder}
          >
            {t("debug.provenance.lookOn")}
          </Button>
        </div>
      )}
      <MayHaveRead write={write} follow={follow} />
    </li>
  );
}

/** The keys that the writers may have read: each is followed when it is pressed. */
function MayHaveRead({ write, follow }: { write: ValueWriteView; follow(asked: Asked): void }) {
  const { keys, more } = possibleReads(write);
  const { from } = write;
  if (keys.length === 0 || from === undefined) return null;
  return (
    <p className="flex flex-wrap items-center gap-x-2 px-3 pb-1 text-2xs text-text-2">
      {t("debug.provenance.mayHaveReadThese")}
      {keys.map(({ key, step }) => (
        <button
          key={key}
          type="button"
          className="rounded-sm underline hover:bg-surface-3"
          onClick={() => follow({ checkpointId: from, pointer: `/${escapePointer(key)}` })}
          data-testid={debugIds.provenancePossible}
        >
          {t("debug.provenance.keyAtStep", { key, step })}
        </button>
      ))}
      {more && <span>{t("debug.provenance.andMore")}</span>}
    </p>
  );
}
