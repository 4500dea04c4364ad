/**
 * Before a thread goes on with a graph that was changed since it ran: which next tasks have lost their node, which keys are not
 * what they were, whose questions may be others; and with which version it goes on.
 */
import { useState, type ReactNode } from "react";
import { Button } from "../../components/Button";
import { Dialog } from "../../components/Dialog";
import { Select } from "../../components/Select";
import { CopyAnswer } from "../../debugger/parts/CopyAnswer";
import {
  decideHotEdit,
  isMapped,
  likely,
  useHotEdit,
  type HotEditAsked,
  type Renamed,
} from "../../debugger/run/hot-edit";
import type { TaskChange } from "../../ipc/bindings/TaskChange";
import { versionsIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { hotEditText, keyChangeText, questionText } from "./report";

export function HotEditDialog() {
  const asked = useHotEdit((store) => store.asked);
  return asked === null ? null : <Asked asked={asked} />;
}

function Asked({ asked: { report } }: { asked: HotEditAsked }) {
  const [renamed, setRenamed] = useState<Renamed>(() => likely(report));
  const lost = report.tasks.some(
    (task) => task.change !== "kind" && !(isMapped(task) && task.node in renamed),
  );
  const { tasks, keys, questions, programs } = report;
  return (
    <Dialog
      open
      onClose={() => decideHotEdit(null)}
      title={t("hotEdit.title")}
      description={t("hotEdit.text")}
      size="large"
      data-testid={versionsIds.hotEdit}
      actions={
        <>
          <Button onClick={() => decideHotEdit(null)}>{t("debug.cancel")}</Button>
          <Button
            title={t("hotEdit.forkHelp")}
            onClick={() => decideHotEdit({ how: "fork", renamed })}
            data-testid={versionsIds.hotEditFork}
          >
            {t("hotEdit.fork")}
          </Button>
          <Button
            variant={lost ? "danger" : "secondary"}
            onClick={() => decideHotEdit({ how: "current", renamed })}
            data-testid={versionsIds.hotEditCurrent}
          >
            {t("hotEdit.current")}
          </Button>
          <Button
            variant="primary"
            onClick={() => decideHotEdit({ how: "recorded" })}
            data-testid={versionsIds.hotEditRecorded}
          >
            {t("hotEdit.recorded")}
          </Button>
          {/* At the left, and last: a tooltip of what is focused first would take the first Escape. */}
          <span className="order-first mr-auto self-center">
            <CopyAnswer text={() => hotEditText(report, renamed)} />
          </span>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        <Part title={t("hotEdit.tasks")}>
          {tasks.map((task) => (
            <TaskRow
              key={[...task.path, task.node].join("/")}
              task={task}
              into={renamed[task.node]}
              onInto={(node) => setRenamed(mapped(renamed, task.node, node))}
            />
          ))}
        </Part>
        <Part title={t("hotEdit.keys")}>
          {keys.map((key) => (
            <Row key={`${key.key} ${key.change}`} name={key.key}>
              {keyChangeText(key)}
            </Row>
          ))}
        </Part>
        <Part title={t("hotEdit.questions")}>
          {questions.map(({ node, answered }) => (
            <Row key={node} name={node}>
              {questionText(answered)}
            </Row>
          ))}
        </Part>
        <Part title={t("hotEdit.programs")}>
          {programs.map((path) => (
            <Row key={path} name={path} />
          ))}
        </Part>
      </div>
    </Dialog>
  );
}

function mapped(renamed: Renamed, node: string, into: string | null): Renamed {
  const others = Object.fromEntries(Object.entries(renamed).filter(([old]) => old !== node));
  return into === null ? others : { ...others, [node]: into };
}

/** A part of the report; none where there is nothing to say. */
function Part({ title, children }: { title: string; children: ReactNode[] }) {
  if (children.length === 0) return null;
  return (
    <section>
      <h3 className="pb-1 text-xs font-semibold text-text-2">{title}</h3>
      <ul className="flex flex-col rounded-md bg-surface-2">{children}</ul>
    </section>
  );
}

function Row({ name, children }: { name: string; children?: ReactNode }) {
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2 text-xs/4.5 text-text-2 [&+&]:border-t [&+&]:border-line">
      <strong className="font-mono font-semibold text-text wrap-anywhere">{name}</strong>
      {children}
    </li>
  );
}

function TaskRow({
  task,
  into,
  onInto,
}: {
  task: TaskChange;
  into: string | undefined;
  onInto(node: string | null): void;
}) {
  const nothing = { value: null, label: t("hotEdit.task.nothing") };
  return (
    <Row name={[...task.path, task.node].join(" › ")}>
      <span>{t(`hotEdit.task.${task.change}`)}</span>
      {isMapped(task) && (
        <span className="ml-auto flex items-center gap-2">
          <span className="whitespace-nowrap" aria-hidden>
            {t("hotEdit.task.into")}
          </span>
          <Select<string | null>
            size="small"
            aria-label={`${t("hotEdit.task.into")}: ${task.node}`}
            value={into ?? null}
            options={[...task.candidates.map((node) => ({ value: node, label: node })), nothing]}
            onChange={onInto}
            data-testid={versionsIds.hotEditMap(task.node)}
          />
        </span>
      )}
    </Row>
  );
}
