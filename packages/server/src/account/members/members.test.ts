import type { Failure } from '@vestra/contract/errors';
import { newId } from '@vestra/contract/ids';
import { members as contract } from '@vestra/contract/members';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rowsWhere } from '../../../../../tests/support/rows.ts';
import { insert } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { auditEntries, consoleSessions, members } from '../tables.ts';
import { newEmail, password, startConsole, systemOrigin } from './members.fixture.ts';
import { createOwner, removeMember, updateMember } from './members.ts';

let server: Awaited<ReturnType<typeof startConsole>>;
beforeAll(async () => {
  server = await startConsole();
});
afterAll(() => server.stop());

const memberRow = async (id: string) => (await rowsWhere(server.db, members, sql`id = ${id}`))[0];
const auditOf = (orgId: string, memberId: string) =>
  rowsWhere(server.db, auditEntries, sql`org_id = ${orgId} AND target_id = ${memberId} ORDER BY id`);

describe('listing members', () => {
  it('shows only members of the org, newest first, in pages [MBR-002]', async () => {
    const [org, other] = [await server.newOrg(), await server.newOrg()];
    await server.invite(other.id, 'developer');
    const invited = [await server.invite(org.id, 'admin'), await server.invite(org.id, 'developer')];
    const key = await server.newKey(org.id, 'test', ['admin']);
    const first = await server.call('GET', '/v1/members?limit=2', { key });
    const second = await server.call('GET', `/v1/members?limit=2&cursor=${first.body.next_cursor}`, { key });
    const shown = [first, second].flatMap(({ body }) => contract.list.response.parse(body).data);
    expect(shown.map(({ id }) => id)).toEqual([invited[1]?.id, invited[0]?.id, org.owner.id]);
    expect(second.body.next_cursor).toBeNull();
    expect(JSON.stringify(shown)).not.toMatch(/hash|vinv_/);
  });
});

describe('changing a member', () => {
  it('sets role and name, and records both in the audit log [MBR-004]', async () => {
    const org = await server.newOrg();
    const member = await server.newMember(org.id, 'developer');
    const browser = await server.logIn(org.owner.email);
    const changed = await server.call('PATCH', `/v1/members/${member.id}`, {
      browser,
      body: { role: 'admin', name: 'Ada Lovelace' },
    });
    expect(changed).toMatchObject({ status: 200, body: { id: member.id, role: 'admin', name: 'Ada Lovelace' } });
    const entry = (await auditOf(org.id, member.id)).at(-1);
    expect(entry).toMatchObject({
      action: 'member.updated',
      actor_id: org.owner.id,
      details: { changed: ['role', 'name'], role: { from: 'developer', to: 'admin' } },
    });
    const unchanged = await server.call('PATCH', `/v1/members/${member.id}`, { browser, body: { role: 'admin' } });
    expect(unchanged.status).toBe(200);
    expect((await auditOf(org.id, member.id)).at(-1)?.id).toBe(entry?.id);
  });

  it('is refused for developers [MBR-006, AUTH-030]', async () => {
    const org = await server.newOrg();
    const developer = await server.newMember(org.id, 'developer');
    const browser = await server.logIn(developer.email);
    const refusals = [
      await server.call('POST', '/v1/members', { browser, body: { email: newEmail(), role: 'developer' } }),
      await server.call('PATCH', `/v1/members/${developer.id}`, { browser, body: { role: 'owner' } }),
      await server.call('DELETE', `/v1/members/${developer.id}`, { browser }),
    ];
    for (const refused of refusals)
      expect(refused).toMatchObject({ status: 403, body: { error: { code: 'role_missing' } } });
    expect(await memberRow(developer.id)).toMatchObject({ role: 'developer' });
  });

  it('allows only owners to change owners', async () => {
    const org = await server.newOrg();
    const [admin, second] = [await server.newMember(org.id, 'admin'), await server.newMember(org.id, 'owner')];
    const browser = await server.logIn(admin.email);
    const refusals = [
      await server.call('PATCH', `/v1/members/${admin.id}`, { browser, body: { role: 'owner' } }),
      await server.call('PATCH', `/v1/members/${second.id}`, { browser, body: { role: 'developer' } }),
      await server.call('PATCH', `/v1/members/${second.id}`, { browser, body: { name: 'Mallory' } }),
      await server.call('DELETE', `/v1/members/${second.id}`, { browser }),
    ];
    for (const refused of refusals)
      expect(refused).toMatchObject({ status: 403, body: { error: { code: 'role_missing' } } });
  });

  it('finds no member of another org [MBR-017]', async () => {
    const [org, other] = [await server.newOrg(), await server.newOrg()];
    const browser = await server.logIn(org.owner.email);
    for (const id of [other.owner.id, newId('mbr'), 'mbr_short']) {
      const answers = [
        await server.call('PATCH', `/v1/members/${id}`, { browser, body: { role: 'developer' } }),
        await server.call('DELETE', `/v1/members/${id}`, { browser }),
      ];
      for (const { status, body } of answers) expect([status, body.error?.code], id).toEqual([404, 'member_not_found']);
    }
    expect(await memberRow(other.owner.id)).toMatchObject({ role: 'owner' });
  });
});

describe('the last owner', () => {
  it('can be neither demoted nor removed, and invited owners do not count [MBR-007]', async () => {
    const org = await server.newOrg();
    await server.invite(org.id, 'owner');
    const browser = await server.logIn(org.owner.email);
    const refusals = [
      await server.call('PATCH', `/v1/members/${org.owner.id}`, { browser, body: { role: 'admin' } }),
      await server.call('DELETE', `/v1/members/${org.owner.id}`, { browser }),
    ];
    for (const refused of refusals)
      expect(refused).toMatchObject({ status: 409, body: { error: { code: 'last_owner' } } });

    const second = await server.newMember(org.id, 'owner');
    const gone = await server.call('DELETE', `/v1/members/${org.owner.id}`, { browser });
    expect(gone).toMatchObject({ status: 200, body: { object: 'member', id: org.owner.id, deleted: true } });
    expect(await memberRow(second.id)).toMatchObject({ role: 'owner' });
  });

  it('remains when the last two owners are removed concurrently', async () => {
    const manager = { kind: 'operator' as const };
    for (let round = 0; round < 12; round++) {
      const org = await server.newOrg();
      const second = newId('mbr');
      const other = { id: second, org_id: org.id, email: newEmail(), role: 'owner', status: 'active' } as const;
      await insert(server.db, members, other);
      const origin = systemOrigin(org.id);
      const results = await Promise.allSettled([
        transaction(server.db, (tx) =>
          updateMember(tx, origin, { manager, memberId: org.owner.id, role: 'developer' }),
        ),
        round % 2
          ? transaction(server.db, (tx) => removeMember(tx, origin, { manager, memberId: second }))
          : transaction(server.db, (tx) => updateMember(tx, origin, { manager, memberId: second, role: 'admin' })),
      ]);
      const refused = results.filter((result) => result.status === 'rejected');
      expect(refused.map(({ reason }) => (reason as Failure).code)).toEqual(['last_owner']);
      const left = await rowsWhere(server.db, members, sql`org_id = ${org.id} AND role = 'owner'`);
      expect(left).toHaveLength(1);
    }
  });
});

describe('removing a member', () => {
  it('deletes the login and sessions of a person without another org, who may return with a new password [MBR-005]', async () => {
    const org = await server.newOrg();
    const member = await server.newMember(org.id, 'admin');
    const theirs = await server.logIn(member.email);
    const browser = await server.logIn(org.owner.email);
    const gone = await server.call('DELETE', `/v1/members/${member.id}`, { browser });
    expect(gone).toMatchObject({ status: 200, body: { object: 'member', id: member.id, deleted: true } });
    const refused = await server.call('GET', '/v1/console/session', { browser: theirs });
    expect(refused).toMatchObject({ status: 401, body: { error: { code: 'console_login_required' } } });
    const kept = await rowsWhere(server.db, consoleSessions, sql`email = ${member.email}`);
    expect(kept).toEqual([]);
    expect((await auditOf(org.id, member.id)).at(-1)).toMatchObject({ action: 'member.removed' });

    const { token } = await server.invite(org.id, 'developer', member.email);
    const back = await server.call('POST', '/v1/members/accept', {
      body: { token, name: 'Ada', password: 'a quite new password' },
    });
    expect(back.status).toBe(200);
  });

  it('keeps the login of a person with another org, without access to this one', async () => {
    const [one, two] = [await server.newOrg(), await server.newOrg()];
    const member = await server.newMember(one.id, 'admin');
    const other = await server.newMember(two.id, 'developer', member.email);
    const theirs = await server.logIn(member.email);
    const browser = await server.logIn(one.owner.email);
    await server.call('DELETE', `/v1/members/${member.id}`, { browser });

    const session = await server.call('GET', '/v1/console/session', { browser: theirs });
    expect(session).toMatchObject({ status: 200, body: { member: { id: other.id }, org: { id: two.id } } });
    const lost = await server.call('GET', '/v1/console/session', {
      browser: theirs,
      headers: { 'service-org': one.id },
    });
    expect(lost).toMatchObject({ status: 403, body: { error: { code: 'org_mismatch' } } });
  });

  it('never leaves a member without a login during a concurrent acceptance', async () => {
    for (let round = 0; round < 6; round++) {
      const [one, two] = [await server.newOrg(), await server.newOrg()];
      const member = await server.newMember(one.id, 'developer');
      const { token } = await server.invite(two.id, 'developer', member.email);
      const origin = systemOrigin(one.id);
      await Promise.all([
        transaction(server.db, (tx) =>
          removeMember(tx, origin, { manager: { kind: 'operator' }, memberId: member.id }),
        ),
        server.call('POST', '/v1/members/accept', { body: { token, name: 'Ada', password } }),
      ]);
      await server.logIn(member.email);
    }
  });
});

describe('the first owner', () => {
  it('gets a separate login if the email has one with another password [MBR-610]', async () => {
    const [one, two] = [await server.newOrg(), await server.newOrg()];
    const { email } = await server.newMember(one.id, 'developer');
    const wanted = { orgId: two.id, email, name: 'Ada' };
    const made = await transaction(server.db, (tx) => createOwner(tx, { ...wanted, password: 'another password' }));
    const rows = await rowsWhere(server.db, members, sql`id = ${made.id}`);
    expect(rows[0]).toMatchObject({ org_id: two.id, role: 'owner', status: 'active' });
    const orgsOf = async (given: string) => {
      const { body } = await server.call('POST', '/v1/console/login', { body: { email, password: given } });
      return (body.orgs as { id: string }[]).map(({ id }) => id);
    };
    expect([await orgsOf('another password'), await orgsOf(password)]).toEqual([[two.id], [one.id]]);
  });
});
