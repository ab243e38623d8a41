import type { Run as AgentRun } from '@vestra/agent/loop';
import type { JsonSchema } from '@vestra/agent/message';
import { assembleSystem } from '@vestra/agent/prompt/assemble';
import { parsedJson } from '@vestra/agent/question';
import type { PricedModel } from '@vestra/models/prices';
import type { Tenant } from '../../../caller.ts';
import type { Run } from '../../../jobs/fence.ts';
import type { Manifest } from '../../deployments/api.ts';
import { readableNotebooks } from '../../notebooks/api.ts';
import { readableSkills } from '../../skills/api.ts';
import { findUser } from '../../users/api.ts';
import { pendingInteractions } from '../records/interactions.ts';
import type { Subject } from '../records/subject.ts';
import type { MessageRow } from '../records/tables.ts';
import { openTasks } from '../records/tasks.ts';
import { usableModel } from '../records/usable-model.ts';
import type { MemoryMode } from '../records/version-cache.ts';
import { memoryModeOf, versionOf } from '../records/version-cache.ts';
import { missingLine, noteMissing } from '../tools/missing-tools.ts';
import type { RunTools } from '../tools/run-tools.ts';
import { assembleTools } from '../tools/tools.ts';
import type { Engine, Fresh, Schemas } from '../turns/ports.ts';
import { historyOf } from './history.ts';

/** All that one run needs, read from the version, the user and the conversation. */
export type Assembled = {
  agentRun: AgentRun;
  tools: RunTools;
  model: PricedModel;
  memoryMode: MemoryMode;
  /** The messages that stand before the turn, as a summary of the run counts them. */
  before: readonly MessageRow[];
};

/** What whoever accepted the message has at hand. */
type Known = Pick<Fresh, 'asked' | 'user'>;

export async function assembleRun(
  engine: Engine,
  subject: Subject,
  run: Run,
  {
    isFirstOfConversation,
    asked,
    user: known,
    signal,
  }: Known & { isFirstOfConversation: boolean; signal: AbortSignal },
): Promise<Assembled> {
  const { db } = engine;
  const { turn, task } = subject;
  const tenant: Tenant = { orgId: turn.org_id, mode: turn.mode };
  const { manifest, content } = await versionOf(db, turn.deployment_id, turn.deployment_version);
  const fixed = turn.reads_newest ? null : content;
  const model = usableModel(engine.models, turn.mode, manifest.model);
  const fence = (task ?? turn).fence;
  const [user, memoryMode, notebooks, skills, told] = await Promise.all([
    known ?? (turn.user_id === null ? null : findUser(db, tenant, turn.user_id)),
    memoryModeOf(db, { orgId: turn.org_id, mode: turn.mode }, manifest),
    notebooksOf(engine, subject, manifest),
    manifest.skills.length === 0 ? [] : readableSkills(db, turn.org_id, manifest.skills, fixed?.skills ?? null),
    historyOf(engine, tenant, turn, {
      fence,
      brief: task?.brief ?? null,
      readsPdf: model.provider !== 'compatible' && model.provider !== 'offline',
      isFirstOfConversation,
      asked,
    }),
  ]);
  const memory =
    memoryMode === 'none' || turn.request.test
      ? []
      : await engine.memory.promptFacts(tenant, { userId: turn.user_id, mode: memoryMode, query: told.asked.text });
  const { attachments } = told.asked;
  const parts = { tenant, manifest, fixed, memoryMode, notebooks, skills, attachments };
  const tools = await assembleTools(engine, subject, run, parts, signal);
  if (tools.missing.length > 0) await noteMissing(engine, subject, run, tools.missing);
  const schema = turn.request.output_schema;
  return {
    model,
    memoryMode,
    tools,
    before: told.before,
    agentRun: {
      model: model.id,
      contextTokens: model.context_tokens,
      maxOutputTokens: model.max_output_tokens,
      system: assembleSystem({
        role: task ? 'worker' : 'orchestrator',
        instructions: manifest.instructions,
        language: manifest.language,
        locale: user?.locale ?? null,
        notebooks,
        skills,
        approvals: manifest.approvals,
        hasComputer: tools.hasComputer,
        hasBrowser: tools.hasBrowser,
        memory,
        missingTools: tools.missing.map(missingLine),
        openWork: task || isFirstOfConversation ? [] : await openWorkOf(engine, subject),
        now: Date.now(),
        timezone: user?.timezone ?? null,
        fence,
      }),
      history: told.history,
      tools: tools.all,
      approvals: manifest.approvals,
      limits: manifest.limits,
      output: schema === undefined ? null : { schema, read: answerReader(engine.schemas, schema) },
      fence,
      signal,
    },
  };
}

const notebooksOf = ({ db }: Engine, { turn }: Subject, { notebooks }: Manifest) =>
  notebooks.length === 0
    ? []
    : readableNotebooks(db, { orgId: turn.org_id, notebookIds: notebooks, userId: turn.user_id });

/** What goes on beside the reply, so that the agent can say how it stands. */
async function openWorkOf({ db }: Engine, { turn }: Subject) {
  const tasks = await openTasks(db, [turn.conversation_id]);
  if (tasks.length === 0) return [];
  const waits = await pendingInteractions(db, [turn.conversation_id]);
  return tasks.map(({ id, title, status }) => ({
    title,
    status,
    waitsFor: waits.filter(({ task_id }) => task_id === id).map(({ summary }) => summary),
  }));
}

/** The answer as data. */
function answerReader(schemas: Schemas, schema: JsonSchema) {
  return (text: string): { kind: 'ok'; data: unknown } | { kind: 'error'; message: string } => {
    const data = parsedJson(text);
    if (data === undefined) return { kind: 'error', message: 'It is not JSON.' };
    const validity = schemas.validate(schema, data);
    return validity.ok ? { kind: 'ok', data } : { kind: 'error', message: validity.message };
  };
}
