import { z } from 'zod';
import { job } from './catalog.ts';

const retries = { limit: 2, delaySeconds: 0.2, maxDelaySeconds: 1 };

export const testCatalog = {
  note: job({
    payload: z.strictObject({ text: z.string() }),
    policy: 'standard',
    key: ({ text }) => text,
    retries,
    expireInSeconds: 60,
    concurrency: 3,
  }),
  shared: job({
    payload: z.strictObject({ team: z.string(), member: z.string(), item: z.number() }),
    policy: 'standard',
    share: { of: ({ team, member }) => ({ orgId: team, userId: member }), ofOrg: 3, ofUser: 2 },
    retries,
    expireInSeconds: 60,
    concurrency: 5,
  }),
  /** The death of a worker must not count as a retry, even for a job without retries. */
  fenced: job({
    payload: z.strictObject({ run: z.string() }),
    policy: 'standard',
    retries: { limit: 0, delaySeconds: 1, maxDelaySeconds: 1 },
    expireInSeconds: 600,
    concurrency: 1,
  }),
};

export const recurringCatalog = {
  tick: job({
    payload: z.strictObject({}),
    policy: 'recurring',
    everySeconds: 0.2,
    expireInSeconds: 60,
    concurrency: 1,
  }),
};
