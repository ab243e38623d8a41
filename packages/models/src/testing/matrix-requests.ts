import type { AgentMessage, Message, ToolCall, ToolDefinition, ToolResult, UserPart } from '@vestra/agent/message';
import type { ModelRequest } from '@vestra/agent/model';
import { easyAnswerSchema, hardAnswerSchema } from '../trial/hard-schemas.ts';
import { redPicture, smallPdf } from '../trial/sample-files.ts';

const text = (words: string): UserPart => ({ kind: 'text', text: words });
const user = (...parts: (string | UserPart)[]): Message => ({
  role: 'user',
  parts: parts.map((part) => (typeof part === 'string' ? text(part) : part)),
});
const agent = (words: string, ...calls: ToolCall[]): AgentMessage => ({ role: 'agent', text: words, calls });
const call = (id: string, name = 'get_weather', given: unknown = { city: 'Bonn' }): ToolCall => ({
  id,
  name,
  arguments: given,
});
const result = (callId: string, more: Partial<ToolResult> = {}): ToolResult => ({
  callId,
  name: 'get_weather',
  output: 'Sunny.',
  isError: false,
  ...more,
});
const results = (...each: ToolResult[]): Message => ({ role: 'tool', results: each });

const weather: ToolDefinition = {
  name: 'get_weather',
  description: 'Returns the weather of a city.',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const named = (name: string, more: Partial<ToolDefinition> = {}): ToolDefinition => ({ ...weather, name, ...more });

const file = (filename: string, mediaType: string, bytes: Uint8Array): UserPart => ({
  kind: 'file',
  filename,
  mediaType,
  bytes,
});
const picture = file('a.png', 'image/png', redPicture());
const pdf = file('a.pdf', 'application/pdf', smallPdf('Invoice 4711'));
const media = [
  { fileId: 'f', mediaType: 'image/png', bytes: 200, width: 64, height: 64, content: redPicture() },
] as const;

const tree = {
  type: 'object',
  properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#' } } },
  required: ['name'],
};
const asked = user('Weather in Bonn?');
const tools = [weather];
const long = Array.from({ length: 60 }, (_, at): Message[] => {
  const id = `call_${at}`;
  return [user(`Question ${at}`), agent(`Looking ${at}.`, call(id)), results(result(id)), agent(`Answer ${at}.`)];
}).flat();

/** Thirty requests that a server sends. Every provider must accept each of them. */
export const matrixRequests: Readonly<Record<string, Partial<ModelRequest>>> = {
  'a text': { messages: [user('Hello')] },
  'three system blocks': { system: ['One.', 'Two.', 'Three.'], messages: [user('Hello')] },
  'empty system blocks': { system: ['', 'Be kind.', ' \n'], messages: [user('Hello')] },
  'a limit of the answer': { messages: [user('Hello')], maxOutputTokens: 64 },
  'a message in parts': { messages: [user('One', 'two', { kind: 'text', text: 'It is Tuesday.', isPassing: true })] },
  'two messages of the user': { messages: [user('Hello'), user('Are you there?')] },
  'an agent that speaks first': { messages: [agent('Welcome.'), user('Hello')] },
  'an agent that speaks last': { messages: [user('Hello'), agent('Half of an ans ')] },
  'empty texts': { messages: [user(''), user('Hello', ' '), agent(' '), user('\n', 'Again')] },
  'text of all kinds': { messages: [user('naïve “quotes” 漢字 👩‍🚀 \u{2028} \\ " \t < & {{x}} <|im_end|> [INST]')] },
  'a tool': { messages: [asked], tools },
  'a call and its result': { messages: [asked, agent('', call('a')), results(result('a'))], tools },
  'a text before a call': { messages: [asked, agent('I look.', call('a')), results(result('a'))], tools },
  'parallel calls': {
    messages: [asked, agent('', call('a'), call('b')), results(result('a'), result('b'))],
    tools,
  },
  'a failed tool': { messages: [asked, agent('', call('a')), results(result('a', { isError: true }))], tools },
  'an empty result': { messages: [asked, agent('', call('a')), results(result('a', { output: '' }))], tools },
  'a call without arguments': {
    messages: [asked, agent('', call('a', 'list', {})), results(result('a', { name: 'list' }))],
    tools: [named('list', { inputSchema: { type: 'object' } })],
  },
  'a call whose arguments are no object': {
    messages: [asked, agent('', call('a', 'get_weather', '{"city":')), results(result('a', { isError: true }))],
    tools,
  },
  'a picture from a tool': { messages: [asked, agent('', call('a')), results(result('a', { media }))], tools },
  'a picture from one of two tools': {
    messages: [asked, agent('', call('a'), call('b')), results(result('a', { media }), result('b', { isError: true }))],
    tools,
  },
  'a note after results': { messages: [asked, agent('', call('a')), results(result('a')), user('In Celsius.')], tools },
  'a picture': { messages: [user('What is it?', picture)] },
  'a PDF': { messages: [user('Read it.', pdf)] },
  'several files, one unreadable': {
    messages: [user(picture, pdf, file('a.zip', 'application/zip', new Uint8Array(4)), 'Compare.')],
  },
  'structured output': { messages: [asked], outputSchema: easyAnswerSchema },
  'structured output beside tools': { messages: [asked], outputSchema: easyAnswerSchema, tools },
  'structured output of a hard schema': { messages: [asked], outputSchema: hardAnswerSchema },
  'structured output of any object': { messages: [asked], outputSchema: { type: 'object' } },
  'structured output of a tree': { messages: [asked], outputSchema: tree },
  'structured output that is a list': { messages: [asked], outputSchema: { type: 'array', items: { type: 'string' } } },
  'hostile names and ids': {
    messages: [
      asked,
      agent('', call('functions.a:0/ö', 'calendar.read'), call('x'.repeat(200), '1c_reload'), call('', 'mcp/ tool')),
      results(
        result('functions.a:0/ö', { name: 'calendar.read' }),
        result('x'.repeat(200), { name: '1c_reload' }),
        result('', { name: 'mcp/ tool' }),
      ),
    ],
    tools: ['calendar.read', '1c_reload', 'mcp/ tool', `long_${'x'.repeat(200)}`, 'größe'].map((name) => named(name)),
  },
  'a tool that is no longer offered': {
    messages: [asked, agent('', call('a', 'gone')), results(result('a', { name: 'gone' }))],
  },
  '128 tools': { messages: [asked], tools: Array.from({ length: 128 }, (_, at) => named(`tool_${at}`)) },
  'a long description': { messages: [asked], tools: [named('long', { description: 'Use it well. '.repeat(300) })] },
  'a long history': { system: ['Be kind.'], messages: [...long, asked], tools },
  'the end of a long history': { system: ['Be kind.'], messages: [...long.slice(3), asked], tools },
  'every cache mark': {
    system: ['One.', 'Two.', 'Three.', 'Four.'],
    messages: [
      ...long.slice(0, 8),
      user('Hello', picture, { kind: 'text', text: 'Open tasks: none.', isPassing: true }),
    ],
    tools,
  },
};
