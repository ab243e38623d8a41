import { expect, it } from 'vitest';
import { startTestServer } from '../../../../../tests/support/server.ts';
it('works in the whole server', async () => {
  const s = await startTestServer();
  const d = await s.call('POST', '/v1/deployments', { body: { name: 'Desk' } });
  const r = await s.call('POST', '/v1/routines', { body: { ask: 'Hi', every: 'weekday at 08:00', user_id: 'anna', deployment: 'desk' } });
  const t = await s.call('POST', '/v1/routines', { body: { ask: 'Hi', on: 'call', deployment: d.body.id } });
  const p = await s.call('PATCH', `/v1/routines/${r.body.id}`, { body: { enabled: false } });
  const run = await s.call('POST', `/v1/routines/${r.body.id}/run`);
  const put = await s.call('PUT', '/v1/deployments/filed', { body: { name: 'filed', routines: [{ ask: 'Report', every: 'day at 9' }] } });
  const l = await s.call('GET', '/v1/routines');
  const c = await s.call('POST', '/v1/routines', { body: { ask: 'Hi', schedule: { cron: '0 0 8 * * *' }, deployment: 'desk' } });
  expect([r.status, t.body.trigger_url, p.body.enabled, run.status, put.status, l.body.data.map((x: { name: string }) => x.name), c.body.error.code]).toEqual([]);
  await s.stop();
});
