import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pollWithJob } from '../support/jobs.ts';
import { filesWith } from '../support/marked-files.ts';
import { rowsWith } from '../support/marked-rows.ts';
import { idsIn, routesWith } from '../support/walk-routes.ts';
import { type ComputerDesk, startComputerDesk } from './computer.fixture.ts';
import { type Made, oneOfEach } from './one-of-each.fixture.ts';

let desk: ComputerDesk;
const receiver = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(500).end());
});
let objects: ReturnType<typeof oneOfEach>;
beforeAll(async () => {
  desk = await startComputerDesk({ VESTRA_COMPUTER_IDLE_SECONDS: '2' });
  await desk.apply({ name: 'desk', instructions: 'Be kind.' });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  objects = oneOfEach(desk, `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`);
});
afterAll(async () => {
  await desk.stop();
  receiver.closeAllConnections();
  receiver.close();
});

/** Tables in which the marker may stay, and why. */
const allowed: Readonly<Record<string, string>> = {
  audit_entries: 'The audit log names what was deleted and by whom, until its own retention ends.',
};

const stem = 'quince-lagoon';
const markerOf = (kind: string) => `${stem}-${kind.replaceAll(' ', '-')}`;
const markersIn = (text: string) => text.match(new RegExp(`${stem}-[a-z-]+`, 'g')) ?? [];
const userOf = (kind: string) => `user-${kind.replaceAll(' ', '-')}`;

/** The tables that still have a marker, with the markers. */
async function rowsLeft(): Promise<string[][]> {
  const rows = Object.entries(await rowsWith(desk, stem)).filter(([table]) => !(table in allowed));
  const decoded = (row: string) => row.replace(/\\x([0-9a-f]+)/g, (_, hex) => Buffer.from(hex, 'hex').toString());
  return rows.map(([table, all]) => [table, ...new Set(all.map(decoded).flatMap(markersIn))]);
}

/** Where anything deleted is still found: the tables, the routes and the files, each with the kinds. */
async function tracesLeft(names: readonly string[]) {
  const { found, called } = await routesWith(desk, stem, names);
  return {
    rows: await rowsLeft(),
    // The audit log is allowed as a table.
    routes: found.filter((path) => !path.startsWith('/v1/audit-log')),
    files: await filesWith(desk.dataDir, stem),
    called,
  };
}

describe('a deletion of anything that can be deleted', () => {
  it('leaves nothing of it in any route, stream, prompt, table, file or computer [DEL-720, DEL-730]', async () => {
    const { kinds, done, script, say, talk } = objects;
    const made: [kind: string, made: Made][] = [];
    for (const [kind, make] of Object.entries(kinds)) made.push([kind, await make(markerOf(kind), userOf(kind))]);
    const before = JSON.stringify(await rowsWith(desk, stem));
    // Values of secrets are stored encrypted alone.
    expect(Object.keys(kinds).filter((kind) => !before.includes(markerOf(kind)))).toEqual(['secret']);
    const names = [...new Set([...idsIn(before), ...made.flatMap(([kind]) => userOf(kind)), 'QUINCE', '1'])];
    const calls = (await tracesLeft(names)).called;
    expect(calls).toBeGreaterThan(200);

    for (const [, { remove }] of made) for (const path of remove) await done('DELETE', path);

    await pollWithJob(desk.connectionString, 'memory.keep', rowsLeft).toEqual([]);
    await expect.poll(() => filesWith(desk.dataDir, stem), { timeout: 30_000 }).toEqual([]);
    // A later message, in the conversations that have read it and in a new one of the same user.
    const prompts: string[] = [];
    for (const [kind, { used = [], isClosed }] of made) {
      script();
      for (const path of isClosed ? [] : used) await say(path, { message: 'And now?' });
      prompts.push(...desk.asked.map((request) => JSON.stringify(request)));
      await talk(userOf(kind), { message: 'And here?' });
      prompts.push(...desk.asked.map((request) => JSON.stringify(request)));
    }
    expect(prompts.length).toBeGreaterThan(made.length);
    expect(prompts.flatMap(markersIn)).toEqual([]);
    for (const path of made.flatMap(([, { used = [] }]) => used)) {
      const { last_event_seq: last } = await done('GET', path);
      const stream = await desk.stream('GET', `${path}/events`);
      await stream.waitFor(({ seq }) => seq >= last);
      stream.close();
      expect(markersIn(JSON.stringify(stream.seen))).toEqual([]);
    }
    expect(await tracesLeft(names)).toEqual({ rows: [], routes: [], files: [], called: calls });
  }, 1_200_000);
});
