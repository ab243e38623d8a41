import { relative } from 'node:path';
import type { Catalogue } from '@vestra/models/providers';
import type { Config } from './config.ts';
import type { Server } from './start.ts';
import { version } from './version.ts';

/** What a person reads after the start: where it is, how to get in, and what to type next. */
export function welcome(config: Config, { url, firstCredentials, catalogue }: Server): string {
  if (url === null) return `Vestra ${version} works on jobs here. ctrl-C stops it.\n`;
  const base = config.publicUrl ?? url;
  const lines = [`Vestra ${version} is running at ${base}`, '', `  API reference   ${base}/docs`];
  const file = `${relative(process.cwd(), config.dataDir) || '.'}/credentials.json`;
  if (firstCredentials) {
    const { test_key, live_key, owner } = firstCredentials;
    lines.push(
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
    );
  } else {
    lines.push(`  Keys            in ${file}, as the first start wrote them`);
  }
  lines.push('', ...modelNote(config, catalogue), '');
  return `${lines.join('\n')}\n`;
}

function modelNote(config: Config, { defaultModel, list }: Catalogue): string[] {
  if (defaultModel === null) {
    return [
      `VESTRA_DEFAULT_MODEL is ${config.models.defaultModel}, which no configured provider has: known are ${list('test')
        .map(({ id }) => id)
        .join(', ')}.`,
    ];
  }
  if (defaultModel !== 'offline')
    return [`Agents answer with ${defaultModel} unless a deployment chooses another model.`];
  return [
    'No model key is set: test mode answers with the built-in stand-in "offline", live mode not at all.',
    'Set ANTHROPIC_API_KEY, OPENAI_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY or OPENAI_COMPATIBLE_BASE_URL for a real one.',
  ];
}
