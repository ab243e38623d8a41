import { expect, it } from 'vitest';
import { chooseHost } from './choose-host.ts';

const lines: string[] = [];
const log = { warn: (line: unknown) => lines.push(String(line)), error: (line: unknown) => lines.push(String(line)) };

async function chosen(setting: 'bubblewrap' | 'just-bash' | 'off' | null, obstacle?: string | null) {
  lines.length = 0;
  const findObstacle = obstacle === undefined ? {} : { findObstacle: () => Promise.resolve(obstacle) };
  const choice = await chooseHost({ setting, allowPrivate: false, log: log as never, ...findObstacle });
  return [choice.host?.kind ?? null, 'why' in choice ? choice.why : null, lines.length];
}

it('is what the operator says, and otherwise the best that works', async () => {
  expect(await chosen('off')).toEqual([null, 'Computers are switched off on this server.', 0]);
  expect(await chosen('just-bash', null)).toEqual(['just-bash', null, 0]);
  expect(await chosen('bubblewrap', null)).toEqual(['bubblewrap', null, 0]);
  expect(await chosen(null, null)).toEqual(['bubblewrap', null, 0]);
});

it('says in one line what is missing and what to install', async () => {
  expect(await chosen(null, 'bwrap is not installed')).toEqual(['just-bash', null, 1]);
  expect(lines[0]).toMatch(
    /just-bash.*bwrap is not installed; install bubblewrap, socat and git \(npm run setup:system\)/,
  );
  const why = 'The server cannot confine programs: bubblewrap is missing or not permitted.';
  expect(await chosen('bubblewrap', 'bwrap is not installed')).toEqual([null, why, 1]);
  expect(lines[0]).toContain('computers are unavailable: bwrap is not installed; install bubblewrap');
});

it.skipIf(process.platform !== 'linux')('finds bubblewrap where it is installed', async () => {
  expect(await chosen(null)).toEqual(['bubblewrap', null, 0]);
});
