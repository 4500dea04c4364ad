/**
 * The state keys that a text names and the graph does not declare, each with the name that was meant. For texts that nobody
 * else checks: conditions and questions to what ran, which are no part of the document. They are accepted as they are.
 */
import { TriangleAlert } from "lucide-react";
import { nearest } from "../lib/nearest";
import { formsIds } from "../lib/testIds";
import { t } from "../lib/texts";
import { keyUses, renameKeyUses } from "./code/jinja";

export interface UnknownKeysProps {
  text: string;
  /** The keys that are declared; with none, any may be there. */
  keys: readonly string[];
  template?: boolean;
  /** Puts the text in place in which the meant name stands; without it nothing is offered. */
  onChange?: ((text: string) => void) | undefined;
}

export function UnknownKeys({ text, keys, template = false, onChange }: UnknownKeysProps) {
  if (keys.length === 0) return null;
  const known = new Set(keys);
  const unknown = [...new Set(keyUses(text, template).map(({ key }) => key))].filter(
    (key) => !known.has(key),
  );
  if (unknown.length === 0) return null;
  return (
    <ul className="px-0.5 pt-1 text-xs" role={onChange && "status"} data-testid={formsIds.unknownKeys}>
      {unknown.map((key) => {
        const meant = onChange && nearest(key, keys);
        return (
          <li key={key} className="flex items-baseline gap-1">
            <TriangleAlert size={12} className="flex-none translate-y-0.5 text-asking" aria-hidden />
            <span className="min-w-0 wrap-anywhere">
              {t("forms.code.unknownKey", { key })}
              {meant !== undefined && (
                <button
                  type="button"
                  className="ml-1 text-accent-text underline underline-offset-2"
                  // The field keeps the focus: leaving it may be its end.
                  onMouseDown={(event) => event.preventDefault()}
                  onClick={() => onChange?.(renameKeyUses(text, key, meant, template))}
                >
                  {t("forms.code.meantKey", { key: meant })}
                </button>
              )}
            </span>
          </li>
        );
      })}
    </ul>
  );
}
