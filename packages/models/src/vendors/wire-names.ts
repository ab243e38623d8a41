import { createHash } from 'node:crypto';
import type { ToolDefinition } from '@vestra/agent/message';

export type WireNames = { toWire: (name: string) => string; fromWire: (wire: string) => string };

/** Compiled once: every request has names. */
const acceptedName = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/**
 * Tool names can be long or contain dots, as those of MCP servers do, and vendors reject a whole request for one such
 * name. A name that does not fit is sent as a short one, the same in every request.
 */
export function wireNames(tools: readonly ToolDefinition[], longest: number): WireNames {
  const toWire = (name: string) =>
    name.length <= longest && acceptedName.test(name) ? name : shortened(name, longest);
  const names = new Map<string, string>();
  for (const { name } of tools) {
    const wire = toWire(name);
    if (wire !== name) names.set(wire, name);
  }
  return { toWire, fromWire: (wire) => names.get(wire) ?? wire };
}

/** The ids of calls that a format accepts. Vendors reject each other's ids when a conversation changes its model. */
export type CallIdRules = {
  /** Whether the vendor accepts its own id back. */
  keeps: (id: string) => boolean;
  /** Returns an accepted id for a call of this run. `attempt` is above 0 if the id before was taken. */
  make: (id: string, attempt: number) => string;
};

const portable = /^[A-Za-z0-9_-]{1,64}$/;

export const callIds = {
  portable: {
    keeps: (id) => portable.test(id),
    make: (id, attempt) => (attempt === 0 && portable.test(id) ? id : `call_${digest(`${id}${attempt || ''}`, 24)}`),
  },
  /**
   * Mistral, and local models with its tokenizer, accept exactly nine letters and digits. Others, such as Kimi, read
   * their own ids in their own format.
   */
  nine: {
    keeps: (id) => /^[\x21-\x7e]{1,128}$/.test(id),
    make: (id, attempt) => (attempt === 0 && /^[A-Za-z0-9]{9}$/.test(id) ? id : nineOf(`${id} ${attempt}`)),
  },
} satisfies Record<string, CallIdRules>;

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

const nineOf = (text: string): string =>
  [...createHash('sha256').update(text).digest().subarray(0, 9)].map((byte) => alphabet[byte % 62]).join('');

function shortened(name: string, longest: number): string {
  const readable = name.replace(/[^A-Za-z0-9_-]/g, '_').replace(/^[^A-Za-z_]/, '_');
  return `${readable.slice(0, longest - 9)}_${digest(name, 8)}`;
}

const digest = (text: string, length: number) => createHash('sha256').update(text).digest('hex').slice(0, length);
