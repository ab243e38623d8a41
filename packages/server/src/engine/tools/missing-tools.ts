import { isDeepStrictEqual } from 'node:util';
import { decisionOf, type Tool } from '@vestra/agent/tool';
import { fail } from '@vestra/contract/errors';
import type { AwayReason, MissingTool } from '@vestra/contract/missing-tools';
import {
  beginOutage,
  maxToolsAtOnce,
  type ServerTool,
  type UnavailableServer,
} from '../../agents/tool-servers/index.ts';
import type { RunLease } from '../../platform/jobs/run-lease.ts';
import { changeConversation } from '../records/change.ts';
import { publishRejectedTool, publishUnavailableServer } from '../records/publish.ts';
import type { MessageTool, RunSubject } from '../records/tables.ts';
import { findTask, updateTask } from '../records/tasks.ts';
import { findTurn, updateTurn } from '../records/turns.ts';
import type { ToolParts } from './ports.ts';

/**
 * Stores with the run which servers' tools it lacks, and publishes each outage that was not published yet. A test
 * publishes nothing, so that the event names the first real user who meets the outage.
 */
export async function recordMissingTools(
  engine: ToolParts,
  { turn, task }: RunSubject,
  run: RunLease,
  missing: readonly UnavailableServer[],
): Promise<void> {
  const shown: MissingTool[] = missing.map(({ slug, reason, message }) => ({ server: slug, reason, message }));
  // A fixed order prevents a deadlock between two conversations that find the same servers unreachable.
  const ordered = missing.toSorted((one, other) => (one.serverId < other.serverId ? -1 : 1));
  await changeConversation(engine, turn.conversation_id, run, async (change) => {
    if (!isDeepStrictEqual((task ?? turn).missing_tools, shown)) {
      if (task) await updateTask(change.tx, task, { missing_tools: shown });
      else await updateTurn(change.tx, turn.id, { missing_tools: shown });
    }
    if (change.conversation.is_hidden) return;
    const whose = { orgId: turn.org_id, mode: turn.mode, userId: turn.user_id };
    for (const each of ordered) {
      // This is no outage: it stays so with every message until somebody changes the configuration.
      if (each.reason === 'too_many_tools') continue;
      if (await beginOutage(change.tx, whose, each)) publishUnavailableServer(change, { turn, task }, each);
    }
  });
}

/** Stores with the run, and reports on its stream, a tool that the model's provider rejected. */
export async function recordRejectedTool(
  engine: ToolParts,
  { turn, task }: RunSubject,
  run: RunLease,
  { server, message }: { server: string; message: string },
): Promise<void> {
  await changeConversation(engine, turn.conversation_id, run, async (change) => {
    const tenant = { orgId: turn.org_id, mode: turn.mode };
    const current = task ? await findTask(change.tx, tenant, task.id) : await findTurn(change.tx, turn.id);
    const known = current?.missing_tools ?? [];
    const entry: MissingTool = { server, reason: 'rejected_by_provider', message };
    // A run that another process continues meets the rejection again.
    if (known.some((each) => isDeepStrictEqual(each, entry))) return;
    const missing_tools = [...known, entry];
    if (task) await updateTask(change.tx, task, { missing_tools });
    else await updateTurn(change.tx, turn.id, { missing_tools });
    if (!change.conversation.is_hidden) publishRejectedTool(change, { turn, task }, server);
  });
}

/** The line for the model. It may repeat it to the person, so it has no address and no name of a secret. */
export const describeMissingServer = ({ slug, reason }: UnavailableServer) => `\`${slug}\`: ${reasonTexts[reason]}`;

const reasonTexts: Record<AwayReason, string> = {
  unreachable: 'it cannot be reached just now.',
  credentials_refused: 'it rejects the credentials.',
  secret_missing: 'the company has not finished setting it up.',
  user_secret_missing: 'it needs a credential of the person’s own, which has not been stored for them.',
  secret_unusable: 'a credential that is stored for it cannot be used.',
  sign_in_over: 'the person’s sign-in to it is over; they must connect it again.',
  removed: 'the company has removed it.',
  too_many_tools: 'you have only some of its tools, since there are more than you can be given at once.',
  rejected_by_provider: 'you cannot be given one of its tools.',
};

/**
 * Vendors refuse a request with too many tools. Servers may offer any number, so each gets an equal share, and what a
 * small server leaves goes to the larger ones. The last tools of a server are dropped first.
 */
export function limitServerTools(tools: readonly Tool[]): { all: Tool[]; leftOut: Tool[] } {
  const isOfServer = ({ origin }: Tool) => origin.from === 'server';
  const maxServerTools = Math.max(0, maxToolsAtOnce - tools.filter((tool) => !isOfServer(tool)).length);
  // A tool that is always refused is not offered to the model, so it does not count.
  const callable = tools.filter((tool) => isOfServer(tool) && decisionOf(tool) !== 'refuse');
  const byServer = [...Map.groupBy(callable, ({ server }) => server).values()];
  let left = maxServerTools;
  const leftOut = new Set(
    byServer
      .toSorted((one, other) => one.length - other.length)
      .flatMap((ofServer, at) => {
        const share = Math.min(ofServer.length, Math.floor(left / (byServer.length - at)));
        left -= share;
        return ofServer.slice(share);
      }),
  );
  return { all: tools.filter((tool) => !leftOut.has(tool)), leftOut: [...leftOut] };
}

/**
 * The functions of a message that fit beside the `others` of the agent and its version. A client may send as many as a
 * vendor accepts in all.
 */
export function limitMessageTools(
  sent: readonly MessageTool[],
  others: number,
): { offered: readonly MessageTool[]; missing: UnavailableServer[] } {
  const offered = sent.slice(0, Math.max(0, maxToolsAtOnce - others));
  if (offered.length === sent.length) return { offered, missing: [] };
  const message = `${sent.length - offered.length} of the ${sent.length} functions of the message are not offered, since an agent is offered ${maxToolsAtOnce} tools in all.`;
  const missing = {
    serverId: 'message',
    slug: 'message',
    reason: 'too_many_tools',
    message,
    isPersonal: false,
  } as const;
  return { offered, missing: [missing] };
}

/** Servers with dropped tools, in the form of unreachable ones: the prompt lists both. */
export function serversOverLimit(leftOut: readonly Tool[], servers: readonly ServerTool[]): UnavailableServer[] {
  const bySlug = Map.groupBy(leftOut, ({ server }) => server ?? '');
  return [...bySlug].map(([slug, tools]) => ({
    serverId: servers.find(({ tool }) => tool.server === slug)?.serverId ?? slug,
    slug,
    reason: 'too_many_tools',
    message: `${tools.length} of its tools are not offered, since an agent is offered ${maxToolsAtOnce} tools in all: deny those it does not need.`,
    isPersonal: false,
  }));
}

/** Without its tools the agent behaves differently, so the test would not measure the version. */
export const missingInTest = ({ slug, message }: Pick<UnavailableServer, 'slug' | 'message'>) =>
  fail('mcp_server_error', {
    message: `The server \`${slug}\` is unreachable. ${message} Start it again, or simulate its tools with \`tool_results\` (\`${slug}.<tool>\`).`,
  });
