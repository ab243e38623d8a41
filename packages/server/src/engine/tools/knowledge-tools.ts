import { failed, type OwnTool, ownTool, part, said, text } from '@vestra/agent/own-tool';
import type { CitablePassage } from '@vestra/agent/step';
import { Failure } from '@vestra/contract/errors';
import { memory as memoryRoutes } from '@vestra/contract/memory';
import { z } from 'zod';
import { findByName, readDocument } from '../../agents/notebooks/index.ts';
import { type KnownSkill, readSkillFiles } from '../../agents/skills/index.ts';
import type { Tenant } from '../../platform/caller.ts';
import type { Database } from '../../platform/db/pool.ts';
import { isInWordsOf, type Memory } from '../../users/index.ts';
import type { MemoryMode } from '../records/conversations.ts';
import type { MessageRow, TurnRow } from '../records/tables.ts';
import type { NotebookReader, NotebookSearch, TaskComputer } from './ports.ts';

const passagesFound = 6;
const maxPartLength = 30_000;

const searchInput = z.strictObject({ query: text('What you want to know, in plain words.', 500) });
const readInput = z.strictObject({
  document: text('Its title, as search_notebooks gives it.', 200),
  notebook: text('The name of its notebook, where several have a document of this title.', 80).optional(),
  part: part('Which part of a long document; absent: the first.').optional(),
});

export function notebookTools(deps: {
  db: Database;
  search: NotebookSearch;
  reader: NotebookReader;
  marks: PassageMarks;
}): OwnTool[] {
  const { db, search, reader, marks } = deps;
  return [
    ownTool(
      {
        name: 'search_notebooks',
        description:
          'Search the notebooks. Answers the passages that fit best, each below the title of its document, with its ' +
          'heading and page. In your answer, name the document that you have it from by its title, and put the mark of ' +
          'the passage, such as [3], behind each sentence that comes from it. Use no other marks, and none in JSON.',
        input: searchInput,
        isReadOnly: true,
      },
      async ({ query }) => {
        const { hits, unindexed } = await search({ ...reader, query, limit: passagesFound });
        const sources = hits.flatMap(({ documentId, notebookId }) => [documentId, notebookId]);
        if (hits.length === 0) return { ...said(unindexed === 0 ? 'Nothing was found.' : nothingYet), sources };
        const passages = await marks.of(hits);
        const shown = hits.map((hit, at) => `# Document: ${citationOf(hit)}\n${markLine(passages[at])}\n${hit.text}`);
        const output = [...shown, ...(unindexed === 0 ? [] : [stillIndexed(unindexed)])].join('\n\n');
        return { ...said(output), sources, passages };
      },
    ),
    ownTool(
      {
        name: 'read_document',
        description: 'Read a document of the notebooks, found by search_notebooks, part by part.',
        input: readInput,
        isReadOnly: true,
      },
      async ({ document: named, notebook, part: at = 1 }) => {
        const found = (await findByName(db, reader, named)).filter(
          (each) => notebook === undefined || each.notebook === notebook,
        );
        const [only, another] = found;
        const sources = found.flatMap(({ id, notebook_id }) => [id, notebook_id]);
        if (another) {
          const notebooks = found.map((each) => each.notebook).join(', ');
          return { ...failed(`Several documents have this title. Say which by \`notebook\`: ${notebooks}.`), sources };
        }
        const document = only && (await readDocument(db, reader, only.id));
        if (!document) return { ...failed('There is no such document in your notebooks.'), sources };
        const parts = Math.max(1, Math.ceil(document.text.length / maxPartLength));
        if (at > parts) return { ...failed(`The document has ${parts} ${parts === 1 ? 'part' : 'parts'}.`), sources };
        const from = (at - 1) * maxPartLength;
        const shown = document.text.slice(from, from + maxPartLength).toWellFormed();
        const passages = await marks.of([
          { notebookId: document.notebook_id, documentId: document.id, position: null, from },
        ]);
        const heading = `# ${document.title} (part ${at} of ${parts})\n${markLine(passages[0])}`;
        return { ...said(`${heading}\n${shown}`), sources, passages };
      },
    ),
  ];
}

/** The citation of a passage. People know titles, headings and pages, not ids. */
function citationOf({ title, heading, page }: { title: string; heading: string; page: number | null }): string {
  return [title, ...(heading === '' ? [] : [heading]), ...(page === null ? [] : [`page ${page}`])].join(', ');
}

/** Below the title and not within it: the agent names documents by their titles. */
const markLine = (passage: { mark: number } | undefined) => `Cite as [${passage?.mark}]`;

const nothingYet = 'Nothing was found yet: the notebooks are still being indexed.';
const stillIndexed = (count: number) =>
  `[The notebooks are still being indexed (${count} ${count === 1 ? 'document' : 'documents'}): what is found may be incomplete.]`;

const skillInput = z.strictObject({
  name: z.string(),
  file: text('The path of a file of the skill; absent: SKILL.md.', 200).optional(),
  part: part('Which part of a long file; absent: the first.').optional(),
});

export function skillTools(deps: {
  db: Database;
  orgId: string;
  skills: readonly KnownSkill[];
  /** Runs the scripts of skills. */
  computer: TaskComputer | null;
}): OwnTool[] {
  const { db, orgId, skills, computer } = deps;
  return [
    ownTool(
      {
        name: 'use_skill',
        description: 'Read how a kind of work is done before you begin it: the skill itself, or one of its files.',
        input: skillInput,
        options: { name: skills.map(({ name }) => name) },
        isReadOnly: true,
      },
      async ({ name, file = 'SKILL.md', part: at = 1 }, signal) => {
        const skill = skills.find((each) => each.name === name);
        const sources = skill && 'id' in skill.at ? [skill.at.id] : [];
        const files = skill && (await readSkillFiles(db, orgId, skill.at));
        if (!files) return { ...failed('There is no such skill any more.'), sources };
        const found = files.find(({ path }) => path === file);
        if (!found) {
          const paths = files.map(({ path }) => path).join(', ');
          return { ...failed(`The skill has no file ${file}. It has: ${paths}.`), sources };
        }
        const maxSkillPartLength = maxPartLength * 3;
        const parts = Math.max(1, Math.ceil(found.content.length / maxSkillPartLength));
        if (at > parts) return { ...failed(`The file has ${parts} ${parts === 1 ? 'part' : 'parts'}.`), sources };
        const others = files.filter(({ path }) => path !== file).map(({ path }) => path);
        const from = (at - 1) * maxSkillPartLength;
        const shown = [
          found.content.slice(from, from + maxSkillPartLength).toWellFormed(),
          ...(parts === 1 ? [] : [`[Part ${at} of ${parts}; ask for the others with \`part\`.]`]),
          ...(others.length === 0 ? [] : [`Further files: ${others.join(', ')}`]),
        ].join('\n\n');
        if (!computer) return { ...said(shown), sources };
        const placed = await computer.placeSkill({ ...skill, files }, signal);
        return { ...said(`${shown}\n\n${placed.note}`), computerSeconds: placed.computerSeconds, sources };
      },
    ),
  ];
}

const recallInput = z.strictObject({ query: text('What you want to know about them.', 500) });
const rememberInput = z.strictObject({
  text: text('The fact, in one sentence.', 1000),
  kind: memoryRoutes.create.response.shape.kind.describe('What kind of fact it is.').optional(),
});

export function memoryTools(deps: {
  memory: Memory;
  tenant: Tenant;
  turn: Pick<TurnRow, 'user_id' | 'base_from'>;
  mode: MemoryMode;
  /** Messages of the person that are not in the summary. */
  saidByPerson: readonly Pick<MessageRow, 'text' | 'created_at'>[];
}): OwnTool[] {
  const { memory, tenant, turn, mode, saidByPerson } = deps;
  const isTheirs = (fact: string, said: typeof saidByPerson) =>
    isInWordsOf(
      fact,
      said.map((each) => each.text),
    );
  return [
    ownTool(
      {
        name: 'recall',
        description: 'Look up what you remember about the person.',
        input: recallInput,
        isReadOnly: true,
      },
      async ({ query }) => {
        const facts = await memory.recall(tenant, { userId: turn.user_id, mode, query, limit: 8 }).catch(ifUnreachable);
        if (facts === null) return failed(unreachable);
        return said(
          facts.length === 0 ? 'You remember nothing about this.' : facts.map((each) => each.text).join('\n'),
        );
      },
    ),
    ownTool(
      {
        name: 'remember',
        description: 'Keep one lasting fact about the person for later conversations, when they ask you to.',
        input: rememberInput,
        isReadOnly: false,
      },
      async ({ text: fact, kind = 'other' }) => {
        // A tool or a page may have injected this call, so only the person's own words count as theirs.
        const source = isTheirs(fact, saidByPerson) ? 'user_direct' : 'agent_inferred';
        // The agent still sees messages from before the deletion, and must not restore the deleted facts from them.
        const isSaidSince = (deletion: Date) => {
          const since = saidByPerson.filter(({ created_at }) => created_at > deletion);
          return (turn.base_from === null && since.length === saidByPerson.length) || isTheirs(fact, since);
        };
        const place = { userId: turn.user_id, mode };
        const kept = await memory
          .remember(tenant, { ...place, text: fact, kind, source, isSaidSince })
          .catch(ifUnreachable);
        if (kept === null) return failed(`${unreachable} Nothing was kept.`);
        return 'refused' in kept ? failed(kept.refused) : said('Remembered.');
      },
    ),
  ];
}

const unreachable = 'The memory of the company cannot be reached now. Go on without it, and say so if it matters.';

/** Null if the org's memory endpoint fails or is not set. The agent must know this, not that a tool broke. */
function ifUnreachable(error: unknown): null {
  const isAway =
    error instanceof Failure && (error.code === 'memory_endpoint_error' || error.code === 'memory_endpoint_required');
  if (!isAway) throw error;
  return null;
}

type Place = Omit<CitablePassage, 'mark'>;

/**
 * The marks of the passages that a run shows to its model. A mark keeps its passage for the whole conversation, because
 * later replies read earlier results again. `readKnown` returns the passages of earlier calls, and is called once.
 */
export function createPassageMarks(readKnown: () => Promise<readonly CitablePassage[]>) {
  let known: Promise<Map<string, number>> | null = null;

  const read = async () => new Map((await readKnown()).map((passage) => [nameOfPlace(passage), passage.mark]));

  return {
    /** The mark of each place, in the given order. Calls that run at once get different marks. */
    async of(places: readonly Place[]): Promise<CitablePassage[]> {
      known ??= read();
      const marks = await known;
      let last = Math.max(0, ...marks.values());
      return places.map((place) => {
        const name = nameOfPlace(place);
        const mark = marks.get(name) ?? ++last;
        marks.set(name, mark);
        return { ...place, mark };
      });
    },
  };
}

type PassageMarks = ReturnType<typeof createPassageMarks>;

const nameOfPlace = ({ documentId, position, from = 0 }: Place) => `${documentId} ${position ?? `from ${from}`}`;
