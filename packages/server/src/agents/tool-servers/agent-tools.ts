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
import type { FixedServers, Manifest } from '../versions/manifest.ts';
import { awayCall, failed, mustSignIn, removedCall } from './failed-call.ts';
import { approvedToolsOf, shownInstructions, simulatedTools, toolsForModel } from './model-tools.ts';
import { createOfferedTools } from './offered-tools.ts';
import {
  type NamedServer,
  type ReachableServer,
  reachApps,
  reachServers,
  type ServerAccess,
  type SignIns,
  type UnreachableServer,
} from './server-access.ts';
import {
  type KeptQuestions,
  type NextQuestion,
  nextQuestion,
  type QuestionOutcome,
  resumeWithAnswer,
} from './server-questions.ts';
import { endOutages } from './store.ts';

/** A tool of a server for one user. It holds no secret: each call reads the secrets again. */
export type ServerTool = {
  tool: Tool;
  /** The price of a call, declared by the server. */
  priceUsd: number | null;
  /** The id of the server or app. */
  serverId: string;
  /** The name on the server. `tool` has the name for the model. */
  name: string;
};

/** A server or app whose tools are unavailable. */
export type UnavailableServer = {
  serverId: string;
  slug: string;
  reason: AwayReason;
  /** For the org, not for the model. It names hosts and secrets, but no values. */
  message: string;
  /** True if it is unavailable for this user only. */
  isPersonal: boolean;
};

export type ServerTools = {
  /**
   * Lists the tools of company servers and of the user's apps in parallel. Unavailable ones are reported and do not
   * affect the others. If an app id equals the slug of a listed server, the server wins.
   */
  load: (
    tenant: Tenant,
    wanted: {
      userId: string | null;
      /** In a test: secrets of the company, by the names of the user's secrets that they replace. */
      standIns?: Readonly<Record<string, string>> | undefined;
      servers: Manifest['mcp_servers'];
      /**
       * True for test traffic of the draft, which calls servers as they are registered. Other traffic uses only the
       * URL in `servers` and the headers in `fixed`.
       */
      mayHaveMoved?: boolean;
      /** The headers that the version fixes. */
      fixed?: FixedServers | undefined;
      policies: Manifest['mcp_tool_policy'];
      /** Defaults to none. */
      apps?: Manifest['apps'];
      /** Simulated tools as `<slug>.<tool>`. They are available even if their server is not. */
      played?: readonly string[];
      /** The model names of tools with approved calls that are still pending. */
      approved?: () => Promise<readonly string[]>;
      /** True if nothing may be written, not even that a server answers again. */
      isTrial?: boolean;
    },
    signal: AbortSignal,
  ) => Promise<{
    tools: ServerTool[];
    unavailable: UnavailableServer[];
    /** The apps with a valid sign-in. */
    signedIn: string[];
    /** The texts of servers and apps on how to use them. They are data of others. */
    instructions: { name: string; instructions: string }[];
  }>;
  /**
   * Calls a loaded tool for the user it was loaded for. Failures are outputs with `isError`. `mustSignIn`: nothing
   * happened, because the sign-in to the app has ended. `asks`: the tool needs an answer from the person first; call it
   * again with that answer. `underWay`: the server continues the call as a task; ask again with `following`. Throws if
   * the signal aborts.
   */
  call: (
    loaded: Pick<ServerTool, 'tool'>,
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    how?: CallOptions,
  ) => Promise<
    ToolAnswer & {
      /** Bytes that the server returned and that a model cannot see. */
      files?: readonly { filename: string; content: Uint8Array }[];
      mustSignIn?: { app: string };
      asks?: { draft: InteractionDraft; kept: unknown };
      underWay?: { handle: unknown; askAgainMs: number };
      /** Why the server could not be called. Its tools are requested again before the next run. */
      away?: string;
      /** The call opened a session that the server keeps, so the server knows nothing of earlier calls. */
      isNewSession?: boolean;
    }
  >;
  /** Opens the sessions of a conversation or task for one run. Release or close them when the run ends. */
  openSessions: (owner: string) => KeptSessions;
  /** Cancels a task that is no longer needed. */
  cancel: (loaded: Pick<ServerTool, 'tool'>, handle: unknown, signal: AbortSignal) => Promise<void>;
};

type CallOptions = {
  mayAsk: boolean;
  answered?: ({ kept: unknown } & QuestionOutcome) | undefined;
  /** The `underWay` of the previous attempt. */
  following?: unknown;
  /** Answers sampling requests of the server, if it may send any. */
  sample?: Sample | undefined;
  /** The sessions of the run. Absent if the call needs a separate session. */
  sessions?: KeptSessions | undefined;
  /** Called with each report of progress, as one line. */
  onProgress?: ((text: string) => void) | undefined;
};

type Dependencies = {
  db: Database;
  vault: Vault;
  client: McpClient;
  signIns: SignIns;
  /** Returns why a person must not visit the address, or null if they may. */
  refuseAddress: (url: string) => string | null;
  now?: () => number;
};
/** The private data of a loaded tool, which calls need. */
type ToolOrigin = {
  tenant: Tenant;
  userId: string | null;
  standIns?: Readonly<Record<string, string>> | undefined;
  of: { server: NamedServer } | { app: string };
  name: string;
  inputSchema: JsonSchema;
  isRepeatable: boolean;
  reads: OfferedTool['reads'];
};
type LoadedServer = {
  serverId: string;
  tools: ServerTool[];
  away: UnreachableServer | null;
  instructions?: { name: string; instructions: string } | undefined;
};

export function createServerTools({
  db,
  vault,
  client,
  signIns,
  refuseAddress,
  now = Date.now,
}: Dependencies): ServerTools {
  const offered = createOfferedTools({ client, now });
  const origins = new WeakMap<Tool, ToolOrigin>();
  // An offered tool belongs to one cached list, and thus to one server and one set of secrets.
  const definitions = new WeakMap<OfferedTool, ToolDefinition>();

  function originOf(tool: Tool): ToolOrigin {
    const origin = origins.get(tool);
    if (!origin) throw new TypeError('This tool was not loaded here.');
    return origin;
  }

  async function reachOne({ tenant, userId, standIns, of }: ToolOrigin): Promise<ServerAccess | undefined> {
    if ('app' in of) return (await reachApps(signIns, tenant, userId, [of.app])).get(of.app);
    return (await reachServers({ db, vault }, tenant, { userId, standIns }, [of.server])).get(of.server.id);
  }

  async function loadTools(
    first: ServerAccess,
    origin: Pick<ToolOrigin, 'tenant' | 'userId' | 'standIns' | 'of'>,
    policies: Manifest['mcp_tool_policy'],
    signal: AbortSignal,
  ): Promise<LoadedServer> {
    const serverId = 'server' in origin.of ? origin.of.server.id : origin.of.app;
    const attempt = await callWithRetry(first, (each) => offered.of(each, signal));
    if (attempt.away) return { serverId, tools: [], away: attempt.away };
    const { access, answer } = attempt;
    if (!answer.ok) return { serverId, tools: [], away: unavailableBecause(answer, access) };
    const policy = 'server' in origin.of ? (policies[access.server.slug] ?? null) : null;
    const made = toolsForModel(answer.tools, access, { policy, definitions });
    for (const { tool, name, inputSchema, isRepeatable, reads } of made) {
      origins.set(tool, { ...origin, name, inputSchema, isRepeatable, reads });
    }
    // Prices of an app do not count: it must not spend the org's budget.
    const priceOf = (priceUsd: number | null) => ('server' in origin.of ? priceUsd : null);
    const tools = made.map(({ tool, priceUsd, name }) => ({ tool, priceUsd: priceOf(priceUsd), serverId, name }));
    const text = shownInstructions(answer.instructions, access.hide);
    return {
      serverId,
      tools,
      away: null,
      ...(text !== null && { instructions: { name: access.server.slug, instructions: text } }),
    };
  }

  return {
    async load(
      tenant,
      {
        userId,
        standIns,
        servers,
        mayHaveMoved = false,
        fixed = {},
        policies,
        apps = [],
        played = [],
        approved = async () => [],
        isTrial = false,
      },
      signal,
    ) {
      const named = servers.map(({ id, slug, url }) => {
        const { headers = null, isOwn = false } = fixed[id] ?? {};
        return { id, slug, fixed: mayHaveMoved && !isOwn ? null : { url, headers } };
      });
      const [company, own] = await Promise.all([
        named.length === 0
          ? new Map<string, ServerAccess>()
          : reachServers({ db, vault }, tenant, { userId, standIns }, named),
        reachApps(signIns, tenant, userId, apps),
      ]);
      const taken = new Set([...company.values()].map(({ server }) => server.slug));
      const besides = [...own].filter(([slug]) => !taken.has(slug));
      const loaded = await Promise.all([
        ...named.map(async ({ slug, ...server }): Promise<LoadedServer> => {
          const { id } = server;
          const access = company.get(id);
          if (!access) return { serverId: id, tools: [], away: removed(slug ?? id) };
          return loadTools(access, { tenant, userId, standIns, of: { server } }, policies, signal);
        }),
        ...besides.map(([app, access]) => loadTools(access, { tenant, userId, of: { app } }, policies, signal)),
      ]);
      const there = loaded.filter((each) => each.away === null).map(({ serverId }) => serverId);
      if (there.length > 0 && !isTrial) await endOutages(db, { ...tenant, userId }, there);
      const missing = loaded.flatMap(({ serverId, away }) => (away ? [{ ...away, serverId }] : []));
      const simulated = missing.flatMap(({ serverId, server }) =>
        simulatedTools(played, { serverId, server, policy: policies[server.slug] ?? null }),
      );
      const isSimulated = (slug: string) => simulated.some(({ tool }) => tool.server === slug);
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
        tools: [...loaded.flatMap(({ tools }) => tools), ...simulated, ...awaitingSignIn],
        unavailable: missing
          .filter(({ server }) => !isSimulated(server.slug))
          .map(({ serverId, server, reason, message, isPersonal }) => ({
            serverId,
            slug: server.slug,
            reason,
            message,
            isPersonal,
          })),
        signedIn: [...own.keys()].filter((slug) => !over.has(slug)),
        instructions: loaded.flatMap((each) => each.instructions ?? []),
      };
    },

    async call({ tool }, args, signal, how = { mayAsk: false }) {
      const { mayAsk, answered, following, sample, sessions, onProgress } = how;
      const session = { isNew: false };
      const onOpened = () => {
        session.isNew = true;
      };
      const origin = originOf(tool);
      const { of, name, inputSchema, isRepeatable, reads } = origin;
      const asker = { slug: tool.server ?? '', tool: ownNameOf(tool), refuseAddress };
      let next = nextStep(answered, following as TaskHandle | undefined, asker);
      // A second round only happens if the server asked a question that was refused.
      for (let round = 0; round < maxRounds; round++) {
        if (next.kind === 'ask') return { output: '', isError: true, asks: { draft: next.draft, kept: next.kept } };
        const { asking, notes, task } = next;
        const first = await reachOne(origin);
        if (!first && 'app' in of) return mustSignIn(of.app);
        if (!first) return removedCall(tool);
        const called = { name, arguments: args, inputSchema };
        const attempt = await callWithRetry(first, ({ server, target, hide, fingerprint }) => {
          const answering = { ...(mayAsk && { asking }), ...(server.sampling && { sample }) };
          const inSession = { signal, hide, sessions, onOpened, ...answering };
          return reads
            ? client.readResources(target, reads(args), inSession)
            : client.callTool(target, called, {
                ...inSession,
                isRepeatable,
                following: task,
                onProgress,
                onListChange: () => offered.forget(fingerprint),
              });
        });
        if (attempt.away?.reason === 'sign_in_over' && 'app' in of) return mustSignIn(of.app);
        if (attempt.away) return awayCall(tool, attempt.away.message);
        const { access, answer } = attempt;
        if (!answer.ok) {
          const message = access.hide(answer.message);
          // The cached list still offers the tools of a server that went down since.
          if (answer.isUnreachable) offered.forget(access.fingerprint);
          const isAway = answer.isUnreachable || answer.isUnauthorized;
          return { ...failed(answer.code, message), ...(isAway && { away: message }) };
        }
        if ('underWay' in answer) return { output: '', isError: true, underWay: answer.underWay };
        if (!('asked' in answer)) {
          const { text, isError, media, files } = answer;
          const output = [text, ...notes].join('\n');
          return {
            output,
            isError,
            ...(media && { media }),
            ...(files && { files }),
            ...(session.isNew && { isNewSession: true }),
          };
        }
        next = nextQuestion(answer.asked, asker, { answers: asking.answers, notes });
      }
      return failed('mcp_server_error', `The server \`${tool.server}\` asks the person again and again.`);
    },

    openSessions: (owner) => client.keepSessions(owner),

    async cancel({ tool }, handle, signal) {
      const access = await reachOne(originOf(tool));
      if (access?.ok) await client.cancelCall(access.target, handle as TaskHandle, { signal });
    },
  };
}

/** Returns the next step of the call. An answer that the task already has is not sent again. */
function nextStep(
  answered: CallOptions['answered'],
  following: TaskHandle | undefined,
  asker: Parameters<typeof resumeWithAnswer>[2],
): NextQuestion {
  const kept = answered?.kept as KeptQuestions | undefined;
  if (answered && kept && !following?.answered.includes(kept.asking)) return resumeWithAnswer(kept, answered, asker);
  return { kind: 'resume', asking: { answers: {}, given: {}, state: null }, notes: [], task: following };
}

const maxRounds = 4;

type Attempt<Answer> = { away: null; access: ReachableServer; answer: Answer } | { away: UnreachableServer };

/**
 * A server that refuses the credentials has done nothing, so the call is repeated with other credentials, if there are
 * any.
 */
async function callWithRetry<Answer extends { ok: boolean; isUnauthorized?: boolean }>(
  access: ServerAccess,
  ask: (access: ReachableServer) => Promise<Answer>,
): Promise<Attempt<Answer>> {
  if (!access.ok) return { away: access };
  const answer = await ask(access);
  if (answer.ok || !answer.isUnauthorized || access.refused === null) return { away: null, access, answer };
  return callWithRetry(await access.refused(), ask);
}

const unavailableBecause = (failure: McpFailure, { server, hide, isPersonal }: ReachableServer): UnreachableServer => ({
  ok: false,
  server,
  reason: failure.isUnauthorized ? 'credentials_refused' : 'unreachable',
  message: hide(failure.message),
  isPersonal: failure.isUnauthorized === true && isPersonal,
});

const removed = (slug: string): UnreachableServer => ({
  ok: false,
  server: { slug, deny: [], require_approval: [], sampling: false },
  reason: 'removed',
  message: 'It was removed.',
  isPersonal: false,
});
