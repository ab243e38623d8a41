import { microsToUsd, usdToMicros } from '@vestra/contract/money';
import { operatorCommands as rows } from '@vestra/contract/operator-commands';
import { type Mode, modes, type Role, roles } from '@vestra/contract/route';
import { recordAudit } from '../account/index.ts';
import { inviteMember } from '../account/members/members.ts';
import { createOperatorResetLink } from '../account/members/passwords.ts';
import { orgExists, resealDataKeys } from '../account/orgs/store.ts';
import { credit } from '../billing/charge.ts';
import { balanceOf } from '../billing/roll-up-balances.ts';
import { ownPolicyHookSecret } from '../engine/runs/policy-hook.ts';
import { createOrg } from '../main/provisioning.ts';
import { operatorOrigin } from '../platform/caller.ts';
import type { Config } from '../platform/config/config.ts';
import type { Executor } from '../platform/db/pool.ts';
import { resealSettings } from '../platform/db/server-settings.ts';
import { StartFailure } from '../platform/db/start-failure.ts';
import { transaction } from '../platform/db/transaction.ts';
import { settingScope, sharedSecret } from '../platform/secrets/vault.ts';
import { currentMemorySecret } from '../users/index.ts';
import { backup } from './backup.ts';
import { copyFiles } from './copy-files.ts';
import { move } from './database-transfer.ts';
import { type Operator, readOrg, type Values, type Work } from './operator.ts';
import { orgMoveWorks } from './org-move/works.ts';
import { partition } from './partition.ts';
import { formatBytes, type Progress } from './progress.ts';
import { restore } from './restore.ts';

const work = <Result>(row: Work<Result>) => row as Work;

type CommandContext = { config: Config; progress: Progress };

type UpkeepWork<Result = unknown> = {
  run: (context: CommandContext, values: Values) => Promise<Result>;
  show: (result: Result) => string;
};

const upkeep = <Result>(row: UpkeepWork<Result>) => row as UpkeepWork;

/**
 * Commands for the database as a whole. It may be outdated, empty or in use, so each command opens it itself and does
 * not migrate it first.
 */
const upkeepWorks = {
  backup: upkeep({
    run: (context, values) => backup(context, values.file as string, values['master-key-file']),
    show: ({ file, bytes, rows, files, files_missing, master_key_file }) =>
      [
        `${file} holds ${rows} rows and ${files} files (${formatBytes(bytes)}).`,
        files_missing > 0 &&
          `${files_missing} more files were removed meanwhile or are damaged: the backup has their names without their content.`,
        master_key_file
          ? `The master key is in ${master_key_file}. Store it separately from the backup: together they reveal every secret.`
          : 'The backup does not contain the master key. Store the key separately: without it, the stored secrets are lost.',
      ]
        .filter(Boolean)
        .join('\n'),
  }),
  restore: upkeep({
    run: (context, values) => restore(context, values.file as string, values['master-key-file']),
    show: ({ made_by, made_at, rows, files, homes_lost, into }) =>
      [
        `${rows} rows and ${files} files of ${made_at} (Vestra ${made_by}) are in the database ${into}. Start the server; the one they come from must not run any more.`,
        homes_lost > 0 && `${homes_lost} computers begin with an empty home: what they had saved is not in the backup.`,
      ]
        .filter(Boolean)
        .join('\n'),
  }),
  'files copy': upkeep({
    run: (context, { to = '', extra = 'keep' }) => copyFiles(context, { to, extra }),
    show: ({ to, copied, bytes, there_already, damaged, only_there, removed }) =>
      [
        `${copied} were copied to the ${to} (${formatBytes(bytes)}), each read again and found the same; ${there_already} were there already.`,
        damaged > 0 && `${damaged} are damaged at the source and were not copied: restore them from a backup.`,
        only_there > 0 &&
          (removed > 0
            ? `${removed} that existed only there were removed.`
            : `${only_there} lie only there, such as what was deleted meanwhile: --extra remove takes them away.`),
        'Run it once more while no server runs, and then change VESTRA_FILES.',
      ]
        .filter(Boolean)
        .join('\n'),
  }),
  move: upkeep({
    run: (context, values) => move(context, values.to as string),
    show: ({ from, to, tables, rows, is_embedded }) =>
      [
        `${rows} rows of ${tables} tables are in the database ${to}, counted on both sides.`,
        is_embedded
          ? 'Remove DATABASE_URL from the settings and start the server.'
          : 'Set DATABASE_URL to it and start the server; the data folder stays in use for files, computers and the master key.',
        `The database ${from} was not changed: delete it once you no longer need it.`,
      ].join('\n'),
  }),
};

/** The implementation of each command in the contract's table, and the text it prints. */
const operatorWorks: Record<Exclude<keyof typeof rows, keyof typeof upkeepWorks>, Work> = {
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
      if (!link) throw new StartFailure(`No member of this server has the email ${email}.`);
      return link;
    },
    show: ({ email, reset_url, reset_expires_at }) =>
      `Send this link to ${email}; it works once, until ${reset_expires_at}:\n${reset_url}`,
  }),
  'memory-secret': work({
    run: async ({ db, vault }, values) => {
      const tenant = { orgId: readOrg(values), mode: readMode(values) };
      await transaction(db, (tx) => requireOrg(tx, tenant.orgId));
      const signingSecret = await sharedSecret(db, vault, 'signing-secret');
      const secret = await currentMemorySecret({ db, vault, signingSecret }, tenant);
      return { org_id: tenant.orgId, mode: tenant.mode, secret };
    },
    show: ({ secret }) => secret,
  }),
  'policy-hook-secret': work({
    run: async ({ config, db, vault }) =>
      config.policyHook.secret
        ? { secret: config.policyHook.secret(), source: 'environment' as const }
        : { secret: ownPolicyHookSecret(await sharedSecret(db, vault, 'signing-secret')), source: 'server' as const },
    show: ({ secret }) => secret,
  }),
  ...orgMoveWorks,
  partition: work({
    run: partition,
    show: ({ tables }) =>
      tables
        .map(({ table, by, converted, from, bytes, seconds }) =>
          converted
            ? `${table} has a partition per ${by} from ${from} on. What it had (${formatBytes(bytes)}) is the partition before that; it took ${seconds} s.`
            : `${table} already has a partition per ${by}.`,
        )
        .join('\n'),
  }),
  'rotate-master-key': work({
    run: rotateMasterKey,
    show: ({ rewrapped, source }) =>
      source === 'environment'
        ? `${rewrapped} keys are now sealed under the first key of VESTRA_MASTER_KEY. The others may go.`
        : `${rewrapped} keys are now sealed under a new master key. Back the file up again.`,
  }),
};

type Row = {
  summary: string;
  arguments?: Record<string, string>;
  flags: Record<string, { value: string; required: boolean }>;
};
export type OperatorCommand = Work & Row;

export const operatorCommands: Record<string, OperatorCommand> = withRows(operatorWorks);

/** Commands that open the database themselves. */
export const upkeepCommands: Record<string, UpkeepWork & Row> = withRows(upkeepWorks);

function withRows<Each>(each: Record<string, Each>): Record<string, Each & Row> {
  return Object.fromEntries(
    Object.entries(each).map(([name, its]) => [name, { ...rows[name as keyof typeof rows], ...its }]),
  );
}

async function requireOrg(tx: Executor, orgId: string): Promise<void> {
  if (!(await orgExists(tx, orgId))) throw new StartFailure(`There is no org ${orgId} in this database.`);
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

/**
 * Seals every data key again. The file has the old and the new key until the database has committed, so that an
 * interruption leaves everything readable and the command can be repeated.
 */
async function rotateMasterKey({ db, vault, masterKeys }: Operator) {
  const forgetOld = masterKeys.rotate();
  const rewrapped = await transaction(db, async (tx) => {
    const ofOrgs = await resealDataKeys(tx, (wrapped, orgId) => vault.rewrap(wrapped, orgId));
    const ofServer = await resealSettings(tx, (wrapped, name) => vault.rewrap(wrapped, settingScope(name)));
    return ofOrgs + ofServer;
  });
  forgetOld?.();
  return { rewrapped, source: forgetOld ? ('file' as const) : ('environment' as const) };
}
