import type { MeasuredCosts } from './costs.ts';
import { createQueue } from './queue.ts';

/** A cell is one PostgreSQL and the processes in front of it. Every row belongs to an org, and every org to one cell. */
export type Cells = { count: number; processesEach: number; databaseCores: number; flushMs: number };

export type Load = {
  turnsPerSecond: number;
  orgs: number;
  /** How much more the larger orgs have: the n-th has 1 / n ** skew of what the first has. */
  skew: number;
  seconds: number;
  /** Of a reply: half of them are longer, one in twenty is five times as long. */
  medianTokens: number;
  seed: number;
};

export type Placement = 'by hash' | 'by weight';

export type SimulatedLoad = {
  /** Busy share of the processes and of the databases: of all, and in the cell that has most. */
  processes: { all: number; most: number };
  databases: { all: number; most: number };
  /** Milliseconds that the platform adds to a turn beyond the model's time. */
  added: { p50: number; p99: number };
  /** The cell with the highest load. */
  most: { turnsPerSecond: number; commitsPerSecond: number; logMbPerSecond: number };
  openTurns: number;
  storedGbPerDay: number;
  storedRowsPerDay: number;
};

const tokensPerSecond = 50;
const untilFirstTokenMs = 700;
/** Half of a turn's own cost is spent before the model is asked, half when it has answered. */
const half = 0.5;

/** Turns of many orgs through the measured costs: who waits for whom, and for how long. */
export function simulate(costs: MeasuredCosts, cells: Cells, load: Load, placement: Placement): SimulatedLoad {
  const random = randomFrom(load.seed);
  const weights = weightsOf(load);
  const homes = placement === 'by weight' ? placedByWeight(weights, cells.count) : placedByHash(weights, cells.count);
  const orgAt = picker(weights, random);
  const platform = Array.from({ length: cells.count }, () => ({
    processes: new Float64Array(cells.processesEach),
    cores: new Float64Array(cells.databaseCores),
    processMs: 0,
    databaseMs: 0,
    turns: 0,
    commits: 0,
    logBytes: 0,
  }));
  const added: number[] = [];
  let openMs = 0;
  let tokensInAll = 0;
  let turns = 0;

  // Events run in the order of time, so that the first to arrive is served first.
  const queue = createQueue();
  const untilMs = load.seconds * 1_000;
  let nextArrival = 0;
  while (nextArrival < untilMs) {
    arrive(nextArrival);
    nextArrival += -Math.log(1 - random()) * (1_000 / load.turnsPerSecond);
    queue.runUntil(nextArrival);
  }
  queue.runUntil(Number.POSITIVE_INFINITY);

  function arrive(at: number): void {
    const cell = platform[homes[orgAt()] as number] as (typeof platform)[number];
    const process = leastBusyOfTwo(cell.processes, random);
    const tokens = Math.max(1, Math.round(load.medianTokens * Math.exp(normal(random))));
    const typingMs = (tokens / tokensPerSecond) * 1_000;
    turns++;
    cell.turns++;
    tokensInAll += tokens;
    openMs += untilFirstTokenMs + typingMs;
    cell.commits += costs.turn.commits + costs.typedToken.commits * tokens;
    cell.logBytes += costs.turn.logBytes + costs.typedToken.logBytes * tokens;

    const spend = (from: number, serverMs: number, databaseMs: number, done: (end: number) => void) => {
      queue.at(from, () => {
        const left = serve(cell.processes, process, from, serverMs);
        cell.processMs += serverMs;
        queue.at(left, () => {
          const answered = serve(cell.cores, firstFree(cell.cores), left, databaseMs);
          cell.databaseMs += databaseMs;
          done(answered + cells.flushMs);
        });
      });
    };
    spend(at, costs.turn.serverMs * half, costs.turn.postgresMs * half, (accepted) => {
      const firstToken = accepted + untilFirstTokenMs;
      // Streamed text is stored once a second.
      for (let typed = 0; typed < typingMs; typed += 1_000) {
        const now = Math.min(tokensPerSecond, tokens - (typed / 1_000) * tokensPerSecond);
        spend(firstToken + typed, costs.typedToken.serverMs * now, costs.typedToken.postgresMs * now, () => {});
      }
      const lastToken = firstToken + typingMs;
      spend(lastToken, costs.turn.serverMs * half, costs.turn.postgresMs * half, (settled) => {
        added.push(accepted - at + (settled - lastToken));
      });
    });
  }

  // Turns of the end are still typing when nobody comes any more: what was spent is seen over the whole of it.
  const seconds = load.seconds + openMs / turns / 1_000;
  const share = (ms: number, servers: number) => ms / 1_000 / seconds / servers;
  const of = (pick: (cell: (typeof platform)[number]) => number) => platform.map(pick);
  const meanTokens = tokensInAll / turns;
  const perDay = load.turnsPerSecond * 86_400;
  return {
    processes: {
      all: share(sum(of(({ processMs }) => processMs)), cells.count * cells.processesEach),
      most: share(Math.max(...of(({ processMs }) => processMs)), cells.processesEach),
    },
    databases: {
      all: share(sum(of(({ databaseMs }) => databaseMs)), cells.count * cells.databaseCores),
      most: share(Math.max(...of(({ databaseMs }) => databaseMs)), cells.databaseCores),
    },
    added: { p50: percentile(added, 0.5), p99: percentile(added, 0.99) },
    most: {
      turnsPerSecond: Math.max(...of(({ turns }) => turns)) / load.seconds,
      commitsPerSecond: Math.max(...of(({ commits }) => commits)) / seconds,
      logMbPerSecond: Math.max(...of(({ logBytes }) => logBytes)) / seconds / 1e6,
    },
    openTurns: (openMs / turns / 1_000) * load.turnsPerSecond,
    storedGbPerDay: ((costs.turn.storedBytes + costs.typedToken.storedBytes * meanTokens) * perDay) / 1e9,
    storedRowsPerDay: (costs.turn.storedRows + costs.typedToken.storedRows * meanTokens) * perDay,
  };
}

/** When what is asked of a server at `from` is done, behind everything it was asked before. */
function serve(freeAt: Float64Array, server: number, from: number, ms: number): number {
  const end = Math.max(from, freeAt[server] as number) + ms;
  freeAt[server] = end;
  return end;
}

function firstFree(freeAt: Float64Array): number {
  let first = 0;
  for (let at = 1; at < freeAt.length; at++) if ((freeAt[at] as number) < (freeAt[first] as number)) first = at;
  return first;
}

function leastBusyOfTwo(freeAt: Float64Array, random: () => number): number {
  const one = Math.floor(random() * freeAt.length);
  const other = Math.floor(random() * freeAt.length);
  return (freeAt[one] as number) <= (freeAt[other] as number) ? one : other;
}

const weightsOf = ({ orgs, skew }: Load) => Array.from({ length: orgs }, (_, at) => 1 / (at + 1) ** skew);

/** As a hash of the org's id would, which knows nothing of how large an org is. */
function placedByHash(weights: readonly number[], cells: number): number[] {
  const random = randomFrom(7);
  return weights.map(() => Math.floor(random() * cells));
}

/** The largest first, each where there is least so far. */
function placedByWeight(weights: readonly number[], cells: number): number[] {
  const soFar = new Float64Array(cells);
  return weights.map((weight) => {
    const cell = firstFree(soFar);
    soFar[cell] = (soFar[cell] as number) + weight;
    return cell;
  });
}

/** Picks an org as often as its weight says. */
function picker(weights: readonly number[], random: () => number): () => number {
  const upTo: number[] = [];
  let total = 0;
  for (const weight of weights) {
    total += weight;
    upTo.push(total);
  }
  return () => {
    const wanted = random() * total;
    let low = 0;
    let high = upTo.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((upTo[middle] as number) < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

/** Numbers from 0 to 1 that are the same in every run (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const normal = (random: () => number) => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
