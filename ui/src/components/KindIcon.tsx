/** The glyph of a node kind, by the Lucide name that the kind gives. A name that is not bundled gets the plain box. */
import {
  Blocks,
  BookOpenText,
  Bot,
  Box,
  Braces,
  Brain,
  Clock,
  Code,
  Database,
  Equal,
  FileText,
  Flag,
  Globe,
  ListChecks,
  MessageCircleQuestion,
  Play,
  Search,
  Sparkles,
  Split,
  StickyNote,
  Workflow,
  Wrench,
  type LucideIcon,
} from "lucide-react";

const ICONS: Readonly<Record<string, LucideIcon>> = {
  blocks: Blocks,
  "book-open-text": BookOpenText,
  bot: Bot,
  box: Box,
  braces: Braces,
  brain: Brain,
  clock: Clock,
  code: Code,
  database: Database,
  equal: Equal,
  "file-text": FileText,
  globe: Globe,
  "list-checks": ListChecks,
  "message-circle-question": MessageCircleQuestion,
  search: Search,
  sparkles: Sparkles,
  split: Split,
  "sticky-note": StickyNote,
  workflow: Workflow,
  wrench: Wrench,
  __start__: Play,
  __end__: Flag,
};

export function KindIcon({ icon, size = 16 }: { icon: string; size?: number }) {
  const Icon = ICONS[icon] ?? Box;
  return <Icon size={size} aria-hidden />;
}
