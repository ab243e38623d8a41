import { type ApprovalCategory, approvalCategory } from './approval-category.ts';
import { withoutCredentials } from './credential.ts';
import type { InteractionDraft } from './interaction.ts';
import type { ToolCall } from './message.ts';
import { ownNameOf, type Tool } from './tool.ts';

const summaryLength = 120;
const descriptionLength = 200;
const rowCount = 8;
const rowLabelLength = 64;
const rowValueLength = 200;
const approvalSeconds = 24 * 60 * 60;

/**
 * Builds the approval request for the user or the org. `approvals` is the deployment's list: it only labels the request
 * and never adds or removes one.
 */
export function permissionFor(tool: Tool, call: ToolCall, approvals: readonly ApprovalCategory[]): InteractionDraft {
  const category = listedCategory(tool, approvals);
  const price = tool.asksCreditUsd;
  const approver = tool.approver ?? 'user';
  const left = argumentsOf(call).length - rowCount;
  return {
    kind: price === undefined ? 'tool_permission' : 'credit_approval',
    type: 'approval',
    summary: summaryOf(tool, call),
    moves_money: tool.origin.from === 'function' ? null : category === 'payment' || price !== undefined,
    // The org answers with a key or through a member, so no present user is needed.
    requires_present_user: approver === 'user' && (category === 'payment' || price !== undefined),
    approver,
    details: {
      tool_name: ownNameOf(tool),
      ...(tool.server === null ? {} : { server: tool.server }),
      ...(category === null ? {} : { category }),
      ...(price === undefined ? {} : { price_usd: price }),
      ...said('description', cut(firstSentence(tool.definition.description), descriptionLength)),
      rows: rowsOf(tool, call),
      ...(left > 0 && { more_rows: left }),
    },
    expires_in_s: approvalSeconds,
  };
}

/** Builds the interaction that carries a function call to the caller's code. */
export function functionCallFor(tool: Tool, call: ToolCall, timeoutSeconds: number): InteractionDraft {
  return {
    kind: 'custom',
    type: 'tool_call',
    summary: summaryOf(tool, call),
    moves_money: null,
    requires_present_user: false,
    details: { tool_name: ownNameOf(tool), rows: rowsOf(tool, call), renderer: 'tool_call' },
    expires_in_s: timeoutSeconds,
  };
}

function listedCategory(tool: Tool, approvals: readonly ApprovalCategory[]): ApprovalCategory | null {
  const category =
    tool.category === undefined ? approvalCategory(ownNameOf(tool), tool.definition.description) : tool.category;
  return category !== null && approvals.includes(category) ? category : null;
}

/**
 * Joins the first sentence of the description, the tool's name and the arguments. Parts that do not fit are dropped in
 * that order.
 */
function summaryOf(tool: Tool, call: ToolCall): string {
  const name = oneLine(ownNameOf(tool));
  const shown = argumentsOf(call).map(([label, value]) => `${oneLine(label)}: ${quotedWhereUnclear(value)}`);
  const plain = [name, ...shown].join(', ');
  const whole = `${firstSentence(tool.definition.description)} ${plain}`.trim();
  if (whole.length <= summaryLength) return whole;
  if (plain.length <= summaryLength) return plain;
  return shortened(name, shown);
}

function shortened(name: string, shown: readonly string[]): string {
  if (shown.length === 0) return cut(name, summaryLength);
  // The count only falls as arguments are added, so reserving space for the largest count is enough.
  const room = summaryLength - more(shown.length).length;
  let text = cut(name, room);
  let leftOut = 0;
  for (const each of shown) {
    if (text.length + 2 + each.length > room) leftOut += 1;
    else text += `, ${each}`;
  }
  return text + more(leftOut);
}

const more = (count: number) => `, and ${count} more`;

/** `label` is the argument's name. `title` is the human-readable title from its schema. */
function rowsOf({ definition }: Tool, call: ToolCall): { label: string; title?: string; value: string }[] {
  const properties = recordOf(definition.inputSchema.properties);
  return argumentsOf(call)
    .slice(0, rowCount)
    .map(([label, value]) => ({
      label: cut(oneLine(label), rowLabelLength),
      ...said('title', cut(titleOf(properties, label), rowLabelLength)),
      value: cut(shownValue(value), rowValueLength),
    }));
}

function titleOf(properties: Record<string, unknown>, label: string): string {
  const { title } = recordOf(Object.hasOwn(properties, label) ? properties[label] : null);
  return typeof title === 'string' ? oneLine(title) : '';
}

const recordOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

/** Omits the field if the text is empty. */
const said = <Name extends string>(name: Name, text: string) =>
  (text === '' ? {} : { [name]: text }) as { [name in Name]?: string };

function argumentsOf({ arguments: given }: ToolCall): [string, unknown][] {
  if (typeof given !== 'object' || given === null) return [];
  return Object.entries(given).map(([label, value]) => [label, withoutCredentials(label, value)]);
}

function firstSentence(description: string): string {
  const [first] = new Intl.Segmenter('en', { granularity: 'sentence' }).segment(description.trim());
  const sentence = oneLine(first?.segment ?? '');
  return sentence === '' || /[.!?。！？]$/u.test(sentence) ? sentence : `${sentence}.`;
}

const shownValue = (value: unknown) => oneLine(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

/** Quotes the value, so that it cannot look like a further argument. */
function quotedWhereUnclear(value: unknown): string {
  const shown = shownValue(value);
  return typeof value === 'string' && /[,:"]/.test(shown) ? JSON.stringify(shown) : shown;
}

/** Control and direction characters could make a person read a different text than the tool receives. */
function oneLine(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .replace(/\s+/gu, ' ')
    .trim();
}

/** Counts UTF-16 units, which is the largest of the usual counts. Never splits a surrogate pair. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
