/**
 * Measures the server against its budgets and beside its peers. Everything is measured in one run on one machine, so
 * that figures can be compared with each other; the tables go to bench/results.md.
 *
 *   npm run bench                           everything, about half an hour
 *   npm run bench -- --only turns           one group, printed and not written; may be given several times
 *   npm run bench -- --quick                short loads and small numbers, to see whether it works; not written
 *   npm run bench -- --no-peers             without the peers; not written
 *   npm run bench -- --busy                 also on a machine that does other work; not written
 *   npm run bench -- --peers <folder>       installs the peers there and leaves them there for the next run
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { measureBatch, measureDeliveries, measureJobs, measureSchedule } from './background.ts';
import { measureColdStart } from './cold-start.ts';
import { measureEmbeddings } from './embeddings.ts';
import { measureFairness } from './fairness.ts';
import { measureFollowers } from './followers.ts';
import { measureIndexing } from './indexing.ts';
import { measureLongTalk } from './long-talk.ts';
import { measureModelClient } from './model-client.ts';
import { peers } from './peers.ts';
import { failedMark, print, type Row, type Stage, writeResults } from './report.ts';
import { measureConfiguration, measureLists, measureRequests } from './requests.ts';
import { measureCosts } from './scale/costs.ts';
import { measureSearch } from './search.ts';
import { measureTurnCost } from './turn-cost.ts';
import { measureTurnProfile } from './turn-profile.ts';
import { measureTurns } from './turns.ts';
import { measureViewers } from './viewers.ts';
import { measureVoice } from './voice.ts';
import { measureWaitingTasks } from './waiting-tasks.ts';

const groups: Record<string, (stage: Stage) => Promise<Row[]>> = {
  turns: measureTurns,
  cost: measureTurnCost,
  profile: measureTurnProfile,
  client: measureModelClient,
  talk: measureLongTalk,
  start: measureColdStart,
  requests: measureRequests,
  lists: measureLists,
  fairness: measureFairness,
  followers: measureFollowers,
  waiting: measureWaitingTasks,
  batches: measureBatch,
  routines: measureSchedule,
  webhooks: measureDeliveries,
  configuration: measureConfiguration,
  search: measureSearch,
  indexing: measureIndexing,
  jobs: measureJobs,
  embeddings: measureEmbeddings,
  scale: measureCosts,
  voice: measureVoice,
  viewers: measureViewers,
};

const { values: given } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    quick: { type: 'boolean', default: false },
    peers: { type: 'string' },
    'no-peers': { type: 'boolean', default: false },
    busy: { type: 'boolean', default: false },
  },
});
const names = given.only ?? Object.keys(groups);
const unknown = names.filter((name) => !groups[name]);
if (unknown.length > 0) throw new Error(`There is no group ${unknown.join(', ')}; there are ${Object.keys(groups)}.`);

const busyCores = await coresInUse();
if (busyCores > 0.2 && !given.busy && !given.quick) {
  console.error(
    `Other programs use ${busyCores.toFixed(1)} of ${cpus().length} cores, so figures could not be compared. End them, or pass --busy to measure anyway.`,
  );
  process.exit(1);
}

const folder = await mkdtemp(join(tmpdir(), 'vestra-bench-'));
// PostgreSQL runs as another user where this runs as root.
await chmod(folder, 0o711);
const stage: Stage = {
  folder,
  seconds: given.quick ? 1 : 6,
  share: given.quick ? 0.02 : 1,
  withPeers: !given['no-peers'],
  peersFolder: given.peers === undefined ? join(folder, 'peers') : resolve(given.peers),
  note: (text) => console.log(`… ${text}`),
};

const rows: Row[] = [];
const startedAt = performance.now();
try {
  for (const name of names) {
    stage.note(name);
    for (const row of await measured(name)) {
      rows.push(row);
      print(row);
      if (row.measured.startsWith(failedMark)) process.exitCode = 1;
    }
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
stage.note(`${Math.round((performance.now() - startedAt) / 1000)} s`);

const isWhole = given.only === undefined && !given.quick && !given.busy && stage.withPeers;
if (isWhole)
  await writeResults(
    rows,
    peers.map(({ name }) => name),
  );
process.exit();

/** The load average would remember work that has ended minutes ago. */
async function coresInUse(): Promise<number> {
  const busyMs = () => cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0);
  const before = { busy: busyMs(), at: performance.now() };
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  return (busyMs() - before.busy) / (performance.now() - before.at);
}

/** A group that fails costs its own rows and no others. */
async function measured(name: string): Promise<Row[]> {
  try {
    return await (groups[name] as (stage: Stage) => Promise<Row[]>)(stage);
  } catch (error) {
    console.error(error);
    return [
      {
        what: `${name}: not measured`,
        measured: `${failedMark}${error instanceof Error ? error.message.slice(0, 200) : String(error)}`,
      },
    ];
  }
}
