import { refuse } from '../fault.ts';
import { addFunction, type ImportedAgent, setInstructions, startAgent } from './imported-agent.ts';
import { addServer, toolNamesIn } from './imported-server.ts';
import { isMap, type LooseMap, listIn, mapIn, mapsIn, oneLine, textIn, textsIn } from './loose-value.ts';

type GraphFile = { graphs: Map<string, string>; rest: LooseMap };

/** Whether a file is the configuration of a LangGraph application, not an assistant. */
export const isLanggraphFile = (content: unknown): boolean =>
  isMap(mapIn(content).graphs) && mapIn(content).assistant_id === undefined;

/**
 * Imports assistants of a LangGraph server, with the `langgraph.json` of their application if it is known. Without
 * assistants, each graph becomes an agent that calls it.
 */
export function importLanggraph(given: { assistants: unknown; application: unknown }, shown: string): ImportedAgent[] {
  const application = given.application === undefined ? null : graphFileOf(given.application);
  if (given.assistants === undefined) {
    if (!application || application.graphs.size === 0)
      throw refuse(`${shown} has no \`graphs\`: name a langgraph.json.`);
    return [...application.graphs.keys()].map((graph) => importGraphAlone(graph, application));
  }
  const entries = Array.isArray(given.assistants) ? given.assistants : [given.assistants];
  const agents = entries.map((entry) => importAssistant(entry, application, shown));
  if (agents.length === 0) throw refuse(`${shown} lists no assistant.`);
  return agents;
}

/** A graph is given by its path, or by an object with the path. */
function graphFileOf(content: unknown): GraphFile {
  const { graphs, ...rest } = mapIn(content);
  const paths = Object.entries(mapIn(graphs)).map(([name, graph]): [string, string] => [
    name,
    textIn(graph) || textIn(mapIn(graph).path),
  ]);
  return { graphs: new Map(paths), rest };
}

const promptNames = ['system_prompt', 'system_message', 'prompt', 'instructions', 'system', 'custom_instructions'];
const modelNames = ['model', 'model_name', 'llm', 'query_model', 'response_model', 'research_model'];
const samplingNames = ['temperature', 'max_tokens', 'top_p'];
const ownNames = new Set(['thread_id', 'checkpoint_id', 'checkpoint_ns', 'tools', 'mcp_config', 'rag', 'agents']);

function importAssistant(entry: unknown, application: GraphFile | null, shown: string): ImportedAgent {
  if (!isMap(entry)) throw refuse(`${shown} is not a LangGraph assistant: it is no object.`);
  const config = mapIn(entry.config);
  const settings = { ...mapIn(config.configurable), ...mapIn(entry.context) };
  const graph = textIn(entry.graph_id);
  if (graph === '' && Object.keys(settings).length === 0)
    throw refuse(`${shown} is not a LangGraph assistant: it has no \`graph_id\`, \`config\` or \`context\`.`);
  const id = textIn(entry.assistant_id);
  const agent = startAgent({
    title: textIn(entry.name) || textIn(mapIn(entry.metadata).name) || graph || 'Assistant',
    file: shown,
    source: `LangGraph assistant${id === '' ? '' : ` ${id}`}${graph === '' ? '' : ` of the graph ${graph}`}`,
  });
  const prompts = promptNames.map((name) => textIn(settings[name])).filter(Boolean);
  setInstructions(agent, prompts.join('\n\n'));
  agent.model = modelNames.map((name) => textIn(settings[name])).find(Boolean) ?? null;
  importTools(agent, settings);
  importRest(agent, settings);
  const steps = Number(config.recursion_limit);
  if (Number.isInteger(steps) && steps >= 1) {
    agent.maxSteps = Math.min(steps, 500);
    agent.taken.push(`\`recursion_limit\` as \`limits.max_steps: ${agent.maxSteps}\`.`);
  }
  const description = textIn(entry.description) || textIn(mapIn(entry.metadata).description);
  if (description !== '')
    agent.gaps.push({
      what: `Description “${oneLine(description, 120)}”`,
      instead: `A deployment has one outside its file: \`vestra deployments update ${agent.slug} --description "…"\`.`,
    });
  importGraph(agent, graph, application);
  return agent;
}

/** Tools by name, or with their schema; the servers, collections and agents of an Open Agent Platform assistant. */
function importTools(agent: ImportedAgent, settings: LooseMap): void {
  for (const tool of listIn(settings.tools)) {
    const own = isMap(tool) ? (isMap(tool.function) ? tool.function : tool) : { name: textIn(tool) };
    const name = textIn(mapIn(own).name);
    if (name === '') continue;
    const { description, args_schema, parameters, input_schema } = mapIn(own);
    addFunction(agent, { name, description: textIn(description), input: parameters ?? args_schema ?? input_schema });
  }
  const servers = isMap(settings.mcp_config) ? [settings.mcp_config] : mapsIn(settings.mcp_config);
  for (const server of servers) {
    const allow = toolNamesIn(textsIn(server.tools));
    addServer(agent, { mcp: endpointOf(textIn(server.url)), ...(allow && { allow }) });
    if (server.auth_required === true)
      agent.gaps.push({
        what: `Sign-in of the MCP server at ${oneLine(textIn(server.url), 120)}`,
        instead:
          'Store its token with `vestra secrets set NAME` and add `auth: ${NAME}`, or `${user_secret:NAME}` for each user’s own.',
      });
  }
  const rag = mapIn(settings.rag);
  for (const collection of textsIn(rag.collections))
    agent.downloads.push({
      what: `every document of the collection ${oneLine(collection, 80)}`,
      where: textIn(rag.rag_url) || 'the vector store of the application',
      to: 'knowledge',
    });
  for (const other of mapsIn(settings.agents))
    agent.gaps.push({
      what: `Agent “${oneLine(textIn(other.name) || textIn(other.agent_id), 80)}” as a tool`,
      instead: 'Import it as a deployment, and call it from a function, or over A2A.',
    });
}

/** Agents of the Open Agent Platform store the host of a server and add `/mcp` when they call it. */
const endpointOf = (url: string): string => (/\/(?:mcp|sse)\/?$/.test(url) ? url : `${url.replace(/\/+$/, '')}/mcp`);

function importRest(agent: ImportedAgent, settings: LooseMap): void {
  const sampling = samplingNames.filter((name) => settings[name] !== undefined && settings[name] !== null);
  if (sampling.length > 0)
    agent.gaps.push({
      what: sampling.map((name) => `\`${name}\``).join(', '),
      instead: 'Models run with the settings of their provider.',
    });
  const known = new Set([...promptNames, ...modelNames, ...samplingNames, ...ownNames]);
  const others = Object.keys(settings).filter((name) => !known.has(name) && !name.startsWith('__'));
  if (others.length > 0)
    agent.gaps.push({
      what: `Settings of the graph: ${oneLine(others.join(', '), 160)}`,
      instead:
        'The code of the graph reads them. Say their effect in `instructions`, or set them where your functions run.',
    });
}

function importGraphAlone(graph: string, application: GraphFile): ImportedAgent {
  const agent = startAgent({ title: graph, source: `LangGraph graph ${graph}`, file: graph });
  agent.gaps.push({
    what: 'Instructions',
    instead:
      'langgraph.json has none. Write them, or export an assistant with `GET /assistants/{assistant_id}` and import both: `vestra import langgraph assistant.json`.',
  });
  importGraph(agent, graph, application);
  return agent;
}

/** The tools and edges of a graph are code. Without known tools, one function calls the whole graph. */
function importGraph(agent: ImportedAgent, graph: string, application: GraphFile | null): void {
  const path = application?.graphs.get(graph);
  if (agent.functions.length + agent.servers.length === 0 && graph !== '')
    addFunction(agent, {
      name: `run_${graph}`,
      description: `Runs the graph ${oneLine(graph, 80)} for one request and returns its result.`,
      input: { type: 'object', properties: { request: { type: 'string' } }, required: ['request'] },
      notes: [
        `Calls your graph${path ? ` at ${oneLine(path, 120)}` : ''}, for example with RemoteGraph, and \`call_id\` as its thread.`,
      ],
    });
  agent.gaps.push({
    what: `Nodes, edges and tools of the graph${path ? ` in ${oneLine(path, 120)}` : ''}`,
    instead:
      'They are code. List each tool under `tools`, or keep the graph behind one function. A tool that changes something waits for approval, as after `interrupt()`.',
  });
  if (!application) return;
  const { env, auth, store, http, ui, ...others } = application.rest;
  const variables = isMap(env) ? Object.keys(env).join(', ') : textIn(env);
  if (variables !== '')
    agent.gaps.push({
      what: `Environment: ${oneLine(variables, 160)}`,
      instead: 'Set it where your functions run. Keys of model providers belong to the server’s settings.',
    });
  const rows: [unknown, string, string][] = [
    [
      auth,
      'Authentication handlers (`auth`)',
      'Your backend calls the API with a key and names the `user_id`; browsers get a session token.',
    ],
    [store, 'Store (`store`)', 'Facts about users are `memory`; other data stays in your database, behind a function.'],
    [http, 'Custom routes (`http`)', 'Serve them from your backend.'],
    [ui, 'User interface (`ui`)', 'Embed `<vestra-session>`.'],
    [others.checkpointer, 'Checkpointer', 'Nothing is needed: every step is stored in PostgreSQL.'],
  ];
  for (const [value, what, instead] of rows) if (value !== undefined) agent.gaps.push({ what, instead });
}
