import type { InteractionDraft } from '@vestra/agent/interaction';
import type { JsonSchema, ToolDefinition } from '@vestra/agent/message';
import type { ToolAnswer } from '@vestra/agent/own-tool';
import { ownNameOf, type Tool } from '@vestra/agent/tool';
import type { AwayReason } from '@vestra/contract/missing-tools';
import type { Tenant } from '../../platform/caller.ts';
import type { Database } from '../../platform/db/pool.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import type { KeptSessions, McpClient } from '../mcp-client/mcp-client.ts';
import type { McpFailure } from '../mcp-client/server-answer.ts';
import type { Sample, TaskHandle } from '../mcp-client/server-requests.ts';
import type { OfferedTool } from '../mcp-client/tool-list.ts';
import type { Manifest } from '../versions/manifest.ts';
import { approvedToolsOf, standInsFor, toolsForModel } from './model-tools.ts';
import { createOfferedTools } from './offered-tools.ts';
import {
  type NamedServer,
  type ReachableServer,
  reachApps,
  reachServers,
  type ServerAccess,
  type ServerAway,
  type SignIns,
} from './server-access.ts';
import {
  type KeptQuestions,
  type NextQuestion,
  putQuestions,
  type QuestionOutcome,
  takeAnswer,
} from './server-questions.ts';
import { endOutages } from './store.ts';

/** A tool of a server, for one user. It holds no secret: a call fills them in anew. */
export type ServerTool = {
  tool: Tool;
  /** What the server says that a call costs. */
  priceUsd: number | null;
  /** Of an app it is the app's own id. */
  serverId: string;
  /** As the server calls it; `tool` has the name that may be shown. */
  name: string;
};

/** A server, or an app, whose tools are not there now. */
export type UnavailableServer = {
  serverId: string;
  slug: string;
  reason: AwayReason;
  /** For the org, not for the model. It names hosts and secrets, and shows no value of any. */
  message: string;
  /** Whether it is so for this user alone. */
  isPersonal: boolean;
};

export type ServerTools = {
  /**
   * Lists the tools of the company's servers and of the apps that the user is signed in to, side by side. One that cannot
   * be used is named, and the others go on. An app whose id is the slug of a listed server gives way to it.
   */
  load: (
    tenant: Tenant,
    wanted: {
      userId: string | null;
      servers: Manifest['mcp_servers'];
      /** Test traffic at the draft calls a server at the URL it has now, any other only at the URL in `servers`. */
      mayHaveMoved?: boolean;
      policies: Manifest['mcp_tool_policy'];
      /** Absent: none. */
      apps?: Manifest['apps'];
      /** What a test answers itself, as `<slug>.<tool>`: these are there also while their server is away. */
      played?: readonly string[];
      /** The tools whose calls a person said yes to and that are not called yet, by the names that models know them by. */
      approved?: () => Promise<readonly string[]>;
    },
    signal: AbortSignal,
  ) => Promise<{
    tools: ServerTool[];
    unavailable: UnavailableServer[];
    /** The apps that nobody has to sign in to. */
    signedIn: string[];
  }>;
  /**
   * Calls a tool that was loaded here, for the user it was loaded for. Whatever goes wrong is an output with `isError`.
   * `mustSignIn` says that nothing happened because the user is not signed in to the app any more; `asks`, that the tool wants
   * to know something from the person first, and is to be called again with what came of it; `underWay`, that the server goes
   * on with it by itself, and is to be asked again `following` that. Throws when the signal ends it.
   */
  call: (
    loaded: Pick<ServerTool, 'tool'>,
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    how?: HowToCall,
  ) => Promise<
    ToolAnswer & {
      mustSignIn?: { app: string };
      asks?: { draft: InteractionDraft; kept: unknown };
      underWay?: { handle: unknown; askAgainMs: number };
    }
  >;
  /** For the calls of one run, which closes them when it ends. */
  openSessions: () => KeptSessions;
  /** Tells the server that nobody waits any more for what it goes on with. */
  cancel: (loaded: Pick<ServerTool, 'tool'>, handle: unknown, signal: AbortSignal) => Promise<void>;
};

type HowToCall = {
  mayAsk: boolean;
  answered?: ({ kept: unknown } & QuestionOutcome) | undefined;
  /** The `underWay` of the attempt before. */
  following?: unknown;
  /** Answers what the server asks a model, where it may. */
  sample?: Sample | undefined;
  /** Those of the run. Absent: the call has a session for itself. */
  sessions?: KeptSessions | undefined;
};

type Dependencies = {
  db: Database;
  vault: Vault;
  client: McpClient;
  signIns: SignIns;
  /** Why a person must not be sent to this address; null where they may. */
  refuseAddress: (url: string) => string | null;
  now?: () => number;
};
/** What a call needs beyond what anybody is shown. */
type Origin = {
  tenant: Tenant;
  userId: string | null;
  of: { server: NamedServer } | { app: string };
  name: string;
  inputSchema: JsonSchema;
  isRepeatable: boolean;
  reads: OfferedTool['reads'];
};
type Loaded = { serverId: string; tools: ServerTool[]; away: ServerAway | null };

export function createServerTools({
  db,
  vault,
  client,
  signIns,
  refuseAddress,
  now = Date.now,
}: Dependencies): ServerTools {
  const offered = createOfferedTools({ client, now });
  const origins = new WeakMap<Tool, Origin>();
  // An offered tool belongs to one kept list, and so to one server and one set of secrets.
  const definitions = new WeakMap<OfferedTool, ToolDefinition>();

  function originOf(tool: Tool): Origin {
    const origin = origins.get(tool);
    if (!origin) throw new TypeError('This tool was not loaded here.');
    return origin;
  }

  async function reachOne({ tenant, userId, of }: Origin): Promise<ServerAccess | undefined> {
    if ('app' in of) return (await reachApps(signIns, tenant, userId, [of.app])).get(of.app);
    return (await reachServers({ db, vault }, tenant, userId, [of.server])).get(of.server.id);
  }

  async function toolsBehind(
    first: ServerAccess,
    origin: Pick<Origin, 'tenant' | 'userId' | 'of'>,
    policies: Manifest['mcp_tool_policy'],
    signal: AbortSignal,
  ): Promise<Loaded> {
    const serverId = 'server' in origin.of ? origin.of.server.id : origin.of.app;
    const attempt = await tried(first, (each) => offered.of(each.fingerprint, each.target, signal));
    if (attempt.away) return { serverId, tools: [], away: attempt.away };
    const { access, answer } = attempt;
    if (!answer.ok) return { serverId, tools: [], away: awayBy(answer, access) };
    const policy = 'server' in origin.of ? (policies[access.server.slug] ?? null) : null;
    const made = toolsForModel(answer.tools, access, { policy, definitions });
    for (const { tool, name, inputSchema, isRepeatable, reads } of made) {
      origins.set(tool, { ...origin, name, inputSchema, isRepeatable, reads });
    }
    // What an app says of prices is between it and its user: nothing of the org's is spent on its word.
    const priceOf = (priceUsd: number | null) => ('server' in origin.of ? priceUsd : null);
    const tools = made.map(({ tool, priceUsd, name }) => ({ tool, priceUsd: priceOf(priceUsd), serverId, name }));
    return { serverId, tools, away: null };
  }

  return {
    async load(
      tenant,
      { userId, servers, mayHaveMoved = false, policies, apps = [], played = [], approved = async () => [] },
      signal,
    ) {
      const named = servers.map(({ id, slug, url }) => ({ id, slug, url: mayHaveMoved ? null : url }));
      const [company, own] = await Promise.all([
        named.length === 0 ? new Map<string, ServerAccess>() : reachServers({ db, vault }, tenant, userId, named),
        reachApps(signIns, tenant, userId, apps),
      ]);
      const taken = new Set([...company.values()].map(({ server }) => server.slug));
      const besides = [...own].filter(([slug]) => !taken.has(slug));
      const loaded = await Promise.all([
        ...named.map(async ({ id, slug, url }): Promise<Loaded> => {
          const access = company.get(id);
          if (!access) return { serverId: id, tools: [], away: removed(slug ?? id) };
          return toolsBehind(access, { tenant, userId, of: { server: { id, url } } }, policies, signal);
        }),
        ...besides.map(([app, access]) => toolsBehind(access, { tenant, userId, of: { app } }, policies, signal)),
      ]);
      const there = loaded.filter((each) => each.away === null).map(({ serverId }) => serverId);
      if (there.length > 0) await endOutages(db, { ...tenant, userId }, there);
      const missing = loaded.flatMap(({ serverId, away }) => (away ? [{ ...away, serverId }] : []));
      const standIns = missing.flatMap(({ serverId, server }) =>
        standInsFor(played, { serverId, server, policy: policies[server.slug] ?? null }),
      );
      const isPlayed = (slug: string) => standIns.some(({ tool }) => tool.server === slug);
      const over = new Set(missing.flatMap(({ reason, server }) => (reason === 'sign_in_over' ? [server.slug] : [])));
      const awaited = over.size === 0 ? [] : await approved();
      const awaitingSignIn = [...over].flatMap((app) =>
        approvedToolsOf(app, awaited).map(({ tool, name }): ServerTool => {
          const { inputSchema } = tool.definition;
          origins.set(tool, { tenant, userId, of: { app }, name, inputSchema, isRepeatable: false, reads: undefined });
          return { tool, priceUsd: null, serverId: app, name };
        }),
      );
      return {
        tools: [...loaded.flatMap(({ tools }) => tools), ...standIns, ...awaitingSignIn],
        unavailable: missing
          .filter(({ server }) => !isPlayed(server.slug))
          .map(({ serverId, server, reason, message, isPersonal }) => ({
            serverId,
            slug: server.slug,
            reason,
            message,
            isPersonal,
          })),
        signedIn: [...own.keys()].filter((slug) => !over.has(slug)),
      };
    },

    async call({ tool }, args, signal, { mayAsk, answered, following, sample, sessions } = { mayAsk: false }) {
      const origin = originOf(tool);
      const { of, name, inputSchema, isRepeatable, reads } = origin;
      const asker = { slug: tool.server ?? '', tool: ownNameOf(tool), refuseAddress };
      let next = nextAfter(answered, following as TaskHandle | undefined, asker);
      // More than one only where the server asks what nobody may be asked.
      for (let round = 0; round < mostRounds; round++) {
        if (next.kind === 'ask') return { output: '', isError: true, asks: { draft: next.draft, kept: next.kept } };
        const { asking, notes, task } = next;
        const first = await reachOne(origin);
        if (!first && 'app' in of) return mustSignIn(of.app);
        if (!first) return failed('mcp_server_error', `The server \`${tool.server}\` was removed.`);
        const called = { name, arguments: args, inputSchema };
        const attempt = await tried(first, ({ server, target, hide, fingerprint }) => {
          const inSession = { signal, hide, sessions, ...(mayAsk && { asking }), ...(server.sampling && { sample }) };
          return reads
            ? client.readResources(target, reads(args), inSession)
            : client.callTool(target, called, {
                ...inSession,
                isRepeatable,
                following: task,
                onListChange: () => offered.forget(fingerprint),
              });
        });
        if (attempt.away?.reason === 'sign_in_over' && 'app' in of) return mustSignIn(of.app);
        if (attempt.away) {
          return failed('mcp_server_error', `The server \`${tool.server}\` cannot be called: ${attempt.away.message}`);
        }
        const { access, answer } = attempt;
        if (!answer.ok) return failed(answer.code, access.hide(answer.message));
        if ('underWay' in answer) return { output: '', isError: true, underWay: answer.underWay };
        if (!('asked' in answer)) {
          const { text, isError, media } = answer;
          return { output: [text, ...notes].join('\n'), isError, ...(media && { media }) };
        }
        next = putQuestions(answer.asked, asker, { answers: asking.answers, notes });
      }
      return failed('mcp_server_error', `The server \`${tool.server}\` asks the person again and again.`);
    },

    openSessions: () => client.keepSessions(),

    async cancel({ tool }, handle, signal) {
      const access = await reachOne(originOf(tool));
      if (access?.ok) await client.cancelCall(access.target, handle as TaskHandle, { signal });
    },
  };
}

/** What the call goes on with; an answer that the task has heard already is not told to it again. */
function nextAfter(
  answered: HowToCall['answered'],
  following: TaskHandle | undefined,
  asker: Parameters<typeof takeAnswer>[2],
): NextQuestion {
  const kept = answered?.kept as KeptQuestions | undefined;
  if (answered && kept && !following?.answered.includes(kept.asking)) return takeAnswer(kept, answered, asker);
  return { kind: 'go_on', asking: { answers: {}, given: {}, state: null }, notes: [], task: following };
}

const mostRounds = 4;

type Attempt<Answer> = { away: null; access: ReachableServer; answer: Answer } | { away: ServerAway };

/** What refuses the credentials has done nothing, so it is tried again with others, where there are others. */
async function tried<Answer extends { ok: boolean; isUnauthorized?: boolean }>(
  access: ServerAccess,
  ask: (access: ReachableServer) => Promise<Answer>,
): Promise<Attempt<Answer>> {
  if (!access.ok) return { away: access };
  const answer = await ask(access);
  if (answer.ok || !answer.isUnauthorized || access.refused === null) return { away: null, access, answer };
  return tried(await access.refused(), ask);
}

const awayBy = (failure: McpFailure, { server, hide, isPersonal }: ReachableServer): ServerAway => ({
  ok: false,
  server,
  reason: failure.isUnauthorized ? 'credentials_refused' : 'unreachable',
  message: hide(failure.message),
  isPersonal: failure.isUnauthorized === true && isPersonal,
});

const removed = (slug: string): ServerAway => ({
  ok: false,
  server: { slug, deny: [], require_approval: [], sampling: false },
  reason: 'removed',
  message: 'It was removed.',
  isPersonal: false,
});

const mustSignIn = (app: string) => ({
  output: 'The person is not signed in to this app any more.',
  isError: true,
  mustSignIn: { app },
});

const failed = (code: string, message: string) => ({ output: `${code}: ${message}`, isError: true });
