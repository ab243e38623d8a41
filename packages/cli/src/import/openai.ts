import { refuse } from '../fault.ts';
import { addFunction, type ImportedAgent, setInstructions, startAgent } from './imported-agent.ts';
import { addServer, headersFrom, toolNamesIn } from './imported-server.ts';
import { isMap, type LooseMap, listIn, mapIn, mapsIn, oneLine, rowOf, textIn, textsIn } from './loose-value.ts';

/**
 * Imports assistants as `GET /v1/assistants/{id}` returns them, a list of them, or the body of a request to the
 * Responses API, whose tools have a flat form.
 */
export function importOpenai(content: unknown, shown: string): ImportedAgent[] {
  const entries = Array.isArray(content)
    ? content
    : Array.isArray(mapIn(content).data)
      ? mapIn(content).data
      : [content];
  const agents = listIn(entries).map((entry) => importOne(entry, shown));
  if (agents.length === 0) throw refuse(`${shown} lists no assistant.`);
  return agents;
}

const kinds = new Set(['assistant', 'response', '']);

function importOne(entry: unknown, shown: string): ImportedAgent {
  if (!isMap(entry)) throw refuse(`${shown} is not an OpenAI assistant: it is no object.`);
  if (isMap(entry.error)) {
    const code = oneLine(textIn(entry.error.code) || textIn(entry.error.type), 60) || 'unknown';
    throw refuse(`${shown} contains an error of OpenAI’s API (${code}) and no assistant. Export it again.`);
  }
  const kind = textIn(entry.object);
  if (!kinds.has(kind))
    throw refuse(`${shown} is not an OpenAI assistant: its \`object\` is \`${oneLine(kind, 60)}\`.`);
  const prompt = mapIn(entry.prompt);
  const isKnown = ['instructions', 'tools', 'input', 'model'].some((field) => entry[field] !== undefined);
  if (!isKnown && textIn(prompt.id) !== '')
    throw refuse(
      `${shown} only names the prompt ${oneLine(textIn(prompt.id), 60)}, whose text is stored at OpenAI. Copy it into \`instructions\` of the file first.`,
    );
  if (!isKnown)
    throw refuse(`${shown} is not an OpenAI assistant: it has no \`instructions\`, \`tools\` or \`model\`.`);

  const id = textIn(entry.id);
  const agent = startAgent({
    title: textIn(entry.name) || textIn(mapIn(entry.metadata).name) || 'Assistant',
    file: shown,
    source: `${kind === 'assistant' ? 'OpenAI assistant' : 'OpenAI Responses request'}${id === '' ? '' : ` ${id}`}`,
  });
  const messages = messagesOf(entry.input);
  const own = [textIn(entry.instructions), ...messages.filter(({ role }) => role !== 'user').map(({ text }) => text)];
  setInstructions(agent, own.filter(Boolean).join('\n\n'));
  agent.questions.push(...messages.filter(({ role }) => role === 'user').map(({ text }) => text), ...startersOf(entry));
  agent.model = textIn(entry.model) || null;
  setReasoning(agent, entry);
  for (const tool of mapsIn(entry.tools)) importTool(agent, tool);
  importFiles(agent, entry);
  importRest(agent, entry);
  return agent;
}

/** The messages of a Responses request: a text, or messages whose content is text or parts. */
function messagesOf(input: unknown): { role: string; text: string }[] {
  if (typeof input === 'string') return [{ role: 'user', text: input }];
  return mapsIn(input).flatMap(({ role, content }) => {
    const text =
      textIn(content) ||
      mapsIn(content)
        .map((part) => textIn(part.text))
        .join('\n');
    return ['user', 'system', 'developer'].includes(textIn(role)) && text !== '' ? [{ role: textIn(role), text }] : [];
  });
}

/** Custom GPTs and some wrappers of assistants keep them beside the instructions, or as JSON in the metadata. */
function startersOf(entry: LooseMap): string[] {
  const metadata = mapIn(entry.metadata);
  return ['conversation_starters', 'prompt_starters'].flatMap((name) => {
    const given = entry[name] ?? metadata[name];
    const list = typeof given === 'string' ? given.split(/\n|\s*\|\s*/) : listIn(given);
    return list.map((each) => textIn(each) || textIn(mapIn(each).text)).filter(Boolean);
  });
}

const efforts: Readonly<Record<string, ImportedAgent['reasoning']>> = {
  none: 'off',
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
};

function setReasoning(agent: ImportedAgent, entry: LooseMap): void {
  const effort = textIn(entry.reasoning_effort) || textIn(mapIn(entry.reasoning).effort);
  agent.reasoning = rowOf(efforts, effort) ?? null;
  if (agent.reasoning !== null)
    agent.taken.push(`Reasoning effort \`${effort}\` as \`reasoning: ${agent.reasoning}\`.`);
}

const computerNote = 'Every user of the agent has a computer that runs programs, and a browser.';
const takenTools: Readonly<Record<string, string>> = {
  code_interpreter: computerNote,
  computer: computerNote,
  computer_use_preview: computerNote,
  local_shell: computerNote,
  shell: computerNote,
  file_search: 'The agent searches the files of the folder `knowledge`.',
  retrieval: 'The agent searches the files of the folder `knowledge`.',
};

const webSearch =
  'The agent opens pages with the browser of its user. For search results, add an MCP server of a search engine under `tools`.';
const toolsWithout: Readonly<Record<string, string>> = {
  web_search: webSearch,
  web_search_preview: webSearch,
  image_generation: 'Serve it with a function, or add an MCP server that creates images.',
};

function importTool(agent: ImportedAgent, tool: LooseMap): void {
  const type = oneLine(textIn(tool.type), 60);
  const taken = rowOf(takenTools, type);
  if (type === 'function') {
    // Assistants nest the function, Responses do not.
    const { name, description, parameters } = isMap(tool.function) ? tool.function : tool;
    addFunction(agent, { name: textIn(name) || 'function', description: textIn(description), input: parameters });
  } else if (type === 'mcp') {
    importServer(agent, tool);
  } else if (taken !== undefined) {
    agent.taken.push(`Tool \`${type}\`: ${taken}`);
    for (const store of textsIn(tool.vector_store_ids)) addVectorStore(agent, store);
  } else {
    agent.gaps.push({
      what: `Tool of type \`${type || 'unknown'}\``,
      instead:
        rowOf(toolsWithout, type) ?? 'Declare it as a function under `tools`, or add an MCP server that offers it.',
    });
  }
}

function importServer(agent: ImportedAgent, tool: LooseMap): void {
  const name = textIn(tool.server_label);
  const given = Object.fromEntries(Object.entries(mapIn(tool.headers)).map(([key, value]) => [key, textIn(value)]));
  const authorization = textIn(tool.authorization);
  const headers = authorization === '' ? given : { ...given, Authorization: `Bearer ${authorization}` };
  const allowed = toolNamesIn(
    textsIn(Array.isArray(tool.allowed_tools) ? tool.allowed_tools : mapIn(tool.allowed_tools).tool_names),
  );
  const approval = mapIn(tool.require_approval);
  const always = toolNamesIn(textsIn(mapIn(approval.always).tool_names));
  const never =
    tool.require_approval === 'never' ? ('all' as const) : toolNamesIn(textsIn(mapIn(approval.never).tool_names));
  addServer(agent, {
    mcp: textIn(tool.server_url),
    ...(name !== '' && { name }),
    ...headersFrom(headers),
    ...(allowed && { allow: allowed }),
    ...(always && { require_approval: always }),
    ...(never && { run_without_asking: never }),
  });
  if (textIn(tool.connector_id) !== '')
    agent.gaps.push({
      what: `Connector \`${oneLine(textIn(tool.connector_id), 60)}\``,
      instead: 'Users connect the app of the same name themselves: `vestra apps list`.',
    });
}

function addVectorStore(agent: ImportedAgent, id: string): void {
  if (agent.downloads.some(({ what }) => what.includes(id))) return;
  agent.downloads.push({
    what: `every file of vector store ${id}`,
    where: `GET https://api.openai.com/v1/vector_stores/${id}/files, then GET https://api.openai.com/v1/files/{file_id}/content`,
    to: 'knowledge',
  });
}

function addFile(agent: ImportedAgent, id: string, to: 'knowledge' | 'files'): void {
  if (agent.downloads.some(({ what }) => what === `file ${id}`)) return;
  agent.downloads.push({ what: `file ${id}`, where: `GET https://api.openai.com/v1/files/${id}/content`, to });
}

/** Ids of the second form of assistants, then those of the first. */
function importFiles(agent: ImportedAgent, entry: LooseMap): void {
  const resources = mapIn(entry.tool_resources);
  const search = mapIn(resources.file_search);
  for (const id of textsIn(search.vector_store_ids)) addVectorStore(agent, id);
  for (const id of mapsIn(search.vector_stores).flatMap(({ file_ids }) => textsIn(file_ids)))
    addFile(agent, id, 'knowledge');
  for (const id of textsIn(mapIn(resources.code_interpreter).file_ids)) addFile(agent, id, 'files');
  const isSearch = mapsIn(entry.tools).some(({ type }) => type === 'retrieval');
  for (const id of textsIn(entry.file_ids)) addFile(agent, id, isSearch ? 'knowledge' : 'files');
}

function importRest(agent: ImportedAgent, entry: LooseMap): void {
  const gap = (what: string, instead: string) => void agent.gaps.push({ what, instead });
  const description = textIn(entry.description);
  if (description !== '')
    gap(
      `Description “${oneLine(description, 120)}”`,
      `A deployment has one outside its file: \`vestra deployments update ${agent.slug} --description "…"\`.`,
    );
  const sampling = ['temperature', 'top_p', 'max_output_tokens', 'truncation'].filter(
    (name) => ![undefined, null, 1, 'auto', 'disabled'].includes(entry[name] as never),
  );
  if (sampling.length > 0)
    gap(
      sampling.map((name) => `\`${name}\``).join(', '),
      'Models run with the settings of their provider. Say in `instructions` how answers should sound, and limit cost with `limits`.',
    );
  const format = mapIn(entry.response_format);
  const textFormat = mapIn(mapIn(entry.text).format);
  if ([format.type, textFormat.type].some((type) => type === 'json_schema' || type === 'json_object'))
    gap('Structured output of every answer', 'Send `output_schema` with the messages that need it.');
  const metadata = Object.keys(mapIn(entry.metadata));
  if (metadata.length > 0)
    gap(
      `Metadata: ${oneLine(metadata.join(', '), 120)}`,
      'Conversations and users have `metadata`; a deployment has none.',
    );
  const prompt = textIn(mapIn(entry.prompt).id);
  if (prompt !== '') gap(`Prompt ${oneLine(prompt, 60)}`, 'Its text is stored at OpenAI. Copy it into `instructions`.');
  if (/\{\{\s*\w+\s*\}\}/.test(agent.instructions))
    gap(
      'Variables such as `{{name}}` in the instructions',
      'Send their values as `context` of a message, and say in `instructions` that the context has them.',
    );
  if (!['', 'auto'].includes(textIn(entry.tool_choice)) || isMap(entry.tool_choice))
    gap('`tool_choice`', 'The agent decides which tool to call. Say in `instructions` when a tool must be called.');
}
