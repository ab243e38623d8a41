import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Sites, startSites } from '@vestra/server/computers/chromium/chromium.fixture';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTextCalls, offerOfSound } from '../scenarios/text-calls.fixture.ts';
import { type AgentServer, openStream, startAgentServer } from '../support/agent.ts';
import { type ApiResponse, startTestServer, type TestServer } from '../support/server.ts';
import { freePorts } from './cluster/program.ts';

/** The short form belongs to every change; `npm run chaos` runs the long one. */
const isLong = process.env.VESTRA_CHAOS === 'long';
const rounds = isLong ? 4 : 1;
const people = isLong ? ['ada', 'bob', 'cleo', 'dora', 'emil', 'fay'] : ['ada', 'bob'];
const patience = { timeout: 120_000, interval: 100 };

type TextCalls = ReturnType<typeof createTextCalls>;
type Process = { server: TestServer; calls: TextCalls; isUp: boolean; restart: () => Promise<void> };

/** Takes no part: it provides the database and the model. */
let base: AgentServer;
let sites: Sites;
let dataDir: string;
const processes: Process[] = [];
beforeAll(async () => {
  sites = await startSites();
  sites.serve('shop.localhost', { '/': '<title>Shop</title><h1>Shop</h1>' });
  dataDir = await mkdtemp(join(tmpdir(), 'vestra-screens-'));
  base = await startAgentServer({ env: { VESTRA_ROLE: 'api', VESTRA_CHROMIUM: '/nowhere' } });
  await base.apply({ name: 'shop', memory: 'none', browser: { allowed_domains: ['shop.localhost'] } });
  base.script(({ messages }) => {
    const last = messages.findLast(({ role }) => role === 'user');
    return { text: `You said ${/number \d+/.exec(JSON.stringify(last))?.[0]}.` };
  });
  const { VESTRA_CHROMIUM: _, ...env } = base.env;
  for (const port of await freePorts(4)) {
    processes.push(
      await startRestartable({ ...env, VESTRA_ROLE: 'all', PORT: String(port), VESTRA_DATA_DIR: dataDir }),
    );
  }
});
afterAll(async () => {
  for (const { server } of processes) await server.stop();
  await base?.stop();
  await sites?.close();
  await rm(dataDir, { recursive: true, force: true });
});

async function startRestartable(env: Record<string, string>): Promise<Process> {
  const start = async () => {
    const calls = createTextCalls();
    return { calls, server: await startTestServer({ beside: base, env, voice: calls.parts }) };
  };
  const own: Process = {
    ...(await start()),
    isUp: true,
    async restart() {
      own.isUp = false;
      // Stops as after a signal: open streams and calls get their last event.
      await own.server.stop();
      Object.assign(own, await start());
      own.isUp = true;
    },
  };
  return own;
}

/** Answers after which a client tries again, by status and code. */
const refusals = new Map<string, number>();
const isRefusal = (what: string) => /^(503 not_ready|50[23] computer_unavailable|409 browser_not_open)$/.test(what);
let turn = 0;

/** Any process that is up. A proxy finds it by its checks. */
function anyProcess(): Process {
  for (;;) {
    const next = processes[turn++ % processes.length] as Process;
    if (next.isUp) return next;
  }
}

/** Null if no process answered, or if the answer says to try again. */
async function attempt(request: (server: TestServer) => Promise<ApiResponse>): Promise<ApiResponse | null> {
  const answer = await request(anyProcess().server).catch(() => null);
  if (!answer || answer.status < 300) return answer;
  const what = `${answer.status} ${answer.body?.error?.code}`;
  if (!isRefusal(what)) throw new Error(answer.text);
  refusals.set(what, (refusals.get(what) ?? 0) + 1);
  return null;
}

async function persist(request: (server: TestServer) => Promise<ApiResponse>): Promise<ApiResponse> {
  let answer: ApiResponse | null = null;
  while (!answer) {
    answer = await attempt(request);
    if (!answer) await sleep(100);
  }
  return answer;
}

/** Watches the screen of a user as the page does: it connects again whenever its stream ends. */
async function watchScreen(user: string) {
  let tab: string | undefined;
  /** In the same tab, as long as the browser that holds it runs. */
  const showPage = async () => {
    const fetchIn = (more: object) =>
      persist((server) =>
        server.call('POST', `/v1/users/${user}/browser/fetch`, {
          body: { url: sites.at('shop.localhost', '/'), keep_open_ms: 600_000, ...more },
        }),
      );
    const shown = await (tab === undefined ? fetchIn({}) : fetchIn({ tab }).catch(() => fetchIn({})));
    tab = shown.body.tab;
  };
  await showPage();
  const { body: session } = await persist((server) =>
    server.call('POST', '/v1/sessions', { body: { user_id: user, screen: 'control' } }),
  );
  /** The last events of streams that the server ended. */
  const ends: string[] = [];
  let frames = 0;
  let isOver = false;
  let close = () => {};
  const watching = (async () => {
    while (!isOver) {
      const asked = await attempt((server) =>
        server.call('GET', `/v1/sessions/${session.id}/screen`, { key: session.token }),
      );
      if (!asked) {
        await sleep(200);
        continue;
      }
      const { pathname } = new URL(asked.body.stream_url);
      const path = `${pathname}?preview_token=${asked.body.preview_token}`;
      const stream = await openStream(anyProcess().server, 'GET', path).catch(() => null);
      if (stream?.status !== 200) continue;
      let isOwn = false;
      close = () => {
        isOwn = true;
        stream.close();
      };
      stream
        .waitFor(({ type }) => type === 'screen.frame')
        .then(
          () => (frames += 1),
          () => {},
        );
      // The last event has no number, which the reader of streams refuses.
      const end = await stream.events.then(
        (events) => `after ${events.at(-1)?.type}`,
        (error) => /^Error: The frame 0 (stream\.closed) /.exec(String(error))?.[1] ?? String(error),
      );
      if (!isOwn) ends.push(end);
    }
  })();
  return {
    user,
    ends,
    /** The page opens, input reaches it, and a new stream shows it, whichever process holds the browser. */
    async works() {
      const before = frames;
      await showPage();
      const inputs = [{ kind: 'mouse', type: 'move', x: 0.5, y: 0.5, button: 'left', clicks: 1 }];
      await persist((server) =>
        server.call('POST', `/v1/sessions/${session.id}/screen/input`, { key: session.token, body: { inputs } }),
      );
      close();
      await expect.poll(() => frames, patience).toBeGreaterThan(before);
    },
    async stop() {
      isOver = true;
      close();
      await watching;
    },
  };
}

/** A call waits 20 seconds for a sentence, which is too short on a busy machine. */
async function hearsAtLast(call: ReturnType<TextCalls['last']>, text: string): Promise<void> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await call.hears(text);
    } catch (error) {
      if (attempts === 9) throw error;
    }
  }
}

/** Holds a call as the page does: if it ends because its server restarts, the page calls again. */
async function holdCall(user: string) {
  const { body: session } = await persist((server) =>
    server.call('POST', '/v1/sessions', { body: { user_id: user, chat: true, voice: true } }),
  );
  const ends: string[] = [];
  let calls = 0;
  let spoken = 0;
  let call = await begin();

  async function begin() {
    let held: TextCalls | undefined;
    await persist((server) => {
      held = processes.find((each) => each.server === server)?.calls;
      const body = { sdp: offerOfSound };
      return server.call('POST', `/v1/sessions/${session.id}/voice`, { key: session.token, body });
    });
    calls += 1;
    return (held as TextCalls).last();
  }
  return {
    user,
    ends,
    calls: () => calls,
    path: `/v1/conversations/${session.conversation_id}`,
    spoken: () => spoken,
    /** Says a number, and hears the reply to it. */
    async works() {
      if (call.hasEnded()) {
        ends.push(await call.end());
        call = await begin();
      }
      spoken += 1;
      call.speak(`This is number ${spoken}`);
      await hearsAtLast(call, `You said number ${spoken}.`);
    },
    /** A message that is typed in another process is spoken in the call. */
    async hearsTyped() {
      spoken += 1;
      const body = { message: `This is number ${spoken}` };
      const headers = { 'idempotency-key': `${user}-${spoken}` };
      await persist((server) =>
        server.call('POST', `/v1/conversations/${session.conversation_id}/messages`, {
          key: session.token,
          body,
          headers,
        }),
      );
      await hearsAtLast(call, `You said number ${spoken}.`);
    },
    close: () => persist((server) => server.call('DELETE', `/v1/sessions/${session.id}`)),
  };
}

describe('four processes', () => {
  it(
    'are restarted in turn while screens are watched and calls are held, and each continues in another process [OPS-738]',
    async () => {
      const screens = await Promise.all(people.map(watchScreen));
      // One after the other: a process names only the last call that began in it.
      const calls: Awaited<ReturnType<typeof holdCall>>[] = [];
      for (const user of people) calls.push(await holdCall(user));
      const allWork = async () => {
        for (const each of screens) await each.works();
        for (const each of calls) await each.works();
        for (const each of calls) await each.hearsTyped();
      };
      await allWork();
      for (let round = 0; round < rounds; round++) {
        for (const each of processes) {
          await each.restart();
          await allWork();
        }
      }
      const named = screens.flatMap(({ ends }) => ends);
      const ended = calls.flatMap(({ ends }) => ends);
      const count = (all: readonly string[]) =>
        JSON.stringify(
          Object.fromEntries([...Map.groupBy(all, (each) => each)].map(([name, { length }]) => [name, length])),
        );
      console.info(
        `${rounds * processes.length} restarts of four processes, ${people.length} screens and as many calls.`,
        `Streams of screens ended: ${count(named)}. Calls ended: ${count(ended)}.`,
        `${calls.reduce((sum, each) => sum + each.spoken(), 0)} messages were said or typed and answered in a call.`,
        `Answers to try again: ${JSON.stringify(Object.fromEntries(refusals))}.`,
      );
      expect(ended.length).toBeGreaterThanOrEqual(people.length * rounds);
      expect(named.filter((last) => last !== 'stream.closed')).toEqual([]);
      expect(ended.filter((reason) => reason !== 'server_restarting')).toEqual([]);
      for (const each of calls) {
        const { body } = await persist((server) => server.call('GET', `${each.path}/messages?limit=100`));
        const replies = body.data.filter(({ role }: { role: string }) => role === 'agent');
        const wanted = Array.from({ length: each.spoken() }, (_, at) => `You said number ${at + 1}.`);
        expect(replies.map(({ text }: { text: string }) => text).reverse()).toEqual(wanted);
      }
      await Promise.all([...screens.map((each) => each.stop()), ...calls.map((each) => each.close())]);
    },
    isLong ? 1_800_000 : 600_000,
  );
});
