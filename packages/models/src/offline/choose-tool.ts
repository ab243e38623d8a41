import type { ToolDefinition } from '@vestra/agent/message';
import { coverage, stemsOf } from './words.ts';

/** Tools with a part of their own in a conversation: they are called for what they are for, never because a word fits. */
export const ownPart = new Set([
  'hand_off_to_work',
  'ask_question',
  'request_handoff',
  'search_notebooks',
  'recall',
  'read_document',
  'use_skill',
  'update_plan',
  'connect_app',
  'finish',
]);

/** The agent's own tools have long descriptions that many messages share words with: each has words that call for it. */
const callsFor: Record<string, RegExp> = {
  remember: /^(please )?(remember|note|keep in mind)\b/i,
  run_command: /\b(run|execute)\b.*`[^`]+`|\brun (the )?command\b/i,
  read_file: /\b(read|open|show)\b.*\bfile\b/i,
  write_file: /\b(write|save|create)\b.*\bfile\b/i,
  list_files: /\b(list|show|which|what)\b.*\bfiles\b/i,
  save_output: /\bsave\b.*\boutput\b/i,
  browser_open: /\b(open|visit|go to|browse)\b.*\bhttps?:\/\//i,
  browser_read: /\bread\b.*\bpage\b/i,
  browser_click: /\bclick\b/i,
  browser_type: /\btype\b.*\binto\b/i,
  browser_scroll: /\bscroll\b/i,
  browser_screenshot: /\bscreenshot\b/i,
  browser_close: /\bclose\b.*\bbrowser\b/i,
  routines_add:
    /\b(every|each) (day|week|month|hour|morning|monday|tuesday|wednesday|thursday|friday|saturday|sunday|\d+)/i,
  routines_list: /\b(list|show|which|what)\b.*\broutines\b/i,
  routines_remove: /\b(remove|delete|stop|cancel)\b.*\broutine\b/i,
};

const enough = 0.5;

/** The tools that the parts of a message ask for, in the order of the parts. `part` is what asked for it. */
export function fittingTools(
  message: string,
  tools: readonly ToolDefinition[],
): { tool: ToolDefinition; part: string }[] {
  const parts = message
    .split(/(?:[,;]|\band\b)?\s*\bthen\b|\band (?=\p{Ll})|;|(?<=[.!?])\s+/u)
    .filter((part) => part?.trim());
  const found = parts.flatMap((part) => {
    const tool = best(part, tools);
    return tool ? [{ tool, part: part.trim() }] : [];
  });
  if (found.length === 0) {
    const tool = best(message, tools);
    return tool ? [{ tool, part: message }] : [];
  }
  return found.filter(({ tool }, index) => found.findIndex((other) => other.tool === tool) === index);
}

function best(part: string, tools: readonly ToolDefinition[]): ToolDefinition | null {
  const stems = [...new Set(stemsOf(part))];
  const scored = tools
    .filter(({ name }) => !ownPart.has(name))
    .map((tool) => ({ tool, score: scoreOf(tool, part, stems) }))
    .filter(({ score }) => score >= enough)
    .sort((left, right) => right.score - left.score);
  return scored[0]?.tool ?? null;
}

/** A name that is said in full is enough; half a name needs help from the description. */
function scoreOf({ name, description }: ToolDefinition, part: string, stems: readonly string[]): number {
  const trigger = callsFor[name];
  if (trigger) return trigger.test(part) ? 2 : 0;
  const said = new Set(stems);
  const nameStems = stemsOf(name.replace(/^mcp__.+?__/, '').replaceAll(/[_-]/g, ' '));
  const named = coverage(nameStems, said);
  const described = coverage(stems, new Set(stemsOf(description)));
  return named * 0.6 + described * 0.5 + (named > 0 && described > 0 ? 0.1 : 0);
}
