import { idPattern } from '@vestra/contract/ids';
import { microsToUsd, usdToMicros } from '@vestra/contract/money';
import { operatorCommands as rows } from '@vestra/contract/operator-commands';
import { type Mode, modes, type Role, roles } from '@vestra/contract/route';
import { findSettings, recordAudit } from '../account/index.ts';
import { inviteMember } from '../account/members/members.ts';
import { createOperatorResetLink } from '../account/members/passwords.ts';
import { orgExists } from '../account/orgs/store.ts';
import { credit } from '../billing/charge.ts';
import { balanceOf } from '../billing/roll-up-balances.ts';
import { ownPolicyHookSecret } from '../engine/runs/policy-hook.ts';
import { agreedSecret } from '../main/agreed-secret.ts';
import { createOrg } from '../main/provisioning/create-org.ts';
import { operatorOrigin } from '../platform/caller.ts';
import type { Executor } from '../platform/db/pool.ts';
import { StartFailure } from '../platform/db/start-failure.ts';
import { transaction } from '../platform/db/transaction.ts';
import { memoryEndpointSecret } from '../users/index.ts';
import type { Operator } from './open.ts';
import { rotateMasterKey } from './rotate-master-key.ts';
import { type UpkeepWork, upkeepWorks } from './upkeep.ts';

type Values = Record<string, string>;

type Work<Result = unknown> = {
  run: (operator: Operator, values: Values) => Promise<Result>;
  show: (result: Result) => string;
};

const work = <Result>(row: Work<Result>) => row as Work;

/** What each command of the contract's table does with the open database, and how its result is printed. */
const works: Record<Exclude<keyof typeof rows, keyof typeof upkeepWorks>, Work> = {
  'org create': work({
    run: ({ db, vault }, values) =>
      transaction(db, (tx) =>
        createOrg(tx, vault, {
          name: values.name as string,
          ownerEmail: values['owner-email'] ?? null,
        }),
      ),
    show: ({ org_id, test_key, live_key, owner }) =>
      [
        `Org       ${org_id}`,
        `Test key  ${test_key}`,
        `Live key  ${live_key}`,
        `Owner     ${owner.email}, password ${owner.password}`,
        'These are shown once: store them now.',
      ].join('\n'),
  }),
  credit: work({
    run: async ({ db }, values) => {
      const tenant = { orgId: readOrg(values), mode: readMode(values) };
      const amount = readDollars(values);
      return transaction(db, async (tx) => {
        await requireOrg(tx, tenant.orgId);
        await credit(tx, tenant, amount);
        await recordAudit(tx, operatorOrigin(tenant), {
          action: 'wallet.credited',
          target: { type: 'org', id: tenant.orgId },
          details: { usd: microsToUsd(amount) },
        });
        return { org_id: tenant.orgId, mode: tenant.mode, balance_usd: microsToUsd(await balanceOf(tx, tenant)) };
      });
    },
    show: ({ org_id, mode, balance_usd }) => `${org_id} now has ${balance_usd} US dollars in ${mode} mode.`,
  }),
  'member invite': work({
    run: async ({ db, config }, values) => {
      const orgId = readOrg(values);
      const role = readRole(values);
      const publicUrl = config.publicUrl ?? `http://${config.host}:${config.port}`;
      return transaction(db, async (tx) => {
        await requireOrg(tx, orgId);
        return inviteMember(tx, operatorOrigin({ orgId, mode: 'live' }), {
          manager: { kind: 'operator' },
          email: values.email as string,
          role,
          publicUrl,
        });
      });
    },
    show: ({ email, role, invite_url, invite_expires_at }) =>
      `${email} is invited as ${role}. Send them this link; it is good until ${invite_expires_at}:\n${invite_url}`,
  }),
  'member reset-password': work({
    run: async ({ db, config }, values) => {
      const publicUrl = config.publicUrl ?? `http://${config.host}:${config.port}`;
      const email = values.email as string;
      const link = await transaction(db, (tx) => createOperatorResetLink(tx, { email, publicUrl }));
      if (!link) throw new StartFailure(`Nobody logs in to the console of this server with the email ${email}.`);
      return link;
    },
    show: ({ email, reset_url, reset_expires_at }) =>
      `Send this link to ${email}; it works once, until ${reset_expires_at}:\n${reset_url}`,
  }),
  'memory-secret': work({
    run: async ({ db, vault }, values) => {
      const tenant = { orgId: readOrg(values), mode: readMode(values) };
      await transaction(db, (tx) => requireOrg(tx, tenant.orgId));
      const secret = memoryEndpointSecret(
        await agreedSecret(db, vault, 'signing-secret'),
        tenant,
        await findSettings(db, tenant),
      );
      return { org_id: tenant.orgId, mode: tenant.mode, secret };
    },
    show: ({ secret }) => secret,
  }),
  'policy-hook-secret': work({
    run: async ({ config, db, vault }) =>
      config.policyHook.secret
        ? { secret: config.policyHook.secret(), source: 'environment' as const }
        : { secret: ownPolicyHookSecret(await agreedSecret(db, vault, 'signing-secret')), source: 'server' as const },
    show: ({ secret }) => secret,
  }),
  'rotate-master-key': work({
    run: rotateMasterKey,
    show: ({ rewrapped, source }) =>
      source === 'environment'
        ? `${rewrapped} keys are now sealed under the first key of VESTRA_MASTER_KEY. The others may go.`
        : `${rewrapped} keys are now sealed under a new master key. Back the file up again.`,
  }),
};

type Row = { summary: string; argument?: string; flags: Record<string, { value: string; required: boolean }> };
export type OperatorCommand = Work & Row;

export const operatorCommands: Record<string, OperatorCommand> = withRows(works);

/** Those that open the database themselves. */
export const upkeepCommands: Record<string, UpkeepWork & Row> = withRows(upkeepWorks);

function withRows<Each>(each: Record<string, Each>): Record<string, Each & Row> {
  return Object.fromEntries(
    Object.entries(each).map(([name, its]) => [name, { ...rows[name as keyof typeof rows], ...its }]),
  );
}

async function requireOrg(tx: Executor, orgId: string): Promise<void> {
  if (!(await orgExists(tx, orgId))) throw new StartFailure(`There is no org ${orgId} in this database.`);
}

function readOrg({ org = '' }: Values): string {
  if (!idPattern('org').test(org)) throw new StartFailure(`--org must be an org id such as org_0…, not ${org}.`);
  return org;
}

function readMode({ mode = '' }: Values): Mode {
  if (!(modes as readonly string[]).includes(mode)) throw new StartFailure(`--mode must be test or live, not ${mode}.`);
  return mode as Mode;
}

function readRole({ role = '' }: Values): Role {
  if (!(roles as readonly string[]).includes(role))
    throw new StartFailure(`--role must be one of ${roles.join(', ')}.`);
  return role as Role;
}

function readDollars({ usd = '' }: Values): bigint {
  const dollars = Number(usd);
  const isAmount = /^\d+(\.\d{1,5})?$/.test(usd) && dollars > 0 && dollars <= 1_000_000;
  if (!isAmount) throw new StartFailure(`--usd must be an amount above 0 and at most 1000000, such as 50 or 12.5.`);
  return usdToMicros(dollars);
}
