import { microsToUsd } from '@vestra/contract/money';
import { type Catalogue, createCatalogue } from '@vestra/models/catalogue/catalogue';
import { retirementOf } from '@vestra/models/catalogue/retirement';
import { reachVendors } from '@vestra/models/catalogue/vendor-lists';
import { createModels } from '@vestra/models/models';
import { findSettings } from '../../account/index.ts';
import { balanceOf } from '../../billing/roll-up-balances.ts';
import type { Config } from '../../platform/config/config.ts';
import type { Database } from '../../platform/db/pool.ts';
import { bad, type Finding, ok, warn } from './finding.ts';

const noticeDays = 60;

/** Checks that each configured vendor answers and accepts its key, and reports the default model. */
export async function vendorFindings({ models, asksForModels }: Config): Promise<Finding[]> {
  const { catalogue, askVendors } = createModels(models);
  const { signal } = new AbortController();
  const [answers] = asksForModels
    ? await Promise.all([reachVendors(models, signal), askVendors(signal, 'compatible')])
    : [[]];
  const isOffline = catalogue.defaultModel === 'offline';
  return [
    ...(isOffline
      ? [
          models.compatible
            ? warn(
                'models',
                'OPENAI_COMPATIBLE_BASE_URL lists no model: live mode answers nothing, test mode with a stand-in',
                'Start its server, or name its models in OPENAI_COMPATIBLE_MODELS.',
              )
            : warn(
                'models',
                'no model key is set: live mode answers nothing, test mode with a stand-in',
                'Set ANTHROPIC_API_KEY, OPENAI_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY or OPENAI_COMPATIBLE_BASE_URL.',
              ),
        ]
      : [defaultFinding(catalogue)]),
    ...answers.map(({ provider, host, status }) => {
      if (status === null)
        return bad(
          'models',
          `${provider}: ${host} does not answer`,
          'Check the host name, the network and the proxy of this machine.',
        );
      if (status === 401 || status === 403)
        return bad('models', `${provider}: ${host} refuses the key`, 'Set a key that is good.');
      return status < 500
        ? ok('models', `${provider}: ${host} answers`)
        : warn('models', `${provider}: ${host} answers ${status}`, 'Check the status page of the vendor.');
    }),
  ];
}

function defaultFinding(catalogue: Catalogue): Finding {
  const { defaultModel } = catalogue;
  if (defaultModel === null)
    return bad(
      'models',
      'VESTRA_DEFAULT_MODEL names a model that no configured provider has',
      'GET /v1/models lists those there are.',
    );
  return (
    retirementFinding(catalogue, defaultModel, 'the default model') ??
    ok('models', `agents answer with ${defaultModel} unless they choose another; \`vestra models try\` tries it`)
  );
}

/** Reports models of live versions that retire soon. */
export function retiringFindings(
  { models }: Config,
  used: readonly { model: string; org_id: string; slug: string }[],
): Finding[] {
  const catalogue = createCatalogue(models);
  return used.flatMap(({ model, org_id, slug }) =>
    model === 'default' ? [] : (retirementFinding(catalogue, model, `the live version of ${slug} (${org_id})`) ?? []),
  );
}

function retirementFinding(catalogue: Catalogue, id: string, who: string): Finding | null {
  const model = catalogue.find('live', id);
  if (!model)
    return bad(
      'models',
      `${who} uses ${id}, which no configured provider has`,
      'Set the key of its provider, or choose another model.',
    );
  const { isPast, daysLeft, sentence } = retirementOf(model, new Date().toISOString().slice(0, 10));
  if (sentence === null || daysLeft === null || daysLeft > noticeDays) return null;
  const [what, remedy] = sentence.split(/(?<=\.) /);
  return (isPast ? bad : warn)('models', `${who}: ${what}`, remedy ?? 'Choose another model.');
}

const maxOrgs = 20;

/** Reports orgs with a live version and an empty wallet, and the caps of the others. */
export async function moneyFindings(db: Database, used: readonly { org_id: string }[]): Promise<Finding[]> {
  const orgIds = [...new Set(used.map(({ org_id }) => org_id))].slice(0, maxOrgs);
  return Promise.all(orgIds.map((orgId) => moneyOf(db, orgId)));
}

async function moneyOf(db: Database, orgId: string): Promise<Finding> {
  const tenant = { orgId, mode: 'live' as const };
  const balance = await balanceOf(db, tenant);
  if (balance <= 0n) {
    return warn(
      'money',
      `${orgId} has a live version and an empty live wallet`,
      `vestra admin credit --org ${orgId} --mode live --usd 50`,
    );
  }
  const { org_daily_micros: ofOrg, user_daily_micros: ofUser } = await findSettings(db, tenant);
  const cap = (micros: bigint | null) => (micros === null ? 'nothing' : `${microsToUsd(micros)} USD a day`);
  return ok(
    'money',
    `${orgId} has ${microsToUsd(balance)} USD live, capped at ${cap(ofOrg)} and ${cap(ofUser)} of each user`,
  );
}
