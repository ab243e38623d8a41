import { expect, test } from 'vitest';
import type { z } from 'zod';
import { deploymentFile } from './deployment-file.ts';
import type { ErrorCode } from './errors.ts';
import { check } from './fault.ts';

/** The part of an id after its prefix. */
export const idBody = '0123456789abcdefghjkmnpq';

export const times = <Item>(count: number, item: Item): Item[] => Array.from({ length: count }, () => item);
export const letters = (count: number) => 'a'.repeat(count);
export const entries = (count: number) =>
  Object.fromEntries(times(count, {}).map((value, index) => [`tool_${index}`, value]));

/** `code` defaults to the fallback of its table. */
export type Edge = [what: string, passes: unknown, fails: unknown, param: string, code?: ErrorCode];

/** One test per row: the value at the limit passes, the one beyond has exactly this fault. */
export function edges(schema: z.ZodType, fallback: ErrorCode, build: (value: unknown) => unknown, rows: Edge[]) {
  test.each(rows)('%s', (_what, passes, fails, param, code = fallback) => {
    expect(check(schema, build(passes), 'invalid_request')).toMatchObject({ ok: true });
    const refused = check(schema, build(fails), 'invalid_request');
    expect(refused.ok ? [] : refused.faults.map((fault) => [fault.code, fault.param])).toEqual([[code, param]]);
  });
}

/** The limits of one key of the deployment file. */
export const fileEdges = (key: string, rows: Edge[]) =>
  edges(deploymentFile, 'invalid_manifest', (value) => ({ name: 'shop', [key]: value }), rows);
