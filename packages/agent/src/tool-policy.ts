/**
 * Decides whether a tool call runs, waits for the user's approval or is rejected. Only flags and lists decide; lists
 * contain exact names.
 */

/** The policy of the registered server, for every deployment that uses it. */
type ToolFloor = { readonly deny: readonly string[]; readonly require_approval: readonly string[] };

/** The additional policy of one version. */
type VersionPolicy = ToolFloor & {
  /** The only tools that may be called. Absent: all. */
  readonly allow?: readonly string[] | undefined;
  readonly run_without_asking: readonly string[] | 'all';
};

export type CalledTool =
  | {
      from: 'server';
      name: string;
      floor: ToolFloor;
      /** Null if the version has no policy for this server. */
      policy: VersionPolicy | null;
      /** The server marks the tool as read-only. False for a tool that the server does not list. */
      isReadOnly: boolean;
    }
  | { from: 'function'; read_only: boolean; run_without_asking: boolean };

export type Decision =
  | { kind: 'run'; why: 'read_only' | 'run_without_asking' }
  | { kind: 'wait'; why: 'floor_requires_approval' | 'version_requires_approval' | 'may_change_something' }
  | { kind: 'refuse'; why: 'floor_denies' | 'version_denies' };

/**
 * The order matters: lists that deny or require approval come before anything that lets a tool run. The server's policy
 * comes before the version's, so a version can only add restrictions.
 */
export function decideToolCall(tool: CalledTool): Decision {
  if (tool.from === 'function') return freely(tool.read_only, tool.run_without_asking);
  const { name, floor, policy, isReadOnly } = tool;
  if (floor.deny.includes(name)) return { kind: 'refuse', why: 'floor_denies' };
  if (policy?.deny.includes(name)) return { kind: 'refuse', why: 'version_denies' };
  if (policy?.allow && !policy.allow.includes(name)) return { kind: 'refuse', why: 'version_denies' };
  if (floor.require_approval.includes(name)) return { kind: 'wait', why: 'floor_requires_approval' };
  if (policy?.require_approval.includes(name)) return { kind: 'wait', why: 'version_requires_approval' };
  const trusted = policy?.run_without_asking ?? [];
  return freely(isReadOnly, trusted === 'all' || trusted.includes(name));
}

/** An unknown tool waits for approval. */
function freely(isReadOnly: boolean, runsWithoutAsking: boolean): Decision {
  if (isReadOnly) return { kind: 'run', why: 'read_only' };
  if (runsWithoutAsking) return { kind: 'run', why: 'run_without_asking' };
  return { kind: 'wait', why: 'may_change_something' };
}
