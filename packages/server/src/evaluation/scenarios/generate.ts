import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { asData, newFence } from '@vestra/agent/prompt/data';
import { type Reading, saidByUser, unusable } from '@vestra/agent/question';
import { Failure, fail } from '@vestra/contract/errors';
import { getVersion, requireDeployment } from '../../agents/deployments/index.ts';
import { ask, type Engine, forWaitingCaller, paidByOrg, usableModel } from '../../engine/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import { type Draft, draftedAnswer, readDrafts, shownAnswer } from './drafts.ts';
import { describeVersion } from './version-settings.ts';

const prompt = readFileSync(join(import.meta.dirname, 'generate.md'), 'utf8').trim();

/**
 * Has a model draft scenarios for a version, and hands out only what the create route would take as it is. What is usable
 * of an answer is kept and only the rest is asked for again, so there may be fewer in the end than were wanted.
 */
export async function generateScenarios(
  engine: Engine,
  tenant: Tenant,
  { reference, count, version: wanted }: { reference: string; count: number; version: number | undefined },
  signal: AbortSignal,
): Promise<Draft[]> {
  const deployment = await requireDeployment(engine.db, tenant.orgId, reference);
  const version = await getVersion(engine.db, deployment, wanted ?? deployment.newest_version);
  const model = usableModel(engine.models, tenant.mode, version.manifest.model);
  const paid = paidByOrg(engine, { tenant, model, deploymentId: deployment.id, conversationId: null });
  // What is played next of the newest version are its notebooks and skills as they are then.
  const fixed = version.version === deployment.newest_version ? null : version.content;
  const settings = JSON.stringify(await describeVersion(engine, tenant, version.manifest, fixed, signal), null, 1);
  const kept: Draft[] = [];
  const drafting = ask({
    purpose: 'draft_scenarios',
    prompt,
    messages: [saidByUser(`Count: ${count}\n\n${asData(newFence(), 'settings', settings)}`)],
    schema: draftedAnswer,
    shown: shownAnswer,
    repairs: 2,
    read: (answer, isLast): Reading<Draft[]> => {
      const { usable, faults } = readDrafts(answer, { kept, wanted: count }, version);
      kept.push(...usable);
      if (kept.length === count || (isLast && kept.length > 0)) return { value: kept };
      if (isLast) throw fail('model_error', { message: `The model drafted no usable scenarios. ${faults[0]}` });
      return { again: restOf(count, kept, faults) };
    },
    payer: forWaitingCaller(paid),
    signal,
  });
  return drafting.catch((error: unknown) => {
    // What a model has drafted before it failed is as good as it was.
    if (error instanceof Failure && kept.length > 0) return kept;
    throw error;
  });
}

function restOf(count: number, kept: readonly Draft[], faults: readonly string[]): string {
  const names = kept.map(({ name }) => JSON.stringify(name)).join(', ');
  return [
    unusable(faults),
    ...(kept.length === 0 ? [] : [`These are kept: ${names}. Do not write them again.`]),
    `Count: ${count - kept.length}\nWrite ${kept.length === 0 ? 'all scenarios again' : 'the missing ones alone'}.`,
  ].join('\n\n');
}
