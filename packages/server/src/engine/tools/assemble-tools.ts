import { functionCallFor } from '@vestra/agent/approval';
import type { ToolCall } from '@vestra/agent/message';
import type { OwnTool } from '@vestra/agent/own-tool';
import { decisionOf, type Tool } from '@vestra/agent/tool';
import { fail } from '@vestra/contract/errors';
import { readToolInput } from '@vestra/contract/tool-input';
import type { KnownSkill } from '../../agents/skills/index.ts';
import {
  type KeptSessions,
  maxToolsAtOnce,
  type ServerTool,
  type UnavailableServer,
} from '../../agents/tool-servers/index.ts';
import type { FixedContent, Manifest } from '../../agents/versions/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Run } from '../../platform/jobs/run-owner.ts';
import { approvedTools, hasApprovedPlan, lastInputOf } from '../records/interactions.ts';
import type { MemoryMode } from '../records/memory-mode.ts';
import type { Subject } from '../records/subject.ts';
import type { MessageRow } from '../records/tables.ts';
import { calledTools, callsOfTool, rememberedIn } from '../records/trace-store.ts';
import type { MessageTool, RecordedCall, TestScript } from '../records/turn.ts';
import { type ConversationFiles, readConversationFile } from './conversation-files.ts';
import {
  askQuestion,
  type ConnectableApp,
  connectApp,
  connectDraft,
  handOffToWork,
  requestHandoff,
} from './interaction-tools.ts';
import { memoryTools, notebookTools, skillTools } from './knowledge-tools.ts';
import { type OpenMatters, openMatterTools } from './open-items.ts';
import type { RunTools, ToolParts, WorkComputer } from './ports.ts';
import { playedTools, pretendTools } from './simulated-tools.ts';
import { keepOutput, proposePlan, saveOutput, updatePlan } from './task-tools.ts';
import { asFirstSeen } from './tool-categories.ts';

type Parts = {
  tenant: Tenant;
  manifest: Manifest;
  /** What the run reads of notebooks and skills; null: their newest content. */
  fixed: FixedContent | null;
  memoryMode: MemoryMode;
  notebooks: readonly { id: string }[];
  skills: readonly KnownSkill[];
  asked: MessageRow;
  files: ConversationFiles;
  open: OpenMatters;
  /** The messages of the person that are not in the summary of the conversation. */
  saidByPerson: readonly MessageRow[];
  /** The sessions with tool servers that the calls of the run share. */
  sessions: KeptSessions;
};

export async function assembleTools(
  engine: ToolParts,
  subject: Subject,
  run: Run,
  parts: Parts,
  signal: AbortSignal,
): Promise<RunTools> {
  const { manifest, tenant } = parts;
  const mayChange = await mayChangeAnything(engine, subject);
  const { files, skills } = parts;
  const computer =
    subject.task &&
    (await engine.workComputers({ tenant, turn: subject.turn, manifest, skills, attachments: files.attached }));
  const browser = await browserToolsOf(engine, subject, run, parts);
  const { tools: servers, signedIn, unavailable } = await serverToolsOf(engine, subject, run, parts, signal);
  const apps = await connectable(engine, subject, manifest, { tenant, signedIn });
  const listed = ownTools(engine, subject, run, { ...parts, mayChange, computer, browser, apps });
  // A version that was saved before one of these names was the agent's own keeps its function.
  const declared = new Set(manifest.tools.map((entry) => entry.function));
  const own = new Map(
    listed.map((each) => [each.tool.definition.name, each] as const).filter(([name]) => !declared.has(name)),
  );
  const ofMessage = addedBy(subject.turn.request.tools ?? [], manifest);
  const { deployment_id: deploymentId, deployment_version: version } = subject.turn;
  const ofVersion = await asFirstSeen(engine.db, { deploymentId, version }, [
    ...functionsOf(manifest),
    ...servers.map((each) => askingAbove(manifest.limits.ask_above_usd, each)),
  ]);
  const byName = new Map(servers.map((each) => [each.tool.definition.name, each]));
  const serverOf = ({ origin, definition }: Tool) =>
    origin.from === 'server' ? byName.get(definition.name) : undefined;
  const known = [...[...own.values()].map(({ tool }) => tool), ...ofMessage.map(messageTool), ...ofVersion];
  const { all, leftOut } = withinRoom(mayChange ? known : known.filter(changesNothing));
  const tools: RunTools = {
    all,
    awaitsPlan: !mayChange,
    hasComputer: computer !== null,
    hasBrowser: browser.length > 0,
    missing: [...unavailable, ...crowdedOut(leftOut, servers)],
    priceOf: (tool) => serverOf(tool)?.priceUsd ?? null,
    async cancel(tool, underWay, ending) {
      const server = serverOf(tool);
      if (server) await engine.serverTools.cancel(server, underWay, ending);
    },
    async run(call, tool, runSignal, { isAnswered, underWay: following, sample }) {
      const given = call.arguments as Record<string, unknown>;
      const server = serverOf(tool);
      if (server) {
        const answered = isAnswered ? await lastInputOf(engine.db, run.runId, call.id) : undefined;
        // Nobody sits before a test.
        const how = { mayAsk: !subject.turn.request.test, answered, following, sample, sessions: parts.sessions };
        const { mustSignIn, asks, underWay, ...answer } = await engine.serverTools.call(server, given, runSignal, how);
        if (asks) return { kind: 'input', ...asks };
        if (underWay) return { kind: 'under_way', ...underWay };
        if (!mustSignIn) return { kind: 'result', ...answer };
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
  return pretendTools(test, tools, {
    remembered: () => rememberedIn(engine.db, conversationId),
    called: (name) => callsOfTool(engine.db, conversationId, name),
    recorded: (name) => recordedIn(engine, test, name),
  });
}

/** What a tool answered in the talk that is replayed; what a person said in its place is no answer of its own. */
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

/** A vendor refuses a request with too many tools. Those of servers give way, the last first: nobody knows how many there are. */
function withinRoom(tools: readonly Tool[]): { all: Tool[]; leftOut: Tool[] } {
  const isOfServer = ({ origin }: Tool) => origin.from === 'server';
  const room = Math.max(0, maxToolsAtOnce - tools.filter((tool) => !isOfServer(tool)).length);
  // One that may never be called takes nobody's place.
  const callable = tools.filter((tool) => isOfServer(tool) && decisionOf(tool) !== 'refuse');
  const leftOut = new Set(callable.slice(room));
  return { all: tools.filter((tool) => !leftOut.has(tool)), leftOut: [...leftOut] };
}

/** Servers of which the agent has not all tools, as it is told of those of which it has none. */
function crowdedOut(leftOut: readonly Tool[], servers: readonly ServerTool[]): UnavailableServer[] {
  const bySlug = Map.groupBy(leftOut, ({ server }) => server ?? '');
  return [...bySlug].map(([slug, tools]) => ({
    serverId: servers.find(({ tool }) => tool.server === slug)?.serverId ?? slug,
    slug,
    reason: 'too_many_tools',
    message: `${tools.length} of its tools are not offered, since an agent is offered ${maxToolsAtOnce} tools in all: deny those it does not need.`,
    isPersonal: false,
  }));
}

/** Work that was asked to show its plan first may change nothing until a person has said yes to one. */
async function mayChangeAnything({ db }: ToolParts, { turn, task }: Subject): Promise<boolean> {
  return !turn.request.plan || (task !== null && hasApprovedPlan(db, task.id));
}

/** Before the yes to a plan nothing may happen that changes anything. */
const changesNothing = ({ origin }: Tool) => (origin.from === 'function' ? origin.read_only : origin.isReadOnly);

function ownTools(
  engine: ToolParts,
  { turn, task }: Subject,
  run: Run,
  parts: Parts & {
    mayChange: boolean;
    computer: WorkComputer | null;
    browser: readonly OwnTool[];
    apps: readonly ConnectableApp[];
  },
): OwnTool[] {
  const { tenant, manifest, fixed, memoryMode, notebooks, skills, mayChange, computer, browser, apps } = parts;
  const { asked, files, open, saidByPerson } = parts;
  // In a test skills are read for real, and nothing is put on anybody's computer.
  const placing = turn.request.test ? null : computer;
  const { db, search, memory, routineTools } = engine;
  const { user_id: userId } = turn;
  const notebookIds = notebooks.map(({ id }) => id);
  return [
    askQuestion(),
    ...(task ? [requestHandoff(), saveOutput(engine, task, run, computer)] : [handOffToWork()]),
    ...openMatterTools(engine, { tenant, run, asked, conversationId: turn.conversation_id }, open),
    ...readConversationFile(engine, tenant, files),
    ...(computer?.tools ?? []),
    ...browser,
    ...(apps.length === 0 ? [] : [connectApp(apps, userId)]),
    ...(task ? [mayChange ? updatePlan(engine, task, run) : proposePlan()] : []),
    ...(notebookIds.length === 0
      ? []
      : notebookTools({
          db,
          search,
          reader: {
            orgId: tenant.orgId,
            notebookIds: manifest.notebooks,
            revisions: fixed?.notebooks ?? null,
            userId,
          },
        })),
    ...(skills.length === 0 ? [] : skillTools({ db, orgId: tenant.orgId, skills, computer: placing })),
    ...(turn.origin === 'interview' ? [] : routineTools({ tenant, turn, isPretend: turn.request.test !== undefined })),
    ...(memoryMode === 'none' ? [] : memoryTools({ memory, tenant, turn, mode: memoryMode, saidByPerson })),
  ];
}

async function browserToolsOf(
  engine: ToolParts,
  { turn, task }: Subject,
  run: Run,
  { tenant, manifest }: Parts,
): Promise<readonly OwnTool[]> {
  if (!task) return [];
  const save = (file: { name: string; bytes: Uint8Array }) => keepOutput(engine, task, run, file);
  return engine.workBrowsers.ofWork({ tenant, turn, task, manifest, save });
}

/** What a message adds. A function of the version is never another's to declare, whatever a turn was taken with. */
const addedBy = (ofMessage: readonly MessageTool[], { tools }: Manifest) =>
  ofMessage.filter(({ name }) => !tools.some((entry) => entry.function === name));

/** Whoever sent the message answers it: no address of the deployment's knows of it. */
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
  approver,
}: MessageTool): Tool {
  const tool: Tool = {
    definition: { name, description, inputSchema: input_schema },
    origin: { from: 'function', read_only, run_without_asking },
    server: null,
    approver: approver ?? 'user',
    effect: { kind: 'ask', answeredBy: 'tool', draft: (call) => functionCallFor(tool, call, timeout_s) },
  };
  return tool;
}

async function serverToolsOf(
  { db, serverTools }: ToolParts,
  { turn }: Subject,
  run: Run,
  { tenant, manifest, fixed }: Pick<Parts, 'tenant' | 'manifest' | 'fixed'>,
  signal: AbortSignal,
): ReturnType<ToolParts['serverTools']['load']> {
  const { mcp_servers: servers, mcp_tool_policy: policies } = manifest;
  // A test is nobody's own: what a person is signed in to is not called, and not even looked at.
  const { test } = turn.request;
  const apps = test || turn.origin === 'interview' ? [] : manifest.apps;
  if (servers.length === 0 && apps.length === 0) return { tools: [], signedIn: [], unavailable: [] };
  const played = test ? await toolsPlayedIn(db, test) : [];
  const approved = () => approvedTools(db, run.runId);
  const mayHaveMoved = fixed === null;
  const wanted = { userId: turn.user_id, servers, mayHaveMoved, policies, apps, played, approved };
  const loaded = await serverTools.load(tenant, wanted, signal);
  // What somebody's own credentials opened then has stand-ins for what it was asked; more of it would answer nothing.
  if (test?.replay_of !== undefined) return { ...loaded, unavailable: [] };
  const [away] = loaded.unavailable;
  if (test && away) throw missingInTest(away);
  return loaded;
}

/** As `<server>.<tool>`. */
async function toolsPlayedIn(db: ToolParts['db'], test: TestScript): Promise<string[]> {
  if (test.replay_of === undefined) return playedTools(test);
  return (await calledTools(db, test.replay_of)).flatMap((name) => {
    const [, slug, tool] = /^mcp__([a-z0-9-]+)__(.+)$/.exec(name) ?? [];
    return slug === undefined ? [] : [`${slug}.${tool}`];
  });
}

/** An agent without its tools is another one: what it does says nothing about the version. */
const missingInTest = ({ slug, message }: UnavailableServer) =>
  fail('mcp_server_error', {
    message: `The server \`${slug}\` is away. ${message} Bring it back, or play its tools with \`tool_results\` (\`${slug}.<tool>\`).`,
  });

/** The apps of the version that the person could connect. */
async function connectable(
  { apps }: ToolParts,
  { turn }: Subject,
  manifest: Manifest,
  { tenant, signedIn }: { tenant: Tenant; signedIn: readonly string[] },
): Promise<readonly ConnectableApp[]> {
  if (turn.origin === 'interview') return [];
  // A server of the company's that has an app's name stands in its place.
  const taken = [...signedIn, ...manifest.mcp_servers.map(({ slug }) => slug)];
  const isAllowed = (id: string) => manifest.apps === 'all' || manifest.apps.includes(id);
  return apps.connectable(tenant, ({ id }) => isAllowed(id) && !taken.includes(id));
}

/** What costs more than the version lets pass asks for the money first. */
function askingAbove(limitUsd: number | undefined, { tool, priceUsd }: ServerTool): Tool {
  if (limitUsd === undefined || priceUsd === null || priceUsd <= limitUsd) return tool;
  return { ...tool, asksCreditUsd: priceUsd };
}
