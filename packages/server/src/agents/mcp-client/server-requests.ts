import { type Client, type CreateMessageResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client';
import { z } from 'zod';

/** A call that its server goes on with after it has answered: what it is asked for by, whichever process asks. */
export type TaskHandle = {
  taskId: string;
  /** The names of its questions that have an answer: it may show them until it has read that. */
  answered: readonly string[];
  /** How often in a row nothing was heard of it. */
  unheard: number;
};

/** What a tool's server wants to know from the person before it goes on (an elicitation). */
export type ServerQuestion =
  | { mode: 'form'; message: string; fields: Readonly<Record<string, FormField>>; required: readonly string[] }
  /** The person is to do something at this address, and to say so. */
  | { mode: 'url'; message: string; url: string };

export type FormField = {
  type: 'string' | 'number' | 'integer' | 'boolean' | 'choice' | 'choices';
  title: string;
  description: string;
  /** What may be chosen: the value that the server knows, and what the person reads. */
  options: readonly { value: string; label: string }[];
  minimum?: number | undefined;
  maximum?: number | undefined;
};

export type QuestionAnswer =
  | { action: 'accept'; content?: Record<string, string | number | boolean | string[]> }
  | { action: 'decline' }
  | { action: 'cancel' };

/**
 * A call that stopped at questions. With an answer to each, under the same names, and `state` it goes on. `isHeld`: the
 * server will ask everything anew, what was answered before too.
 */
export type AskedQuestions = {
  questions: Record<string, ServerQuestion>;
  /** What the server asked in the same breath and needs no person for its answer. */
  given: Record<string, unknown>;
  state: string | null;
  isHeld: boolean;
  /** The task that asks; absent: the call itself. */
  task?: TaskHandle | undefined;
};

/** What a call that stopped goes on with; nothing where it is made for the first time. */
export type AnsweredQuestions = {
  answers: Readonly<Record<string, QuestionAnswer>>;
  given: Readonly<Record<string, unknown>>;
  state: string | null;
};

export const answeredIn = ({ answers, given }: AnsweredQuestions): Record<string, unknown> => ({
  ...given,
  ...answers,
});

const mostFields = 20;
const mostOptions = 50;
const longestText = 2000;

/** Null where it is none that can be put to a person. */
export function questionOf(params: unknown, hide: (text: string) => string): ServerQuestion | null {
  const { mode = 'form', message, url, requestedSchema } = asObject(params);
  const said = shown(message, hide);
  if (mode === 'url') return typeof url === 'string' ? { mode: 'url', message: said, url } : null;
  if (mode !== 'form') return null;
  const { properties, required } = asObject(requestedSchema);
  const fields = Object.entries(asObject(properties)).map(([name, schema]) => [name, fieldOf(schema, hide)] as const);
  if (fields.length > mostFields || fields.some(([, field]) => field === null)) return null;
  return {
    mode: 'form',
    message: said,
    fields: Object.fromEntries(fields) as Record<string, FormField>,
    required: Array.isArray(required) ? required.filter((each) => typeof each === 'string') : [],
  };
}

function fieldOf(given: unknown, hide: (text: string) => string): FormField | null {
  const schema = asObject(given);
  const { type, title, description, minimum, maximum } = schema;
  const about = { title: shown(title, hide), description: shown(description, hide), options: [] };
  const choice = optionsOf(schema, hide);
  const choices = type === 'array' ? optionsOf(asObject(schema.items), hide) : null;
  if (choices) return { ...about, type: 'choices', options: choices };
  if (choice) return { ...about, type: 'choice', options: choice };
  if (type === 'string' || type === 'boolean') return { ...about, type };
  if (type !== 'number' && type !== 'integer') return null;
  return { ...about, type, minimum: asNumber(minimum), maximum: asNumber(maximum) };
}

/** In each of the ways that the protocol has had so far. */
function optionsOf(schema: Record<string, unknown>, hide: (text: string) => string): FormField['options'] | null {
  const { enum: values, enumNames, oneOf, anyOf } = schema;
  const titled = oneOf ?? anyOf;
  const labels = Array.isArray(enumNames) ? enumNames : [];
  const all = Array.isArray(titled)
    ? titled.map((each) => [asObject(each).const, asObject(each).title])
    : Array.isArray(values)
      ? values.map((value, at) => [value, labels[at]])
      : null;
  if (!all || all.length === 0 || all.length > mostOptions) return null;
  if (!all.every(([value]) => typeof value === 'string')) return null;
  return all.map(([value, label]) => ({ value: value as string, label: shown(label, hide) || (value as string) }));
}

const asObject = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
const asNumber = (value: unknown) => (typeof value === 'number' ? value : undefined);
/** Nothing in it may turn the text around, and no credential of the call may stand in it. */
const shown = (text: unknown, hide: (text: string) => string) =>
  typeof text === 'string'
    ? hide(text.replace(/[\p{Cc}\p{Cf}]+/gu, ' ').trim())
        .slice(0, longestText)
        .toWellFormed()
    : '';

/** What a server that asks something in the middle of a call gets its answers from. */
export type Answering = {
  /** Absent: nobody can be asked. */
  asking?: AnsweredQuestions | undefined;
  /** Absent: no model answers this server. */
  sample?: Sample | undefined;
  hide: (text: string) => string;
  signal: AbortSignal;
};

type Requests = readonly (readonly [key: string, request: { method: string; params?: unknown }])[];

/** What of this has to be put to the person, and what is answered at once. */
export async function answersTo(
  requests: Requests,
  { asking, sample, hide, signal }: Answering,
): Promise<{ questions: Record<string, ServerQuestion>; given: Record<string, unknown> }> {
  const questions: Record<string, ServerQuestion> = {};
  const given: Record<string, unknown> = {};
  for (const [key, { method, params }] of requests) {
    if (method === 'sampling/createMessage') given[key] = await sampled(params, sample, signal);
    else if (method === 'elicitation/create') {
      const question = questionOf(params, hide);
      if (!asking || !question) given[key] = { action: asking ? 'decline' : 'cancel' };
      else questions[key] = question;
    } else {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidRequest,
        `The server asks for ${method}, which this client has not offered.`,
      );
    }
  }
  return { questions, given };
}

/** What a server asks a model. All of it is the server's own: nothing of the conversation is added. */
export type SampledPrompt = {
  system: string | null;
  messages: readonly { role: 'user' | 'assistant'; text: string }[];
  maxTokens: number;
};

/** The answer of the model, or why there is none. */
export type Sample = (
  prompt: SampledPrompt,
  signal: AbortSignal,
) => Promise<{ text: string; model: string; isCut: boolean } | { refused: string }>;

const mostTokens = 4096;
const mostMessages = 50;
const mostCharacters = 100_000;

const text = z.looseObject({ type: z.literal('text'), text: z.string() });
const request = z.looseObject({
  systemPrompt: z.string().optional(),
  messages: z
    .array(z.looseObject({ role: z.enum(['user', 'assistant']), content: z.union([text, z.array(text)]) }))
    .min(1)
    .max(mostMessages),
  maxTokens: z.number().int().positive(),
  tools: z.array(z.unknown()).max(0).optional(),
});

/** The answer to a `sampling/createMessage`; whatever is refused is an error that the server hears. */
async function sampled(params: unknown, sample: Sample | undefined, signal: AbortSignal): Promise<CreateMessageResult> {
  if (!sample)
    throw refusal('This client answers no sampling for this server: whoever registered it has not allowed it.');
  const read = request.safeParse(params);
  if (!read.success) throw refusal(`Only up to ${mostMessages} messages of text, without tools, are answered.`);
  const { systemPrompt, messages, maxTokens } = read.data;
  const prompt: SampledPrompt = {
    system: systemPrompt ?? null,
    messages: messages.map(({ role, content }) => ({
      role,
      text: [content]
        .flat()
        .map((part) => part.text)
        .join('\n'),
    })),
    maxTokens: Math.min(maxTokens, mostTokens),
  };
  const length = [prompt.system ?? '', ...prompt.messages.map((each) => each.text)].join('').length;
  if (length > mostCharacters) throw refusal(`More than ${mostCharacters} characters are not answered.`);
  const answer = await sample(prompt, signal);
  if ('refused' in answer) throw refusal(answer.refused);
  return {
    role: 'assistant',
    content: { type: 'text', text: answer.text },
    model: answer.model,
    stopReason: answer.isCut ? 'maxTokens' : 'endTurn',
  };
}

/** For servers of the older protocol, which ask in the middle of a call and wait. */
export function answerSampling(client: Client, sample: Sample, signal: AbortSignal): void {
  client.setRequestHandler('sampling/createMessage', ({ params }) => sampled(params, sample, signal));
}

const refusal = (message: string) => new ProtocolError(ProtocolErrorCode.InvalidRequest, message);
