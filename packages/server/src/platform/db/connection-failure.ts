import pg from 'pg';
import { StartFailure } from './start-failure.ts';

/** The target of a connection string. `name` never contains the password. */
type Target = { name: string; host: string; user: string; database: string; password: string };

export function describeTarget(connectionString: string): Target {
  if (!/^postgres(ql)?:\/\//i.test(connectionString)) throw notAUrl();
  const client = parse(connectionString);
  const host = client.host.startsWith('/') ? client.host : `${client.host}:${client.port}`;
  const user = client.user ?? '';
  const database = client.database ?? user;
  return { name: `"${database}" at ${host}`, host, user, database, password: client.password ?? '' };
}

function parse(connectionString: string): pg.Client {
  try {
    return new pg.Client({ connectionString });
  } catch (error) {
    const path = (error as NodeJS.ErrnoException).path;
    if (path) throw new StartFailure(`DATABASE_URL names the file ${path}, which cannot be read.`);
    throw notAUrl();
  }
}

function notAUrl(): StartFailure {
  return new StartFailure(
    'DATABASE_URL is not a PostgreSQL address: write it as postgresql://user:password@host:5432/database, with special characters in the password percent-encoded.',
  );
}

/** Explains in one sentence why the database could not be reached at the start. */
export function explainConnectionFailure(error: unknown, target: Target): StartFailure {
  const { code, message } = error as { code?: string; message: string };
  return new StartFailure(sentence(code, message, target), { cause: error });
}

function sentence(code: string | undefined, message: string, target: Target): string {
  switch (code) {
    case 'ECONNREFUSED':
    case 'ENOENT':
      return `No PostgreSQL answers at ${target.host}: start it there, or correct DATABASE_URL.`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `The host of DATABASE_URL, ${target.host}, has no address: check its name and the network.`;
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `PostgreSQL at ${target.host} cannot be reached over the network: check DATABASE_URL and firewalls.`;
    case '28P01':
      return `PostgreSQL at ${target.host} does not accept the password of user "${target.user}": correct DATABASE_URL.`;
    case '28000':
      return `PostgreSQL at ${target.host} does not let user "${target.user}" in (${withoutPassword(message, target)}).`;
    case '3D000':
      return `PostgreSQL at ${target.host} has no database "${target.database}": create it, or correct DATABASE_URL.`;
    case '42501':
      return `User "${target.user}" may not connect to the database ${target.name}: grant CONNECT on it.`;
    case '53300':
      return `PostgreSQL at ${target.host} has no connection left: raise its max_connections or close other clients.`;
    case '57P03':
      return `PostgreSQL at ${target.host} is starting up or shutting down: try again in a moment.`;
    default:
      return sentenceWithoutCode(message, target);
  }
}

function sentenceWithoutCode(message: string, target: Target): string {
  if (/client password must be/.test(message)) {
    return `PostgreSQL at ${target.host} asks user "${target.user}" for a password, and DATABASE_URL has none.`;
  }
  if (/timeout/i.test(message)) {
    return `PostgreSQL at ${target.host} did not answer in time: check DATABASE_URL and firewalls.`;
  }
  if (/does not support SSL/.test(message)) {
    return `PostgreSQL at ${target.host} does not speak TLS: remove sslmode from DATABASE_URL.`;
  }
  if (/certificate/i.test(message)) {
    return `The TLS certificate of ${target.host} is not trusted (${message}): name its authority by sslrootcert in DATABASE_URL.`;
  }
  return `The database ${target.name} cannot be used: ${withoutPassword(message, target)}.`;
}

function withoutPassword(message: string, target: Target): string {
  const line = message.split('\n')[0] ?? '';
  return target.password ? line.replaceAll(target.password, '…') : line;
}
