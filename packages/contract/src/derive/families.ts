import type { Api } from '../api.ts';

/** The title and description of each family of routes, in the order of the reference: most used first. */
export const families: Readonly<Record<keyof Api, { title: string; description: string }>> = {
  conversations: {
    title: 'Conversations',
    description: 'A user talks to the agent in a conversation: messages, replies, tasks, and a stream of events.',
  },
  interactions: {
    title: 'Interactions',
    description:
      'Pending requests of the agent: approvals, questions, hand-offs, apps to connect, calls of your functions.',
  },
  functions: {
    title: 'Functions',
    description: 'Your code as tools of the agent: take its calls from anywhere, or receive them at an address.',
  },
  tasks: { title: 'Tasks', description: 'A task is longer work that a conversation handed off.' },
  users: { title: 'Users', description: 'Your end users by your own ids, with their profile, caps and computer.' },
  files: { title: 'Files', description: 'Uploads for messages, and outputs of tasks.' },
  memory: { title: 'Memory', description: 'Facts that the agent remembers about a user.' },
  sessions: {
    title: 'Sessions',
    description: 'A short-lived page and token for one user’s browser: chat, screen, voice and memory.',
  },
  feedback: {
    title: 'Feedback',
    description: 'Ratings of answers by users, callers and members, counted per version.',
  },
  browser: {
    title: 'Browser',
    description: 'The browser of a user without a model: fetch a page, check cookies, watch.',
  },
  deployments: {
    title: 'Deployments',
    description: 'A deployment is a named configuration of the agent; each saved change is a version of it.',
  },
  scenarios: {
    title: 'Scenarios',
    description: 'A scenario is a simulated user with a goal, which tests a version before it goes live.',
  },
  testRuns: { title: 'Test runs', description: 'A test run plays the scenarios of a deployment and judges each.' },
  replays: {
    title: 'Replays',
    description: 'A replay lets a version answer real conversations again, and shows the differences.',
  },
  insights: {
    title: 'Insights',
    description: 'An insight is a group of conversations in which the same went wrong, with examples.',
  },
  improvements: {
    title: 'Improvements',
    description: 'An improvement reproduces real failures, proposes a change to the agent, and proves its effect.',
  },
  notebooks: {
    title: 'Notebooks',
    description: 'A notebook contains documents that the agent reads before it answers.',
  },
  skills: {
    title: 'Skills',
    description: 'A skill is a bundle of text files that teaches the agent how to do something.',
  },
  mcpServers: { title: 'MCP servers', description: 'Registered servers whose tools the agent may call.' },
  secrets: {
    title: 'Secrets',
    description: 'Credentials that are stored encrypted, referenced as `${NAME}` and never shown again.',
  },
  models: { title: 'Models', description: 'The models that a deployment can use, with their prices.' },
  apps: { title: 'Apps', description: 'Apps that users can connect with their own account.' },
  connections: {
    title: 'Connections',
    description: 'A user’s own account in an app, which the agent may use for them.',
  },
  batches: { title: 'Batches', description: 'A batch runs the same kind of task for many users at once.' },
  routines: {
    title: 'Routines',
    description: 'A routine sends the agent a message on a schedule, or when your system calls.',
  },
  webhooks: { title: 'Webhooks', description: 'Your addresses that receive events through signed deliveries.' },
  events: { title: 'Events', description: 'Events, as sent to webhook endpoints.' },
  openai: {
    title: 'OpenAI',
    description: 'OpenAI’s API, with a deployment instead of a model.',
  },
  agUi: { title: 'AG-UI', description: 'The protocol with which chat user interfaces follow an agent.' },
  protocols: { title: 'Protocols', description: 'The service as an MCP server, and each deployment as an A2A agent.' },
  oauth: {
    title: 'OAuth',
    description: 'OAuth for MCP clients without a configured header: registration, tokens and revocation for /v1/mcp.',
  },
  me: { title: 'Me', description: 'The caller: its org, its mode, its key or member.' },
  orgs: { title: 'Org', description: 'The org with its settings, wallet and caps.' },
  keys: { title: 'Keys', description: 'API keys: create, roll and revoke them.' },
  limits: { title: 'Limits', description: 'Spending caps and rate limits.' },
  usage: {
    title: 'Usage',
    description: 'Billed costs, to the micro-dollar, by day, user, deployment, model and kind.',
  },
  overview: {
    title: 'Overview',
    description: 'How the agents do: conversations, failures, latency, cost and pending approvals.',
  },
  auditLog: { title: 'Audit log', description: 'The audit log: key use, changes of settings, answers to approvals.' },
  members: { title: 'Members', description: 'Members who may use the console of the org.' },
  identityProvider: {
    title: 'Identity provider',
    description: 'The company’s OpenID Connect provider: who may sign in, and with which role.',
  },
  mcpGrants: {
    title: 'MCP grants',
    description: 'MCP clients that members have authorized: list and revoke them.',
  },
  consoleAccess: { title: 'Console access', description: 'Log in to the console and out of it.' },
  consoleAccount: {
    title: 'Console account',
    description: 'A member’s own account: name, password and browsers.',
  },
  consoleSignIn: {
    title: 'Console sign-in',
    description: 'Single sign-on with the company’s identity provider, for browsers.',
  },
  passkeys: {
    title: 'Passkeys',
    description: 'Sign in to the console with a passkey, in addition to the password.',
  },
  health: { title: 'Health', description: 'Whether the server is up.' },
};
