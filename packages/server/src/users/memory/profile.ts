import { asLine } from './fact.ts';
import type { FactRow } from './tables.ts';

const headings: Record<FactRow['kind'], string> = {
  identity: 'Who they are',
  relationship: 'People around them',
  preference: 'What they prefer',
  commitment: 'What was promised',
  project_state: 'What they are working on',
  other: 'Also known',
};

/** The kinds in the order of what an agent must know first. */
export const kindsInOrder = Object.keys(headings) as FactRow['kind'][];

/** Facts of one kind that a profile shows. */
export const mostOfKind = 6;

/**
 * The profile as Markdown, from each kind's newest facts. It is made of the facts and nothing else, so that what was
 * forgotten is forgotten here too.
 */
export function profileOf(facts: readonly Pick<FactRow, 'text' | 'kind'>[]): string | null {
  const sections = kindsInOrder.flatMap((kind) => {
    const lines = facts.filter((fact) => fact.kind === kind).slice(0, mostOfKind);
    return lines.length > 0
      ? [`## ${headings[kind]}\n\n${lines.map(({ text }) => `- ${asLine(text)}`).join('\n')}`]
      : [];
  });
  return sections.length > 0 ? sections.join('\n\n') : null;
}
