import { join } from 'node:path';
import { startEmbeddedPostgres } from '@vestra/server/platform/db/embedded';
import pg from 'pg';
import type { Contender } from './contender.ts';
import { type Measured, measure, percentile } from './load.ts';
import { type ModelProcess, measureModel, monotonicMs, slowTokens, startModelProcess } from './model-process.ts';
import { installPeer, peers, startPeer } from './peers.ts';
import { cpuMs, postgresCpuMs, postmasterOf, residentMb } from './processes.ts';
import { duration, failedMark, type Row, rate, type Stage } from './report.ts';
import { measureTypedReplies, type TypedReplies } from './typed-replies.ts';
import { contendWith, startWithModel } from './vestra.ts';

/** Figures of one contender. A failure explains why a figure is missing. */
type Figures = {
  together: Measured | Failure;
  alone: Measured | Failure;
  firstTextMs: number | Failure;
  busy: { cpuMs: number; postgresCpuMs: number } | Failure;
  reads: Measured | Failure;
  memoryMb: number | Failure;
  isStored: boolean | Failure;
  streamBytes: number | Failure;
  modelCalls: number | Failure;
  typed: TypedReplies | Failure;
  manyTyped: TypedReplies | Failure;
};

type Failure = { failed: string };

type Surroundings = { model: ModelProcess; postmaster: number; seconds: number; share: number };

/** Turns of the server and of its peers, one after the other, behind the same model and on the same PostgreSQL. */
export async function measureTurns(stage: Stage): Promise<Row[]> {
  const { folder, seconds, share } = stage;
  const model = await startModelProcess();
  const postgres = await startEmbeddedPostgres({
    dataDir: join(folder, 'turns-database'),
    log: () => {},
    // VoltAgent needs 220 connections.
    settings: { max_connections: '300' },
  });
  const databaseFor = (name: string) => createDatabase(postgres.connectionString, name);
  try {
    const around = { model, postmaster: await postmasterOf(postgres.connectionString), seconds, share };
    const modelAlone = await measureModel(model.baseUrl, 1, seconds / 2);
    const modelTogether = await measureModel(model.baseUrl, 64, seconds / 2);
    const ours = await figuresOf(async () => {
      const env = { DATABASE_URL: await databaseFor('vestra') };
      return contendWith(await startWithModel(join(folder, 'turns-server'), model.baseUrl, env));
    }, around);
    const theirs: Figures[] = [];
    for (const peer of stage.withPeers ? peers : []) {
      stage.note(`${peer.name}: install, start, measure`);
      theirs.push(
        await figuresOf(async () => {
          const home = await installPeer(peer, stage.peersFolder);
          return startPeer(peer, home, { databaseUrl: await databaseFor(peer.database), modelUrl: model.baseUrl });
        }, around),
      );
    }
    return [
      { what: 'the model alone, 1 at a time: subtracted nowhere', measured: rate(modelAlone) },
      { what: 'the model alone, 64 at once', measured: rate(modelTogether) },
      ...withEachReasonOnce(rowsOf(ours, theirs)),
    ];
  } finally {
    await model.stop();
    await postgres.stop();
  }
}

/** Of one contender. One that cannot be started has no figure at all; each later failure costs its own figure only. */
async function figuresOf(start: () => Promise<Contender>, around: Surroundings): Promise<Figures> {
  const contender = await attempt(start);
  if ('failed' in contender) return allFailed(contender);
  try {
    const { seconds, share, postmaster } = around;
    const first = await attempt(() => firstTurn(contender));
    if ('failed' in first) return allFailed(first);
    await attempt(() => measure(16, Math.max(1, seconds / 2), () => contender.turn()));
    const together = await attempt(() => measure(64, seconds, () => contender.turn()));
    const alone = await attempt(() => measure(1, seconds, () => contender.turn()));
    const firstText = await attempt(() => measureFirstText(contender, around));
    const busy = await attempt(() => measureBusy(contender, around));
    const typed = await attempt(() =>
      measureTypedReplies(contender, { postmaster, atOnce: 24, rounds: Math.max(1, Math.round(3 * share)) }),
    );
    const many = Math.max(24, Math.round(200 * share));
    const manyTyped = await attempt(() => measureTypedReplies(contender, { postmaster, atOnce: many, rounds: 1 }));
    const reads = await attempt(() => measure(16, seconds / 2, () => contender.read(first.conversationId)));
    return {
      together,
      alone,
      firstTextMs: 'failed' in firstText ? firstText : firstText.ms,
      modelCalls: 'failed' in firstText ? firstText : firstText.modelCalls,
      busy,
      typed,
      manyTyped,
      reads,
      memoryMb: 'failed' in together ? together : residentMb(contender.pid),
      isStored: first.isStored,
      streamBytes: first.streamBytes,
    };
  } finally {
    await contender.stop();
  }
}

async function firstTurn(contender: Contender) {
  // The first ones of a new server prepare statements and compile; whether a reply is stored is a matter of later ones.
  for (let at = 0; at < 20; at++) contender.check(await contender.turn());
  const { conversationId, stream } = await contender.turn();
  const isStored = await contender.hasStored(conversationId);
  return { conversationId, isStored, streamBytes: Buffer.byteLength(stream) };
}

/** From the model's answer to the first text at the client; the model answers whole, in one piece. */
async function measureFirstText(contender: Contender, { model, seconds }: Surroundings) {
  const waits: number[] = [];
  let calls = 0;
  await model.answered();
  const until = monotonicMs() + (seconds / 2) * 1000;
  while (monotonicMs() < until || waits.length < 10) {
    const { textAt } = await contender.turn();
    const { firstAt, count } = await model.answered();
    if (firstAt === null) throw new Error('The model was not asked.');
    waits.push((textAt[0] as number) - firstAt);
    calls += count;
  }
  return {
    ms: percentile(
      waits.sort((a, b) => a - b),
      0.5,
    ),
    modelCalls: calls / waits.length,
  };
}

async function measureBusy(contender: Contender, { postmaster, seconds }: Surroundings) {
  const before = { server: cpuMs(contender.pid), postgres: postgresCpuMs(postmaster) };
  const { count } = await measure(16, seconds, () => contender.turn());
  return {
    cpuMs: (cpuMs(contender.pid) - before.server) / count,
    postgresCpuMs: (postgresCpuMs(postmaster) - before.postgres) / count,
  };
}

function rowsOf(ours: Figures, theirs: readonly Figures[]): Row[] {
  /** A line with everybody's figure; `better` says which way is up, for the ratio to the best peer. */
  const line = (
    what: string,
    budget: string,
    better: 'more' | 'less' | null,
    figure: (of: Figures) => number | Failure,
    shown: (figure: number) => string,
  ): Row => {
    const peerFigures = theirs.map(figure);
    const own = figure(ours);
    const known = peerFigures.filter((each) => typeof each === 'number');
    const best = better === 'more' ? Math.max(...known) : Math.min(...known);
    return {
      what,
      measured: orFailure(own, shown),
      budget,
      peers: peerFigures.map((each) => orFailure(each, shown)),
      ratio:
        better === null || known.length === 0 || typeof own !== 'number' || best === 0
          ? ''
          : `${(own / best).toFixed(2)} ×`,
    };
  };
  const typedLines = (many: string, budget: string, of: (figures: Figures) => TypedReplies | Failure): Row[] => {
    const typed = (what: string, name: keyof TypedReplies, shown: (figure: number) => string, most = '') =>
      line(
        `a reply of ${slowTokens} tokens over 4 s, ${many}: ${what}`,
        most,
        'less',
        (each) => field(of(each), name),
        shown,
      );
    return [
      typed('server and PostgreSQL CPU', 'bothCpu', ms, budget),
      typed('server CPU', 'serverCpu', ms),
      typed('PostgreSQL CPU', 'postgresCpu', ms),
      typed('first text, p50', 'firstTextP50', ms),
      typed('first text, p95', 'firstTextP95', ms),
      typed('pause between texts, p95', 'pauseP95', ms),
      typed('memory per open reply', 'kilobytesPerReply', (kilobytes) => `${Math.round(kilobytes)} KB`),
    ];
  };
  const each = (count: number) => `${Math.round(count).toLocaleString('en')}/s`;
  const ms = (milliseconds: number) => duration(milliseconds);
  return [
    line('turns per second, 64 at once', '250/s', 'more', (of) => field(of.together, 'perSecond'), each),
    line('a turn, 64 at once, p95', '', 'less', (of) => field(of.together, 'p95'), ms),
    line('turns per second, 1 at a time', '120/s', 'more', (of) => field(of.alone, 'perSecond'), each),
    line('own cost of a turn, 1 at a time, p50', '10 ms', 'less', (of) => field(of.alone, 'p50'), ms),
    line('own cost of a turn, 1 at a time, p95', '16 ms', 'less', (of) => field(of.alone, 'p95'), ms),
    line('first token after the model’s, p50', '8 ms', 'less', (of) => of.firstTextMs, ms),
    line('server CPU per turn, 16 at once', '5 ms', 'less', (of) => field(of.busy, 'cpuMs'), ms),
    line('PostgreSQL CPU per turn, 16 at once', '', 'less', (of) => field(of.busy, 'postgresCpuMs'), ms),
    ...typedLines('24 at once', '45 ms', ({ typed }) => typed),
    ...typedLines('200 at once', '', ({ manyTyped }) => manyTyped),
    line('reads of one conversation, 16 at once', '3,000/s', 'more', (of) => field(of.reads, 'perSecond'), each),
    line(
      'memory after load',
      '300 MB',
      'less',
      (of) => of.memoryMb,
      (mb) => `${Math.round(mb)} MB`,
    ),
    line(
      'stream of a 21-token reply',
      '',
      'less',
      (of) => of.streamBytes,
      (bytes) => `${(bytes / 1024).toFixed(1)} KB`,
    ),
    line(
      'model calls per turn',
      '',
      null,
      (of) => of.modelCalls,
      (calls) => calls.toFixed(2),
    ),
    {
      what: 'the reply is stored when its stream ends',
      measured: orFailure(ours.isStored, yesOrNo),
      peers: theirs.map(({ isStored }) => orFailure(isStored, yesOrNo)),
    },
  ];
}

/** A contender that could not start has the same reason in every cell: show it once. */
function withEachReasonOnce(rows: readonly Row[]): Row[] {
  const given = new Set<string>();
  const once = (cell: string, column: number) => {
    if (!cell.startsWith(failedMark)) return cell;
    const key = `${column} ${cell}`;
    if (given.has(key)) return '–';
    given.add(key);
    return cell;
  };
  return rows.map((row) => ({ ...row, peers: (row.peers ?? []).map(once) }));
}

const yesOrNo = (is: boolean) => (is ? 'yes' : 'no');

function field<T extends object>(measured: T | Failure, name: keyof T): number | Failure {
  return 'failed' in measured ? measured : (measured[name] as number);
}

function orFailure<T>(figure: T | Failure, shown: (figure: T) => string): string {
  return typeof figure === 'object' && figure !== null && 'failed' in figure ? figure.failed : shown(figure);
}

async function attempt<T>(work: () => Promise<T>): Promise<T | Failure> {
  try {
    return await work();
  } catch (error) {
    return {
      failed: `${failedMark}${(error instanceof Error ? error.message : String(error)).replace(/\s+/g, ' ').slice(0, 160)}`,
    };
  }
}

const allFailed = (failure: Failure): Figures => ({
  together: failure,
  alone: failure,
  firstTextMs: failure,
  busy: failure,
  reads: failure,
  memoryMb: failure,
  isStored: failure,
  streamBytes: failure,
  modelCalls: failure,
  typed: failure,
  manyTyped: failure,
});

async function createDatabase(connectionString: string, name: string): Promise<string> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  const url = new URL(connectionString);
  url.pathname = `/${name}`;
  return url.href;
}
