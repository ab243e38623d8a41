import { functionCallFor } from '@vestra/agent/approval';
import type { ToolCall } from '@vestra/agent/message';
import type { OwnTool, ToolAnswer } from '@vestra/agent/own-tool';
import type { Tool } from '@vestra/agent/tool';
import { readToolInput } from '@vestra/contract/tool-input';
import type { KnownSkill } from '../../agents/skills/index.ts';
import type { KeptSessions, ServerTool } from '../../agents/tool-servers/index.ts';
import type { FixedContent, Manifest } from '../../agents/versions/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { RunLease } from '../../platform/jobs/run-lease.ts';
import type { MemoryMode } from '../records/conversations.ts';
import { approvedTools, hasApprovedPlan, lastInputOf } from '../records/interactions.ts';
import { passagesOfConversation } from '../records/knowledge-calls.ts';
import { calledTools, callsOfTool, rememberedIn, wasServerCalled } from '../records/run-steps.ts';
import type { MessageRow, MessageTool, RecordedCall, RunSubject, TestScript } from '../records/tables.ts';
import { fillActivity } from './activity.ts';
import { type ConversationFiles, readConversationFile, uploadsOf } from './conversation-files.ts';
import {
  askQuestion,
  type ConnectableApp,
  connectApp,
  connectDraft,
  handOffToWork,
  requestHandoff,
} from './interaction-tools.ts';
import { createPassageMarks, memoryTools, notebookTools, skillTools } from './knowledge-tools.ts';
import { limitMessageTools, limitServerTools, missingInTest, serversOverLimit } from './missing-tools.ts';
import { type OpenItems, openItemTools } from './open-items.ts';
import type { RunTools, TaskComputer, ToolParts } from './ports.ts';
import { scriptedTools, simulateTools } from './simulated-tools.ts';
import { proposePlan, saveOutput, storeOutput, updatePlan } from './task-tools.ts';
import { storeToolFiles } from './tool-calls.ts';
import { withFirstApprovals } from './tool-categories.ts';

type Parts = {
  tenant: Tenant;
  manifest: Manifest;
  /** Revisions of notebooks and skills that the run reads. Null reads the newest content. */
  fixed: FixedContent | null;
  /** Headers of tool servers that the version fixes. */
  fixedServers: FixedContent['servers'];
  memoryMode: MemoryMode;
  notebooks: readonly { id: string }[];
  skills: readonly KnownSkill[];
  asked: MessageRow;
  files: ConversationFiles;
  open: OpenItems;
  /** Messages of the person that are not in the summary of the conversation. */
  saidByPerson: readonly MessageRow[];
  /** Sessions with tool servers, shared by the calls of the run. */
  sessions: KeptSessions;
};

export async function assembleTools(
  engine: ToolParts,
  subject: RunSubject,
  run: RunLease,
  parts: Parts,
  signal: AbortSignal,
): Promise<RunTools> {
  const { manifest, tenant } = parts;
  const mayChange = await mayChangeAnything(engine, subject);
  const { files } = parts;
  const computer = subject.task && (await computerOf(engine, subject, parts));
  const browser = await browserToolsOf(engine, subject, run, parts);
  const loaded = await serverToolsOf(engine, subject, run, parts, signal);
  const { tools: servers, signedIn, unavailable } = loaded;
  const apps = await connectableApps(engine, subject, manifest, { tenant, signedIn });
  const hasServers = servers.length > 0;
  const listed = ownTools(engine, subject, run, { ...parts, mayChange, hasServers, computer, browser, apps });
  // An older version may declare a function under a name that is now reserved. Its function wins.
  const declared = new Set(manifest.tools.map((entry) => entry.function));
  const own = new Map(
    listed.map((each) => [each.tool.definition.name, each] as const).filter(([name]) => !declared.has(name)),
  );
  const ofMessage = limitMessageTools(
    declaredByMessage(subject.turn.request.tools ?? [], manifest),
    own.size + manifest.tools.length,
  );
  const { deployment_id: deploymentId, deployment_version: version } = subject.turn;
  const ofVersion = await withFirstApprovals(engine.db, { deploymentId, version }, [
    ...functionsOf(manifest),
    ...servers.map((each) => askAbovePrice(manifest.limits.ask_above_usd, each)),
  ]);
  const byName = new Map(servers.map((each) => [each.tool.definition.name, each]));
  const serverOf = ({ origin, definition }: Tool) =>
    origin.from === 'server' ? byName.get(definition.name) : undefined;
  const known = [...[...own.values()].map(({ tool }) => tool), ...ofMessage.offered.map(messageTool), ...ofVersion];
  const { all, leftOut } = limitServerTools(mayChange ? known : known.filter(changesNothing));
  const lost: RunTools['lost'] = {};
  // A test puts nothing on a computer.
  const ofRun = { files, computer: subject.turn.request.test ? null : computer };
  const tools: RunTools = {
    all,
    lost,
    awaitsPlan: !mayChange,
    hasComputer: computer !== null,
    hasBrowser: browser.length > 0,
    missing: [...unavailable, ...ofMessage.missing, ...serversOverLimit(leftOut, servers)],
    servers: loaded.instructions.filter(({ name }) => all.some(({ server }) => server === name)),
    priceOf: (tool) => serverOf(tool)?.priceUsd ?? null,
    async cancel(tool, underWay, ending) {
      const server = serverOf(tool);
      if (server) await engine.serverTools.cancel(server, underWay, ending);
    },
    async run(call, tool, runSignal, { isAnswered, underWay: following, sample, onProgress }) {
      const given = call.arguments as Record<string, unknown>;
      const server = serverOf(tool);
      if (server) {
        const answered = isAnswered ? await lastInputOf(engine.db, run.runId, call.id) : undefined;
        // Nobody can answer in a test.
        const mayAsk = !subject.turn.request.test;
        const how = { mayAsk, answered, following, sample, sessions: parts.sessions, onProgress };
        const answer = await engine.serverTools.call(server, given, runSignal, how);
        const { mustSignIn, asks, underWay, away } = answer;
        if (away !== undefined) lost.server ??= { slug: tool.server ?? '', message: away };
        if (asks) return { kind: 'input', ...asks };
        if (underWay) return { kind: 'under_way', ...underWay };
        if (!mustSignIn)
          return { kind: 'result', ...(await completeAnswer(engine, subject, run, call, tool, ofRun, answer)) };
        const app = engine.apps.find(mustSignIn.app) ?? { id: mustSignIn.app, name: mustSignIn.app };
        return { kind: 'connect', draft: connectDraft(app, subject.turn.user_id) };
      }
      const answer = await own.get(call.name)?.run?.(given, runSignal);
      return { kind: 'result', ...(answer ?? { output: 'This tool cannot be run.', isError: true }) };
    },
  };
  const { test } = subject.turn.request;
  if (!test) return tools;
  const { conversation_id: conversationId } = subject.turn;
  return simulateTools(test, tools, {
    remembered: () => rememberedIn(engine.db, conversationId),
    called: (name) => callsOfTool(engine.db, conversationId, name),
    recorded: (name) => recordedIn(engine, test, name),
  });
}

type ServerAnswer = Awaited<ReturnType<ToolParts['serverTools']['call']>>;

const newSessionNote =
  '[The server was called in a new session. What it had open from earlier calls, such as a page or a sign-in, may be gone.]';

/** Stores the files of a server's answer, and adds what the agent must know about its session. */
async function completeAnswer(
  engine: ToolParts,
  subject: RunSubject,
  run: RunLease,
  call: ToolCall,
  { server }: Tool,
  { files, computer }: { files: ConversationFiles; computer: TaskComputer | null },
  { output, isError, media, files: returned = [], isNewSession }: ServerAnswer,
): Promise<ToolAnswer> {
  const stored = returned.length === 0 ? null : await storeToolFiles(engine, subject, run, returned);
  const { files: kept = [], notes = [] } = stored ?? {};
  files.made.unshift(...kept);
  const placed = computer && kept.length > 0 ? computer.addUploads(kept) : [];
  const isReplaced =
    isNewSession === true &&
    (await wasServerCalled(engine.db, { server: server ?? '', callId: call.id, ...ownerOf(subject) }));
  const lines = [
    output,
    ...notes,
    ...placed.map((path) => `[It is on the computer too: ${path}]`),
    ...(isReplaced ? [newSessionNote] : []),
  ];
  return { output: lines.join('\n'), isError, ...(media && { media }) };
}

/** Sessions belong to a task, or to the replies of a conversation. */
const ownerOf = ({ turn, task }: RunSubject) => ({ taskId: task?.id ?? null, conversationId: turn.conversation_id });

/** Answers of a tool in the conversation that is replayed, without those that a person gave instead of the tool. */
async function recordedIn({ db }: ToolParts, { replay_of }: TestScript, name: string): Promise<RecordedCall[]> {
  const calls = replay_of === undefined ? [] : await callsOfTool(db, replay_of, name);
  return calls
    .filter(({ output, result_from }) => output !== null && result_from === 'tool')
    .map(({ arguments: given, output, is_error }) => ({
      tool: name,
      arguments: given as Record<string, unknown>,
      result: output,
      is_error: is_error === true,
    }));
}

/** A task that must show its plan first may change nothing until a person has approved a plan. */
async function mayChangeAnything({ db }: ToolParts, { turn, task }: RunSubject): Promise<boolean> {
  return !turn.request.plan || (task !== null && hasApprovedPlan(db, task.id));
}

const changesNothing = ({ origin }: Tool) => (origin.from === 'function' ? origin.read_only : origin.isReadOnly);

function ownTools(
  engine: ToolParts,
  { turn, task }: RunSubject,
  run: RunLease,
  parts: Parts & {
    mayChange: boolean;
    /** Tools of servers may return files. */
    hasServers: boolean;
    computer: TaskComputer | null;
    browser: readonly OwnTool[];
    apps: readonly ConnectableApp[];
  },
): OwnTool[] {
  const { tenant, manifest, fixed, memoryMode, notebooks, skills, mayChange, computer, browser, apps } = parts;
  const { asked, files, open, saidByPerson, hasServers } = parts;
  // A test reads skills but puts nothing on a computer.
  const skillComputer = turn.request.test ? null : computer;
  const { db, search, memory, routineTools } = engine;
  const { user_id: userId } = turn;
  const notebookIds = notebooks.map(({ id }) => id);
  return [
    askQuestion(),
    ...(task ? [requestHandoff(), saveOutput(engine, task, run, computer)] : [handOffToWork()]),
    ...openItemTools(engine, { tenant, run, asked, conversationId: turn.conversation_id }, open),
    ...readConversationFile(engine, { tenant, conversationId: turn.conversation_id }, files, { mayGrow: hasServers }),
    ...(computer?.tools ?? []),
    ...browser,
    ...(apps.length === 0 ? [] : [connectApp(apps, userId)]),
    ...(task ? [mayChange ? updatePlan(engine, task, run) : proposePlan()] : []),
    ...(notebookIds.length === 0
      ? []
      : notebookTools({
          db,
          search,
          marks: createPassageMarks(async () =>
            (await passagesOfConversation(db, turn.conversation_id, run.runId)).map(
              ({ mark, notebook_id, document_id, position, from }) => ({
                mark,
                notebookId: notebook_id,
                documentId: document_id,
                position,
                ...(from !== undefined && { from }),
              }),
            ),
          ),
          reader: {
            orgId: tenant.orgId,
            notebookIds: manifest.notebooks,
            revisions: fixed?.notebooks ?? null,
            userId: readerOf(turn),
          },
        })),
    ...(skills.length === 0 ? [] : skillTools({ db, orgId: tenant.orgId, skills, computer: skillComputer })),
    ...(turn.origin === 'interview'
      ? []
      : routineTools({ tenant, turn, isSimulated: turn.request.test !== undefined })),
    ...(memoryMode === 'none' ? [] : memoryTools({ memory, tenant, turn, mode: memoryMode, saidByPerson })),
  ];
}

async function computerOf(engine: ToolParts, { turn }: RunSubject, parts: Parts): Promise<TaskComputer | null> {
  const { tenant, manifest, skills, files } = parts;
  const uploads = await uploadsOf(engine, { tenant, conversationId: turn.conversation_id }, files);
  return engine.taskComputers({ tenant, turn, manifest, skills, uploads });
}

async function browserToolsOf(
  engine: ToolParts,
  { turn, task }: RunSubject,
  run: RunLease,
  { tenant, manifest }: Parts,
): Promise<readonly OwnTool[]> {
  if (!task) return [];
  const save = (file: { name: string; bytes: Uint8Array }) => storeOutput(engine, task, run, file);
  return engine.taskBrowsers.forTask({ tenant, turn, task, manifest, save });
}

/** Tools that the message declares. A message cannot replace a function of the version. */
const declaredByMessage = (ofMessage: readonly MessageTool[], { tools }: Manifest) =>
  ofMessage.filter(({ name }) => !tools.some((entry) => entry.function === name));

/** The sender of the message answers the call. It is never sent to the deployment's function endpoint. */
function messageTool(sent: MessageTool): Tool {
  const tool = functionTool(sent);
  const draft = (call: ToolCall) => {
    const waits = functionCallFor(tool, call, sent.timeout_s);
    return { ...waits, details: { ...waits.details, declared_by: 'message' } };
  };
  return { ...tool, effect: { kind: 'ask', answeredBy: 'tool', draft } };
}

function functionsOf({ tools }: Manifest): Tool[] {
  return tools
    .map(({ function: name, input, ...rest }) => ({ ...rest, name, input_schema: readToolInput(input).schema }))
    .map(functionTool);
}

function functionTool({
  name,
  description,
  input_schema,
  timeout_s,
  read_only,
  run_without_asking,
  activity,
  approver,
}: MessageTool & { activity?: string | undefined }): Tool {
  const draft = (call: ToolCall) => {
    const waits = functionCallFor(tool, call, timeout_s);
    return activity === undefined ? waits : { ...waits, progress: fillActivity(activity, call.arguments) };
  };
  const tool: Tool = {
    definition: { name, description, inputSchema: input_schema },
    origin: { from: 'function', read_only, run_without_asking },
    server: null,
    approver: approver ?? 'user',
    effect: { kind: 'ask', answeredBy: 'tool', draft },
  };
  return tool;
}

async function serverToolsOf(
  { db, serverTools }: ToolParts,
  { turn }: RunSubject,
  run: RunLease,
  { tenant, manifest, fixed, fixedServers }: Pick<Parts, 'tenant' | 'manifest' | 'fixed' | 'fixedServers'>,
  signal: AbortSignal,
): ReturnType<ToolParts['serverTools']['load']> {
  const { mcp_servers: servers, mcp_tool_policy: policies } = manifest;
  // A test belongs to no user, so it must not use the apps of one.
  const { test } = turn.request;
  const apps = test || turn.origin === 'interview' ? [] : manifest.apps;
  if (servers.length === 0 && apps.length === 0) return { tools: [], signedIn: [], unavailable: [], instructions: [] };
  const played = test ? await toolsScriptedIn(db, test) : [];
  const approved = () => approvedTools(db, run.runId);
  const mayHaveMoved = fixed === null;
  const ofServers = { servers, mayHaveMoved, fixed: fixedServers, policies };
  const wanted = { userId: turn.user_id, standIns: test?.as?.secrets, ...ofServers, apps, played, approved };
  const loaded = await serverTools.load(tenant, wanted, signal);
  // A replay uses recorded answers, so an unreachable server does not matter.
  if (test?.replay_of !== undefined) return { ...loaded, unavailable: [] };
  const [away] = loaded.unavailable;
  if (test && away) throw missingInTest(away);
  return loaded;
}

/** Names as `<server>.<tool>`. */
async function toolsScriptedIn(db: ToolParts['db'], test: TestScript): Promise<string[]> {
  if (test.replay_of === undefined) return scriptedTools(test);
  return (await calledTools(db, test.replay_of)).flatMap((name) => {
    const [, slug, tool] = /^mcp__([a-z0-9-]+)__(.+)$/.exec(name) ?? [];
    return slug === undefined ? [] : [`${slug}.${tool}`];
  });
}

/** The user whose notebooks a turn reads. A test has no user, but may read as one. */
export const readerOf = ({
  user_id,
  request: { test },
}: Pick<RunSubject['turn'], 'user_id' | 'request'>): string | null => (test ? (test.as?.user_id ?? null) : user_id);

/** Apps of the version that the person can still connect. */
async function connectableApps(
  { apps }: ToolParts,
  { turn }: RunSubject,
  manifest: Manifest,
  { tenant, signedIn }: { tenant: Tenant; signedIn: readonly string[] },
): Promise<readonly ConnectableApp[]> {
  if (turn.origin === 'interview') return [];
  // A server of the org replaces an app of the same name.
  const taken = [...signedIn, ...manifest.mcp_servers.map(({ slug }) => slug)];
  const isAllowed = (id: string) => manifest.apps === 'all' || manifest.apps.includes(id);
  return apps.connectable(tenant, ({ id }) => isAllowed(id) && !taken.includes(id));
}

/** A call above the version's price limit needs approval of its price. */
function askAbovePrice(limitUsd: number | undefined, { tool, priceUsd }: ServerTool): Tool {
  if (limitUsd === undefined || priceUsd === null || priceUsd <= limitUsd) return tool;
  return { ...tool, asksCreditUsd: priceUsd };
}
