import { fail } from '@vestra/contract/errors';
import {
  faultOfSkillField,
  frontmatterOf,
  skillFields,
  skillLimits,
  skillMessages,
} from '@vestra/contract/skill-rules';
import { yamlFaults } from '@vestra/contract/yaml-fault';
import { parseDocument } from 'yaml';

export type Frontmatter = { name: string; description: string };

/** `param` is the request field of the file. */
export function readFrontmatter(file: string, param: string): Frontmatter {
  const refuse = (reason: string, line?: number) =>
    fail('invalid_frontmatter', { param, message: `\`SKILL.md\`${line ? `, line ${line}` : ''}: ${reason}` });
  const head = frontmatterOf(file);
  if (head === null) throw refuse(skillMessages.noFrontmatter);
  if (head.length > skillLimits.frontmatterLength) throw refuse(skillMessages.longFrontmatter);
  const parsed = parseYaml(head);
  if ('fault' in parsed) throw refuse(`${skillMessages.notYaml} ${parsed.fault}`, parsed.line);
  const { value } = parsed;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw refuse(skillMessages.noFields);
  const fields = new Map<string, unknown>(Object.entries(value));
  for (const rule of skillFields) {
    const fault = faultOfSkillField(rule, fields.get(rule.field));
    if (fault !== null) throw refuse(fault);
  }
  return { name: String(fields.get('name')), description: String(fields.get('description')).trim() };
}

function parseYaml(head: string): { value: unknown } | { fault: string; line?: number } {
  try {
    // A parser reports an open bracket at the line after it.
    const text = `${head}\n`;
    const document = parseDocument(text, { schema: 'core', stringKeys: true, prettyErrors: false });
    const [fault] = yamlFaults(text, document);
    // The frontmatter begins in the second line.
    if (fault) return { fault: fault.message, line: fault.line + 1 };
    // Aliases are refused: they can expand a short text to gigabytes.
    return { value: document.toJS({ maxAliasCount: 0 }) };
  } catch (error) {
    return { fault: error instanceof ReferenceError ? skillMessages.alias : skillMessages.tooDeep };
  }
}
