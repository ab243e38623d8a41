import { fail } from '@vestra/contract/errors';
import { describe, expect, it } from 'vitest';
import { createEndpointBreaker } from './customer-memory.ts';

const tenant = { orgId: 'org_1', mode: 'live' } as const;
const away = () => Promise.reject(fail('memory_endpoint_error', { message: 'It is away.' }));

function start() {
  let time = 0;
  const told: string[] = [];
  const { unlessFailing } = createEndpointBreaker({ opened: ({ mode }) => told.push(mode), now: () => time });
  return {
    told,
    wait: (ms: number) => {
      time += ms;
    },
    /** Runs a call and returns its result as a word. */
    call: (
      work: () => Promise<unknown> = async () => 'answered',
      of = tenant as { orgId: string; mode: 'test' | 'live' },
    ) => unlessFailing(of, work).then(String, (error: Error) => error.message.slice(0, 19)),
  };
}

const passedOver = 'The memory endpoint';

describe('the circuit breaker of an endpoint', () => {
  it('skips a failed endpoint for a minute, then lets one call try it, and reports each outage once [MEM-305]', async () => {
    const { call, wait, told } = start();
    expect(await Promise.all([call(away), call(away)])).toEqual(['It is away.', 'It is away.']);
    expect(await call()).toBe(passedOver);
    wait(59_999);
    expect(await call()).toBe(passedOver);
    wait(1);
    let end = () => {};
    const trying = call(() => new Promise((resolve) => (end = () => resolve('back'))));
    expect(await call()).toBe(passedOver);
    end();
    expect([await trying, await call()]).toEqual(['back', 'answered']);
    expect(told).toEqual(['live']);
    await call(away);
    expect(told).toEqual(['live', 'live']);
  });

  it('keeps skipping if the retry fails, and allows another retry if the first never ends', async () => {
    const { call, wait, told } = start();
    await call(away);
    wait(60_000);
    expect([await call(away), await call()]).toEqual(['It is away.', passedOver]);
    wait(60_000);
    void call(() => new Promise(() => {}));
    expect(await call()).toBe(passedOver);
    wait(15_000);
    expect(await call()).toBe('answered');
    expect(told).toEqual(['live']);
  });

  it('is separate for each org and mode, and ignores other errors', async () => {
    const { call } = start();
    await call(away);
    expect(await call(undefined, { ...tenant, mode: 'test' })).toBe('answered');
    expect(await call(undefined, { ...tenant, orgId: 'org_2' })).toBe('answered');
    const other = start();
    await other.call(() => Promise.reject(fail('memory_endpoint_required')));
    expect(await other.call()).toBe('answered');
  });
});
