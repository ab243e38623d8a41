import {
  type CallToolResult,
  type Client,
  isCallToolResult,
  isJSONRPCResultResponse,
  ProtocolError,
  SdkHttpError,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { type Answering, type AskedQuestions, answeredIn, answersTo, type TaskHandle } from './server-requests.ts';

export type UnderWay = { handle: TaskHandle; askAgainMs: number };

/** The extension of the protocol by which a server may answer a call with a task. */
export const tasksExtension = 'io.modelcontextprotocol/tasks';

const shortestPauseMs = 500;
const longestPauseMs = 60_000;
const usualPauseMs = 2_000;
/** With the longest pauses between them a server may be away for about a quarter of an hour. */
const mostUnheard = 20;
const longestTaskId = 1024;

const created = z.looseObject({
  resultType: z.literal('task'),
  taskId: z.string().min(1).max(longestTaskId),
  pollIntervalMs: z.number().optional(),
});

/**
 * The client takes every result for broken that is neither complete nor a question. A task is noted here, and goes on as a
 * complete answer of nothing.
 */
export function createTaskNote() {
  let noted: UnderWay | null = null;
  return {
    listenTo({ transport }: Client): void {
      const hear = transport?.onmessage;
      if (!transport || !hear) return;
      transport.onmessage = (message, extra) => {
        const task = isJSONRPCResultResponse(message) ? created.safeParse(message.result) : null;
        if (!task?.success) return hear(message, extra);
        const { taskId, pollIntervalMs } = task.data;
        noted = { handle: { taskId, answered: [], unheard: 0 }, askAgainMs: pauseOf(pollIntervalMs) };
        hear({ ...message, result: { resultType: 'complete', content: [] } } as typeof message, extra);
      };
    },
    taken: () => noted,
  };
}

const detailed = z.looseObject({
  status: z.enum(['working', 'input_required', 'completed', 'cancelled', 'failed']),
  pollIntervalMs: z.number().optional(),
  inputRequests: z.record(z.string(), z.looseObject({ method: z.string() })).optional(),
  result: z.unknown().optional(),
  error: z.looseObject({ code: z.number().optional(), message: z.string().optional() }).optional(),
});

/** How far the task has come. What it asked and is answered now is told first. */
export async function followTask(
  client: Client,
  { taskId, answered: before }: TaskHandle,
  answering: Answering,
  timeout: number,
): Promise<{ result: CallToolResult } | { asked: AskedQuestions } | { underWay: UnderWay }> {
  let answered = before;
  const tell = async (inputResponses: Record<string, unknown>) => {
    if (Object.keys(inputResponses).length === 0) return;
    await client.request({ method: 'tasks/update', params: { taskId, inputResponses } }, z.looseObject({}), {
      timeout,
    });
    answered = [...new Set([...answered, ...Object.keys(inputResponses)])];
  };
  const handle = (): TaskHandle => ({ taskId, answered, unheard: 0 });

  await tell(answering.asking ? answeredIn(answering.asking) : {});
  const task = await client.request({ method: 'tasks/get', params: { taskId } }, detailed, { timeout });
  switch (task.status) {
    case 'working':
      break;
    case 'input_required': {
      const open = Object.entries(task.inputRequests ?? {}).filter(([key]) => !answered.includes(key));
      const { questions, given } = await answersTo(open, answering);
      if (Object.keys(questions).length > 0) {
        return { asked: { questions, given, state: null, isHeld: false, task: handle() } };
      }
      await tell(given);
      break;
    }
    case 'completed':
      if (!isCallToolResult(task.result)) throw new ProtocolError(-32603, 'The task ended with no answer of a tool.');
      return { result: task.result };
    case 'cancelled':
      return { result: { content: [{ type: 'text', text: 'The server has cancelled the call.' }], isError: true } };
    case 'failed':
      throw new ProtocolError(task.error?.code ?? -32603, task.error?.message ?? 'The task failed.');
  }
  return { underWay: { handle: handle(), askAgainMs: pauseOf(task.pollIntervalMs) } };
}

export async function cancelTask(client: Client, { taskId }: TaskHandle, timeout: number): Promise<void> {
  await client.request({ method: 'tasks/cancel', params: { taskId } }, z.looseObject({}), { timeout });
}

/** Whether the task may be going on although nothing was heard of it this time; null where it is asked for no more. */
export function unheardOf(handle: TaskHandle, error: unknown): UnderWay | null {
  const isSaid =
    error instanceof ProtocolError ||
    (error instanceof SdkHttpError && error.status !== undefined && isRefusal(error.status));
  if (isSaid || handle.unheard >= mostUnheard) return null;
  const unheard = handle.unheard + 1;
  return { handle: { ...handle, unheard }, askAgainMs: Math.min(longestPauseMs, shortestPauseMs * 2 ** unheard) };
}

const isRefusal = (status: number) => status >= 400 && status < 500 && ![408, 425, 429].includes(status);

const pauseOf = (given: number | undefined) =>
  Math.min(longestPauseMs, Math.max(shortestPauseMs, given ?? usualPauseMs));
