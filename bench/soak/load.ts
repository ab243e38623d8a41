import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, createClient } from '@vestra/sdk/client';
import { each } from '../load.ts';
import { actingFunction, actingWords, longWords, reply, slowTokens, slowWords } from '../model-process.ts';
import type { RunningServer } from '../server-process.ts';

/** Counts of what the clients saw. The checks compare the database with them. */
type Witness = {
  turns: number;
  tasks: number;
  batchItems: number;
  errors: string[];
  /** Starts that were left out because too many of the same kind were still open: the machine was slower than the rate. */
  heldBack: number;
};

type Load = { witness: Witness; run: (minutes: number) => Promise<void> };

const users = 2000;
const rememberedUsers = 40;
const talks = 200;
const turnsOfATalk = 12;
const longTalks = 4;
const routineCount = 300;
const batch = { items: 300, everyMinutes: 3 };

/** Of 40 turns a second; the batch and the routines make about two more. */
const shares = { plain: 15, talk: 17, long: 1, slow: 2, task: 1, remembered: 2 };
const sharesInAll = 40;

/**
 * A steady load on two processes, each conversation of which is made at one of them and followed at the other. Whatever
 * grows in it stops growing within a few minutes: talks end and are followed by new ones, the endless ones outgrow their
 * model's window and are summed up, and people are met again.
 */
export function createLoad(servers: readonly RunningServer[], perSecond: number): Load {
  const witness: Witness = { turns: 0, tasks: 0, batchItems: 0, errors: [], heldBack: 0 };
  const clients = servers.map(({ url, testKey }) =>
    createClient({ baseUrl: url, key: testKey, retries: 0, timeoutMs: 60_000 }),
  );
  let made = 0;
  const nextPair = (): [Client, Client] => {
    const first = made++ % clients.length;
    return [clients[first] as Client, clients[(first + 1) % clients.length] as Client];
  };
  const nextUser = () => `user-${made % users}`;

  async function plain(): Promise<void> {
    const [client] = nextPair();
    const fields = { deployment: 'shop', user_id: nextUser(), message: 'Where is my parcel?' };
    await readToEnd(await client.conversations.create({ ...fields, stream: true }), reply);
  }

  async function remembered(): Promise<void> {
    const [client] = nextPair();
    const user_id = `regular-${made % rememberedUsers}`;
    const message = 'My parcels go to Lisbon. Where is the last one?';
    await readToEnd(
      await client.conversations.create({ deployment: 'remembering', user_id, message, stream: true }),
      reply,
    );
  }

  const restingTalks: { id: string; turns: number }[] = [];
  /** The next turn of the talk that has rested longest, each turn at another process than the one before. */
  async function talk(): Promise<void> {
    const [client] = nextPair();
    const resting = restingTalks.length >= talks ? restingTalks.shift() : undefined;
    const conversation = resting ?? { id: await begin(client), turns: 0 };
    await say(client, conversation.id, 'And when does it come?', reply);
    conversation.turns += 1;
    if (conversation.turns < turnsOfATalk) restingTalks.push(conversation);
  }

  const endlessTalks: Promise<string>[] = [];
  let longTurns = 0;
  /** At most one turn at a time in each. */
  async function long(): Promise<void> {
    const [client] = nextPair();
    const at = longTurns++ % longTalks;
    const before = endlessTalks[at] ?? begin(client);
    endlessTalks[at] = before.then(async (id) => {
      await say(client, id, longWords, null);
      return id;
    });
    await endlessTalks[at];
  }

  const begin = async (client: Client) =>
    (await client.conversations.create({ deployment: 'shop', user_id: nextUser() })).id;

  async function say(client: Client, conversation_id: string, message: string, expected: string | null): Promise<void> {
    await readToEnd(await client.conversations.send({ conversation_id, message, stream: true }), expected);
  }

  /** A reply streamed over four seconds, read by its sender and by a follower at each process. */
  async function slow(): Promise<void> {
    const [client, other] = nextPair();
    const id = await begin(client);
    const follow = async (at: Client) => {
      const following = new AbortController();
      const events = await at.conversations.events({ conversation_id: id }, { signal: following.signal });
      return textUntilSettled(events).finally(() => following.abort());
    };
    const followers = [follow(client), follow(other)];
    const asked = textUntilSettled(
      await client.conversations.send({ conversation_id: id, message: slowWords, stream: true }),
    );
    const texts = await Promise.all([asked, ...followers]);
    const isSame = texts.every((text) => text === texts[0]);
    if (!isSame || !texts[0]?.endsWith(`word${slowTokens - 1}`)) {
      throw new Error(`The readers of ${id} read ${JSON.stringify(texts)}`);
    }
    witness.turns += 1;
  }

  /** A task that waits for approval and then for the company's function. The other process receives both answers. */
  async function task(): Promise<void> {
    const [client, other] = nextPair();
    const { id } = await client.conversations.create({
      deployment: 'shop',
      user_id: nextUser(),
      message: `${actingWords} 1001.`,
      hand_off: 'always',
    });
    const following = new AbortController();
    try {
      const events = await other.conversations.events({ conversation_id: id }, { signal: following.signal });
      for await (const event of events) {
        if (event.type === 'interaction.created' && event.data.interaction.type === 'approval') {
          await other.interactions.answer({
            interaction_id: event.data.interaction.id,
            approve: true,
            present_user: true,
          });
        }
        if (event.type === 'tool_call.created') {
          await other.interactions.answer({ interaction_id: event.data.call.call_id, output: { done: true } });
        }
        if (event.type === 'turn.failed') throw new Error(`The work of ${id} failed: ${JSON.stringify(event.data)}`);
        if (event.type === 'turn.settled') break;
      }
    } finally {
      following.abort();
    }
    witness.turns += 1;
    witness.tasks += 1;
  }

  async function runBatch(): Promise<void> {
    const [client, other] = nextPair();
    const items = Array.from({ length: batch.items }, (_, at) => ({
      user_id: `user-${at}`,
      message: `Write the summary of order ${at}.`,
    }));
    const { id } = await client.batches.create({ deployment: 'shop', items, concurrency: 10 });
    for (;;) {
      const { completed_at, counts } = await other.batches.get({ batch_id: id });
      if (completed_at !== null) {
        witness.batchItems += counts.succeeded;
        if (counts.succeeded !== batch.items) throw new Error(`A batch ended as ${JSON.stringify(counts)}`);
        return;
      }
      await sleep(1000);
    }
  }

  /** Every minute has some that are due: each runs four times an hour, the shortest there is. */
  async function makeRoutines(): Promise<void> {
    await each(routineCount, 8, async (at) => {
      const first = at % 15;
      const minutes = [first, first + 15, first + 30, first + 45].join(',');
      const [client] = nextPair();
      const schedule = { cron: `${minutes} * * * *` };
      await client.routines.create({ user_id: `user-${at}`, ask: 'Look after my parcels.', schedule });
    });
  }

  async function readToEnd(events: AsyncIterable<StreamedEvent>, expected: string | null): Promise<void> {
    const text = await textUntilSettled(events);
    if (expected !== null && text !== expected) throw new Error(`The reply was ${JSON.stringify(text)}`);
    witness.turns += 1;
  }

  return {
    witness,
    async run(minutes) {
      const [client] = nextPair();
      const tools = [{ function: actingFunction, description: 'Acts on an order.', input: { order: 'string' } }];
      const instructions = 'You answer customers of a shop. Be brief.';
      const shop = { name: 'shop', instructions, memory: 'none' as const, tools };
      await client.deployments.put({ deployment_id: 'shop', promote: 'now', ...shop });
      await client.deployments.put({ deployment_id: 'remembering', promote: 'now', name: 'remembering', instructions });
      await makeRoutines();
      const until = performance.now() + minutes * 60_000;
      const kinds = { plain, talk, long, slow, task, remembered };
      const paces = Object.entries(kinds).map(([name, work]) => {
        const rate = (perSecond * shares[name as keyof typeof kinds]) / sharesInAll;
        return pace({ rate, mostOpen: Math.ceil(20 * rate) + 20, until, work, witness });
      });
      const rate = 1 / (60 * batch.everyMinutes);
      paces.push(pace({ rate, mostOpen: 2, until, work: runBatch, witness }));
      await Promise.all(paces);
    },
  };
}

type StreamedEvent = { type: string; data: unknown };

async function textUntilSettled(events: AsyncIterable<StreamedEvent>): Promise<string> {
  let text = '';
  for await (const { type, data } of events) {
    if (type === 'reply.delta') text += (data as { text: string }).text;
    if (type === 'turn.failed') throw new Error(`A turn failed: ${JSON.stringify(data)}`);
    if (type === 'turn.settled') return text;
  }
  throw new Error(`A stream ended before its turn, after ${JSON.stringify(text)}`);
}

/** Starts `work` at even distances, however long each takes, and waits for the last of them. */
async function pace(options: {
  rate: number;
  mostOpen: number;
  until: number;
  work: () => Promise<void>;
  witness: Witness;
}): Promise<void> {
  const { rate, mostOpen, until, work, witness } = options;
  const open = new Set<Promise<void>>();
  const startedAt = performance.now();
  for (let at = 0; ; at++) {
    const dueAt = startedAt + (at * 1000) / rate;
    if (dueAt >= until) break;
    await sleep(Math.max(0, dueAt - performance.now()));
    if (open.size >= mostOpen) {
      witness.heldBack += 1;
      continue;
    }
    const working = work()
      .catch((error: unknown) => void witness.errors.push(error instanceof Error ? error.message : String(error)))
      .finally(() => open.delete(working));
    open.add(working);
  }
  await Promise.all(open);
}
