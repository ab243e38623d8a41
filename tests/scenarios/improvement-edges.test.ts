import { createHash, randomBytes } from 'node:crypto';
import { newId } from '@vestra/contract/ids';
import type { NormalisedRequest } from '@vestra/models/testing/scripted-answer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentServer, type Respond, startAgentServer } from '../support/agent.ts';
import { partOf } from '../support/cast.ts';
import { query } from '../support/database.ts';
import { rowsWith } from '../support/marked-rows.ts';
import { makeOtherOrg } from '../support/other-org.ts';
import { createShops } from './improvement-shop.fixture.ts';
import { drafted, fix, improver, right, wrong } from './improver.fixture.ts';

let server: AgentServer;
let shops: ReturnType<typeof createShops>;
beforeAll(async () => {
  server = await startAgentServer();
  shops = createShops(server);
});
afterAll(() => server.stop());

const propertiesOf = ({ outputSchema }: NormalisedRequest): object =>
  (outputSchema as { properties?: object } | undefined)?.properties ?? {};
const asksFor = (field: string) => (request: NormalisedRequest) => field in propertiesOf(request);
const isAgentWith = (words: string) => (request: NormalisedRequest) =>
  !request.outputSchema && request.system.join('\n').includes(words);

type Stage = (request: NormalisedRequest) => boolean;

/** From time to time the server asks the model for the facts of conversations that have ended. */
const keepsFacts: Stage = ({ system }) => system.join('\n').startsWith('You keep what is worth remembering');

/** The first model call of each phase. */
const stages = {
  drafting: asksFor('personal_values'),
  reproducing: isAgentWith('within 14 days'),
  proposing: asksFor('cannot_fix'),
  proving: isAgentWith('within 30 days'),
} satisfies Record<string, Stage>;
const phases = Object.keys(stages) as (keyof typeof stages)[];

/** Holds back the answer to the first request of a stage. */
function heldAt(isStage: Stage, respond: Respond): { respond: Respond; reached: Promise<void>; release: () => void } {
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  let isFirst = true;
  const held: Respond = async (request) => {
    if (isFirst && isStage(request)) {
      isFirst = false;
      reached.resolve();
      await released.promise;
    }
    return respond(request);
  };
  return { respond: held, reached: reached.promise, release: released.resolve };
}

/** Script it after the conversations of users. */
function holdAt(isStage: Stage, respond: Respond = improver()) {
  const held = heldAt(isStage, respond);
  server.script(held.respond);
  return held;
}

const versionsOf = async (shop: string): Promise<number[]> =>
  (await server.call('GET', `/v1/deployments/${shop}/versions`)).body.data.map(
    ({ version }: { version: number }) => version,
  );

/** The spending of improvements in micro-dollars, by the ledger. */
async function ledger(): Promise<number> {
  const [row] = await query(
    server.connectionString,
    `SELECT COALESCE(sum(amount_micros), 0)::int AS micros FROM ledger_entries WHERE account = 'spend' AND kind = 'improvement'`,
  );
  return Number(row?.micros);
}
const rounded = (micros: number) => Math.round(micros / 10);
const costOf = ({ cost_usd }: { cost_usd: number }) => Math.round(cost_usd * 1e5);

/** Gives every org money in both modes. */
const fillWallets = () =>
  query(
    server.connectionString,
    `INSERT INTO wallets (org_id, mode, balance_micros)
     SELECT id, mode, 1000000000 FROM orgs, unnest(ARRAY['test', 'live']) AS mode ON CONFLICT DO NOTHING`,
  );

/** Waits until no process runs anything, and no money is reserved. */
const untilQuiet = () =>
  expect
    .poll(
      async () =>
        (
          await query(
            server.connectionString,
            'SELECT (SELECT count(*) FROM runs)::int AS runs, (SELECT count(*) FROM reservations)::int AS reserved',
          )
        )[0],
      { timeout: 60_000 },
    )
    .toEqual({ runs: 0, reserved: 0 });

/** Starts an improvement from a conversation with the marker, and stops it at a stage. */
async function startMarked(shop: string, marker: string, stage: Stage, others: readonly string[] = []) {
  server.script(improver());
  const userId = `returner-${++users}`;
  const source = await shops.talk(shop, `How long can I return the ${marker}?`, userId);
  await shops.rate(source, 'bad', `The ${marker} has 30 days.`);
  const isMarked = (asked: string) => asked.includes(marker);
  const name = `Returns the ${marker}`;
  const respond = improver({
    draft: (asked) => ({
      ...drafted,
      ...(isMarked(asked) && { name, success_criteria: [...drafted.success_criteria, 'The agent says "days".'] }),
    }),
    propose: (asked) =>
      isMarked(asked)
        ? {
            ...fix,
            instructions_reason: `Somebody asked for the ${marker}.`,
            cannot_fix: [{ scenario: name, reason: `Nobody knows the ${marker}.` }],
          }
        : fix,
  });
  const held = holdAt(stage, respond);
  const from = { type: 'conversations', conversation_ids: [source, ...others] };
  const { body, text } = await shops.start(shop, { from });
  if (!body.id) throw new Error(text);
  await held.reached;
  return { id: body.id as string, source, userId, release: held.release };
}

/** The model requests from now on that contain the text. */
function watchFor(text: string): () => number {
  const before = server.asked.length;
  return () => server.asked.slice(before).filter((request) => JSON.stringify(request).includes(text)).length;
}

let marks = 0;
let users = 0;
const newMarker = () => `zebra${++marks}lamp`;

async function erase(what: 'conversation' | 'user', { source, userId }: { source: string; userId: string }) {
  const path = what === 'user' ? `/v1/users/${userId}` : `/v1/conversations/${source}`;
  const { status, text } = await server.call('DELETE', path);
  if (status >= 300) throw new Error(text);
  await expect
    .poll(async () => (await server.call('GET', `/v1/conversations/${source}`)).status, { timeout: 60_000 })
    .toBe(404);
}

describe('a deletion in the middle', () => {
  /** The judge has two lines, and is asked the second one after the first. */
  const judging: Stage = (request) => partOf(request) === 'judge';
  const cases = [
    ...phases.map((phase) => [phase, 'conversation', stages[phase]] as const),
    ['reproducing', 'conversation', judging] as const,
    ['drafting', 'user', stages.drafting] as const,
    ['reproducing', 'user', stages.reproducing] as const,
    ['proposing', 'user', stages.proposing] as const,
  ];

  it.each(cases)('%s, of the only %s, ends it and leaves nothing [IMPR-721]', async (phase, what, stage) => {
    const shop = await shops.deploy();
    const before = await ledger();
    const marker = newMarker();
    const { release, ...started } = await startMarked(shop, marker, stage);
    await erase(what, started);
    const askedLater = watchFor(marker);
    // A reply in progress is stopped at once, so nothing waits for the model.
    const isStopped = stage === stages.reproducing || stage === stages.proving;
    if (!isStopped) release();
    const done = await shops.ended(started.id);
    expect(done).toMatchObject({
      status: 'failed',
      error_code: 'no_failing_conversations',
      outcome: null,
      version: null,
      scenarios: [],
      not_fixed: [],
    });
    await untilQuiet();
    release();
    expect(askedLater()).toBe(0);
    expect(await rowsWith(server, marker)).toEqual({});
    // A version that was saved before stays, and nothing runs it.
    expect(await versionsOf(shop)).toHaveLength(phase === 'proving' ? 2 : 1);
    expect((await server.call('GET', `/v1/deployments/${shop}`)).body.draft_version).toBe(done.base_version);
    expect(costOf(await shops.ended(started.id))).toBe(rounded((await ledger()) - before));
  });

  it.each(['proposing', 'proving'] as const)(
    '%s, of one of two conversations, continues with the other [IMPR-721]',
    async (phase) => {
      server.script(improver());
      const shop = await shops.deploy();
      const other = await shops.complain(shop);
      const marker = newMarker();
      const { release, ...started } = await startMarked(shop, marker, stages[phase], [other]);
      await erase('conversation', started);
      const askedLater = watchFor(marker);
      release();
      const done = await shops.ended(started.id);
      expect(done).toMatchObject({ status: 'completed', outcome: 'improved', not_fixed: [] });
      expect(askedLater()).toBe(0);
      expect(done.scenarios.map((each: { conversation_id: string }) => each.conversation_id)).toEqual([other]);
      expect(done.version).toBeGreaterThan(done.base_version);
      await untilQuiet();
      expect(await rowsWith(server, marker)).toEqual({});
    },
  );

  it('after the end leaves the proven version, which can still be promoted [IMPR-721]', async () => {
    server.script(improver());
    const shop = await shops.deploy();
    const conversation = await shops.complain(shop);
    const { id, version } = await shops.improve(shop);
    expect((await server.call('DELETE', `/v1/conversations/${conversation}`)).status).toBe(200);
    const left = await shops.ended(id);
    expect(left).toMatchObject({ outcome: 'improved', version, scenarios: [], not_fixed: [] });
    expect(left.change.instructions.after).toBe(right);
    const promoted = await shops.post(`/v1/deployments/${shop}/promote`, { version });
    expect([promoted.status, promoted.body.draft_version]).toEqual([200, version]);
  });

  it('of an existing scenario is no regression [IMPR-708]', async () => {
    server.script(improver());
    const shop = await shops.deploy();
    await shops.complain(shop);
    const fields = {
      name: 'Knows the hours',
      persona: 'A customer.',
      goal: 'What are your hours?',
      success_criteria: ['The agent says "9 to 17".'],
    };
    const { body: scenario } = await shops.post(`/v1/deployments/${shop}/scenarios`, fields);
    const { reached, release } = holdAt(stages.proposing);
    const { body } = await shops.start(shop, { rounds: 1 });
    await reached;
    expect((await server.call('DELETE', `/v1/deployments/${shop}/scenarios/${scenario.id}`)).status).toBe(200);
    release();
    expect(await shops.ended(body.id)).toMatchObject({
      outcome: 'improved',
      regressions: [],
      before: { runs: 4 },
      after: { runs: 4, passed: 4 },
    });
  });
});

describe('a deletion during a replay', () => {
  /** A replay of a conversation with two messages. */
  async function replay(marker: string, respond: Respond) {
    server.script(improver());
    const shop = await shops.deploy();
    const source = await shops.talk(shop, `How long can I return the ${marker}?`, `returner-${++users}`);
    await shops.post(`/v1/conversations/${source}/messages`, { message: `And a broken ${marker}?` });
    await server.until(`/v1/conversations/${source}`, ({ status }) => status === 'idle');
    await server.apply({ name: shop, instructions: 'Answer briefly.' });
    server.script(respond);
    const { body, text } = await shops.post(`/v1/deployments/${shop}/replays`, { conversation_ids: [source] });
    if (!body.id) throw new Error(text);
    const ended = async () => {
      const done = await server.until(`/v1/replays/${body.id}`, ({ finished_at }) => finished_at !== null);
      expect(done).toMatchObject({ status: 'completed', talks: [] });
      await untilQuiet();
    };
    return { path: `/v1/replays/${body.id}`, source, ended };
  }

  it('sends no model anything of the conversation again [DEL-742]', async () => {
    let answers = 0;
    const marker = newMarker();
    const isJudge: Stage = (request) => partOf(request) === 'judge';
    const { respond, reached, release } = heldAt(isJudge, improver({ agent: () => ({ text: `Answer ${++answers}` }) }));
    const { source, ended } = await replay(marker, respond);
    await reached;
    expect((await server.call('DELETE', `/v1/conversations/${source}`)).status).toBe(200);
    const askedLater = watchFor(marker);
    release();
    await ended();
    expect(askedLater()).toBe(0);
    expect(await rowsWith(server, marker)).toEqual({});
  });

  it('stops the reply in progress, which is charged [DEL-742]', async () => {
    const marker = newMarker();
    // The agent never ends its answer.
    const hang: Respond = (request) =>
      keepsFacts(request) ? { text: '{}' } : { text: ['It is', ' possible'], fail: 'hang' };
    const { path, source, ended } = await replay(marker, improver({ agent: hang }));
    const sql = (text: string, id: string) => query(server.connectionString, text, [id]);
    const { talks } = await server.until(path, (body) => body.talks[0].replayed_conversation_id !== null);
    const id = talks[0].replayed_conversation_id;
    const isStreamed = `SELECT FROM conversation_events WHERE conversation_id = $1 AND type = 'reply.delta'`;
    await expect.poll(async () => (await sql(isStreamed, id)).length).toBeGreaterThan(0);
    expect((await server.call('DELETE', `/v1/conversations/${source}`)).status).toBe(200);
    expect((await server.call('GET', `/v1/conversations/${id}`)).status).toBe(404);
    await ended();
    const charges = `SELECT FROM ledger_entries WHERE account = 'spend' AND amount_micros > 0 AND conversation_id = $1`;
    expect(await sql(charges, id)).not.toEqual([]);
    expect(await rowsWith(server, marker)).toEqual({});
  });
});

describe('archiving the deployment', () => {
  it.each(phases)('while it is %s ends it with a clear code [IMPR-722]', async (phase) => {
    server.script(improver());
    const shop = await shops.deploy();
    await shops.complain(shop);
    const before = await ledger();
    const { reached, release } = holdAt(stages[phase]);
    const { body } = await shops.start(shop);
    await reached;
    expect((await shops.post(`/v1/deployments/${shop}/archive`)).status).toBe(200);
    release();
    const done = await shops.ended(body.id);
    expect(done).toMatchObject({ status: 'failed', error_code: 'deployment_archived', outcome: null, version: null });
    await untilQuiet();
    expect(costOf(await shops.ended(body.id))).toBe(rounded((await ledger()) - before));
  });
});

describe('deleting the deployment', () => {
  it('ends it without an error in the log', async () => {
    server.script(improver());
    const shop = await shops.deploy();
    await shops.complain(shop);
    const { reached, release } = holdAt(stages.proposing);
    const { body } = await shops.start(shop);
    await reached;
    expect((await server.call('DELETE', `/v1/deployments/${shop}`)).status).toBe(200);
    release();
    const runs = () => query(server.connectionString, 'SELECT id FROM runs WHERE id = $1', [body.id]);
    await expect.poll(runs).toEqual([]);
    expect((await server.call('GET', `/v1/improvements/${body.id}`)).status).toBe(404);
  });
});

describe('a cancellation', () => {
  it.each(phases)(
    'while it is %s stops it, frees the money and leaves nothing half-written [IMPR-714]',
    async (phase) => {
      server.script(improver());
      const shop = await shops.deploy();
      await shops.complain(shop);
      const before = await ledger();
      const { reached, release } = holdAt(stages[phase]);
      const { body } = await shops.start(shop);
      await reached;
      const cancelled = await shops.post(`/v1/improvements/${body.id}/cancel`);
      expect([cancelled.status, cancelled.body.status]).toEqual([200, 'cancelled']);
      const again = await shops.post(`/v1/improvements/${body.id}/cancel`);
      expect([again.status, again.body.finished_at]).toEqual([200, cancelled.body.finished_at]);
      release();
      await untilQuiet();
      const done = await shops.ended(body.id);
      expect(done).toMatchObject({ status: 'cancelled', outcome: null, version: null, error_code: null });
      expect(done.finished_at).toBe(cancelled.body.finished_at);
      expect(done.scenarios).toMatchObject([
        { status: phase === 'drafting' || phase === 'reproducing' ? 'undecided' : 'reproduced', after: null },
      ]);
      // A proposal that was saved is a version that nothing runs.
      expect(await versionsOf(shop)).toHaveLength(phase === 'proving' ? 2 : 1);
      expect((await server.call('GET', `/v1/deployments/${shop}`)).body.draft_version).toBe(done.base_version);
      expect((await server.call('GET', `/v1/deployments/${shop}/scenarios`)).body.data).toEqual([]);
      const plays = await query(
        server.connectionString,
        `SELECT status FROM test_runs WHERE improvement_id = $1 UNION ALL
       SELECT status FROM replays WHERE improvement_id = $1`,
        [body.id],
      );
      for (const { status } of plays) expect(['queued', 'running']).not.toContain(status);
      expect(costOf(done)).toBe(rounded((await ledger()) - before));
      const audit = await query(
        server.connectionString,
        'SELECT action FROM audit_entries WHERE target_id = $1 ORDER BY id',
        [body.id],
      );
      expect(audit.map(({ action }) => action)).toEqual([
        'improvement.created',
        ...(phase === 'proving' ? ['improvement.proposed'] : []),
        'improvement.cancelled',
      ]);
      const { body: events } = await server.call('GET', '/v1/events?type=improvement.completed&limit=100');
      expect(events.data.filter(({ data }: { data: { id: string } }) => data.id === body.id)).toHaveLength(1);
      // The same conversation can be used again.
      server.script(improver());
      expect(await shops.improve(shop)).toMatchObject({ outcome: 'improved' });
    },
  );
});

describe('a process that lost the improvement during a model call', () => {
  /** Its first proposal comes too late, and must not be saved. */
  async function losing(sql: string) {
    const shop = await shops.deploy();
    server.script(improver());
    await shops.complain(shop);
    const late = { ...fix, instructions: `${right} Too late.` };
    const { reached, release } = holdAt(
      stages.proposing,
      improver({ propose: (_, round) => (round === 1 ? late : fix) }),
    );
    const { body } = await shops.start(shop);
    await reached;
    await query(server.connectionString, sql, [body.id]);
    release();
    return { shop, id: body.id as string };
  }
  const proposed = async (shop: string) =>
    (await server.call('GET', `/v1/deployments/${shop}/versions`)).body.data
      .map(({ manifest }: { manifest: { instructions: string } }) => manifest.instructions)
      .reverse();

  it('to another process writes nothing, and the other one continues [IMPR-718]', async () => {
    const { shop, id } = await losing(
      `UPDATE runs SET epoch = nextval('run_epochs'), owner = 'another', lease_until = now() - interval '1 s' WHERE id = $1`,
    );
    expect(await shops.ended(id)).toMatchObject({ outcome: 'improved', rounds_played: 1, resumes: 1 });
    expect(await proposed(shop)).toEqual([wrong, right]);
  });

  it('because it has ended writes nothing [IMPR-718]', async () => {
    const { shop, id } = await losing(
      `UPDATE improvements SET status = 'cancelled', finished_at = now() WHERE id = $1`,
    );
    await untilQuiet();
    expect(await shops.ended(id)).toMatchObject({ status: 'cancelled', version: null, change: null });
    expect(await proposed(shop)).toEqual([wrong]);
  });
});

describe('a cancellation at once', () => {
  it('ends an improvement before or just after it starts [IMPR-714]', async () => {
    server.script(improver());
    const shop = await shops.deploy();
    await shops.complain(shop);
    const before = await ledger();
    const ids = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const { body } = await shops.start(shop);
        expect((await shops.post(`/v1/improvements/${body.id}/cancel`)).body.status).toBe('cancelled');
        return body.id as string;
      }),
    );
    await untilQuiet();
    const done = await Promise.all(ids.map(shops.ended));
    expect(new Set(done.map(({ status, version }) => `${status} ${version}`))).toEqual(new Set(['cancelled null']));
    expect(await versionsOf(shop)).toHaveLength(1);
    expect(done.reduce((sum, each) => sum + costOf(each), 0)).toBe(rounded((await ledger()) - before));
  });
});

describe('improvements at once', () => {
  it('of one deployment have separate versions, documents and costs [IMPR-722]', async () => {
    const text = (letter: string) => `Refunds: we refund within 30 days. ${letter}`;
    server.script(
      improver({
        propose: (asked, round) => {
          const notebook = /"notebook": "([^"]+)"/.exec(asked)?.[1];
          const letter = round === 1 ? 'First.' : 'Second.';
          return {
            ...fix,
            documents: [{ notebook, title: 'refunds.md', text: text(letter), reason: 'Clearer.' }],
          };
        },
      }),
    );
    const shop = await shops.deploy();
    await shops.complain(shop);
    const before = await ledger();
    const started = await Promise.all([shops.start(shop), shops.start(shop)]);
    const done = await Promise.all(started.map(({ body }) => shops.ended(body.id)));
    expect(done.map(({ outcome }) => outcome)).toEqual(['improved', 'improved']);
    const versions = done.map(({ version }) => version);
    expect(new Set(versions).size).toBe(2);
    const contents = await Promise.all(
      done.map(async ({ version, base_version, change }) => {
        const path = `/v1/deployments/${shop}/versions/${version}/content-changes?from=${base_version}`;
        const [changed, ...others] = (await server.call('GET', path)).body.changes;
        expect(others).toEqual([]);
        expect(changed).toMatchObject({ before: 'Refunds: 30 days.', after: change.documents[0].after });
        return changed.after;
      }),
    );
    expect(contents.sort()).toEqual([text('First.'), text('Second.')]);
    await untilQuiet();
    expect(done.reduce((sum, each) => sum + costOf(each), 0)).toBe(rounded((await ledger()) - before));
    expect((await server.call('GET', `/v1/deployments/${shop}`)).body.draft_version).toBe(done[0].base_version);
  });

  it('continues with its base version if that is rolled back meanwhile [IMPR-722]', async () => {
    const key = server.liveKey;
    const shop = 'rolled-back';
    const read = async () => (await server.call('GET', `/v1/deployments/${shop}`, { key })).body;
    server.script(improver());
    await server.apply({ name: shop, instructions: 'We answer nothing.' }, key);
    await server.apply({ name: shop, instructions: wrong }, key);
    const base = (await read()).live_version;
    await fillWallets();
    const message = { deployment: shop, message: 'How long?', user_id: 'live-user' };
    const { body: said, text } = await shops.post('/v1/conversations', message, key);
    if (!said.id) throw new Error(text);
    await server.until(`/v1/conversations/${said.id}`, ({ status }) => status === 'idle', key);
    const { reached, release } = holdAt(stages.proposing);
    const from = { type: 'conversations', conversation_ids: [said.id] };
    const started = await shops.post(`/v1/deployments/${shop}/improvements`, { from, budget_usd: 20 }, key);
    expect([started.status, started.body.base_version]).toEqual([201, base]);
    await reached;
    expect((await shops.post(`/v1/deployments/${shop}/rollback`, undefined, key)).status).toBe(200);
    const rolledBack = (await read()).live_version;
    expect(rolledBack).not.toBe(base);
    release();
    const path = `/v1/improvements/${started.body.id}`;
    const done = await server.until(path, ({ finished_at }) => finished_at !== null, key);
    expect(done).toMatchObject({ outcome: 'improved', base_version: base, before: { version: base } });
    expect((await read()).live_version).toBe(rolledBack);
    // Only a person makes it live, and can take it back.
    const promoted = await shops.post(`/v1/deployments/${shop}/promote`, { version: done.version, when: 'now' }, key);
    expect([promoted.status, promoted.body.live_version]).toEqual([200, done.version]);
    expect((await shops.post(`/v1/deployments/${shop}/rollback`, undefined, key)).body.live_version).toBe(rolledBack);
  });
});

describe('what an improvement cannot use', () => {
  it('is refused with a clear error, and nothing is created [IMPR-711]', async () => {
    server.script(improver());
    const [shop, archived, other] = [await shops.deploy(), await shops.deploy(), await shops.deploy()];
    for (const each of [shop, archived, other]) await shops.complain(each);
    const insightOf = async (deployment: string, key = server.testKey) =>
      (await server.call('GET', `/v1/deployments/${deployment}/insights?kind=bad_rating`, { key })).body.data[0].id;
    await shops.post(`/v1/deployments/${archived}/archive`);
    const stranger = await makeOtherOrg(server);
    await server.apply({ name: 'theirs' }, stranger);
    await fillWallets();
    const { body: theirs, text } = await shops.post(
      '/v1/conversations',
      { deployment: 'theirs', message: 'Hi' },
      stranger,
    );
    if (!theirs.id) throw new Error(text);
    await server.until(`/v1/conversations/${theirs.id}`, ({ status }) => status === 'idle', stranger);
    const done = await shops.improve(shop, { rounds: 1 });
    const played = done.scenarios[0].before.conversation_id;
    await server.apply({ name: shop, instructions: wrong }, server.liveKey);
    const named = (...ids: string[]) => ({ from: { type: 'conversations', conversation_ids: ids } });
    const ofInsight = (insight_id: string) => ({ from: { type: 'insight', insight_id } });
    const mine = await insightOf(shop);
    const cases: [name: string, deployment: string, body: object, status: number, code: string, key?: string][] = [
      ['an archived deployment', archived, {}, 409, 'deployment_archived'],
      ['the insight of another deployment', shop, ofInsight(await insightOf(other)), 404, 'insight_not_found'],
      ['the insight of the other mode', shop, ofInsight(mine), 404, 'insight_not_found', server.liveKey],
      ['the insight of another org', 'theirs', ofInsight(mine), 404, 'insight_not_found', stranger],
      ['the conversation of another org', shop, named(theirs.id), 404, 'conversation_not_found'],
      ['a conversation that a test played', shop, named(played), 404, 'conversation_not_found'],
      ['a conversation that never was', shop, named(newId('conv')), 404, 'conversation_not_found'],
      ['ratings of the other mode', shop, {}, 409, 'no_failing_conversations', server.liveKey],
      ['a deployment of another org', shop, {}, 404, 'deployment_not_found', stranger],
      ['less than one micro-dollar', shop, { budget_usd: 0.0000001 }, 400, 'budget_too_small'],
    ];
    const counts = async () =>
      (
        await query(
          server.connectionString,
          `SELECT (SELECT count(*) FROM improvements)::int AS improvements,
             (SELECT count(*) FROM improvement_scenarios)::int AS scenarios,
             (SELECT count(*) FROM deployment_versions)::int AS versions`,
        )
      )[0];
    const before = await counts();
    for (const [name, deployment, body, status, code, key] of cases) {
      const path = `/v1/deployments/${deployment}/improvements`;
      const answer = await shops.post(path, { from: { type: 'ratings' }, budget_usd: 20, ...body }, key);
      expect([name, answer.status, answer.body.error?.code]).toEqual([name, status, code]);
    }
    expect(await counts()).toEqual(before);
  });
});

describe('a viewer', () => {
  it('reads insights and improvements, and starts, cancels and names nothing [IMPR-720, INS-721]', async () => {
    server.script(improver());
    const shop = await shops.deploy();
    await shops.complain(shop);
    const done = await shops.improve(shop);
    const token = randomBytes(32).toString('base64url');
    await query(
      server.connectionString,
      `WITH login AS (INSERT INTO logins (email, password_hash) VALUES ('vera@example.com', '') RETURNING email),
        member AS (INSERT INTO members (id, org_id, email, role, status)
          SELECT $1, $2, email, 'viewer', 'active' FROM login)
       INSERT INTO console_sessions (token_hash, email, csrf_token, expires_at)
       SELECT $3, email, $4, now() + interval '1 hour' FROM login`,
      [newId('mbr'), server.orgId, createHash('sha256').update(token).digest(), token],
    );
    const headers = { cookie: `vestra_console=${token}`, 'x-csrf-token': token, 'service-mode': 'test' };
    const knock = async (method: string, path: string, body?: object) => {
      const answer = await server.call(method, path, { key: null, headers, ...(body && { body }) });
      return [answer.status, answer.body.error?.code];
    };
    const insights = `/v1/deployments/${shop}/insights`;
    const asked = () => server.asked.filter((request) => !keepsFacts(request)).length;
    const before = asked();
    const ask = { from: { type: 'ratings' }, budget_usd: 20 };
    expect(await knock('GET', insights)).toEqual([200, undefined]);
    expect(await knock('GET', `/v1/improvements/${done.id}`)).toEqual([200, undefined]);
    expect(await knock('GET', `${insights}?name_groups=true`)).toEqual([403, 'role_missing']);
    expect(await knock('POST', `/v1/deployments/${shop}/improvements`, ask)).toEqual([403, 'role_missing']);
    expect(await knock('POST', `/v1/improvements/${done.id}/cancel`)).toEqual([403, 'role_missing']);
    expect(asked()).toBe(before);
    const [named] = await query(server.connectionString, 'SELECT count(*)::int AS names FROM insight_names');
    expect(named?.names).toBe(0);
  });
});
