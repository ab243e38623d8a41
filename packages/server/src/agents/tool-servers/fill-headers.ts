import { withSecretValues } from '@vestra/contract/secrets-in-text';
import type { Headers } from './mcp-server.ts';

type SecretValues = Parameters<typeof withSecretValues>[1];

/**
 * The headers as they are sent, and the names of those that HTTP cannot carry. They are told apart here because the
 * error of a client that meets such a value repeats the value.
 */
export function fillHeaders(
  headers: Headers,
  values: SecretValues,
): { headers: Record<string, string>; unsendable: string[] } {
  // White space at the ends is no part of a header; a secret stored from a file often ends with a line break.
  const filled = Object.entries(headers).map(
    ([name, value]) => [name, withSecretValues(value, values).trim()] as const,
  );
  return {
    headers: Object.fromEntries(filled),
    unsendable: filled.filter(([, value]) => !sendable.test(value)).map(([name]) => name),
  };
}

const sendable = /^[\t\x20-\x7e\x80-\xff]*$/;
