import { readFileSync } from 'node:fs';
import type { JsonSchema, Message } from '@vestra/agent/message';
import { asData, newFence } from '@vestra/agent/prompt/data';
import { Failure, fail } from '@vestra/contract/errors';
import { draftsScenarios } from '@vestra/models/offline/markers';
import type { Tenant } from '../../caller.ts';
import { getVersion, requireDeployment } from '../deployments/api.ts';
import { askForCaller, type Engine, usableModel } from '../engine/api.ts';
import { type Draft, readDrafts } from './drafts.ts';
import { describeVersion } from './version-settings.ts';

const prompt = `${draftsScenarios}\n\n${readFileSync(new URL('./generate.md', import.meta.url), 'utf8').trim()}`;
const repairs = 2;

const text: JsonSchema = { type: 'string' };
const object = (properties: Record<string, JsonSchema>): JsonSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
const list = (items: JsonSchema): JsonSchema => ({ type: 'array', items });

/** What a model may answer; vendors take it as it is, so it keeps to what all of them know. */
const outputSchema = object({
  scenarios: list(
    object({
      name: text,
      persona: text,
      goal: text,
      success_criteria: list(text),
      must_never: list(text),
      tool_results: list(object({ tool: text, result: text })),
      approves: { type: 'boolean' },
    }),
  ),
});

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
  const payer = { tenant, model, deploymentId: deployment.id, conversationId: null };
  // What is played next of the newest version are its notebooks and skills as they are then.
  const fixed = version.version === deployment.newest_version ? null : version.content;
  const settings = JSON.stringify(await describeVersion(engine, tenant, version.manifest, fixed, signal), null, 1);
  const messages: Message[] = [said(`Count: ${count}\n\n${asData(newFence(), 'settings', settings)}`)];
  const kept: Draft[] = [];
  for (let left = repairs; ; left--) {
    const answer = await askForCaller(engine, payer, { system: [prompt], messages, outputSchema }, signal).catch(
      (error: unknown) => {
        // What a model has drafted before it failed is as good as it was.
        if (error instanceof Failure && kept.length > 0) return null;
        throw error;
      },
    );
    if (answer === null) return kept;
    const { usable, faults } = readDrafts(answer, { kept, wanted: count }, version);
    kept.push(...usable);
    if (kept.length === count || (left === 0 && kept.length > 0)) return kept;
    if (left === 0) throw fail('model_error', { message: `The model drafted no usable scenarios. ${faults[0]}` });
    messages.push({ role: 'agent', text: answer || '[nothing]', calls: [] }, said(restOf(count, kept, faults)));
  }
}

function restOf(count: number, kept: readonly Draft[], faults: readonly string[]): string {
  const names = kept.map(({ name }) => JSON.stringify(name)).join(', ');
  return [
    `This cannot be used:\n${faults.map((fault) => `- ${fault}`).join('\n')}`,
    ...(kept.length === 0 ? [] : [`These are kept: ${names}. Do not write them again.`]),
    `Count: ${count - kept.length}\nWrite ${kept.length === 0 ? 'all scenarios again' : 'the missing ones alone'}.`,
  ].join('\n\n');
}

const said = (words: string): Message => ({ role: 'user', parts: [{ kind: 'text', text: words }] });
