import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { fail } from '@vestra/contract/errors';
import type { Tenant } from '../caller.ts';

/** Cursors are signed and bound to org, mode and route. Changed or foreign cursors are refused. */
export type Cursors = {
  write: (tenant: Tenant, route: string, sortKey: readonly string[]) => string;
  read: (tenant: Tenant, route: string, cursor: string) => readonly string[];
};

const signatureLength = 16;

export function createCursors(secret: Uint8Array): Cursors {
  // As a Buffer it would cost Node two errors, thrown and caught, at each use.
  const key = createSecretKey(secret);
  const sign = (tenant: Tenant, route: string, payload: string) =>
    createHmac('sha256', key)
      .update([tenant.orgId, tenant.mode, route, payload].join('\n'))
      .digest()
      .subarray(0, signatureLength);

  return {
    write(tenant, route, sortKey) {
      const payload = Buffer.from(JSON.stringify(sortKey)).toString('base64url');
      return `${payload}.${sign(tenant, route, payload).toString('base64url')}`;
    },
    read(tenant, route, cursor) {
      const [payload = '', signature = ''] = cursor.split('.');
      const given = Buffer.from(signature, 'base64url');
      const wanted = sign(tenant, route, payload);
      if (given.length !== signatureLength || !timingSafeEqual(given, wanted)) {
        throw fail('invalid_cursor', { param: 'cursor' });
      }
      return JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as string[];
    },
  };
}
