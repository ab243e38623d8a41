import type { JsonSchema } from '@vestra/agent/message';
import type { Run as AgentRun } from '@vestra/agent/progress';
import { assembleSystem, passingText } from '@vestra/agent/prompt/assemble';
import { parsedJson } from '@vestra/agent/question';
import { fail } from '@vestra/contract/errors';
import type { PricedModel } from '@vestra/models/prices';
import type { MediaKind } from '@vestra/models/settings';
import { readableNotebooks } from '../../agents/notebooks/index.ts';
import { readableSkills } from '../../agents/skills/index.ts';
import type { KeptSessions } from '../../agents/tool-servers/index.ts';
import { type Manifest, repoFolders, versionOf } from '../../agents/versions/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Database } from '../../platform/db/pool.ts';
import type { RunLease } from '../../platform/jobs/run-lease.ts';
import { findUser } from '../../users/index.ts';
import { type MemoryMode, memoryModeOf } from '../records/conversations.ts';
import { readHistory, type TurnHistory } from '../records/history-store.ts';
import { findMessage } from '../records/messages.ts';
import type { MessageRow, RunSubject, TurnRow } from '../records/tables.ts';
import { assembleTools, readerOf } from '../tools/assemble-tools.ts';
import { earlierFiles, type FileBudget, filesOfConversation } from '../tools/conversation-files.ts';
import { describeMissingServer, recordMissingTools } from '../tools/missing-tools.ts';
import { type OpenItems, openItemsOf, presentOpenItems } from '../tools/open-items.ts';
import type { RunTools } from '../tools/ports.ts';
import type { AcceptedState } from '../turns/ports.ts';
import { usableModel } from '../turns/spending.ts';
import { type History, historyOf } from './history.ts';
import type { Engine, Schemas } from './ports.ts';

/** Everything that one run needs, read from the version, the user and the conversation. */
export type AssembledRun = {
  agentRun: AgentRun;
  tools: RunTools;
  model: PricedModel;
  memoryMode: MemoryMode;
  hasNotebooks: boolean;
  /** Where each earlier message ends, counted in exchanges like `covers` of a summary. */
  ends: History['ends'];
};

/** Rows that the accepting process has already read. */
type Known = Pick<AcceptedState, 'asked' | 'user'>;

/** The message that began the turn. A conversation that is deleted takes it along. */
async function messageOf(db: Database, { conversation_id, message_id }: TurnRow): Promise<MessageRow> {
  const message = await findMessage(db, conversation_id, message_id);
  if (!message) throw fail('conversation_not_found');
  return message;
}

export async function assembleRun(
  engine: Engine,
  subject: RunSubject,
  run: RunLease,
  {
    isFirstOfConversation,
    asked: knownAsked,
    user: known,
    sessions,
    signal,
  }: Known & { isFirstOfConversation: boolean; sessions: KeptSessions; signal: AbortSignal },
): Promise<AssembledRun> {
  const { db } = engine;
  const { turn, task } = subject;
  const tenant: Tenant = { orgId: turn.org_id, mode: turn.mode };
  const { manifest, content } = await versionOf(db, turn.deployment_id, turn.deployment_version);
  const fixed = turn.reads_newest ? null : content;
  const model = usableModel(engine.models, turn.mode, manifest.model);
  const fence = (task ?? turn).fence;
  const [user, memoryMode, notebooks, skills, asked, earlier] = await Promise.all([
    known ?? (turn.user_id === null ? null : findUser(db, tenant, turn.user_id)),
    memoryModeOf(db, { orgId: turn.org_id, mode: turn.mode }, manifest),
    notebooksOf(engine, subject, manifest),
    manifest.skills.length === 0 ? [] : readableSkills(db, turn.org_id, manifest.skills, fixed?.skills ?? null),
    knownAsked ?? messageOf(db, turn),
    isFirstOfConversation ? nothingEarlier : readHistory(db, turn),
  ]);
  const memory =
    memoryMode === 'none' || turn.request.test
      ? []
      : await engine.memory.promptFacts(tenant, { userId: turn.user_id, mode: memoryMode, query: asked.text });
  const { before, pending } = earlier;
  // Only replies handle open items. A task must not touch what else is open in the conversation.
  const open = task ? nothingOpen : openItemsOf(earlier.openTasks, pending);
  const files = await filesOfConversation(engine, tenant, turn.conversation_id, {
    known: turn.base_from === null ? [...before, asked] : null,
    mayHaveOutputs:
      turn.base_from !== null ||
      before.some(({ role }) => role === 'work') ||
      (before.length > 0 && manifest.mcp_servers.length > 0),
  });
  const saidByPerson = [...before.filter(({ role }) => role === 'user'), asked];
  const versioned = { manifest, fixed, fixedServers: content.servers };
  const read = { tenant, ...versioned, memoryMode, notebooks, skills, asked, files, open, saidByPerson };
  const tools = await assembleTools(engine, subject, run, { ...read, sessions }, signal);
  if (tools.missing.length > 0) await recordMissingTools(engine, subject, run, tools.missing);
  const moment = { now: Date.now(), timezone: user?.timezone ?? null, fence };
  const passing = passingText({
    ...moment,
    memory,
    context: asked.context,
    files: earlierFiles(files, asked),
    ...presentOpenItems(open, pending),
  });
  const takes = (kind: MediaKind) => engine.models.takes(model.id, kind);
  const history = await historyOf(
    engine,
    tenant,
    subject,
    { asked, before, passing, made: files.made },
    { fence, readsPdf: takes('pdf'), readsPictures: takes('image'), budget: fileBudgetOf(model) },
  );
  const schema = turn.request.output_schema;
  return {
    model,
    memoryMode,
    hasNotebooks: notebooks.length > 0,
    tools,
    ends: history.ends,
    agentRun: {
      model: model.id,
      contextTokens: model.context_tokens,
      maxOutputTokens: model.max_output_tokens,
      ...(model.input_tokens !== null && { inputTokens: model.input_tokens }),
      ...(manifest.reasoning !== undefined && { reasoning: manifest.reasoning }),
      system: assembleSystem({
        role: task ? 'worker' : 'orchestrator',
        instructions: manifest.instructions,
        language: manifest.language,
        locale: user?.locale ?? null,
        notebooks,
        skills,
        approvals: manifest.approvals,
        hasComputer: tools.hasComputer,
        repositories: repoFolders(manifest),
        hasBrowser: tools.hasBrowser,
        person: user ?? null,
        missingTools: tools.missing.map(describeMissingServer),
        toolServers: tools.servers,
        ...moment,
      }),
      history: history.messages,
      tools: tools.all,
      approvals: manifest.approvals,
      limits: manifest.limits,
      output: schema === undefined ? null : { schema, read: answerReader(await engine.openSchemas(), schema) },
      fence,
      signal,
    },
  };
}

const notebooksOf = ({ db }: Engine, { turn }: RunSubject, { notebooks }: Manifest) =>
  notebooks.length === 0
    ? []
    : readableNotebooks(db, { orgId: turn.org_id, notebookIds: notebooks, userId: readerOf(turn) });

const nothingEarlier: TurnHistory = { before: [], openTasks: [], pending: [] };
const nothingOpen: OpenItems = { work: [], questions: [] };

/** Earlier documents may fill an eighth of the context window. The byte limit keeps requests within vendor limits. */
const fileBudgetOf = ({ context_tokens, input_tokens }: PricedModel): FileBudget => ({
  characters: Math.floor((Math.min(context_tokens, input_tokens ?? context_tokens) * 3.5) / 8),
  files: 6,
  bytes: 12 * 1024 * 1024,
});

/** Reads the answer as JSON that matches the schema. */
function answerReader(schemas: Schemas, schema: JsonSchema) {
  return (text: string): { kind: 'ok'; data: unknown } | { kind: 'error'; message: string } => {
    const data = parsedJson(text);
    if (data === undefined) return { kind: 'error', message: 'It is not JSON.' };
    const validity = schemas.validate(schema, data);
    return validity.ok ? { kind: 'ok', data } : { kind: 'error', message: validity.message };
  };
}
