import { createHash } from 'node:crypto';
import { idOfDigest } from '@vestra/contract/ids';
import { clusterTexts, type Nearness } from './cause-clusters.ts';
import { withoutValues } from './cause-words.ts';
import type { InsightFact, InsightKind } from './insight-fact.ts';
import { timesMedian } from './outliers.ts';

/** Facts with one cause. */
export type InsightGroup = {
  id: string;
  kind: InsightKind;
  title: string;
  cause: string;
  facts: InsightFact[];
  /** The ids that this group has if another of its texts is the most frequent one, as in another period. */
  otherIds: ReadonlySet<string>;
};

/** Groups the facts of a deployment by kind and cause. `nearness` compares texts of a kind by their meaning. */
export function groupFacts(
  deploymentId: string,
  facts: readonly InsightFact[],
  nearness: ReadonlyMap<InsightKind, Nearness> = new Map(),
): InsightGroup[] {
  const bySubject = Map.groupBy(facts, ({ kind, subject, said }) => JSON.stringify([kind, subject, said === null]));
  return [...bySubject.values()].flatMap((same) => {
    const [{ kind, subject, said }] = same as [InsightFact];
    const idOf = (key: string) => idOfInsight(deploymentId, kind, subject, key);
    if (said === null) return [groupOf(same, idOf(''), new Set())];
    const keyed = same.map((fact) => ({ fact, key: fact.said?.key ?? '' }));
    const leaderOf = clusterTexts(
      same.flatMap((fact) => fact.said ?? []),
      nearness.get(kind),
    );
    const clusters = Map.groupBy(keyed, ({ key }) => leaderOf.get(key) as string);
    return [...clusters].map(([leader, members]) => {
      // The facts of the most frequent text come first, since the title quotes the first.
      const sorted = [...members.filter(({ key }) => key === leader), ...members.filter(({ key }) => key !== leader)];
      const ids = new Set(members.map(({ key }) => idOf(key)));
      return groupOf(
        sorted.map(({ fact }) => fact),
        idOf(leader),
        ids,
      );
    });
  });
}

const idOfInsight = (deploymentId: string, kind: InsightKind, subject: string, key: string): string =>
  idOfDigest(
    'ins',
    createHash('sha256')
      .update(JSON.stringify([deploymentId, kind, subject, key]))
      .digest(),
  );

function groupOf(facts: readonly InsightFact[], id: string, otherIds: ReadonlySet<string>): InsightGroup {
  const [{ kind, subject, said: compared }] = facts as readonly [InsightFact];
  const said = compared === null ? '' : shortened(withoutValues(compared.text));
  return {
    id,
    kind,
    title: titles[kind](subject, said),
    cause: [subject, said].filter((part) => part !== '').join(': '),
    facts: facts.toSorted((a, b) => b.at.getTime() - a.at.getTime()),
    otherIds,
  };
}

const maxSaid = 80;

function shortened(text: string): string {
  const characters = [...text];
  return characters.length <= maxSaid
    ? text
    : `${characters
        .slice(0, maxSaid - 1)
        .join('')
        .trimEnd()}…`;
}

const quoted = (said: string) => (said === '' ? 'a message without words' : `“${said}”`);

const titles: Record<InsightKind, (subject: string, said: string) => string> = {
  failed_reply: (code) => `Replies fail with ${code}`,
  bad_rating: (_, said) => `Bad ratings of answers to ${quoted(said)}`,
  declined_approval: (tool) => `People decline to approve ${tool}`,
  expired_question: (subject, said) =>
    subject === '' ? `Nobody answers ${quoted(said)} in time` : `Nobody answers requests for ${subject} in time`,
  empty_search: (_, said) => `The knowledge has nothing about ${quoted(said)}`,
  tool_error: (tool, said) => `${tool} fails: ${quoted(said)}`,
  repeated_question: (_, said) => `Users repeat ${quoted(said)}`,
  cost_outlier: (tool) => `Conversations ${mostlyWith(tool)}cost more than ${timesMedian} times the median`,
  latency_outlier: (tool) => `Replies ${mostlyWith(tool)}take more than ${timesMedian} times the median`,
};

const mostlyWith = (tool: string) => (tool === '' ? 'without tools ' : `that call ${tool} `);
