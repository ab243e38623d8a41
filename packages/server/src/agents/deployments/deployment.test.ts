import { fail } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import { deploymentSlug } from '@vestra/contract/slug';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { numberedSlug, slugFromName } from './deployment.ts';
import { startDeployments } from './deployments.fixture.ts';

type Server = Awaited<ReturnType<typeof startDeployments>>;

let server: Server;
let org: Awaited<ReturnType<Server['newOrg']>>;

beforeAll(async () => {
  server = await startDeployments({
    checkManifest: async (_tx, _caller, given, prefix) => {
      if (given.model === 'unlisted') throw fail('invalid_manifest', { param: `${prefix}.model` });
      const mcp_servers = given.mcp_servers.map(({ id }) => ({ id, slug: 'shop', url: 'https://shop.example/mcp' }));
      return { ...given, mcp_servers };
    },
  });
  org = await server.newOrg();
});

afterAll(() => server.stop());

const call = (method: string, path: string) => server.call(method, path, { key: org.testKey });
const create = (body: unknown, key = org.testKey) => server.call('POST', '/v1/deployments', { key, body });

describe('creating a deployment', () => {
  it('answers 201 with a draft and no live version [DEP-001, DEP-007, DEP-009, DEP-013, DEP-014]', async () => {
    const { status, body } = await create({ name: 'Support desk', slug: 'first-desk', description: 'Answers.' });
    expect(status).toBe(201);
    expect(body).toEqual({
      object: 'deployment',
      id: expect.stringMatching(/^dep_[0-9a-z]{24}$/),
      name: 'Support desk',
      slug: 'first-desk',
      description: 'Answers.',
      base: 'agent',
      status: 'active',
      draft_version: 1,
      live_version: null,
      newest_version: 1,
      created_at: expect.stringMatching(/Z$/),
      updated_at: body.created_at,
    });
  });

  it.each([
    ['no name', {}, 'name'],
    ['an empty name', { name: '' }, 'name'],
    ['a name of 121 characters', { name: 'x'.repeat(121) }, 'name'],
  ])('accepts a name of 1 to 120 characters, not %s [DEP-002]', async (_what, body, param) => {
    const refused = await create(body);
    expect([refused.status, refused.body.error.code, refused.body.error.param]).toEqual([
      400,
      'invalid_request',
      param,
    ]);
    expect((await create({ name: '🙂'.repeat(120) })).status).toBe(201);
  });

  it.each(['Desk', 'de sk', 'desk_1', '-desk', 'desk-', '', 'é', 'x'.repeat(64)])(
    'refuses the slug %j [DEP-003]',
    async (slug) => {
      const { status, body } = await create({ name: 'Desk', slug });
      expect([status, body.error.param]).toEqual([400, 'slug']);
    },
  );

  it('accepts a slug of 63 characters [DEP-003]', async () => {
    expect((await create({ name: 'Long', slug: 'x'.repeat(63) })).body.slug).toBe('x'.repeat(63));
  });

  it('derives the slug from the name and numbers repeated ones [DEP-004, DEP-027]', async () => {
    const slugs = [];
    for (let round = 0; round < 3; round++) slugs.push((await create({ name: 'Café Zürich' })).body.slug);
    expect(slugs).toEqual(['cafe-zurich', 'cafe-zurich-2', 'cafe-zurich-3']);
    expect((await create({ name: '東京' })).body.slug).toMatch(/^deployment(-[0-9]+)?$/);
  });

  it('reuses a freed slug before a new number', async () => {
    for (let round = 0; round < 3; round++) await create({ name: 'Reused' });
    await call('DELETE', '/v1/deployments/reused-2');
    expect((await create({ name: 'Reused' })).body.slug).toBe('reused-2');
    expect((await create({ name: 'Reused' })).body.slug).toBe('reused-4');
  });

  it('gives concurrent requests different slugs without a gap [DEP-027]', async () => {
    const made = await Promise.all(Array.from({ length: 30 }, () => create({ name: 'Rush' })));
    expect(made.map(({ status }) => status)).toEqual(made.map(() => 201));
    const wanted = made.map((_, at) => (at === 0 ? 'rush' : `rush-${at + 1}`));
    expect(made.map(({ body }) => body.slug).sort()).toEqual(wanted.sort());
  });

  it('refuses a taken slug, also if a concurrent request takes it [DEP-026]', async () => {
    const made = await Promise.all(Array.from({ length: 8 }, () => create({ name: 'Desk', slug: 'only-one' })));
    expect(made.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
    const { body } = await create({ name: 'Desk', slug: 'only-one' });
    expect([body.error.code, body.error.param]).toEqual(['slug_taken', 'slug']);
  });

  it('lets another org use the same slug', async () => {
    const other = await server.newOrg();
    await create({ name: 'Desk', slug: 'in-two-orgs' });
    expect((await create({ name: 'Desk', slug: 'in-two-orgs' }, other.testKey)).status).toBe(201);
  });

  it('accepts a description of up to 2000 characters and defaults to an empty one [DEP-006]', async () => {
    expect((await create({ name: 'Plain' })).body.description).toBe('');
    expect((await create({ name: 'Plain', description: 'x'.repeat(2000) })).status).toBe(201);
    const { status, body } = await create({ name: 'Plain', description: 'x'.repeat(2001) });
    expect([status, body.error.param]).toEqual([400, 'description']);
  });

  it('saves the manifest as the first version with defaults for omitted keys [DEP-015, MAN-002]', async () => {
    const server = { id: newId('mcp') };
    const input = { when: 'string', a: 'string?' };
    const tools = [{ function: 'look_up', description: 'Looks up.', input }];
    const { body } = await create({
      name: 'With settings',
      manifest: { instructions: 'Be brief.', mcp_servers: [server], tools },
    });
    const { body: version } = await call('GET', `/v1/deployments/${body.id}/versions/1`);
    expect(version.manifest).toEqual({
      instructions: 'Be brief.',
      language: 'auto',
      model: 'default',
      apps: 'all',
      approvals: ['payment', 'booking', 'cancellation'],
      limits: { max_steps: 100, max_minutes: 60 },
      mcp_servers: [{ ...server, slug: 'shop', url: 'https://shop.example/mcp' }],
      mcp_tool_policy: {},
      tools: [{ ...tools[0], timeout_s: 120, read_only: false, run_without_asking: false, approver: 'user' }],
      skills: [],
      notebooks: [],
      memory: null,
      environment: null,
      browser: null,
    });
    // Arguments of a function keep their order.
    expect(Object.keys(version.manifest.tools[0].input)).toEqual(['when', 'a']);
    expect(version.changed).toEqual(['instructions', 'mcp_servers', 'tools']);
  });

  it('checks the manifest against the org and reports the fault under `manifest`', async () => {
    const { status, body } = await create({ name: 'Bad model', manifest: { model: 'unlisted' } });
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_manifest', 'manifest.model']);
    expect((await call('GET', '/v1/deployments/Bad%20model')).status).toBe(404);
  });

  it('refuses an unknown manifest key [MAN-011]', async () => {
    const { status, body } = await create({ name: 'Bad', manifest: { knowledge: [] } });
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_manifest', 'manifest.knowledge']);
  });

  it('accepts a note of up to 500 characters for the first version [DEP-016, VER-002]', async () => {
    const noteOf = async (id: string) => (await call('GET', `/v1/deployments/${id}/versions/1`)).body.note;
    expect(await noteOf((await create({ name: 'Noted', note: 'x'.repeat(500) })).body.id)).toBe('x'.repeat(500));
    expect(await noteOf((await create({ name: 'Noted' })).body.id)).toBeNull();
    const { status, body } = await create({ name: 'Noted', note: 'x'.repeat(501) });
    expect([status, body.error.param]).toEqual([400, 'note']);
  });

  it('creates one deployment per Idempotency-Key', async () => {
    const again = { key: org.testKey, body: { name: 'Once' }, headers: { 'idempotency-key': 'once' } };
    const answers = await Promise.all([1, 2, 3].map(() => server.call('POST', '/v1/deployments', again)));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect((await create({ name: 'Once' })).body.slug).toBe('once-2');
  });
});

describe('a slug from a name', () => {
  it.each([
    ['Support desk', 'support-desk'],
    ['  Café — Zürich!  ', 'cafe-zurich'],
    ['Cafe\u0301', 'cafe'],
    ['Straße & Smørrebrød', 'strasse-smorrebrod'],
    ['İstanbul ılık', 'istanbul-ilik'],
    ['ＡＢＣ ①２', 'abc-12'],
    ['Desk_2 (EU)', 'desk-2-eu'],
    ['東京 support', 'support'],
    ['--a--', 'a'],
    ['東京', 'deployment'],
    ['🙂', 'deployment'],
    [' ', 'deployment'],
    [`${'a'.repeat(62)} tail`, 'a'.repeat(62)],
    ['x'.repeat(120), 'x'.repeat(63)],
  ])('%j is %s [DEP-004]', (name, slug) => {
    expect(slugFromName(name)).toBe(slug);
  });

  it('is valid for any name and number', () => {
    const name = fc.string({ unit: 'binary', minLength: 1, maxLength: 120 });
    const mixed = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 120 });
    fc.assert(
      fc.property(fc.oneof(name, mixed), fc.integer({ min: 1, max: 100_000 }), (text, number) => {
        expect(deploymentSlug.safeParse(numberedSlug(slugFromName(text), number)).success).toBe(true);
      }),
    );
  });

  it.each([
    ['desk', 1, 'desk'],
    ['desk', 2, 'desk-2'],
    ['desk', 13, 'desk-13'],
    ['a'.repeat(63), 2, `${'a'.repeat(61)}-2`],
    [`${'a'.repeat(60)}-bc`, 10, `${'a'.repeat(60)}-10`],
  ])('%s becomes, as number %i, %s', (slug, number, expected) => {
    expect(numberedSlug(slug, number)).toBe(expected);
  });
});
