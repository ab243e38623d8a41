import { Document, isMap, isScalar, visit } from 'yaml';
import type { FileKey, WrittenFile } from './parts.ts';

const guide = 'docs/deployment-file-reference.md';

const comments: Record<FileKey, string> = {
  instructions: 'The instructions that the agent reads before every conversation.',
  language: 'A language tag, or auto to follow each user.',
  model: 'An id of GET /v1/models, or default.',
  reasoning: 'How much the model reasons before it answers: off, low, medium or high.',
  opening: 'What the page of a session shows before the first message.',
  apps: 'The apps that users may connect, or all.',
  tools: 'MCP servers, and functions that your own code answers.',
  skills: 'Bundles of text files that teach one kind of work.',
  knowledge: 'Notebooks that the agent reads before it answers.',
  approvals: 'The categories of calls that are marked for a person’s approval.',
  memory: 'Who remembers the users: vestra, customer or none.',
  computer: 'What is prepared on each computer before its first task.',
  browser: 'The sites that a user’s browser may open.',
  routines: 'Messages that are sent on a schedule or on a call.',
  limits: 'Where one task or one turn stops.',
  tests: 'Pretend users; a version goes live when all of them are content.',
  webhooks: 'Where events of this deployment are sent.',
};

/** The file as readable text with a comment on each key. It parses to the same file. */
export function renderYaml(file: WrittenFile): string {
  // Without aliases for repeated lists, and with `no` and `on` quoted, since older parsers read them as booleans.
  const document = new Document(file, { aliasDuplicateObjects: false, compat: 'yaml-1.1' });
  document.commentBefore = ` The deployment file of ${file.name}. Every key is described in ${guide}.`;
  if (isMap(document.contents)) {
    for (const { key } of document.contents.items) {
      const comment = isScalar(key) ? comments[key.value as FileKey] : undefined;
      if (!isScalar(key) || comment === undefined) continue;
      key.spaceBefore = true;
      key.commentBefore = ` ${comment} ${guide}#${key.value}`;
    }
  }
  visit(document, {
    Scalar(_key, node) {
      // A block scalar would lose leading white space.
      if (typeof node.value === 'string' && /^\s[\s\S]*\n|^\s*\n/.test(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
  // A folded quoted scalar loses a line that holds only a space, so it stays on one line.
  return document.toString({
    lineWidth: 0,
    blockQuote: 'literal',
    doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER,
  });
}
