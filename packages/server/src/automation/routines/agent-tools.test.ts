import { newId } from '@vestra/contract/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TurnRow } from '../../engine/records/tables.ts';
import type { Tenant } from '../../platform/caller.ts';
import { run } from '../../platform/db/query.ts';
import { sql } from '../../platform/db/sql.ts';
import { routineTools } from './agent-tools.ts';
import { type RoutineServer, startRoutines } from './routines.fixture.ts';

let server: RoutineServer;
let tenant: Tenant;
let deploymentId: string;
beforeAll(async () => {
  server = await startRoutines();
  const { id, deployment } = await server.newOrg();
  tenant = { orgId: id, mode: 'test' };
  deploymentId = deployment.id;
});
afterAll(() => server.stop());

/** The tools in a conversation of this user. `isSimulated` makes it a test. */
async function toolsFor(userId: string | null, isSimulated: boolean) {
  const conversationId = await server.newConversation(tenant, userId);
  const turn = {
    id: newId('turn'),
    conversation_id: conversationId,
    user_id: userId,
    deployment_id: deploymentId,
  } as TurnRow;
  if (userId !== null) await server.setUser(tenant, userId, { timezone: 'Europe/Berlin' });
  const tools = routineTools(server.db)({ tenant, turn, isSimulated });
  const call = async (name: string, given: Record<string, unknown> = {}) => {
    const tool = tools.find((each) => each.tool.definition.name === name);
    return (await tool?.run?.(given, new AbortController().signal)) as { output: string; isError: boolean };
  };
  return { call, conversationId };
}
const kept = () => run(server.db, sql`SELECT FROM routines`);
const idIn = (output: string) => /rtn_[0-9a-z]{24}/.exec(output)?.[0] ?? '';

describe('in a test', () => {
  it('lists a created routine only in that test and never runs it', async () => {
    const before = await kept();
    const { call } = await toolsFor('anna', true);
    const other = await toolsFor('anna', true);
    const real = await toolsFor('anna', false);
    const added = await call('routines_add', { ask: 'Water the plants.', every: 'day at 08:00' });
    expect(added).toMatchObject({ isError: false, output: expect.stringMatching(/^Scheduled\. /) });
    expect(added.output).toContain('day at 08:00 (Europe/Berlin)');
    expect((await call('routines_list')).output).toContain(idIn(added.output));
    expect((await other.call('routines_list')).output).toBe('Nothing is scheduled.');
    expect((await real.call('routines_list')).output).toBe('Nothing is scheduled.');
    expect(await kept()).toBe(before);
    expect((await other.call('routines_remove', { routine_id: idIn(added.output) })).isError).toBe(true);
    expect((await call('routines_remove', { routine_id: idIn(added.output) })).isError).toBe(false);
    expect((await call('routines_list')).output).toBe('Nothing is scheduled.');
  });

  it('answers as outside of a test, also for one-time and invalid schedules [RTN-262]', async () => {
    const [pretended, real] = [await toolsFor('bert', true), await toolsFor('bert', false)];
    for (const given of [{ ask: 'x', every: '5 minutes' }, { ask: 'x', cron: '0 0 * * * *' }, { ask: 'x' }]) {
      const answer = await pretended.call('routines_add', given);
      expect(answer.isError).toBe(true);
      expect(await real.call('routines_add', given)).toEqual(answer);
    }
    const given = { ask: 'x', every: 'hour', name: 'Every hour' };
    const [seeming, made] = [await pretended.call('routines_add', given), await real.call('routines_add', given)];
    const shape = (output: string) => output.replace(idIn(output), 'id');
    expect(shape(seeming.output)).toBe(shape(made.output));
    await real.call('routines_remove', { routine_id: idIn(made.output) });
    const once = { ask: 'x', every: 'on 1 March 2090 at 9am' };
    for (const { call } of [pretended, real]) {
      const { output } = await call('routines_add', once);
      expect(output).toContain('"when":"2090-03-01 at 09:00 (Europe/Berlin)","next_run_at":"2090-03-01T08:00:00.000Z"');
      await call('routines_remove', { routine_id: idIn(output) });
      expect((await call('routines_add', { ...once, every: '2020-03-01 at 9' })).isError).toBe(true);
    }
  });

  it('deletes pretended routines with their conversation', async () => {
    const { call, conversationId } = await toolsFor('carl', true);
    await call('routines_add', { ask: 'x', every: 'hour' });
    await run(server.db, sql`DELETE FROM conversations WHERE id = ${conversationId}`);
    expect(await run(server.db, sql`SELECT FROM pretended_routines WHERE conversation_id = ${conversationId}`)).toBe(0);
  });
});

describe('outside a test', () => {
  it('allows at most fifty routines for each user', async () => {
    const { call } = await toolsFor('dora', false);
    for (let count = 0; count < 50; count++) {
      expect((await call('routines_add', { ask: `Ask ${count}`, every: 'hour' })).isError).toBe(false);
    }
    expect(await call('routines_add', { ask: 'One more', every: 'hour' })).toEqual({
      isError: true,
      output: 'At most 50 are kept: remove one first.',
    });
  });

  it('refuses to remove a file-managed routine', async () => {
    const deployment = await server.newDeployment(tenant.orgId, 'filed');
    await server.apply(deployment, 'test', [
      { name: 'filed', ask: 'Report.', every: 'hour', enabled: true, users: ['eve'] },
    ]);
    const { call } = await toolsFor('eve', false);
    const id = idIn((await call('routines_list')).output);
    expect(await call('routines_remove', { routine_id: id })).toMatchObject({
      isError: true,
      output: expect.stringMatching(/deployment file/),
    });
  });
});
