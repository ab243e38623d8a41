/**
 * Whether a call of a tool runs, waits for the person's yes or is refused. Flags and lists alone decide it; lists hold
 * exact names.
 */

/** What the registered server says of its tools, for every deployment that uses it. */
type ToolFloor = { readonly deny: readonly string[]; readonly require_approval: readonly string[] };

/** What one version adds to the floor of a server. */
type VersionPolicy = ToolFloor & { readonly run_without_asking: readonly string[] };

export type CalledTool =
  | {
      from: 'server';
      name: string;
      floor: ToolFloor;
      /** Null where the version has none for this server. */
      policy: VersionPolicy | null;
      /** The server marks the tool as one that changes nothing. False for a tool that the server does not list. */
      isReadOnly: boolean;
    }
  | { from: 'function'; read_only: boolean; run_without_asking: boolean };

export type Decision =
  | { kind: 'run'; why: 'read_only' | 'run_without_asking' }
  | { kind: 'wait'; why: 'floor_requires_approval' | 'version_requires_approval' | 'may_change_something' }
  | { kind: 'refuse'; why: 'floor_denies' | 'version_denies' };

/**
 * The order is the rule: what a list forbids or makes wait is asked before anything that lets a tool run, and the floor
 * before the version, so that a version adds to the floor and never takes from it.
 */
export function decideToolCall(tool: CalledTool): Decision {
  if (tool.from === 'function') return freely(tool.read_only, tool.run_without_asking);
  const { name, floor, policy, isReadOnly } = tool;
  if (floor.deny.includes(name)) return { kind: 'refuse', why: 'floor_denies' };
  if (policy?.deny.includes(name)) return { kind: 'refuse', why: 'version_denies' };
  if (floor.require_approval.includes(name)) return { kind: 'wait', why: 'floor_requires_approval' };
  if (policy?.require_approval.includes(name)) return { kind: 'wait', why: 'version_requires_approval' };
  return freely(isReadOnly, policy?.run_without_asking.includes(name) ?? false);
}

/** A tool of which nothing is known waits. */
function freely(isReadOnly: boolean, runsWithoutAsking: boolean): Decision {
  if (isReadOnly) return { kind: 'run', why: 'read_only' };
  if (runsWithoutAsking) return { kind: 'run', why: 'run_without_asking' };
  return { kind: 'wait', why: 'may_change_something' };
}
