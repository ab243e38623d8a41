import { appendFileSync } from 'node:fs';
import { createClient } from '@vestra/sdk/client';
import { serveFunctions } from '@vestra/sdk/functions';

/** A function server in a separate process, for tests that kill it. It records each call that it starts. */
const { BASE_URL = '', KEY = '', DEPLOYMENT = '', NOTES = '', ANSWER } = process.env;

await serveFunctions(createClient({ baseUrl: BASE_URL, key: KEY }), {
  deployment: DEPLOYMENT,
  functions: {
    find_stock: async (_input, { call_id, attempt }) => {
      appendFileSync(NOTES, `${ANSWER ?? 'hangs'} ${call_id} ${attempt}\n`);
      return ANSWER ?? new Promise(() => {});
    },
  },
  onEvent: ({ type }) => process.stdout.write(`${type}\n`),
});
