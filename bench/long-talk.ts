import { join } from 'node:path';
import { startScriptedModelServer } from '@vestra/models/testing/scripted-server';
import { freePort } from './processes.ts';
import type { Row, Stage } from './report.ts';
import { startServerProcess } from './server-process.ts';
import { callServer, instructions } from './vestra.ts';

const turns = 50;
/** As Anthropic bills: what is read from its cache costs a tenth, what is written to it a quarter more. */
const [readPrice, writePrice] = [0.1, 1.25];

/**
 * How much of each request of a talk the vendor has seen before, byte for byte from its beginning, and what that saves. Every
 * second turn looks something up. The figures do not depend on the machine.
 */
export async function measureLongTalk({ folder }: Stage): Promise<Row[]> {
  const requests: string[] = [];
  const model = await startScriptedModelServer({
    respond: ({ body, messages, vendor }) => {
      if (vendor !== 'anthropic') return { text: 'ok' };
      requests.push(asRead(body));
      const asked = messages.findLastIndex(({ role }) => role === 'user');
      const isLookup = asked % 2 === 0 && asked === messages.length - 1;
      if (isLookup) return { calls: [{ name: 'routines_list', arguments: {} }] };
      return { text: 'The parcel left our warehouse this morning and will be with you on Friday.' };
    },
  });
  const server = await startServerProcess(join(folder, 'long-talk'), await freePort(), {
    ANTHROPIC_API_KEY: 'sk-scripted',
    ANTHROPIC_BASE_URL: model.baseUrls.anthropic,
    VESTRA_ALLOW_PRIVATE_ADDRESSES: '1',
  });
  try {
    await callServer(server, 'PUT', '/v1/deployments/talk?promote=now', { name: 'talk', instructions });
    const { id } = (await callServer(server, 'POST', '/v1/conversations', { user_id: 'ann', deployment: 'talk' })) as {
      id: string;
    };
    for (let at = 1; at <= turns; at++) {
      await callServer(server, 'POST', `/v1/conversations/${id}/messages`, { message: `Where is order ${1000 + at}?` });
      for (;;) {
        const { status } = (await callServer(server, 'GET', `/v1/conversations/${id}`)) as { status: string };
        if (status === 'idle') break;
      }
    }
  } finally {
    await server.stop();
    await model.close();
  }
  return rowsOf(requests);
}

/** In the order in which the vendor caches: tools, system, messages; without the marks that say what to keep. */
const asRead = ({ tools, system, messages }: Record<string, unknown>) =>
  JSON.stringify([tools, system, messages], (key, value) => (key === 'cache_control' ? undefined : value));

function rowsOf(requests: readonly string[]): Row[] {
  const shared = requests.map((request, at) => sharedBytes(request, requests[at - 1] ?? ''));
  const sizes = requests.map((request) => request.length);
  const [all, known] = [sum(sizes), sum(shared)];
  const withCache = known * readPrice + (all - known) * writePrice;
  return [
    { what: `a talk of ${turns} turns: requests of the model`, measured: String(requests.length) },
    {
      what: 'share of a request that is byte for byte as the one before it',
      measured: `${((known / all) * 100).toFixed(1)} %`,
      budget: '90 %',
    },
    { what: 'input of the talk with the vendor’s cache, to that without', measured: (withCache / all).toFixed(2) },
  ];
}

function sharedBytes(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);
