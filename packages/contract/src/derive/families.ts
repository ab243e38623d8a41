import type { Api } from '../api.ts';

/** The title and description of each family of routes, for the reference. */
export const families: Readonly<Record<keyof Api, { title: string; description: string }>> = {
  deployments: {
    title: 'Deployments',
    description: 'A deployment is a named configuration of the agent; each saved change is a version of it.',
  },
  scenarios: {
    title: 'Scenarios',
    description: 'A scenario is a pretend user with a goal, by which a version is tested before it goes live.',
  },
  testRuns: { title: 'Test runs', description: 'A test run plays the scenarios of a deployment and judges each.' },
  replays: {
    title: 'Replays',
    description: 'A replay has a version answer real talks again, and shows what it does differently.',
  },
  notebooks: { title: 'Notebooks', description: 'A notebook holds documents that the agent reads before it answers.' },
  skills: {
    title: 'Skills',
    description: 'A skill is a bundle of text files that teaches the agent how to do something.',
  },
  mcpServers: { title: 'MCP servers', description: 'Registered servers whose tools the agent may call.' },
  secrets: {
    title: 'Secrets',
    description: 'Credentials that are kept encrypted, referenced as `${NAME}` and never shown again.',
  },
  conversations: {
    title: 'Conversations',
    description: 'A user talks to the agent in a conversation: messages, replies, work, and a stream of events.',
  },
  interactions: {
    title: 'Interactions',
    description: 'What the agent waits on: approvals, questions, hand-offs, apps to connect, calls of your functions.',
  },
  functions: {
    title: 'Functions',
    description: 'Your own code as tools of the agent: take its calls from anywhere, or be called at an address.',
  },
  tasks: { title: 'Tasks', description: 'A task is one longer piece of work that a conversation was handed over to.' },
  batches: { title: 'Batches', description: 'A batch gives the same kind of work to many users at once.' },
  routines: {
    title: 'Routines',
    description: 'A routine asks the agent something on a schedule, or when your system calls.',
  },
  users: { title: 'Users', description: 'Your end users by your own ids, with their profile, caps and computer.' },
  browser: {
    title: 'Browser',
    description: 'The browser of a user without a model: fetch a page, look at cookies, watch.',
  },
  memory: { title: 'Memory', description: 'Facts that the agent remembers about a user.' },
  files: { title: 'Files', description: 'Uploads that go with messages, and what work has made.' },
  sessions: {
    title: 'Sessions',
    description: 'A short-lived page and token for one user’s browser: chat, screen, voice and memory.',
  },
  webhooks: { title: 'Webhooks', description: 'Addresses of yours that hear what happens, by signed deliveries.' },
  events: { title: 'Events', description: 'What happened, as webhook endpoints were told.' },
  apps: { title: 'Apps', description: 'Apps that users may connect with their own account.' },
  connections: {
    title: 'Connections',
    description: 'A user’s own account in an app, which the agent may use for them.',
  },
  protocols: { title: 'Protocols', description: 'The service as an MCP server, and each deployment as an A2A agent.' },
  oauth: {
    title: 'OAuth',
    description: 'How MCP clients that no header is set in get access to /v1/mcp: registration, tokens and their end.',
  },
  openai: {
    title: 'OpenAI',
    description: 'What clients of OpenAI’s API speak, with a deployment in the place of a model.',
  },
  agUi: { title: 'AG-UI', description: 'The protocol by which chat user interfaces follow an agent.' },
  me: { title: 'Me', description: 'Who is behind a call: its org, its mode, its key or member.' },
  orgs: { title: 'Org', description: 'The org with its settings, wallet and caps.' },
  keys: { title: 'Keys', description: 'API keys: made, rolled and revoked.' },
  mcpGrants: {
    title: 'MCP grants',
    description: 'MCP clients that members have let in by signing in: who they are, and how they are shut out.',
  },
  limits: { title: 'Limits', description: 'How much may be spent, and how often a key may call.' },
  usage: {
    title: 'Usage',
    description: 'What was billed, to the micro-dollar, by day, user, deployment, model and kind.',
  },
  auditLog: { title: 'Audit log', description: 'Who did what: key use, changes of settings, answers to approvals.' },
  models: { title: 'Models', description: 'The models that a deployment may choose, with what they cost.' },
  members: { title: 'Members', description: 'People who may use the console of the org.' },
  consoleAccess: { title: 'Console access', description: 'How a member logs in to the console and out of it.' },
  consoleAccount: {
    title: 'Console account',
    description: 'What a member does about their own way into the console: name, password and the browsers they use.',
  },
  consoleSignIn: {
    title: 'Console sign-in',
    description: 'The way through the company’s own sign-in, which a browser goes by itself.',
  },
  passkeys: {
    title: 'Passkeys',
    description: 'Signing in to the console with a device, beside the password.',
  },
  identityProvider: {
    title: 'Identity provider',
    description: 'The company’s own sign-in by OpenID Connect: who may come in by it, and as what.',
  },
  feedback: {
    title: 'Feedback',
    description: 'What users, callers and members say of answers, counted per version.',
  },
  health: { title: 'Health', description: 'Whether the server is up.' },
};
