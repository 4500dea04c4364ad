/** What is looked for: the text with its options, where, the filters, and what is put in its place. */
import { CaseSensitive, ChevronDown, ChevronRight, Regex, ReplaceAll, WholeWord } from "lucide-react";
import { useEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { Button } from "../../components/Button";
import { IconButton } from "../../components/IconButton";
import { Select } from "../../components/Select";
import { TextField } from "../../components/TextField";
import { useCommitted } from "../../document/changes";
import { useDocumentState } from "../../document/store";
import type { TextQuery } from "../../ipc/bindings/TextQuery";
import { findIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { runCommand } from "../../state/commands";
import { useSession } from "../../state/session";
import { step } from "./navigate";
import { WHERES } from "./places";
import { askReplace } from "./replace";
import type { Filters, Hit, NodeFilter } from "./rows";
import { useFind } from "./search";

const NODE_FILTERS: readonly NodeFilter[] = ["any", "invalid", "unused", "changed", "disabled", "notes"];

const ask = (change: Partial<TextQuery>) =>
  useFind.setState((state) => ({ query: { ...state.query, ...change } }));
const filter = (change: Partial<Filters>) =>
  useFind.setState((state) => ({ filters: { ...state.filters, ...change } }));

export function FindBar({ hits }: { hits: readonly Hit[] }) {
  const query = useFind((state) => state.query);
  const replacing = useFind((state) => state.replacing);
  const asked = useFind((state) => state.asked);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (asked === 0) return;
    field.current?.focus();
    field.current?.select();
  }, [asked]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    useSession.getState().setPanel("bottom", { folded: true });
    document.querySelector<HTMLElement>("[data-canvas]")?.focus();
  };
  const Chevron = replacing ? ChevronDown : ChevronRight;
  return (
    <div className="flex shrink-0 items-start gap-1 px-2 pt-2 pb-1" role="search" onKeyDown={onKeyDown}>
      <IconButton
        size="small"
        className="mt-0.75"
        label={t("find.replaceToggle")}
        aria-expanded={replacing}
        onClick={() => useFind.setState({ replacing: !replacing })}
        data-testid={findIds.replaceToggle}
      >
        <Chevron size={14} aria-hidden />
      </IconButton>
      <div className="flex min-w-0 flex-1 flex-col gap-1.5">
        <div className="flex flex-wrap items-center gap-1.5">
          <TextField
            ref={field}
            type="search"
            className="min-w-[min(15rem,100%)] flex-[2]"
            aria-label={t("find.text")}
            placeholder={t(query.regex ? "find.placeholderRegex" : "find.placeholder")}
            value={query.text}
            mono={query.regex}
            onChange={(text) => ask({ text })}
            onKeyDown={(event) => {
              if (event.key !== "Enter") return;
              event.preventDefault();
              step(event.shiftKey ? -1 : 1);
            }}
            data-testid={findIds.text}
            suffix={<Options query={query} />}
          />
          <FilterSelects />
        </div>
        {replacing && <Replacement hits={hits} regex={query.regex} />}
      </div>
    </div>
  );
}

function Options({ query }: { query: TextQuery }) {
  return (
    <span className="flex gap-0.5">
      <IconButton
        size="small"
        label={t("find.case")}
        pressed={query.matchCase}
        onClick={() => ask({ matchCase: !query.matchCase })}
        data-testid={findIds.matchCase}
      >
        <CaseSensitive size={15} aria-hidden />
      </IconButton>
      <IconButton
        size="small"
        label={t("find.word")}
        pressed={query.wholeWord}
        onClick={() => ask({ wholeWord: !query.wholeWord })}
        data-testid={findIds.word}
      >
        <WholeWord size={15} aria-hidden />
      </IconButton>
      <IconButton
        size="small"
        label={t("find.regex")}
        pressed={query.regex}
        onClick={() => ask({ regex: !query.regex })}
        data-testid={findIds.regex}
      >
        <Regex size={14} aria-hidden />
      </IconButton>
    </span>
  );
}

/** What is chosen is read whole: a row without room for all of them becomes two. */
const filterClass = "w-auto! min-w-max max-w-full flex-1";

function FilterSelects() {
  const everywhere = useFind((state) => state.everywhere);
  const { where, nodes, kind } = useFind((state) => state.filters);
  const kinds = useSession((state) => state.appInfo?.kinds);
  const draft = useDocumentState((state) => state.path === null);
  const versioned = useCommitted((state) => state.records !== null);
  const kindOptions = useMemo(
    () => [
      { value: null, label: t("find.kind.any"), absent: true },
      ...(kinds ?? []).map((each) => ({ value: each.kind, label: each.title })),
    ],
    [kinds],
  );
  return (
    <div className="flex min-w-0 flex-[3] flex-wrap gap-1.5">
      <Select
        className={filterClass}
        aria-label={t("find.scope")}
        value={everywhere && !draft}
        options={[
          { value: false, label: t("find.scope.graph") },
          {
            value: true,
            label: t("find.scope.folder"),
            description: t(draft ? "find.scope.draft" : "find.scope.folderHelp"),
            disabled: draft,
          },
        ]}
        onChange={(value) => useFind.setState({ everywhere: value })}
        data-testid={findIds.scope}
      />
      <Select
        className={filterClass}
        aria-label={t("find.where")}
        value={where}
        options={[
          { value: "any" as const, label: t("find.where.any"), absent: true },
          ...WHERES.map((value) => ({ value, label: t(`find.where.${value}`) })),
        ]}
        onChange={(value) => filter({ where: value })}
        data-testid={findIds.where}
      />
      <Select
        className={filterClass}
        aria-label={t("find.nodes")}
        value={nodes}
        options={NODE_FILTERS.map((value) => ({
          value,
          label: t(`find.nodes.${value}`),
          absent: value === "any",
          ...(value === "changed" && {
            disabled: !versioned,
            description: versioned ? undefined : t("find.nodes.changed.none"),
          }),
        }))}
        onChange={(value) => filter({ nodes: value })}
        data-testid={findIds.nodes}
      />
      <Select<string | null>
        className={filterClass}
        aria-label={t("find.kind")}
        value={kind}
        options={kindOptions}
        onChange={(value) => filter({ kind: value })}
        data-testid={findIds.kind}
      />
    </div>
  );
}

function Replacement({ hits, regex }: { hits: readonly Hit[]; regex: boolean }) {
  const replacement = useFind((state) => state.replacement);
  const found = useFind((state) => state.found);
  const work = useFind((state) => state.work);
  const replaceable = hits.filter(({ named }) => !named);
  const named = hits.length - replaceable.length;
  // A search begins by itself after each change: a press meanwhile counts when it has ended.
  const [pressed, setPressed] = useState(false);
  useEffect(() => {
    if (!pressed || work !== null) return;
    setPressed(false);
    askReplace(replaceable);
  }, [pressed, work, replaceable]);
  return (
    <div className="flex flex-wrap items-center gap-1.5">
      <TextField
        className="min-w-[min(15rem,100%)] flex-[2]"
        aria-label={t("find.replacement")}
        placeholder={t("find.replacement")}
        title={regex ? t("find.replacementHelp") : undefined}
        value={replacement}
        mono={regex}
        onChange={(text) => useFind.setState({ replacement: text })}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
            event.preventDefault();
            runCommand("find.replaceAll");
          }
        }}
        data-testid={findIds.replacement}
      />
      <div className="flex flex-[3] items-center gap-2">
        <Button
          size="small"
          icon={<ReplaceAll size={13} aria-hidden />}
          disabled={replaceable.length === 0 || found === null}
          aria-busy={pressed || undefined}
          onClick={() => setPressed(true)}
          data-testid={findIds.replaceAll}
        >
          {t("find.replaceAll")}
        </Button>
        {named > 0 && <span className="text-2xs text-text-3">{t("find.replaced.names")}</span>}
      </div>
    </div>
  );
}
