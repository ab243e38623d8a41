import { withoutCredentials } from '@vestra/agent/credential';
import { Failure } from '@vestra/contract/errors';
import { type Manifest, versionOf } from '../../agents/versions/index.ts';
import type { Executor } from '../../platform/db/pool.ts';
import { readHistory } from './history-store.ts';
import { findMessage } from './messages.ts';
import { excerptOf } from './previews.ts';
import type { CallRow, StepRow, TaskRow, TurnRow } from './tables.ts';

/** Longer texts are cut, so that a trace of a hundred steps stays readable. */
const maxTextLength = 20_000;
/** A trace shows the newest messages that the model was sent. */
const maxMessages = 50;

/** Card numbers and account numbers in any text. */
const longNumbers = /\b\d(?:[ -]?\d){12,18}\b/g;
/** The agent may type a password that the user wrote. */
const typingTools = new Set(['browser_type', 'computer']);
const hidden = '•••';

/** The stored part of a request: the settings of the version and the messages before the reply. */
export async function sentContent(db: Executor, turn: TurnRow, task: TaskRow | null) {
  const manifest = await manifestOfTurn(db, turn);
  const { before } = await readHistory(db, turn);
  const asked = await findMessage(db, turn.conversation_id, turn.message_id);
  const messages = [
    ...(turn.base_summary === null ? [] : [{ role: 'summary' as const, text: turn.base_summary }]),
    ...[...before, ...(asked ? [asked] : [])].map(({ role, text }) => ({ role, text })),
    ...(task?.brief ? [{ role: 'brief' as const, text: task.brief }] : []),
  ];
  const servers = (manifest?.mcp_servers ?? []).map(({ slug }) => ({
    name: `mcp__${slug}__*`,
    description: `Tools of the server ${slug}.`,
  }));
  return {
    instructions: manifest && shownText(manifest.instructions),
    messages: messages.slice(-maxMessages).map(({ role, text }) => ({ role, text: shownText(text) })),
    messages_left_out: Math.max(0, messages.length - maxMessages),
    tools: [...(manifest?.tools ?? []).map(({ function: name, description }) => ({ name, description })), ...servers],
    not_stored: [...notStored],
  };
}

/** Null: the deployment was deleted with its versions. Its conversations stay. */
async function manifestOfTurn(db: Executor, turn: TurnRow): Promise<Manifest | null> {
  try {
    return (await versionOf(db, turn.deployment_id, turn.deployment_version)).manifest;
  } catch (error) {
    if (error instanceof Failure && error.code === 'version_not_found') return null;
    throw error;
  }
}

/** Parts of a request that the server creates for each call and does not store. */
const notStored = ['platform_instructions', 'memory', 'attachments', 'platform_tools'] as const;

/** The answer of a model call: its text and the tools that it called. */
export const answerContent = ({ kind, text, step_index }: StepRow, calls: readonly CallRow[]) => ({
  text: kind === 'failed' ? '' : shownText(text),
  tool_use_ids: calls.filter((call) => call.step_index === step_index).map(({ id }) => id),
});

/** The input and output of a tool call. */
export const callContent = ({ name, arguments: given, output }: CallRow) => ({
  input: shownValue(typingTools.has(name) ? withoutText(given) : given),
  output: output === null ? null : shownText(output),
});

/** The text without credentials and card numbers. */
export const shownText = (text: string): string => {
  const shown = String(withoutCredentials('', text, maxTextLength)).replace(longNumbers, hidden);
  return text.length > maxTextLength ? `${shown.replace(/[\ud800-\udbff]$/, '')}…` : shown;
};

/** The first words of a text in one line. Credentials and card numbers are hidden, as in a trace. */
export const shownExcerpt = (text: string, max: number): string => excerptOf(shownText(text), max);

function shownValue(value: unknown): unknown {
  const clean = withoutCredentials('', value, maxTextLength);
  return JSON.parse(JSON.stringify(clean ?? null), (_name, each) =>
    typeof each === 'string' ? each.replace(longNumbers, hidden) : each,
  );
}

function withoutText(given: unknown): unknown {
  if (typeof given !== 'object' || given === null) return given;
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, /^(text|value|keys?)$/i.test(name) ? hidden : value]),
  );
}
