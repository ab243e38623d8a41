import { type Client, type CreateMessageResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client';
import { z } from 'zod';

/** A call that its server continues as a task. Any process can ask for its result. */
export type TaskHandle = {
  taskId: string;
  /** Keys of answered questions. The task may list them until it has read the answers. */
  answered: readonly string[];
  /** Consecutive failed attempts to reach it. */
  unheard: number;
};

/** A question of a server for the person (an elicitation). */
export type ServerQuestion =
  | { mode: 'form'; message: string; fields: Readonly<Record<string, FormField>>; required: readonly string[] }
  /** The person must do something at this address and then confirm. */
  | { mode: 'url'; message: string; url: string };

export type FormField = {
  type: 'string' | 'number' | 'integer' | 'boolean' | 'choice' | 'choices';
  title: string;
  description: string;
  /** Options: the value for the server, and the label for the person. */
  options: readonly { value: string; label: string }[];
  minimum?: number | undefined;
  maximum?: number | undefined;
  /** The value that the server suggests. It counts if the person leaves the field empty. */
  default?: FieldValue | undefined;
};

export type FieldValue = string | number | boolean | string[];

export type QuestionAnswer =
  | { action: 'accept'; content?: Record<string, FieldValue> }
  | { action: 'decline' }
  | { action: 'cancel' };

/**
 * A call that stopped at questions. It resumes with an answer to each, under the same keys, and with `state`. `isHeld`:
 * the server will ask all questions again, answered ones included.
 */
export type AskedQuestions = {
  questions: Record<string, ServerQuestion>;
  /** Answers to requests of the same round that need no person. */
  given: Record<string, unknown>;
  state: string | null;
  isHeld: boolean;
  /** The task that asks. Absent if the call itself asks. */
  task?: TaskHandle | undefined;
};

/** Answers with which a stopped call resumes. Empty for the first attempt. */
export type AnsweredQuestions = {
  answers: Readonly<Record<string, QuestionAnswer>>;
  given: Readonly<Record<string, unknown>>;
  state: string | null;
};

export const responsesOf = ({ answers, given }: AnsweredQuestions): Record<string, unknown> => ({
  ...given,
  ...answers,
});

const maxFields = 20;
const maxOptions = 50;
const maxTextLength = 2000;

/** Returns null if the question cannot be shown to a person. */
export function questionOf(params: unknown, hide: (text: string) => string): ServerQuestion | null {
  const { mode = 'form', message, url, requestedSchema } = asObject(params);
  const said = shown(message, hide);
  if (mode === 'url') return typeof url === 'string' ? { mode: 'url', message: said, url } : null;
  if (mode !== 'form') return null;
  const { properties, required } = asObject(requestedSchema);
  const fields = Object.entries(asObject(properties)).map(([name, schema]) => [name, fieldOf(schema, hide)] as const);
  if (fields.length > maxFields || fields.some(([, field]) => field === null)) return null;
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
  const usual = defaultOf(schema.default);
  const about = {
    title: shown(title, hide),
    description: shown(description, hide),
    options: [],
    ...(usual !== undefined && { default: usual }),
  };
  const choice = optionsOf(schema, hide);
  const choices = type === 'array' ? optionsOf(asObject(schema.items), hide) : null;
  if (choices) return { ...about, type: 'choices', options: choices };
  if (choice) return { ...about, type: 'choice', options: choice };
  if (type === 'string' || type === 'boolean') return { ...about, type };
  if (type !== 'number' && type !== 'integer') return null;
  return { ...about, type, minimum: asNumber(minimum), maximum: asNumber(maximum) };
}

const maxDefaultLength = 500;

function defaultOf(given: unknown): FieldValue | undefined {
  if (typeof given === 'number' || typeof given === 'boolean') return given;
  const texts = [given].flat();
  if (!texts.every((each) => typeof each === 'string' && each.length <= maxDefaultLength)) return undefined;
  return given as string | string[];
}

/** Reads the options in all forms that versions of the protocol have used. */
function optionsOf(schema: Record<string, unknown>, hide: (text: string) => string): FormField['options'] | null {
  const { enum: values, enumNames, oneOf, anyOf } = schema;
  const titled = oneOf ?? anyOf;
  const labels = Array.isArray(enumNames) ? enumNames : [];
  const all = Array.isArray(titled)
    ? titled.map((each) => [asObject(each).const, asObject(each).title])
    : Array.isArray(values)
      ? values.map((value, at) => [value, labels[at]])
      : null;
  if (!all || all.length === 0 || all.length > maxOptions) return null;
  if (!all.every(([value]) => typeof value === 'string')) return null;
  return all.map(([value, label]) => ({ value: value as string, label: shown(label, hide) || (value as string) }));
}

const asObject = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
const asNumber = (value: unknown) => (typeof value === 'number' ? value : undefined);
/** Removes control and direction characters, and credentials of the call. */
const shown = (text: unknown, hide: (text: string) => string) =>
  typeof text === 'string'
    ? hide(text.replace(/[\p{Cc}\p{Cf}]+/gu, ' ').trim())
        .slice(0, maxTextLength)
        .toWellFormed()
    : '';

/** Sources of answers to requests of a server during a call. */
export type AnswerSources = {
  /** Absent if no person can be asked. */
  asking?: AnsweredQuestions | undefined;
  /** Absent if no model answers this server. */
  sample?: Sample | undefined;
  hide: (text: string) => string;
  signal: AbortSignal;
};

type Requests = readonly (readonly [key: string, request: { method: string; params?: unknown }])[];

/** Separates the questions for the person from the requests that are answered at once. */
export async function answerRequests(
  requests: Requests,
  { asking, sample, hide, signal }: AnswerSources,
): Promise<{ questions: Record<string, ServerQuestion>; given: Record<string, unknown> }> {
  const questions: Record<string, ServerQuestion> = {};
  const given: Record<string, unknown> = {};
  for (const [key, { method, params }] of requests) {
    if (method === 'sampling/createMessage') given[key] = await answerSamplingRequest(params, sample, signal);
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

/** A prompt of a server for a model. It contains nothing of the conversation. */
export type SampledPrompt = {
  system: string | null;
  messages: readonly { role: 'user' | 'assistant'; text: string }[];
  maxTokens: number;
};

/** Returns the answer of the model, or the reason for a refusal. */
export type Sample = (
  prompt: SampledPrompt,
  signal: AbortSignal,
) => Promise<{ text: string; model: string; isCut: boolean } | { refused: string }>;

const maxSampledTokens = 4096;
const maxMessages = 50;
const maxCharacters = 100_000;

const text = z.looseObject({ type: z.literal('text'), text: z.string() });
const request = z.looseObject({
  systemPrompt: z.string().optional(),
  messages: z
    .array(z.looseObject({ role: z.enum(['user', 'assistant']), content: z.union([text, z.array(text)]) }))
    .min(1)
    .max(maxMessages),
  maxTokens: z.number().int().positive(),
  tools: z.array(z.unknown()).max(0).optional(),
});

/** Answers `sampling/createMessage`. A refusal is an error that the server receives. */
async function answerSamplingRequest(
  params: unknown,
  sample: Sample | undefined,
  signal: AbortSignal,
): Promise<CreateMessageResult> {
  if (!sample) throw refusal('This client answers no sampling for this server: its settings do not allow it.');
  const read = request.safeParse(params);
  if (!read.success) throw refusal(`Only up to ${maxMessages} messages of text, without tools, are answered.`);
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
    maxTokens: Math.min(maxTokens, maxSampledTokens),
  };
  const length = [prompt.system ?? '', ...prompt.messages.map((each) => each.text)].join('').length;
  if (length > maxCharacters) throw refusal(`More than ${maxCharacters} characters are not answered.`);
  const answer = await sample(prompt, signal);
  if ('refused' in answer) throw refusal(answer.refused);
  return {
    role: 'assistant',
    content: { type: 'text', text: answer.text },
    model: answer.model,
    stopReason: answer.isCut ? 'maxTokens' : 'endTurn',
  };
}

/** For servers of the older protocol, which ask during a call. */
export function registerSampling(client: Client, sample: Sample, signal: AbortSignal): void {
  client.setRequestHandler('sampling/createMessage', ({ params }) => answerSamplingRequest(params, sample, signal));
}

const refusal = (message: string) => new ProtocolError(ProtocolErrorCode.InvalidRequest, message);
