import pg from 'pg';
import { expect, it } from 'vitest';
import { createTestDatabase } from '../../../../../tests/support/test-database.ts';
import { asFailure } from './error-response.ts';

/** Written only by jobs, or together with the row that they refer to. */
const ofJobs = [
  'computer_preparations_org_id_mode_user_key_fkey',
  'document_vectors_document_id_model_fkey',
  'skill_files_org_id_sha256_fkey',
  'tool_categories_deployment_id_version_fkey',
];

it('says which row a request missed, for every foreign key', async () => {
  const { connectionString, drop } = await createTestDatabase();
  const client = new pg.Client(connectionString);
  await client.connect();
  const { rows } = await client.query(
    "SELECT conname AS constraint FROM pg_constraint WHERE contype = 'f' AND confrelid <> 'orgs'::regclass AND conparentid = 0",
  );
  await client.end();
  await drop();
  expect(rows.length).toBeGreaterThan(30);
  const violation = (more: object) => asFailure(Object.assign(new Error('violated'), { code: '23503', ...more })).code;
  const unnamed = rows
    .map(({ constraint }) => constraint)
    .filter((constraint) => violation({ constraint }) === 'internal_error');
  expect(unnamed.sort()).toEqual(ofJobs);
  const constraint = 'scenarios_deployment_id_fkey';
  expect(violation({ constraint })).toBe('deployment_not_found');
  // A deletion that others still refer to is a fault of the server.
  const detail = 'Key (id)=(dep_1) is still referenced from table "scenarios".';
  expect(violation({ constraint, detail })).toBe('internal_error');
});
