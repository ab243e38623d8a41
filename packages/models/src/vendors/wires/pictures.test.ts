import type { Message, ToolMedia } from '@vestra/agent/message';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createModels } from '../../models.ts';
import type { NormalisedRequest, ScriptedAnswer } from '../../testing/scripted-answer.ts';
import { type ScriptedModelServer, startScriptedModelServer } from '../../testing/scripted-server.ts';
import { models, type RawVendor, weather } from '../raw-endpoint.fixture.ts';
import { googleWire } from './google.ts';

let server: ScriptedModelServer;
let answers: ScriptedAnswer[] = [];
let seen: NormalisedRequest[] = [];
beforeAll(async () => {
  server = await startScriptedModelServer({
    respond: (request) => {
      seen.push(request);
      return answers.shift() ?? { text: 'Seen.' };
    },
  });
});
beforeEach(() => {
  answers = [];
  seen = [];
});
afterAll(() => server.close());

const content = Buffer.from('a picture');
const data = content.toString('base64');
const picture: ToolMedia = { fileId: 'file_1', mediaType: 'image/png', bytes: 9, width: 4, height: 3, content };
const recording: ToolMedia = { ...picture, mediaType: 'audio/wav', width: null, height: null };

const looked = (media: readonly ToolMedia[], isError = false): Message[] => [
  { role: 'user', parts: [{ kind: 'text', text: 'Look.' }] },
  { role: 'agent', text: '', calls: [{ id: 'call_1', name: 'get_weather', arguments: {} }] },
  { role: 'tool', results: [{ callId: 'call_1', name: 'get_weather', output: 'A map.', isError, media }] },
];

async function ask(id: string, messages: readonly Message[], takes: readonly ('image' | 'pdf')[] | null = null) {
  const { compatible, ...settings } = server.settings;
  const own = compatible && { ...compatible, takes };
  const signal = new AbortController().signal;
  const request = { model: id, system: [], messages, tools: [weather], signal };
  let text = '';
  for await (const event of createModels({ ...settings, compatible: own })
    .model(id)
    .stream(request)) {
    if (event.type === 'text') text += event.text;
  }
  return { text, body: seen.at(-1)?.body as Record<string, never> };
}

describe('a picture returned by a tool [PIC-001]', () => {
  const source = { type: 'base64', media_type: 'image/png', data };
  const url = `data:image/png;base64,${data}`;
  const inline = { inlineData: { mimeType: 'image/png', data } };

  it.each<[RawVendor, string, object]>([
    [
      'anthropic',
      'messages',
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            content: [
              { type: 'text', text: 'A map.' },
              { type: 'image', source },
            ],
            tool_use_id: 'call_1',
          },
        ],
      },
    ],
    [
      'openai',
      'input',
      {
        call_id: 'call_1',
        output: [
          { type: 'input_text', text: 'A map.' },
          { type: 'input_image', image_url: url },
        ],
      },
    ],
    ['google', 'contents', { parts: [{}, { text: 'What get_weather answered with:' }, inline] }],
    [
      'compatible',
      'messages',
      { role: 'user', content: [{ type: 'text' }, { type: 'image_url', image_url: { url } }] },
    ],
  ])('reaches %s', async (vendor, field, expected) => {
    const id = vendor === 'compatible' ? 'compatible/scripted' : models[vendor];
    const { body } = await ask(id, looked([picture]), ['image']);
    expect((body[field] as unknown as object[]).at(-1)).toMatchObject(expected);
  });

  it('is inside its result for Gemini 3', () => {
    const body = googleWire.body({
      modelId: 'gemini-3.1-pro',
      system: [],
      messages: looked([picture]),
      tools: [],
      mustCallTool: false,
      output: { type: 'text' },
      maxOutputTokens: 9,
      reasoning: null,
      asksForReasoning: true,
      isReasoningLeftOut: false,
    }) as { contents: { parts: object[] }[] };
    expect(body.contents.at(-1)?.parts).toMatchObject([{ functionResponse: { parts: [inline] } }]);
    expect(body.contents[1]?.parts).toMatchObject([{ thoughtSignature: 'skip_thought_signature_validator' }]);
  });

  it('is not marked as an error for Anthropic, whose error results accept only text', async () => {
    const { body } = await ask(models.anthropic, looked([picture], true));
    expect(JSON.stringify(body)).not.toContain('is_error');
    expect(JSON.stringify((await ask(models.anthropic, looked([], true))).body)).toContain('is_error');
  });
});

describe('media that a model cannot read [PIC-002]', () => {
  it.each<[string, string, ToolMedia, string]>([
    ['compatible/scripted', 'a picture', picture, '[image/png, 4 × 3, 1 KB: this model cannot see it]'],
    [models.anthropic, 'a recording', recording, '[audio/wav, 1 KB: this model cannot hear it]'],
    [models.anthropic, 'a kind that nobody knows', { ...picture, mediaType: 'image/tiff' }, 'this model cannot see it'],
    [models.anthropic, 'too much', { ...picture, bytes: 5_000_000 }, 'it is too large to be shown'],
  ])('is a line for %s: %s', async (id, _what, media, line) => {
    const { body } = await ask(id, looked([media]));
    expect(JSON.stringify(body)).toContain(line);
    expect(JSON.stringify(body)).not.toContain(data);
  });

  it('is sent to a model that can read it: a recording to Gemini', async () => {
    const { body } = await ask(models.google, looked([recording]));
    expect(JSON.stringify(body)).toContain(JSON.stringify({ mimeType: 'audio/wav', data }));
  });
});

it('a compatible endpoint receives the media that the operator configured [PIC-003]', async () => {
  const paper = { kind: 'file' as const, filename: 'a.pdf', mediaType: 'application/pdf', bytes: content };
  const messages: Message[] = [{ role: 'user', parts: [{ kind: 'text', text: 'Read.' }, paper] }];
  const { body } = await ask('compatible/scripted', messages, ['image', 'pdf']);
  expect(JSON.stringify(body)).toContain(`"file_data":"data:application/pdf;base64,${data}"`);
  expect(JSON.stringify((await ask('compatible/scripted', messages, ['image'])).body)).toContain('cannot read it');
  const takes = (id: string, given: readonly ('image' | 'pdf')[] | null) => {
    const compatible = server.settings.compatible && {
      ...server.settings.compatible,
      models: ['any', 'llava'],
      takes: given,
    };
    const of = createModels({ ...server.settings, compatible });
    return [of.takes(id, 'image'), of.takes(id, 'pdf')];
  };
  expect(takes('compatible/any', null)).toEqual([false, false]);
  expect(takes('compatible/llava', null)).toEqual([true, false]);
  expect(takes('compatible/any', ['pdf'])).toEqual([false, true]);
  expect(takes(models.anthropic, null)).toEqual([true, true]);
  expect(takes('offline', null)).toEqual([false, false]);
});

it('a corrupt picture is removed and the request is retried once [PIC-009]', async () => {
  answers = [{ fail: 400, failMessage: 'Could not process image' }, { text: 'So be it.' }];
  const { text, body } = await ask(models.anthropic, looked([picture]));
  expect(text).toBe('So be it.');
  expect(seen).toHaveLength(2);
  expect(JSON.stringify(body)).toContain('[image/png, 4 × 3, 1 KB: it cannot be read]');
  answers = [{ fail: 400 }, { text: 'never' }];
  await expect(ask(models.anthropic, looked([]))).rejects.toMatchObject({ reason: 'refused' });
});
