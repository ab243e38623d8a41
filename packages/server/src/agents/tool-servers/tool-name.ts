import { createHash } from 'node:crypto';

/** The longest name that every vendor takes. */
const longest = 64;
const hashLength = 8;

/**
 * How a tool of a server is called before a model. Whatever a vendor would refuse is replaced, and a hash of the own
 * name keeps what is shortened or replaced apart, the same on every day.
 */
export function modelToolName(slug: string, tool: string): string {
  const whole = `mcp__${slug}__${tool}`;
  if (whole.length <= longest && /^[A-Za-z0-9_-]+$/.test(whole)) return whole;
  const hash = createHash('sha256').update(tool).digest('hex').slice(0, hashLength);
  const kept = whole.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, longest - hashLength - 1);
  return `${kept}_${hash}`;
}
