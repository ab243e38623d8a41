import { validateHeaderName, validateHeaderValue } from 'node:http';

/** The headers that the value of a secret stands for, or null where it is no JSON object of names and texts HTTP can carry. */
export function traceHeaders(value: string): Record<string, string> | null {
  const parsed = parse(value);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return null;
  const headers = Object.entries(parsed);
  return headers.every(isSendable) ? Object.fromEntries(headers) : null;
}

function parse(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return null;
  }
}

function isSendable(header: [name: string, value: unknown]): header is [string, string] {
  const [name, value] = header;
  if (typeof value !== 'string') return false;
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}
