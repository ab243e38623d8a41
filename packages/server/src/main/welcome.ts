import type { Catalogue } from '@vestra/models/catalogue/catalogue';
import { retirementNotes } from '@vestra/models/catalogue/retirement';
import type { Config } from '../platform/config/config.ts';
import { version } from '../platform/version.ts';
import type { Credentials } from './provisioning.ts';
import { credentialsPath } from './provisioning.ts';
import type { Server } from './start.ts';

/**
 * The text after the start: the address, how to sign in, and the first commands. It shows keys and the password on a
 * terminal only, because other outputs are stored.
 */
export function welcome(
  config: Config,
  { url, firstCredentials, catalogue }: Server,
  { compatibleProblem, isTerminal }: { compatibleProblem: string | null; isTerminal: boolean },
): string {
  if (config.role === 'computers') return `Vestra ${version} runs computers here. ctrl-C stops it.\n`;
  if (url === null) {
    return `${[`Vestra ${version} works on jobs here. ctrl-C stops it.`, ...embeddingsNote(config)].join('\n')}\n`;
  }
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
  const notes = [...modelNote(config, catalogue), ...compatibleNote(config, compatibleProblem)];
  lines.push('', ...notes, ...embeddingsNote(config), '');
  return `${lines.join('\n')}\n`;
}

function firstSteps({ test_key, live_key, owner }: Credentials, base: string, file: string): string[] {
  return [
    `  Test key        ${test_key}`,
    `  Live key        ${live_key}`,
    `  Owner           ${owner.email}, password ${owner.password}`,
    '',
    `These are shown once and stored in ${file}.`,
    '',
    'Create an agent and talk to it, here or with `npx vestra init`:',
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
    const isDefaultRefused = catalogue.find('live', defaultModel)?.isRefused === true;
    const isCompatible = models.some(({ provider, endpoint }) => provider === 'compatible' && endpoint === null);
    return [first, ...unpricedNote(config, { isDefaultRefused, isCompatible }), ...endings];
  }
  if (config.models.compatible) {
    return ['No model is available yet: test mode answers with the built-in stand-in "offline", live mode not at all.'];
  }
  return [
    'No model key is set: test mode answers with the built-in stand-in "offline", live mode not at all.',
    'Set ANTHROPIC_API_KEY, OPENAI_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY or OPENAI_COMPATIBLE_BASE_URL for a real one.',
  ];
}

/** The provider receives the texts and is paid for them, so nobody should learn of it from an invoice. */
const embeddingsNote = ({ embeddings }: Config): string[] =>
  embeddings === null
    ? []
    : [
        `${embeddings.provider}/${embeddings.model} embeds the texts of memory and notebooks, and so receives them. Set VESTRA_EMBEDDINGS=offline to keep them on this machine.`,
      ];

const exampleAddress = 'OPENAI_COMPATIBLE_BASE_URL=http://127.0.0.1:11434/v1';

function compatibleNote({ models: { compatible }, asksForModels }: Config, problem: string | null): string[] {
  if (!compatible || compatible.models.length > 0) return [];
  if (!asksForModels) {
    return ['VESTRA_ASK_FOR_MODELS is 0: name the models of OPENAI_COMPATIBLE_BASE_URL in OPENAI_COMPATIBLE_MODELS.'];
  }
  if (problem === null) return [];
  return [
    `${withoutPassword(compatible.baseUrl)}/models ${problem}: check OPENAI_COMPATIBLE_BASE_URL, for example ${exampleAddress}.`,
    'The server keeps asking it, and uses its first model as soon as it lists one.',
  ];
}

function withoutPassword(address: string): string {
  const url = new URL(address);
  url.username = '';
  url.password = '';
  url.search = '';
  return url.href.replace(/\/+$/, '');
}

/** Notes about models that are billed at a default price, or that live mode refuses. */
function unpricedNote(
  { models: { compatible, defaultModel } }: Config,
  { isDefaultRefused, isCompatible }: { isDefaultRefused: boolean; isCompatible: boolean },
): string[] {
  return [
    ...(isDefaultRefused
      ? [
          `Live mode refuses ${defaultModel}, whose price is not known: set it in the file that VESTRA_MODELS_FILE names.`,
        ]
      : []),
    ...(isCompatible && compatible?.price === null
      ? [
          'OPENAI_COMPATIBLE_PRICE is not set: its models are billed at 1.00 US dollar per million tokens in and 4.00 out.',
        ]
      : []),
  ];
}
