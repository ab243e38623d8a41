import { describe, expect, it } from 'vitest';
import { createUnfinishedRequests } from './unfinished-requests.ts';

const never = () => new Promise<string>(() => {});
const no = () => {};

describe('requests without a key that are not finished', () => {
  it('are bounded for each address, and make room when they end [HRD-708]', async () => {
    const { receive } = createUnfinishedRequests({ most: 2 });
    const first = Promise.withResolvers<string>();
    const received = receive('192.0.2.1', () => first.promise, no);
    void receive('192.0.2.1', never, no);
    await expect(receive('192.0.2.1', never, no)).rejects.toMatchObject({ code: 'rate_limited' });
    expect(await receive('192.0.2.2', async () => 'other', no)).toBe('other');
    first.resolve('body');
    expect(await received).toBe('body');
    expect(await receive('192.0.2.1', async () => 'next', no)).toBe('next');
  });

  it('end after their time, and the connection with them [HRD-708]', async () => {
    const { receive } = createUnfinishedRequests({ most: 1, withinMs: 1 });
    let isCut = false;
    const late = receive('192.0.2.1', never, () => {
      isCut = true;
    });
    await expect(late).rejects.toMatchObject({ code: 'invalid_request', message: expect.stringContaining('arrive') });
    expect(isCut).toBe(true);
    const failing = receive('192.0.2.1', () => Promise.reject(new Error('the client has gone')), no);
    await expect(failing).rejects.toThrow('the client has gone');
    expect(await receive('192.0.2.1', async () => 'again', no)).toBe('again');
  });
});
