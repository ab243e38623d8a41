import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withoutCredentials } from '@vestra/agent/credential';
import { ModelFailure } from '@vestra/agent/model';
import { asData, newFence } from '@vestra/agent/prompt/data';
import { notOfTheShape, parsedJson, type Reading, saidByUser, unusable } from '@vestra/agent/question';
import type { Api } from '@vestra/contract/api';
import { Failure, fail } from '@vestra/contract/errors';
import { check } from '@vestra/contract/fault';
import type { ResponseOf } from '@vestra/contract/route';
import { scenarios } from '@vestra/contract/scenarios';
import { withoutMarks } from '@vestra/contract/source-marks';
import { z } from 'zod';
import { newestVersion, requireDeployment } from '../../agents/deployments/index.ts';
import type { Manifest } from '../../agents/versions/index.ts';
import {
  type ConversationRow,
  type Exchange,
  findConversation,
  type RecordedCall,
  readExchanges,
  transcriptOf,
} from '../../engine/conversations/index.ts';
import { ask, type Engine, forWaitingCaller, paidByOrg, usableModel } from '../../engine/index.ts';
import { findTask } from '../../engine/tasks/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import { findUser } from '../../users/index.ts';
import { type PersonalValue, personalValues } from './personal-values.ts';
import { isToolOf, type ScenarioFields } from './scenarios.ts';

const prompt = readFileSync(join(import.meta.dirname, 'scenario-from-conversation.md'), 'utf8').trim();

/**
 * Drafts a scenario from a conversation. Messages and tool results are copied as they were. A model writes only the
 * fields that the conversation does not contain. Without a model, the draft does without these fields.
 */
export async function draftFromConversation(
  engine: Engine,
  tenant: Tenant,
  { conversationId, taskId }: { conversationId: string; taskId: string | null },
  signal: AbortSignal,
): Promise<ResponseOf<Api['conversations']['draftScenario']>> {
  const { conversation, exchanges } = await exchangesOf(engine, tenant, conversationId, taskId);
  const deployment = await requireDeployment(engine.db, tenant.orgId, conversation.deployment_id as string);
  const { manifest } = await newestVersion(engine.db, deployment);
  const plain = scenarioFromExchanges(exchanges, manifest);
  const account = { tenant, deploymentId: deployment.id, named: manifest.model };
  const worded = await wordedByModel(engine, account, exchanges, plain.scenario, signal);
  const scenario = { ...plain.scenario, ...worded.fields };
  const known = [...(await ownValues(engine, tenant, conversation)), ...worded.personal];
  return {
    object: 'scenario_draft',
    deployment_id: deployment.id,
    deployment_version: (exchanges.at(-1) as Exchange).turn.deployment_version,
    conversation_id: conversation.id,
    // Erasure uses it to find stored responses of idempotent requests.
    user_id: conversation.user_id,
    task_id: taskId,
    scenario,
    drafted_by: worded.by,
    personal: personalValues(textsOf(scenario), known),
    notes: [...plain.notes, ...worded.notes],
  };
}

/** Conversations of tests have no user, and interviews have no agent, so neither is a source for scenarios. */
export async function exchangesOf(
  { db }: Engine,
  tenant: Tenant,
  conversationId: string,
  taskId: string | null,
): Promise<{ conversation: ConversationRow; exchanges: Exchange[] }> {
  const conversation = await findConversation(db, tenant, conversationId);
  if (!conversation || conversation.is_hidden) throw fail('conversation_not_found');
  const task = taskId === null ? null : await findTask(db, tenant, taskId);
  if (taskId !== null && task?.conversation_id !== conversationId) throw fail('task_not_found');
  const exchanges = (await readExchanges(db, conversationId)).filter(({ turn }) => !task || turn.id === task.turn_id);
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

const maxTranscript = 100_000;

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
    // The offline model would only repeat the conversation.
    if (model.id === 'offline') return without([]);
    const payer = paidByOrg(engine, { tenant, model, deploymentId, conversationId: null });
    const lines = transcriptOf(exchanges).witnessed.map(({ speaker, text }) => `${speaker}: ${text}`);
    const talk = String(withoutCredentials('', lines.join('\n'), maxTranscript)).toWellFormed();
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

/** Personal data of the user that the org stored, which readers of the scenario need not see. */
export async function ownValues({ db }: Engine, tenant: Tenant, { user_id: userId }: ConversationRow) {
  const user = userId === null ? undefined : await findUser(db, tenant, userId);
  const values = [userId, user?.name, user?.email, ...(user?.name?.split(/\s+/) ?? [])];
  return values.flatMap((value) => (value ? [{ kind: 'user' as const, value }] : []));
}

export const textsOf = (scenario: ScenarioFields): Record<string, string> =>
  Object.fromEntries(
    Object.entries(scenario).map(([field, value]) => [
      field,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );

type PlainDraft = {
  scenario: ScenarioFields;
  /** Parts of the conversation that the scenario leaves out, with the reason. */
  notes: string[];
};

/**
 * Builds a scenario that the create route accepts, without a model. The first message is the goal, later messages
 * become the persona, and results of the deployment's tools are kept. Each criterion is a word that the agent passed on
 * or a tool that it called. `exchanges` is not empty.
 */
export function scenarioFromExchanges(exchanges: readonly Exchange[], manifest: Manifest): PlainDraft {
  const { said } = transcriptOf(exchanges);
  const byUser = said.filter(({ role }) => role === 'user').map(({ text }) => clean(text));
  const byAgent = said.filter(({ role }) => role !== 'user').map(({ text }) => clean(text));
  const [first = '', ...later] = byUser.filter((text) => text.trim() !== '');
  const { kept, notes: ofTools } = keptCalls(exchanges, manifest);
  const goal = cut(first, 2000);
  const persona = personaOf(later);
  const criteria = criteriaOf(kept, byUser, byAgent);
  return {
    scenario: {
      name: cut(oneLine(first), 80),
      persona: cut(persona, 2000),
      goal,
      success_criteria: criteria.length === 0 ? ['The agent answers what the person asks for.'] : criteria,
      must_never: [],
      ...playedBy(kept),
      ...(approvesTools(exchanges, manifest) && { approves: true }),
    },
    notes: [
      ...(goal === first ? [] : ['The first message is longer than 2,000 characters: the goal is its beginning.']),
      ...(persona.length <= 2000 ? [] : ['Not all of the later messages have room in the persona.']),
      ...(criteria.length > 0 ? [] : ['The conversation does not show what a good answer is: write the criteria.']),
      ...ofTools,
      ...notesOf(exchanges),
    ],
  };
}

function personaOf(later: readonly string[]): string {
  if (later.length === 0) return 'A person who uses this agent.';
  const lines = later.map((text) => `"${oneLine(text)}"`).join(', then ');
  return `A person who uses this agent. After the first message they say, if it fits: ${lines}.`;
}

type KeptCall = RecordedCall & { is_error: boolean };

const maxResult = 50_000;
const maxCharacters = 300_000;
const maxCalls = 50;

/** Results of tools that a test can play, in order. */
function keptCalls(exchanges: readonly Exchange[], manifest: Manifest): { kept: KeptCall[]; notes: string[] } {
  const kept: KeptCall[] = [];
  const leftOut = new Map<string, Set<string>>();
  const leave = (why: string, name: string) => leftOut.set(why, (leftOut.get(why) ?? new Set()).add(name));
  let characters = 0;
  for (const call of exchanges.flatMap(({ reply, work }) => [...reply.calls, ...work.calls])) {
    if (call.output === null || call.result_from !== 'tool') continue;
    const tool = keyOf(call.name, manifest);
    if (tool === null) {
      const why = /^mcp__/.test(call.name) ? notOfVersion : notInTest.test(call.name) ? notRun : null;
      if (why) leave(why, call.name);
      continue;
    }
    if (call.output.length > maxResult || characters + call.output.length > maxCharacters) leave(tooLong, tool);
    else if (kept.length === maxCalls) leave(tooMany, tool);
    else {
      characters += call.output.length;
      const result = clean(structured(call.output));
      const given = clean(call.arguments) as Record<string, unknown>;
      kept.push({ tool, arguments: given, result, is_error: call.is_error === true });
      if (given !== call.arguments && JSON.stringify(given) !== JSON.stringify(call.arguments))
        leave(hadCredential, tool);
      if (JSON.stringify(result) !== JSON.stringify(structured(call.output))) leave(hadCredential, tool);
      if (call.media?.length) leave(hadPictures, tool);
    }
  }
  const notes = [...leftOut].map(([why, names]) => `${why} ${[...names].map((name) => `\`${name}\``).join(', ')}.`);
  return { kept, notes };
}

const notOfVersion = 'The newest version does not have these tools, or a test cannot play them:';
const notRun = 'A test runs none of these tools of the agent, and they answer an error:';
const tooLong = 'Results that are too long for a test were left out, of:';
const tooMany = `Only the first ${maxCalls} calls are included. Some are missing of:`;
const hadCredential = 'Text that looks like a credential was removed from calls of:';
const hadPictures = 'Pictures and sound were left out of results of:';
const notInTest = /^(browser_|run_command$|read_file$|write_file$|list_files$|connect_app$)/;

/** The name of a tool in scenarios, or null if it has none. A name that was shortened for models is ambiguous. */
function keyOf(name: string, manifest: Manifest): string | null {
  if (manifest.tools.some((tool) => tool.function === name)) return name;
  const [, slug, tool = ''] = /^mcp__([a-z0-9-]+)__(.+)$/.exec(name) ?? [];
  const key = `${slug}.${tool}`;
  return slug === undefined || /_[0-9a-f]{8}$/.test(tool) || !isToolOf(manifest, key) ? null : key;
}

/** A tool that always gave one answer gets an entry, which applies to any arguments. */
function playedBy(kept: readonly KeptCall[]): Pick<ScenarioFields, 'tool_results' | 'recorded_calls'> {
  const byTool = [...Map.groupBy(kept, ({ tool }) => tool)];
  const answersOnce = ([, calls]: (typeof byTool)[number]) =>
    calls.every(({ is_error, result }) => !is_error && JSON.stringify(result) === JSON.stringify(calls[0]?.result));
  const entries = byTool.filter(answersOnce).slice(0, maxEntries);
  const isEntry = new Set(entries.map(([tool]) => tool));
  const recorded = kept.filter(({ tool }) => !isEntry.has(tool));
  return {
    ...(entries.length > 0 && {
      tool_results: Object.fromEntries(entries.map(([tool, [only]]) => [tool, only?.result])),
    }),
    ...(recorded.length > 0 && {
      recorded_calls: recorded.map(({ is_error, ...call }) => ({ ...call, ...(is_error && { is_error }) })),
    }),
  };
}

const maxEntries = 20;
const maxOfEach = 4;

/** Phrased so that the offline model can judge them too. */
function criteriaOf(kept: readonly KeptCall[], byUser: readonly string[], byAgent: readonly string[]): string[] {
  const worked = kept.filter(({ is_error }) => !is_error);
  const tools = [...new Set(worked.map(({ tool }) => tool))].slice(0, maxOfEach);
  const last = withoutMarks(byAgent.at(-1) ?? '');
  const isNews = (word: string) => !byUser.some((text) => says(text, word));
  const passedOn = worked
    .flatMap(({ result }) => wordsIn(result))
    .filter((word) => byAgent.some((text) => says(text, word)));
  const figures = last.match(/\d+(?:[.,:]\d+)*/g) ?? [];
  const words = [...new Set(passedOn.length > 0 ? passedOn : figures)].filter(isNews).slice(0, maxOfEach);
  return [...tools.map((tool) => `The agent calls ${tool}.`), ...words.map((word) => `The agent says "${word}".`)];
}

/** Short texts and numbers of a result, which a criterion can quote. */
function wordsIn(value: unknown): string[] {
  if (typeof value === 'number') return String(value).length > 1 ? [String(value)] : [];
  if (typeof value === 'string') return /^[^"\n]{2,60}$/.test(value) && /[\p{L}\p{N}]/u.test(value) ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(wordsIn);
}

function says(text: string, word: string): boolean {
  const wanted = word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(?<![\\p{L}\\p{N}])${wanted}(?![\\p{L}\\p{N}])`, 'iu').test(text);
}

const waitsOf = ({ reply, work }: Exchange) => [...reply.waits, ...work.waits];

/** Only functions and tools of the deployment's servers, since `approves` decides about nothing else. */
function approvesTools(exchanges: readonly Exchange[], { tools }: Manifest): boolean {
  const isOfVersion = ({ server, tool_name }: Record<string, unknown>) =>
    typeof server === 'string' || tools.some((tool) => tool.function === tool_name);
  const decisions = exchanges
    .flatMap(waitsOf)
    .filter(({ type, purpose, details }) => type === 'approval' && purpose === 'permission' && isOfVersion(details))
    .map(({ decision }) => decision);
  return decisions.includes('approved') && !decisions.includes('denied');
}

function notesOf(exchanges: readonly Exchange[]): string[] {
  const asked = exchanges.flatMap(({ user }) => user);
  return [
    ...(asked.some(({ attachments }) => attachments.length > 0) ? ['Files that were sent along are left out.'] : []),
    ...(asked.some(({ context }) => context !== null) ? ['The context that came with messages is left out.'] : []),
  ];
}

const structured = (output: string): unknown => {
  const value = parsedJson(output);
  return typeof value === 'object' && value !== null ? value : output;
};

const clean = <Value>(value: Value): Value => withoutCredentials('', value, Number.POSITIVE_INFINITY) as Value;

const oneLine = (text: string) => text.replace(/\s+/gu, ' ').trim();

const cut = (text: string, most: number) => {
  const characters = [...text];
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
};
