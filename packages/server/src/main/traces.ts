import { withoutContent } from '../account/telemetry/run-trace.ts';
import { createTraceExporter, createTraceTargets } from '../account/telemetry/trace-exporter.ts';
import type { Engine } from '../engine/index.ts';
import { readRunTrace } from '../engine/records/trace.ts';
import type { Tenant } from '../platform/caller.ts';
import { createOutbound } from '../platform/outbound/fetcher.ts';
import type { Kernel } from './kernel.ts';

/** Spans that may wait for the operator's collector, which gets the traces of all orgs. */
const maxSpansOfOperator = 100_000;

/** Sends the trace of each finished run to the collectors of its org and of the operator. */
export function assembleTraces(kernel: Kernel): Engine['traces'] & { stop: () => Promise<void> } {
  const { db, vault, outbound, models, log } = kernel;
  const targetOf = createTraceTargets({ db, vault });
  const ofOrgs = createTraceExporter({ outbound, targetOf, log });
  const ofOperator = operatorExporter(kernel);

  async function send(tenant: Tenant, run: { kind: 'turn' | 'task'; id: string }): Promise<void> {
    const target = await targetOf(tenant);
    if (target === null && ofOperator === null) return;
    const withContent = target !== null && 'endpoint' in target && target.withContent === true;
    const trace = await readRunTrace({ db, models }, tenant, { ...run, withContent });
    if (!trace) return;
    if (target !== null) ofOrgs.record(tenant, trace);
    ofOperator?.record(tenant, withoutContent(trace));
  }

  return {
    ended: (tenant, run) =>
      void send(tenant, run).catch((error: unknown) => log.warn({ err: error }, 'a trace was not exported')),
    async stop() {
      await Promise.all([ofOrgs.stop(), ofOperator?.stop()]);
    },
  };
}

function operatorExporter({ config: { traces }, log }: Kernel) {
  const { endpoint, headers } = traces;
  if (endpoint === null) return null;
  const target = { endpoint, headers: headers() };
  // The operator chose this address, which may be in their own network.
  const outbound = createOutbound({ allowPrivate: true });
  const exporter = createTraceExporter({
    outbound,
    targetOf: async () => target,
    isShared: true,
    log: log.child({ collector: 'operator' }),
    settings: { maxSpansOfTenant: maxSpansOfOperator },
  });
  return {
    ...exporter,
    async stop() {
      await exporter.stop();
      await outbound.close();
    },
  };
}
