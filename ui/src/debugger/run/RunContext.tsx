/** The fields of the run context in the run form; not there where the graph declares none. */
import { useMemo } from "react";
import { useRecord } from "../../document/store";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { ManyFields } from "../parts/ManyFields";
import { isObject } from "../parts/diff";
import { ContextSetsMenu } from "./ContextSetsMenu";
import { contextSchema, giveContext, useRunContext } from "./run-context";

const NOTHING = {};

export function RunContext({ onValidity }: { onValidity: (valid: boolean) => void }) {
  const head = useRecord("doc");
  const graph = useSession((session) => session.graphKey) ?? "";
  const given = useRunContext((store) => store.given[graph]) ?? NOTHING;
  const schema = useMemo(() => (isObject(head) ? contextSchema(head) : null), [head]);
  if (schema === null) return null;
  return (
    <div className="mt-3" data-testid={debugIds.runContext}>
      <ManyFields
        schema={schema}
        value={given}
        onChange={(next: unknown) => {
          if (!isObject(next)) return;
          const entries = Object.entries(next).filter(([, value]) => value !== undefined);
          giveContext(graph, Object.fromEntries(entries));
        }}
        onValidity={onValidity}
        title={
          <span className="flex items-center gap-1">
            {t("debug.context")}
            <ContextSetsMenu graph={graph} given={given} />
          </span>
        }
      />
    </div>
  );
}
