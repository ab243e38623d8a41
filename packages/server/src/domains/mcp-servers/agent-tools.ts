import type { InteractionDraft } from '@vestra/agent/interaction';
import type { JsonSchema, ToolDefinition } from '@vestra/agent/message';
import type { ToolAnswer } from '@vestra/agent/own-tool';
import { ownNameOf, type Tool } from '@vestra/agent/tool';
import type { AwayReason } from '@vestra/contract/missing-tools';
import type { McpFailure } from '../../adapters/mcp-client/failure.ts';
import type { OfferedTool } from '../../adapters/mcp-client/list-tools.ts';
import type { McpClient } from '../../adapters/mcp-client/mcp-client.ts';
import type { Vault } from '../../adapters/secrets/vault.ts';
import type { Tenant } from '../../caller.ts';
import type { Database } from '../../db/pool.ts';
import type { Manifest } from '../deployments/api.ts';
import { cutText } from './cut-text.ts';
import { createOfferedTools } from './offered-tools.ts';
import { endOutages } from './outage-store.ts';
import {
  type KeptQuestions,
  type NextQuestion,
  putQuestions,
  type QuestionOutcome,
  takeAnswer,
} from './put-question.ts';
import type { Away, Reach, ServerRules } from './reach.ts';
import { reachApps } from './reach-apps.ts';
import { reachServers } from './reach-servers.ts';
import { isTooLarge, schemaLeftOut, shownDescription } from './shown-tool.ts';
import type { SignIns } from './sign-ins.ts';
import { standInsFor } from './stand-in.ts';
import { modelToolName } from './tool-name.ts';

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
      policies: Manifest['mcp_tool_policy'];
      /** Absent: none. */
      apps?: Manifest['apps'];
      /** What a test answers itself, as `<slug>.<tool>`: these are there also while their server is away. */
      played?: readonly string[];
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
   * to know something from the person first, and is to be called again with what came of it. Throws when the signal ends it.
   */
  call: (
    loaded: Pick<ServerTool, 'tool'>,
    args: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    asking?: { mayAsk: boolean; answered?: ({ kept: unknown } & QuestionOutcome) | undefined },
  ) => Promise<ToolAnswer & { mustSignIn?: { app: string }; asks?: { draft: InteractionDraft; kept: unknown } }>;
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
type Reached = Extract<Reach, { ok: true }>;
/** What a call needs beyond what anybody is shown. */
type Origin = {
  tenant: Tenant;
  userId: string | null;
  of: { server: string } | { app: string };
  name: string;
  inputSchema: JsonSchema;
  isRepeatable: boolean;
};
type Policy = Manifest['mcp_tool_policy'][string];
/** What one server has to offer, or why nothing. */
type Loaded = { serverId: string; tools: ServerTool[]; away: Away | null };

export function createServerTools({
  db,
  vault,
  client,
  signIns,
  refuseAddress,
  now = Date.now,
}: Dependencies): ServerTools {
  const offeredBy = createOfferedTools({ client, now });
  const origins = new WeakMap<Tool, Origin>();
  // An offered tool belongs to one kept list, and so to one server and one set of secrets.
  const definitions = new WeakMap<OfferedTool, ToolDefinition>();

  async function reachOne({ tenant, userId, of }: Origin): Promise<Reach | undefined> {
    if ('app' in of) return (await reachApps(signIns, tenant, userId, [of.app])).get(of.app);
    return (await reachServers({ db, vault }, tenant, userId, [of.server])).get(of.server);
  }

  async function toolsBehind(
    first: Reach,
    origin: Omit<Origin, 'name' | 'inputSchema' | 'isRepeatable'>,
    policies: Manifest['mcp_tool_policy'],
    signal: AbortSignal,
  ): Promise<Loaded> {
    const serverId = 'server' in origin.of ? origin.of.server : origin.of.app;
    const attempt = await tried(first, (each) => offeredBy(each.fingerprint, each.target, signal));
    if (attempt.away) return { serverId, tools: [], away: attempt.away };
    const { reach, answer } = attempt;
    if (!answer.ok) return { serverId, tools: [], away: awayBy(answer, reach) };
    const policy = 'server' in origin.of ? (policies[reach.server.slug] ?? null) : null;
    const made = toolsOf(answer.tools, reach, { policy, definitions });
    for (const { tool, name, inputSchema, isRepeatable } of made) {
      origins.set(tool, { ...origin, name, inputSchema, isRepeatable });
    }
    // What an app says of prices is between it and its user: nothing of the org's is spent on its word.
    const priceOf = (priceUsd: number | null) => ('server' in origin.of ? priceUsd : null);
    const tools = made.map(({ tool, priceUsd, name }) => ({ tool, priceUsd: priceOf(priceUsd), serverId, name }));
    return { serverId, tools, away: null };
  }

  return {
    async load(tenant, { userId, servers, policies, apps = [], played = [] }, signal) {
      const ids = servers.map(({ id }) => id);
      const [company, own] = await Promise.all([
        ids.length === 0 ? new Map<string, Reach>() : reachServers({ db, vault }, tenant, userId, ids),
        reachApps(signIns, tenant, userId, apps),
      ]);
      const taken = new Set([...company.values()].map(({ server }) => server.slug));
      const besides = [...own].filter(([slug]) => !taken.has(slug));
      const loaded = await Promise.all([
        ...servers.map(async ({ id, slug }): Promise<Loaded> => {
          const reach = company.get(id);
          if (!reach) return { serverId: id, tools: [], away: removed(slug ?? id) };
          return toolsBehind(reach, { tenant, userId, of: { server: id } }, policies, signal);
        }),
        ...besides.map(([app, reach]) => toolsBehind(reach, { tenant, userId, of: { app } }, policies, signal)),
      ]);
      const there = loaded.filter((each) => each.away === null).map(({ serverId }) => serverId);
      if (there.length > 0) await endOutages(db, { ...tenant, userId }, there);
      const missing = loaded.flatMap(({ serverId, away }) => (away ? [{ ...away, serverId }] : []));
      const standIns = missing.flatMap(({ serverId, server }) =>
        standInsFor(played, { serverId, server, policy: policies[server.slug] ?? null }),
      );
      const isPlayed = (slug: string) => standIns.some(({ tool }) => tool.server === slug);
      const over = new Set(missing.flatMap(({ reason, server }) => (reason === 'sign_in_over' ? [server.slug] : [])));
      return {
        tools: [...loaded.flatMap(({ tools }) => tools), ...standIns],
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

    async call({ tool }, args, signal, { mayAsk, answered } = { mayAsk: false }) {
      const origin = origins.get(tool);
      if (!origin) throw new TypeError('This tool was not loaded here.');
      const { of, name, inputSchema, isRepeatable } = origin;
      const asker = { slug: tool.server ?? '', tool: ownNameOf(tool), refuseAddress };
      let next: NextQuestion = answered
        ? takeAnswer(answered.kept as KeptQuestions, answered, asker)
        : { kind: 'go_on', asking: { answers: {}, state: null }, notes: [] };
      // More than one only where the server asks what nobody may be asked.
      for (let round = 0; round < mostRounds; round++) {
        if (next.kind === 'ask') return { output: '', isError: true, asks: { draft: next.draft, kept: next.kept } };
        const { asking, notes } = next;
        const first = await reachOne(origin);
        if (!first && 'app' in of) return mustSignIn(of.app);
        if (!first) return failed('mcp_server_error', `The server \`${tool.server}\` was removed.`);
        const called = { name, arguments: args, inputSchema };
        const attempt = await tried(first, ({ target, hide }) =>
          client.callTool(target, called, { signal, hide, isRepeatable, ...(mayAsk && { asking }) }),
        );
        if (attempt.away?.reason === 'sign_in_over' && 'app' in of) return mustSignIn(of.app);
        if (attempt.away) {
          return failed('mcp_server_error', `The server \`${tool.server}\` cannot be called: ${attempt.away.message}`);
        }
        const { reach, answer } = attempt;
        if (!answer.ok) return failed(answer.code, reach.hide(answer.message));
        if (!('asked' in answer)) {
          const { text, isError, media } = answer;
          return { output: [text, ...notes].join('\n'), isError, ...(media && { media }) };
        }
        next = putQuestions(answer.asked, asker, { answers: asking.answers, notes });
      }
      return failed('mcp_server_error', `The server \`${tool.server}\` asks the person again and again.`);
    },
  };
}

const mostRounds = 4;

type Attempt<Answer> = { away: null; reach: Reached; answer: Answer } | { away: Away };

/** What refuses the credentials has done nothing, so it is tried again with others, where there are others. */
async function tried<Answer extends { ok: boolean; isUnauthorized?: boolean }>(
  reach: Reach,
  ask: (reach: Reached) => Promise<Answer>,
): Promise<Attempt<Answer>> {
  if (!reach.ok) return { away: reach };
  const answer = await ask(reach);
  if (answer.ok || !answer.isUnauthorized || reach.refused === null) return { away: null, reach, answer };
  return tried(await reach.refused(), ask);
}

const awayBy = (failure: McpFailure, { server, hide, isPersonal }: Reached): Away => ({
  ok: false,
  server,
  reason: failure.isUnauthorized ? 'credentials_refused' : 'unreachable',
  message: hide(failure.message),
  isPersonal: failure.isUnauthorized === true && isPersonal,
});

const removed = (slug: string): Away => ({
  ok: false,
  server: { slug, deny: [], require_approval: [] },
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

type Known = { policy: Policy | null; definitions: WeakMap<OfferedTool, ToolDefinition> };

type MadeTool = {
  tool: Tool;
  priceUsd: number | null;
  name: string;
  inputSchema: JsonSchema;
  isRepeatable: boolean;
};

/** A name that the server lists twice, or that reads like another before the model, counts once: the first. */
function toolsOf(offered: readonly OfferedTool[], reach: Reached, known: Known): MadeTool[] {
  const byName = new Map<string, MadeTool>();
  for (const each of offered) {
    const tool = toolOf(each, reach, known);
    const { name, inputSchema, priceUsd, isRepeatable } = each;
    if (byName.has(tool.definition.name)) continue;
    byName.set(tool.definition.name, { tool, priceUsd, name, inputSchema, isRepeatable });
  }
  return [...byName.values()];
}

const longestName = 128;

function toolOf(offered: OfferedTool, { server, hide }: Reached, { policy, definitions }: Known): Tool {
  const definition = definitions.get(offered) ?? definitionOf(offered, server.slug, hide);
  definitions.set(offered, definition);
  const { name, isReadOnly } = offered;
  const shown = cutText(hide(name), longestName);
  return {
    definition,
    origin: { from: 'server', name: shown, ...ruledAs(shown, name, server, policy), isReadOnly },
    server: server.slug,
    approver: policy?.approver ?? 'user',
    effect: { kind: 'run' },
  };
}

const definitionOf = (
  { name, description, inputSchema }: OfferedTool,
  slug: string,
  hide: (text: string) => string,
): ToolDefinition => ({
  name: modelToolName(slug, hide(name)),
  description: isTooLarge(inputSchema)
    ? `${shownDescription(hide(description))} ${schemaLeftOut}`.trim()
    : shownDescription(hide(description)),
  inputSchema: shownSchema(inputSchema, hide),
});

/** The lists hold own names: a tool whose name is shown otherwise keeps the rules of its own. */
function ruledAs(shown: string, name: string, server: ServerRules, policy: Policy | null) {
  const floor = { deny: server.deny, require_approval: server.require_approval };
  if (shown === name) return { floor, policy };
  const renamed = (list: readonly string[]) => (list.includes(name) ? [shown] : []);
  return {
    floor: { deny: renamed(floor.deny), require_approval: renamed(floor.require_approval) },
    policy: policy && {
      ...policy,
      deny: renamed(policy.deny),
      require_approval: renamed(policy.require_approval),
      run_without_asking: renamed(policy.run_without_asking),
    },
  };
}

/** One that is larger than any model reads is left open: the server checks its arguments itself. */
function shownSchema(schema: JsonSchema, hide: (text: string) => string): JsonSchema {
  if (isTooLarge(schema)) return { type: 'object' };
  return withHidden(schema, hide) as JsonSchema;
}

/** Words of the schema language are not touched: a secret that reads `string` would break it. */
const structural = new Set(['type', 'format', 'required', '$ref', '$schema', '$id', '$anchor']);

function withHidden(value: unknown, hide: (text: string) => string): unknown {
  if (typeof value === 'string') return hide(value);
  if (Array.isArray(value)) return value.map((each) => withHidden(each, hide));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const isStructural = structural.has(key) && (typeof inner === 'string' || Array.isArray(inner));
      return [key, isStructural ? inner : withHidden(inner, hide)];
    }),
  );
}
