import type { Catalogue } from '@vestra/models/catalogue/catalogue';
import { retirementNotes } from '@vestra/models/catalogue/retirement';
import type { Credentials } from '../domains/new-orgs/api.ts';
import type { Config } from './config.ts';
import { credentialsPath } from './credentials-file.ts';
import type { Server } from './start.ts';
import { version } from './version.ts';

/**
 * What a person reads after the start: where it is, how to get in, and what to type next. Keys and the owner's password
 * are shown on a terminal alone: everything else that is written to is kept by somebody.
 */
export function welcome(
  config: Config,
  { url, firstCredentials, catalogue }: Server,
  { isTerminal }: { isTerminal: boolean },
): string {
  if (config.role === 'computers') return `Vestra ${version} has computers awake here. ctrl-C stops it.\n`;
  if (url === null) return `Vestra ${version} works on jobs here. ctrl-C stops it.\n`;
  const base = config.publicUrl ?? url;
  const lines = [
    `Vestra ${version} is running at ${base}`,
    '',
    `  Console         ${base}/console`,
    `  Guide           ${base}/docs/guide`,
    `  API reference   ${base}/docs`,
  ];
  const file = credentialsPath(config.dataDir);
  if (!firstCredentials) lines.push(`  Keys            in ${file}, as the first start wrote them`);
  else if (isTerminal) lines.push(...firstSteps(firstCredentials, base, file));
  else lines.push(`  First keys      in ${file}, with the owner's password; readable by this user alone`);
  lines.push('', ...modelNote(config, catalogue), '');
  return `${lines.join('\n')}\n`;
}

function firstSteps({ test_key, live_key, owner }: Credentials, base: string, file: string): string[] {
  return [
    `  Test key        ${test_key}`,
    `  Live key        ${live_key}`,
    `  Owner           ${owner.email}, password ${owner.password}`,
    '',
    `These are shown once and kept in ${file}.`,
    '',
    'Make an agent, and talk to it:',
    '',
    `  curl -X PUT ${base}/v1/deployments/hello -H "Authorization: Bearer ${test_key}" -H "Content-Type: application/json" -d '{"name": "hello", "instructions": "Answer in one sentence."}'`,
    `  curl -N ${base}/v1/conversations -H "Authorization: Bearer ${test_key}" -H "Content-Type: application/json" -d '{"message": "Hello!", "stream": true}'`,
  ];
}

function modelNote(config: Config, catalogue: Catalogue): string[] {
  const { defaultModel } = catalogue;
  const models = catalogue.list('live');
  const endings = retirementNotes(models, new Date());
  const named = config.models.defaultModel;
  if (defaultModel === null) {
    const known = models.map(({ id }) => id).join(', ');
    return [`VESTRA_DEFAULT_MODEL is ${named}, which no configured provider has: known are ${known}.`, ...endings];
  }
  if (named !== null && named !== defaultModel) {
    const reason = catalogue.find('live', named)?.unavailable_reason;
    return [`VESTRA_DEFAULT_MODEL is ${named}. ${reason} Until then agents answer with ${defaultModel}.`, ...endings];
  }
  if (defaultModel !== 'offline') {
    const first = `Agents answer with ${defaultModel} unless a deployment chooses another model.`;
    return [first, ...unpricedNote(config, catalogue.find('live', defaultModel)?.isRefused === true), ...endings];
  }
  return [
    'No model key is set: test mode answers with the built-in stand-in "offline", live mode not at all.',
    'Set ANTHROPIC_API_KEY, OPENAI_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY or OPENAI_COMPATIBLE_BASE_URL for a real one.',
  ];
}

/** What is counted without anybody having said so, or cannot be run at all. */
function unpricedNote({ models: { compatible, defaultModel } }: Config, isDefaultRefused: boolean): string[] {
  return [
    ...(isDefaultRefused
      ? [
          `Live mode refuses ${defaultModel}, whose price is not known: set it in the file that VESTRA_MODELS_FILE names.`,
        ]
      : []),
    ...(compatible && compatible.models.length > 0 && compatible.price === null
      ? [
          'OPENAI_COMPATIBLE_PRICE is not set: its models are billed at 1.00 US dollar per million tokens in and 4.00 out.',
        ]
      : []),
  ];
}
