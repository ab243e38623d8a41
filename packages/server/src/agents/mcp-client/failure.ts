import {
  InsufficientScopeError,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  SdkHttpError,
} from '@modelcontextprotocol/client';
import { OutboundFailure } from '../../platform/outbound/outbound-failure.ts';
import { SessionTimeout } from './session.ts';

export type McpFailure = {
  ok: false;
  code: 'timeout' | 'mcp_server_error';
  message: string;
  /** The server did not take the credentials, and so has done nothing. */
  isUnauthorized?: true;
};

/**
 * Why a session failed, for the tenant who registered the server. Nothing that the server wrote is repeated: it may
 * hold the credentials that it was sent, and so may the messages of the MCP client.
 */
export function failureOf(error: unknown, url: string): McpFailure {
  return describe(error, url, () => '');
}

/**
 * Why a call of a tool failed, for the model that made it: what the server says of the arguments is how a model mends
 * them. `hide` takes the credentials out of it.
 */
export function failureOfCall(error: unknown, url: string, hide: (text: string) => string): McpFailure {
  return describe(error, url, (said) => ` It says: ${hide(said).slice(0, longestQuote).toWellFormed()}`);
}

const longestQuote = 1000;

function describe(error: unknown, url: string, quote: (said: string) => string): McpFailure {
  const host = new URL(url).hostname;
  const failed = (message: string, isUnauthorized = false): McpFailure => ({
    ok: false,
    code: 'mcp_server_error',
    message,
    ...(isUnauthorized && { isUnauthorized }),
  });
  const late = (message: string): McpFailure => ({ ok: false, code: 'timeout', message });

  for (const cause of causesOf(error)) {
    if (cause instanceof SessionTimeout) return late(`${host} took too long.`);
    if (cause instanceof DOMException) return late(`The call of ${host} was given up before it ended.`);
    if (cause instanceof OutboundFailure) {
      return cause.reason === 'timeout' ? late(cause.message) : failed(cause.message);
    }
    if (cause instanceof SdkHttpError) return failed(`${host} ${answered(cause.status)}`, cause.status === 401);
    if (cause instanceof InsufficientScopeError) return failed(`${host} ${answered(403)}`);
    if (cause instanceof MissingRequiredClientCapabilityError && wantsModel(cause)) {
      return failed(`${host} wants to ask the agent’s model, which \`sampling\` of the server does not allow.`);
    }
    if (cause instanceof ProtocolError)
      return failed(`${host} answered with the MCP error ${cause.code}.${quote(cause.message)}`);
  }
  return failed(`${host} does not speak MCP at this URL: its answer could not be read.`);
}

const wantsModel = ({ data }: MissingRequiredClientCapabilityError) =>
  (data as { requiredCapabilities?: object } | undefined)?.requiredCapabilities !== undefined &&
  'sampling' in (data as { requiredCapabilities: object }).requiredCapabilities;

/** The MCP client wraps what goes wrong during the handshake. */
function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = [];
  for (let cause = error; cause instanceof Error && causes.length < 5; cause = cause.cause) causes.push(cause);
  return causes;
}

function answered(status: number): string {
  if (status === 401) return 'answered 401: it did not take the credentials in `auth`, or wants some.';
  if (status === 403) return 'answered 403: the credentials in `auth` do not allow this.';
  if (status >= 300 && status < 400) {
    return `answered ${status}, a redirect, which is not followed: register the URL that it leads to.`;
  }
  return `answered ${status}.`;
}
