import { AsyncLocalStorage } from 'node:async_hooks';
import type { ToolCall, ToolMedia } from '@vestra/agent/message';
import type { AnsweredMedia } from '@vestra/agent/own-tool';
import type { Tool } from '@vestra/agent/tool';
import { Failure } from '@vestra/contract/errors';
import { mapLimited } from '../../platform/async/map-limited.ts';
import type { Database } from '../../platform/db/pool.ts';
import type { Run } from '../../platform/jobs/run-owner.ts';
import { keepFile, storeContent } from '../files/keep.ts';
import { changeConversation } from '../records/change.ts';
import { approvedPrice } from '../records/interactions.ts';
import type { Subject } from '../records/subject.ts';
import type { RunTools, ToolParts } from './ports.ts';

/** Of one answer: no model looks at more, and each costs as much as a page of text. */
const mostOfAnswer = 8;
const largestRecording = 4 * 1_048_576;

/**
 * Keeps what a tool answered with beside its text, made as small as models see it. It is kept before the answer is
 * recorded, so that whoever goes on with the run after a crash shows the model the same picture. `notes` name what is
 * not kept.
 */
export async function keepMedia(
  engine: ToolParts,
  subject: Subject,
  run: Run,
  answered: readonly AnsweredMedia[],
): Promise<{ media: ToolMedia[]; notes: string[] }> {
  const notes: string[] = [];
  const fitting: Fitting[] = [];
  for (const [at, each] of answered.entries()) {
    const made = at < mostOfAnswer ? await fit(engine, each) : { refused: `at most ${mostOfAnswer} are shown at once` };
    if ('refused' in made) {
      notes.push(`[${each.mediaType}, ${each.content.byteLength} bytes, is not shown: ${made.refused}]`);
    } else fitting.push(made);
  }
  try {
    return { media: await keepAll(engine, subject, run, fitting), notes };
  } catch (error) {
    if (!(error instanceof Failure && error.code === 'not_ready')) throw error;
    // What the tool did is done: the run goes on with its words.
    return { media: [], notes: [...notes, `[What came beside the text is not shown: ${error.message}]`] };
  }
}

/** `fileId`: of a file that holds it already. */
type Fitting = {
  mediaType: string;
  content: Uint8Array;
  width: number | null;
  height: number | null;
  fileId?: string | undefined;
};

async function fit({ fitPicture }: ToolParts, answered: AnsweredMedia): Promise<Fitting | { refused: string }> {
  const { mediaType, content, fileId } = answered;
  if (!mediaType.startsWith('audio/')) {
    const made = await fitPicture(content);
    // One that was made smaller is another than the one that the person has.
    return 'content' in made && made.content === content ? { ...made, fileId } : made;
  }
  if (content.byteLength > largestRecording) return { refused: 'the recording is too large' };
  return { mediaType, content, width: null, height: null };
}

async function keepAll(
  engine: ToolParts,
  { turn, task }: Subject,
  run: Run,
  fitting: readonly Fitting[],
): Promise<ToolMedia[]> {
  const tenant = { orgId: turn.org_id, mode: turn.mode };
  const all = await mapLimited(4, fitting, async (each) => ({
    each,
    stored: each.fileId === undefined ? await storeContent(engine.db, engine.files, tenant.orgId, each.content) : null,
  }));
  if (all.every(({ stored }) => stored === null)) return fitting.map((each) => mediaOf(each, each.fileId as string));
  return changeConversation(engine, turn.conversation_id, run, async ({ tx }) => {
    const media: ToolMedia[] = [];
    for (const { each, stored } of all) {
      const { id } =
        stored === null
          ? { id: each.fileId as string }
          : await keepFile(tx, engine.files, tenant, {
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

const mediaOf = ({ mediaType, content, width, height }: Fitting, fileId: string): ToolMedia => ({
  fileId,
  mediaType,
  bytes: content.byteLength,
  width,
  height,
});

/**
 * A yes is to the price that was shown, and hours may lie between it and the call: what has become dearer since is not
 * called. Null where it may be; else what the agent is told.
 */
export async function priceAboveApproved(
  db: Database,
  runId: string,
  call: ToolCall,
  { asksCreditUsd }: Tool,
): Promise<string | null> {
  if (asksCreditUsd === undefined) return null;
  const approved = await approvedPrice(db, runId, call.id);
  if (approved !== null && asksCreditUsd <= approved) return null;
  return `A call now costs ${asksCreditUsd} US dollars, which nobody has said yes to. It was not called: call it again, and the person is asked anew.`;
}

const longestMs = 10_000;

/** Knows which calls of a run their tools go on with by themselves, so that these hear it when nobody waits any more. */
export function createUnderWay(inner: RunTools): { tools: RunTools; cancel: () => void } {
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
      const signal = AbortSignal.timeout(longestMs);
      for (const { tool, handle } of calls.values()) void inner.cancel(tool, handle, signal).catch(() => {});
    },
  };
}

/**
 * Whoever has the computer run for a call of a tool says so here, at the moment when it does, and need not know for which
 * call: the tools of the computer and the browser, and what places skills and reads outputs, all come past the same spot.
 */
const meters = new AsyncLocalStorage<() => Promise<void>>();

/** Runs the call of a tool; `start` hears once the computer runs for it. */
export const meteringComputer = <T>(start: () => Promise<void>, call: () => Promise<T>): Promise<T> =>
  meters.run(start, call);

/** The computer runs from now on. */
export const computerRuns = async (): Promise<void> => meters.getStore()?.();
