import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { violations } from './checks.ts';
import { missingPrograms, startDatabaseCluster } from './database-cluster.ts';
import { createLoad, type Witness } from './load.ts';
import { type Blow, longPlan, type Plan, shortPlan } from './plan.ts';
import { freePorts } from './program.ts';
import { supervise } from './supervised-processes.ts';

/**
 * Turns, a batch and webhooks on a database that fails over, while processes die: afterwards nothing that was accepted is
 * lost or doubled. `--long` is the whole of it; `--keep` leaves the folder with all logs behind.
 */
const isLong = process.argv.includes('--long') || process.env.VESTRA_CHAOS === 'long';

const missing = missingPrograms();
if (missing !== null) {
  process.stderr.write(`${missing}\n`);
  process.exit(2);
}
const startedAt = performance.now();
const folder = mkdtempSync(join(tmpdir(), 'vestra-cluster-'));
// PostgreSQL runs as another user where this is root.
chmodSync(folder, 0o755);
process.on('SIGINT', () => process.exit(130));
process.on('SIGTERM', () => process.exit(143));

const found = await play(isLong ? longPlan : shortPlan).catch((error: unknown) => [
  `The run itself failed: ${error instanceof Error ? error.stack : error}`,
]);
for (const sentence of found.slice(0, 40)) say(`VIOLATION ${sentence}`);
if (found.length > 40) say(`… and ${found.length - 40} more`);
say(found.length === 0 ? 'Nothing was lost, nothing doubled, and the money is exact.' : `${found.length} violations.`);
const isKept = found.length > 0 || process.argv.includes('--keep');
if (isKept) say(`Everything that was logged is in ${folder}`);
else rmSync(folder, { recursive: true, force: true });
process.exit(found.length === 0 ? 0 : 1);

type Struck = Blow & { at: number };

async function play(plan: Plan): Promise<string[]> {
  const { turns, items } = plan;
  const load = await createLoad();
  const { witness } = load;
  const apiPorts = await freePorts(2);
  const database = await startDatabaseCluster({ folder: join(folder, 'database'), nodes: plan.nodes, apiPorts });
  await database.untilWhole(120_000);
  say(`${plan.nodes} PostgreSQL nodes under Patroni, the primary is ${(await database.primary()).name}`);

  const dataDir = join(folder, 'data');
  const common = {
    ...load.env,
    DATABASE_URL: database.url,
    VESTRA_DATA_DIR: dataDir,
    VESTRA_MASTER_KEY: 'ab'.repeat(32),
    VESTRA_PUBLIC_URL: database.apiUrl,
    VESTRA_LOG_LEVEL: 'info',
  };
  const start = (name: string, env: Record<string, string>) =>
    supervise({ name, folder: join(folder, 'processes'), env: { ...common, ...env } });
  const api = apiPorts.map((port, at) => start(`api${at + 1}`, { VESTRA_ROLE: 'api', PORT: String(port) }));
  const workers = [1, 2].map((at) => start(`worker${at}`, { VESTRA_ROLE: 'worker' }));
  const processes = [...api, ...workers];
  const key = await untilReady(database.apiUrl, dataDir);
  await load.prepare({ url: database.apiUrl, key });
  say('two api and two worker processes are there');

  const blows: Struck[] = [];
  const strike = async (blow: Blow): Promise<void> => {
    blows.push({ ...blow, at: performance.now() });
    say(`${blow.what} ${blow.target}`);
    if (blow.what === 'kill process') return processes.find(({ name }) => name === blow.target)?.kill();
    if (blow.what === 'freeze process') {
      void processes.find(({ name }) => name === blow.target)?.freezeFor(blow.forMs ?? 0);
      return;
    }
    const primary = await database.primary();
    if (blow.what === 'kill postgres') return primary.killPostgres();
    if (blow.what === 'kill node') {
      await primary.killAll();
      void sleep(blow.forMs ?? 0).then(primary.start);
      return;
    }
    primary.freeze();
    void sleep(blow.forMs ?? 0).then(primary.thaw);
  };

  const loading = load.run({ turns, items, overMs: plan.overMs, clients: plan.clients });
  // It is awaited below; until then a failure must not end the process.
  loading.catch(() => {});
  const ticking = setInterval(() => say(`${witness.progress.turns} turns, ${witness.progress.items} items`), 15_000);
  try {
    for (const [at, round] of plan.rounds.entries()) {
      // The blows are spread over the load, however slow the machine is.
      while (witness.progress.turns < (turns * at) / plan.rounds.length) await Promise.race([sleep(500), loading]);
      for (const blow of round) {
        await sleep(blow.afterMs);
        await strike(blow);
      }
      await untilAnswered(witness.probes, performance.now());
      await database.untilWhole(180_000);
    }
    say('the last blow has fallen');
    await loading;
    await load.stopProbing();
  } finally {
    clearInterval(ticking);
  }
  // Holds for the last turns are released a moment after they settle.
  await sleep(5_000);
  const ownEnds = processes.flatMap(({ name, ownEnds }) => ownEnds.map((words) => `${name} ended by itself: ${words}`));
  const found = [...witness.wrongAnswers, ...ownEnds, ...(await violations(database.url, witness, items))];
  report(blows, witness);
  const stopping = await Promise.all(processes.map(({ stop }) => stop()));
  for (const [at, ms] of stopping.entries()) {
    if (ms > 40_000) found.push(`${processes[at]?.name} did not end within 40 s of SIGTERM`);
  }
  await database.stop();
  await load.close();
  return found;
}

async function untilReady(url: string, dataDir: string): Promise<string> {
  for (const until = performance.now() + 600_000; performance.now() < until; await sleep(300)) {
    const health = await fetch(`${url}/v1/health`).catch(() => null);
    await health?.body?.cancel();
    if (health?.status === 200) return JSON.parse(readFileSync(join(dataDir, 'credentials.json'), 'utf8')).test_key;
  }
  throw new Error('No process answered within ten minutes.');
}

/** Somebody who sends a message from here on has its reply. */
async function untilAnswered(probes: readonly { sentAt: number }[], since: number): Promise<void> {
  const until = performance.now() + 180_000;
  while (!probes.some(({ sentAt }) => sentAt > since)) {
    if (performance.now() > until) throw new Error('For three minutes no message was answered.');
    await sleep(200);
  }
}

/** Of each kind of blow: from then until somebody who sent a message after it had the reply. */
function report(blows: readonly Struck[], { probes, statuses, webhooks, progress }: Witness): void {
  const answers = [...statuses].sort().map(([status, count]) => `${count} × ${status}`);
  say(
    `${progress.turns} turns with tools and approvals, ${probes.length} plain ones, ${progress.items} items of a batch`,
  );
  say(`${webhooks.received.length} webhooks received; answers by status: ${answers.join(', ')}`);
  for (const kind of new Set(blows.map(({ what }) => what))) {
    const waits = blows
      .filter(({ what }) => what === kind)
      .map(({ at }) => (probes.find(({ sentAt }) => sentAt >= at)?.answeredAt ?? Number.NaN) - at)
      .sort((one, other) => one - other);
    const [least, middle, most] = [waits[0], waits[waits.length >> 1], waits.at(-1)].map((ms) =>
      ((ms ?? Number.NaN) / 1000).toFixed(1),
    );
    say(
      `${kind} × ${waits.length}: the next turn was answered after ${least} s, ${middle} s, ${most} s (least, median, most)`,
    );
  }
}

function say(sentence: string): void {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0).padStart(5);
  process.stdout.write(`${seconds} s  ${sentence}\n`);
}
