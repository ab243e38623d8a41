import { expect, it } from 'vitest';
import type { Isolation } from '../../platform/sandbox/confined-process.ts';
import { chooseHost, type HostSetting } from './choose-host.ts';

const lines: string[] = [];
const log = { warn: (line: unknown) => lines.push(String(line)), error: (line: unknown) => lines.push(String(line)) };

async function chosen(setting: HostSetting | null, obstacle?: string | null, gvisor: Isolation | string = 'not tried') {
  lines.length = 0;
  const findObstacle = obstacle === undefined ? {} : { findObstacle: () => Promise.resolve(obstacle) };
  const findGvisor = () => Promise.resolve(gvisor);
  const choice = await chooseHost({ setting, allowPrivate: false, log: log as never, findGvisor, ...findObstacle });
  return [choice.host?.kind ?? null, 'why' in choice ? choice.why : null, lines.length];
}

it('uses the operator’s setting, or else the best host that works', async () => {
  expect(await chosen('off')).toEqual([null, 'Computers are switched off on this server.', 0]);
  expect(await chosen('just-bash', null)).toEqual(['just-bash', null, 0]);
  expect(await chosen('bubblewrap', null)).toEqual(['bubblewrap', null, 0]);
  expect(await chosen(null, null)).toEqual(['bubblewrap', null, 0]);
});

it('logs in one line what is missing and what to install', async () => {
  expect(await chosen(null, 'bwrap is not installed')).toEqual(['just-bash', null, 1]);
  expect(lines[0]).toMatch(
    /just-bash.*bwrap is not installed; install bubblewrap, socat and git \(npm run setup:system\)/,
  );
  const why = 'The server cannot confine programs: bubblewrap is missing or not permitted.';
  expect(await chosen('bubblewrap', 'bwrap is not installed')).toEqual([null, why, 1]);
  expect(lines[0]).toContain('computers are unavailable: bwrap is not installed; install bubblewrap');
});

it('uses gVisor if configured, and nothing weaker instead [CMP-281]', async () => {
  const wall: Isolation = () => ({ options: [], program: [], piped: Buffer.alloc(0) });
  expect(await chosen('gvisor', null, wall)).toEqual(['gvisor', null, 0]);
  expect(await chosen(null, null, wall)).toEqual(['bubblewrap', null, 0]);
  const why = 'The server cannot confine programs by gVisor: it is missing or does not work here.';
  expect(await chosen('gvisor', null, 'runsc is not installed')).toEqual([null, why, 1]);
  expect(lines[0]).toMatch(/^computers are unavailable: runsc is not installed; install runsc/);
  const noBubblewrap = 'The server cannot confine programs: bubblewrap is missing or not permitted.';
  expect(await chosen('gvisor', 'bwrap is not installed', wall)).toEqual([null, noBubblewrap, 1]);
});

it.skipIf(process.platform !== 'linux')('finds bubblewrap if it is installed', async () => {
  expect(await chosen(null)).toEqual(['bubblewrap', null, 0]);
});
