import { type ClientCapabilities, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client';
import { createHeldQuestions, heldOpen, inRounds, type Outcome } from './ask-person.ts';
import { onListChange as listenForChanges } from './hear-changes.ts';
import { answerSampling, type Sample } from './sampling.ts';
import type { AnsweredQuestions, AskedQuestions, TaskHandle } from './server-question.ts';
import { type McpTarget, type RunSessions, type SessionLimits, type SessionParts, withSession } from './session.ts';
import { cancelTask, followTask, tasksExtension, type UnderWay } from './tasks.ts';
import { answerOf, type ToolAnswer } from './tool-answer.ts';

export type CalledTool = {
  name: string;
  arguments: Readonly<Record<string, unknown>>;
  /** As the server lists it: some of its arguments may have to be sent as headers too. */
  inputSchema: Readonly<Record<string, unknown>>;
};

const megabyte = 1_048_576;
const usual: SessionLimits = { timeoutMs: 120_000, maxRequests: 100, maxBytes: 8 * megabyte, maxParts: 100_000 };

/** Options of any request in a run. */
export type CallInSession = {
  signal: AbortSignal;
  hide: (text: string) => string;
  /** Present: the server may put questions to the person. */
  asking?: AnsweredQuestions | undefined;
  /** Present: the server may ask a model. */
  sample?: Sample | undefined;
  /** The session of the run is used, or opened. Absent: the call has a session for itself. */
  sessions?: RunSessions | undefined;
};

type Call = CallInSession & {
  /** Present: the call was made before, and goes on as this task. */
  following?: TaskHandle | undefined;
  /** A tool that may be called twice, for a server of the older protocol that asks in the middle of a call. */
  isRepeatable?: boolean | undefined;
  /** The server says meanwhile that its tools or resources have changed. */
  onListChange?: (() => void) | undefined;
};

export async function callTool(
  { limits, ...parts }: SessionParts & { limits: Partial<SessionLimits> },
  target: McpTarget,
  { name, arguments: given, inputSchema }: CalledTool,
  { signal, hide, asking, sample, following, isRepeatable = false, onListChange, sessions }: Call,
): Promise<ToolAnswer | { asked: AskedQuestions } | { underWay: UnderWay }> {
  const all = { ...usual, ...limits };
  const held = createHeldQuestions({ answers: asking?.answers ?? {}, hide });
  const answering = { asking, sample, hide, signal };
  // Without the definition the client lists the tools again where the server asks for headers. It has no output schema:
  // the client would compile what the server wrote, in whatever time that takes.
  const sent = {
    timeout: all.timeoutMs,
    toolDefinition: { name, inputSchema: { ...inputSchema, type: 'object' as const } },
  };
  const outcome = await withSession(
    { ...parts, limits: all },
    target,
    signal,
    async (client): Promise<Outcome> => {
      if (following) return followTask(client, following, answering, all.timeoutMs);
      if (client.getProtocolEra() === 'modern') return inRounds(client, { name, arguments: given }, sent, answering);
      return heldOpen(held, () => client.callTool({ name, arguments: given }, sent));
    },
    {
      capabilities: capabilitiesFor({ asking, sample }),
      prepare(client) {
        client.fallbackRequestHandler = notOffered;
        if (asking) held.listenTo(client);
        if (sample) answerSampling(client, sample, signal);
        if (onListChange) listenForChanges(client, onListChange);
      },
      sessions,
    },
  );
  if ('underWay' in outcome) return outcome;
  if ('asked' in outcome) {
    return isRepeatable || !held.wasCancelled() ? outcome : cannotWait(outcome.asked);
  }
  return answerOf(outcome.result, hide);
}

/** The same for every request of a session: a server hears it once, when the session begins. */
export const capabilitiesFor = ({ asking, sample }: Pick<CallInSession, 'asking' | 'sample'>): ClientCapabilities => ({
  extensions: { [tasksExtension]: {} },
  ...(asking && { elicitation: { form: {}, url: {} } }),
  ...(sample && { sampling: {} }),
});

/** Of what a server asks although this client has not said that it answers it. */
export const notOffered = ({ method }: { method: string }): Promise<never> => {
  throw new ProtocolError(ProtocolErrorCode.MethodNotFound, `${method} is not answered to this server.`);
};

/** For a call that nobody waits for any more. */
export function cancelCall(
  { limits, ...parts }: SessionParts & { limits: Partial<SessionLimits> },
  target: McpTarget,
  task: TaskHandle,
  signal: AbortSignal,
): Promise<void> {
  const all = { ...usual, ...limits, timeoutMs: 10_000 };
  return withSession({ ...parts, limits: all }, target, signal, (client) => cancelTask(client, task, all.timeoutMs), {
    capabilities: { extensions: { [tasksExtension]: {} } },
  });
}

/**
 * A server of the older protocol waits for the answer in the middle of its work, and cannot wait for days. It was told
 * that nobody chose anything; to call it again afterwards is right only for what may happen twice.
 */
const cannotWait = ({ questions }: AskedQuestions): ToolAnswer => ({
  text: `The server asked the person something and cannot wait for the answer: ${Object.values(questions)
    .map(({ message }) => JSON.stringify(message.slice(0, 500)))
    .join(', ')}. It was told that nobody answered. Find out what it did before you call the tool again.`,
  isError: true,
});
