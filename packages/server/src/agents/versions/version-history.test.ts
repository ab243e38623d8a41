import { Failure } from '@vestra/contract/errors';
import type { Mode } from '@vestra/contract/route';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../../tests/support/test-database.ts';
import { closeDatabase, type Database, openDatabase } from '../../platform/db/pool.ts';
import { transaction } from '../../platform/db/transaction.ts';
import { changeStatus, presentVersion } from '../deployments/deployment.ts';
import { requireDeployment } from '../deployments/deployment-reference.ts';
import { author, content, newDeployment, newOrg } from '../deployments/deployments.fixture.ts';
import type { DeploymentRow } from '../deployments/tables.ts';
import { listVersions } from './store.ts';
import { moveDraft, popLive, pushLive, saveVersion } from './versions.ts';

let database: TestDatabase;
let db: Database;
let orgId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase({ connectionString: database.connectionString });
  orgId = (await newOrg(db)).id;
});

afterAll(async () => {
  await closeDatabase(db);
  await database.drop();
});

/** The model: saved versions, the draft, and the promotions in effect. */
type Model = { saved: string[]; draft: number; live: number[]; isArchived: boolean };
type Real = { deployment: DeploymentRow };
type Command = fc.AsyncCommand<Model, Real>;

describe('any history of saves, promotions, rollbacks and archiving', () => {
  it('moves the pointers like a list of versions and a stack of promotions [VER-005, VER-014, VER-031, TEN-203]', async () => {
    const mode = fc.constantFrom<Mode>('test', 'live');
    // Version 0 is not valid on the wire, and one above the newest must be refused.
    const version = fc.integer({ min: 1, max: 6 });
    const commands = [
      fc.string({ maxLength: 5 }).map(save),
      fc.tuple(mode, version).map(([of, number]) => promote(of, number)),
      mode.map(rollBack),
      fc.tuple(mode, fc.constantFrom<DeploymentRow['status']>('active', 'active', 'archived')).map(putAway),
    ];
    await fc.assert(
      fc.asyncProperty(fc.commands(commands, { size: '+1', maxCommands: 40 }), async (history) => {
        const deployment = await newDeployment(db, orgId, { manifest: { instructions: 'first' } });
        const model: Model = { saved: ['first'], draft: 1, live: [], isArchived: false };
        await fc.asyncModelRun(() => ({ model, real: { deployment } }), history);
        await expectSameVersions(deployment.id, model);
      }),
      { numRuns: 40 },
    );
  });
});

const save = (instructions: string) =>
  command(`save ${JSON.stringify(instructions)}`, {
    refusal: (model) => (model.isArchived ? 'deployment_archived' : null),
    apply: (model) => {
      model.draft = model.saved.push(instructions);
    },
    run: async (deployment) =>
      (await transaction(db, (tx) => saveVersion(tx, { deployment, ...content({ instructions }) }))).deployment,
  });

const promote = (mode: Mode, version: number) =>
  command(`promote ${version} with a ${mode} key`, {
    refusal: (model) => {
      if (model.isArchived) return 'deployment_archived';
      return version > model.saved.length ? 'version_not_found' : null;
    },
    apply: (model) => {
      if (mode === 'test') model.draft = version;
      else if (model.live.at(-1) !== version) model.live.push(version);
    },
    run: async (deployment) =>
      (await transaction(db, (tx) => (mode === 'test' ? moveDraft : pushLive)(tx, { deployment, version }))).deployment,
  });

const rollBack = (mode: Mode) =>
  command(`roll back with a ${mode} key`, {
    refusal: (model) => {
      if (mode === 'test') return 'live_key_required';
      if (model.isArchived) return 'deployment_archived';
      return model.live.length < 2 ? 'nothing_to_roll_back' : null;
    },
    apply: (model) => {
      model.live.pop();
    },
    run: async (deployment) => (await transaction(db, (tx) => popLive(tx, { deployment, mode }))).deployment,
  });

const putAway = ([mode, status]: [Mode, DeploymentRow['status']]) =>
  command(`make it ${status} with a ${mode} key`, {
    refusal: (model) => {
      const changesLive = model.live.length > 0 && model.isArchived !== (status === 'archived');
      return mode === 'test' && changesLive ? 'live_key_required' : null;
    },
    apply: (model) => {
      model.isArchived = status === 'archived';
    },
    run: async (deployment) => {
      const origin = { orgId, mode, actor: author, requestId: null, ip: null };
      const shown = await transaction(db, (tx) =>
        changeStatus(tx, origin, { reference: deployment.id, status }, async () => {}),
      );
      return { ...deployment, ...shown, created_at: deployment.created_at, updated_at: deployment.updated_at };
    },
  });

type Step = {
  /** The error code of the refused step in this state. */
  refusal: (model: Model) => string | null;
  apply: (model: Model) => void;
  run: (deployment: DeploymentRow) => Promise<DeploymentRow>;
};

function command(name: string, { refusal, apply, run }: Step): Command {
  return {
    check: () => true,
    toString: () => name,
    async run(model, real) {
      const code = refusal(model);
      const outcome = await run(real.deployment).catch((error: unknown) => {
        if (error instanceof Failure) return error.code;
        throw error;
      });
      if (code !== null) {
        expect(outcome).toBe(code);
        return;
      }
      apply(model);
      real.deployment = outcome as DeploymentRow;
      expect(outcome).toMatchObject({
        status: model.isArchived ? 'archived' : 'active',
        draft_version: model.draft,
        live_version: model.live.at(-1) ?? null,
      });
    },
  };
}

/** Reads back from the database: every version once, as saved, marked by the pointers. */
async function expectSameVersions(deploymentId: string, model: Model): Promise<void> {
  const rows = await listVersions(db, deploymentId, { limit: 100, below: null });
  const deployment = await requireDeployment(db, orgId, deploymentId);
  const shown = rows.map((row) => presentVersion(row, { deployment, tests: null }));
  const wanted = model.saved.map((instructions, at) => ({
    version: at + 1,
    manifest: expect.objectContaining({ instructions }),
    is_draft: at + 1 === model.draft,
    is_live: at + 1 === model.live.at(-1),
  }));
  expect(shown).toMatchObject(wanted.reverse());
  expect(shown).toHaveLength(wanted.length);
}
