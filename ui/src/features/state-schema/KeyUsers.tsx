/** The nodes and edges that write or read a state key. */
import { focusEdge, focusNode } from "../../canvas/actions";
import { sectionOf } from "../../document/types";
import { t } from "../../lib/texts";
import { useSession } from "../../state/session";
import { linkClass } from "../../components/recipes";

export function recordText(record: string): string {
  const place = sectionOf(record);
  if (place === null) return record;
  return place.section === "edge" ? t("forms.problems.edge", { name: place.name }) : place.name;
}

export function KeyUsers({
  title,
  records,
  none,
  icon,
}: {
  title: string;
  records: readonly string[];
  none: string;
  icon: React.ReactNode;
}) {
  return (
    <div className="[&_button]:text-left [&_button]:wrap-anywhere [&_h4]:flex [&_h4]:items-center [&_h4]:gap-1.25 [&_h4]:text-xs/inherit [&_h4]:font-medium [&_h4]:text-text-2 [&_ul]:flex [&_ul]:flex-wrap [&_ul]:gap-x-2.5 [&_ul]:gap-y-0.5 [&_ul]:text-xs/inherit">
      <h4>
        {icon} {title}
      </h4>
      {records.length === 0 ? (
        <span className="text-xs/inherit text-text-3">{none}</span>
      ) : (
        <ul>
          {records.map((record) => {
            const place = sectionOf(record);
            return (
              <li key={record}>
                <button
                  type="button"
                  className={linkClass}
                  onClick={() => {
                    const session = useSession.getState();
                    if (place?.section === "node") {
                      session.select({ nodes: [place.name], key: session.selection.key });
                      focusNode(place.name);
                    } else if (place?.section === "edge") {
                      session.select({ edges: [place.name], key: session.selection.key });
                      focusEdge(place.name);
                    }
                  }}
                >
                  {recordText(record)}
                </button>
              </li>
            );
          })}
        </ul>
      )}
    </div>
  );
}
