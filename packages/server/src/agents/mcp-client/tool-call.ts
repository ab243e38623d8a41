import { createHash } from 'node:crypto';
import {
  type CallToolRequest,
  type CallToolRequestOptions,
  type CallToolResult,
  type Client,
  isInputRequiredResult,
  type Progress,
  ProtocolError,
  ProtocolErrorCode,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/client';
import { answerOf, line, type McpToolAnswer, shownText } from './server-answer.ts';
import {
  type AnsweredQuestions,
  type AnswerSources,
  type AskedQuestions,
  answerRequests,
  type QuestionAnswer,
  questionOf,
  registerSampling,
  responsesOf,
  type Sample,
  type ServerQuestion,
  type TaskHandle,
} from './server-requests.ts';
import {
  type McpTarget,
  type RunSessions,
  type SessionDependencies,
  type SessionLimits,
  withSession,
} from './session.ts';
import { cancelTask, createTaskInterceptor, followTask, type RunningTask } from './tasks.ts';
import { capabilitiesFor, onListChange as listenForChanges, notOffered, type WantedResources } from './tool-list.ts';

export type CalledTool = {
  name: string;
  arguments: Readonly<Record<string, unknown>>;
  /** The schema in the server's list: some arguments may also have to be sent as headers. */
  inputSchema: Readonly<Record<string, unknown>>;
};

const megabyte = 1_048_576;
/** Without a report of progress a call ends after two minutes, and otherwise after a quarter of an hour. */
const maxCallMs = 900_000;
const callLimits: SessionLimits = {
  timeoutMs: 120_000,
  totalMs: maxCallMs,
  maxRequests: 100,
  maxBytes: 8 * megabyte,
  maxParts: 100_000,
};

/** Options of every request in a run. */
export type SessionCallOptions = {
  signal: AbortSignal;
  hide: (text: string) => string;
  /** Present if the server may ask the person. */
  asking?: AnsweredQuestions | undefined;
  /** Present if the server may ask a model. */
  sample?: Sample | undefined;
  /** The session of the conversation or task is used or opened. Absent if the call needs a separate session. */
  sessions?: RunSessions | undefined;
  /** Called if this call opened the session. */
  onOpened?: (() => void) | undefined;
};

type ToolCallOptions = SessionCallOptions & {
  /** Present if an earlier attempt continues as this task. */
  following?: TaskHandle | undefined;
  /** The tool may be called twice. Servers of the older protocol that ask during a call need that. */
  isRepeatable?: boolean | undefined;
  /** Called if the server reports changed tools or resources during the call. */
  onListChange?: (() => void) | undefined;
  /** Called with each report of progress, as one line. */
  onProgress?: ((text: string) => void) | undefined;
};

export async function callTool(
  { limits, ...parts }: SessionDependencies & { limits: Partial<SessionLimits> },
  target: McpTarget,
  { name, arguments: given, inputSchema }: CalledTool,
  options: ToolCallOptions,
): Promise<McpToolAnswer | { asked: AskedQuestions } | { underWay: RunningTask }> {
  const { signal, hide, asking, sample, following, isRepeatable = false, onListChange, onProgress } = options;
  const all = limitsOf(limits);
  const held = createHeldQuestions({ answers: asking?.answers ?? {}, hide });
  const answering = { asking, sample, hide, signal };
  // Without the definition the client lists the tools again if the server needs headers. The output schema is left out:
  // the client would compile it, in unbounded time.
  const sent = {
    timeout: all.totalMs,
    toolDefinition: { name, inputSchema: { ...inputSchema, type: 'object' as const } },
  };
  const outcome = await withSession(
    { ...parts, limits: all },
    target,
    signal,
    async (client, { extend }): Promise<CallOutcome> => {
      if (following) return followTask(client, following, answering, all.timeoutMs);
      const onprogress = (progress: Progress) => {
        extend();
        onProgress?.(lineOf(progress, hide));
      };
      const watched = { ...sent, onprogress };
      if (client.getProtocolEra() === 'modern')
        return callInRounds(client, { name, arguments: given }, watched, answering);
      return callHeldOpen(held, () => client.callTool({ name, arguments: given }, watched));
    },
    {
      capabilities: capabilitiesFor({ asking, sample }),
      prepare(client) {
        client.fallbackRequestHandler = notOffered;
        if (asking) held.listenTo(client);
        if (sample) registerSampling(client, sample, signal);
        if (onListChange) listenForChanges(client, onListChange);
      },
      mayListen: asking !== undefined || sample !== undefined,
      sessions: options.sessions,
      onOpened: options.onOpened,
    },
  );
  if ('underWay' in outcome) return outcome;
  if ('asked' in outcome) {
    return isRepeatable || !held.wasCancelled() ? outcome : unansweredQuestions(outcome.asked);
  }
  return answerOf(outcome.result, hide);
}

/** A caller that limits the time of a call limits all of it. */
const limitsOf = (given: Partial<SessionLimits>) => ({
  ...callLimits,
  ...given,
  totalMs: given.totalMs ?? given.timeoutMs ?? maxCallMs,
});

const maxProgressLength = 200;

/** Shows the server's message, or how much of the work is done. */
function lineOf({ progress, total, message }: Progress, hide: Hide): string {
  const part = total !== undefined && total > 0 ? `${Math.round((100 * progress) / total)} %` : `${progress}`;
  const said = hide(message ?? '')
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();
  return (said || part).slice(0, maxProgressLength).toWellFormed();
}

/** Cancels the task of a call that is no longer needed. */
export function cancelCall(
  { limits, ...parts }: SessionDependencies & { limits: Partial<SessionLimits> },
  target: McpTarget,
  task: TaskHandle,
  signal: AbortSignal,
): Promise<void> {
  const all = { ...callLimits, ...limits, timeoutMs: 10_000 };
  return withSession({ ...parts, limits: all }, target, signal, (client) => cancelTask(client, task, all.timeoutMs), {
    capabilities: capabilitiesFor({}),
  });
}

/**
 * A server of the older protocol waits for the answer during the call, which cannot take days. It received a
 * cancellation. Calling it again is only safe if the tool may run twice.
 */
const unansweredQuestions = ({ questions }: AskedQuestions): McpToolAnswer => ({
  text: `The server asked the person something and cannot wait for the answer: ${Object.values(questions)
    .map(({ message }) => JSON.stringify(message.slice(0, 500)))
    .join(', ')}. It was told that nobody answered. Find out what it did before you call the tool again.`,
  isError: true,
});

type Params = CallToolRequest['params'];
/** The result of the tool, its questions, or its running task. */
type CallOutcome = { result: CallToolResult } | { asked: AskedQuestions } | { underWay: RunningTask };
type Hide = (text: string) => string;

/** Bounds a server that keeps answering with only a state, or that keeps asking a model. */
const maxRounds = 10;
const maxStateLength = 64 * 1024;

/**
 * The protocol since 2026: a call that needs answers ends with its questions and a state, and is repeated with the
 * answers and that state. Nothing stays open, so the person may take any time and any process can continue.
 */
async function callInRounds(
  client: Client,
  params: Params,
  options: CallToolRequestOptions,
  answering: AnswerSources,
): Promise<CallOutcome> {
  let answers = answering.asking ? responsesOf(answering.asking) : {};
  let state = answering.asking?.state ?? null;
  const task = createTaskInterceptor();
  task.listenTo(client);
  for (let round = 0; round < maxRounds; round++) {
    const result: unknown = await client.callTool(
      {
        ...params,
        ...(Object.keys(answers).length > 0 && { inputResponses: answers }),
        ...(state !== null && { requestState: state }),
      } as Params,
      { ...options, allowInputRequired: true },
    );
    const underWay = task.taken();
    if (underWay) return { underWay };
    if (!isInputRequiredResult(result)) return { result: result as CallToolResult };
    state = result.requestState ?? null;
    if (state !== null && state.length > maxStateLength) throw new Error('The state of the call is too large.');
    const { questions, given } = await answerRequests(Object.entries(result.inputRequests ?? {}), answering);
    if (Object.keys(questions).length > 0) return { asked: { questions, given, state, isHeld: false } };
    answers = given;
  }
  throw new Error('The server asks again in every round.');
}

/**
 * The older protocol: the server asks during a call and waits. A question that was answered in an earlier attempt gets
 * that answer. Any other is cancelled, and then put to the person.
 */
function createHeldQuestions({ answers, hide }: { answers: AnsweredQuestions['answers']; hide: Hide }) {
  const questions: Record<string, ServerQuestion> = {};
  return {
    questions,
    wasCancelled: () => Object.values(questions).some(({ mode }) => mode === 'form'),
    hide,
    answers,
    listenTo(client: Client): void {
      client.setRequestHandler('elicitation/create', ({ params }): QuestionAnswer => {
        const question = questionOf(params, hide);
        if (!question) return { action: 'decline' };
        const key = nameOf(question);
        const known = answers[key];
        if (known) return known;
        questions[key] = question;
        return { action: 'cancel' };
      });
    },
  };
}

async function callHeldOpen(
  { questions, answers, hide }: ReturnType<typeof createHeldQuestions>,
  call: () => Promise<CallToolResult>,
): Promise<CallOutcome> {
  try {
    const result = await call();
    return Object.keys(questions).length > 0
      ? { asked: { questions, given: {}, state: null, isHeld: true } }
      : { result };
  } catch (error) {
    // The server did nothing, and names the address that the person must visit before the next attempt.
    if (error instanceof UrlElicitationRequiredError) {
      const wanted = error.elicitations.flatMap((each) => questionOf({ ...each, mode: 'url' }, hide) ?? []);
      const open = wanted.map((each) => [nameOf(each), each] as const).filter(([key]) => !answers[key]);
      if (open.length > 0)
        return { asked: { questions: Object.fromEntries(open), given: {}, state: null, isHeld: true } };
    }
    if (Object.keys(questions).length > 0) return { asked: { questions, given: {}, state: null, isHeld: true } };
    throw error;
  }
}

/** The same question has the same key in every attempt. */
const nameOf = (question: ServerQuestion) =>
  createHash('sha256').update(JSON.stringify(question)).digest('base64url').slice(0, 22);

const resourceLimits: SessionLimits = { timeoutMs: 60_000, maxRequests: 20, maxBytes: 8 * megabyte, maxParts: 100_000 };
const maxDescriptionLength = 300;

/** Reads a resource or lists resources, in the form of a tool answer. */
export function readResources(
  { limits, ...parts }: SessionDependencies & { limits: Partial<SessionLimits> },
  target: McpTarget,
  wanted: WantedResources,
  { signal, hide, sessions, onOpened, ...answering }: SessionCallOptions,
): Promise<McpToolAnswer> {
  const read = async (client: Client) => {
    if (!('uri' in wanted)) return { text: shownText(await listed(client, wanted.cursor), hide), isError: false };
    const { contents } = await client.request({ method: 'resources/read', params: { uri: wanted.uri } });
    return answerOf({ content: contents.map((resource) => ({ type: 'resource', resource })) }, hide);
  };
  return withSession({ ...parts, limits: { ...resourceLimits, ...limits } }, target, signal, read, {
    capabilities: capabilitiesFor(answering),
    prepare: (client) => {
      client.fallbackRequestHandler = notOffered;
    },
    sessions,
    onOpened,
  });
}

async function listed(client: Client, cursor: string | null): Promise<string> {
  const params = cursor === null ? {} : { cursor };
  const { resources, nextCursor } = await client.request({ method: 'resources/list', params });
  const templates = cursor === null ? await templatesOf(client) : [];
  const lines = [
    ...resources.map(({ uri, size, ...about }) => entry(uri, size === undefined ? '' : `${size} bytes`, about)),
    ...templates.map(({ uriTemplate, ...about }) => entry(uriTemplate, 'fill in what stands in braces', about)),
    ...(nextCursor === undefined ? [] : [`There are more: go on with the cursor ${JSON.stringify(nextCursor)}.`]),
  ];
  return lines.join('\n') || 'The server has nothing to read.';
}

/** A server without templates answers that the method is unknown. */
async function templatesOf(client: Client) {
  try {
    return (await client.request({ method: 'resources/templates/list', params: {} })).resourceTemplates;
  } catch (error) {
    if (error instanceof ProtocolError && error.code === ProtocolErrorCode.MethodNotFound) return [];
    throw error;
  }
}

type About = {
  name: string;
  title?: string | undefined;
  mimeType?: string | undefined;
  description?: string | undefined;
};

function entry(address: string, note: string, { name, title, mimeType, description = '' }: About): string {
  const said = description.replaceAll(/\s+/g, ' ').trim().slice(0, maxDescriptionLength).toWellFormed();
  const shown = [title ?? name, mimeType, note].filter((each) => each).join(', ');
  return `${line(address)} ${shown.replaceAll(/\s+/g, ' ').slice(0, maxDescriptionLength).toWellFormed()}${said && `: ${said}`}`;
}
