import { refuse } from '../fault.ts';
import { addDifyTool, importGraph } from './dify-graph.ts';
import { type ImportedAgent, setInstructions, startAgent } from './imported-agent.ts';
import { isMap, type LooseMap, mapIn, mapsIn, oneLine, textIn, textsIn } from './loose-value.ts';

const chatModes = new Set(['chat', 'agent-chat', 'completion']);
const graphModes = new Set(['advanced-chat', 'workflow']);

/** Imports an app of Dify from its DSL. */
export function importDify(content: unknown, shown: string): ImportedAgent[] {
  const app = mapIn(mapIn(content).app);
  const mode = textIn(app.mode);
  if (!isMap(content) || mode === '')
    throw refuse(`${shown} is not a Dify DSL: it has no \`app\` with a \`mode\`. Export the app with “Export DSL”.`);
  const kind = textIn(content.kind) || 'app';
  if (kind !== 'app') throw refuse(`${shown} is a Dify \`${oneLine(kind, 60)}\`: only an \`app\` can be imported.`);
  if (!chatModes.has(mode) && !graphModes.has(mode))
    throw refuse(
      `${shown} has the mode \`${oneLine(mode, 60)}\`: only chat, agent-chat, completion, advanced-chat and workflow can be imported.`,
    );
  const agent = startAgent({ title: textIn(app.name), source: `Dify app (${mode})`, file: shown });
  const description = textIn(app.description);
  if (description !== '')
    agent.gaps.push({
      what: `Description “${oneLine(description, 120)}”`,
      instead: `A deployment has one outside its file: \`vestra deployments update ${agent.slug} --description "…"\`.`,
    });
  if (chatModes.has(mode)) importChat(agent, mapIn(content.model_config), mode);
  else importWorkflow(agent, mapIn(content.workflow), shown);
  return [agent];
}

function importChat(agent: ImportedAgent, config: LooseMap, mode: string): void {
  const gap = (what: string, instead: string) => void agent.gaps.push({ what, instead });
  const model = mapIn(config.model);
  agent.model = textIn(model.name) || null;
  setInstructions(agent, promptOf(config));
  importVariables(
    agent,
    mapsIn(config.user_input_form).flatMap((each) =>
      Object.entries(each).map(([type, own]) => ({ type, ...mapIn(own) })),
    ),
  );

  const agentMode = mapIn(config.agent_mode);
  const datasets = [...mapsIn(mapIn(mapIn(config.dataset_configs).datasets).datasets), ...mapsIn(agentMode.tools)].map(
    ({ dataset }) => mapIn(dataset),
  );
  for (const dataset of datasets) if (dataset.enabled !== false) addDataset(agent, textIn(dataset.id));
  if (mode === 'agent-chat') {
    for (const tool of mapsIn(agentMode.tools)) if (!isMap(tool.dataset)) addDifyTool(agent, tool);
    const steps = Number(agentMode.max_iteration);
    if (Number.isInteger(steps) && steps >= 1 && steps <= 500) {
      agent.maxSteps = steps + 1;
      agent.taken.push(`Maximum iterations as \`limits.max_steps: ${agent.maxSteps}\`, with one for the answer.`);
    }
  }
  if (mode === 'completion')
    gap(
      'A form that creates one text',
      'The agent answers in a conversation: send the text as one message, and the form’s fields as its `context`.',
    );
  importFeatures(agent, config);
  if (Object.keys(mapIn(model.completion_params)).length > 0)
    gap('Model parameters such as `temperature`', 'Models run with the settings of their provider.');
  for (const tool of mapsIn(config.external_data_tools))
    gap(
      `External data tool “${oneLine(textIn(tool.label) || textIn(tool.variable), 60)}”`,
      'Declare it as a function under `tools`; the agent calls it when it needs the data.',
    );
}

/** The prompt of the simple editor, or the messages of the advanced one. */
function promptOf(config: LooseMap): string {
  const messages = mapsIn(mapIn(config.chat_prompt_config).prompt);
  const advanced = messages.map(({ text }) => textIn(text)).join('\n\n');
  const completion = textIn(mapIn(mapIn(mapIn(config.completion_prompt_config).prompt)).text);
  return textIn(config.prompt_type) === 'advanced' ? advanced || completion : textIn(config.pre_prompt);
}

function importWorkflow(agent: ImportedAgent, workflow: LooseMap, shown: string): void {
  const nodes = mapsIn(mapIn(workflow.graph).nodes);
  if (nodes.length === 0) throw refuse(`${shown} has no \`workflow.graph.nodes\`: export the app again.`);
  importGraph(agent, nodes, { addDataset, importVariables });
  for (const { name, value_type } of mapsIn(workflow.environment_variables)) {
    if (textIn(value_type) === 'secret') continue;
    agent.gaps.push({
      what: `Environment variable \`${oneLine(textIn(name), 60)}\``,
      instead: 'Set it where your functions run, or under `computer.env`.',
    });
  }
  const kept = mapsIn(workflow.conversation_variables).map(({ name }) => textIn(name));
  if (kept.length > 0)
    agent.gaps.push({
      what: `Conversation variables: ${oneLine(kept.join(', '), 120)}`,
      instead:
        'The agent reads the whole conversation. Facts about a user belong to `memory`, other data to your functions.',
    });
  importFeatures(agent, mapIn(workflow.features));
}

function importVariables(agent: ImportedAgent, variables: readonly LooseMap[]): void {
  const names = variables.map(({ variable, label }) => textIn(variable) || textIn(label)).filter(Boolean);
  if (names.length === 0) return;
  agent.gaps.push({
    what: `Input variables: ${oneLine(names.join(', '), 160)}`,
    instead:
      'Send them as `context` of a message. `{{name}}` in the instructions is not filled in: say there that the context has them.',
  });
}

function addDataset(agent: ImportedAgent, id: string): void {
  if (id === '' || agent.downloads.some(({ what }) => what.includes(id))) return;
  agent.downloads.push({
    what: `every document of knowledge base ${oneLine(id, 80)}`,
    where: 'Dify, Knowledge, the documents of this knowledge base; or the originals that were uploaded',
    to: 'knowledge',
  });
}

/** Features that are switched on, and what does their job here. */
const features: readonly [name: string, what: string, instead: string][] = [
  [
    'suggested_questions_after_answer',
    'Follow-up questions after an answer',
    'Ask for them in `instructions`, if the answer should end with suggestions.',
  ],
  ['speech_to_text', 'Speech to text', 'Sessions have voice: open one with `voice: true`.'],
  ['text_to_speech', 'Text to speech', 'Sessions have voice: open one with `voice: true`.'],
  [
    'sensitive_word_avoidance',
    'Content moderation',
    'Set an operator policy that is asked before each call, and say in `instructions` what the agent must refuse.',
  ],
  ['annotation_reply', 'Annotated replies', 'Write the questions and answers as a page of the folder `knowledge`.'],
  ['more_like_this', 'More like this', 'Users ask for another version in the conversation.'],
];

function importFeatures(agent: ImportedAgent, config: LooseMap): void {
  const opening = textIn(config.opening_statement);
  const questions = textsIn(config.suggested_questions);
  agent.questions.push(...questions);
  if (opening !== '' || questions.length > 0)
    agent.gaps.push({
      what: 'Opening statement and suggested questions',
      instead: `They belong to the org: \`vestra org update --openings '${JSON.stringify({ [agent.slug]: { ...(opening && { message: oneLine(opening, 500) }), ...(questions.length > 0 && { suggestions: questions.slice(0, 6).map((each) => oneLine(each, 120)) }) } }).replaceAll("'", '’')}'\`.`,
    });
  for (const [name, what, instead] of features)
    if (mapIn(config[name]).enabled === true) agent.gaps.push({ what, instead });
  const upload = mapIn(config.file_upload);
  if (upload.enabled === true || mapIn(upload.image).enabled === true)
    agent.taken.push('File upload: messages accept attachments.');
}
