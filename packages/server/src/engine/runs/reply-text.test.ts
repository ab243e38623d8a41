import type { ModelStep } from '@vestra/agent/step';
import { goOn } from '@vestra/agent/transcript';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createReplyPace, createReplyText, joinTexts } from './reply-text.ts';

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

function replyText({ before = '', takesMs = 0, pace = createReplyPace() } = {}) {
  const written: { text: string; at: number }[] = [];
  const published: unknown[] = [];
  let failure: Error | null = null;
  const text = createReplyText({
    before,
    lastStep: null,
    write: async (piece) => {
      if (takesMs > 0) await new Promise((resolve) => setTimeout(resolve, takesMs));
      if (failure) throw failure;
      written.push({ text: piece, at: Date.now() - 1_000_000 });
      return { seq: written.length };
    },
    onWritten: (entry) => published.push(entry.seq),
    pace,
  });
  return { text, written, published, fail: (error: Error) => (failure = error) };
}

describe('createReplyText', () => {
  it('writes the first piece at once and joins later pieces for 40 ms [EVT-022]', async () => {
    const { text, written, published } = replyText();
    for (let at = 0; at < 20; at++) {
      text.append(0, `${at} `);
      await vi.advanceTimersByTimeAsync(10);
    }
    await vi.advanceTimersByTimeAsync(40);
    expect(written[0]).toEqual({ text: '0 ', at: 0 });
    expect(written.map(({ text: piece }) => piece).join('')).toBe([...Array(20).keys()].map((at) => `${at} `).join(''));
    const gaps = written.slice(1).map(({ at }, index) => at - (written[index]?.at ?? 0));
    expect(gaps.every((gap) => gap === 40)).toBe(true);
    expect(written.length).toBeLessThan(8);
    expect(published).toEqual(written.map((_, at) => at + 1));
  });

  it('keeps the order during a slow write and joins the pieces that arrive meanwhile', async () => {
    const { text, written } = replyText({ takesMs: 100 });
    text.append(0, 'a');
    await vi.advanceTimersByTimeAsync(10);
    text.append(0, 'b');
    await vi.advanceTimersByTimeAsync(50);
    text.append(0, 'c');
    await vi.advanceTimersByTimeAsync(700);
    expect(written.map(({ text: piece }) => piece)).toEqual(['a', 'bc']);
  });

  it('returns the unwritten rest and the whole text when drained', async () => {
    const { text, written } = replyText({ before: 'Before.' });
    text.append(1, 'One');
    await vi.advanceTimersByTimeAsync(1);
    text.append(1, ' two');
    text.append(2, 'Three');
    expect(await text.drain()).toEqual({ whole: 'Before.\n\nOne two\n\nThree', unstreamed: ' two\n\nThree' });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(written.map(({ text: piece }) => piece)).toEqual(['\n\nOne']);
  });

  it('writes nothing if the reply ends in the tick in which it begins', async () => {
    const { text, written } = replyText();
    text.append(0, 'One');
    expect(await text.drain()).toEqual({ whole: 'One', unstreamed: 'One' });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(written).toEqual([]);
  });

  it('joins for longer if writes take longer', async () => {
    const { text, written } = replyText({ takesMs: 50 });
    for (let at = 0; at < 100; at++) {
      text.append(0, '.');
      await vi.advanceTimersByTimeAsync(10);
    }
    const gaps = written.slice(1).map(({ at }, index) => at - (written[index]?.at ?? 0));
    expect(gaps.length).toBeGreaterThan(2);
    expect(gaps.every((gap) => gap >= 200)).toBe(true);
  });

  it('writes all replies of a process in the same tick, less often the more there are', async () => {
    const pace = createReplyPace();
    const replies = Array.from({ length: 24 }, () => replyText({ pace }));
    // The replies have different rhythms.
    for (let at = 0; at < 1_000; at++) {
      for (const [index, { text }] of replies.entries()) if ((at + index) % 20 === 0) text.append(0, '.');
      await vi.advanceTimersByTimeAsync(1);
    }
    const times = replies.flatMap(({ written }) => written.filter((_, index) => index > 2).map(({ at }) => at));
    expect(times.length).toBeGreaterThan(24 * 8);
    const flushes = [...new Set(times)].toSorted((a, b) => a - b);
    expect(flushes.slice(1).map((at, index) => at - (flushes[index] as number))).toEqual(
      flushes.slice(1).map(() => 86),
    );
  });

  it('rethrows the error of a failed write', async () => {
    const { text, fail } = replyText();
    fail(new Error('not the owner'));
    text.append(0, 'a');
    await vi.advanceTimersByTimeAsync(1);
    expect(() => text.append(0, 'b')).toThrow('not the owner');
    await expect(text.drain()).rejects.toThrow('not the owner');
  });

  it('joins the text of recorded steps as it was written', () => {
    const step = (text: string, more: Partial<ModelStep> = {}): ModelStep => ({
      kind: 'model',
      text,
      calls: [],
      reasoning: null,
      notice: null,
      isCut: false,
      usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
      ...more,
    });
    expect(joinTexts([step('One'), step(''), step('Two')])).toBe('One\n\nTwo');
    expect(joinTexts([step('Fir'), step('One ha', { isCut: true, notice: goOn }), step('lf')])).toBe('Fir\n\nOne half');
  });
});
