import type { ToolDefinition } from '@vestra/agent/message';
import { listOf, nodeOf } from './schema/schema-node.ts';
import { coverage, stemsOf } from './words.ts';

/** Tools with a fixed role in a conversation are never called because of a matching word. */
export const ownPart = new Set([
  'hand_off_to_work',
  'ask_question',
  'request_handoff',
  'search_notebooks',
  'recall',
  'read_document',
  'read_conversation_file',
  'pass_on_answer',
  'tell_work',
  'stop_work',
  'use_skill',
  'update_plan',
  'connect_app',
  'finish',
]);

/** Built-in tools have long descriptions that match many messages, so each has its own trigger words. */
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
/** Limits the work: each part is compared with every tool. */
const mostParts = 100;

/**
 * A tool that a part of a message asks for. `isNamed`: the part contains its full name. `isAnswer`: the message answers
 * a question about the tool's arguments.
 */
export type WantedTool = { tool: ToolDefinition; part: string; isNamed: boolean; isAnswer?: true };

/** Returns the tools that the parts of a message ask for, in the order of the parts. */
export function fittingTools(message: string, tools: readonly ToolDefinition[]): WantedTool[] {
  const parts = message
    .split(/(?:[,;]|\band\b)?\s{0,20}\bthen\b|\band (?=\p{Ll})|;|(?<=[.!?])\s+/u)
    .filter((part) => part?.trim())
    .slice(0, mostParts);
  const found = parts.flatMap((part) => best(part.trim(), tools) ?? []);
  if (found.length === 0) return [best(message, tools)].filter((each) => each !== null);
  return found.filter(({ tool }, index) => found.findIndex((other) => other.tool === tool) === index);
}

function best(part: string, tools: readonly ToolDefinition[]): WantedTool | null {
  // Ids and numbers are arguments, not hints at a tool.
  const stems = [...new Set(stemsOf(part))].filter((stem) => !/\d/.test(stem));
  const [first] = tools
    .filter(({ name }) => !ownPart.has(name))
    .map((tool) => ({ tool, part, ...fitOf(tool, part, stems) }))
    .filter(({ score }) => score >= enough)
    .sort((left, right) => right.score - left.score);
  return first ?? null;
}

/**
 * A full name is enough. A partial name needs support from the description, and so do several words of the description.
 */
function fitOf(tool: ToolDefinition, part: string, stems: readonly string[]): { score: number; isNamed: boolean } {
  const trigger = callsFor[tool.name];
  if (trigger) return trigger.test(part) ? { score: 2, isNamed: true } : { score: 0, isNamed: false };
  // "What did you find out?" shares only the generic search word with `find_order`.
  if (stems.every((stem) => anyLook.has(stem))) return { score: 0, isNamed: false };
  const named = coverage(stemsOf(tool.name.replace(/^mcp__.+?__/, '').replaceAll(/[_-]/g, ' ')), new Set(stems));
  const vocabulary = new Set(stemsOf([tool.description, ...optionsOf(tool)].join(' ')));
  const described = coverage(stems, vocabulary);
  const isDescribed = described > 0.5 && stems.filter((stem) => vocabulary.has(stem)).length >= 3;
  const score = named * 0.6 + described * 0.5 + (named > 0 && described > 0 ? 0.1 : 0) + (isDescribed ? 0.25 : 0);
  return { score, isNamed: named === 1 };
}

const anyLook = new Set(stemsOf('find get look list show search fetch check read see'));

/** The enum values of its arguments. */
const optionsOf = ({ inputSchema }: ToolDefinition): string[] =>
  Object.values(nodeOf(inputSchema.properties)).flatMap((property) => listOf(nodeOf(property).enum).map(String));
