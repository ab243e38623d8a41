import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { oneAtATime } from '../../platform/async/background-loop.ts';
import { batchWrites } from '../../platform/db/batch-concurrent-calls.ts';
import { sharedDate } from '../../platform/db/clock.ts';
import type { NotifyListener } from '../../platform/db/notify-listener.ts';
import type { Database } from '../../platform/db/pool.ts';
import type { Outbound } from '../../platform/outbound/fetcher.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import { attempt, type EndedAttempt, notMade, recordAttempts } from './attempts.ts';
import { type ClaimedDelivery, claimDue, dropClaimed, findDue, releaseClaims } from './deliveries.ts';
import { cacheSecrets } from './signatures.ts';

type DeliveringDependencies = Parameters<typeof startDispatcher>[0] & { line: NotifyListener };

/** Delivers due events from this process as soon as they are committed, until it is stopped. */
export async function startDelivering(dependencies: DeliveringDependencies): Promise<Pick<Dispatcher, 'stop'>> {
  const { line } = dependencies;
  const dispatcher = startDispatcher(dependencies);
  await line.hear('webhook_deliveries', {
    // An empty payload means any endpoint: there were too many to list in one notification.
    onMessage: (payload) => dispatcher.wake(payload === '' ? null : payload.split(',')),
    // Notifications that were sent before the connection was there are lost.
    onConnect: () => dispatcher.wake(),
  });
  return { stop: dispatcher.stop };
}

type Dependencies = {
  db: Database;
  vault: Vault;
  outbound: Outbound;
  log: Logger;
  limits?: Partial<LaneLimits>;
  now?: () => Date;
  random?: () => number;
  attempted?: (isSuccess: boolean, seconds: number) => void;
  /** Upper bound for the delay of a delivery whose notification was lost or whose process died. */
  lookEveryMs?: number;
};

type Dispatcher = {
  /** These endpoints may have due deliveries; without a list, any may. */
  wake: (endpointIds?: readonly string[] | null) => void;
  /**
   * Claims nothing more and waits for running attempts. After `graceMs` it aborts them and releases their deliveries.
   */
  stop: (options?: { graceMs?: number }) => Promise<void>;
};

const defaults: LaneLimits = { total: 128, perOrg: 96, perEndpoint: 8 };
const afterErrorMs = 1000;
/** With many failing endpoints a retry is due at every moment; retries can wait this long. */
const minBetweenLooksMs = 250;
/** The shortest pause of the retry schedule. */
const afterFailureMs = 5000;

/** Makes the due attempts of all orgs in this process. */
export function startDispatcher(dependencies: Dependencies): Dispatcher {
  const { db, vault, outbound, log, limits, now = sharedDate, random = Math.random } = dependencies;
  const { lookEveryMs = 10_000, attempted: told = () => {} } = dependencies;
  const lanes = createLanes({ ...defaults, ...limits });
  const running = new Map<ClaimedDelivery, { ended: Promise<void>; cut: () => void }>();
  const secretsOf = cacheSecrets(db, vault);
  const recordJoined = batchWrites((ended: EndedAttempt[]) => recordAttempts({ db, now, random }, ended));
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let lookAt = Number.POSITIVE_INFINITY;
  const looking = oneAtATime(look);
  const taking = oneAtATime(take);
  looking.run();

  return {
    wake(endpointIds) {
      if (isStopped) return;
      if (!endpointIds) return looking.run();
      lanes.ready(endpointIds);
      taking.run();
    },

    async stop({ graceMs = 30_000 } = {}) {
      isStopped = true;
      clearTimeout(timer);
      await Promise.all([looking.end(), taking.end()]);
      const patience = new AbortController();
      await Promise.race([allEnded(), sleep(graceMs, undefined, { signal: patience.signal }).catch(() => {})]);
      patience.abort();
      for (const { cut } of running.values()) cut();
      await allEnded();
    },
  };

  async function allEnded(): Promise<void> {
    await Promise.all([...running.values()].map(({ ended }) => ended));
  }

  /** Finds deliveries without a notification: retries, and those that a dead process left behind. */
  async function look(): Promise<void> {
    lookAt = Number.POSITIVE_INFINITY;
    try {
      const { endpointIds, nextAt } = await findDue(db, now());
      lanes.ready(endpointIds);
      if (endpointIds.length > 0) taking.run();
      lookWithin(nextAt ? Math.min(lookEveryMs, nextAt.getTime() - now().getTime()) : lookEveryMs);
    } catch (error) {
      log.error({ err: error }, 'failed to read due deliveries');
      lookWithin(afterErrorMs);
    }
  }

  function lookWithin(milliseconds: number): void {
    const at = performance.now() + Math.max(minBetweenLooksMs, milliseconds);
    if (at >= lookAt || isStopped) return;
    lookAt = at;
    clearTimeout(timer);
    timer = setTimeout(looking.run, at - performance.now());
  }

  async function take(): Promise<void> {
    for (let chosen = lanes.choose(); chosen.length > 0 && !isStopped; chosen = lanes.choose()) {
      try {
        const claimed = await claimDue(db, chosen, now());
        const counts = new Map<string, number>();
        for (const { endpoint_id } of claimed) counts.set(endpoint_id, (counts.get(endpoint_id) ?? 0) + 1);
        // An endpoint that filled its limit may have more.
        lanes.ready(
          chosen.filter(({ endpointId, room }) => counts.get(endpointId) === room).map((each) => each.endpointId),
        );
        begin(claimed);
      } catch (error) {
        log.error({ err: error }, 'failed to claim due deliveries');
        lookWithin(afterErrorMs);
        return;
      }
    }
  }

  function begin(claimed: readonly ClaimedDelivery[]): void {
    for (const delivery of claimed) {
      const leave = lanes.enter(delivery.endpoint_id, delivery.org_id);
      const cutting = new AbortController();
      const ended = deliver(delivery, cutting.signal)
        .catch((error: unknown) => {
          // Its lease ends, and it is tried again.
          log.error({ err: error, delivery_id: delivery.id }, 'failed to make or record a delivery');
          return false;
        })
        .then((isSuccess) => {
          leave(isSuccess);
          running.delete(delivery);
          taking.run();
        });
      running.set(delivery, { ended, cut: () => cutting.abort() });
    }
  }

  async function deliver(delivery: ClaimedDelivery, signal: AbortSignal): Promise<boolean> {
    const { endpoint, endpoint_id: id, org_id, mode, event, step } = delivery;
    if (!endpoint || (!endpoint.active && step !== null)) {
      await dropClaimed(db, [delivery]);
      return true;
    }
    if (!event) {
      await recordJoined({ delivery: { ...delivery, step: null }, attempted: notMade(pastRetention) });
      return true;
    }
    const secrets = await secretsOf({ id, org_id, mode }, endpoint.version).catch((error: unknown) => {
      log.error({ err: error, endpoint_id: id }, 'failed to read the signing secrets of an endpoint');
      return null;
    });
    const attempted = secrets
      ? await attempt({ outbound, now }, { url: endpoint.url, event, secrets, signal }).catch(nullIfCut(signal))
      : notMade('The delivery could not be signed.');
    if (!attempted) {
      await releaseClaims(db, [delivery]);
      return false;
    }
    told(attempted.isSuccess, (attempted.durationMs ?? 0) / 1000);
    await recordJoined({ delivery, attempted });
    if (!attempted.isSuccess) lookWithin(afterFailureMs);
    return attempted.isSuccess;
  }
}

function nullIfCut(signal: AbortSignal): (error: unknown) => null {
  return (error) => {
    if (signal.aborted) return null;
    throw error;
  };
}

const pastRetention = 'The event was deleted or is past its retention, and cannot be sent any more.';

/** Concurrent attempts of one process. */
type LaneLimits = { total: number; perOrg: number; perEndpoint: number };

type Lane = {
  running: number;
  /** Null until its first delivery is claimed; until then the lane has only its first slots. */
  orgId: string | null;
  /** Concurrent attempts: each success adds one, a failure resets it to one. */
  limit: number;
  /** The last attempt succeeded. */
  isProven: boolean;
};

const firstLimitOfLane = 2;
const maxCachedLanes = 10_000;

/**
 * One lane for each endpoint, so that a hanging endpoint delays no other. New and failing endpoints get one or two
 * slots each, and together at most half of all slots. The rest is left to endpoints that answer. All endpoints of an
 * org share the limit of the org.
 */
export function createLanes({ total, perOrg, perEndpoint }: LaneLimits) {
  const lanes = new Map<string, Lane>();
  /** Endpoints that may have due deliveries, oldest first. */
  const ready = new Set<string>();
  const ofOrgs = new Map<string, number>();
  let running = 0;
  let unproven = 0;

  return {
    ready(endpointIds: readonly string[]) {
      for (const endpointId of endpointIds) ready.add(endpointId);
    },

    /**
     * How many deliveries to claim for which endpoints. They leave the ready set first, so that a notification during
     * the claim makes them ready again.
     */
    choose(): { endpointId: string; room: number }[] {
      const chosen: { endpointId: string; room: number }[] = [];
      let free = total - running;
      let freeUnproven = Math.max(1, Math.floor(total / 2)) - unproven;
      const given = new Map<string | null, number>();
      for (const endpointId of ready) {
        if (free <= 0) break;
        const { limit, running: own, isProven, orgId } = laneOf(endpointId);
        const freeOfOrg = orgId === null ? free : perOrg - (ofOrgs.get(orgId) ?? 0) - (given.get(orgId) ?? 0);
        const room = Math.min(limit - own, free, freeOfOrg, isProven ? free : freeUnproven);
        if (room <= 0) continue;
        free -= room;
        given.set(orgId, (given.get(orgId) ?? 0) + room);
        if (!isProven) freeUnproven -= room;
        ready.delete(endpointId);
        chosen.push({ endpointId, room });
      }
      return chosen;
    },

    /** Call the returned function once, when the attempt has ended. */
    enter(endpointId: string, orgId: string): (isSuccess: boolean) => void {
      const lane = laneOf(endpointId);
      lane.orgId = orgId;
      ofOrgs.set(orgId, (ofOrgs.get(orgId) ?? 0) + 1);
      const wasProven = lane.isProven;
      lane.running += 1;
      running += 1;
      if (!wasProven) unproven += 1;
      return (isSuccess) => {
        lane.running -= 1;
        running -= 1;
        const left = (ofOrgs.get(orgId) ?? 1) - 1;
        if (left === 0) ofOrgs.delete(orgId);
        else ofOrgs.set(orgId, left);
        if (!wasProven) unproven -= 1;
        lane.isProven = isSuccess;
        lane.limit = isSuccess ? Math.min(perEndpoint, lane.limit + 1) : 1;
        if (lane.running === 0 && lanes.size > maxCachedLanes) lanes.delete(endpointId);
      };
    },
  };

  function laneOf(endpointId: string): Lane {
    let lane = lanes.get(endpointId);
    if (!lane) {
      lane = { running: 0, orgId: null, limit: Math.min(firstLimitOfLane, perEndpoint), isProven: false };
      lanes.set(endpointId, lane);
    }
    return lane;
  }
}
