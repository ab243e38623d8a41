import {
  faultOfSkillField,
  faultOfSkillPath,
  frontmatterOf,
  skillFields,
  skillLimits,
  skillMessages,
  skillPathClashes,
} from '@vestra/contract/skill-rules';
import { type Document, isMap, isScalar, LineCounter, parseDocument } from 'yaml';

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
  const lines = new LineCounter();
  const broken = (...faults: { message: string; at: Place }[]): Parsed => ({
    document: null,
    value: null,
    broken: faults,
  });
  try {
    const document = parseDocument(head, { schema: 'core', stringKeys: true, prettyErrors: false, lineCounter: lines });
    // One mistake can be thousands of errors, such as a line of brackets.
    const faults = [...document.errors, ...document.warnings].slice(0, 10);
    // The service refuses aliases, which can expand a short text to gigabytes.
    if (faults.length === 0) return { document, value: document.toJS({ maxAliasCount: 0 }), broken: null };
    return broken(...faults.map(({ message, pos }) => ({ message, at: below(lines.linePos(pos[0])) })));
  } catch (error) {
    const message = error instanceof ReferenceError ? skillMessages.alias : skillMessages.tooDeep;
    return broken({ message, at: top });
  }
}

/** The frontmatter begins in the second line. */
const below = ({ line, col }: { line: number; col: number }): Place => ({ line: line + 1, column: col });

function placeOf(document: Document.Parsed, field: string, head: string): Place {
  const pair = isMap(document.contents)
    ? document.contents.items.find(({ key }) => isScalar(key) && key.value === field)
    : undefined;
  if (!pair) return top;
  const before = head.slice(0, (pair.key as { range?: [number, number, number] }).range?.[0] ?? 0).split('\n');
  return below({ line: before.length, col: (before.at(-1) as string).length + 1 });
}
