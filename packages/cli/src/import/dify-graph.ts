import { addFunction, type ImportedAgent, setInstructions } from './imported-agent.ts';
import { addServer, headersFrom } from './imported-server.ts';
import { isMap, joinedWords, type LooseMap, mapIn, mapsIn, oneLine, rowOf, textIn, textsIn } from './loose-value.ts';

type GraphParts = {
  addDataset: (agent: ImportedAgent, id: string) => void;
  importVariables: (agent: ImportedAgent, variables: readonly LooseMap[]) => void;
};

/** Nodes without a counterpart, and what does their job here. */
const nodesWithout: Readonly<Record<string, string>> = {
  'if-else': 'Say the rule in `instructions`, or decide in the code of a function.',
  iteration: 'The agent repeats a call for each item. A fixed loop belongs in one function.',
  loop: 'The agent repeats a call until it is done. A fixed loop belongs in one function.',
  'template-transform': 'The agent writes texts itself: say their form in `instructions`.',
  'variable-aggregator': 'Nothing is needed: the agent sees every result.',
  'variable-assigner': 'Nothing is needed: the agent sees every result.',
  assigner: 'The agent reads the whole conversation. Facts about a user belong to `memory`.',
  'list-operator': 'Sort and filter in the code of a function.',
  'document-extractor': 'Nothing is needed: the agent reads attached documents.',
  'parameter-extractor': 'Nothing is needed: the agent fills in the arguments of a function.',
  'question-classifier': 'The agent decides by its instructions; the classes are listed there.',
  'human-input':
    'A function that changes something waits for approval by itself. The agent asks users with a question.',
};

/** Nodes that only carry the flow. */
const silent = new Set(['start', 'end', 'answer', 'iteration-start', 'loop-start', 'loop-end', '']);

/** Imports the nodes of a chatflow or workflow: one agent that decides the order by its instructions. */
export function importGraph(agent: ImportedAgent, nodes: readonly LooseMap[], parts: GraphParts): void {
  const titles = new Map(nodes.map(({ id, data }) => [textIn(id), textIn(mapIn(data).title)]));
  const readable = (text: string) => readableTemplate(text, titles);
  const prompts: { title: string; text: string }[] = [];
  const without = new Map<string, string[]>();
  for (const { data } of nodes) {
    const node = mapIn(data);
    const type = textIn(node.type);
    const title = oneLine(textIn(node.title), 80) || type;
    if (type === 'start') parts.importVariables(agent, mapsIn(node.variables));
    else if (type === 'llm') prompts.push({ title, text: readable(promptOfLlm(node)) });
    else if (type === 'agent') prompts.push({ title, text: readable(importAgentNode(agent, node)) });
    else if (type === 'knowledge-retrieval') for (const id of textsIn(node.dataset_ids)) parts.addDataset(agent, id);
    else if (type === 'tool') addDifyTool(agent, node);
    else if (type === 'http-request') addRequest(agent, node, { title, readable });
    else if (type === 'code') addCode(agent, node, title);
    else if (!silent.has(type)) without.set(type, [...(without.get(type) ?? []), title]);
    if (type === 'question-classifier') prompts.push({ title, text: classesOf(node) });
    if (agent.model === null && (type === 'llm' || type === 'agent')) agent.model = modelOf(node);
  }
  for (const [type, named] of without)
    agent.gaps.push({
      what: `${named.length === 1 ? 'Node' : `${named.length} nodes`} of type \`${oneLine(type, 60)}\`: ${oneLine(named.join(', '), 160)}`,
      instead:
        rowOf(nodesWithout, type) ?? 'Write its step as a function under `tools`, or describe it in `instructions`.',
    });
  const filled = prompts.filter(({ text }) => text.trim() !== '');
  // One prompt is the agent's own; several are steps, whose order the agent decides by their titles.
  const sections = filled.map(({ title, text }) => `# ${title}\n\n${text.trim()}`);
  setInstructions(agent, filled.length === 1 ? (filled[0]?.text ?? '') : sections.join('\n\n'));
  if (filled.length > 1)
    agent.gaps.push({
      what: `The order of ${filled.length} prompts`,
      instead:
        'They are sections of `instructions`, and the agent decides which one applies. Say what comes first. What must happen in one fixed order belongs in one function.',
    });
}

const promptOfLlm = ({ prompt_template }: LooseMap): string =>
  isMap(prompt_template)
    ? textIn(prompt_template.text)
    : mapsIn(prompt_template)
        .filter(({ role }) => textIn(role) !== 'assistant')
        .map(({ text, jinja2_text }) => textIn(text) || textIn(jinja2_text))
        .filter((text) => !/^\s*\{\{#(?:sys\.query|context)#\}\}\s*$/.test(text))
        .join('\n\n');

function modelOf({ model, agent_parameters }: LooseMap): string | null {
  const own = mapIn(mapIn(mapIn(agent_parameters).model).value);
  return textIn(mapIn(model).name) || textIn(own.model) || null;
}

const classesOf = ({ classes, instruction, instructions }: LooseMap): string =>
  [textIn(instruction) || textIn(instructions), ...mapsIn(classes).map(({ name }) => `- ${oneLine(textIn(name))}`)]
    .filter(Boolean)
    .join('\n');

/** `{{#1722.text#}}` names a node by a number that nobody can read. */
function readableTemplate(text: string, titles: ReadonlyMap<string, string>): string {
  return text.replace(/\{\{#([^#}]+)#\}\}/g, (_, reference: string) => {
    const [node = '', ...path] = reference.split('.');
    if (node === 'context') return '(the knowledge that was found)';
    if (node === 'sys') return path[0] === 'query' ? '(the message of the user)' : `(${path.join(' ')})`;
    if (node === 'conversation' || node === 'env') return `(the variable ${path.join('.')})`;
    const title = titles.get(node);
    return title ? `(${path.join('.')} of “${oneLine(title, 60)}”)` : `(${path.join('.') || node})`;
  });
}

/** Returns the instructions of an agent node, and adds its tools and servers. */
function importAgentNode(agent: ImportedAgent, { agent_parameters, title }: LooseMap): string {
  const parameters = mapIn(agent_parameters);
  const settingOf = (name: string) => mapIn(parameters[name]).value;
  for (const tool of mapsIn(settingOf('tools'))) addDifyTool(agent, tool);
  for (const name of ['mcp_server', 'mcp_server_url', 'server_url']) {
    const address = textIn(settingOf(name));
    if (address !== '') addServer(agent, { mcp: address, name: oneLine(textIn(title), 80) || 'MCP' });
  }
  for (const name of ['mcp_servers_config', 'servers_config', 'mcp_config']) addServersOf(agent, settingOf(name));
  return textIn(settingOf('instruction')) || textIn(settingOf('instructions'));
}

/** A JSON text such as `{"orders": {"url": "https://…", "headers": {…}}}`. */
function addServersOf(agent: ImportedAgent, given: unknown): void {
  const config = typeof given === 'string' ? parsed(given) : given;
  const servers = isMap(mapIn(config).mcpServers) ? mapIn(mapIn(config).mcpServers) : mapIn(config);
  for (const [name, server] of Object.entries(servers)) {
    if (!isMap(server)) continue;
    const headers = Object.entries(mapIn(server.headers)).map(([key, value]) => [key, textIn(value)]);
    addServer(agent, {
      mcp: textIn(server.url),
      name: oneLine(name, 80),
      ...headersFrom(Object.fromEntries(headers)),
    });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Types of Dify’s tool parameters in JSON Schema. */
const parameterTypes: Readonly<Record<string, string>> = {
  number: 'number',
  boolean: 'boolean',
  array: 'array',
  object: 'object',
};

/** A tool of a plugin, of an OpenAPI description or of a workflow: its code is not in the export. */
export function addDifyTool(agent: ImportedAgent, tool: LooseMap): void {
  if (tool.enabled === false) return;
  const provider = oneLine(textIn(tool.provider_name) || textIn(tool.provider_id), 80);
  const kind = textIn(tool.provider_type) || textIn(tool.type);
  const name = textIn(tool.tool_name) || textIn(tool.tool_label) || textIn(tool.title) || provider;
  if (kind === 'mcp')
    return void agent.gaps.push({
      what: `Tool \`${oneLine(name, 80)}\` of the MCP server \`${provider}\``,
      instead: 'The export has no address of the server. Add it under `tools` as `mcp: https://…`.',
    });
  const schemas = mapsIn(tool.paramSchemas ?? tool.schemas);
  const given = { ...mapIn(tool.tool_parameters), ...mapIn(tool.parameters) };
  addFunction(agent, {
    name,
    description:
      textIn(tool.tool_description) ||
      textIn(mapIn(tool.extra).description) ||
      `${oneLine(textIn(tool.tool_label) || name, 120)}, as the tool of ${provider || 'Dify'} did.`,
    input: schemas.length > 0 ? inputOf(schemas) : inputOfNames(Object.keys(given)),
    notes: [
      `Dify ran ${kind === 'api' ? 'a custom tool (OpenAPI)' : kind === 'workflow' ? 'a workflow' : 'a plugin'} of ${provider || 'a provider'}: ${oneLine(name, 80)}.`,
    ],
  });
}

function inputOf(schemas: readonly LooseMap[]): LooseMap {
  const asked = schemas.filter(
    ({ name, form, type }) => textIn(name) !== '' && form !== 'form' && type !== 'secret-input',
  );
  const properties = asked.map((schema) => {
    const type = rowOf(parameterTypes, textIn(schema.type)) ?? 'string';
    const described = textIn(schema.llm_description) || textIn(mapIn(schema.human_description).en_US);
    const choices = mapsIn(schema.options)
      .map(({ value }) => textIn(value))
      .filter(Boolean);
    return [
      textIn(schema.name),
      {
        type,
        ...(described !== '' && { description: oneLine(described, 500) }),
        ...(choices.length > 0 && type === 'string' && { enum: [...new Set(choices)] }),
      },
    ];
  });
  const required = asked.filter((schema) => schema.required === true).map(({ name }) => textIn(name));
  return { type: 'object', properties: Object.fromEntries(properties), ...(required.length > 0 && { required }) };
}

const inputOfNames = (names: readonly string[]): LooseMap => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
});

/** Variables of templates become the arguments of the function. */
function addRequest(
  agent: ImportedAgent,
  node: LooseMap,
  { title, readable }: { title: string; readable: (text: string) => string },
): void {
  const body = JSON.stringify(node.body ?? '');
  const sources = [textIn(node.url), textIn(node.params), textIn(node.headers), body];
  const variables = sources.flatMap((text) => [...text.matchAll(/\{\{#([^#}]+)#\}\}/g)].map(([, path = '']) => path));
  const names = new Set(
    variables.map((path) => joinedWords(path.split('.').slice(1).join(' ') || path, '_')).filter(Boolean),
  );
  const method = oneLine(textIn(node.method), 10).toUpperCase() || 'GET';
  addFunction(agent, {
    name: joinedWords(title, '_') || 'send_request',
    description: `${title}: sends a request to ${oneLine(readable(textIn(node.url)), 300)} and returns its response.`,
    input: inputOfNames([...names]),
    notes: [
      `${method} ${oneLine(readable(textIn(node.url)), 300)}`,
      ...credentialHeader(mapIn(mapIn(node.authorization).config)),
      ...textIn(node.headers)
        .split('\n')
        .filter(Boolean)
        .map((line) => `header ${oneLine(readable(line))}`),
      ...(textIn(node.params) === '' ? [] : [`query ${oneLine(readable(textIn(node.params)))}`]),
      ...(['""', '{}', 'null'].includes(body) ? [] : [`body ${oneLine(readable(body), 500)}`]),
    ],
  });
}

function credentialHeader({ header, type, api_key }: LooseMap): string[] {
  const scheme = textIn(type) === 'custom' ? '' : `${textIn(type) === 'basic' ? 'Basic' : 'Bearer'} `;
  const reference = textIn(api_key);
  return reference === ''
    ? []
    : [`header ${oneLine(textIn(header), 64) || 'Authorization'}: ${scheme}${oneLine(reference, 80)}`];
}

/** The folder `original` has the code, so that an engineer can rewrite it as a function. */
function addCode(agent: ImportedAgent, node: LooseMap, title: string): void {
  const isPython = textIn(node.code_language) !== 'javascript';
  const names = mapsIn(node.variables)
    .map(({ variable }) => textIn(variable))
    .filter(Boolean);
  const outputs = Object.keys(mapIn(node.outputs));
  const name = addFunction(agent, {
    name: joinedWords(title, '_') || 'run_code',
    description: `${title}: computes ${outputs.length > 0 ? oneLine(outputs.join(', '), 200) : 'a result'} from its arguments.`,
    input: inputOfNames(names),
    notes: [`Dify ran ${isPython ? 'Python' : 'JavaScript'} code, which is in the folder \`original\`.`],
  });
  const code = textIn(node.code);
  if (name !== null && code !== '')
    agent.files.set(`original/${name}.${isPython ? 'py' : 'js'}`, `${code.trimEnd()}\n`);
}
