/** Copying a program's threads among our own: begun here, followed, stopped, and what was left out by name. */
import { useEffect, useState } from "react";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { hintClass } from "../../components/recipes";
import { asProblem, type ShownProblem } from "../../debugger/parts/problem";
import { ProblemNote } from "../../debugger/run/ProblemNote";
import { useDocumentState } from "../../document/store";
import type { CopiedOwn } from "../../ipc/bindings/CopiedOwn";
import type { StorageInfo } from "../../ipc/bindings/StorageInfo";
import { rpc } from "../../ipc/client";
import { count } from "../../lib/intl";
import { shellIds } from "../../lib/testIds";
import { problemText, t } from "../../lib/texts";
import { openCopy } from "../../debugger/run/seen";
import { withJob } from "../../state/jobs";
import { showProblem } from "../../state/toasts";
import { Working } from "../storage";

interface CopyDialogProps {
  readonly threadId?: string;
  readonly title: string;
  onClose(): void;
}

export function CopyDialog({ threadId, title, onClose }: CopyDialogProps) {
  const [info, setInfo] = useState<StorageInfo | null>(null);
  const [work, setWork] = useState<string | null>(null);
  const [copied, setCopied] = useState<CopiedOwn | null>(null);
  const [problem, setProblem] = useState<ShownProblem | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    rpc("storage.info", {}, abort.signal).then(setInfo, (thrown: unknown) => {
      if (!abort.signal.aborted) setProblem(asProblem(thrown));
    });
    return () => abort.abort();
  }, []);

  const start = async () => {
    setProblem(null);
    setCopied(null);
    const { graphId } = useDocumentState.getState();
    const what = {
      ...(threadId !== undefined && { threadId }),
      ...(graphId !== null && { graphId }),
    };
    try {
      setCopied(await withJob((job) => rpc("thread.copyOwn", { ...what, work: job }), setWork));
    } catch (thrown) {
      setProblem(asProblem(thrown));
    } finally {
      setWork(null);
    }
  };
  const first = copied?.first;
  const canOpen = first !== undefined && info !== null && info.chosenBy !== "program";
  return (
    <Dialog
      open
      onClose={onClose}
      size="medium"
      title={threadId === undefined ? t("seen.copy.titleAll") : t("seen.copy.title", { title })}
      description={t("seen.copy.help")}
      data-testid={shellIds.copyOwn}
      actions={
        <>
          <Button onClick={onClose}>{t("forms.close")}</Button>
          {canOpen && (
            <Button
              variant="primary"
              onClick={() => {
                onClose();
                openCopy(first).catch(showProblem);
              }}
              data-testid={shellIds.copyOpen}
            >
              {t("seen.copy.open")}
            </Button>
          )}
          {!canOpen && (
            <Button
              variant="primary"
              busy={work !== null}
              onClick={() => void start()}
              data-testid={shellIds.copyStart}
            >
              {t("seen.copy.start")}
            </Button>
          )}
        </>
      }
    >
      <p className={`${hintClass} wrap-anywhere`}>
        {info !== null && t("seen.copy.to", { url: copied?.database ?? info.defaultUrl })}
      </p>
      {work !== null && <Working work={work} label={t("seen.copy.working")} />}
      {problem && <ProblemNote problem={problem} />}
      {copied && (
        <div className="flex flex-col gap-1 pt-2" role="status" data-testid={shellIds.copyDone}>
          <p>
            {t("seen.copy.done", {
              threads: count(copied.threads),
              known: count(copied.known),
              checkpoints: count(copied.checkpoints),
            })}
          </p>
          {copied.stopped && <p>{t("seen.copy.stopped")}</p>}
          {copied.leftOut > 0 && (
            <>
              <p className="text-failed">{t("seen.copy.left", { n: copied.leftOut })}</p>
              <ul className="max-h-40 overflow-y-auto text-xs/[17px] text-text-2 select-text wrap-anywhere">
                {copied.skipped.map((what) => (
                  <li key={what.message}>{problemText(what).message}</li>
                ))}
                {copied.leftOut > copied.skipped.length && (
                  <li>{t("seen.copy.more", { n: copied.leftOut - copied.skipped.length })}</li>
                )}
              </ul>
            </>
          )}
          {first !== undefined && !canOpen && <p className={hintClass}>{t("seen.copy.locked")}</p>}
        </div>
      )}
    </Dialog>
  );
}
