import type { ModelStep, RecordedCall } from '@vestra/agent/step';
import { reservedToolNames } from '@vestra/contract/reserved-names';
import type { Tenant } from '../../platform/caller.ts';
import type { Executor } from '../../platform/db/pool.ts';
import type { Memory } from '../../users/index.ts';
import { findFiles } from '../files/store.ts';
import type { MessageRow } from '../records/tables.ts';
import { modelStepsOf } from '../records/trace-store.ts';
import { type ReadsFiles, textOfFile } from '../tools/own/conversation-files.ts';

type Line = Parameters<Memory['keepTurn']>[1]['lines'][number];
type Passage = Parameters<Memory['keepTurn']>[1]['passages'][number];

/** What was done for the messages, by the id of the turn or of its work. */
export type Recorded = ReadonlyMap<string, readonly ModelStep[]>;

/** Enough to know what a tool or a file was about; whoever needs the rest looks again. */
const mostPassages = 24;

export async function recordedOf(db: Executor, said: readonly MessageRow[]): Promise<Recorded> {
  const runs = said.flatMap((message) => runOf(message) ?? []);
  return runs.length === 0 ? new Map() : modelStepsOf(db, runs);
}

/** Each run once: a reply belongs to what was asked, work to its result. */
const runOf = ({ role, turn_id, task_id }: MessageRow) =>
  role === 'user' ? turn_id : role === 'work' ? task_id : null;

/** What was said, with what the person was asked in between and answered. */
export function linesOf(said: readonly MessageRow[], recorded: Recorded): Line[] {
  return said.flatMap((message) => {
    const spoken: Line = { by: message.role === 'user' ? 'user' : 'agent', text: message.text };
    const answers = callsOf(message, recorded).flatMap(answeredLines);
    return message.role === 'user' ? [spoken, ...answers] : [...answers, spoken];
  });
}

/** What tools answered, pages showed and files held. */
export async function passagesOf(
  engine: ReadsFiles,
  tenant: Tenant,
  said: readonly MessageRow[],
  recorded: Recorded,
): Promise<Passage[]> {
  const attached = said.flatMap(({ attachments }) => attachments);
  const rows = new Map(
    (
      await findFiles(
        engine.db,
        tenant,
        attached.map(({ file_id }) => file_id),
      )
    ).map((row) => [row.id, row]),
  );
  const uploads: Passage[] = [];
  for (const { file_id, filename } of attached.slice(0, mostPassages)) {
    const row = rows.get(file_id);
    const text = row && (await textOfFile(engine, row, filename));
    if (text) uploads.push({ source: 'upload', name: filename, text });
  }
  const shown = said.flatMap((message) => callsOf(message, recorded)).flatMap((each) => shownBy(each) ?? []);
  return [...uploads, ...shown].slice(0, mostPassages);
}

function callsOf(message: MessageRow, recorded: Recorded): readonly RecordedCall[] {
  const run = runOf(message);
  return run === null ? [] : (recorded.get(run) ?? []).flatMap(({ calls }) => calls);
}

/** Of several questions asked at once the answer repeats the agent's words: what stands in it is not the person's alone. */
function answeredLines({ call, result }: RecordedCall): Line[] {
  if (call.name !== 'ask_question' || result?.from !== 'person' || result.isError) return [];
  const { question, also } = call.arguments as { question?: unknown; also?: unknown };
  if (typeof question !== 'string' || (Array.isArray(also) && also.length > 0))
    return [{ by: 'agent', text: `Asked, and was answered:\n${result.output}` }];
  return [
    { by: 'agent', text: question },
    { by: 'user', text: result.output },
  ];
}

/** Of the agent's own tools only these bring in what was not known here. */
const ownSources: Partial<Record<string, Passage['source']>> = {
  read_conversation_file: 'upload',
  run_command: 'tool_observed',
  read_file: 'tool_observed',
  browser_open: 'screen',
  browser_read: 'screen',
  browser_click: 'screen',
  browser_type: 'screen',
  browser_scroll: 'screen',
};

function shownBy({ call, result }: RecordedCall): Passage | null {
  if (result?.from !== 'tool' || result.isError || result.output.trim() === '') return null;
  const source = reservedToolNames.has(call.name) ? ownSources[call.name] : 'tool_observed';
  return source === undefined ? null : { source, name: call.name, text: result.output };
}
