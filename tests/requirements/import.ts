import { area } from '../requirement.ts';

export const imports = area('import', 'done', [
  [
    'IMP-700',
    'docs/import.md#command',
    'An OpenAI assistant becomes a folder: instructions, functions with their arguments, stubs, tests, files to download, and what has no counterpart.',
  ],
  ['IMP-701', 'docs/import.md#command', 'A list of assistants becomes one folder each, below `--out`.'],
  [
    'IMP-702',
    'docs/import.md#command',
    'The body of a Responses request is read, with its flat functions and MCP servers.',
  ],
  [
    'IMP-703',
    'docs/import.md#command',
    'Instructions above 8,000 characters continue in a skill, and no word is lost.',
  ],
  [
    'IMP-704',
    'docs/import.md#command',
    'A Dify agent app becomes a folder with its tools, knowledge bases and suggested questions.',
  ],
  [
    'IMP-705',
    'docs/import.md#command',
    'A Dify chatflow becomes one agent; prompts, requests, code, tools and MCP servers are taken over, and other nodes are listed.',
  ],
  [
    'IMP-706',
    'docs/import.md#command',
    'A LangGraph assistant becomes a folder, with the `langgraph.json` beside it; a graph alone becomes a function that calls it.',
  ],
  [
    'IMP-707',
    'docs/import.md#command',
    'Every credential of an export is written as `${NAME}`, and `IMPORT.md` names it.',
  ],
  [
    'IMP-708',
    'docs/import.md#command',
    'A broken file, an unknown kind or an existing folder is refused in one sentence, and nothing is written.',
  ],
  ['IMP-709', 'docs/import.md#command', 'The contract accepts the written `service.yaml`, however odd the export.'],
  ['IMP-710', 'docs/import.md#command', 'The server accepts an imported folder once its secrets are stored.'],
]);
