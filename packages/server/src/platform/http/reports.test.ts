import { describe, expect, it } from 'vitest';
import { createReports } from './reports.ts';

const { signal } = new AbortController();

describe('createReports', () => {
  it('reads one report of an org at a time, lets others in, and refuses what it cannot queue', async () => {
    const reports = createReports();
    const gate = Promise.withResolvers<void>();
    let reading = 0;
    const slow = async () => {
      reading++;
      await gate.promise;
      return 'report';
    };
    const queued = Array.from({ length: 17 }, () => reports('org_a', slow, signal));
    await expect(reports('org_a', slow, signal)).rejects.toMatchObject({
      code: 'rate_limited',
      details: { retry_after_ms: 5000 },
    });
    expect(reading).toBe(1);
    await expect(reports('org_b', async () => 'other', signal)).resolves.toBe('other');
    gate.resolve();
    expect(await Promise.all(queued)).toEqual(Array(17).fill('report'));
  });

  it('returns an empty result as it is', async () => {
    await expect(createReports()('org_a', async () => null, signal)).resolves.toBeNull();
  });
});
