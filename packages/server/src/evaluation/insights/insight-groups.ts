import { createHash } from 'node:crypto';
import { idOfDigest } from '@vestra/contract/ids';
import { createBreather } from '../../platform/async/breather.ts';
import { clusterTexts, type Nearness } from './cause-clusters.ts';
import { withoutValues } from './cause-words.ts';
import type { InsightFact, InsightKind } from './insight-fact.ts';
import { timesMedian } from './read-facts.ts';

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
export async function groupFacts(
  deploymentId: string,
  facts: readonly InsightFact[],
  nearness: ReadonlyMap<InsightKind, Nearness> = new Map(),
): Promise<InsightGroup[]> {
  const breathe = createBreather();
  const groups: InsightGroup[] = [];
  const bySubject = Map.groupBy(facts, ({ kind, subject, said }) => JSON.stringify([kind, subject, said === null]));
  for (const same of bySubject.values()) {
    const [{ kind, subject, said }] = same as [InsightFact];
    const idOf = (key: string) => idOfInsight(deploymentId, kind, subject, key);
    if (said === null) {
      groups.push(groupOf(same, idOf(''), new Set()));
      continue;
    }
    const keyed = same.map((fact) => ({ fact, key: fact.said?.key ?? '' }));
    const texts = same.flatMap((fact) => fact.said ?? []);
    const leaderOf = await clusterTexts(texts, nearness.get(kind), breathe);
    const clusters = Map.groupBy(keyed, ({ key }) => leaderOf.get(key) as string);
    for (const [leader, members] of clusters) {
      // The facts of the most frequent text come first, since the title quotes the first.
      const sorted = [...members.filter(({ key }) => key === leader), ...members.filter(({ key }) => key !== leader)];
      const ids = new Set([...new Set(members.map(({ key }) => key))].map(idOf));
      groups.push(
        groupOf(
          sorted.map(({ fact }) => fact),
          idOf(leader),
          ids,
        ),
      );
      await breathe();
    }
  }
  return groups;
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
  const said = compared === null ? null : shortened(withoutValues(compared.text));
  return {
    id,
    kind,
    title: titles[kind](subject, said),
    cause: [subject, said].filter((part) => part !== null && part !== '').join(': '),
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

const quoted = (said: string | null, otherwise = '') =>
  said === null ? otherwise : said === '' ? 'a message without words' : `“${said}”`;

/** `said` is null if the subject is the cause, or the org's settings do not allow to quote. */
const titles: Record<InsightKind, (subject: string, said: string | null) => string> = {
  failed_reply: (code) => `Replies fail with ${code}`,
  bad_rating: (_, said) => `Bad ratings of answers${said === null ? '' : ` to ${quoted(said)}`}`,
  declined_approval: (tool) => `People decline to approve ${tool}`,
  expired_question: (subject, said) =>
    subject === ''
      ? `Nobody answers ${quoted(said, 'questions')} in time`
      : `Nobody answers requests for ${subject} in time`,
  empty_search: (_, said) => `The knowledge has nothing about ${quoted(said, 'what was searched')}`,
  tool_error: (tool, said) => `${tool} fails${said === null ? '' : `: ${quoted(said)}`}`,
  repeated_question: (_, said) => `Users repeat ${quoted(said, 'messages')}`,
  cost_outlier: (tool) => `Conversations ${mostlyWith(tool)}cost more than ${timesMedian} times the median`,
  latency_outlier: (tool) => `Replies ${mostlyWith(tool)}take more than ${timesMedian} times the median`,
};

const mostlyWith = (tool: string) => (tool === '' ? 'without tools ' : `that call ${tool} `);
