import { newId } from '@vestra/contract/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeOtherOrg } from '../support/other-org.ts';
import { startTestServer } from '../support/server.ts';
import { codeOf, desk, startTalk, type Talk } from './conversations.fixture.ts';

let server: Talk;
beforeAll(async () => {
  server = await startTalk();
});
afterAll(() => server.stop());

const create = (body: Record<string, unknown>, key = server.testKey) =>
  server.call('POST', '/v1/conversations', { key, body });
const change = (path: string, body: Record<string, unknown>, key = server.testKey) =>
  server.call('PATCH', path, { key, body });

/** A deployment whose versions each have different instructions. The last is live if the key is. */
async function deployed(name: string, versions = 1, key = server.testKey): Promise<string> {
  let id = '';
  for (let version = 1; version <= versions; version++) {
    id = (await server.apply({ ...desk, name, instructions: `Version ${version}.` }, key)).body.id;
  }
  return id;
}

const versionsAsked = () => server.asked.map(({ system }) => /Version (\d)\./.exec(system.join('\n'))?.[1]);

describe('the deployment of a conversation', () => {
  it('is named by id, slug or name, with or without a version [CONV-014]', async () => {
    const made = await server.call('POST', '/v1/deployments', { body: { name: 'The Named One', slug: 'named' } });
    const { id } = made.body;
    await deployed('named');
    for (const deployment of [id, 'named', `${id}@1`, 'named@2', 'The Named One', 'The Named One@1']) {
      const { status, body } = await create({ deployment });
      expect([deployment, status, body.deployment_id]).toEqual([deployment, 201, id]);
      expect(body.deployment_version).toBe(deployment.endsWith('@1') ? 1 : 2);
    }
  });

  it('is by default the user’s, or else the org’s [CONV-014]', async () => {
    const [own, other] = [await deployed('own'), await deployed('other-default')];
    const orgs = (await server.call('GET', '/v1/org')).body.default_deployment;
    await create({ user_id: 'uma' });
    expect((await create({ user_id: 'uma' })).body.deployment_id).toBe(orgs);
    expect((await change('/v1/users/uma', { default_deployment: 'own' })).status).toBe(200);
    expect((await create({ user_id: 'uma' })).body.deployment_id).toBe(own);
    expect((await create({ user_id: 'uma', deployment: other })).body.deployment_id).toBe(other);
    expect((await create({ user_id: 'someone-else' })).body.deployment_id).toBe(orgs);
    expect((await create({})).body.deployment_id).toBe(orgs);
  });

  it('is the org’s again once the user’s own was deleted [CONV-014]', async () => {
    const id = await deployed('short-lived');
    await create({ user_id: 'val' });
    await change('/v1/users/val', { default_deployment: id });
    expect((await server.call('DELETE', `/v1/deployments/${id}`)).status).toBe(200);
    const orgs = (await server.call('GET', '/v1/org')).body.default_deployment;
    expect((await create({ user_id: 'val' })).body.deployment_id).toBe(orgs);
  });

  it('must be there: neither named nor by default [CONV-015]', async () => {
    const key = await makeOtherOrg(server);
    const answer = await create({ message: 'Hi' }, key);
    expect([...codeOf(answer), answer.body.error.param]).toEqual([400, 'deployment_required', 'deployment']);
    expect((await server.call('GET', '/v1/conversations', { key })).body.data).toEqual([]);
  });

  it.each([
    ['an unknown name', 'nobody'],
    ['an unknown id', newId('dep')],
    ['an unknown version', 'desk@99'],
    ['a version that is none', 'desk@0'],
    ['a version that is no number', 'desk@latest'],
    ['nothing', ''],
    ['a version alone', '@1'],
    ['a control character', 'de\u0007sk'],
  ])('is not %s [CONV-016]', async (_what, deployment) => {
    const answer = await create({ deployment });
    expect([...codeOf(answer), answer.body.error.param]).toEqual([400, 'invalid_deployment', 'deployment']);
  });

  it('is never another org’s [CONV-016]', async () => {
    const key = await makeOtherOrg(server);
    const { deployment_id } = await server.begin();
    for (const deployment of ['desk', deployment_id]) {
      expect(codeOf(await create({ deployment }, key))).toEqual([400, 'invalid_deployment']);
    }
  });

  it('accepts no conversation and no message while it is archived', async () => {
    const id = await deployed('archived');
    const { body: old } = await create({ deployment: id });
    await server.call('POST', `/v1/deployments/${id}/archive`);
    for (const deployment of [id, `${id}@1`]) {
      expect(codeOf(await create({ deployment }))).toEqual([409, 'deployment_archived']);
    }
    expect(codeOf(await server.send(old.id, { message: 'Hi' }))).toEqual([409, 'deployment_archived']);
    await server.call('POST', `/v1/deployments/${id}/unarchive`);
    expect((await server.tell(old.id, 'Hi')).status).toBe('settled');
  });

  it('accepts no live conversation before a version is live', async () => {
    const id = await deployed('draft-alone');
    expect(codeOf(await create({ deployment: id, message: 'Hi' }, server.liveKey))).toEqual([
      409,
      'deployment_not_live',
    ]);
    expect((await create({ deployment: id })).status).toBe(201);
  });

  it('may be deleted: messages stay, and no more are accepted', async () => {
    const id = await deployed('deleted');
    const { body: old } = await create({ deployment: id });
    await server.tell(old.id, 'Hi');
    expect((await server.call('DELETE', `/v1/deployments/${id}`)).status).toBe(200);
    expect((await server.show(old.id)).deployment_id).toBe(id);
    expect(await server.messages(old.id)).toHaveLength(2);
    expect(codeOf(await server.send(old.id, { message: 'Still there?' }))).toEqual([409, 'deployment_deleted']);
  });
});

describe('the version of a conversation', () => {
  it('stays the one it started on in test mode [CONV-003]', async () => {
    await deployed('staying', 1);
    const { body: old } = await create({ deployment: 'staying' });
    await deployed('staying', 2);
    server.script(() => ({ text: 'Hello.' }));
    await server.tell(old.id, 'Hi');
    expect(versionsAsked()).toEqual(['1']);
    expect((await server.show(old.id)).deployment_version).toBe(1);
    expect((await create({ deployment: 'staying' })).body.deployment_version).toBe(2);
  });

  it('is the one live at its last message in live mode [CONV-003]', async () => {
    await deployed('following', 1, server.liveKey);
    const { body: old } = await create({ deployment: 'following' }, server.liveKey);
    server.script(() => ({ text: 'Hello.' }));
    await server.tell(old.id, 'Hi', server.liveKey);
    await deployed('following', 2, server.liveKey);
    expect((await server.show(old.id, server.liveKey)).deployment_version).toBe(1);
    await server.tell(old.id, 'Hi', server.liveKey);
    expect((await server.show(old.id, server.liveKey)).deployment_version).toBe(2);
    await server.call('POST', '/v1/deployments/following/rollback', { key: server.liveKey });
    await server.tell(old.id, 'Hi', server.liveKey);
    expect(versionsAsked()).toEqual(['1', '2', '1']);
  });

  it('stays the one that was named, in both modes [CONV-003]', async () => {
    for (const key of [server.testKey, server.liveKey]) {
      const name = key === server.testKey ? 'pinned-test' : 'pinned-live';
      await deployed(name, 2, key);
      const { body: pinned } = await create({ deployment: `${name}@1` }, key);
      await server.apply({ ...desk, name, instructions: 'Version 3.' }, key);
      server.script(() => ({ text: 'Hello.' }));
      await server.tell(pinned.id, 'Hi', key);
      expect(versionsAsked()).toEqual(['1']);
      expect((await server.show(pinned.id, key)).deployment_version).toBe(1);
    }
  });
});

describe('the user of a conversation', () => {
  it('that is disabled cannot start one or send messages', async () => {
    const { body: old } = await create({ user_id: 'dis' });
    await change('/v1/users/dis', { status: 'disabled' });
    expect(codeOf(await create({ user_id: 'dis' }))).toEqual([403, 'user_disabled']);
    expect(codeOf(await server.send(old.id, { message: 'Hi' }))).toEqual([403, 'user_disabled']);
    expect((await create({ user_id: 'dis' }, server.liveKey)).status).toBe(201);
  });

  it('must be named if the org requires it [CONV-025]', async () => {
    const { body: old } = await create({});
    await change('/v1/org', { require_user: true });
    const refused = await create({ message: 'Hi' });
    expect([...codeOf(refused), refused.body.error.param]).toEqual([400, 'user_required', 'user_id']);
    expect((await create({ user_id: 'req' })).status).toBe(201);
    await change('/v1/org', { require_user: false });
    expect((await server.tell(old.id, 'Hi')).status).toBe('settled');
  });

  it.each(['', 'a b', 'ü', 'x'.repeat(129), 'a/b', null, 7])(
    'has a name of the right kind, which %j is not',
    async (user_id) => {
      expect(codeOf(await create({ user_id }))).toEqual([400, 'invalid_request']);
    },
  );
});

describe('a server without a model', () => {
  it('answers test mode from its stand-in, and returns `model_unavailable` in live mode [MSG-039]', async () => {
    const bare = await startTestServer({ env: { VESTRA_DEFAULT_MODEL: '' } });
    try {
      const put = (key: string) =>
        bare.call('PUT', '/v1/deployments/desk?promote=now', { key, body: { name: 'desk' } });
      await put(bare.testKey);
      await put(bare.liveKey);
      const body = { message: 'Hi' };
      const { body: test } = await bare.call('POST', '/v1/conversations', { body: {} });
      const answered = await bare.call('POST', `/v1/conversations/${test.id}/messages`, {
        body,
        headers: { prefer: 'wait=60' },
      });
      expect([answered.status, answered.body.status]).toEqual([200, 'settled']);
      const { body: live } = await bare.call('POST', '/v1/conversations', { key: bare.liveKey, body: {} });
      for (const path of ['/v1/conversations', `/v1/conversations/${live.id}/messages`]) {
        const refused = await bare.call('POST', path, { key: bare.liveKey, body });
        expect(codeOf(refused)).toEqual([503, 'model_unavailable']);
      }
      const { body: list } = await bare.call('GET', '/v1/conversations', { key: bare.liveKey });
      expect(list.data.map(({ id }: { id: string }) => id)).toEqual([live.id]);
      const { body: said } = await bare.call('GET', `/v1/conversations/${live.id}/messages`, { key: bare.liveKey });
      expect(said.data).toEqual([]);
    } finally {
      await bare.stop();
    }
  });
});
