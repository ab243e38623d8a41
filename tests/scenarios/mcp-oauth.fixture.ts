import { createHash, randomBytes } from 'node:crypto';
import { newId } from '@vestra/contract/ids';
import type { Mode, Role } from '@vestra/contract/route';
import { unmatchableHash } from '@vestra/server/account/members/password-hash';
import { heldClient } from '../../packages/server/src/edges/mcp/oauth-client.fixture.ts';
import { query } from '../support/database.ts';
import type { ApiResponse, TestServer } from '../support/server.ts';

/** A member with a browser that is signed in to the console. */
export type Member = {
  id: string;
  email: string;
  /** As the console calls: with its cookie, its CSRF token, and the org and mode that were chosen. */
  call: (path: string, body: unknown, more?: { mode?: Mode; org?: string; csrf?: string }) => Promise<ApiResponse>;
  end: (path: string) => Promise<ApiResponse>;
  /** Approves the client's authorization request and returns the address to which the browser is redirected. */
  letIn: (opened: URL, more?: { mode?: Mode; org?: string }) => Promise<URL>;
};

/** Creates the member and session in the database: signing in costs half a second of argon2, and one test covers it. */
export async function newMember(server: TestServer, role: Role, orgId = server.orgId): Promise<Member> {
  const [id, token] = [newId('mbr'), randomBytes(32).toString('base64url')];
  const email = `${id}@example.com`;
  await query(
    server.connectionString,
    `WITH login AS (INSERT INTO logins (email, password_hash) VALUES ($1, $7) RETURNING email),
      member AS (INSERT INTO members (id, org_id, email, role, status) SELECT $2, $3, email, $4, 'active' FROM login)
     INSERT INTO console_sessions (token_hash, email, csrf_token, expires_at)
     SELECT $5, email, $6, now() + interval '1 hour' FROM login`,
    [email, id, orgId, role, createHash('sha256').update(token).digest(), token, unmatchableHash],
  );
  return memberWith(server, { id, email, cookie: `vestra_console=${token}`, csrf: token });
}

/** By the console's own sign-in. */
export async function signIn(server: TestServer, { email, password }: TestServer['owner']): Promise<Member> {
  const { headers, body } = await server.call('POST', '/v1/console/login', { key: null, body: { email, password } });
  const [cookie = ''] = headers.get('set-cookie')?.split(';') ?? [];
  return memberWith(server, { id: body.member.id, email, cookie, csrf: body.csrf_token });
}

function memberWith(
  server: TestServer,
  { id, email, cookie, csrf: own }: { id: string; email: string; cookie: string; csrf: string },
): Member {
  const call: Member['call'] = (path, body, { mode, org, csrf = own } = {}) =>
    server.call('POST', path, {
      key: null,
      body,
      headers: {
        cookie,
        ...(csrf && { 'x-csrf-token': csrf }),
        ...(mode && { 'service-mode': mode }),
        ...(org && { 'service-org': org }),
      },
    });
  return {
    id,
    email,
    call,
    end: (path) => server.call('DELETE', path, { key: null, headers: { cookie, 'x-csrf-token': own } }),
    async letIn(opened, more) {
      const answer = await call(
        '/v1/console/mcp-authorization',
        { query: opened.search.slice(1), approve: true },
        more,
      );
      if (answer.status !== 200) throw new Error(answer.text);
      return new URL(answer.body.return_url);
    },
  };
}

/** A client that a member has let in, with its tokens. */
export async function connected(server: TestServer, member: Member, more?: { mode?: Mode; org?: string }) {
  const held = heldClient(server);
  await held.connect().catch(() => {});
  await held.finish(await member.letIn(held.opened(), more));
  return held;
}
