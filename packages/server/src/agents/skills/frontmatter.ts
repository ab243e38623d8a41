import { fail } from '@vestra/contract/errors';
import {
  faultOfSkillField,
  frontmatterOf,
  skillFields,
  skillLimits,
  skillMessages,
} from '@vestra/contract/skill-rules';
import { parseDocument } from 'yaml';

export type Frontmatter = { name: string; description: string };

/** `param` is the request field of the file. */
export function readFrontmatter(file: string, param: string): Frontmatter {
  const refuse = (reason: string) => fail('invalid_frontmatter', { param, message: `\`SKILL.md\`: ${reason}` });
  const head = frontmatterOf(file);
  if (head === null) throw refuse(skillMessages.noFrontmatter);
  if (head.length > skillLimits.frontmatterLength) throw refuse(skillMessages.longFrontmatter);
  const parsed = parseYaml(head);
  if ('fault' in parsed) throw refuse(`${skillMessages.notYaml} ${parsed.fault}`);
  const { value } = parsed;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw refuse(skillMessages.noFields);
  const fields = new Map<string, unknown>(Object.entries(value));
  for (const rule of skillFields) {
    const fault = faultOfSkillField(rule, fields.get(rule.field));
    if (fault !== null) throw refuse(fault);
  }
  return { name: String(fields.get('name')), description: String(fields.get('description')).trim() };
}

function parseYaml(head: string): { value: unknown } | { fault: string } {
  try {
    const document = parseDocument(head, { schema: 'core', stringKeys: true, prettyErrors: false });
    // The library only warns about an unknown tag and then ignores it, so warnings are errors here.
    const [fault] = [...document.errors, ...document.warnings];
    if (fault) return { fault: fault.message };
    // Aliases are refused: they can expand a short text to gigabytes.
    return { value: document.toJS({ maxAliasCount: 0 }) };
  } catch (error) {
    return { fault: error instanceof ReferenceError ? skillMessages.alias : skillMessages.tooDeep };
  }
}
