import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { outcomeOf, sse, startRawEndpoint, writing } from '../raw-endpoint.fixture.ts';
import { createCompatibleWire } from './compatible.ts';
import { doneMark, emptyAnswer } from './wire.ts';

let endpoint: Awaited<ReturnType<typeof startRawEndpoint>>;
beforeAll(async () => {
  endpoint = await startRawEndpoint();
});
afterAll(() => endpoint.close());

const chunk = (delta: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
});
const stop = chunk({}, 'stop');

async function replyTo(pieces: readonly string[], end: object | string = stop) {
  endpoint.respond(writing([sse(...pieces.map((content) => chunk({ content })), end)]));
  return outcomeOf(endpoint.stream('compatible'));
}

describe('reasoning in `content` [MOD-734]', () => {
  const whole = '<think>\nThe user said hello.\n</think>\n\nHello! How can I help?';

  it.each([1, 2, 3, 7, 8, 1000])('is not part of the reply, in pieces of %i characters', async (size) => {
    const pieces = whole.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? [];
    expect(await replyTo(pieces)).toMatchObject({ text: 'Hello! How can I help?', failure: null });
  });

  it.each([
    ['white space before it', '\n <think>hm</think>Hi', 'Hi'],
    ['an empty thought, as of Qwen without thinking', '<think>\n\n</think>\n\nHi', 'Hi'],
    ['tags inside the reply', 'Use <think> and </think>.', 'Use <think> and </think>.'],
    ['a second thought', '<think>a</think>b<think>c</think>d', 'b<think>c</think>d'],
    ['other tags', '<thinking>hm</thinking>Hi', '<thinking>hm</thinking>Hi'],
    ['markup', '<table><tr></tr></table>', '<table><tr></tr></table>'],
    ['a comparison', '<3 to you', '<3 to you'],
    ['a tag that never closes', '<think> is a tag of R1.', '<think> is a tag of R1.'],
    ['the beginning of a tag alone', '<thi', '<thi'],
    ['white space alone', '  \n', '  \n'],
  ])('%s', async (_what, content, reply) => {
    for (const pieces of [[content], [...content]]) {
      expect(await replyTo(pieces)).toMatchObject({ text: reply, failure: null });
      expect(await replyTo(pieces, `data: ${doneMark}\n\n`)).toMatchObject({ text: reply, failure: null });
    }
  });

  it('that the length limit cut off is no reply', async () => {
    expect(await replyTo(['<think>', 'Let me see'], chunk({}, 'length'))).toMatchObject({
      text: '',
      failure: null,
      end: { cut: true },
    });
  });

  it('that leads to a call is no reply, even without a closing tag', async () => {
    const call = { index: 0, id: 'a', function: { name: 'get_weather', arguments: '{}' } };
    endpoint.respond(
      writing([sse(chunk({ content: '<think>I need it' }), chunk({ tool_calls: [call] }), chunk({}, 'tool_calls'))]),
    );
    expect(await outcomeOf(endpoint.stream('compatible'))).toMatchObject({
      text: '',
      calls: [{ name: 'get_weather' }],
    });
  });

  it('is billed if the server counts nothing', async () => {
    const { end } = await replyTo(['<think>', 'x'.repeat(4000), '</think>Hi']);
    expect(end).toMatchObject({ usage: { isEstimated: true, outputTokens: 1003 } });
  });
});

/** The text after each event: what a person has seen by then. */
function shown(modelId: string, answers: readonly (readonly object[])[]): string[][] {
  const wire = createCompatibleWire();
  return answers.map((events) => {
    const answer = emptyAnswer();
    const read = wire.reader(answer, { modelId } as Parameters<typeof wire.reader>[1]);
    const texts = events.map((event) => {
      read(event);
      return answer.text;
    });
    wire.onWritten?.(answer.text);
    return texts;
  });
}

const said = (...contents: string[]) => [...contents.map((content) => chunk({ content })), stop];

describe('a stream with tags [MOD-734]', () => {
  it('delays no ordinary reply by a single event', () => {
    const pieces = ['Good', ' ', 'morning', ' <', '3', ' a > b', '</', 'x'];
    const [seen] = shown('llama-4', [said(...pieces)]);
    expect(seen?.slice(0, pieces.length)).toEqual(pieces.map((_, at) => pieces.slice(0, at + 1).join('')));
  });

  it('shows the reply as it arrives after the thought', () => {
    const [seen] = shown('qwen', [said('<think>', 'hm', '</think>', '\n\n', 'Good', ' day')]);
    expect(seen).toEqual(['', '', '', '', 'Good', 'Good day', 'Good day']);
  });

  const withoutOpening = said('Alright, a greeting.\n', '</think>', '\n\n', 'Hello', '!');

  it.each([
    'deepseek-r1:14b',
    'deepseek-ai/DeepSeek-R1-Distill-Qwen-32B',
    'Qwen/QwQ-32B',
    'qwen3-30b-a3b-thinking-2507',
  ])('without an opening tag, of %s, contains only the reply', (modelId) => {
    const [seen] = shown(modelId, [withoutOpening]);
    expect(seen).toEqual(['', '', '', 'Hello', 'Hello!', 'Hello!']);
  });

  it('without an opening tag, of another model, is recognised from the second answer on', () => {
    const [, second, third, fourth] = shown('house/o-7', [
      withoutOpening,
      withoutOpening,
      said('Just', ' so'),
      said('Yes'),
    ]);
    expect(second?.at(-1)).toBe('Hello!');
    // An answer without tags is held for once, complete in the end, and the next one is streamed again.
    expect(third).toEqual(['', '', 'Just so']);
    expect(fourth).toEqual(['Yes', 'Yes']);
  });

  it('of a server with a reasoning parser is not held back', () => {
    const [seen] = shown('deepseek-r1', [[chunk({ reasoning_content: 'hm' }), ...said('Good', ' day')]]);
    expect(seen).toEqual(['', 'Good', 'Good day', 'Good day']);
  });

  it('is not learnt from a sentence about the tag', () => {
    const [, second] = shown('o-7', [said('The thought ends with </think> here.'), said('Good', ' day')]);
    expect(second?.[0]).toBe('Good');
  });
});
