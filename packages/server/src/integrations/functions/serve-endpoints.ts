import { setTimeout as sleep } from 'node:timers/promises';
import type { Mode } from '@vestra/contract/route';
import { deploymentsWithCalls, takeCalls } from '../../engine/interactions/index.ts';
import { oneAtATime } from '../../platform/async/background-loop.ts';
import type { ClusterNotifications } from '../../platform/cluster/cluster-notifications.ts';
import { callEndpoint, type EndpointCaller, leaseSeconds } from './call-endpoint.ts';
import { newClaimId } from './calls.ts';
import { allEndpoints } from './endpoint.ts';

type Served = {
  orgId: string;
  mode: Mode;
  deploymentId: string;
  running: number;
  taking: ReturnType<typeof oneAtATime>;
};

/** Concurrent calls of one process and of one endpoint, so that a slow address leaves room for others. */
const maxConcurrent = 128;
const maxOfEndpoint = 16;

/** Finds calls and endpoints without a notification, such as those of a dead process. */
const lookEveryMs = 10_000;

/** Calls the function addresses of all orgs until it is stopped. */
export function startServingEndpoints(caller: EndpointCaller & { processNews: Pick<ClusterNotifications, 'on'> }): {
  stop: (options: { graceMs: number }) => Promise<void>;
} {
  const { engine, processNews } = caller;
  const { db, log } = engine;
  const served = new Map<string, Served>();
  const cutting = new AbortController();
  const running = new Set<Promise<void>>();
  const timers = new Set<NodeJS.Timeout>();
  let isStopped = false;
  const looking = oneAtATime(look);
  const every = setInterval(looking.run, lookEveryMs);
  every.unref();

  processNews.on('function_endpoint', () => looking.run());
  processNews.on('tool_call', (deploymentId) => {
    if (deploymentId === null) return looking.run();
    for (const mode of ['test', 'live'] as const) served.get(nameOf(mode, deploymentId))?.taking.run();
  });
  looking.run();

  async function look(): Promise<void> {
    try {
      await readEndpoints();
      if (served.size === 0) return;
      const ids = new Set([...served.values()].map(({ deploymentId }) => deploymentId));
      for (const { mode, deployment_id } of await deploymentsWithCalls(db, [...ids])) {
        served.get(nameOf(mode, deployment_id))?.taking.run();
      }
    } catch (error) {
      log.error({ err: error }, 'failed to read pending function calls');
    }
  }

  async function readEndpoints(): Promise<void> {
    const rows = await allEndpoints(db);
    const names = new Set(rows.map(({ mode, deployment_id }) => nameOf(mode, deployment_id)));
    for (const name of served.keys()) if (!names.has(name)) served.delete(name);
    for (const { org_id: orgId, mode, deployment_id: deploymentId } of rows) {
      const name = nameOf(mode, deploymentId);
      if (served.has(name)) continue;
      const endpoint: Served = { orgId, mode, deploymentId, running: 0, taking: oneAtATime(() => take(endpoint)) };
      served.set(name, endpoint);
    }
  }

  async function take(endpoint: Served): Promise<void> {
    const limit = Math.min(maxOfEndpoint - endpoint.running, maxConcurrent - running.size);
    if (limit <= 0 || isStopped) return;
    try {
      const wanted = { names: null, limit, leaseSeconds, claimId: newClaimId() };
      for (const call of await takeCalls(db, endpoint, endpoint.deploymentId, wanted)) begin(endpoint, call);
    } catch (error) {
      log.error({ err: error }, 'failed to claim function calls');
    }
  }

  function begin(endpoint: Served, call: Awaited<ReturnType<typeof takeCalls>>[number]): void {
    endpoint.running += 1;
    const ended = callEndpoint(caller, call, cutting.signal)
      .catch((error: unknown) => {
        // Its lease ends, and it is taken again.
        log.error({ err: error, call_id: call.id }, 'failed to call a function endpoint');
        return null;
      })
      .then((pauseSeconds) => {
        endpoint.running -= 1;
        running.delete(ended);
        if (pauseSeconds !== null) takeIn(endpoint, pauseSeconds * 1000);
        // Otherwise endpoints that found no free slot would wait for the next look.
        for (const each of served.values()) each.taking.run();
      });
    running.add(ended);
  }

  function takeIn(endpoint: Served, ms: number): void {
    if (isStopped) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      endpoint.taking.run();
    }, ms);
    timers.add(timer);
  }

  return {
    async stop({ graceMs }) {
      isStopped = true;
      clearInterval(every);
      for (const timer of timers) clearTimeout(timer);
      await Promise.all([looking.end(), ...[...served.values()].map(({ taking }) => taking.end())]);
      const patience = new AbortController();
      const allEnded = () => Promise.all(running);
      await Promise.race([allEnded(), sleep(graceMs, undefined, { signal: patience.signal }).catch(() => {})]);
      patience.abort();
      cutting.abort();
      await allEnded();
    },
  };
}

const nameOf = (mode: Mode, deploymentId: string) => `${mode} ${deploymentId}`;
