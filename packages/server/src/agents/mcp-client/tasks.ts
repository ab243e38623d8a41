import {
  type CallToolResult,
  type Client,
  isCallToolResult,
  isJSONRPCResultResponse,
  ProtocolError,
  SdkHttpError,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import {
  type AnswerSources,
  type AskedQuestions,
  answerRequests,
  responsesOf,
  type TaskHandle,
} from './server-requests.ts';

export type RunningTask = { handle: TaskHandle; askAgainMs: number };

/** The protocol extension that lets a server answer a call with a task. */
export const tasksExtension = 'io.modelcontextprotocol/tasks';

const minPauseMs = 500;
const maxPauseMs = 60_000;
const defaultPauseMs = 2_000;
/** With the longest pauses, a server may be unreachable for about a quarter of an hour. */
const maxFailedPolls = 20;
const maxTaskIdLength = 1024;

const created = z.looseObject({
  resultType: z.literal('task'),
  taskId: z.string().min(1).max(maxTaskIdLength),
  pollIntervalMs: z.number().optional(),
});

/**
 * The client rejects any result that is neither complete nor a question. This intercepts a task and passes an empty
 * complete answer to the client.
 */
export function createTaskInterceptor() {
  let noted: RunningTask | null = null;
  return {
    listenTo({ transport }: Client): void {
      const receive = transport?.onmessage;
      if (!transport || !receive) return;
      transport.onmessage = (message, extra) => {
        const task = isJSONRPCResultResponse(message) ? created.safeParse(message.result) : null;
        if (!task?.success) return receive(message, extra);
        const { taskId, pollIntervalMs } = task.data;
        noted = { handle: { taskId, answered: [], unheard: 0 }, askAgainMs: pauseOf(pollIntervalMs) };
        receive({ ...message, result: { resultType: 'complete', content: [] } } as typeof message, extra);
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

/** Sends new answers to the task and returns its state. */
export async function followTask(
  client: Client,
  { taskId, answered: before }: TaskHandle,
  answering: AnswerSources,
  timeout: number,
): Promise<{ result: CallToolResult } | { asked: AskedQuestions } | { underWay: RunningTask }> {
  let answered = before;
  const sendResponses = async (inputResponses: Record<string, unknown>) => {
    if (Object.keys(inputResponses).length === 0) return;
    await client.request({ method: 'tasks/update', params: { taskId, inputResponses } }, z.looseObject({}), {
      timeout,
    });
    answered = [...new Set([...answered, ...Object.keys(inputResponses)])];
  };
  const handle = (): TaskHandle => ({ taskId, answered, unheard: 0 });

  await sendResponses(answering.asking ? responsesOf(answering.asking) : {});
  const task = await client.request({ method: 'tasks/get', params: { taskId } }, detailed, { timeout });
  switch (task.status) {
    case 'working':
      break;
    case 'input_required': {
      const open = Object.entries(task.inputRequests ?? {}).filter(([key]) => !answered.includes(key));
      const { questions, given } = await answerRequests(open, answering);
      if (Object.keys(questions).length > 0) {
        return { asked: { questions, given, state: null, isHeld: false, task: handle() } };
      }
      await sendResponses(given);
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

/** Returns when to ask for an unreachable task again, or null to give up. */
export function retryUnreachableTask(handle: TaskHandle, error: unknown): RunningTask | null {
  const isFinal =
    error instanceof ProtocolError ||
    (error instanceof SdkHttpError && error.status !== undefined && isRefusal(error.status));
  if (isFinal || handle.unheard >= maxFailedPolls) return null;
  const unheard = handle.unheard + 1;
  return { handle: { ...handle, unheard }, askAgainMs: Math.min(maxPauseMs, minPauseMs * 2 ** unheard) };
}

const isRefusal = (status: number) => status >= 400 && status < 500 && ![408, 425, 429].includes(status);

const pauseOf = (given: number | undefined) => Math.min(maxPauseMs, Math.max(minPauseMs, given ?? defaultPauseMs));
