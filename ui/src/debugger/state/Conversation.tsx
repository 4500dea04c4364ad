/**
 * Messages as people read them: who says what, tool calls and their results, new ones marked. Understands the shapes that
 * `add_messages` keeps; anything else is shown as the JSON it is.
 */
import { Bot, Cog, User, Wrench } from "lucide-react";
import { memo, type ReactNode } from "react";
import { debugIds } from "../../lib/testIds";
import { t } from "../../lib/texts";
import { isObject } from "../parts/diff";
import { preview } from "../parts/format";

type Role = "human" | "ai" | "system" | "tool" | "other";

const ROLES: Record<string, Role> = {
  human: "human",
  user: "human",
  HumanMessage: "human",
  ai: "ai",
  assistant: "ai",
  AIMessage: "ai",
  AIMessageChunk: "ai",
  system: "system",
  SystemMessage: "system",
  tool: "tool",
  ToolMessage: "tool",
};

const ICONS = { human: User, ai: Bot, system: Cog, tool: Wrench, other: Cog } as const;

export function roleOf(message: unknown): Role {
  if (!isObject(message)) return "other";
  const role = message.type ?? message.role;
  return typeof role === "string" ? (ROLES[role] ?? "other") : "other";
}

const isThought = (part: unknown): part is Record<string, unknown> =>
  isObject(part) &&
  (part.type === "thinking" || part.type === "reasoning" || part.type === "redacted_thinking");

/** What a model thought before it answered, where its provider shows it. */
function reasoningOf(message: unknown): string {
  if (!isObject(message)) return "";
  const beside = isObject(message.additional_kwargs)
    ? message.additional_kwargs.reasoning_content
    : undefined;
  if (typeof beside === "string" && beside !== "") return beside;
  if (!Array.isArray(message.content)) return "";
  return message.content
    .filter(isThought)
    .map((part) => part.thinking ?? part.reasoning)
    .filter((text) => typeof text === "string")
    .join("\n");
}

/** The text of a message; content may be a text or a list of parts. */
export function textOf(message: unknown): string {
  if (typeof message === "string") return message;
  if (!isObject(message)) return preview(message, 2000);
  const { content } = message;
  if (typeof content === "string") return content;
  if (Array.isArray(content)) {
    return content
      .filter((part) => !isThought(part))
      .map((part: unknown) =>
        typeof part === "string"
          ? part
          : isObject(part) && typeof part.text === "string"
            ? part.text
            : preview(part, 500),
      )
      .join("");
  }
  return content === undefined || content === null ? "" : preview(content, 2000);
}

interface Call {
  readonly name: string;
  readonly args: string;
}

function callsOf(message: unknown): Call[] {
  if (!isObject(message) || !Array.isArray(message.tool_calls)) return [];
  return message.tool_calls.flatMap((call: unknown): Call[] => {
    if (!isObject(call) || call.name === "") return [];
    const inner = isObject(call.function) ? call.function : call;
    const args = inner.args ?? inner.arguments;
    return [
      { name: String(inner.name ?? "?"), args: typeof args === "string" ? args : preview(args ?? {}, 400) },
    ];
  });
}

export const MessageBubble = memo(function MessageBubble({
  message,
  fresh = false,
  node,
  live = false,
  aside,
}: {
  message: unknown;
  fresh?: boolean;
  node?: string;
  live?: boolean;
  /** What can be done with it, at the end of its head. */
  aside?: ReactNode;
}) {
  const role = roleOf(message);
  const Icon = ICONS[role];
  const text = textOf(message);
  const calls = callsOf(message);
  const reasoning = reasoningOf(message);
  const name = isObject(message) && typeof message.name === "string" ? message.name : undefined;
  return (
    <div
      className={`flex gap-2 px-3 py-1.5 ${fresh ? "border-l-2 border-done bg-diff-add/40" : "border-l-2 border-transparent"}`}
      data-testid={debugIds.message}
      data-role={role}
    >
      <span className={`mt-0.5 shrink-0 ${role === "human" ? "text-accent-text" : "text-text-3"}`}>
        <Icon size={15} aria-hidden />
      </span>
      <div className="min-w-0 flex-1">
        <div className="flex items-center gap-2 text-2xs text-text-2">
          <span className="font-medium">{t(`debug.role.${role}`)}</span>
          {name !== undefined && <span className="font-mono">{name}</span>}
          {node !== undefined && <span className="truncate">{node}</span>}
          {fresh && <span className="font-medium text-done">{t("debug.new")}</span>}
          {live && <span className="text-running">{t("debug.streaming")}</span>}
          {aside !== undefined && <span className="ml-auto flex items-center">{aside}</span>}
        </div>
        {reasoning !== "" && (
          <details className="mt-0.5 text-xs text-text-3" data-testid={debugIds.reasoning}>
            <summary>
              {t(live && text === "" && calls.length === 0 ? "debug.reasoning.now" : "debug.reasoning")}
            </summary>
            <div className="select-text max-h-60 overflow-y-auto border-l border-line pl-2 whitespace-pre-wrap [overflow-wrap:anywhere]">
              {reasoning}
            </div>
          </details>
        )}
        {text !== "" && (
          <div className="select-text text-sm whitespace-pre-wrap [overflow-wrap:anywhere]">{text}</div>
        )}
        {calls.map((call, index) => (
          <div
            key={index}
            className="select-text mt-1 rounded-sm bg-surface-3 px-2 py-1 font-mono text-xs [overflow-wrap:anywhere]"
            data-testid={debugIds.toolCall}
          >
            {call.name}({call.args}
            {live ? "…" : ")"}
          </div>
        ))}
        {text === "" && calls.length === 0 && !live && (
          <div className="text-xs text-text-3">{t("debug.message.empty")}</div>
        )}
      </div>
    </div>
  );
});

export function Conversation({ messages, fresh }: { messages: readonly unknown[]; fresh: number }) {
  return (
    <div className="py-1">
      {messages.length === 0 && <p className="px-3 py-1 text-xs text-text-2">{t("debug.messages.none")}</p>}
      {messages.map((message, index) => (
        <MessageBubble
          key={isObject(message) && typeof message.id === "string" ? message.id : index}
          message={message}
          fresh={index >= messages.length - fresh}
        />
      ))}
    </div>
  );
}
