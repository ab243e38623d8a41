import { createHash } from 'node:crypto';
import {
  type CallToolRequest,
  type CallToolRequestOptions,
  type CallToolResult,
  type Client,
  type ClientCapabilities,
  isInputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/client';
import { answerOf, line, shownText, type ToolAnswer } from './server-answer.ts';
import {
  type AnsweredQuestions,
  type Answering,
  type AskedQuestions,
  answeredIn,
  answerSampling,
  answersTo,
  type QuestionAnswer,
  questionOf,
  type Sample,
  type ServerQuestion,
  type TaskHandle,
} from './server-requests.ts';
import { type McpTarget, type RunSessions, type SessionLimits, type SessionParts, withSession } from './session.ts';
import { cancelTask, createTaskNote, followTask, tasksExtension, type UnderWay } from './tasks.ts';
import { onListChange as listenForChanges, type WantedResources } from './tool-list.ts';

export type CalledTool = {
  name: string;
  arguments: Readonly<Record<string, unknown>>;
  /** As the server lists it: some of its arguments may have to be sent as headers too. */
  inputSchema: Readonly<Record<string, unknown>>;
};

const megabyte = 1_048_576;
const callLimits: SessionLimits = { timeoutMs: 120_000, maxRequests: 100, maxBytes: 8 * megabyte, maxParts: 100_000 };

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
  const all = { ...callLimits, ...limits };
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
const capabilitiesFor = ({ asking, sample }: Pick<CallInSession, 'asking' | 'sample'>): ClientCapabilities => ({
  extensions: { [tasksExtension]: {} },
  ...(asking && { elicitation: { form: {}, url: {} } }),
  ...(sample && { sampling: {} }),
});

/** Of what a server asks although this client has not said that it answers it. */
const notOffered = ({ method }: { method: string }): Promise<never> => {
  throw new ProtocolError(ProtocolErrorCode.MethodNotFound, `${method} is not answered to this server.`);
};

/** For a call that nobody waits for any more. */
export function cancelCall(
  { limits, ...parts }: SessionParts & { limits: Partial<SessionLimits> },
  target: McpTarget,
  task: TaskHandle,
  signal: AbortSignal,
): Promise<void> {
  const all = { ...callLimits, ...limits, timeoutMs: 10_000 };
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

type Params = CallToolRequest['params'];
/** What the tool said, what it wants to know first, or that it goes on without us. */
type Outcome = { result: CallToolResult } | { asked: AskedQuestions } | { underWay: UnderWay };
type Hide = (text: string) => string;

/** A server may answer with nothing but a state to come back with, or ask a model again and again. */
const mostRounds = 10;
const largestState = 64 * 1024;

/**
 * The protocol from 2026 on: a call that needs an answer ends with its questions and a state, and is made again with the
 * answers and that state. Nothing is held open, so it does not matter how long the person takes, or which process goes on.
 */
async function inRounds(
  client: Client,
  params: Params,
  options: CallToolRequestOptions,
  answering: Answering,
): Promise<Outcome> {
  let answers = answering.asking ? answeredIn(answering.asking) : {};
  let state = answering.asking?.state ?? null;
  const task = createTaskNote();
  task.listenTo(client);
  for (let round = 0; round < mostRounds; round++) {
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
    if (state !== null && state.length > largestState) throw new Error('The state of the call is too large.');
    const { questions, given } = await answersTo(Object.entries(result.inputRequests ?? {}), answering);
    if (Object.keys(questions).length > 0) return { asked: { questions, given, state, isHeld: false } };
    answers = given;
  }
  throw new Error('The server goes round in circles.');
}

/**
 * The protocol before: the server asks in the middle of a call, and waits. A question that was answered before, in an
 * earlier attempt at the call, gets that answer; another one is told that nobody chose anything, and is put to the person.
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

async function heldOpen(
  { questions, answers, hide }: ReturnType<typeof createHeldQuestions>,
  call: () => Promise<CallToolResult>,
): Promise<Outcome> {
  try {
    const result = await call();
    return Object.keys(questions).length > 0
      ? { asked: { questions, given: {}, state: null, isHeld: true } }
      : { result };
  } catch (error) {
    // The server has done nothing, and says where the person has to go before the call is made again.
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

/** The same question of another attempt has the same name. */
const nameOf = (question: ServerQuestion) =>
  createHash('sha256').update(JSON.stringify(question)).digest('base64url').slice(0, 22);

const resourceLimits: SessionLimits = { timeoutMs: 60_000, maxRequests: 20, maxBytes: 8 * megabyte, maxParts: 100_000 };
const longestDescription = 300;

/** What a server has to read, or what stands in one of it, like the answer of a tool. */
export function readResources(
  { limits, ...parts }: SessionParts & { limits: Partial<SessionLimits> },
  target: McpTarget,
  wanted: WantedResources,
  { signal, hide, sessions, ...answering }: CallInSession,
): Promise<ToolAnswer> {
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

/** A server that knows no templates answers that it does not know the question. */
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
  const said = description.replaceAll(/\s+/g, ' ').trim().slice(0, longestDescription).toWellFormed();
  const shown = [title ?? name, mimeType, note].filter((each) => each).join(', ');
  return `${line(address)} ${shown.replaceAll(/\s+/g, ' ').slice(0, longestDescription).toWellFormed()}${said && `: ${said}`}`;
}
