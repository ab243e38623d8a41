import type { JsonSchema } from '@vestra/agent/message';
import type { OfferedTool } from '../mcp-client/list-tools.ts';
import { cutText } from './cut-text.ts';

/** Tools that a model is offered in all: some vendors refuse a request with more. */
export const mostToolsAtOnce = 128;

const longestDescription = 1024;
const largestSchema = 64 * 1024;
const deepestSchema = 32;

/** As much of a description as a model is shown, with a word where it goes on. */
export function shownDescription(description: string): string {
  const cut = cutText(description, longestDescription);
  return cut === description ? cut : `${cut} … (cut)`;
}

export const isTooLarge = (schema: JsonSchema): boolean =>
  depthOf(schema) > deepestSchema || JSON.stringify(schema).length > largestSchema;

export const schemaLeftOut = '(Its input is too large to be described here: the server says what is wrong with it.)';

/** What an agent does not see of a server's tools, for whoever set the server up. */
export function notesOn(tools: readonly OfferedTool[], isCut: boolean, shown: (text: string) => string): string[] {
  const name = (tool: OfferedTool) => `\`${shown(tool.name).slice(0, 128)}\``;
  const long = tools.filter(({ description }) => cutText(description, longestDescription) !== description);
  const large = tools.filter(({ inputSchema }) => isTooLarge(inputSchema));
  return [
    ...(isCut ? [`The server lists more than ${tools.length} tools; those behind are never used.`] : []),
    ...(tools.length > mostToolsAtOnce
      ? [
          `It has ${tools.length} tools, and an agent is offered ${mostToolsAtOnce} in all: deny those it does not need.`,
        ]
      : []),
    ...long.map(
      (tool) => `Of the description of ${name(tool)} an agent reads the first ${longestDescription} characters.`,
    ),
    ...large.map(
      (tool) =>
        `The input schema of ${name(tool)} is larger than ${largestSchema / 1024} KB and not shown to an agent.`,
    ),
  ].slice(0, 50);
}

/** Stops where it is deep enough to be refused. */
function depthOf(value: unknown, level = 0): number {
  if (typeof value !== 'object' || value === null || level > deepestSchema) return level;
  return Object.values(value).reduce((deep: number, inner) => Math.max(deep, depthOf(inner, level + 1)), level + 1);
}
