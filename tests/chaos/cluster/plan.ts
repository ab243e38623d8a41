/** A fault injected into a machine or a process. `primary` means the primary at that moment. */
export type Blow = {
  what: 'kill postgres' | 'kill node' | 'freeze node' | 'kill process' | 'freeze process';
  target: string;
  /** After the blow before it. */
  afterMs: number;
  /** How long a node stays away, or something stands still. */
  forMs?: number;
};

export type Plan = {
  nodes: number;
  turns: number;
  items: number;
  clients: number;
  /** Over about which time the turns are spread. */
  overMs: number;
  /** Between two rounds everything comes back, and somebody is answered. */
  rounds: readonly (readonly Blow[])[];
};

const primary = 'the primary';
const kill = (target: string, afterMs: number): Blow => ({ what: 'kill process', target, afterMs });
const killPostgres: Blow = { what: 'kill postgres', target: primary, afterMs: 3_000 };
const killNode: Blow = { what: 'kill node', target: primary, afterMs: 3_000, forMs: 15_000 };

/** One failover and the end of each process, within three minutes. */
export const shortPlan: Plan = {
  nodes: 2,
  turns: 120,
  items: 120,
  clients: 12,
  overMs: 50_000,
  rounds: [
    [killNode, kill('worker1', 2_000), kill('api1', 20_000)],
    [kill('worker2', 1_000), kill('api2', 2_000)],
  ],
};

/**
 * The primary is killed ten times, by turns with its machine and without, and each process three times, some of them while
 * there is no database. Beside that one primary and one worker stand still for so long that others take their place.
 */
export const longPlan: Plan = {
  nodes: 3,
  turns: 2_000,
  items: 2_000,
  clients: 24,
  overMs: 600_000,
  rounds: [
    [killNode, kill('worker1', 4_000)],
    [killPostgres, kill('api1', 1_000)],
    [kill('worker2', 2_000), killNode],
    [killPostgres, kill('api2', 5_000)],
    [{ what: 'freeze process', target: 'worker1', afterMs: 2_000, forMs: 90_000 }, killNode, kill('api1', 6_000)],
    [killPostgres, kill('worker2', 500)],
    [killNode, kill('api2', 2_000), kill('worker1', 20_000)],
    [{ what: 'freeze node', target: primary, afterMs: 3_000, forMs: 45_000 }, kill('api1', 25_000)],
    [killPostgres, kill('worker2', 3_000)],
    [killNode, kill('api2', 3_000)],
    [killPostgres, kill('worker1', 8_000)],
  ],
};
