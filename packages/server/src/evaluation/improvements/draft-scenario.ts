import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withoutCredentials } from '@vestra/agent/credential';
import { asData, newFence } from '@vestra/agent/prompt/data';
import { notOfTheShape, type Reading, saidByUser, unusable } from '@vestra/agent/question';
import { check } from '@vestra/contract/fault';
import { scenarios } from '@vestra/contract/scenarios';
import { z } from 'zod';
import type { FixedContent, Manifest } from '../../agents/versions/index.ts';
import { transcriptOf } from '../../engine/conversations/index.ts';
import { ask, type Engine } from '../../engine/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import { personalValues, replacePersonalValues } from '../scenarios/personal-values.ts';
import { exchangesOf, ownValues, scenarioFromExchanges, textsOf } from '../scenarios/scenario-from-conversation.ts';
import type { PlayedScenario } from '../tables.ts';
import { documentsAbout } from './documents.ts';
import type { paidByImprovement } from './spending.ts';
import { triesToSteer } from './steering.ts';

const prompt = readFileSync(join(import.meta.dirname, 'draft-scenario.md'), 'utf8').trim();

const schema = z.object({
  name: z.string(),
  persona: z.string(),
  success_criteria: z.array(z.string()),
  must_never: z.array(z.string()),
  personal_values: z.array(z.string()),
  steering: z.boolean(),
});

const maxTranscript = 60_000;
/** A failure that happens now and then must not count as fixed by chance. */
const runsOfDraft = 3;

type Draft = { scenario: PlayedScenario | null; isSteering: boolean };

/**
 * Drafts a scenario from a conversation that went wrong, without the personal values of its user. `scenario` is null if
 * the model wrote nothing that can be used.
 */
export async function draftScenario(
  engine: Engine,
  tenant: Tenant,
  {
    conversationId,
    complaints,
    version,
  }: {
    conversationId: string;
    /** Notes of bad ratings, and the name of the insight. */
    complaints: readonly string[];
    version: { manifest: Manifest; content: FixedContent };
  },
  payer: ReturnType<typeof paidByImprovement>,
  signal: AbortSignal,
): Promise<Draft> {
  const { conversation, exchanges } = await exchangesOf(engine, tenant, conversationId, null);
  const { scenario: plain } = scenarioFromExchanges(exchanges, version.manifest);
  const { said, witnessed } = transcriptOf(exchanges);
  const byUser = said.filter(({ role }) => role === 'user').map(({ text }) => text);
  const lines = witnessed.map(({ speaker, text }) => `${speaker}: ${text}`).join('\n');
  const given = withoutCredentials(
    '',
    {
      conversation: lines.slice(0, maxTranscript).toWellFormed(),
      complaints,
      instructions: version.manifest.instructions,
      documents: (await documentsAbout(engine.db, tenant.orgId, version, [...byUser, ...complaints].join(' ')))
        .filter(({ text }) => text !== null)
        .map(({ title, text }) => ({ title, text })),
    },
    Number.POSITIVE_INFINITY,
  );
  const worded = await ask({
    purpose: 'improve',
    prompt,
    messages: [saidByUser(asData(newFence(), 'failure', JSON.stringify(given, null, 1)))],
    schema,
    repairs: 1,
    read: (answer, isLast): Reading<z.output<typeof schema> | null> => {
      if (answer === null) return isLast ? { value: null } : { again: unusable([notOfTheShape]) };
      const { personal_values: _values, steering: _steering, ...fields } = answer;
      const checked = check(scenarios.create.body, { ...plain, ...fields }, 'invalid_request');
      if (checked.ok) return { value: answer };
      if (isLast) return { value: null };
      return { again: unusable(checked.faults.map(({ param, message }) => `${param}: ${message}`)) };
    },
    payer,
    signal,
  });
  const isSteering = byUser.some(triesToSteer) || worded?.steering === true;
  if (worded === null) return { scenario: null, isSteering };
  const { personal_values, steering: _steering, ...fields } = worded;
  const drafted = { ...plain, ...fields };
  const known = [
    ...(await ownValues(engine, tenant, conversation)),
    ...personal_values.map((value) => ({ kind: 'other' as const, value })),
  ];
  const values = [...personalValues(textsOf(drafted), known), ...known];
  const replaced = replacePersonalValues(drafted, values);
  return {
    scenario: {
      name: replaced.name,
      persona: replaced.persona,
      goal: replaced.goal,
      success_criteria: replaced.success_criteria,
      must_never: replaced.must_never ?? [],
      tool_results: replaced.tool_results ?? null,
      recorded_calls: replaced.recorded_calls ?? null,
      approves: replaced.approves ?? null,
      acts_as: null,
      runs: runsOfDraft,
    },
    isSteering,
  };
}
