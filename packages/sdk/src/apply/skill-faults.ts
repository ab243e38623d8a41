import {
  faultOfSkillField,
  faultOfSkillPath,
  frontmatterOf,
  skillFields,
  skillLimits,
  skillMessages,
  skillPathClashes,
} from '@vestra/contract/skill-rules';
import { yamlFaults } from '@vestra/contract/yaml-fault';
import { type Document, isMap, isScalar, parseDocument } from 'yaml';

type Place = { line: number; column: number };
type SkillFault = { path: string | null; at: Place | null; message: string };

/** The `name` of a skill is null if it has a fault. */
type CheckedSkill = { name: string | null; faults: SkillFault[] };

/**
 * Checks a skill by the service's rules before anything is sent: a plan reports a broken skill with its file and line.
 * The service decides when the skill is uploaded.
 */
export function checkSkill(files: readonly { path: string; content: string }[]): CheckedSkill {
  const main = files.find(({ path }) => path === 'SKILL.md')?.content ?? '';
  const { name, faults } = checkMain(main);
  const all = [...faultsOfFiles(files), ...faults];
  return { name: all.length > 0 ? null : name, faults: all };
}

function faultsOfFiles(files: readonly { path: string; content: string }[]): SkillFault[] {
  const whole = (message: string): SkillFault => ({ path: null, at: null, message });
  const sizes = files.map(({ content }) => new TextEncoder().encode(content).byteLength);
  const total = sizes.reduce((sum, bytes) => sum + bytes, 0);
  const clashes = skillPathClashes(files.map(({ path }) => path));
  return [
    ...(files.length > skillLimits.files ? [whole(skillMessages.tooManyFiles)] : []),
    ...files.flatMap(({ path }, at) => {
      const fault = (message: string): SkillFault => ({ path, at: null, message });
      const why = faultOfSkillPath(path);
      return [
        ...((sizes[at] as number) > skillLimits.fileBytes ? [fault(`This file ${skillMessages.largeFile}.`)] : []),
        ...(why === null ? [] : [fault(`This path ${why}.`)]),
        ...clashes
          .filter((clash) => clash.at === at)
          .map(({ isSame }) => fault(`This path ${isSame ? skillMessages.samePath : skillMessages.folderIsFile}.`)),
      ];
    }),
    ...(total > skillLimits.bundleBytes ? [whole(skillMessages.largeBundle)] : []),
  ];
}

const top: Place = { line: 1, column: 1 };

function checkMain(main: string): CheckedSkill {
  const fault = (message: string, at = top): SkillFault => ({
    path: 'SKILL.md',
    at,
    message: message.charAt(0).toUpperCase() + message.slice(1),
  });
  const refused = (...faults: SkillFault[]): CheckedSkill => ({ name: null, faults });
  const head = frontmatterOf(main);
  if (head === null) return refused(fault(skillMessages.noFrontmatter));
  if (head.length > skillLimits.frontmatterLength) return refused(fault(skillMessages.longFrontmatter));
  const { document, value, broken } = parsed(head);
  if (broken) return refused(...broken.map(({ message, at }) => fault(`${skillMessages.notYaml} ${message}`, at)));
  if (!isMap(document.contents)) return refused(fault(skillMessages.noFields));
  const fields = new Map<string, unknown>(Object.entries(value as object));
  const faults = skillFields.flatMap((rule) => {
    const message = faultOfSkillField(rule, fields.get(rule.field));
    return message === null ? [] : [fault(message, placeOf(document, rule.field, head))];
  });
  return { name: String(fields.get('name')), faults };
}

type Parsed =
  | { document: Document.Parsed; value: unknown; broken: null }
  | { document: null; value: null; broken: { message: string; at: Place }[] };

function parsed(head: string): Parsed {
  const refused = (...broken: { message: string; at: Place }[]): Parsed => ({ document: null, value: null, broken });
  try {
    // A parser reports an open bracket at the line after it.
    const text = `${head}\n`;
    const document = parseDocument(text, { schema: 'core', stringKeys: true, prettyErrors: false });
    const faults = yamlFaults(text, document);
    if (faults.length > 0) return refused(...faults.map((fault) => ({ message: fault.message, at: below(fault) })));
    // The service refuses aliases, which can expand a short text to gigabytes.
    return { document, value: document.toJS({ maxAliasCount: 0 }), broken: null };
  } catch (error) {
    return refused({ message: error instanceof ReferenceError ? skillMessages.alias : skillMessages.tooDeep, at: top });
  }
}

/** The frontmatter begins in the second line. */
const below = ({ line, column }: Place): Place => ({ line: line + 1, column });

function placeOf(document: Document.Parsed, field: string, head: string): Place {
  const pair = isMap(document.contents)
    ? document.contents.items.find(({ key }) => isScalar(key) && key.value === field)
    : undefined;
  if (!pair) return top;
  const before = head.slice(0, (pair.key as { range?: [number, number, number] }).range?.[0] ?? 0).split('\n');
  return below({ line: before.length, column: (before.at(-1) as string).length + 1 });
}
