import type { Message, Reasoning, ToolCall, ToolDefinition, ToolResult, UserPart } from '@vestra/agent/message';
import type { ModelRequest, Usage } from '@vestra/agent/model';
import type { MediaKind } from '../settings.ts';
import { easyAnswerSchema, hardAnswerSchema, hardToolSchemas } from './hard-schemas.ts';
import { redPicture, smallPdf } from './sample-files.ts';

/** `partly`: the vendor accepted the request, but the model did not do all of it. */
export type CheckStatus = 'works' | 'partly' | 'fails' | 'skipped';
export type CheckOutcome = { status: CheckStatus; note: string };

export type TrialAnswer = {
  text: string;
  /** The number of pieces in which the text arrived. */
  pieces: number;
  calls: ToolCall[];
  usage: Usage;
  reasoning: Reasoning | null;
  /** Tools that the vendor rejected and that were not offered. */
  leftOut: string[];
};

/** The model under test, as the checks use it. */
export type TrialModel = {
  /** Throws a `ModelFailure` if the vendor rejects the request. */
  ask: (request: Partial<ModelRequest>) => Promise<TrialAnswer>;
  /** Starts an answer and stops it after its first text. Returns whether it stopped at once. */
  cancel: (request: Partial<ModelRequest>) => Promise<boolean>;
  reads: (kind: MediaKind) => boolean;
  contextTokens: number;
};

export type Check = {
  name: string;
  /** Without it, agents cannot work with the model. */
  isEssential: boolean;
  run: (model: TrialModel) => Promise<CheckOutcome>;
};

const works = (note = ''): CheckOutcome => ({ status: 'works', note });
const partly = (note: string): CheckOutcome => ({ status: 'partly', note });
const fails = (note: string): CheckOutcome => ({ status: 'fails', note });
const skipped = (note: string): CheckOutcome => ({ status: 'skipped', note });

const system = ['You are a careful assistant.', 'Follow the instruction exactly. Write as little as possible.'];
const user = (text: string, ...files: UserPart[]): Message => ({
  role: 'user',
  parts: [{ kind: 'text', text }, ...files],
});
const agent = ({ text, calls, reasoning }: Pick<TrialAnswer, 'text' | 'calls' | 'reasoning'>): Message => ({
  role: 'agent',
  text,
  calls,
  reasoning,
});
const results = (calls: readonly ToolCall[], resultOf: (call: ToolCall) => Partial<ToolResult>): Message => ({
  role: 'tool',
  results: calls.map((call) => ({ callId: call.id, name: call.name, output: '', isError: false, ...resultOf(call) })),
});

const weather: ToolDefinition = {
  name: 'get_weather',
  description: 'Returns the weather of a city.',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const regions: ToolDefinition = {
  name: 'list_regions',
  description: 'Lists the regions of the service.',
  inputSchema: { type: 'object' },
};
const oneCall = user('Call the tool `get_weather` once with {"city":"Bonn"}, then repeat its result.');

/** Asks for calls, returns results for all of them, and returns both answers. */
async function callAndAnswer(
  model: TrialModel,
  asked: Message,
  tools: readonly ToolDefinition[],
  resultOf: (call: ToolCall) => Partial<ToolResult>,
): Promise<{ called: TrialAnswer; after: TrialAnswer | null }> {
  const called = await model.ask({ system, messages: [asked], tools });
  if (called.calls.length === 0) return { called, after: null };
  const messages = [asked, agent(called), results(called.calls, resultOf)];
  return { called, after: await model.ask({ system, messages, tools }) };
}

const notCalled = partly('The request was accepted, but the model called no tool.');
const sunny = () => ({ output: 'Sunny, 21 °C.' });

/** Fills about this many tokens with text that compresses badly. */
const longText = (tokens: number) =>
  Array.from(
    { length: Math.ceil(tokens / 12) },
    (_, at) => `Record ${at}: shelf ${(at * 7919) % 1009} holds crate ${at * 31}.`,
  ).join('\n');

async function tryHardSchemas(model: TrialModel): Promise<CheckOutcome> {
  const tools = Object.entries(hardToolSchemas).map(([name, inputSchema]) => ({
    name,
    description: `A tool with a hard schema: ${name}.`,
    inputSchema,
  }));
  const messages = [user('Call no tool. Answer with the word ready.')];
  try {
    const { leftOut } = await model.ask({ system, messages, tools });
    if (leftOut.length > 0) return partly(`Rejected and left out: ${leftOut.join(', ')}.`);
    return works(`${tools.length} schemas`);
  } catch (error) {
    // One schema stops the whole request, so each is tried alone to name it.
    const rejected: string[] = [];
    for (const tool of tools)
      await model.ask({ system, messages, tools: [tool] }).catch(() => rejected.push(tool.name));
    if (rejected.length === 0) throw error;
    return fails(`Rejected: ${rejected.join(', ')}. ${(error as Error).message}`);
  }
}

async function tryAnswerSchema(model: TrialModel, given: object, outputSchema: ModelRequest['outputSchema']) {
  const prompt = `Answer with this JSON: ${JSON.stringify(given)}`;
  const answer = await model.ask({ system, messages: [user(prompt)], ...(outputSchema && { outputSchema }) });
  const written = answer.calls[0]?.arguments ?? parsedOr(answer.text);
  const isFilled = typeof written === 'object' && written !== null && 'city' in written;
  return isFilled ? works() : partly('The answer is no JSON of this schema.');
}

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The structure of an answer is kept for other reasons too, such as the vendor's ids. */
const hasThoughts = (reasoning: Reasoning | null) =>
  (reasoning?.parts ?? []).some((part) => {
    const { kind, mark = {} } = part as { kind?: unknown; mark?: object };
    return kind === 'thought' || Object.keys(mark).length > 0;
  });

async function tryReasoningReplay(model: TrialModel): Promise<CheckOutcome> {
  const asked = user(
    'Think about which of Bonn and Riga lies further north. Then call the tool `get_weather` with {"city":"Riga"}.',
  );
  const { called, after } = await callAndAnswer(model, asked, [weather], sunny);
  if (!hasThoughts(called.reasoning)) return skipped('The model returned no reasoning to send back.');
  if (!after) return notCalled;
  const messages = [
    asked,
    agent(called),
    results(called.calls, sunny),
    agent(after),
    user('Thank you. Reply with ready.'),
  ];
  await model.ask({ system, messages, tools: [weather] });
  return works();
}

async function tryCache(model: TrialModel): Promise<CheckOutcome> {
  const request = { system: [longText(6_000), ...system], messages: [user('Reply with the word ready.')] };
  const read = ({ usage }: TrialAnswer) => usage.cacheReadTokens;
  const answers = [await model.ask(request), await model.ask(request)];
  const most = Math.max(...answers.map(read));
  return most > 0 ? works(`${most} tokens read from the cache`) : partly('The vendor reported no cached tokens.');
}

/** A conversation with ids and names of other vendors, an interrupted answer, and texts of white space only. */
function longHistory(): Message[] {
  const exchanges = Array.from({ length: 12 }, (_, at): Message[] => {
    const call = {
      id: `functions.get_weather:${at}/${'x'.repeat(at * 8)}`,
      name: 'get_weather',
      arguments: { city: 'Bonn' },
    };
    return [
      user(`Question ${at}: naïve “quotes”, 漢字, 👩‍🚀 and \u{2028}`),
      agent({ text: at % 3 === 0 ? ' ' : `Looking ${at}.`, calls: [call], reasoning: null }),
      results([call], () => ({ output: at % 2 === 0 ? '' : 'Sunny.', isError: at % 5 === 0 })),
      agent({ text: `Answer ${at}.`, calls: [], reasoning: null }),
    ];
  });
  return [...exchanges.flat(), user('Reply with the word ready.')];
}

/** The order is the order of the report. `text` comes first: if it fails, nothing else is tried. */
export const checks: readonly Check[] = [
  {
    name: 'text',
    isEssential: true,
    run: async ({ ask }) => {
      const { text } = await ask({ system, messages: [user('Reply with the word ready.')] });
      return text.trim() === '' ? fails('The answer is empty.') : works();
    },
  },
  {
    name: 'stream',
    isEssential: false,
    run: async ({ ask }) => {
      const { pieces } = await ask({ system: [], messages: [user('Count from one to forty in words.')] });
      return pieces > 1 ? works(`${pieces} pieces`) : partly('The answer arrived in one piece.');
    },
  },
  {
    name: 'tool call',
    isEssential: true,
    run: async (model) => {
      const { called, after } = await callAndAnswer(model, oneCall, [weather], sunny);
      if (!after) return notCalled;
      const [{ arguments: given } = { arguments: null }] = called.calls;
      return JSON.stringify(given) === '{"city":"Bonn"}' ? works() : partly(`Arguments: ${JSON.stringify(given)}`);
    },
  },
  {
    name: 'parallel calls',
    isEssential: false,
    run: async (model) => {
      const asked = user(
        'Call the tool `get_weather` twice in one answer: with {"city":"Bonn"} and with {"city":"Riga"}.',
      );
      const { called, after } = await callAndAnswer(model, asked, [weather], sunny);
      if (!after) return notCalled;
      return called.calls.length > 1 ? works(`${called.calls.length} calls`) : partly('One call at a time.');
    },
  },
  {
    name: 'no-argument tool',
    isEssential: true,
    run: async (model) => {
      const asked = user('Call the tool `list_regions`. It has no parameters.');
      const { after } = await callAndAnswer(model, asked, [regions, weather], () => ({ output: 'eu, us' }));
      return after ? works() : notCalled;
    },
  },
  {
    name: 'tool error',
    isEssential: true,
    run: async (model) => {
      const { after } = await callAndAnswer(model, oneCall, [weather], () => ({
        output: 'No such city.',
        isError: true,
      }));
      return after ? works() : notCalled;
    },
  },
  { name: 'hard tool schemas', isEssential: true, run: tryHardSchemas },
  {
    name: 'structured output',
    isEssential: true,
    run: (model) => tryAnswerSchema(model, { city: 'Bonn', temperature_c: 21 }, easyAnswerSchema),
  },
  {
    name: 'hard output schema',
    isEssential: false,
    run: (model) =>
      tryAnswerSchema(model, { city: 'Bonn', place: { country: 'Germany' }, version: 1 }, hardAnswerSchema),
  },
  {
    name: 'image',
    isEssential: false,
    run: async ({ ask, reads }) => {
      if (!reads('image')) return skipped('The catalogue says that the model reads no images.');
      const file = { kind: 'file' as const, filename: 'square.png', mediaType: 'image/png', bytes: redPicture() };
      const { text } = await ask({ system, messages: [user('Which colour is the square?', file)] });
      return /red/i.test(text) ? works() : partly('The image was accepted, but the model named another colour.');
    },
  },
  {
    name: 'image from a tool',
    isEssential: false,
    run: async (model) => {
      if (!model.reads('image')) return skipped('The catalogue says that the model reads no images.');
      const content = redPicture();
      const media = [
        { fileId: 'file_1', mediaType: 'image/png', bytes: content.byteLength, width: 64, height: 64, content },
      ];
      const { after } = await callAndAnswer(model, oneCall, [weather], () => ({ output: 'The map.', media }));
      return after ? works() : notCalled;
    },
  },
  {
    name: 'PDF',
    isEssential: false,
    run: async ({ ask, reads }) => {
      if (!reads('pdf')) return skipped('The catalogue says that the model reads no PDFs.');
      const bytes = smallPdf('Invoice number 4711');
      const file = { kind: 'file' as const, filename: 'invoice.pdf', mediaType: 'application/pdf', bytes };
      const { text } = await ask({ system, messages: [user('Which number is in the PDF?', file)] });
      return text.includes('4711') ? works() : partly('The PDF was accepted, but the model did not read its number.');
    },
  },
  { name: 'reasoning replay', isEssential: true, run: tryReasoningReplay },
  {
    name: 'long history',
    isEssential: true,
    run: async ({ ask }) => {
      await ask({ system, messages: longHistory(), tools: [weather] });
      return works();
    },
  },
  { name: 'cache', isEssential: false, run: tryCache },
  {
    name: 'long input',
    isEssential: false,
    run: async ({ ask, contextTokens }) => {
      const tokens = Math.min(20_000, Math.floor(contextTokens / 3));
      const text = `${longText(tokens)}\nThe code word is tangerine.\nReply with the code word.`;
      const answer = await ask({ system, messages: [user(text)] });
      return /tangerine/i.test(answer.text)
        ? works(`about ${tokens} tokens`)
        : partly('The model missed the code word.');
    },
  },
  {
    name: 'cancel',
    isEssential: true,
    run: async ({ cancel }) => {
      const hasStopped = await cancel({
        system: [],
        messages: [user('Write a story of 600 words about a lighthouse.')],
      });
      return hasStopped ? works() : fails('The answer continued after it was cancelled.');
    },
  },
];
