import type { Mode } from '@vestra/contract/route';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { requireDeployment } from '../../agents/deployments/deployment-reference.ts';
import { searchNotebooks } from '../../agents/notebooks/search.ts';
import { readableSkills } from '../../agents/skills/skill-files.ts';
import { getVersion } from '../../agents/versions/store.ts';
import { startApply } from '../apply.fixture.ts';

let server: Awaited<ReturnType<typeof startApply>>;
beforeAll(async () => {
  server = await startApply();
});
afterAll(() => server.stop());

type Org = Awaited<ReturnType<typeof server.newOrg>>;
const names = ['shop', 'desk'] as const;
type Name = (typeof names)[number];

/** Ids of documents, and the hash of the skill. */
type Content = { documents: ReadonlySet<string>; skill: string };
type Version = Content & { instructions: string };

/** A model of the rules, without their implementation. */
type Model = Content & {
  deployments: Record<Name, { versions: Version[]; newest: number; draft: number; stack: number[] }>;
};

const mode = fc.constantFrom<Mode>('test', 'live');
const promote = fc.constantFrom('now' as const, 'no' as const);
const name = fc.constantFrom(...names);
const small = fc.nat({ max: 2 });

const step = fc.oneof(
  fc.record({ do: fc.constant('add' as const), mode, promote, title: small, text: small, replace: fc.boolean() }),
  fc.record({ do: fc.constant('remove' as const), mode, promote, which: small }),
  fc.record({ do: fc.constant('skill' as const), mode, promote, text: small }),
  fc.record({ do: fc.constant('apply' as const), mode, promote, name, text: small }),
  fc.record({ do: fc.constant('promote' as const), mode, name, version: fc.option(small) }),
  fc.record({ do: fc.constant('roll back' as const), name }),
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const skillFiles = (text: number) => [
  { path: 'SKILL.md', content: `---\nname: returns\ndescription: Kind ${text}.\n---\n\nText ${text}.\n` },
];

it('live traffic reads promoted content and test traffic the newest, for any order of operations [VER-121, VER-122, VER-123, NB-702]', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
      const org = await server.newOrg();
      const world = await begin(org);
      for (const each of steps) {
        await play(org, world, each);
        await compare(org, world);
      }
    }),
    { numRuns: 25 },
  );
}, 120_000);

type World = Awaited<ReturnType<typeof begin>>;

/** Two deployments that share a notebook of one document and a skill; the first of them is live. */
async function begin(org: Org) {
  const notebook = (await org.call('POST', '/v1/notebooks', { body: { name: 'N', slug: 'n' } })).body.id as string;
  const { id: skill, version: hash } = (await org.call('POST', '/v1/skills', { body: { files: skillFiles(0) } })).body;
  const model: Model = {
    documents: new Set(),
    skill: hash,
    deployments: {
      shop: { versions: [], newest: 0, draft: 0, stack: [] },
      desk: { versions: [], newest: 0, draft: 0, stack: [] },
    },
  };
  const world = { notebook, skill: skill as string, model, titles: new Map<string, number>() };
  await play(org, world, { do: 'add', mode: 'test', promote: 'now', title: 0, text: 0, replace: false });
  for (const each of names) await play(org, world, { do: 'apply', mode: 'test', promote: 'now', name: each, text: 0 });
  await play(org, world, { do: 'promote', mode: 'live', name: 'shop', version: null });
  return world;
}

async function play(org: Org, { notebook, skill, model, titles }: World, given: Step): Promise<void> {
  const contentOf = (): Content => ({ documents: new Set(model.documents), skill: model.skill });
  const liveOf = (each: Name) => {
    const { versions, stack } = model.deployments[each];
    return stack.length === 0 ? null : (versions[(stack.at(-1) as number) - 1] as Version);
  };
  /** A change with a live key changes live content as a separate version. */
  const changeLive = (change: (live: Version) => Content) => {
    for (const each of names) {
      const deployment = model.deployments[each];
      const live = liveOf(each);
      if (!live) continue;
      const next = change(live);
      if (isSame(next, live)) continue;
      const before = deployment.stack.at(-1);
      const number = deployment.versions.push({ ...next, instructions: live.instructions });
      if (deployment.newest === before) deployment.newest = number;
      if (deployment.draft === before) deployment.draft = number;
      deployment.stack.push(number);
    }
  };
  const save = (each: Name, instructions: string) => {
    const deployment = model.deployments[each];
    const number = deployment.versions.push({ ...contentOf(), instructions });
    deployment.newest = number;
    deployment.draft = number;
    return number;
  };
  const run = (each: Name, key: Mode, number: number) => {
    const deployment = model.deployments[each];
    if (key === 'test') deployment.draft = number;
    else if (deployment.stack.at(-1) !== number) deployment.stack.push(number);
  };

  switch (given.do) {
    case 'add': {
      const reachesLive = given.mode === 'live' && given.promote === 'now';
      const others = (documents: ReadonlySet<string>) =>
        new Set([...documents].filter((id) => titles.get(id) !== given.title));
      const read = [model, ...(reachesLive ? names.map(liveOf) : [])].flatMap((each) => (each ? [each.documents] : []));
      const isTaken = read.some((documents) => others(documents).size < documents.size);
      const { title, replace } = given;
      const body = { title: `d${title}`, text: `Common words of document ${title}, text ${given.text}.`, replace };
      const path = `/v1/notebooks/${notebook}/documents?promote=${given.promote}`;
      const answer = await org.call('POST', path, { mode: given.mode, body });
      if (isTaken && !replace) {
        expect([answer.status, answer.body.error.code]).toEqual([409, 'title_taken']);
        return;
      }
      expect(answer.status).toBe(201);
      const id = answer.body.id as string;
      titles.set(id, title);
      model.documents = new Set([...others(model.documents), id]);
      if (reachesLive) changeLive((live) => ({ ...live, documents: new Set([...others(live.documents), id]) }));
      return;
    }
    case 'remove': {
      const id = [...model.documents].sort()[given.which];
      if (id === undefined) return;
      const path = `/v1/notebooks/${notebook}/documents/${id}?promote=${given.promote}`;
      const { status, body } = await org.call('DELETE', path, { mode: given.mode });
      const isLive = names.some((each) => liveOf(each)?.documents.has(id));
      if (given.mode === 'test' && given.promote === 'now' && isLive) {
        expect([status, body.error.code]).toEqual([409, 'notebook_live']);
        return;
      }
      expect(status).toBe(200);
      const without = (documents: ReadonlySet<string>) => new Set([...documents].filter((each) => each !== id));
      model.documents = without(model.documents);
      if (given.mode === 'live' && given.promote === 'now') {
        changeLive((live) => ({ ...live, documents: without(live.documents) }));
      }
      return;
    }
    case 'skill': {
      const path = `/v1/skills/${skill}?promote=${given.promote}`;
      const body = { files: skillFiles(given.text) };
      const hash = (await org.call('PUT', path, { mode: given.mode, body })).body.version;
      model.skill = hash;
      if (given.mode === 'live' && given.promote === 'now') changeLive((live) => ({ ...live, skill: hash }));
      return;
    }
    case 'apply': {
      const deployment = model.deployments[given.name];
      const instructions = `Be kind ${given.text}.`;
      const file = { name: given.name, instructions, knowledge: [{ notebook }], skills: [{ id: skill }] };
      const { body } = await org.put(file, { mode: given.mode, promote: given.promote });
      const newest = deployment.versions[deployment.newest - 1];
      const isNew = !newest || !isSame(newest, model) || newest.instructions !== instructions;
      const number = isNew ? save(given.name, instructions) : deployment.newest;
      expect([body.version.version, body.changed.length > 0]).toEqual([number, isNew]);
      if (newest && newest.instructions === instructions) {
        const wanted = [
          ...(newest.skill === model.skill ? [] : ['skills']),
          ...(isSame({ ...newest, skill: '' }, { ...model, skill: '' }) ? [] : ['knowledge']),
        ];
        expect([body.changed, isNew ? body.version.changed : []]).toEqual([wanted, wanted]);
      }
      if (given.promote === 'now') run(given.name, given.mode, number);
      return;
    }
    case 'promote': {
      const deployment = model.deployments[given.name];
      if (given.version !== null && given.version >= deployment.versions.length) return;
      const path = `/v1/deployments/${given.name}/promote`;
      const asked = given.version === null ? {} : { version: given.version + 1 };
      const { body } = await org.call('POST', path, { mode: given.mode, body: asked });
      const newest = deployment.versions[deployment.newest - 1] as Version;
      const settled = isSame(newest, model) ? deployment.newest : null;
      const number = given.version === null ? (settled ?? save(given.name, newest.instructions)) : given.version + 1;
      expect(body.version.version).toBe(number);
      run(given.name, given.mode, number);
      return;
    }
    case 'roll back': {
      const { stack } = model.deployments[given.name];
      const { status } = await org.call('POST', `/v1/deployments/${given.name}/rollback`, { mode: 'live' });
      expect(status).toBe(stack.length > 1 ? 200 : 409);
      if (stack.length > 1) stack.pop();
    }
  }
}

const isSame = (one: Content, other: Content) =>
  one.skill === other.skill &&
  one.documents.size === other.documents.size &&
  [...one.documents].every((id) => other.documents.has(id));

/** Reads like a conversation: the content of its version, or the newest. */
async function compare(org: Org, { notebook, skill, model }: World): Promise<void> {
  const { db } = server;
  const read = async (fixed: { notebooks: Record<string, number>; skills: Record<string, string> } | null) => {
    const reader = { orgId: org.id, notebookIds: [notebook], userId: null, revisions: fixed?.notebooks ?? null };
    const { hits } = await searchNotebooks(db, { ...reader, query: 'common', limit: 50 });
    const [known] = await readableSkills(db, org.id, [{ id: skill }], fixed?.skills ?? null);
    const documents = hits.map(({ documentId }) => documentId).sort();
    return { documents, skill: known && 'hash' in known.at ? known.at.hash : null };
  };
  const shown = ({ documents, skill: hash }: Content) => ({ documents: [...documents].sort(), skill: hash });
  expect(await read(null)).toEqual(shown(model));
  for (const each of names) {
    const { versions, newest, draft, stack } = model.deployments[each];
    if (versions.length === 0) continue;
    const deployment = await requireDeployment(db, org.id, each);
    expect([each, deployment.newest_version, deployment.draft_version, deployment.live_version]).toEqual([
      ...[each, newest, draft, stack.at(-1) ?? null],
    ]);
    // All saved versions, since each can be pinned or go live again.
    for (const [at, version] of versions.entries()) {
      const { content } = await getVersion(db, deployment, at + 1);
      expect({ version: at + 1, ...(await read(content)) }).toEqual({ version: at + 1, ...shown(version) });
    }
  }
}
