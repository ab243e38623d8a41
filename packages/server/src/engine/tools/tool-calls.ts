import { AsyncLocalStorage } from 'node:async_hooks';
import type { ToolCall, ToolMedia } from '@vestra/agent/message';
import type { AnsweredMedia } from '@vestra/agent/own-tool';
import type { Tool } from '@vestra/agent/tool';
import { Failure } from '@vestra/contract/errors';
import { mapLimited } from '../../platform/async/limiter.ts';
import type { Database } from '../../platform/db/pool.ts';
import type { RunLease } from '../../platform/jobs/run-lease.ts';
import { recordFile, storeContent } from '../files/content.ts';
import { changeConversation } from '../records/change.ts';
import { approvedPrice } from '../records/interactions.ts';
import type { Attachment, RunSubject } from '../records/tables.ts';
import type { RunTools, ToolParts } from './ports.ts';

/** Per answer: no model looks at more, and each costs as much as a page of text. */
const maxMediaPerAnswer = 8;
const maxRecordingBytes = 4 * 1_048_576;

/**
 * Stores the pictures and recordings of a tool's answer, scaled to the size that models see. They are stored before the
 * answer is recorded, so that a process that resumes the run after a crash shows the model the same picture. `notes`
 * names each item that was not stored.
 */
export async function storeMedia(
  engine: ToolParts,
  subject: RunSubject,
  run: RunLease,
  answered: readonly AnsweredMedia[],
): Promise<{ media: ToolMedia[]; notes: string[] }> {
  const notes: string[] = [];
  const fitted: FittedMedia[] = [];
  for (const [at, each] of answered.entries()) {
    const made =
      at < maxMediaPerAnswer
        ? await fitMedia(engine, each)
        : { refused: `at most ${maxMediaPerAnswer} are shown at once` };
    if ('refused' in made) {
      notes.push(`[${each.mediaType}, ${each.content.byteLength} bytes, is not shown: ${made.refused}]`);
    } else fitted.push(made);
  }
  try {
    return { media: await storeAll(engine, subject, run, fitted), notes };
  } catch (error) {
    if (!(error instanceof Failure && error.code === 'not_ready')) throw error;
    // The tool has had its effect, so the run continues with the text of the answer.
    return { media: [], notes: [...notes, `[What came beside the text is not shown: ${error.message}]`] };
  }
}

/** `fileId` names a file that already has this content. */
type FittedMedia = {
  mediaType: string;
  content: Uint8Array;
  width: number | null;
  height: number | null;
  fileId?: string | undefined;
};

async function fitMedia(
  { fitPicture }: ToolParts,
  answered: AnsweredMedia,
): Promise<FittedMedia | { refused: string }> {
  const { mediaType, content, fileId } = answered;
  if (!mediaType.startsWith('audio/')) {
    const made = await fitPicture(content);
    // A scaled picture differs from the stored file, so it needs its own file.
    return 'content' in made && made.content === content ? { ...made, fileId } : made;
  }
  if (content.byteLength > maxRecordingBytes) return { refused: 'the recording is too large' };
  return { mediaType, content, width: null, height: null };
}

async function storeAll(
  engine: ToolParts,
  { turn, task }: RunSubject,
  run: RunLease,
  fitted: readonly FittedMedia[],
): Promise<ToolMedia[]> {
  const tenant = { orgId: turn.org_id, mode: turn.mode };
  const all = await mapLimited(4, fitted, async (each) => ({
    each,
    stored: each.fileId === undefined ? await storeContent(engine.db, engine.files, tenant.orgId, each.content) : null,
  }));
  if (all.every(({ stored }) => stored === null)) return fitted.map((each) => mediaOf(each, each.fileId as string));
  return changeConversation(engine, turn.conversation_id, run, async ({ tx }) => {
    const media: ToolMedia[] = [];
    for (const { each, stored } of all) {
      const { id } =
        stored === null
          ? { id: each.fileId as string }
          : await recordFile(tx, engine.files, tenant, {
              filename: `tool.${each.mediaType.split('/')[1]}`,
              content: stored,
              user_id: turn.user_id,
              source: 'tool',
              task_id: task?.id ?? null,
              conversation_id: turn.conversation_id,
            });
      media.push(mediaOf(each, id));
    }
    return media;
  });
}

const mediaOf = ({ mediaType, content, width, height }: FittedMedia, fileId: string): ToolMedia => ({
  fileId,
  mediaType,
  bytes: content.byteLength,
  width,
  height,
});

/**
 * Stores files that a tool returned, so that the agent can open them by name in this run and later ones. Returns a line
 * for each.
 */
export async function storeToolFiles(
  engine: ToolParts,
  { turn, task }: RunSubject,
  run: RunLease,
  returned: readonly { filename: string; content: Uint8Array }[],
): Promise<{ files: Attachment[]; notes: string[] }> {
  try {
    const stored = await mapLimited(4, returned, async ({ filename, content }) => ({
      filename,
      content: await storeContent(engine.db, engine.files, turn.org_id, content),
    }));
    const tenant = { orgId: turn.org_id, mode: turn.mode };
    return await changeConversation(engine, turn.conversation_id, run, async ({ tx }) => {
      const files: Attachment[] = [];
      for (const each of stored) {
        const { id } = await recordFile(tx, engine.files, tenant, {
          ...each,
          user_id: turn.user_id,
          source: 'tool',
          task_id: task?.id ?? null,
          conversation_id: turn.conversation_id,
        });
        files.push({ file_id: id, filename: each.filename });
      }
      const notes = files.map(
        ({ filename }) => `[${filename} is a file of this conversation now: open it with read_conversation_file.]`,
      );
      return { files, notes };
    });
  } catch (error) {
    if (!(error instanceof Failure && error.code === 'not_ready')) throw error;
    return { files: [], notes: [`[The files beside the text were not stored: ${error.message}]`] };
  }
}

/**
 * An approval covers the price that was shown, and hours may pass before the call. If the price has risen since, returns
 * the message for the agent. Null if the call may run.
 */
export async function refusalOfHigherPrice(
  db: Database,
  runId: string,
  call: ToolCall,
  { asksCreditUsd }: Tool,
): Promise<string | null> {
  if (asksCreditUsd === undefined) return null;
  const approved = await approvedPrice(db, runId, call.id);
  if (approved !== null && asksCreditUsd <= approved) return null;
  return `A call now costs ${asksCreditUsd} US dollars, which the person has not approved. It was not called: call it again, and the person is asked again.`;
}

/** A report of progress needs a transaction, and nobody reads several in a second. */
const reportPauseMs = 1_000;

/** Publishes the progress of a call while it runs. Reports that come too soon are dropped, except for a later one. */
export function createProgressReports(
  engine: ToolParts,
  { turn, task }: RunSubject,
  run: RunLease,
  call: ToolCall,
): (text: string) => void {
  let lastAt = 0;
  let last = '';
  let isBusy = false;
  return (text) => {
    if (isBusy || text === '' || text === last || Date.now() - lastAt < reportPauseMs) return;
    isBusy = true;
    last = text;
    const data = { call_id: call.id, name: call.name, text };
    // A report that cannot be stored is not worth failing the call.
    void changeConversation(engine, turn.conversation_id, run, async (change) => {
      change.log({ type: 'tool_call.progress', taskId: task?.id ?? null, turnId: turn.id, data });
    })
      .catch(() => {})
      .finally(() => {
        isBusy = false;
        lastAt = Date.now();
      });
  };
}

const cancelTimeoutMs = 10_000;

/** Tracks calls that tools continue in the background, so that they can be cancelled when the run ends. */
export function trackBackgroundCalls(inner: RunTools): { tools: RunTools; cancel: () => void } {
  const calls = new Map<string, { tool: Tool; handle: unknown }>();
  const tools: RunTools = {
    ...inner,
    async run(call, tool, signal, soFar) {
      if (soFar.underWay !== undefined) calls.set(call.id, { tool, handle: soFar.underWay });
      const outcome = await inner.run(call, tool, signal, soFar);
      if (outcome.kind === 'under_way') calls.set(call.id, { tool, handle: outcome.handle });
      else if (outcome.kind === 'result') calls.delete(call.id);
      return outcome;
    },
  };
  return {
    tools,
    cancel() {
      const signal = AbortSignal.timeout(cancelTimeoutMs);
      for (const { tool, handle } of calls.values()) void inner.cancel(tool, handle, signal).catch(() => {});
    },
  };
}

/**
 * The code that starts a computer reports it through this store and need not know for which tool call. Several tools
 * start one: those of the computer and the browser, `use_skill` and `save_output`.
 */
const meters = new AsyncLocalStorage<() => Promise<void>>();

/** Runs a tool call. `start` is called when a computer runs for it, possibly more than once. */
export const withComputerMeter = <T>(start: () => Promise<void>, call: () => Promise<T>): Promise<T> =>
  meters.run(start, call);

/** Reports that a computer now runs for the current tool call. */
export const reportComputerStart = async (): Promise<void> => meters.getStore()?.();
