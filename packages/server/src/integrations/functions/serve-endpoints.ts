import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '@vestra/contract/errors';
import type { Mode } from '@vestra/contract/route';
import { signedHeaders } from '../../automation/index.ts';
import type { Engine } from '../../engine/index.ts';
import {
  answerInteraction,
  deploymentsWithCalls,
  type InteractionAnswer,
  releaseCall,
  renewCall,
  type TakenCall,
  takeCalls,
} from '../../engine/interactions/index.ts';
import { oneAtATime } from '../../platform/async/background-loop.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { ClusterNotifications } from '../../platform/cluster/cluster-notifications.ts';
import { sharedDate, sharedNow } from '../../platform/db/clock.ts';
import { startHeartbeat } from '../../platform/jobs/lease.ts';
import type { Outbound } from '../../platform/outbound/fetcher.ts';
import { OutboundFailure } from '../../platform/outbound/outbound-failure.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import { newClaimId } from './calls.ts';
import { allEndpoints, findEndpoint, presentTaken, recordFailure, signingSecrets } from './endpoint.ts';

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

type EndpointCaller = { engine: Engine; vault: Vault; outbound: Outbound };

const leaseSeconds = 30;
const maxCallMs = 600_000;
/** Larger than an output of 256 KB with JSON escapes. */
const maxBytesRead = 1_048_576;

/**
 * Calls the address for one claimed call and delivers the result. Returns the seconds until the call may be taken
 * again, or null if nothing is left to do. Throws only the reason of `signal`, and releases the call then.
 */
async function callEndpoint(caller: EndpointCaller, call: TakenCall, signal: AbortSignal): Promise<number | null> {
  const { db } = caller.engine;
  const tenant = { orgId: call.org_id, mode: call.mode };
  const claim = { callId: call.id, claimId: call.taken_by as string };
  const deploymentId = call.deployment_id as string;
  const giveBack = (pauseSeconds: number) => releaseCall(db, tenant, { ...claim, pauseSeconds });
  // Read again, so that an address that was just removed is not called.
  const endpoint = await findEndpoint(db, tenant, deploymentId);
  if (!endpoint) {
    await giveBack(0);
    return null;
  }

  const held = holdClaim(caller.engine, tenant, claim);
  try {
    const ends = AbortSignal.any([signal, held.signal]);
    const outcome = await attempt(caller, tenant, { url: endpoint.url, call, signal: ends });
    if (outcome === null) {
      if (signal.aborted) await giveBack(0);
      return null;
    }
    const fault = outcome.kind === 'later' ? null : outcome.fault;
    if (fault !== null) await recordFailure(db, tenant, deploymentId, fault);
    if (outcome.kind === 'again') {
      const pause = pauseAfter(call.attempts);
      await giveBack(pause);
      return pause;
    }
    if (outcome.kind === 'later') await renewCall(db, tenant, { ...claim, leaseSeconds: maxCallMs / 1000 });
    else await deliver(caller.engine, call, outcome.answer);
    return null;
  } finally {
    held.end();
  }
}

/**
 * Renews the claim while the address works. The signal aborts if the call was cancelled, expired or answered elsewhere.
 */
function holdClaim({ db, log }: Engine, tenant: Tenant, claim: { callId: string; claimId: string }) {
  const over = new AbortController();
  const heartbeat = startHeartbeat({
    everyMs: (leaseSeconds * 1000) / 3,
    held: () => [claim],
    async renew() {
      const row = await renewCall(db, tenant, { ...claim, leaseSeconds });
      return () => row !== undefined;
    },
    onLost: () => over.abort(),
    onError: (error) => log.warn({ err: error, call_id: claim.callId }, 'failed to renew the claim of a function call'),
  });
  return { signal: over.signal, end: () => void heartbeat.stop() };
}

/** Returns null if the call was aborted. */
async function attempt(
  { engine, vault, outbound }: EndpointCaller,
  tenant: Tenant,
  { url, call, signal }: { url: string; call: TakenCall; signal: AbortSignal },
): Promise<EndpointOutcome | null> {
  const secrets = await signingSecrets(engine.db, vault, tenant, call.deployment_id as string);
  const { claim_id, ...shown } = presentTaken(call);
  const body = JSON.stringify({ ...shown, claim_id, org_id: call.org_id, mode: call.mode });
  const leftMs = call.expires_at === null ? maxCallMs : call.expires_at.getTime() - sharedNow();
  try {
    const { status, body: given } = await outbound.fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...signedHeaders({ eventId: call.id, body, at: sharedDate(), secrets }),
      },
      body,
      timeoutMs: Math.max(1, Math.min(leftMs, maxCallMs)),
      maxBytes: maxBytesRead,
      signal,
    });
    return readEndpointAnswer(status, given);
  } catch (error) {
    if (signal.aborted) return null;
    if (!(error instanceof OutboundFailure)) throw error;
    // A response above the limit or a refused address would fail again.
    const isLasting = error.reason === 'too_large' || error.reason === 'refused_address';
    if (!isLasting) return { kind: 'again', fault: error.message };
    return { kind: 'answered', answer: { error: 'The function failed.' }, fault: error.message };
  }
}

async function deliver(engine: Engine, call: TakenCall, answer: InteractionAnswer): Promise<void> {
  const origin = {
    orgId: call.org_id,
    mode: call.mode,
    actor: { type: 'system' as const, id: 'function_endpoint', name: 'Function endpoint' },
    requestId: null,
    ip: null,
  };
  try {
    await answerInteraction(engine, origin, call, answer);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    // It was answered elsewhere, cancelled, or expired.
    if (error.code !== 'invalid_request') return;
    await deliver(engine, call, { error: `The server refused the result of the function: ${error.message}` });
  }
}

type EndpointOutcome =
  | { kind: 'answered'; answer: InteractionAnswer; fault: string | null }
  /** The address accepted the call and will answer over the API. */
  | { kind: 'later' }
  | { kind: 'again'; fault: string };

/** Only these statuses may pass. All other errors are reported to the agent at once, since a user waits. */
const temporaryStatuses = new Set([408, 425, 429]);

/** Reads the response of the address. `fault` is shown to the org, so it never contains a part of the body. */
export function readEndpointAnswer(status: number, body: Uint8Array): EndpointOutcome {
  if (status === 202) return { kind: 'later' };
  if (status === 204) return answered({ output: null });
  if (status >= 200 && status < 300) return readBody(body);
  if (status >= 500 || temporaryStatuses.has(status))
    return { kind: 'again', fault: `The address answered ${status}.` };
  const why = status < 400 ? 'redirects are not followed' : 'it is not called again for this';
  return failed(`The address answered ${status}: ${why}.`);
}

function readBody(body: Uint8Array): EndpointOutcome {
  const given = readJson(body);
  if (typeof given === 'object' && given !== null) {
    const { output, error } = given as { output?: unknown; error?: unknown };
    if (typeof error === 'string' && error.trim() !== '' && output === undefined) return answered({ error });
    if (output !== undefined && error === undefined) return answered({ output });
  }
  return failed('The answer is no JSON object with an `output` or an `error` of text.');
}

function readJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    return undefined;
  }
}

const answered = (answer: InteractionAnswer): EndpointOutcome => ({ kind: 'answered', answer, fault: null });
const failed = (fault: string): EndpointOutcome => ({
  kind: 'answered',
  answer: { error: 'The function failed.' },
  fault,
});

/** Seconds from one attempt to the next. The timeout of the call bounds their number. */
const pauses = [1, 2, 5, 10, 20, 30];

export const pauseAfter = (attempt: number): number => pauses[Math.min(attempt, pauses.length) - 1] as number;
