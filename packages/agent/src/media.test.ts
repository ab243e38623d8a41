import { expect, it } from 'vitest';
import { withContent, withNewestMedia } from './media.ts';
import type { Message, ToolMedia } from './message.ts';
import { tokensOfMessage } from './tokens.ts';

const picture = (fileId: string, bytes = 1024): ToolMedia => ({
  fileId,
  mediaType: 'image/png',
  bytes,
  width: 1280,
  height: 800,
});
const looked = (...media: ToolMedia[]): Message => ({
  role: 'tool',
  results: [{ callId: 'call_1', name: 'look', output: 'Seen.', isError: false, media }],
});
const shown = (messages: readonly Message[]) =>
  messages.flatMap((message) =>
    message.role === 'tool' ? message.results.flatMap(({ media }) => (media ?? []).map(({ fileId }) => fileId)) : [],
  );
const outputs = (messages: readonly Message[]) =>
  messages.flatMap((message) => (message.role === 'tool' ? message.results.map(({ output }) => output) : []));

const run = (count: number) => Array.from({ length: count }, (_, at) => looked(picture(`p${at}`)));

it.each([
  [1, 1],
  [11, 11],
  [12, 6],
  [17, 11],
  [18, 6],
  [500, 8],
])('of %i pictures the newest %i are shown [PIC-004]', (count, left) => {
  const newest = run(count);
  expect(shown(withNewestMedia(newest))).toEqual(shown(newest).slice(-left));
});

it('keeps the earlier messages identical in most requests, so that they can be cached [PIC-004]', () => {
  const changes = Array.from({ length: 60 }, (_, at) => at).filter((at) => {
    const before = JSON.stringify(withNewestMedia(run(at)));
    return !JSON.stringify(withNewestMedia(run(at + 1))).startsWith(before.slice(0, -1));
  });
  expect(changes.length).toBeLessThanOrEqual(10);
});

it('replaces an older picture by a line with its type and size [PIC-004]', () => {
  expect(outputs(withNewestMedia(run(12)))[0]).toBe(
    'Seen.\n[image/png, 1280 × 800, 1 KB: it was shown before and is left out now]',
  );
});

it('limits all pictures together to the size of a request, newest first [PIC-004]', () => {
  const heavy = Array.from({ length: 5 }, (_, at) => looked(picture(`p${at}`, 4 * 1_048_576)));
  expect(shown(withNewestMedia(heavy))).toEqual(['p2', 'p3', 'p4']);
});

it('replaces a deleted picture by a line and reads no file if there are no pictures', async () => {
  const read = async ({ fileId }: ToolMedia) => (fileId === 'gone' ? null : new Uint8Array([1]));
  const messages = await withContent([looked(picture('gone'), picture('there'))], read);
  expect(shown(messages)).toEqual(['there']);
  expect(outputs(messages)[0]).toContain('it was deleted');
  const plain: Message[] = [{ role: 'user', parts: [] }];
  expect(await withContent(plain, () => Promise.reject(new Error('read')))).toBe(plain);
});

it('counts a picture by its area', () => {
  expect(tokensOfMessage(looked(picture('p')))).toBe(Math.ceil((1280 * 800) / 750) + 2);
});
