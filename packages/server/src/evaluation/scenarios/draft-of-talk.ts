import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withoutCredentials } from '@vestra/agent/credential';
import { ModelFailure } from '@vestra/agent/model';
import { asData, newFence } from '@vestra/agent/prompt/data';
import { notOfTheShape, type Reading, saidByUser, unusable } from '@vestra/agent/question';
import type { Api } from '@vestra/contract/api';
import { Failure, fail } from '@vestra/contract/errors';
import { check } from '@vestra/contract/fault';
import type { ResponseOf } from '@vestra/contract/route';
import { scenarios } from '@vestra/contract/scenarios';
import { z } from 'zod';
import { getVersion, requireDeployment } from '../../agents/deployments/index.ts';
import {
  type ConversationRow,
  type Exchange,
  findConversation,
  readTalk,
  transcriptOf,
} from '../../engine/conversations/index.ts';
import { ask, type Engine, forWaitingCaller, paidByOrg, usableModel } from '../../engine/index.ts';
import { findTask } from '../../engine/tasks/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import { findUser } from '../../users/index.ts';
import { type PersonalValue, personalValues } from './personal-values.ts';
import type { ScenarioFields } from './scenario.ts';
import { scenarioOfTalk } from './scenario-of-talk.ts';

const prompt = readFileSync(join(import.meta.dirname, 'draft-of-talk.md'), 'utf8').trim();

/**
 * A talk as a scenario of its deployment. What was said and answered is taken over as it was; a model only words what the
 * talk does not say by itself, and where none can be asked the draft does without.
 */
export async function draftOfTalk(
  engine: Engine,
  tenant: Tenant,
  { conversationId, taskId }: { conversationId: string; taskId: string | null },
  signal: AbortSignal,
): Promise<ResponseOf<Api['conversations']['draftScenario']>> {
  const { conversation, exchanges } = await talkOf(engine, tenant, conversationId, taskId);
  const deployment = await requireDeployment(engine.db, tenant.orgId, conversation.deployment_id as string);
  const { manifest } = await getVersion(engine.db, deployment, deployment.newest_version);
  const plain = scenarioOfTalk(exchanges, manifest);
  const account = { tenant, deploymentId: deployment.id, named: manifest.model };
  const worded = await wordedByModel(engine, account, exchanges, plain.scenario, signal);
  const scenario = { ...plain.scenario, ...worded.fields };
  const known = [...(await ownValues(engine, tenant, conversation)), ...worded.personal];
  return {
    object: 'scenario_draft',
    deployment_id: deployment.id,
    deployment_version: (exchanges.at(-1) as Exchange).turn.deployment_version,
    conversation_id: conversation.id,
    // An erasure finds answers that are kept for a repeated call by it.
    user_id: conversation.user_id,
    task_id: taskId,
    scenario,
    drafted_by: worded.by,
    personal: personalValues(textsOf(scenario), known),
    notes: [...plain.notes, ...worded.notes],
  };
}

/** What a test played is a talk with nobody, and an interview is one with no agent: neither is anything to learn from. */
async function talkOf(
  { db }: Engine,
  tenant: Tenant,
  conversationId: string,
  taskId: string | null,
): Promise<{ conversation: ConversationRow; exchanges: Exchange[] }> {
  const conversation = await findConversation(db, tenant, conversationId);
  if (!conversation || conversation.is_hidden) throw fail('conversation_not_found');
  const task = taskId === null ? null : await findTask(db, tenant, taskId);
  if (taskId !== null && task?.conversation_id !== conversationId) throw fail('task_not_found');
  const exchanges = (await readTalk(db, conversationId)).filter(({ turn }) => !task || turn.id === task.turn_id);
  const isEmpty = exchanges.every(({ user }) => user.every(({ text }) => text.trim() === ''));
  if (isEmpty) throw fail('invalid_request', { message: 'Nobody has said anything in this conversation yet.' });
  return { conversation, exchanges };
}

const schema = z.object({
  name: z.string(),
  persona: z.string(),
  success_criteria: z.array(z.string()),
  must_never: z.array(z.string()),
  personal_values: z.array(z.string()),
});

type Worded = {
  by: string | null;
  fields: Partial<ScenarioFields>;
  personal: Pick<PersonalValue, 'kind' | 'value'>[];
  notes: string[];
};

const longestTalk = 100_000;

async function wordedByModel(
  engine: Engine,
  { tenant, deploymentId, named }: { tenant: Tenant; deploymentId: string; named: string },
  exchanges: readonly Exchange[],
  plain: ScenarioFields,
  signal: AbortSignal,
): Promise<Worded> {
  const without = (notes: string[]): Worded => ({ by: null, fields: {}, personal: [], notes });
  try {
    const model = usableModel(engine.models, tenant.mode, named);
    // It understands nothing, and would only say again what the talk says.
    if (model.id === 'offline') return without([]);
    const payer = paidByOrg(engine, { tenant, model, deploymentId, conversationId: null });
    const lines = transcriptOf(exchanges).witnessed.map(({ speaker, text }) => `${speaker}: ${text}`);
    const talk = String(withoutCredentials('', lines.join('\n'), longestTalk)).toWellFormed();
    return await ask({
      purpose: 'draft_scenarios',
      prompt,
      messages: [saidByUser(asData(newFence(), 'talk', talk))],
      schema,
      repairs: 1,
      read: (answer, isLast): Reading<Worded> => {
        if (answer === null) return isLast ? { value: without([notWorded]) } : { again: unusable([notOfTheShape]) };
        const { personal_values, ...fields } = answer;
        const checked = check(scenarios.create.body, { ...plain, ...fields }, 'invalid_request');
        if (!checked.ok && isLast) return { value: without([notWorded]) };
        if (!checked.ok) return { again: unusable(checked.faults.map(({ param, message }) => `${param}: ${message}`)) };
        const personal = personal_values.map((value) => ({ kind: 'other' as const, value }));
        return { value: { by: model.id, fields, personal, notes: [] } };
      },
      payer: forWaitingCaller(payer),
      signal,
    });
  } catch (error) {
    if (!(error instanceof Failure || error instanceof ModelFailure)) throw error;
    return without([`No model has worded the criteria: ${error.message}`]);
  }
}

const notWorded = 'No model has worded the criteria: what it answered cannot be used.';

/** What the caller has told of the person: whoever reads the scenario need not know it. */
async function ownValues({ db }: Engine, tenant: Tenant, { user_id: userId }: ConversationRow) {
  const user = userId === null ? undefined : await findUser(db, tenant, userId);
  const values = [userId, user?.name, user?.email, ...(user?.name?.split(/\s+/) ?? [])];
  return values.flatMap((value) => (value ? [{ kind: 'user' as const, value }] : []));
}

const textsOf = (scenario: ScenarioFields): Record<string, string> =>
  Object.fromEntries(
    Object.entries(scenario).map(([field, value]) => [
      field,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );
