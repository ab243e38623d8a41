import { createHash } from 'node:crypto';
import type { ToolDefinition } from '@vestra/agent/message';

export type WireNames = { toWire: (name: string) => string; fromWire: (wire: string) => string };

/**
 * Tool names can be long or contain dots, as those of MCP servers do, and vendors reject a whole request for one such
 * name. A name that does not fit is sent as a short one, the same in every request.
 */
export function wireNames(tools: readonly ToolDefinition[], longest: number): WireNames {
  const fits = new RegExp(`^[A-Za-z_][A-Za-z0-9_-]{0,${longest - 1}}$`);
  const toWire = (name: string) => (fits.test(name) ? name : shortened(name, longest));
  const names = new Map(tools.map(({ name }) => [toWire(name), name]));
  return { toWire, fromWire: (wire) => names.get(wire) ?? wire };
}

/** Vendors reject each other's call ids when a conversation changes its model. */
export function wireCallId(id: string): string {
  return /^[A-Za-z0-9_-]{1,64}$/.test(id) ? id : `call_${digest(id, 24)}`;
}

function shortened(name: string, longest: number): string {
  const readable = name.replace(/[^A-Za-z0-9_-]/g, '_').replace(/^[^A-Za-z_]/, '_');
  return `${readable.slice(0, longest - 9)}_${digest(name, 8)}`;
}

const digest = (text: string, length: number) => createHash('sha256').update(text).digest('hex').slice(0, length);
