import { readdirSync } from 'node:fs';
import { templates } from '@vestra/cli/template';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { examplesFolder, resolveExample } from '../support/example.ts';
import { startTestServer, type TestServer } from '../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  // it-desk names a tool server on this machine.
  server = await startTestServer({ env: { VESTRA_ALLOW_PRIVATE_ADDRESSES: '1' } });
});
afterAll(() => server.stop());

const names = readdirSync(examplesFolder);

describe('the examples', () => {
  it('are the templates and the booking desk', () =>
    expect(names.sort()).toEqual([...templates.map(({ name }) => name), 'booking-desk'].sort()));

  it.each(names)('%s is applied whole, read back the same, and changes nothing the second time', async (name) => {
    const file = await resolveExample(server, name);
    const apply = (body: unknown, promote: string) =>
      server.call('PUT', `/v1/deployments/${name}?promote=${promote}`, { body });
    const first = await apply(file, 'no');
    expect([first.status, first.text.slice(0, 300)]).toEqual([200, expect.any(String)]);
    expect(first.body).toMatchObject({
      slug: name,
      created: true,
      draft_version: 1,
      live_version: null,
      promoted: false,
    });

    const yaml = (await server.call('GET', `/v1/deployments/${name}?format=yaml`)).text;
    expect(yaml).toContain('docs/deployment-file-reference.md');
    const again = await apply(parse(yaml), 'no');
    expect([again.status, again.body.changed, again.body.version.version]).toEqual([200, [], 1]);

    const scenarios = await server.call('GET', `/v1/deployments/${name}/scenarios`);
    expect(scenarios.body.data.length).toBe((file.tests as unknown[]).length);
    expect(new Set(scenarios.body.data.map((row: { managed_by: string }) => row.managed_by))).toEqual(
      new Set(['file']),
    );
  });

  it.each(names)('%s is promoted together with its routines', async (name) => {
    const live = await server.call('POST', `/v1/deployments/${name}/promote`, {
      key: server.liveKey,
      body: { when: 'now' },
    });
    expect([live.status, live.body.live_version, live.body.promoted]).toEqual([200, 1, true]);
    const { routines: declared = [] } = parse(
      (await server.call('GET', `/v1/deployments/${name}?format=yaml`)).text,
    ) as {
      routines?: object[];
    };
    const ofUsers = [undefined, 'ines', 'tomas'];
    const routines = await Promise.all(
      ofUsers.map(
        async (user) =>
          (await server.call('GET', `/v1/routines${user ? `?user_id=${user}` : ''}`, { key: server.liveKey })).body
            .data,
      ),
    );
    expect(routines.flat().length).toBeGreaterThanOrEqual(declared.length);
  });
});
